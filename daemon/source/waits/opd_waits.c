// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each thread is known from its first record on. A wait of t ns counts t /
 * interval times. One point is drawn in each interval of the time that a thread
 * has waited in all, and a wait has one sample for each point in it: so the sum
 * of a thread is exact to one sample, and waits that repeat in step with the
 * interval are sampled as often as others.
 *
 * At a high rate of switches the kernel samples some of them, and a wait whose
 * switch was not sampled has no stack. Its time is divided among the stacks of
 * the same thread and part of the wait that were sampled around it, in
 * proportion to their waits: these are kept until there are enough of them, so
 * that a thread with two kinds of waits has each of them with its share.
 *
 *	wait      3 ms   1 ms   4 ms   2 ms
 *	stack     A      -      B      -          sampled: 7 of 10 ms
 *	counts    A 4.3 ms, B 5.7 ms
 *
 * Without a stack since then the time counts for the one before, and at a place
 * called [waiting] where there never was one.
 */

#include "daemon/source/waits/opd_waits.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/perf/opd_perf_handle.h"
#include "daemon/source/perf/opd_perf_proc.h"
#include "daemon/source/waits/opd_kept_stack.h"
#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

#define NO_STACK "[waiting]"
#define NO_THREAD UINT32_MAX /* perf_events' number for one that is freed */

#define MAX_PENDING 64 /* stacks of one thread and part */
/* Threads that have ended are looked through when there are so many, and
 * forgotten after so many ns. */
#define MIN_ENDED 1024
#define ENDED_NS UINT64_C(5000000000)
#define MAX_BYTES ((size_t)64 << 20) /* of stacks that are kept */

enum part { BLOCKED, READY, NR_PARTS };

struct pending {
	struct opd_kept_stack *stack;
	uint64_t ns;
};

/* Waits of a thread that are over and not counted yet. */
struct part_waits {
	struct pending *list; /* room for MAX_PENDING, NULL: none yet */
	size_t nr;
	uint64_t sampled; /* ns, in the list */
	uint64_t unsampled; /* ns, of waits without a stack */
	struct opd_kept_stack *last; /* the latest that was sampled, or NULL */
};

struct opd_waiting_thread {
	struct opd_waiting_thread *next; /* with the same hash */
	uint32_t tid, tgid;
	enum { RUNS, WAITS, HAS_ENDED } state;
	bool is_assumed; /* that it waits: no record has said so */
	enum part part; /* of the wait */
	uint64_t since; /* ns, of the wait, or of the run */
	struct opd_kept_stack *stack; /* of the wait; NULL: not sampled */
	struct part_waits parts[NR_PARTS];
	struct opd_axis axes[OP_WAIT_MAX_EVENTS]; /* of its waiting time */
};

/* A sample that is to be written. */
struct opd_wait_sample {
	struct opd_kept_stack *stack;
	uint32_t counter;
	uint64_t times;
};

/* ---- counting ---------------------------------------------------------------
 */

static struct opd_kept_stack *share_stack(struct opd_kept_stack *stack)
{
	stack->nr_users++;
	return stack;
}

static void drop_stack(struct opd_waits *waits, struct opd_kept_stack *stack)
{
	if (stack && stack->nr_users == 1)
		waits->bytes -= opd_kept_stack_size(stack);
	opd_kept_stack_put(stack);
}

static bool wants_part(const struct opd_waits *waits, unsigned int event,
		       enum part part)
{
	return waits->events[event].unit_mask &
	       (part == READY ? OP_WAIT_READY : OP_WAIT_BLOCKED);
}

