// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mappings of a space are sorted by address, so that a look-up, which every
 * sample needs, is a binary search. They lie in runs of at most RUN_MAX, one
 * behind another: a process may have a hundred thousand, and make new ones at
 * any address, so a new one moves those of its run alone. A run that is full
 * becomes two. A new mapping replaces what it overlaps: at most one old mapping
 * is left below it and one above, so three free entries are always enough.
 *
 * A child shares the space of its parent, because a child usually execs before
 * it maps anything. own_space() copies a shared space before its first change.
 *
 * The ring of the last dead processes holds numbers, which the kernel gives out
 * again. So an entry of the ring frees the process of its number only if that
 * process is dead and its death is the one that the entry stands for.
 */

#include "daemon/source/opd_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "module/uapi/oprofile.h"

/* ---- spaces -----------------------------------------------------------------
 */

#ifndef RUN_MAX /* a test has shorter ones */
#define RUN_MAX 256
#endif
#define RUN_MIN 8
#define MOST_NEW 3 /* entries that a new mapping needs */

static void space_put(struct opd_space *space)
{
	if (!space || --space->nr_users)
		return;
	for (size_t i = 0; i < space->nr_runs; i++)
		free(space->runs[i]);
	free(space->runs);
	free(space);
}

static struct opd_space *space_new(void)
{
	struct opd_space *space = calloc(1, sizeof(*space));

	if (space)
		space->nr_users = 1;
	return space;
}

/* A run of @room with the @nr mappings @maps. */
static struct opd_map_run *run_new(const struct opd_map *maps, size_t nr,
				   size_t room)
{
	struct opd_map_run *run =
		malloc(sizeof(*run) + room * sizeof(run->maps[0]));

	if (!run)
		return NULL;
	run->nr = nr;
	run->room = room;
	if (nr)
		memcpy(run->maps, maps, nr * sizeof(*maps));
	return run;
}

/* Put @run, which may be NULL, into @space as number @at. */
static int insert_run(struct opd_space *space, size_t at,
		      struct opd_map_run *run)
{
	if (!run || op_array_reserve(&space->runs, space->nr_runs, 1)) {
		free(run);
		return -ENOMEM;
	}
	memmove(space->runs + at + 1, space->runs + at,
		(space->nr_runs - at) * sizeof(space->runs[0]));
	space->runs[at] = run;
	space->nr_runs++;
	return 0;
}

static int copy_runs(struct opd_space *to, const struct opd_space *from)
{
	int err = 0;

	for (size_t i = 0; !err && i < from->nr_runs; i++) {
		const struct opd_map_run *run = from->runs[i];

		err = insert_run(to, i, run_new(run->maps, run->nr, run->room));
	}
	return err;
}

/* Make the space of @process its own. */
static int own_space(struct opd_process *process)
{
	struct opd_space *old = process->space, *space;

	if (old && old->nr_users == 1)
		return 0;
	space = space_new();
	if (!space)
		return -ENOMEM;
	if (old && copy_runs(space, old)) {
		space_put(space);
		return -ENOMEM;
	}
	space_put(old);
	process->space = space;
	return 0;
}

/* Where a mapping is or would be. */
struct spot {
	size_t run;
	size_t at; /* in it */
};

/* The first run that has a mapping that ends behind @addr. */
static size_t first_run_behind(const struct opd_space *space, uint64_t addr)
{
	struct opd_map_run *const *runs = space->runs;

	return OP_BISECT(i, space->nr_runs,
			 runs[i]->maps[runs[i]->nr - 1].end <= addr);
}

/* The first mapping that ends behind @addr; behind the last run if none. */
static struct spot first_behind(const struct opd_space *space, uint64_t addr)
{
	struct spot spot = { .run = first_run_behind(space, addr) };
	const struct opd_map_run *run;

	if (spot.run == space->nr_runs)
		return spot;
	run = space->runs[spot.run];
	spot.at = OP_BISECT(i, run->nr, run->maps[i].end <= addr);
	return spot;
}

/* The part of @map from @addr on. */
static struct opd_map upper_part(const struct opd_map *map, uint64_t addr)
{
	struct opd_map part = *map;

	part.offset += addr - map->start;
	part.start = addr;
	return part;
}

