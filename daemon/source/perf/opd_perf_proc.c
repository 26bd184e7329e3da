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

#include "daemon/source/perf/opd_perf_owner.h"
#include "daemon/source/opd_proc_maps.h"
#include "daemon/source/perf/opd_process_table.h"
#include "daemon/source/untrusted/opd_copied_text.h"
#include "libop/files/op_config.h"
#include "libop/files/op_proc.h"

/* How many generations may lie between a process and a parent that is known. */
#define MAX_PARENTS 64

#define SECOND UINT64_C(1000000000)

static void add_proc_line(struct opd_process_table *table,
			  struct opd_process *process,
			  struct opd_proc_line *line, const char *exe)
{
	const struct opd_map map = {
		.start = line->map.start,
		.end = line->map.end,
		.offset = line->map.offset,
	};
	uint64_t cookie;

	line->id.pid = process->tgid;
	cookie = opd_process_table_map(table, process, &map, &line->id);
	if (cookie != OP_NO_COOKIE && !strcmp(line->id.name, exe)) {
		process->app = cookie;
		process->fresh = false;
	}
}

/*
 * The maps of a process that is ending are empty: then the old ones stay.
 * Whether it has any.
 */
static bool add_proc_maps(struct opd_process_table *table,
			  struct opd_process *process,
			  struct opd_proc_maps *maps)
{
	char exe[OP_PATH_MAX];
	bool cleared = false;
	struct opd_proc_line line;

	opd_proc_read_link(table->proc, process->tgid, "exe", exe);
	while (opd_proc_maps_next_code(maps, &line)) {
		if (!cleared)
			opd_maps_clear(process);
		cleared = true;
		add_proc_line(table, process, &line,
			      opd_proc_in_root(maps, exe));
	}
	return cleared;
}

/* A folder has a link for itself, its parent, and each folder in it. */
static unsigned int count_threads(const struct opd_process_table *table,
				  uint32_t tgid)
{
	struct stat st;
	char path[128];

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/task", table->proc, tgid);
	if (stat(path, &st) || st.st_nlink < 3)
		return 1;
	return (unsigned int)st.st_nlink - 2;
}

/* Count the threads. Threads that begin and end after this are counted from the
 * side band. */
static void read_threads(const struct opd_process_table *table,
			 struct opd_process *process)
{
	process->threads_at = opd_process_table_clock(table);
	process->nr_threads = count_threads(table, process->tgid);
}

struct opd_process *opd_perf_proc_read(struct opd_process_table *table,
				       uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&table->maps, tgid);
	uint64_t cost = opd_process_table_cost(table);
	struct opd_proc_maps maps;

	table->stats[OPD_PERF_PROC_READ]++;
	opd_proc_maps_open(&maps, table->proc, tgid);
	if (!process && maps.file) {
		process = opd_maps_new(&table->maps, tgid);
		if (process)
			opd_perf_owner_see(table, process);
	}
	if (process)
		process->read_at = table->now;
	if (process && add_proc_maps(table, process, &maps))
		read_threads(table, process);
	opd_proc_maps_close(&maps);
	if (process)
		process->read_cost = opd_process_table_cost(table) - cost;
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
static uint32_t read_status(const struct opd_process_table *table, uint32_t tid,
			    const char *key)
{
	uint32_t number = 0;

	op_proc_status(table->proc, tid, key, &number);
	return number;
}

uint32_t opd_perf_proc_tgid(const struct opd_process_table *table, uint32_t tid)
{
	return read_status(table, tid, "Tgid:");
}

/* A process that does not count. */
static struct opd_process *add_other(struct opd_process_table *table,
				     uint32_t tgid)
{
	struct opd_process *process = opd_maps_new(&table->maps, tgid);

	if (process)
		read_threads(table, process);
	return process;
}

struct opd_process *opd_perf_proc_adopt(struct opd_process_table *table,
					uint32_t tgid)
{
	const struct opd_process *known = NULL;
	struct opd_process *process;
	uint32_t parent = tgid;

	if (!opd_perf_proc_tgid(table, tgid))
		return NULL;
	for (int i = 0; i < MAX_PARENTS && !known; i++) {
		parent = read_status(table, parent, "PPid:");
		if (!parent)
			break;
		known = opd_maps_find(&table->maps, parent);
	}
	if (known && known->chosen) {
		process = opd_perf_proc_read(table, tgid);
		if (process)
			process->chosen = true;
		opd_process_table_drop(table, tgid, false);
		return process;
	}
	/* The process is known as another's now, so that nobody looks for it
	 * again. */
	return add_other(table, tgid);
}

int opd_perf_proc_read_all(struct opd_process_table *table)
{
	DIR *folder = opendir(table->proc);
	struct dirent *entry;
	uint64_t tgid;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		if (op_parse_u64(entry->d_name, &tgid) || !tgid ||
		    tgid > INT32_MAX)
			continue;
		if (!table->only_chosen)
			opd_perf_proc_read(table, (uint32_t)tgid);
		else if (!opd_maps_find(&table->maps, (uint32_t)tgid))
			(void)add_other(table, (uint32_t)tgid);
	}
	closedir(folder);
	return 0;
}

bool opd_perf_proc_choose(struct opd_process_table *table, uint32_t tgid)
{
	struct opd_process *process =
		opd_perf_proc_read(table, opd_perf_proc_tgid(table, tgid));

	if (process)
		process->chosen = true;
	return process;
}

