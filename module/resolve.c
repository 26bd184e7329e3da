// SPDX-License-Identifier: GPL-2.0
/*
 * A sample takes one of these ways:
 *
 *	hard interrupt, kernel code	stored at once
 *	hard interrupt, user code	looked up at once if the mappings
 *					can be locked without waiting and
 *					the image is known, else in task
 *					work
 *	NMI				staged, then as above in the
 *					interrupt that follows
 *
 * With callers wanted, samples of user code always go to task work, where the
 * pages of the stack may be waited for. In a kernel without task_work_add()
 * what cannot be looked up in the interrupt is lost. A node for task work is
 * taken from a list of the CPU, made beforehand. Only hard interrupts of the
 * CPU take from its list, which makes the lock-free removal safe; any CPU may
 * give back.
 *
 * nr_deferred counts the nodes in use, and the memory of nodes is freed only
 * when it is 0. give_back() touches nothing of a node after it has counted
 * down. Each way ends with the sample stored or counted as lost by one cause.
 */

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "backtrace.h"
#include "compat.h"
#include "cpu_buffer.h"
#include "lookup.h"
#include "nmi_stage.h"
#include "oprofile_provider.h"
#include "oprofile_stats.h"
#include "resolve.h"
#include "uapi/oprofile.h"

/* The CPU and at most 9 registers of IBS, see uapi/oprofile.h. */
#define OP_MAX_IBS_WORDS 12

#ifdef HAVE_TASK_WORK_ADD
#define CAN_DEFER true
#else
#define CAN_DEFER false
#endif

/*
 * The program and the place of a user sample; the caller holds the lock of the
 * mappings.
 */
static enum lookup look_up(struct op_sample *sample, struct mm_struct *mm,
			   enum on_new_image on_new)
{
	struct vm_area_struct *vma = lookup_vma(mm, sample->offset);

	if (!vma)
		return LOOKUP_NO_MAPPING;
	sample->app_cookie = lookup_app(mm, on_new);
	if (!sample->app_cookie && on_new == LEAVE &&
	    rcu_access_pointer(mm->exe_file))
		return LOOKUP_NEW_IMAGE;
	return lookup_place(sample, vma, on_new);
}

/*
 * A record that is a sample: its words behind the pc, nr_words of the sample.
 * The same everywhere below; NULL for samples of a counter.
 */
static void store_record(struct op_sample *sample, const u64 *record)
{
	const struct op_words words = { record, sample->nr_words };

	if (!cpu_buffer_add_trace(sample, &words, 1))
		oprofile_stat_inc(STAT_SAMPLE_LOST_OVERFLOW);
}

/* Whether callers of @sample are to be gathered. */
static bool wants_callers(const struct op_sample *sample)
{
	return backtrace_is_on() && !sample->code;
}

/* Store a resolved user sample, with its callers if these are wanted. */
static void store(struct op_sample *sample, const u64 *record,
		  struct backtrace *bt, bool may_sleep)
{
	if (sample->code) {
		store_record(sample, record);
	} else if (bt) {
		backtrace_add_user(bt, sample, may_sleep);
		backtrace_store(bt, sample);
	} else if (backtrace_is_on()) {
		backtrace_store_alone(sample, OP_TRACE_NO_UNWIND);
	} else {
		cpu_buffer_add(sample);
	}
}

/* Count why a user sample is lost. */
static void lose(enum lookup lookup)
{
	oprofile_stat_inc(lookup == LOOKUP_NO_MAPPING
				  ? STAT_SAMPLE_LOST_NO_MAPPING
				  : STAT_SAMPLE_LOST_NO_COOKIE);
}

#ifdef HAVE_TASK_WORK_ADD

/*
 * Deferred samples. A task can have one at a time, so what bounds their
 * number is how many tasks wait for their own address space or for a CPU.
 */
#define NODES_PER_CPU 1024