/* Make two of the run at @spot, which stays where it was meant to be. */
static int split_run(struct opd_space *space, struct spot *spot)
{
	struct opd_map_run *run = space->runs[spot->run];
	size_t half = run->nr / 2;
	int err =
		insert_run(space, spot->run + 1,
			   run_new(run->maps + half, run->nr - half, RUN_MAX));

	if (err)
		return err;
	run->nr = half;
	if (spot->at >= half) {
		spot->run++;
		spot->at -= half;
	}
	return 0;
}

/* Have room for MOST_NEW more at @spot. */
static int make_room(struct opd_space *space, struct spot *spot)
{
	struct opd_map_run *run, *more;
	size_t room;

	if (!space->nr_runs)
		return insert_run(space, 0, run_new(NULL, 0, RUN_MIN));
	if (spot->run == space->nr_runs)
		*spot = (struct spot){ spot->run - 1,
				       space->runs[spot->run - 1]->nr };
	run = space->runs[spot->run];
	if (run->nr + MOST_NEW <= run->room)
		return 0;
	if (run->room >= RUN_MAX)
		return split_run(space, spot);
	room = run->room * 2;
	more = realloc(run, sizeof(*run) + room * sizeof(run->maps[0]));
	if (!more)
		return -ENOMEM;
	more->room = room;
	space->runs[spot->run] = more;
	return 0;
}

/* Replace @old mappings of @run from number @at on by those of @with. */
static void splice(struct opd_map_run *run, size_t at, size_t old,
		   const struct opd_map *with, size_t nr_with)
{
	struct opd_map *maps = run->maps;
	size_t behind = run->nr - at - old;

	memmove(maps + at + nr_with, maps + at + old, behind * sizeof(*maps));
	if (nr_with)
		memcpy(maps + at, with, nr_with * sizeof(*maps));
	run->nr += nr_with - old;
}

/* How many mappings of @run from number @at on begin before @end. */
static size_t count_before(const struct opd_map_run *run, size_t at,
			   uint64_t end)
{
	size_t nr = 0;

	while (at + nr < run->nr && run->maps[at + nr].start < end)
		nr++;
	return nr;
}

/* Remove what begins before @end from the runs behind number @run. *@last is
 * set to the last of these, if there is one. */
static void cut_runs(struct opd_space *space, size_t run, uint64_t end,
		     struct opd_map *last)
{
	size_t from = run + 1, to = from, nr;

	for (; to < space->nr_runs; to++) {
		struct opd_map_run *cut = space->runs[to];

		nr = count_before(cut, 0, end);
		if (nr)
			*last = cut->maps[nr - 1];
		if (nr < cut->nr) {
			splice(cut, 0, nr, NULL, 0);
			break;
		}
		free(cut);
	}
	memmove(space->runs + from, space->runs + to,
		(space->nr_runs - to) * sizeof(space->runs[0]));
	space->nr_runs -= to - from;
}

/* Put @map into @space at @spot, where there is room, in place of all that it
 * overlaps. */
static void put_map(struct opd_space *space, const struct spot *spot,
		    const struct opd_map *map)
{
	struct opd_map_run *run = space->runs[spot->run];
	size_t at = spot->at, old = count_before(run, at, map->end);
	struct opd_map with[MOST_NEW], first = *map, last = *map;
	size_t nr_with = 0;

	if (old) {
		first = run->maps[at];
		last = run->maps[at + old - 1];
	}
	if (at + old == run->nr)
		cut_runs(space, spot->run, map->end, &last);
	if (first.start < map->start) {
		with[nr_with] = first;
		with[nr_with++].end = map->start;
	}
	with[nr_with++] = *map;
	if (last.end > map->end)
		with[nr_with++] = upper_part(&last, map->end);
	splice(run, at, old, with, nr_with);
}

int opd_maps_add(struct opd_process *process, const struct opd_map *map)
{
	struct spot spot;

	if (map->start >= map->end)
		return 0;
	if (own_space(process))
		return -ENOMEM;
	spot = first_behind(process->space, map->start);
	if (make_room(process->space, &spot))
		return -ENOMEM;
	put_map(process->space, &spot, map);
	return 0;
}

