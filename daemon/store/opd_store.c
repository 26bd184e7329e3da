// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/store/opd_store.h"

#include <stdio.h>
#include <string.h>

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