/* Let @ns of a wait with @stack be samples. */
static void count_wait(struct opd_waits *waits, struct opd_process_table *table,
		       struct opd_waiting_thread *waiter, enum part part,
		       struct opd_kept_stack *stack, uint64_t ns)
{
	for (unsigned int i = 0; i < waits->nr_events; i++) {
		uint64_t times;

		if (!wants_part(waits, i, part))
			continue;
		times = opd_axis_pass(&waiter->axes[i], &waits->draws, ns,
				      waits->events[i].interval);
		if (!times)
			continue;
		if (times > OP_MAX_TIMES)
			times = OP_MAX_TIMES;
		table->stats[OPD_PERF_RECEIVED] += times;
		if (!stack ||
		    op_array_reserve(&waits->queue, waits->nr_queued, 1)) {
			table->stats[OPD_PERF_NO_MM] += times;
			continue;
		}
		waits->queue[waits->nr_queued++] = (struct opd_wait_sample){
			.stack = share_stack(stack),
			.counter = waits->events[i].counter,
			.times = times,
		};
	}
}

static void count_without_stack(struct opd_waits *waits,
				struct opd_process_table *table,
				struct opd_waiting_thread *waiter,
				enum part part, uint32_t cpu, uint64_t ns)
{
	struct opd_kept_stack *stack = opd_perf_handle_no_stack(
		table, waiter->tgid, waiter->tid, cpu, NO_STACK);

	if (stack)
		waits->bytes += opd_kept_stack_size(stack);
	count_wait(waits, table, waiter, part, stack, ns);
	drop_stack(waits, stack);
}

/* Samples of an interval of which not even the length is sure. */
static void lose_wait(const struct opd_waits *waits,
		      struct opd_process_table *table, uint64_t ns)
{
	for (unsigned int i = 0; i < waits->nr_events; i++)
		table->stats[OPD_PERF_OVERFLOW] +=
			ns / waits->events[i].interval;
}

/* Count what is pending of @part, with the time that has no stack. */
static void settle_part(struct opd_waits *waits,
			struct opd_process_table *table,
			struct opd_waiting_thread *waiter, enum part part,
			uint32_t cpu)
{
	struct part_waits *p = &waiter->parts[part];
	uint64_t all = p->sampled + p->unsampled, passed = 0, counted = 0;

	for (size_t i = 0; i < p->nr; i++) {
		uint64_t until;

		passed += p->list[i].ns;
		until = p->sampled ? (uint64_t)((unsigned __int128)all *
						passed / p->sampled)
				   : all;
		count_wait(waits, table, waiter, part, p->list[i].stack,
			   until - counted);
		drop_stack(waits, p->list[i].stack);
		counted = until;
	}
	if (all > counted && p->last)
		count_wait(waits, table, waiter, part, p->last, all - counted);
	else if (all > counted)
		count_without_stack(waits, table, waiter, part, cpu,
				    all - counted);
	p->nr = 0;
	p->sampled = p->unsampled = 0;
}

/* ---- threads ----------------------------------------------------------------
 */

static struct opd_waiting_thread **find_place(struct opd_waits *waits,
					      uint32_t tid)
{
	struct opd_waiting_thread **place =
		&waits->bucket[tid % OPD_WAITS_BUCKETS];

	while (*place && (*place)->tid != tid)
		place = &(*place)->next;
	return place;
}

static void free_waiter(struct opd_waits *waits,
			struct opd_waiting_thread *waiter)
{
	drop_stack(waits, waiter->stack);
	for (int i = 0; i < NR_PARTS; i++) {
		drop_stack(waits, waiter->parts[i].last);
		for (size_t k = 0; k < waiter->parts[i].nr; k++)
			drop_stack(waits, waiter->parts[i].list[k].stack);
		free(waiter->parts[i].list);
	}
	free(waiter);
}

static void remove_waiter(struct opd_waits *waits,
			  struct opd_waiting_thread **place)
{
	struct opd_waiting_thread *waiter = *place;

	*place = waiter->next;
	free_waiter(waits, waiter);
}

/* Threads of the kernel have neither a program nor mappings. */
static bool is_user_process(struct opd_process_table *table, uint32_t tgid)
{
	const struct opd_process *process = opd_maps_find(&table->maps, tgid);

	if (!process && table->proc)
		process = opd_perf_proc_read(table, tgid);
	return process && (process->space || process->fresh ||
			   process->app != OP_NO_COOKIE);
}

