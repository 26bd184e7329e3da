// SPDX-License-Identifier: GPL-2.0
/*
 * Two tracepoints of the scheduler show all:
 *
 *	sched_switch	a thread loses its CPU: note since when it waits, and
 *			whether it is blocked or would rather run
 *	sched_wakeup	a blocked thread may run again: note when
 *	sched_switch	it gets a CPU: the time since the first is the wait,
 *			that since the second its last part
 *
 * Each probe runs under the lock of a run queue, so it wakes nobody, allocates
 * nothing and takes no lock. What a probe notes of a thread is in a table with
 * room for a fixed number of threads, whose groups of eight are found by the
 * address of the task. A thread is in the table only while it has no CPU, and
 * only the CPU that switches it reads or changes its slot, so a slot is claimed
 * by one compare-and-exchange and needs no other care. A thread that finds its
 * group full is counted in wait_untracked. A thread that is not in the table
 * when it is woken has been blocked since sampling began; one that is not there
 * when it gets a CPU waits for that since it was made.
 *
 * A wait of t ns counts for t / interval samples. The fraction that is left
 * over is drawn, so sums are right and no thread needs memory between two
 * waits; most short waits count for nothing, and cost no more than the look
 * into the table. For a wait that counts, the CPU raises an interrupt for
 * itself, which comes when the switch is over: then the thread is the running
 * one, its kernel stack is still that of its wait, and the sample is taken as
 * any other in the kernel is.
 *
 * When sampling stops, most threads are still waiting, and a wait without end
 * is what one looks for. So the waits that go on are counted then, thread by
 * thread, up to the moment of the stop. The probes stay meanwhile. The walk and
 * the probe of a thread that gets a CPU claim the thread by a mark in the
 * table, and the first of them counts it. They do so under a lock that the walk
 * keeps while it reads the thread's kernel stack: so long the thread cannot get
 * its CPU, and its stack is there and does not change. No lock is taken below
 * this one.
 */

#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

#include "buffer/buffer_sync.h"
#include "compat.h"
#include "counter/counter.h"
#include "counter/wait.h"
#include "oprofile_stats.h"
#include "oprofilefs.h"
#include "sample/backtrace.h"
#include "sample/resolve.h"
#include "uapi/oprofile.h"

#define MAX_EVENTS 4
#define INTERVAL_MIN 1000u /* ns */
#define INTERVAL_MAX 4000000000u

#define GROUP 8 /* slots: a cache line of addresses */
#define THREADS_DEFAULT 65536 /* room for */
#define THREADS_MAX (1ul << 22)

/* The parts of a wait, as the bits of a unit mask number them. */
enum part { BLOCKED, UNINTERRUPTIBLE, READY, NR_PARTS };

struct setting {
	unsigned long counter; /* of the stream */
	unsigned long interval; /* ns that a sample stands for; 0: no event */
	unsigned long unit_mask; /* of enum part */
};

static struct setting settings[MAX_EVENTS];
static unsigned long max_threads = THREADS_DEFAULT;
static unsigned int lowered_by; /* a shift */

/* ---- threads that have no CPU -------------------------------------------- */

struct slot {
	u64 since; /* ns, when it lost its CPU */
	u64 woken; /* ns, 0: not yet */
	enum part part; /* of the time until it was woken */
};

static struct {
	struct task_struct **tasks; /* NULL: free; marked at the end */
	struct slot *slots; /* of these */
	unsigned int order; /* 1 << order groups */
	u64 begun; /* ns, when sampling began */
	u64 ended; /* and ended; 0: it has not */
	bool is_short; /* a thread has found no room */
} waiting;

static unsigned int group_of(const struct task_struct *task)
{
	return hash_ptr(task, waiting.order) * GROUP;
}

/* The number of the slot of @task in the group at @at, or -1. */
static int find_slot(const struct task_struct *task, unsigned int at)
{
	unsigned int i;

	for (i = at; i < at + GROUP; i++)
		if (READ_ONCE(waiting.tasks[i]) == task)
			return i;
	return -1;
}

