// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records change what is known of processes, and each sample is placed by what
 * is known at its moment. A process that has no entry yet is read from /proc,
 * but for records of another time or machine, which tell of all processes.
 *
 * Two times decide when a process is read again. gap_at is the last time that
 * side band was lost: what was read before it cannot be trusted, so such a
 * process is read at its next look-up. An address that is in no known mapping
 * has the process read again too, but at most once a second, and less often the
 * longer that takes, because /proc may not have the address either.
 *
 * Where processes are chosen but CPUs are sampled, only chosen ones have an
 * entry, and records of others change nothing. From the first fork on the side
 * band tells who is a child of whom. When it has lost records, a process that
 * is not known may be such a child: then its parents are looked for in /proc.
 * The first sample of another one has the kernel drop its samples from then on,
 * and those of the processes that it starts; its end undoes that, as its number
 * may be given to a chosen one. Whatever is in doubt is sampled.
 *
 * Each sample of a process that counts is received and either written or
 * counted as lost by one cause. A sample in the kernel needs no mappings.
 */

#include "daemon/source/perf/opd_perf_handle.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/source/opd_code_watch.h"
#include "daemon/source/opd_proc_maps.h"
#include "daemon/source/perf/opd_perf_owner.h"
#include "daemon/source/perf/opd_perf_proc.h"
#include "libop/image/op_runtime.h"
#include "libop/base/op_log.h"

/* perf_events' number for a task that is being freed. */
#define NO_TASK UINT32_MAX

/* Add one sample, and all that it stands for, to @stat. */
static void count(struct opd_process_table *table, enum opd_perf_stat stat)
{
	uint64_t times;

	if (__builtin_add_overflow(table->times, table->other_times, &times) ||
	    __builtin_add_overflow(table->stats[stat], times,
				   &table->stats[stat]))
		table->stats[stat] = UINT64_MAX;
}

/* ---- who counts -------------------------------------------------------------
 */

/* Where only chosen processes count, others are known, too: one that is not has
 * a fork that is among the records that were lost. NULL if it is gone already,
 * and for no process. */
static const struct opd_process *known_process(struct opd_process_table *table,
					       uint32_t tgid)
{
	if (!tgid)
		return NULL;
	return opd_maps_find(&table->maps, tgid)
		       ?: opd_perf_proc_adopt(table, tgid);
}

static bool is_wanted(struct opd_process_table *table, uint32_t tgid)
{
	const struct opd_process *process;

	if (!table->only_chosen)
		return true;
	process = known_process(table, tgid);
	return process && process->chosen;
}

/* Likewise for a sample, which is counted if it is not wanted. */
static bool is_sample_wanted(struct opd_process_table *table, uint32_t tgid)
{
	const struct opd_process *process;

	if (!table->only_chosen)
		return true;
	process = known_process(table, tgid);
	if (process && process->chosen)
		return true;
	/* A late record is of a number that may be another's by now. */
	if (!tgid ||
	    (process && process->nr_threads && tgid != table->chosen_by_exec))
		opd_process_table_drop(table, tgid, true);
	count(table,
	      tgid && !process ? OPD_PERF_NO_PROCESS : OPD_PERF_OF_OTHERS);
	return false;
}

/* ---- mappings ---------------------------------------------------------------
 */

/* A process that a recording tells of, from its first mapping on. */
static struct opd_process *begin_process(struct opd_process_table *table,
					 uint32_t tgid)
{
	struct opd_process *process = opd_maps_new(&table->maps, tgid);

	if (process)
		process->fresh = true;
	return process;
}

/* The process of a record; read from /proc when it is new to us. */
static struct opd_process *process_of(struct opd_process_table *table,
				      uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&table->maps, tgid);

	if (!process && table->proc)
		process = opd_perf_proc_read(table, tgid);
	else if (!process)
		process = begin_process(table, tgid);
	return process;
}

static struct opd_perf_image_id image_id_of(const struct opd_perf_rec *rec)
{
	struct opd_perf_image_id id = {
		.name = rec->mmap.name,
		.build_id.len = rec->mmap.build_id_len,
		.dev = rec->mmap.dev,
		.ino = rec->mmap.ino,
		.generation = rec->mmap.generation,
		.pid = rec->pid,
		.start = rec->mmap.start,
		.end = rec->mmap.start + rec->mmap.len,
	};

	memcpy(id.build_id.bytes, rec->mmap.build_id, rec->mmap.build_id_len);
	return id;
}

static bool is_exec(const struct opd_perf_rec *rec)
{
	return rec->type == PERF_RECORD_COMM &&
	       rec->misc & PERF_RECORD_MISC_COMM_EXEC;
}