/* The thread, made as one that runs if it is new. NULL if it does not count or
 * memory is short. */
static struct opd_waiting_thread *waiter_of(struct opd_waits *waits,
					    struct opd_process_table *table,
					    uint32_t tgid, uint32_t tid,
					    bool *is_new)
{
	struct opd_waiting_thread **place = find_place(waits, tid);
	struct opd_waiting_thread *waiter = *place;

	*is_new = !waiter;
	if (waiter)
		return waiter;
	if (!tid || tid == NO_THREAD || tgid == NO_THREAD ||
	    !opd_perf_handle_counts(table, tgid) ||
	    !is_user_process(table, tgid))
		return NULL;
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter)
		return NULL;
	waiter->tid = tid;
	waiter->tgid = tgid;
	for (unsigned int i = 0; i < waits->nr_events; i++)
		opd_axis_init(&waiter->axes[i], &waits->draws,
			      waits->events[i].interval);
	*place = waiter;
	return waiter;
}

/* The thread of @rec, or NULL if it has ended, does not count, or memory is
 * short. */
static struct opd_waiting_thread *living_waiter(struct opd_waits *waits,
						struct opd_process_table *table,
						const struct opd_perf_rec *rec,
						bool *is_new)
{
	struct opd_waiting_thread *waiter =
		waiter_of(waits, table, rec->pid, rec->tid, is_new);

	return waiter && waiter->state != HAS_ENDED ? waiter : NULL;
}

/* The wait of @waiter is over, or counted so far, at @time. */
static void count_until(struct opd_waits *waits,
			struct opd_process_table *table,
			struct opd_waiting_thread *waiter, uint64_t time,
			uint32_t cpu)
{
	struct part_waits *p = &waiter->parts[waiter->part];
	uint64_t ns = time > waiter->since ? time - waiter->since : 0;

	waiter->since = time;
	if (waiter->stack && p->last != waiter->stack) {
		drop_stack(waits, p->last);
		p->last = share_stack(waiter->stack);
	}
	if (!waiter->stack && waits->has_stacks && !waiter->is_assumed) {
		p->unsampled += ns;
	} else if (!waiter->stack) {
		count_without_stack(waits, table, waiter, waiter->part, cpu,
				    ns);
	} else if (!p->nr && !p->unsampled) {
		count_wait(waits, table, waiter, waiter->part, waiter->stack,
			   ns);
	} else {
		if (!p->list)
			p->list = calloc(MAX_PENDING, sizeof(*p->list));
		if (!p->list) {
			p->unsampled += ns;
			return;
		}
		p->list[p->nr++] =
			(struct pending){ share_stack(waiter->stack), ns };
		p->sampled += ns;
		if (p->nr == MAX_PENDING)
			settle_part(waits, table, waiter, waiter->part, cpu);
	}
}

static void begin_wait(struct opd_waiting_thread *waiter, enum part part,
		       uint64_t time)
{
	waiter->state = WAITS;
	waiter->part = part;
	waiter->since = time;
	waiter->is_assumed = false;
}

static void begin_run(struct opd_waits *waits,
		      struct opd_waiting_thread *waiter, uint64_t time)
{
	drop_stack(waits, waiter->stack);
	waiter->stack = NULL;
	waiter->state = RUNS;
	waiter->since = time;
	waiter->is_assumed = false;
}

/*
 * A thread that has ended is switched a few times more, until it is no more: so
 * it stays for a while as one that has ended.
 */
static void sweep_ended(struct opd_waits *waits, uint64_t now)
{
	waits->nr_ended = 0;
	for (size_t i = 0; i < OPD_WAITS_BUCKETS; i++) {
		struct opd_waiting_thread **place = &waits->bucket[i];

		while (*place) {
			bool has_ended = (*place)->state == HAS_ENDED;

			if (has_ended && now > (*place)->since + ENDED_NS) {
				remove_waiter(waits, place);
				continue;
			}
			waits->nr_ended += has_ended;
			place = &(*place)->next;
		}
	}
	waits->most_ended = 2 * waits->nr_ended + MIN_ENDED;
}

