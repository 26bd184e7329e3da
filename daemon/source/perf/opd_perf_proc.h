/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_PROC_H
#define DAEMON_SOURCE_PERF_OPD_PERF_PROC_H

/*
 * Mappings of processes from /proc: of processes that ran before the profiler,
 * and after records were lost. All that is read may be gone or change at any
 * moment; a line that makes no sense is skipped.
 */

#include <stdbool.h>
#include <stdint.h>

struct opd_jits;
struct opd_map;
struct opd_perf_place;
struct opd_process_table;
struct opd_process;

/*
 * Read process @tgid anew; what was known of it stays where nothing can be
 * read any more. Returns it, or NULL when there is no such process and none
 * was known, or memory is short.
 */
struct opd_process *opd_perf_proc_read(struct opd_process_table *table,
				       uint32_t tgid);

/* Such a part of a CPU may be spent on reading the mappings of one process, of
 * which there may be some ten thousand. What it costs is CPU time: a daemon
 * that waits for a CPU looks no less often. */
#define OPD_PERF_PROC_SHARE 20
/* Time, ns, that the looks at memory of one process may use up in advance: it
 * has several mappings, and the first one is not always that which matters. */
#define OPD_PERF_PROC_CREDIT (UINT64_C(10) * 1000000000)

/* When memory of a process may be looked at again after a look that has ended
 * at @now and had that @cost, where it might have been from @may_look on. All
 * are ns. */
static inline uint64_t opd_perf_proc_may_look(uint64_t may_look, uint64_t now,
					      uint64_t cost)
{
	uint64_t from =
		now > OPD_PERF_PROC_CREDIT ? now - OPD_PERF_PROC_CREDIT : 0;

	return (may_look > from ? may_look : from) + OPD_PERF_PROC_SHARE * cost;
}

/* The process of thread @tid; 0 when there is none. */
uint32_t opd_perf_proc_tgid(const struct opd_process_table *table,
			    uint32_t tid);

/*
 * Process @tgid is not known, so records were lost: look in /proc whose child
 * it is. It is chosen if the nearest parent that is known is. Returns it, or
 * NULL when there is no such process or memory is short.
 */
struct opd_process *opd_perf_proc_adopt(struct opd_process_table *table,
					uint32_t tgid);

/* Read all processes. Where only chosen ones count, the others that are there
 * become known as such, and no more is read. Returns 0 or -errno. */
int opd_perf_proc_read_all(struct opd_process_table *table);

#define OPD_PERF_PROC_PARTS 60

/*
 * Look whether processes of part @part of OPD_PERF_PROC_PARTS are in /proc. The
 * records of the end of one that is missing in two looks were lost: it ends
 * now. In one look these may still come.
 */
void opd_perf_proc_find_ended(struct opd_process_table *table,
			      unsigned int part);

/* Have the jitdumps read that process @tgid maps by now. */
void opd_perf_proc_see_dumps(struct opd_jits *jits, uint32_t tgid);

/*
 * Process @tgid, which is read from /proc, is one that was asked for, with what
 * it starts from now on; a thread stands for its process. False when there is
 * none that this user may look into.
 */
bool opd_perf_proc_choose(struct opd_process_table *table, uint32_t tgid);

/*
 * The mapping of process @tgid that holds @addr, if need be after another look
 * at /proc; *@process is what is known of it, NULL for nothing, and may change.
 */
const struct opd_map *opd_perf_proc_find_map(struct opd_process_table *table,
					     struct opd_process **process,
					     uint32_t tgid, uint64_t addr);

/*
 * The same of an address that was not found just now, and at which the process
 * has run: there is code, which mremap(2) may have moved there. So /proc is
 * looked at immediately, some ten times in advance and then once a second.
 */
const struct opd_map *opd_perf_proc_find_moved(struct opd_process_table *table,
					       struct opd_process **process,
					       uint32_t tgid, uint64_t addr);

/*
 * The offset of @addr, which is in @map of the process of @place, in what it
 * is in, which goes to @place: an image, that of code which the process made
 * at run time, or anonymous memory.
 */
uint64_t opd_perf_proc_place(struct opd_process_table *table,
			     const struct opd_map *map, uint64_t addr,
			     struct opd_perf_place *place);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_PROC_H */
