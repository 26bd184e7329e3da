/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_PACK_H
#define DAEMON_STORE_OPD_PACK_H

/*
 * When the daemon packs (opd_packer.h). While it runs, a child of its does so
 * as soon as the loose files of samples/current take more than --pack-at and
 * as much again as the pack; counting goes on in new ones meanwhile. At its end
 * the daemon packs itself if that much is there, or a pack already.
 *
 * The child also takes care of the history (opd_history.h), after each span.
 *
 * What cannot be packed stays loose and is tried again, after one minute, two,
 * four and so on. What a pack costs, in time of a CPU, decides how soon the
 * next one may follow.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "libop/base/op_diag.h"

struct opd_store;
struct op_sample_header;
struct opd_pack_report;
struct pack;

struct opd_pack {
	unsigned int limit; /* MiB of loose files, 0: nothing is packed */
	pid_t child; /* 0: nobody packs for us */
	struct opd_pack_report *report; /* memory that the child writes to */
	bool left; /* a daemon before us did not come to the end */
	bool again; /* what was tried last has failed */
	time_t not_before; /* of the clock */
	time_t pause; /* seconds until a failure is tried again */
	char *saved; /* folder of a session that was saved; NULL: none */
	uint64_t nr_made; /* packs */
	struct op_diag said; /* the last failure in the log */
	/* the pack when it was looked at last */
	struct pack *pack; /* NULL: none */
	dev_t dev;
	ino_t ino;
};

/* Tidy up what an earlier daemon left. Before samples are counted. @limit is
 * that of struct opd_pack. */
void opd_pack_init(struct opd_store *store, unsigned int limit);

/* Begin to pack if there is enough; to be called now and then. */
void opd_pack_check(struct opd_store *store);

/* A child may have ended. */
void opd_pack_reap(struct opd_store *store);

/*
 * Samples have ended and no sample file is open: wait for the child, and pack
 * the rest. True if something turned out to be damaged, which the ledger does
 * not know yet.
 */
bool opd_pack_end(struct opd_store *store);

/* Kill the child, if there is one: nobody packs then, and nothing is lost. */
void opd_pack_stop(struct opd_store *store);

/* Wait for the child, and put the history in order if that is left to do. */
void opd_pack_finish(struct opd_store *store);

/* samples/current became the session folder @dir. */
void opd_pack_saved(struct opd_store *store, const char *dir);

/* The pack of samples/current is somewhere else. */
void opd_pack_moved(struct opd_store *store);

/*
 * Whether what is counted in sample file @name, besides the one that is being
 * made, goes with @header, as @agree tells. Returns 0, -EEXIST if not, or
 * another -errno.
 */
int opd_pack_check_header(struct opd_store *store, const char *name,
			  const struct op_sample_header *header,
			  bool (*agree)(const struct op_sample_header *there,
					const struct op_sample_header *header));

/* Free all, without the child. */
void opd_pack_release(struct opd_store *store);

#endif /* DAEMON_STORE_OPD_PACK_H */
