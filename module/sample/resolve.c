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
 * With callers wanted, samples of user code always go to task work: gathering
 * them takes too long for an interrupt. Nothing in task work waits without
 * bound, as a stop waits for it: the lock of the mappings is tried for a while
 * (lookup.h), and no page of a file is waited for. In a kernel without
 * task_work_add() what cannot be looked up in the interrupt is lost. Each way
 * ends with the sample stored or counted as lost by one cause.
 */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <linux/types.h>

#include "buffer/cpu_buffer.h"
#include "compat.h"
#include "handler_time.h"
#include "oprofile_provider.h"
#include "oprofile_stats.h"
#include "owner.h"
#include "sample/backtrace.h"
#include "sample/defer.h"
#include "sample/lookup.h"
#include "sample/nmi_stage.h"
#include "sample/resolve.h"
#include "uapi/oprofile.h"

/*
 * A record that is a sample: its words behind the pc, nr_words of the sample.
 * The same everywhere below; NULL for samples of a counter.
 */
static void store_record(struct op_sample *sample, const u64 *record)
{
	const struct op_words words = { record, sample->nr_words };

	if (!cpu_buffer_add_trace(sample, &words, 1))
		op_sample_lose(sample, STAT_SAMPLE_LOST_OVERFLOW);
}

/* Whether callers of @sample are to be gathered. */
static bool wants_callers(const struct op_sample *sample)
{
	return backtrace_is_on() && !sample->code;
}

/* Store a resolved user sample, with its callers if these are wanted. */
static void store(struct op_sample *sample, const u64 *record,
		  struct backtrace *bt)
{
	if (sample->code)
		store_record(sample, record);
	else if (bt)
		backtrace_store(bt, sample);
	else if (backtrace_is_on())
		backtrace_store_alone(sample, OP_TRACE_NO_UNWIND);
	else
		cpu_buffer_add(sample);
}

/* A user sample that could not be looked up, and why. */
static void lose_unresolved(const struct op_sample *sample, enum lookup lookup)
{
	enum oprofile_stat cause = STAT_SAMPLE_LOST_NO_COOKIE;

	if (lookup == LOOKUP_NO_MAPPING)
		cause = STAT_SAMPLE_LOST_NO_MAPPING;
	else if (lookup == LOOKUP_BUSY)
		cause = STAT_SAMPLE_LOST_BUSY;
	op_sample_lose(sample, cause);
}

/* In the sampled task, with its own address space. */
static void resolve_own(struct op_sample *sample, const u64 *record)
{
	struct backtrace *bt = wants_callers(sample) ? backtrace_get() : NULL;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	enum lookup lookup = LOOKUP_BUSY;

	if (bt) {
		lookup = backtrace_resolve(bt, sample);
	} else if (lookup_lock_maps(mm)) {
		lookup = lookup_sample(sample, mm, user_of(current), &vma);
		mmap_read_unlock(mm);
	}
	if (!defer_settles(sample))
		; /* a stop did not wait any longer */
	else if (lookup == LOOKUP_DONE)
		store(sample, record, bt);
	else
		lose_unresolved(sample, lookup);
	backtrace_put(bt);
}

/* Callers are gathered in the task, where that keeps no interrupt waiting. */
static bool resolve_now(const struct op_sample *sample, bool may_defer)
{
	return COMPAT_IRQ_MAY_LOCK_MMAP &&
	       !(may_defer && wants_callers(sample));
}

/* The callers of @sample, which is resolved, in the interrupt. */
static struct backtrace *user_callers(const struct op_sample *sample)
{
	struct backtrace *bt;

	if (!wants_callers(sample))
		return NULL;
	bt = backtrace_of_interrupt();
	backtrace_add_user(bt, sample);
	return bt;
}

/*
 * @over_user: the interrupt came over user mode, so task work is next. Else the
 * task has entered the kernel behind the sampled instruction, may be in there
 * for hours, and may have other mappings then: nothing can be deferred.
 */
static void add_user_sample(struct op_sample *sample, const u64 *record,
			    bool over_user)
{
	const bool may_defer = DEFER_IS_POSSIBLE && over_user;
	struct mm_struct *mm = current->mm;
	enum lookup lookup = LOOKUP_BUSY;
	struct vm_area_struct *vma;

	if (!mm) {
		op_sample_lose(sample, STAT_SAMPLE_LOST_NO_MM);
		return;
	}
	if (resolve_now(sample, may_defer) && mmap_read_trylock(mm)) {
		lookup = lookup_sample(sample, mm,
				       may_defer ? LEAVE_NEW : user_of(current),
				       &vma);
		mmap_read_unlock(mm);
	}
	if (may_defer && (lookup == LOOKUP_BUSY || lookup == LOOKUP_NEW_IMAGE))
		defer_sample(sample, record);
	else if (lookup == LOOKUP_DONE)
		store(sample, record, user_callers(sample));
	else
		lose_unresolved(sample, lookup);
}

/* @bt has the callers in the kernel, NULL if these are not wanted. */
static void add_kernel_sample(struct op_sample *sample, const u64 *record,
			      struct mm_struct *mm, struct backtrace *bt)
{