struct deferred {
	struct callback_head work;
	struct llist_node free;
	struct llist_head *home;
	struct op_sample sample;
	u64 record[OP_MAX_IBS_WORDS];
};

/* Taken from in hard interrupts of the CPU alone, given back from anywhere. */
static DEFINE_PER_CPU(struct llist_head, free_nodes);
static DEFINE_PER_CPU(struct deferred *, all_nodes);
static atomic_t nr_deferred;
static DECLARE_WAIT_QUEUE_HEAD(drained);

static void defer_shutdown(void)
{
	unsigned int cpu;

	wait_event(drained, !atomic_read(&nr_deferred));
	for_each_possible_cpu(cpu) {
		struct deferred **nodes = per_cpu_ptr(&all_nodes, cpu);

		kvfree(*nodes);
		*nodes = NULL;
	}
}

static int defer_setup(void)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct llist_head *home = per_cpu_ptr(&free_nodes, cpu);
		struct deferred *nodes =
			kvcalloc(NODES_PER_CPU, sizeof(*nodes), GFP_KERNEL);

		if (!nodes) {
			defer_shutdown();
			return -ENOMEM;
		}
		*per_cpu_ptr(&all_nodes, cpu) = nodes;
		init_llist_head(home);
		for (i = 0; i < NODES_PER_CPU; i++) {
			nodes[i].home = home;
			llist_add(&nodes[i].free, home);
		}
	}
	return 0;
}

int resolve_drain(void)
{
	return wait_event_killable(drained, !atomic_read(&nr_deferred)) ? -EINTR
									: 0;
}

static void give_back(struct deferred *node)
{
	llist_add(&node->free, node->home);
	/* The waiter frees the nodes: this is the last that touches them. */
	if (atomic_dec_and_test(&nr_deferred))
		wake_up_all(&drained);
}

/* In the sampled task, with its own address space. */
static void resolve_own(struct op_sample *sample, const u64 *record,
			struct mm_struct *mm)
{
	struct backtrace *bt = wants_callers(sample) ? backtrace_get() : NULL;
	enum lookup lookup;

	mmap_read_lock(mm);
	lookup = look_up(sample, mm, MAKE);
	mmap_read_unlock(mm);
	if (lookup == LOOKUP_DONE)
		store(sample, record, bt, true);
	else
		lose(lookup);
	backtrace_put(bt);
}

/* In the sampled task, before it is back in user mode. */
static void resolve_in_task(struct callback_head *work)
{
	struct deferred *node = container_of(work, struct deferred, work);

	if (current->mm)
		resolve_own(&node->sample, node->record, current->mm);
	else
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
	give_back(node);
}

static void defer(const struct op_sample *sample, const u64 *record)
{
	struct llist_node *free = llist_del_first(this_cpu_ptr(&free_nodes));
	struct deferred *node;

	if (!free) {
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_WORK);
		return;
	}
	node = llist_entry(free, struct deferred, free);
	node->sample = *sample;
	if (record)
		memcpy(node->record, record, sample->nr_words * sizeof(u64));
	init_task_work(&node->work, resolve_in_task);
	atomic_inc(&nr_deferred);
	if (task_work_add(current, &node->work, TWA_RESUME)) {
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
		give_back(node);
	}
}

#else /* !HAVE_TASK_WORK_ADD */

static int defer_setup(void)
{
	return 0;
}

static void defer_shutdown(void)
{
}

int resolve_drain(void)
{
	return 0;
}

static void defer(const struct op_sample *sample, const u64 *record)
{
	oprofile_stat_inc(STAT_SAMPLE_LOST_BUSY);
}

#endif /* HAVE_TASK_WORK_ADD */

/* Callers are gathered where pages may be waited for. */
static bool resolve_now(const struct op_sample *sample)
{
	return COMPAT_IRQ_MAY_LOCK_MMAP &&
	       !(CAN_DEFER && wants_callers(sample));
}

