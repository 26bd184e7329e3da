// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only executable mappings are read, as nothing else is sampled. The old
 * mappings of a process are dropped when the first new one has been read and
 * not before, because a process that is ending has no mappings in /proc while
 * its last samples still arrive.
 *
 * The events are open before /proc is read at the start. So a change is in
 * /proc, in the side band, or in both, and a mapping that is told twice does no
 * harm. A thread could be counted twice, though, so of threads only what
 * happens after threads_at is counted from the side band: the time of the
 * reading itself, as the record that is the reason to read is older.
 *
 * The end of a process may be among records that were lost. So each process
 * that is known is looked for in /proc once a minute.
 */

#include "daemon/source/perf/opd_perf_proc.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_world.h"
#include "daemon/source/opd_proc_maps.h"
#include "libop/files/op_config.h"
#include "libop/files/op_proc.h"

/* How many generations may lie between a process and a parent that is known. */
#define MAX_PARENTS 64

static void take_line(struct opd_perf_world *world, struct opd_process *process,
		      struct opd_proc_line *line, const char *exe)
{
	const struct opd_map map = {
		.start = line->map.start,
		.end = line->map.end,
		.offset = line->map.offset,
	};
	uint64_t cookie;

	line->id.pid = process->tgid;
	cookie = opd_perf_world_map(world, process, &map, &line->id);
	if (cookie != OP_NO_COOKIE && !strcmp(line->id.name, exe)) {
		process->app = cookie;
		process->fresh = false;
	}
}

/*
 * The maps of a process that is ending are empty: then the old ones stay.
 * Whether it has any.
 */
static bool take_maps(struct opd_perf_world *world, struct opd_process *process,
		      struct opd_proc_maps *maps)
{
	char exe[OP_PATH_MAX];
	bool cleared = false;
	struct opd_proc_line line;

	opd_proc_read_link(world->proc, process->tgid, "exe", exe);
	while (opd_proc_maps_next_code(maps, &line)) {
		if (!cleared)
			opd_maps_clear(process);
		cleared = true;
		take_line(world, process, &line, opd_proc_in_root(maps, exe));
	}
	return cleared;
}

/* A folder has a link for itself, its parent, and each folder in it. */
static unsigned int count_threads(const struct opd_perf_world *world,
				  uint32_t tgid)
{
	struct stat st;
	char path[128];

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/task", world->proc, tgid);
	if (stat(path, &st) || st.st_nlink < 3)
		return 1;
	return (unsigned int)st.st_nlink - 2;
}

/* What happens after this is counted from the side band. */
static void read_threads(const struct opd_perf_world *world,
			 struct opd_process *process)
{
	process->threads_at = opd_perf_world_clock(world);
	process->nr_threads = count_threads(world, process->tgid);
}

struct opd_process *opd_perf_proc_read(struct opd_perf_world *world,
				       uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&world->maps, tgid);
	uint64_t begun = opd_perf_world_clock(world);
	struct opd_proc_maps maps;

	world->stats[OPD_PERF_PROC_READ]++;
	opd_proc_maps_open(&maps, world->proc, tgid);
	if (!process && maps.file) {
		process = opd_maps_new(&world->maps, tgid);
		if (process)
			opd_perf_owner_see(world, process);
	}
	if (process)
		process->read_at = world->now;
	if (process && take_maps(world, process, &maps))
		read_threads(world, process);
	opd_proc_maps_close(&maps);
	if (process)
		process->read_took = opd_perf_world_clock(world) - begun;
	return process;
}

void opd_perf_proc_see_dumps(struct opd_jits *jits, uint32_t tgid)
{
	struct opd_proc_maps maps;
	struct opd_proc_line line;

	opd_proc_maps_open(&maps, jits->proc, tgid);
	while (opd_proc_maps_next_code(&maps, &line))
		opd_jits_see_mapping(jits, tgid, line.id.name, line.id.ino);
	opd_proc_maps_close(&maps);
}

/* The number behind @key in the status of task @tid, 0 if there is none. */
static uint32_t read_status(const struct opd_perf_world *world, uint32_t tid,
			    const char *key)
{
	uint32_t number = 0;

	op_proc_status(world->proc, tid, key, &number);
	return number;
}

uint32_t opd_perf_proc_tgid(const struct opd_perf_world *world, uint32_t tid)
{
	return read_status(world, tid, "Tgid:");
}

/* A process that does not count. */
static struct opd_process *add_other(struct opd_perf_world *world,
				     uint32_t tgid)
{
	struct opd_process *process = opd_maps_new(&world->maps, tgid);

	if (process)
		read_threads(world, process);
	return process;
}

struct opd_process *opd_perf_proc_adopt(struct opd_perf_world *world,
					uint32_t tgid)
{
	const struct opd_process *known = NULL;
	struct opd_process *process;
	uint32_t parent = tgid;

	if (!opd_perf_proc_tgid(world, tgid))
		return NULL;
	for (int i = 0; i < MAX_PARENTS && !known; i++) {
		parent = read_status(world, parent, "PPid:");
		if (!parent)
			break;
		known = opd_maps_find(&world->maps, parent);
	}
	if (known && known->chosen) {
		process = opd_perf_proc_read(world, tgid);
		if (process)
			process->chosen = true;
		opd_perf_world_drop(world, tgid, false);
		return process;
	}
	/* It is known as another's now, so that nobody looks for it again. */
	return add_other(world, tgid);
}

int opd_perf_proc_read_all(struct opd_perf_world *world)
{
	DIR *folder = opendir(world->proc);
	struct dirent *entry;
	uint64_t tgid;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		if (op_parse_u64(entry->d_name, &tgid) || !tgid ||
		    tgid > INT32_MAX)
			continue;
		if (!world->only_chosen)
			opd_perf_proc_read(world, (uint32_t)tgid);
		else if (!opd_maps_find(&world->maps, (uint32_t)tgid))
			(void)add_other(world, (uint32_t)tgid);
	}
	closedir(folder);
	return 0;
}

/* ---- processes whose end was lost -------------------------------------------
 */

static bool is_in_proc(const struct opd_perf_world *world, uint32_t tgid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%" PRIu32, world->proc, tgid);
	return !access(path, F_OK);
}

/* As if the records of that had come. */
static void end_process(struct opd_perf_world *world,
			struct opd_process *process)
{
	uint32_t tgid = process->tgid;

	process->nr_threads = 1;
	opd_maps_exit(&world->maps, tgid);
	opd_jits_exit(&world->jits, tgid);
	opd_perf_world_drop(world, tgid, false);
}

/* One of the list that is to be ended, or NULL. */
static struct opd_process *find_missing(struct opd_process *process)
{
	while (process && (!process->nr_threads || process->nr_missed < 2))
		process = process->next;
	return process;
}

void opd_perf_proc_find_ended(struct opd_perf_world *world, unsigned int part)
{
	struct opd_process *process;

	/* Who may not see the first process may not see others either. */
	if (!world->proc || !is_in_proc(world, 1))
		return;
	for (size_t i = part % OPD_PERF_PROC_PARTS; i < OPD_MAPS_BUCKETS;
	     i += OPD_PERF_PROC_PARTS) {
		for (process = world->maps.bucket[i]; process;
		     process = process->next) {
			if (process->nr_threads &&
			    !is_in_proc(world, process->tgid))
				process->nr_missed++;
			else
				process->nr_missed = 0;
		}
		/* Each end may drop another one. */
		while ((process = find_missing(world->maps.bucket[i])))
			end_process(world, process);
	}
}