	/* The task may be in here for hours: nothing can be deferred. */
	if (mm)
		sample->app_cookie = lookup_app(mm, COMPAT_IRQ_MAY_LOCK_MMAP
							    ? user_of(current)
							    : LEAVE_NEW);
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
		backtrace_add_user(bt, sample);
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

/* A sample of @task at @pc, where it is now. */
static struct op_sample sample_of(const struct task_struct *task, u64 pc)
{
	return (struct op_sample){
		.offset = pc,
		.tid = task->pid,
		.tgid = task->tgid,
		.owner = owner_of(task),
		.cpu = task_cpu(task),
	};
}

/* A sample of the running task, in a hard interrupt. */
static void add_now(struct pt_regs *regs, u64 pc, bool is_user,
		    unsigned int counter, unsigned int shift)
{
	struct op_sample sample = sample_of(current, pc);

	sample.counter = counter;
	sample.shift = shift;
	if (is_user)
		add_user_sample(&sample, NULL, true);
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
 * Add a sample that an NMI took. If the NMI came over user mode the task is
 * still here; if it came over kernel code with interrupts off, the task may
 * have been switched away, and its program and its callers in user mode are
 * unknown.
 */
static void add_staged(const struct nmi_sample *staged, const u64 *words)
{
	u64 begun = handler_begins(HANDLER_STAGED);
	struct op_sample sample = {
		.offset = staged->pc,
		.tid = staged->tid,
		.tgid = staged->tgid,
		.owner = staged->owner,
		.cpu = smp_processor_id(),
		.counter = staged->counter,
		.code = staged->code,
		.shift = staged->shift,
		.nr_words = staged->code ? staged->nr_frames : 0,
	};
	bool is_same = current == staged->task && current->pid == staged->tid;

	if (!staged->is_user)
		add_kernel_sample(&sample, words, is_same ? current->mm : NULL,
				  staged_callers(staged, words));
	else if (is_same)
		add_user_sample(&sample, words, staged->over_user);
	else
		op_sample_lose(&sample, STAT_SAMPLE_LOST_NO_MM);
	handler_ends(HANDLER_STAGED, begun);
}

static void put_on_stage(const struct nmi_sample *sample, const u64 *words)
{
	if (!nmi_stage_add(sample, words))
		oprofile_stat_add(STAT_SAMPLE_LOST_OVERFLOW,
				  1ul << sample->shift);
}

static void stage(struct pt_regs *regs, u64 pc, bool is_user,
		  unsigned int counter, unsigned int shift)
{
	enum op_trace_ending ending = OP_TRACE_NO_UNWIND;
	struct nmi_sample sample = {
		.pc = pc,
		.task = current,
		.tid = current->pid,
		.tgid = current->tgid,
		.owner = owner_of(current),
		.counter = counter,
		.shift = shift,
		.is_user = is_user,
		.over_user = is_user,
	};
	const u64 *frames = NULL;

	if (!is_user && regs && backtrace_is_on())
		sample.nr_frames = backtrace_in_nmi(regs, &frames, &ending);
	sample.ending = ending;
	put_on_stage(&sample, frames);
}

/* Without @regs nothing is known but the address. */
static void add(struct pt_regs *regs, u64 pc, bool is_user,
		unsigned int counter, unsigned int shift)
{
	u64 begun = handler_begins(HANDLER_INTERRUPT);

	oprofile_stat_add(STAT_SAMPLE_RECEIVED, 1ul << shift);
	if (pc == OP_ESCAPE)
		oprofile_stat_add(STAT_SAMPLE_INVALID_EIP, 1ul << shift);
	else if (in_nmi())
		stage(regs, pc, is_user, counter, shift);
	else
		add_now(regs, pc, is_user, counter, shift);
	handler_ends(HANDLER_INTERRUPT, begun);
}

void oprofile_add_sample(struct pt_regs *regs, unsigned int counter,
			 unsigned int shift)
{
	add(regs, instruction_pointer(regs), user_mode(regs), counter, shift);
}
EXPORT_SYMBOL_GPL(oprofile_add_sample);

void oprofile_add_kernel_pc(unsigned long pc, unsigned int counter,
			    unsigned int shift)
{
	add(NULL, pc, false, counter, shift);
}
EXPORT_SYMBOL_GPL(oprofile_add_kernel_pc);

/* ---- waits --------------------------------------------------------------- */

unsigned long resolve_scheduler_start, resolve_scheduler_end;

/*
 * Let @sample be at the innermost of the @nr frames that is not the
 * scheduler's. Returns how many frames are then in front of the callers.
 */
static unsigned int leave_scheduler(struct op_sample *sample, const u64 *frames,
				    unsigned int nr)
{
	unsigned int skipped = 0;

	while (skipped < nr && frames[skipped] >= resolve_scheduler_start &&
	       frames[skipped] < resolve_scheduler_end)
		skipped++;
	if (skipped == nr)
		return nr;
	/* A return address belongs to the call before it. */
	sample->offset = frames[skipped] - 1;
	return skipped + 1;
}

void resolve_add_wait(struct pt_regs *regs, unsigned int counter, u16 nr_taken,
		      u8 shift)
{
	u64 begun = handler_begins(HANDLER_WAIT);
	struct op_sample sample = sample_of(current, instruction_pointer(regs));
	u64 own[RESOLVE_SCHEDULER_FRAMES], *frames = own;
	unsigned int nr, max = RESOLVE_SCHEDULER_FRAMES, skipped;
	enum op_trace_ending ending;
	struct backtrace *bt = NULL;

	sample.counter = counter;
	sample.shift = shift;
	sample.nr_taken = nr_taken;
	if (backtrace_is_on()) {
		bt = backtrace_of_interrupt();
		frames = bt->frames;
		max = backtrace_depth;
	}
	nr = backtrace_walk_kernel(regs, frames, max, &ending);
	skipped = leave_scheduler(&sample, frames, nr);
	if (bt)
		backtrace_add_found(bt, frames + skipped, nr - skipped, ending);
	add_kernel_sample(&sample, NULL, current->mm, bt);
	handler_ends(HANDLER_WAIT, begun);
}

void resolve_see_waiting(struct resolve_waiting *waiting)
{
	struct task_struct *task = waiting->task;
	u64 *frames = waiting->own_frames;
	unsigned int max = RESOLVE_SCHEDULER_FRAMES;

	if (waiting->bt) {
		frames = waiting->bt->frames;
		max = backtrace_depth;
	}
	waiting->sample = sample_of(task, resolve_scheduler_start);
	waiting->user = user_of(task);
	waiting->regs = *task_pt_regs(task);
	waiting->nr_frames =
		backtrace_walk_waiting(task, frames, max, &waiting->ending);
	waiting->nr_skipped =
		leave_scheduler(&waiting->sample, frames, waiting->nr_frames);
}

void resolve_gather_waiting(struct resolve_waiting *waiting)
{
	struct backtrace *bt = waiting->bt;

	waiting->sample.app_cookie = lookup_app(waiting->mm, waiting->user);
	if (!bt)
		return;
	backtrace_add_found(bt, bt->frames + waiting->nr_skipped,
			    waiting->nr_frames - waiting->nr_skipped,
			    waiting->ending);
	backtrace_add_user_of(bt, &waiting->sample, waiting->task, waiting->mm,
			      &waiting->regs, waiting->user);
}

void resolve_add_waiting(const struct resolve_waiting *waiting,
			 unsigned int counter, u16 nr_taken, u8 shift)
{
	struct op_sample sample = waiting->sample;

	sample.counter = counter;
	sample.nr_taken = nr_taken;
	sample.shift = shift;
	store(&sample, NULL, waiting->bt);
}

/* ---- AMD IBS ------------------------------------------------------------- */

static void stage_record(const struct op_sample *sample,
			 const struct oprofile_ibs_sample *ibs,
			 const u64 *record)
{
	const struct nmi_sample staged = {
		.pc = sample->offset,
		.task = current,
		.tid = sample->tid,
		.tgid = sample->tgid,
		.owner = sample->owner,
		.nr_frames = sample->nr_words,
		.code = sample->code,
		.shift = sample->shift,
		.is_user = ibs->is_user,
		.over_user = ibs->over_user,
	};

	put_on_stage(&staged, record);
}

static void add_record(struct op_sample *sample,
		       const struct oprofile_ibs_sample *ibs, const u64 *record)
{
	if (in_nmi())
		stage_record(sample, ibs, record);
	else if (ibs->is_user)
		add_user_sample(sample, record, ibs->over_user);
	else
		add_kernel_sample(sample, record, current->mm, NULL);
}

static void add_ibs(const struct oprofile_ibs_sample *ibs)
{
	const u8 *raw = ibs->raw;
	unsigned int nr_regs = (ibs->size - sizeof(u32)) / sizeof(u64);
	struct op_sample sample = sample_of(current, ibs->pc);
	u64 record[OP_MAX_IBS_WORDS];
	u32 caps;

	sample.code = ibs->is_op ? OP_IBS_OP : OP_IBS_FETCH;
	sample.shift = ibs->shift;
	sample.nr_words = 1 + nr_regs;
	oprofile_stat_add(STAT_SAMPLE_RECEIVED, op_sample_times(&sample));
	if (ibs->pc == OP_ESCAPE || ibs->size < sizeof(u32) ||
	    nr_regs >= OP_MAX_IBS_WORDS) {
		op_sample_lose(&sample, STAT_SAMPLE_INVALID_EIP);
		return;
	}
	memcpy(&caps, raw, sizeof(caps));
	record[0] = OP_IBS_CPU(caps, ibs->family);
	memcpy(record + 1, raw + sizeof(caps), nr_regs * sizeof(u64));
	add_record(&sample, ibs, record);
}

void oprofile_add_ibs_sample(const struct oprofile_ibs_sample *ibs)
{
	u64 begun = handler_begins(HANDLER_INTERRUPT);

	add_ibs(ibs);
	handler_ends(HANDLER_INTERRUPT, begun);
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
	err = defer_setup(resolve_own);
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

int resolve_drain(void)
{
	return defer_drain();
}
