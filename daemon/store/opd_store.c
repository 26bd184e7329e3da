// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/store/opd_store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_log.h"

#define MAX_NAMES 1000 /* tried for a damaged file */

void opd_store_init(struct opd_store *store, const struct op_session *session,
		    struct op_log *log, const struct op_clock *clock,
		    const struct opd_events *events,
		    const struct opd_store_client *client)
{
	memset(store, 0, sizeof(*store));
	store->session = session;
	store->log = log;
	store->clock = clock;
	store->events = events;
	store->client = client;
	store->lock_fd = -1;
}

void opd_store_set_cpu(struct opd_store *store, const char *type, uint32_t khz)
{
	bool ok = *type && strlen(type) < sizeof(store->cpu_type);

	for (const char *c = type; *c; c++)
		ok &= *c > ' ' && *c < 0x7f;
	snprintf(store->cpu_type, sizeof(store->cpu_type), "%s",
		 ok ? type : "unknown");
	store->cpu_khz = khz;
}

void opd_store_counted(struct opd_store *store)
{
	store->recount = false;
}

void opd_store_rename_damaged(struct opd_store *store, const char *path)
{
	char bad[PATH_MAX + 16];

	for (int i = 1; i < MAX_NAMES; i++) {
		if (i == 1)
			snprintf(bad, sizeof(bad), "%s.bad", path);
		else
			snprintf(bad, sizeof(bad), "%s.bad-%d", path, i);
		if (access(bad, F_OK)) {
			store->recount = true;
			op_log(store->log,
			       "%s: damaged sample file, renamed to .bad: %s",
			       path,
			       rename(path, bad) ? strerror(errno) : "done");
			return;
		}
	}
	op_log(store->log, "%s: there are too many earlier files of this name",
	       path);
}