void opd_perf_handle_ahead(struct opd_process_table *table,
			   const struct opd_perf_rec *rec)
{
	struct opd_perf_image_id id;

	/* A process that another starts is another's, too. */
	if (rec->type == PERF_RECORD_FORK && rec->pid != rec->task.parent &&
	    table->filter)
		opd_process_table_drop(table, rec->pid,
				       op_perf_filter_drops(table->filter,
							    rec->task.parent));
	if (is_exec(rec))
		opd_perf_programs_begin(&table->programs, rec->pid, rec->time);
	if ((rec->type != PERF_RECORD_MMAP2 && rec->type != PERF_RECORD_MMAP) ||
	    !rec->mmap.is_code || opd_proc_is_anon(rec->mmap.name))
		return;
	id = image_id_of(rec);
	opd_perf_programs_map(&table->programs, rec->pid, rec->time,
			      opd_perf_image_cookie(&table->images, &id));
}

static void handle_mmap(struct opd_process_table *table,
			const struct opd_perf_rec *rec)
{
	struct opd_process *process;
	const struct opd_map map = {
		.start = rec->mmap.start,
		.end = rec->mmap.start + rec->mmap.len,
		.offset = rec->mmap.offset,
	};
	struct opd_perf_image_id id;
	uint64_t cookie;

	if (!is_wanted(table, rec->pid))
		return;
	process = process_of(table, rec->pid);
	if (!process || !rec->mmap.is_code)
		return;
	id = image_id_of(rec);
	cookie = opd_process_table_map(table, process, &map, &id);
	/* The first file after an exec is the program. */
	if (process->fresh && cookie != OP_NO_COOKIE) {
		if (process->app != cookie)
			opd_perf_owner_other_program(process);
		process->app = cookie;
		process->fresh = false;
	}
}

/* ---- processes --------------------------------------------------------------
 */

static void handle_exec(struct opd_process_table *table,
			const struct opd_perf_rec *rec)
{
	bool is_choice = rec->pid == table->chosen_by_exec;
	struct opd_process *process;

	if (!is_choice && !is_wanted(table, rec->pid))
		return;
	process = opd_maps_find(&table->maps, rec->pid);
	opd_jits_exit(&table->jits, rec->pid);
	if (!process)
		process = opd_maps_new(&table->maps, rec->pid);
	if (!process)
		return;
	if (is_choice) {
		process->chosen = true;
		table->chosen_by_exec = 0;
	}
	opd_maps_exec(process);
	process->app =
		opd_perf_programs_pop(&table->programs, rec->pid, rec->time);
	opd_perf_owner_exec(table, process);
	process->read_at = rec->time; /* what follows is all there is */
}

/* A thread has another name, after an exec or as it wants. */
static void handle_comm(struct opd_process_table *table,
			const struct opd_perf_rec *rec)
{
	if (is_wanted(table, rec->pid) || rec->pid == table->chosen_by_exec)
		opd_names_named(&table->writer->names, rec->pid, rec->tid,
				rec->comm.name, is_exec(rec));
}

/* perf itself tells of a process that runs already with PERF_RECORD_FORK and
 * this flag, and then of all its mappings. */
static void fork_process(struct opd_process_table *table,
			 const struct opd_perf_rec *rec)
{
	const struct opd_process *parent;
	struct opd_process *child;

	if (rec->misc & PERF_RECORD_MISC_FORK_EXEC) {
		begin_process(table, rec->pid);
		return;
	}
	child = opd_maps_fork(&table->maps, rec->pid, rec->task.parent);
	parent = opd_maps_find(&table->maps, rec->task.parent);
	if (child)
		opd_perf_owner_fork(&child->owner,
				    parent && parent->owner.since >=
							    table->gap_at
					    ? &parent->owner
					    : NULL,
				    rec->time);
	opd_jits_fork(&table->jits, rec->task.parent, rec->pid, rec->time);
}

/* Whether what happened to a thread at @time is not in what /proc has told. */
static bool is_after_look(const struct opd_process *process, uint64_t time)
{
	return !process->threads_at || process->threads_at < time;
}

/* A process that does not count starts others that do not count either. Their
 * numbers may have been those of processes that did. */
static void fork_other(struct opd_process_table *table,
		       const struct opd_perf_rec *rec)
{
	struct opd_process *parent;

	if (rec->pid != rec->task.parent) {
		(void)opd_maps_new(&table->maps, rec->pid);
		return;
	}
	parent = opd_maps_find(&table->maps, rec->pid);
	if (parent && is_after_look(parent, rec->time))
		parent->nr_threads++;
}

