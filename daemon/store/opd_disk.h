/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_DISK_H
#define DAEMON_STORE_OPD_DISK_H

/*
 * The bound on the disk that samples/current takes (--max-disk). Sample files
 * are made and grow while there is room; after that samples at places that
 * have a count already go on counting, and those at new places are lost, by a
 * cause of their own. Nothing that was counted is ever removed. Packing makes
 * room again (opd_pack.h), and needs some for the new pack beside the old one:
 * so half of the bound is kept for that, unless nothing is packed.
 *
 * Where a history is kept (opd_history.h) the bound is no more than one part of
 * its bytes, and what makes room is that a span ends.
 *
 * What is there is measured at the start, when somebody has packed, and now and
 * then; in between the sample files that grow take it off the room themselves.
 */

#include <stdbool.h>
#include <stdint.h>

struct opd_store;

struct opd_disk {
	uint64_t limit; /* bytes that sample files may take, 0: any */
	uint64_t room; /* bytes that they may still take */
	bool is_short; /* room was refused since the last pack */
	bool said; /* in the log */
};

/* Bound samples/current of @store to @mib MiB, 0: not at all. After
 * opd_pack_init() and opd_history_init(). */
void opd_disk_init(struct opd_store *store, unsigned int mib);

/* Look at what is there. */
void opd_disk_measure(struct opd_store *store);

/*
 * Take room for the sample file @path, if it is not there, and its folders.
 * *@taken are the bytes, for opd_disk_give_back(). Returns 0 or -EDQUOT.
 */
int opd_disk_take(struct opd_store *store, const char *path, uint64_t *taken);
void opd_disk_give_back(struct opd_store *store, uint64_t taken);

/* The number that open sample files take room from; NULL: they may grow at
 * will. */
uint64_t *opd_disk_room(struct opd_store *store);

/* A sample file could not grow for @err, which may be want of room. */
void opd_disk_refused(struct opd_store *store, int err);

/* Whether room was refused since there was some. */
bool opd_disk_is_short(const struct opd_store *store);

/* Whether what is there seems to take more than half of the bound: estimates
 * are on the safe side. */
bool opd_disk_seems_half_full(const struct opd_store *store);

/* Whether it does: looks at all files. */
bool opd_disk_is_half_full(struct opd_store *store);

/* Much of what was there is gone: packed, saved or reset. */
void opd_disk_freed(struct opd_store *store);

/* Whether @loose bytes of sample files are to be packed for the room: half of
 * what there may be, or an eighth when room was refused already. */
bool opd_disk_wants_pack(const struct opd_store *store, uint64_t loose);

#endif /* DAEMON_STORE_OPD_DISK_H */