static void add_user_sample(struct op_sample *sample, const u64 *record)
{
	struct mm_struct *mm = current->mm;
	enum lookup lookup = LOOKUP_NEW_IMAGE;

	if (!mm) {
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
		return;
	}
	if (resolve_now(sample) && mmap_read_trylock(mm)) {
		lookup = look_up(sample, mm, CAN_DEFER ? LEAVE : MAKE);
		mmap_read_unlock(mm);
	}
	if (lookup == LOOKUP_NEW_IMAGE)
		defer(sample, record);
	else if (lookup == LOOKUP_DONE)
		store(sample, record,
		      wants_callers(sample) ? backtrace_of_interrupt() : NULL,
		      false);
	else
		lose(lookup);
}

/* @bt has the callers in the kernel, NULL if these are not wanted. */
static void add_kernel_sample(struct op_sample *sample, const u64 *record,
			      struct mm_struct *mm, struct backtrace *bt)
{

	/* The task may be in here for hours: nothing can be deferred. */
	if (mm)
		sample->app_cookie =
			lookup_app(mm, COMPAT_IRQ_MAY_LOCK_MMAP ? MAKE : LEAVE);
	sample->space = SAMPLE_KERNEL;
	if (sample->code) {
		store_record(sample, record);
		return;
	}
	if (!bt) {
		cpu_buffer_add(sample);
		return;
	}
	if (mm)
		backtrace_add_user(bt, sample, false);
	backtrace_store(bt, sample);
}

/* The callers of kernel code; nothing tells them if there are no registers. */
static struct backtrace *kernel_callers(struct pt_regs *regs)
{
	struct backtrace *bt;

	if (!backtrace_is_on())
		return NULL;
	bt = backtrace_of_interrupt();
	if (regs)
		backtrace_add_kernel(bt, regs);
	else
		backtrace_add_found(bt, NULL, 0, OP_TRACE_NO_UNWIND);
	return bt;
}

/* A sample of the running task, in a hard interrupt. */
static void add_now(struct pt_regs *regs, u64 pc, bool is_user,
		    unsigned int counter)
{
	struct op_sample sample = {
		.offset = pc,
		.tid = current->pid,
		.tgid = current->tgid,
		.cpu = smp_processor_id(),
		.counter = counter,
	};

	if (is_user)
		add_user_sample(&sample, NULL);
	else
		add_kernel_sample(&sample, NULL, current->mm,
				  kernel_callers(regs));
}

static struct backtrace *staged_callers(const struct nmi_sample *staged,
					const u64 *frames)
{
	struct backtrace *bt;

	if (!backtrace_is_on() || staged->code)
		return NULL;
	bt = backtrace_of_interrupt();
	backtrace_add_found(bt, frames, staged->nr_frames, staged->ending);
	return bt;
}

/*
 * What an NMI saw. Over user mode the task is still here; over kernel code
 * that had interrupts off it may have been switched away, and then nothing
 * tells its program, nor its callers in user mode.
 */
static void add_staged(const struct nmi_sample *staged, const u64 *words)
{
	struct op_sample sample = {
		.offset = staged->pc,
		.tid = staged->tid,
		.tgid = staged->tgid,
		.cpu = smp_processor_id(),
		.counter = staged->counter,
		.code = staged->code,
		.nr_words = staged->code ? staged->nr_frames : 0,
	};
	bool is_same = current == staged->task && current->pid == staged->tid;

	if (!staged->is_user)
		add_kernel_sample(&sample, words, is_same ? current->mm : NULL,
				  staged_callers(staged, words));
	else if (is_same)
		add_user_sample(&sample, words);
	else
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
}

static void stage(struct pt_regs *regs, u64 pc, bool is_user,
		  unsigned int counter)
{
	enum op_trace_ending ending = OP_TRACE_NO_UNWIND;
	struct nmi_sample sample = {
		.pc = pc,
		.task = current,
		.tid = current->pid,
		.tgid = current->tgid,
		.counter = counter,
		.is_user = is_user,
	};
	const u64 *frames = NULL;

	if (!is_user && regs && backtrace_is_on())
		sample.nr_frames = backtrace_in_nmi(regs, &frames, &ending);
	sample.ending = ending;
	if (!nmi_stage_add(&sample, frames))
		oprofile_stat_inc(STAT_SAMPLE_LOST_OVERFLOW);
}

