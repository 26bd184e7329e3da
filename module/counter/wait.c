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
 * when it gets a CPU has waited since sampling began, or since it was made.
 *
 * A wait of t ns counts for t / interval samples. The fraction that is left
 * over is drawn, so sums are right and no thread needs memory between two
 * waits; most short waits count for nothing, and cost no more than the look
 * into the table. For a wait that counts, the CPU raises an interrupt for
 * itself, which comes when the switch is over: then the thread is the running
 * one, its kernel stack is still that of its wait, and the sample is taken as
 * any other in the kernel is.
 */

#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

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

/* ---- threads that have no CPU -----------------------------------------------
 */

struct slot {
	u64 since; /* ns, when it lost its CPU */
	u64 woken; /* ns, 0: not yet */
	enum part part; /* of the time until it was woken */
};

static struct {
	struct task_struct **tasks; /* NULL: free */
	struct slot *slots; /* of these */
	unsigned int order; /* 1 << order groups */
	u64 begun; /* ns, when sampling began */
} waiting;

static unsigned int group_of(const struct task_struct *task)
{
	return hash_ptr(task, waiting.order) * GROUP;
}

/* The number of the slot of @task, or -1. */
static int find_slot(const struct task_struct *task)
{
	unsigned int at = group_of(task), i;

	for (i = at; i < at + GROUP; i++)
		if (READ_ONCE(waiting.tasks[i]) == task)
			return i;
	return -1;
}

static void enter_table(struct task_struct *task, enum part part, u64 now)
{
	unsigned int at = group_of(task), i;

	for (i = at; i < at + GROUP; i++) {
		if (READ_ONCE(waiting.tasks[i]) ||
		    cmpxchg(&waiting.tasks[i], NULL, task))
			continue;
		waiting.slots[i] = (struct slot){ now, 0, part };
		return;
	}
	oprofile_stat_inc(STAT_WAIT_UNTRACKED);
}

/* Take @task out of the table. Returns what the table knew. */
static struct slot leave_table(const struct task_struct *task)
{
	int i = find_slot(task);
	struct slot slot = {
		.since = max(waiting.begun, task->start_time),
		.part = READY,
	};

	if (i < 0)
		return slot;
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
	if (waiting.tasks && waiting.slots)
		return 0;
	free_wait_table();
	return -ENOMEM;
}

/* ---- what a wait counts for
 * --------------------------------------------------- */

/* Samples that the CPU is about to take, of the thread that it switches to. */
struct cpu_waits {
	struct irq_work work;
	const struct task_struct *task; /* to compare with current, no more */
	u32 tid;
	u32 random; /* state of a linear congruential generator */
	u64 times[MAX_EVENTS]; /* of each event; 0: none */
	u8 shift; /* by what the rate was lowered */
};

static DEFINE_PER_CPU(struct cpu_waits, cpu_waits);

/* @ns in units of @unit, with what is left over drawn. */
static u64 draw_units(struct cpu_waits *self, u64 ns, u64 unit)
{
	u64 whole = ns < unit ? 0 : div64_u64(ns, unit);
	u64 drawn = mul_u64_u32_shr(unit, counter_random(&self->random), 32);

	return whole + (drawn < ns - whole * unit);
}

/*
 * How often a sample that stands for @times is to be taken, in what an
 * op_sample has room for: units of 1 << *@shift.
 */
static u16 fit_times(struct cpu_waits *self, u64 times, u8 *shift)
{
	*shift = times > U16_MAX ? fls64(times) - 16 : 0;
	if (*shift)
		times = draw_units(self, times, 1ull << *shift);
	/* Drawn up, it may be one bit longer. */
	return min_t(u64, times, U16_MAX);
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
		u64 times = self->times[i];
		u16 nr_taken;
		u8 shift;

		if (!times)
			continue;
		self->times[i] = 0;
		nr_taken = fit_times(self, times << self->shift, &shift);
		oprofile_stat_add(STAT_SAMPLE_RECEIVED,
				  (unsigned long)nr_taken << shift);
		if (is_here)
			resolve_add_wait(regs, settings[i].counter, nr_taken,
					 shift);
		else
			oprofile_stat_add(STAT_SAMPLE_LOST_BUSY,
					  (unsigned long)nr_taken << shift);
	}
}

/* ---- the scheduler's tracepoints
 * ------------------------------------------------ */

/* @task gets this CPU at @now. */
static void end_wait(struct task_struct *task, u64 now)
{
	struct cpu_waits *self = this_cpu_ptr(&cpu_waits);
	const struct slot slot = leave_table(task);
	u64 until = slot.part == READY ? slot.since : slot.woken;
	unsigned int shift = READ_ONCE(lowered_by), i, part;
	u64 parts[NR_PARTS] = {};
	bool is_sampled = false;

	/* Clocks of two CPUs may differ by a little. */
	until = clamp(until ? until : now, slot.since, max(now, slot.since));
	parts[slot.part] = until - slot.since;
	parts[READY] += max(now, until) - until;
	for (i = 0; i < MAX_EVENTS && settings[i].interval; i++) {
		u64 ns = 0;

		for (part = 0; part < NR_PARTS; part++)
			if (settings[i].unit_mask >> part & 1)
				ns += parts[part];
		self->times[i] = draw_units(self, ns,
					    (u64)settings[i].interval << shift);
		is_sampled |= self->times[i] != 0;
	}
	if (!is_sampled)
		return;
	self->task = task;
	self->tid = task->pid;
	self->shift = shift;
	irq_work_queue(&self->work);
}

static void on_switch(void *unused, bool preempt,
		      COMPAT_SWITCH_ARGS(prev, next, state))
{
	unsigned int left_in = COMPAT_SWITCH_STATE(prev, state);
	u64 now = ktime_get_mono_fast_ns();
	enum part part = BLOCKED;

	if (preempt || !left_in)
		part = READY;
	else if (left_in & TASK_UNINTERRUPTIBLE)
		part = UNINTERRUPTIBLE;
	if (!(prev->flags & PF_KTHREAD) && !(left_in & TASK_DEAD))
		enter_table(prev, part, now);
	if (!(next->flags & PF_KTHREAD))
		end_wait(next, now);
}

static void on_wakeup(void *unused, struct task_struct *task)
{
	int i;

	if (task->flags & PF_KTHREAD)
		return;
	i = find_slot(task);
	if (i >= 0 && !waiting.slots[i].woken)
		waiting.slots[i].woken = ktime_get_mono_fast_ns();
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

/* ---- starting and stopping --------------------------------------------------
 */

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
		self->random = get_random_u32();
		memset(self->times, 0, sizeof(self->times));
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

/* ---- files ------------------------------------------------------------------
 */

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