/* ---- processes whose end was lost -------------------------------------------
 */

static bool is_in_proc(const struct opd_process_table *table, uint32_t tgid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%" PRIu32, table->proc, tgid);
	return !access(path, F_OK);
}

/* End a process as the records of its end would have done. */
static void end_process(struct opd_process_table *table,
			struct opd_process *process)
{
	uint32_t tgid = process->tgid;

	process->nr_threads = 1;
	opd_maps_exit(&table->maps, tgid);
	opd_jits_exit(&table->jits, tgid);
	opd_process_table_drop(table, tgid, false);
}

/* The first process of the list that is to be ended, or NULL. */
static struct opd_process *find_missing(struct opd_process *process)
{
	while (process && (!process->nr_threads || process->nr_missed < 2))
		process = process->next;
	return process;
}

void opd_perf_proc_find_ended(struct opd_process_table *table,
			      unsigned int part)
{
	struct opd_process *process;

	/* A user who may not see the first process may not see others either.
	 */
	if (!table->proc || !is_in_proc(table, 1))
		return;
	for (size_t i = part % OPD_PERF_PROC_PARTS; i < OPD_MAPS_BUCKETS;
	     i += OPD_PERF_PROC_PARTS) {
		for (process = table->maps.bucket[i]; process;
		     process = process->next) {
			if (process->nr_threads &&
			    !is_in_proc(table, process->tgid))
				process->nr_missed++;
			else
				process->nr_missed = 0;
		}
		/* Each end may drop another process of the list. */
		while ((process = find_missing(table->maps.bucket[i])))
			end_process(table, process);
	}
}

/* ---- where an address is ----------------------------------------------------
 */

static const struct opd_map *find_told_map(struct opd_process_table *table,
					   struct opd_process **process,
					   uint32_t tgid, uint64_t addr)
{
	const struct opd_map *map = NULL;
	uint64_t age;

	if (!table->proc)
		return *process ? opd_maps_lookup(*process, addr) : NULL;
	if (*process && (*process)->read_at >= table->gap_at) {
		map = opd_maps_lookup(*process, addr);
		if (map)
			return map;
		/* perf_events does not report mremap(2), for example. So they
		 * may be read again once they are old enough: words of a stack
		 * are often no addresses of code. */
		age = table->now - (*process)->read_at;
		if (age < SECOND + OPD_PERF_PROC_SHARE * (*process)->read_cost)
			return NULL;
	}
	*process = opd_perf_proc_read(table, tgid);
	return *process ? opd_maps_lookup(*process, addr) : NULL;
}

/*
 * If the anonymous memory that holds @addr is text that was copied, map the
 * file there instead. A look costs as much as a look at /proc, so that there is
 * one for each such memory, which programs may make without end.
 */
static void map_copied_text(struct opd_process_table *table,
			    struct opd_process *process,
			    const struct opd_map *map, uint64_t addr)
{
	uint64_t cost = opd_process_table_cost(table);
	struct opd_map found = *map;
	struct unwinder_map copy;

	if (opd_copied_text_find(&table->binaries, &table->images, table->proc,
				 process->tgid, addr, &copy))
		found = (struct opd_map){
			.start = copy.start,
			.end = copy.end,
			.offset = copy.offset,
			.cookie = copy.cookie,
		};
	else
		found.was_looked_at = true;
	process->copied_at =
		opd_perf_proc_may_look(process->copied_at,
				       opd_process_table_clock(table),
				       opd_process_table_cost(table) - cost);
	(void)opd_maps_add(process, &found);
}

const struct opd_map *opd_perf_proc_find_map(struct opd_process_table *table,
					     struct opd_process **process,
					     uint32_t tgid, uint64_t addr)
{
	const struct opd_map *map = find_told_map(table, process, tgid, addr);

	if (!map || map->cookie != OP_NO_COOKIE || map->was_looked_at ||
	    !table->proc ||
	    opd_process_table_clock(table) < (*process)->copied_at)
		return map;
	map_copied_text(table, *process, map, addr);
	return opd_maps_lookup(*process, addr);
}

const struct opd_map *opd_perf_proc_find_moved(struct opd_process_table *table,
					       struct opd_process **process,
					       uint32_t tgid, uint64_t addr)
{
	const uint64_t now = table->now;

	if (!table->proc || now < (*process)->moved_at)
		return NULL;
	if ((*process)->read_at != now)
		*process = opd_perf_proc_read(table, tgid);
	if (!*process)
		return NULL;
	(*process)->moved_at =
		SECOND + opd_perf_proc_may_look((*process)->moved_at, now,
						(*process)->read_cost);
	return opd_maps_lookup(*process, addr);
}

uint64_t opd_perf_proc_place(struct opd_process_table *table,
			     const struct opd_map *map, uint64_t addr,
			     struct opd_perf_place *place)
{
	uint64_t offset = addr - map->start;

	place->cookie = map->cookie;
	place->anon = map->anon;
	place->start = map->start;
	place->end = map->end;
	if (map->cookie != OP_NO_COOKIE) {
		offset += map->offset;
		if (!opd_perf_image_is_memory(&table->images, map->cookie))
			return offset;
	}
	if (opd_jits_find(&table->jits, place->tgid, addr, table->now,
			  &place->cookie, &offset))
		place->anon = NULL;
	return offset;
}