/* ---- records ----------------------------------------------------------------
 */

static void switch_out(struct opd_waits *waits, struct opd_process_table *table,
		       const struct opd_perf_rec *rec)
{
	bool is_new;
	struct opd_waiting_thread *waiter =
		living_waiter(waits, table, rec, &is_new);

	if (!waiter)
		return;
	/* When it got the CPU is among the records that were lost. */
	if (waiter->state == WAITS && !waiter->is_assumed &&
	    rec->time > waiter->since)
		lose_wait(waits, table, rec->time - waiter->since);
	begin_wait(waiter,
		   rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? READY
								   : BLOCKED,
		   rec->time);
}

static void switch_in(struct opd_waits *waits, struct opd_process_table *table,
		      const struct opd_perf_rec *rec, uint32_t cpu)
{
	bool is_new;
	struct opd_waiting_thread *waiter =
		living_waiter(waits, table, rec, &is_new);

	if (!waiter)
		return;
	if (is_new) {
		/* The record of its fork would be known, or is lost. */
		begin_wait(waiter, BLOCKED,
			   waits->begun > table->gap_at ? waits->begun
							: table->gap_at);
		waiter->is_assumed = true;
	}
	if (waiter->state == WAITS)
		count_until(waits, table, waiter, rec->time, cpu);
	else if (rec->time > waiter->since)
		lose_wait(waits, table, rec->time - waiter->since);
	begin_run(waits, waiter, rec->time);
}

static void keep_stack(struct opd_waits *waits, struct opd_process_table *table,
		       const struct opd_perf_rec *rec, uint32_t cpu)
{
	bool is_new;
	struct opd_waiting_thread *waiter =
		living_waiter(waits, table, rec, &is_new);

	if (!waiter)
		return;
	drop_stack(waits, waiter->stack);
	waiter->stack = NULL;
	if (waits->bytes < MAX_BYTES)
		waiter->stack = opd_perf_handle_stack(table, rec, cpu);
	if (waiter->stack)
		waits->bytes += opd_kept_stack_size(waiter->stack);
	if (is_new)
		waiter->since = rec->time;
}

void opd_waits_handle(struct opd_waits *waits, struct opd_process_table *table,
		      const struct opd_perf_rec *rec, uint32_t cpu)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		keep_stack(waits, table, rec, cpu);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (rec->misc & PERF_RECORD_MISC_SWITCH_OUT)
			switch_out(waits, table, rec);
		else
			switch_in(waits, table, rec, cpu);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		table->stats[OPD_PERF_SWITCH_LOST] += rec->lost.nr;
		break;
	}
}

void opd_waits_handle_side(struct opd_waits *waits,
			   struct opd_process_table *table,
			   const struct opd_perf_rec *rec)
{
	struct opd_waiting_thread *waiter;
	bool is_new;

	switch (rec->type) {
	case PERF_RECORD_FORK:
		if (*find_place(waits, rec->tid))
			remove_waiter(waits, find_place(waits, rec->tid));
		waiter = waiter_of(waits, table, rec->pid, rec->tid, &is_new);
		if (!waiter)
			return;
		begin_wait(waiter, READY, rec->time);
		waiter->is_assumed = true;
		break;
	case PERF_RECORD_COMM:
		/* The thread that executes has the number of its process. */
		if (!(rec->misc & PERF_RECORD_MISC_COMM_EXEC))
			return;
		waiter = waiter_of(waits, table, rec->pid, rec->tid, &is_new);
		if (waiter)
			begin_run(waits, waiter, rec->time);
		break;
	case PERF_RECORD_EXIT:
		waiter = *find_place(waits, rec->tid);
		if (!waiter)
			return;
		begin_run(waits, waiter, rec->time);
		for (enum part i = 0; i < NR_PARTS; i++)
			settle_part(waits, table, waiter, i, 0);
		waiter->state = HAS_ENDED;
		if (waits->nr_ended++ >= waits->most_ended)
			sweep_ended(waits, rec->time);
		break;
	}
}