/* Without @regs nothing is known but the address. */
static void add(struct pt_regs *regs, u64 pc, bool is_user,
		unsigned int counter)
{
	oprofile_stat_inc(STAT_SAMPLE_RECEIVED);
	if (pc == OP_ESCAPE)
		oprofile_stat_inc(STAT_SAMPLE_INVALID_EIP);
	else if (in_nmi())
		stage(regs, pc, is_user, counter);
	else
		add_now(regs, pc, is_user, counter);
}

void oprofile_add_sample(struct pt_regs *regs, unsigned int counter)
{
	add(regs, instruction_pointer(regs), user_mode(regs), counter);
}
EXPORT_SYMBOL_GPL(oprofile_add_sample);

void oprofile_add_kernel_pc(unsigned long pc, unsigned int counter)
{
	add(NULL, pc, false, counter);
}
EXPORT_SYMBOL_GPL(oprofile_add_kernel_pc);

/* ---- AMD IBS ------------------------------------------------------------- */

static void stage_record(const struct op_sample *sample, bool is_user,
			 const u64 *record)
{
	const struct nmi_sample staged = {
		.pc = sample->offset,
		.task = current,
		.tid = sample->tid,
		.tgid = sample->tgid,
		.nr_frames = sample->nr_words,
		.code = sample->code,
		.is_user = is_user,
	};

	if (!nmi_stage_add(&staged, record))
		oprofile_stat_inc(STAT_SAMPLE_LOST_OVERFLOW);
}

static void add_record(struct op_sample *sample, bool is_user,
		       const u64 *record)
{
	if (in_nmi())
		stage_record(sample, is_user, record);
	else if (is_user)
		add_user_sample(sample, record);
	else
		add_kernel_sample(sample, record, current->mm, NULL);
}

void oprofile_add_ibs_sample(const struct oprofile_ibs_sample *ibs)
{
	const u8 *raw = ibs->raw;
	unsigned int nr_regs = (ibs->size - sizeof(u32)) / sizeof(u64);
	struct op_sample sample = {
		.offset = ibs->pc,
		.tid = current->pid,
		.tgid = current->tgid,
		.cpu = smp_processor_id(),
		.code = ibs->is_op ? OP_IBS_OP : OP_IBS_FETCH,
		.nr_words = 1 + nr_regs,
	};
	u64 record[OP_MAX_IBS_WORDS];
	u32 caps;

	oprofile_stat_inc(STAT_SAMPLE_RECEIVED);
	if (ibs->pc == OP_ESCAPE || ibs->size < sizeof(u32) ||
	    nr_regs >= OP_MAX_IBS_WORDS) {
		oprofile_stat_inc(STAT_SAMPLE_INVALID_EIP);
		return;
	}
	memcpy(&caps, raw, sizeof(caps));
	record[0] = OP_IBS_CPU(caps, ibs->family);
	memcpy(record + 1, raw + sizeof(caps), nr_regs * sizeof(u64));
	add_record(&sample, ibs->is_user, record);
}
EXPORT_SYMBOL_GPL(oprofile_add_ibs_sample);

/* ---- setting up -------------------------------------------------------- */

int resolve_setup(void)
{
	int err = nmi_stage_setup(add_staged,
				  max_t(unsigned long, backtrace_depth,
					OP_MAX_IBS_WORDS));

	if (err)
		return err;
	err = defer_setup();
	if (err)
		nmi_stage_shutdown();
	return err;
}

void resolve_shutdown(void)
{
	defer_shutdown();
	nmi_stage_shutdown();
}

void resolve_settle(void)
{
	nmi_stage_settle();
}
