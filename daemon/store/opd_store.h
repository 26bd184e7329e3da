/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_STORE_H
#define DAEMON_STORE_OPD_STORE_H

/*
 * The sample files of a running session: open ones with their call trees, the
 * pack, and the lock of the session's folder. The store knows nothing of the
 * stream. What others have to learn from it goes to its client.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/store/opd_disk.h"
#include "daemon/store/opd_history_state.h"
#include "daemon/store/opd_pack.h"
#include "daemon/store/opd_sfile.h"
#include "daemon/store/opd_timeline.h"
#include "daemon/store/opd_tree.h"

struct op_clock;
struct op_log;
struct op_session;
struct opd_events;
struct opd_image;

/* The owner of a store, which learns what happens in it. */
struct opd_store_client {
	void *ctx;
	/* @sfile goes away: nobody may keep it, and what hangs at it goes. */
	void (*drop_sfile)(void *ctx, struct opd_sfile *sfile);
	/* @sfile is brought to the disk, and so is what hangs at it. */
	void (*sync_sfile)(void *ctx, struct opd_sfile *sfile);
	/* There are samples in @image. */
	void (*see_image)(void *ctx, struct opd_image *image);
	/* Packing @bytes comes before the end that somebody may wait for. */
	void (*report_packing)(void *ctx, uint64_t bytes);
};

struct opd_store {
	/* borrowed, like all up to the client */
	const struct op_session *session;
	struct op_log *log;
	const struct op_clock *clock;
	const struct opd_events *events; /* of the counters, as they are now */
	const struct opd_store_client *client;
	char cpu_type[48]; /* of the machine that the samples are from */
	uint32_t cpu_khz; /* of that machine, 0 unknown */
	int lock_fd; /* of the session, -1: not locked */
	uint64_t changes; /* sfiles and call trees that went away */
	bool recount; /* sample files became unreadable since the last count */
	struct opd_sfiles sfiles;
	struct opd_trees trees;
	struct opd_pack pack;
	struct opd_disk disk;
	struct opd_history history;
	struct opd_timeline timeline;
};

/* @sfile is used again: it is not the next one to be dropped. */
static inline void opd_sfile_use(struct opd_store *store,
				 struct opd_sfile *sfile)
{
	sfile->used = ++store->sfiles.uses;
}

/* @nr samples of @counter were counted at @offset in @sfile, whose file is
 * open: let the time line have them, too. */
static inline void opd_sfile_time(struct opd_store *store,
				  struct opd_sfile *sfile, unsigned int counter,
				  uint64_t offset, uint64_t nr)
{
	if (opd_timeline_is_kept(&store->timeline))
		opd_timeline_count(&store->timeline,
				   timeline_key(opd_sfile_ids(sfile)[counter],
						offset),
				   nr);
}

/* A store of @session, with nothing open. The caller keeps all that it gives as
 * long as the store. */
void opd_store_init(struct opd_store *store, const struct op_session *session,
		    struct op_log *log, const struct op_clock *clock,
		    const struct opd_events *events,
		    const struct opd_store_client *client);

/* The samples are from CPUs of @type, where anything that is no name is
 * "unknown", and of @khz. */
void opd_store_set_cpu(struct opd_store *store, const char *type, uint32_t khz);

/* The sample files have been counted, as store->recount asked for. */
void opd_store_counted(struct opd_store *store);

/* Rename the damaged sample file @path to NAME.bad (NAME.bad-2 ...), which the
 * log says; the session is counted again. */
void opd_store_rename_damaged(struct opd_store *store, const char *path);

#endif /* DAEMON_STORE_OPD_STORE_H */
