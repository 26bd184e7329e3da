/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_MAPS_H
#define DAEMON_SOURCE_OPD_MAPS_H

/*
 * Mappings of code in each process at each moment, for sources that see
 * addresses and not images. The source fills this in the order of time, so that
 * a look-up gives what was true at that moment.
 *
 *	process (tgid) -> space (shared after a fork until one side changes)
 *	space          -> mappings, sorted by address, none overlapping
 *
 * A process that has ended is kept for a while (the last OPD_MAPS_DEAD of
 * them): a sample may come late.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/perf/opd_perf_owner.h"

#define OPD_MAPS_BUCKETS 4096
#define OPD_MAPS_DEAD 256

/* A mapping: one range of addresses. */
struct opd_map {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file, of start, bytes */
	uint64_t cookie; /* of the image; OP_NO_COOKIE: anonymous memory */
	const char *anon; /* its name; not owned, lives longer */
	bool was_looked_at; /* the anonymous memory is no text of a file */
};

/* Mappings that lie behind one another. */
struct opd_map_run {
	size_t nr; /* above 0 */
	size_t room;
	struct opd_map maps[];
};

struct opd_space {
	unsigned int nr_users; /* processes */
	size_t nr_runs;
	struct opd_map_run **runs; /* by address (op_array.h) */
};

struct opd_process {
	struct opd_process *next; /* with the same hash */
	uint32_t tgid;
	unsigned int nr_threads; /* 0: has ended */
	unsigned int death; /* the how many-th it was, from 0, if ended */
	struct opd_space *space; /* NULL: nothing is mapped */
	uint64_t app; /* cookie of the program, OP_NO_COOKIE unknown */
	bool fresh; /* since its exec no code was mapped */
	bool entered; /* the program has run; false from its exec on */
	struct opd_owner owner;
	bool chosen; /* it, or the process that forked it, was asked for */
	/* for whoever reads /proc, in the time of its records */
	uint64_t read_at; /* 0: never */
	uint64_t read_cost; /* ns, of reading all that it maps the last time */
	uint64_t moved_at; /* before it no moved code is looked for, ns */
	uint64_t copied_at; /* before it no copied text is looked for, ns */
	uint64_t threads_at; /* when /proc told how many there are, 0: never */
	unsigned int nr_missed; /* looks that did not find it, one by one */
};

struct opd_maps {
	struct opd_process *bucket[OPD_MAPS_BUCKETS];
	uint32_t dead[OPD_MAPS_DEAD]; /* a ring of tgids */
	unsigned int nr_dead; /* that ever died */
};

void opd_maps_init(struct opd_maps *maps);
void opd_maps_release(struct opd_maps *maps);

/* NULL if there is none. */
struct opd_process *opd_maps_find(const struct opd_maps *maps, uint32_t tgid);

/*
 * A process of this number without mappings; one that was there is gone.
 * NULL when memory is short. It has one thread.
 */
struct opd_process *opd_maps_new(struct opd_maps *maps, uint32_t tgid);

/*
 * Process @parent forked @tgid, which maps and is what @parent does; of a
 * parent that is not known nothing is taken over. Returns the child, NULL
 * when memory is short.
 */
struct opd_process *opd_maps_fork(struct opd_maps *maps, uint32_t tgid,
				  uint32_t parent);

/* Process @tgid is not the one that is known by this number. */
void opd_maps_forget(struct opd_maps *maps, uint32_t tgid);

/* A thread of process @tgid has ended. */
void opd_maps_exit(struct opd_maps *maps, uint32_t tgid);

/* The process runs another program, with nothing mapped yet. */
void opd_maps_exec(struct opd_process *process);

/* Forget all mappings, but not the program. */
void opd_maps_clear(struct opd_process *process);

/*
 * Map @map, in place of what overlaps it. An empty range changes nothing.
 * Returns 0 or -ENOMEM.
 */
int opd_maps_add(struct opd_process *process, const struct opd_map *map);

/* The mapping that holds @addr, or NULL. It holds until a change. */
const struct opd_map *opd_maps_lookup(const struct opd_process *process,
				      uint64_t addr);

#endif /* DAEMON_SOURCE_OPD_MAPS_H */
