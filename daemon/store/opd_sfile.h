/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_SFILE_H
#define DAEMON_STORE_OPD_SFILE_H

/*
 * The cache of open sample files, flat ones and those of arcs. A struct
 * opd_sfile is one set of sample files that differ in their event only; which
 * context it is for, is its key, with the callee where it is about arcs. Two of
 * these never stand for the same file name.
 *
 * The cache owns the sfiles, and the sfiles their databases. opd_trans
 * borrows one at a time; the store's client is told when the cache drops it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/store/opd_sfile_key.h"

struct odb;
struct opd_event;
struct opd_store;

/* Features of the daemon (opd_extended.h) that may have something of their own
 * at each sfile. */
#define OPD_MAX_FEATURES 4

/* Aligned: to find one takes two lines of the CPU's cache. */
struct opd_sfile {
	uint64_t hash;
	struct opd_sfile *chain; /* with the same bucket */
	uint64_t used; /* the last time, in uses of any sfile */
	uint32_t failed; /* counters whose file cannot be opened */
	int16_t why; /* -EDQUOT or -EIO: of the last one that failed */
	uint16_t nr_odbs;
	struct opd_sfile_key key;
	const struct opd_callee *callee; /* behind ids; NULL: it is flat */
	void *ext[OPD_MAX_FEATURES]; /* each is its feature's, or NULL */
	/* By counter, NULL: not open. Behind them are the ids of these files in
	 * the time line (opd_sfile_ids()). */
	struct odb *odbs[];
};

static inline uint64_t *opd_sfile_ids(struct opd_sfile *sfile)
{
	return (uint64_t *)&sfile->odbs[sfile->nr_odbs];
}

_Static_assert(sizeof(uint64_t) >= sizeof(struct odb *), "ids are aligned");

#define OPD_SFILE_BUCKETS 16384

struct opd_sfiles {
	struct opd_sfile *bucket[OPD_SFILE_BUCKETS];
	uint64_t uses;
	size_t nr; /* sfiles */
	size_t nr_open; /* databases */
	size_t max_open; /* as mappings allow */
};

/* Find out how many sample files may be open. */
void opd_sfiles_init(struct opd_store *store);

/* The sfile for @key, made when there is none; NULL when memory is short.
 * Valid until the next call of any function here. */
struct opd_sfile *opd_sfile_get(struct opd_store *store,
				const struct opd_sfile_key *key);

/* The same for arcs from @key to @callee. */
struct opd_sfile *opd_sfile_get_arcs(struct opd_store *store,
				     const struct opd_sfile_key *key,
				     const struct opd_callee *callee);

/*
 * Count @nr samples or arcs of @counter at @offset. Returns 0, or -errno when
 * there is no sample file to count it in; -EDQUOT for want of room
 * (opd_disk.h).
 */
int opd_sfile_add(struct opd_store *store, struct opd_sfile *sfile,
		  unsigned int counter, uint64_t offset, uint64_t nr);

/*
 * For features: open the sample file of @event that belongs to @sfile, within
 * the limits, and close it. Returns 0 or -errno; the log has why.
 */
int opd_sfile_open_odb(struct opd_store *store, const struct opd_sfile *sfile,
		       const struct opd_event *event, struct odb **odb);
void opd_sfile_close_odb(struct opd_store *store, struct odb **odb);

/* Close it as well, since somebody deleted the file or put another in its
 * place: what was in it has to be counted as lost. */
void opd_sfile_lose_odb(struct opd_store *store, struct odb **odb);

/*
 * Start writing all changes to the disk, and try failed files once more. This
 * and what follows is done for the call trees (opd_tree.h), too.
 */
void opd_sfiles_sync(struct opd_store *store);

/* Close all. */
void opd_sfiles_drop_all(struct opd_store *store);

#endif /* DAEMON_STORE_OPD_SFILE_H */