static void enter_table(struct task_struct *task, struct slot slot)
{
	unsigned int at = group_of(task), i;

	for (i = at; i < at + GROUP; i++) {
		if (READ_ONCE(waiting.tasks[i]) ||
		    cmpxchg(&waiting.tasks[i], NULL, task))
			continue;
		waiting.slots[i] = slot;
		return;
	}
	WRITE_ONCE(waiting.is_short, true);
	oprofile_stat_inc(STAT_WAIT_UNTRACKED);
}

static enum part part_of(unsigned int state)
{
	if (!state)
		return READY;
	return state & TASK_UNINTERRUPTIBLE ? UNINTERRUPTIBLE : BLOCKED;
}

/*
 * The slot of a task that has no CPU and is in no slot: it has not waited at
 * all if that may be for want of room.
 */
static struct slot unknown_wait(const struct task_struct *task)
{
	bool is_known = !READ_ONCE(waiting.is_short);

	return (struct slot){
		.since = is_known ? max(waiting.begun, task->start_time)
				  : U64_MAX,
		.part = part_of(compat_state_of(task)),
	};
}

/* Take @task out of the table. Returns what the table knew. */
static struct slot leave_table(const struct task_struct *task)
{
	int i = find_slot(task, group_of(task));
	struct slot slot;

	if (i < 0)
		return unknown_wait(task);
	slot = waiting.slots[i];
	/* Whoever claims the slot next changes what was just read. */
	smp_store_release(&waiting.tasks[i], NULL);
	return slot;
}

static void free_wait_table(void)
{
	kvfree(waiting.tasks);
	kvfree(waiting.slots);
	waiting.tasks = NULL;
	waiting.slots = NULL;
}

static int make_wait_table(void)
{
	size_t nr;

	waiting.order = order_base_2(DIV_ROUND_UP(max_threads, GROUP));
	nr = (size_t)GROUP << waiting.order;
	waiting.tasks = kvcalloc(nr, sizeof(*waiting.tasks), GFP_KERNEL);
	waiting.slots = kvcalloc(nr, sizeof(*waiting.slots), GFP_KERNEL);
	waiting.begun = ktime_get_mono_fast_ns();
	waiting.ended = 0;
	waiting.is_short = false;
	if (waiting.tasks && waiting.slots)
		return 0;
	free_wait_table();
	return -ENOMEM;
}

/* ---- threads that wait when sampling stops ------------------------------- */

/* In an address of the table. */
#define CLAIMED 1ul /* what its wait comes to is counted */
#define HAD_CPU 2ul /* ... and it may have run since */

static DEFINE_RAW_SPINLOCK(claims);

/* The address in slot @i without its marks. */
static struct task_struct *unmarked(unsigned int i)
{
	return (struct task_struct *)((unsigned long)READ_ONCE(
					      waiting.tasks[i]) &
				      ~(CLAIMED | HAD_CPU));
}

/*
 * Mark @task by @marks. True if it had none, and then *@slot is what was known
 * of it; false, too, if there is no room for a mark. The caller has the lock.
 */
static bool claim(struct task_struct *task, unsigned long marks,
		  struct slot *slot)
{
	unsigned int at = group_of(task), i;
	unsigned long old = 0;

	for (i = at; i < at + GROUP && unmarked(i) != task; i++)
		;
	if (i == at + GROUP) {
		for (i = at; i < at + GROUP && READ_ONCE(waiting.tasks[i]); i++)
			;
		if (i == at + GROUP) {
			oprofile_stat_inc(STAT_WAIT_UNTRACKED);
			return false;
		}
		waiting.slots[i] = unknown_wait(task);
	} else {
		old = (unsigned long)waiting.tasks[i] & (CLAIMED | HAD_CPU);
	}
	*slot = waiting.slots[i];
	WRITE_ONCE(waiting.tasks[i],
		   (struct task_struct *)((unsigned long)task | old | marks));
	return !old;
}

/* Whether @task has been claimed and got no CPU after that. */
static bool still_waits(const struct task_struct *task)
{
	const struct task_struct *wanted =
		(const void *)((unsigned long)task | CLAIMED);

	return find_slot(wanted, group_of(task)) >= 0;
}

/* ---- what a wait counts for ---------------------------------------------- */

/* Waits in samples. */
struct drawn {
	u32 random; /* state of a linear congruential generator */
	u64 times[MAX_EVENTS]; /* of each event; 0: none */
	u8 shift; /* by what the rate was lowered */
};