const struct opd_map *opd_maps_lookup(const struct opd_process *process,
				      uint64_t addr)
{
	const struct opd_space *space = process->space;
	const struct opd_map *map;
	struct spot spot;

	if (!space)
		return NULL;
	spot = first_behind(space, addr);
	if (spot.run == space->nr_runs)
		return NULL;
	map = &space->runs[spot.run]->maps[spot.at];
	return map->start > addr ? NULL : map;
}

/* ---- processes --------------------------------------------------------------
 */

static struct opd_process **slot_of(const struct opd_maps *maps, uint32_t tgid)
{
	struct opd_process *const *slot =
		&maps->bucket[tgid % OPD_MAPS_BUCKETS];

	while (*slot && (*slot)->tgid != tgid)
		slot = &(*slot)->next;
	return (struct opd_process **)slot;
}

void opd_maps_init(struct opd_maps *maps)
{
	memset(maps, 0, sizeof(*maps));
}

static void drop(struct opd_process **slot)
{
	struct opd_process *process = *slot;

	*slot = process->next;
	space_put(process->space);
	free(process);
}

void opd_maps_release(struct opd_maps *maps)
{
	for (unsigned int i = 0; i < OPD_MAPS_BUCKETS; i++)
		while (maps->bucket[i])
			drop(&maps->bucket[i]);
	maps->nr_dead = 0;
}

struct opd_process *opd_maps_find(const struct opd_maps *maps, uint32_t tgid)
{
	return *slot_of(maps, tgid);
}

struct opd_process *opd_maps_new(struct opd_maps *maps, uint32_t tgid)
{
	struct opd_process **slot = slot_of(maps, tgid);
	struct opd_process *process;

	if (*slot)
		drop(slot);
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->tgid = tgid;
	process->nr_threads = 1;
	process->app = OP_NO_COOKIE;
	process->entered = true;
	process->owner.user = OP_NO_OWNER;
	slot = &maps->bucket[tgid % OPD_MAPS_BUCKETS];
	process->next = *slot;
	*slot = process;
	return process;
}

struct opd_process *opd_maps_fork(struct opd_maps *maps, uint32_t tgid,
				  uint32_t parent)
{
	struct opd_process *child = opd_maps_new(maps, tgid);
	const struct opd_process *from = opd_maps_find(maps, parent);

	if (!child || !from)
		return child;
	child->space = from->space;
	child->app = from->app;
	child->fresh = from->fresh;
	child->entered = from->entered;
	child->chosen = from->chosen;
	child->read_at = from->read_at;
	child->moved_at = from->moved_at;
	child->read_cost = from->read_cost;
	if (child->space)
		child->space->nr_users++;
	return child;
}

void opd_maps_forget(struct opd_maps *maps, uint32_t tgid)
{
	struct opd_process **slot = slot_of(maps, tgid);

	if (*slot)
		drop(slot);
}

/* Keep it for late samples, in place of the one that died longest ago. */
static void bury(struct opd_maps *maps, struct opd_process *process)
{
	uint32_t *grave = &maps->dead[maps->nr_dead % OPD_MAPS_DEAD];
	struct opd_process **oldest = slot_of(maps, *grave);

	process->death = maps->nr_dead;
	/*
	 * The kernel may have given out the number again: drop the process only
	 * if its last death is the one that this entry stands for.
	 */
	if (maps->nr_dead >= OPD_MAPS_DEAD && *oldest &&
	    (*oldest)->nr_threads == 0 &&
	    (*oldest)->death == maps->nr_dead - OPD_MAPS_DEAD)
		drop(oldest);
	*grave = process->tgid;
	maps->nr_dead++;
}

void opd_maps_exit(struct opd_maps *maps, uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(maps, tgid);

	if (process && process->nr_threads && --process->nr_threads == 0)
		bury(maps, process);
}

void opd_maps_clear(struct opd_process *process)
{
	space_put(process->space);
	process->space = NULL;
}

void opd_maps_exec(struct opd_process *process)
{
	opd_maps_clear(process);
	process->app = OP_NO_COOKIE;
	process->nr_threads = 1;
	process->threads_at = 0;
	process->read_cost = 0;
	process->fresh = true;
	process->entered = false;
}
