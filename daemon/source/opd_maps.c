// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mappings of a space are an array sorted by address, so that a look-up,
 * which every sample needs, is a binary search. A new mapping replaces what it
 * overlaps: at most one old mapping is left below it and one above, so two free
 * entries are always enough. A full array is copied to one of twice the size.
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

#include "module/uapi/oprofile.h"

/* ---- spaces -----------------------------------------------------------------
 */

static void space_put(struct opd_space *space)
{
	if (!space || --space->nr_users)
		return;
	free(space->maps);
	free(space);
}

static struct opd_space *space_new(size_t room)
{
	struct opd_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->maps = calloc(room, sizeof(space->maps[0]));
	if (!space->maps) {
		free(space);
		return NULL;
	}
	space->nr_users = 1;
	space->room = room;
	return space;
}

/* Make the space of @process its own, with room for @more mappings. */
static int own_space(struct opd_process *process, size_t more)
{
	struct opd_space *old = process->space;
	size_t nr = old ? old->nr : 0;
	struct opd_space *space;

	if (old && old->nr_users == 1 && old->room - nr >= more)
		return 0;
	space = space_new((nr + more) * 2);
	if (!space)
		return -ENOMEM;
	if (nr)
		memcpy(space->maps, old->maps, nr * sizeof(space->maps[0]));
	space->nr = nr;
	space_put(old);
	process->space = space;
	return 0;
}

/* The first mapping that ends behind @addr. */
static size_t first_behind(const struct opd_space *space, uint64_t addr)
{
	size_t low = 0, high = space->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The part of @map from @addr on. */
static struct opd_map upper_part(const struct opd_map *map, uint64_t addr)
{
	struct opd_map part = *map;

	part.offset += addr - map->start;
	part.start = addr;
	return part;
}

/* Replace @old mappings from number @at on by those of @with. */
static void splice(struct opd_space *space, size_t at, size_t old,
		   const struct opd_map *with, size_t nr_with)
{
	struct opd_map *maps = space->maps;
	size_t behind = space->nr - at - old;

	memmove(maps + at + nr_with, maps + at + old, behind * sizeof(*maps));
	memcpy(maps + at, with, nr_with * sizeof(*maps));
	space->nr += nr_with - old;
}

int opd_maps_add(struct opd_process *process, const struct opd_map *map)
{
	struct opd_map with[3];
	struct opd_space *space;
	size_t nr_with = 0, at, last;

	if (map->start >= map->end)
		return 0;
	/* At most one mapping is cut in two, around the new one. */
	if (own_space(process, 2))
		return -ENOMEM;
	space = process->space;
	at = first_behind(space, map->start);
	for (last = at; last < space->nr; last++)
		if (space->maps[last].start >= map->end)
			break;
	if (at < last && space->maps[at].start < map->start) {
		with[nr_with] = space->maps[at];
		with[nr_with++].end = map->start;
	}
	with[nr_with++] = *map;
	if (at < last && space->maps[last - 1].end > map->end)
		with[nr_with++] = upper_part(&space->maps[last - 1], map->end);
	splice(space, at, last - at, with, nr_with);
	return 0;
}

const struct opd_map *opd_maps_lookup(const struct opd_process *process,
				      uint64_t addr)
{
	const struct opd_space *space = process->space;
	size_t at;

	if (!space)
		return NULL;
	at = first_behind(space, addr);
	if (at == space->nr || space->maps[at].start > addr)
		return NULL;
	return &space->maps[at];
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
	process->fresh = true;
	process->entered = false;
}