/* Samples that the CPU is about to take, of the thread that it switches to. */
struct cpu_waits {
	struct irq_work work;
	const struct task_struct *task; /* to compare with current, no more */
	u32 tid;
	struct drawn drawn;
};

static DEFINE_PER_CPU(struct cpu_waits, cpu_waits);

/* @ns in units of @unit, with what is left over drawn. */
static u64 draw_units(u32 *random, u64 ns, u64 unit)
{
	u64 whole = ns < unit ? 0 : div64_u64(ns, unit);
	u64 drawn = mul_u64_u32_shr(unit, counter_random(random), 32);

	return whole + (drawn < ns - whole * unit);
}

/*
 * How often a sample of event @i is to be taken, in what an op_sample has room
 * for: units of 1 << *@shift. They count as received from here on. 0: not at
 * all.
 */
static u16 take_drawn(struct drawn *drawn, unsigned int i, u8 *shift)
{
	u64 times = drawn->times[i] << drawn->shift;

	drawn->times[i] = 0;
	*shift = times > U16_MAX ? fls64(times) - 16 : 0;
	if (*shift)
		times = draw_units(&drawn->random, times, 1ull << *shift);
	/* Drawn up, it may be one bit longer. */
	times = min_t(u64, times, U16_MAX);
	oprofile_stat_add(STAT_SAMPLE_RECEIVED, (unsigned long)times << *shift);
	return times;
}

/* Draw the samples of a wait that began as @slot has it and ends @now. */
static bool draw_wait(struct drawn *drawn, const struct slot *slot, u64 now)
{
	u64 until = slot->part == READY ? slot->since : slot->woken;
	unsigned int shift = READ_ONCE(lowered_by), i, part;
	u64 parts[NR_PARTS] = {};
	bool is_sampled = false;

	/* Clocks of two CPUs may differ by a little. */
	until = clamp(until ? until : now, slot->since, max(now, slot->since));
	parts[slot->part] = until - slot->since;
	parts[READY] += max(now, until) - until;
	for (i = 0; i < MAX_EVENTS && settings[i].interval; i++) {
		u64 ns = 0;

		for (part = 0; part < NR_PARTS; part++)
			if (settings[i].unit_mask >> part & 1)
				ns += parts[part];
		drawn->times[i] = draw_units(
			&drawn->random, ns, (u64)settings[i].interval << shift);
		is_sampled |= drawn->times[i] != 0;
	}
	drawn->shift = shift;
	return is_sampled;
}

/* In the interrupt behind the switch. */
static void take_waits(struct irq_work *work)
{
	struct cpu_waits *self = container_of(work, struct cpu_waits, work);
	struct pt_regs *regs = backtrace_interrupted();
	bool is_here =
		regs && current == self->task && current->pid == self->tid;
	unsigned int i;

	for (i = 0; i < MAX_EVENTS; i++) {
		u8 shift;
		u16 nr_taken = take_drawn(&self->drawn, i, &shift);

		if (!nr_taken)
			continue;
		if (is_here)
			resolve_add_wait(regs, settings[i].counter, nr_taken,
					 shift);
		else
			oprofile_stat_add(STAT_SAMPLE_LOST_BUSY,
					  (unsigned long)nr_taken << shift);
	}
}

/* ---- the scheduler's tracepoints ----------------------------------------- */

/* @task, which waited as @slot knows, gets this CPU at @now. */
static void end_wait(struct task_struct *task, const struct slot *slot, u64 now)
{
	struct cpu_waits *self = this_cpu_ptr(&cpu_waits);

	if (!draw_wait(&self->drawn, slot, now))
		return;
	self->task = task;
	self->tid = task->pid;
	irq_work_queue(&self->work);
}

static void switch_at_end(struct task_struct *prev, struct task_struct *next)
{
	struct slot slot;
	bool is_first;

	raw_spin_lock(&claims);
	if (!(prev->flags & PF_KTHREAD))
		claim(prev, CLAIMED | HAD_CPU, &slot);
	is_first = !(next->flags & PF_KTHREAD) &&
		   claim(next, CLAIMED | HAD_CPU, &slot);
	raw_spin_unlock(&claims);
	if (is_first)
		end_wait(next, &slot, waiting.ended);
}