static void handle_fork(struct opd_process_table *table,
			const struct opd_perf_rec *rec)
{
	struct opd_process *parent;

	if (!is_wanted(table, rec->task.parent)) {
		fork_other(table, rec);
		return;
	}
	parent = process_of(table, rec->task.parent);
	opd_names_forked(&table->writer->names, rec->pid, rec->tid,
			 rec->task.parent, rec->task.parent_tid);
	if (rec->pid != rec->task.parent)
		fork_process(table, rec);
	else if (parent && is_after_look(parent, rec->time))
		parent->nr_threads++;
}

/* Maps of other programs are their users'. */
static bool writes_map_for_us(const struct opd_process_table *table,
			      const struct opd_process *process)
{
	const char *path = opd_perf_image_path(&table->images, process->app);
	const struct op_runtime *runtime =
		path ? op_runtime_of_file(path) : NULL;

	return runtime && runtime->leaves_map;
}

static void handle_exit(struct opd_process_table *table,
			const struct opd_perf_rec *rec)
{
	const struct opd_process *process =
		opd_maps_find(&table->maps, rec->pid);

	if (process && is_after_look(process, rec->time))
		opd_maps_exit(&table->maps, rec->pid);
	if (!process || !process->nr_threads) {
		if (process && is_wanted(table, rec->pid) &&
		    writes_map_for_us(table, process))
			opd_jits_remove_map(&table->jits, rec->pid);
		opd_jits_exit(&table->jits, rec->pid);
		opd_process_table_drop(table, rec->pid, false);
	}
}

/*
 * Code that is removed stays known, because samples in it may come late; new
 * code at its addresses replaces it.
 */
static void handle_ksymbol(struct opd_process_table *table,
			   const struct opd_perf_rec *rec)
{
	const struct opd_new_code code = {
		.start = rec->ksymbol.addr,
		.end = rec->ksymbol.addr + rec->ksymbol.len,
		.name = rec->ksymbol.name,
	};

	if (opd_perf_makes_code(rec))
		opd_writer_put_code(table->writer, &code);
}

void opd_perf_handle_side(struct opd_process_table *table,
			  const struct opd_perf_rec *rec)
{
	table->now = rec->time;
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		handle_mmap(table, rec);
		break;
	case PERF_RECORD_COMM:
		handle_comm(table, rec);
		if (is_exec(rec))
			handle_exec(table, rec);
		break;
	case PERF_RECORD_FORK:
		handle_fork(table, rec);
		break;
	case PERF_RECORD_EXIT:
		handle_exit(table, rec);
		break;
	case PERF_RECORD_KSYMBOL:
		handle_ksymbol(table, rec);
		break;
	case PERF_RECORD_LOST:
		table->stats[OPD_PERF_SIDE_LOST] += rec->lost.nr;
		table->gap_at = rec->time;
		break;
	}
}

/* ---- samples ----------------------------------------------------------------
 */

/* The names of the task, if they are wanted, are written before its sample. */
static void need_task(struct opd_process_table *table,
		      const struct opd_perf_place *place)
{
	if (table->writer->names.tells)
		opd_writer_need_task(
			table->writer, place->tgid, place->tid, place->app,
			opd_perf_image_path(&table->images, place->app));
}

/* A sample of two events, with one stack, which is looked for once. */
static void write_both(struct opd_process_table *table,
		       struct opd_process *process,
		       const struct opd_perf_place *place, uint64_t pc,
		       const struct opd_perf_rec *rec, uint32_t counter)
{
	bool with_callers = table->stacks.depth != 0;
	struct opd_kept_stack *stack =
		opd_perf_stack_once(table, process, place, pc, rec);

	opd_kept_stack_write(stack, &table->words, counter, place->times,
			     with_callers);
	stack->place.lowered = false;
	opd_kept_stack_write(stack, &table->words, table->other_counter,
			     table->other_times, with_callers);
}

/* The sample, with its callers if they are wanted. */
static void write_sample(struct opd_process_table *table,
			 struct opd_process *process,
			 const struct opd_perf_place *place, uint64_t pc,
			 const struct opd_perf_rec *rec, uint32_t counter)
{
	opd_perf_words_time(&table->words, rec->time);
	need_task(table, place);
	if (table->other_times) {
		write_both(table, process, place, pc, rec, counter);
		return;
	}
	if (!table->stacks.depth) {
		opd_perf_words_sample(&table->words, place, pc, counter);
		return;
	}
	opd_perf_words_trace(&table->words, place, pc, counter);
	opd_perf_stack_callers(table, process, place, rec);
}