/* ---- all threads ------------------------------------------------------------
 */

/* Whether a thread has no CPU and does not want one, by its file stat: the
 * letter behind the name in brackets (proc(5)). */
static bool is_blocked(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512], *end = NULL;

	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		end = strrchr(line, ')');
	fclose(file);
	return end && end[1] == ' ' && strchr("SDTI", end[2]);
}

static void begin_process(struct opd_waits *waits,
			  struct opd_process_table *table, uint32_t tgid)
{
	char path[256];
	const struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/%u/task", table->proc, tgid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		struct opd_waiting_thread *waiter;
		bool is_new;
		uint64_t tid;

		if (op_parse_u64(entry->d_name, &tid) || tid >= NO_THREAD)
			continue;
		snprintf(path, sizeof(path), "%s/%u/task/%u/stat", table->proc,
			 tgid, (uint32_t)tid);
		if (!is_blocked(path))
			continue;
		waiter = waiter_of(waits, table, tgid, (uint32_t)tid, &is_new);
		if (!waiter || !is_new)
			continue;
		begin_wait(waiter, BLOCKED, waits->begun);
		waiter->is_assumed = true;
	}
	if (folder)
		closedir(folder);
}

void opd_waits_begin(struct opd_waits *waits, struct opd_process_table *table,
		     const pid_t *pids, size_t nr_pids, uint64_t now)
{
	waits->begun = now;
	for (size_t i = 0; i < OPD_WAITS_BUCKETS; i++)
		for (struct opd_waiting_thread *w = waits->bucket[i]; w;
		     w = w->next)
			w->since = now;
	for (size_t i = 0; table->proc && i < nr_pids; i++)
		begin_process(waits, table, (uint32_t)pids[i]);
}

void opd_waits_charge(struct opd_waits *waits, struct opd_process_table *table,
		      uint64_t now)
{
	for (size_t i = 0; i < OPD_WAITS_BUCKETS; i++)
		for (struct opd_waiting_thread *w = waits->bucket[i]; w;
		     w = w->next) {
			if (w->state == WAITS && now > w->since)
				count_until(waits, table, w, now, 0);
			for (enum part k = 0; k < NR_PARTS; k++)
				settle_part(waits, table, w, k, 0);
		}
}

bool opd_waits_write(struct opd_waits *waits, struct opd_process_table *table)
{
	while (waits->nr_written < waits->nr_queued) {
		struct opd_wait_sample *sample =
			&waits->queue[waits->nr_written];

		if (!opd_writer_goes_on(table->writer))
			return false;
		opd_perf_handle_kept(table, sample->stack, sample->counter,
				     sample->times);
		drop_stack(waits, sample->stack);
		waits->nr_written++;
	}
	waits->nr_queued = waits->nr_written = 0;
	return true;
}

void opd_waits_init(struct opd_waits *waits, const struct opd_events *events)
{
	memset(waits, 0, sizeof(*waits));
	opd_draws_init(&waits->draws);
	for (uint32_t i = 0; i < events->nr; i++) {
		const struct opd_event *event = &events->counter[i];

		if (!event->set || !opd_event_is_wait(event) ||
		    waits->nr_events == OP_WAIT_MAX_EVENTS)
			continue;
		waits->has_stacks |= event->kernel;
		waits->events[waits->nr_events].counter = i;
		waits->events[waits->nr_events].interval = event->count;
		waits->events[waits->nr_events].unit_mask = event->um;
		waits->nr_events++;
	}
}

void opd_waits_release(struct opd_waits *waits)
{
	for (size_t i = 0; i < OPD_WAITS_BUCKETS; i++)
		while (waits->bucket[i])
			remove_waiter(waits, &waits->bucket[i]);
	for (size_t i = waits->nr_written; i < waits->nr_queued; i++)
		drop_stack(waits, waits->queue[i].stack);
	free(waits->queue);
	waits->queue = NULL;
	waits->nr_queued = waits->nr_written = 0;
}