static void on_switch(void *unused, bool preempt,
		      COMPAT_SWITCH_ARGS(prev, next, state))
{
	unsigned int left_in = COMPAT_SWITCH_STATE(prev, state);
	u64 now = ktime_get_mono_fast_ns();

	if (READ_ONCE(waiting.ended)) {
		switch_at_end(prev, next);
		return;
	}
	if (!(prev->flags & PF_KTHREAD) && !(left_in & TASK_DEAD))
		enter_table(prev,
			    (struct slot){
				    .since = now,
				    .part = part_of(preempt ? 0 : left_in),
			    });
	if (!(next->flags & PF_KTHREAD)) {
		const struct slot slot = leave_table(next);

		end_wait(next, &slot, now);
	}
}

static void on_wakeup(void *unused, struct task_struct *task)
{
	int i;

	/* Whatever comes after the end is no part of a wait. */
	if (task->flags & PF_KTHREAD || READ_ONCE(waiting.ended))
		return;
	i = find_slot(task, group_of(task));
	if (i >= 0 && !waiting.slots[i].woken)
		waiting.slots[i].woken = ktime_get_mono_fast_ns();
	else if (i < 0 && !READ_ONCE(waiting.is_short) && !compat_has_cpu(task))
		enter_table(task, (struct slot){
					  .since = waiting.begun,
					  .woken = ktime_get_mono_fast_ns(),
					  .part = BLOCKED,
				  });
}

static struct probe {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} probes[] = {
	{ "sched_switch", on_switch, NULL },
	{ "sched_wakeup", on_wakeup, NULL },
};

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

void wait_init(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
}

static void remove_probes(unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tracepoint,
					    probes[nr].probe, NULL);
	tracepoint_synchronize_unregister();
}

/* ---- starting and stopping ----------------------------------------------- */

bool wait_is_wanted(void)
{
	return settings[0].interval != 0;
}

/* Events are the first settings, without a gap. */
static int check_wait_settings(void)
{
	unsigned int i;

	for (i = 0; i < MAX_EVENTS; i++) {
		const struct setting *s = &settings[i];

		if (s->interval &&
		    (s->interval < INTERVAL_MIN || s->interval > INTERVAL_MAX ||
		     s->counter >= OP_MAX_COUNTERS || !s->unit_mask ||
		     s->unit_mask >> NR_PARTS || (i && !s[-1].interval)))
			return -EINVAL;
	}
	return max_threads && max_threads <= THREADS_MAX ? 0 : -EINVAL;
}

int wait_start(void)
{
	unsigned int cpu, i;
	int err;

	if (!wait_is_wanted())
		return 0;
	err = check_wait_settings();
	if (!err)
		err = make_wait_table();
	if (err)
		return err;
	for_each_possible_cpu(cpu) {
		struct cpu_waits *self = per_cpu_ptr(&cpu_waits, cpu);

		self->work = IRQ_WORK_INIT_HARD(take_waits);
		self->drawn.random = get_random_u32();
		memset(self->drawn.times, 0, sizeof(self->drawn.times));
	}
	for (i = 0; i < ARRAY_SIZE(probes) && !err; i++) {
		err = tracepoint_probe_register(probes[i].tracepoint,
						probes[i].probe, NULL);
		if (err)
			remove_probes(i);
	}
	if (err)
		free_wait_table();
	return err;
}

/* The threads of all processes, each with a reference. */
struct threads {
	struct task_struct **tasks;
	size_t nr, max;
};

static size_t count_threads(void)
{
	struct task_struct *process, *thread;
	size_t nr = 0;

	rcu_read_lock();
	for_each_process_thread(process, thread)
		nr++;
	rcu_read_unlock();
	return nr;
}

/* A thread that is made meanwhile has not waited yet, and may be left out. */
static void hold_threads(struct threads *threads)
{
	struct task_struct *process, *thread;

	rcu_read_lock();
	for_each_process_thread(process, thread) {
		if (threads->nr < threads->max && !(thread->flags & PF_KTHREAD))
			threads->tasks[threads->nr++] = get_task_struct(thread);
	}
	rcu_read_unlock();
}