static void place_user(struct opd_process_table *table,
		       struct opd_perf_place *place,
		       const struct opd_perf_rec *rec, uint32_t counter)
{
	struct opd_process *process = opd_maps_find(&table->maps, place->tgid);
	uint64_t pc = rec->sample.ip;
	const struct opd_map *map =
		opd_perf_proc_find_map(table, &process, place->tgid, pc);

	if (!map && process)
		map = opd_perf_proc_find_moved(table, &process, place->tgid,
					       pc);
	if (!process) {
		count(table, OPD_PERF_NO_MM);
		return;
	}
	if (!map) {
		count(table, OPD_PERF_NO_MAPPING);
		return;
	}
	place->app = process->app;
	place->owner = opd_perf_owner_of(table, process);
	pc = opd_perf_proc_place(table, map, pc, place);
	if (pc == OP_ESCAPE) {
		count(table, OPD_PERF_INVALID_EIP);
		return;
	}
	write_sample(table, process, place, pc, rec, counter);
}

static void place_kernel(struct opd_process_table *table,
			 struct opd_perf_place *place,
			 const struct opd_perf_rec *rec, uint32_t counter)
{
	struct opd_process *process = opd_maps_find(&table->maps, place->tgid);

	place->kernel = true;
	place->app = process ? process->app : OP_NO_COOKIE;
	place->owner = opd_perf_owner_of(table, process);
	write_sample(table, process, place, rec->sample.ip, rec, counter);
}

void opd_perf_handle_sample(struct opd_process_table *table,
			    const struct opd_perf_rec *rec, uint32_t cpu,
			    uint32_t counter)
{
	struct opd_perf_place place = {
		.cpu = cpu,
		.tgid = rec->pid == NO_TASK ? 0 : rec->pid,
		.tid = rec->tid == NO_TASK ? 0 : rec->tid,
		.owner = OP_NO_OWNER,
		.weight = rec->sample.weight,
		.times = table->times,
		.lowered = table->lowered,
	};

	table->now = rec->time;
	if (!is_sample_wanted(table, place.tgid))
		return;
	count(table, OPD_PERF_RECEIVED);
	/* No address is so high, and in the stream it means something else. */
	if (rec->sample.ip == OP_ESCAPE) {
		count(table, OPD_PERF_INVALID_EIP);
		return;
	}
	switch (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		place_user(table, &place, rec, counter);
		break;
	case PERF_RECORD_MISC_KERNEL:
		place_kernel(table, &place, rec, counter);
		break;
	default: /* a guest's or a hypervisor's addresses are not ours */
		count(table, OPD_PERF_INVALID_EIP);
		break;
	}
}

/* ---- samples that are written later -----------------------------------------
 */

bool opd_perf_handle_counts(struct opd_process_table *table, uint32_t tgid)
{
	return is_wanted(table, tgid);
}

struct opd_kept_stack *opd_perf_handle_stack(struct opd_process_table *table,
					     const struct opd_perf_rec *rec,
					     uint32_t cpu)
{
	struct opd_process *process = opd_maps_find(&table->maps, rec->pid);
	struct opd_perf_place place = {
		.cpu = cpu,
		.tgid = rec->pid,
		.tid = rec->tid,
		.app = process ? process->app : OP_NO_COOKIE,
		.kernel = true,
	};

	table->now = rec->time;
	place.owner = opd_perf_owner_of(table, process);
	return opd_perf_stack_keep(table, process, &place, rec);
}

struct opd_kept_stack *opd_perf_handle_no_stack(struct opd_process_table *table,
						uint32_t tgid, uint32_t tid,
						uint32_t cpu, const char *name)
{
	const struct opd_perf_image_id id = { .name = name, .is_made = true };
	struct opd_process *process = opd_maps_find(&table->maps, tgid);
	const struct opd_perf_place place = {
		.cpu = cpu,
		.tgid = tgid,
		.tid = tid,
		.app = process ? process->app : OP_NO_COOKIE,
		.owner = opd_perf_owner_of(table, process),
		.cookie = opd_perf_image_cookie(&table->images, &id),
	};
	struct opd_kept_stack *stack = opd_kept_stack_new(&place, 0);

	if (stack)
		stack->ending = OP_TRACE_NO_UNWIND;
	return stack;
}

void opd_perf_handle_kept(struct opd_process_table *table,
			  const struct opd_kept_stack *stack, uint32_t counter,
			  uint64_t times)
{
	opd_perf_words_time(&table->words, table->now);
	need_task(table, &stack->place);
	opd_kept_stack_write(stack, &table->words, counter, times,
			     table->stacks.depth != 0);
}