/* Whether the wait of @thread is this walk's to count, and what it is. */
static bool claim_waiting(struct resolve_waiting *thread, struct drawn *drawn)
{
	struct task_struct *task = thread->task;
	const u64 ended = waiting.ended;
	struct slot slot;
	bool is_counted;

	raw_spin_lock_irq(&claims);
	is_counted = !compat_has_cpu(task) && !(task->flags & PF_EXITING) &&
		     claim(task, CLAIMED, &slot) &&
		     draw_wait(drawn, &slot, ended);
	if (is_counted)
		resolve_see_waiting(thread);
	raw_spin_unlock_irq(&claims);
	return is_counted;
}

static void count_waiting(struct task_struct *task, struct drawn *drawn)
{
	static struct resolve_waiting thread; /* one walk at a time */
	unsigned int i;

	thread = (struct resolve_waiting){
		.task = task,
		.mm = get_task_mm(task),
		.bt = backtrace_is_on() ? backtrace_get() : NULL,
	};
	if (thread.mm && claim_waiting(&thread, drawn)) {
		resolve_gather_waiting(&thread);
		if (!still_waits(task)) {
			backtrace_put(thread.bt);
			thread.bt = NULL;
		}
		for (i = 0; i < MAX_EVENTS; i++) {
			u8 shift;
			u16 nr_taken = take_drawn(drawn, i, &shift);

			if (nr_taken)
				resolve_add_waiting(&thread,
						    settings[i].counter,
						    nr_taken, shift);
		}
	}
	backtrace_put(thread.bt);
	if (thread.mm)
		mmput(thread.mm);
}

/* Samples between two times that the buffers of CPUs are emptied. */
#define WALKED_AT_A_TIME 16

void wait_count_unfinished(void)
{
	struct drawn drawn = { .random = get_random_u32() };
	struct threads threads = {};
	size_t i;

	if (!waiting.tasks)
		return;
	threads.max = count_threads();
	threads.tasks =
		kvmalloc_array(threads.max, sizeof(*threads.tasks), GFP_KERNEL);
	if (!threads.tasks) {
		oprofile_stat_add(STAT_WAIT_UNTRACKED, threads.max);
		return;
	}
	WRITE_ONCE(waiting.ended, ktime_get_mono_fast_ns());
	/* Probes that have not seen it are done. */
	tracepoint_synchronize_unregister();
	hold_threads(&threads);
	for (i = 0; i < threads.nr; i++) {
		if (fatal_signal_pending(current))
			oprofile_stat_inc(STAT_WAIT_UNTRACKED);
		else
			count_waiting(threads.tasks[i], &drawn);
		put_task_struct(threads.tasks[i]);
		if (i % WALKED_AT_A_TIME == 0)
			buffer_sync();
		cond_resched();
	}
	kvfree(threads.tasks);
}

void wait_stop(void)
{
	unsigned int cpu;

	if (!waiting.tasks)
		return;
	remove_probes(ARRAY_SIZE(probes));
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&cpu_waits, cpu)->work);
	free_wait_table();
}

void wait_lower_rate(unsigned int shift)
{
	WRITE_ONCE(lowered_by, shift);
}

/* ---- files --------------------------------------------------------------- */

static int create_wait_folder(struct dentry *parent, unsigned int nr)
{
	struct setting *setting = &settings[nr];
	char name[12];
	struct dentry *dir;
	int err;

	snprintf(name, sizeof(name), "%u", nr);
	dir = oprofilefs_mkdir(parent, name);
	if (!dir)
		return -ENOMEM;
	err = counter_create_setting(dir, "counter", &setting->counter);
	if (!err)
		err = counter_create_setting(dir, "interval",
					     &setting->interval);
	if (!err)
		err = counter_create_setting(dir, "unit_mask",
					     &setting->unit_mask);
	return err;
}

int wait_create_files(struct dentry *root)
{
	struct dentry *dir;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!probes[i].tracepoint)
			return 0;
	dir = oprofilefs_mkdir(root, "wait");
	if (!dir)
		return -ENOMEM;
	err = counter_create_setting(dir, "threads", &max_threads);
	if (!err)
		err = counter_create_setting(dir, "scheduler_start",
					     &resolve_scheduler_start);
	if (!err)
		err = counter_create_setting(dir, "scheduler_end",
					     &resolve_scheduler_end);
	for (i = 0; i < MAX_EVENTS && !err; i++)
		err = create_wait_folder(dir, i);
	return err;
}
