// SPDX-License-Identifier: GPL-2.0

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/fs.h>
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

#include "compat.h"
#include "cpu_buffer.h"
#include "image_cookie.h"
#include "nmi_stage.h"
#include "oprofile_provider.h"
#include "oprofile_stats.h"
#include "resolve.h"
#include "uapi/oprofile.h"

/* What became of a look-up. */
enum verdict {
	RESOLVED,
	NEW_IMAGE, /* the image has no cookie yet */
	NO_COOKIE, /* ... and none could be made */
	NO_MAPPING,
};

#ifdef HAVE_TASK_WORK_ADD
#define CAN_DEFER true
#else
#define CAN_DEFER false
#endif

/*
 * What may be done about a file that has no cookie yet: leave it (a later
 * step will do it), or make one.
 */
enum on_new_image { LEAVE, MAKE };

static u64 app_cookie(struct mm_struct *mm, enum on_new_image on_new,
		      bool *is_new)
{
	struct file *file;
	u64 cookie = 0;

	rcu_read_lock();
	file = rcu_dereference(mm->exe_file);
	if (file)
		cookie = image_cookie_find(file);
	rcu_read_unlock();
	if (cookie || !file || on_new == LEAVE)
		return cookie;

	file = compat_get_exe_file(mm);
	if (file) {
		cookie = image_cookie_get(file, is_new);
		fput(file);
	}
	return cookie;
}

/* The vdso has no file but a name that its mapping tells. */
static bool is_vdso(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, "[vdso]");
}

static void set_anon(struct op_sample *sample, struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;

	sample->anon_start = vma->vm_start;
	sample->anon_end = vma->vm_end;
	if (vma->vm_start <= mm->brk && vma->vm_end >= mm->start_brk)
		sample->space = SAMPLE_HEAP;
	else if (vma->vm_start <= mm->start_stack &&
		 vma->vm_end >= mm->start_stack)
		sample->space = SAMPLE_STACK;
	else
		sample->space = SAMPLE_ANON;
}

/*
 * Replace the address in sample->offset by what it stands for in @mm, whose
 * lock the caller holds for reading. On anything but RESOLVED the offset is
 * still the address.
 */
static enum verdict resolve(struct op_sample *sample, struct mm_struct *mm,
			    enum on_new_image on_new, bool *is_new)
{
	struct vm_area_struct *vma = find_vma(mm, sample->offset);
	u64 cookie;

	if (!vma || vma->vm_start > sample->offset)
		return NO_MAPPING;
	sample->app_cookie = app_cookie(mm, on_new, is_new);
	if (!sample->app_cookie && on_new == LEAVE &&
	    rcu_access_pointer(mm->exe_file))
		return NEW_IMAGE;

	if (vma->vm_file) {
		if (on_new == LEAVE) {
			cookie = image_cookie_find(vma->vm_file);
			if (!cookie)
				return NEW_IMAGE;
		} else {
			bool image_is_new;

			cookie = image_cookie_get(vma->vm_file, &image_is_new);
			if (!cookie)
				return NO_COOKIE;
			*is_new |= image_is_new;
		}
		sample->space = SAMPLE_IMAGE;
		sample->cookie = cookie;
		sample->offset += (u64)vma->vm_pgoff << PAGE_SHIFT;
	} else if (is_vdso(vma)) {
		sample->space = SAMPLE_IMAGE;
		sample->cookie = image_cookie_vdso(vma->vm_end <= U32_MAX);
	} else {
		set_anon(sample, vma);
	}
	sample->offset -= vma->vm_start;
	return RESOLVED;
}

/* Store the sample, or count why not. */
static void finish(struct op_sample *sample, enum verdict verdict)
{
	switch (verdict) {
	case RESOLVED:
		cpu_buffer_add(sample);
		break;
	case NO_MAPPING:
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MAPPING);
		break;
	default:
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_COOKIE);
	}
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

/* In the sampled task, before it is back in user mode. */
static void resolve_in_task(struct callback_head *work)
{
	struct deferred *node = container_of(work, struct deferred, work);
	struct mm_struct *mm = current->mm;
	bool is_new = false;
	enum verdict verdict;

	if (mm) {
		mmap_read_lock(mm);
		verdict = resolve(&node->sample, mm, MAKE, &is_new);
		mmap_read_unlock(mm);
		finish(&node->sample, verdict);
		/* The name exists for sure while the task waits here. */
		if (is_new)
			image_cookies_settle();
	} else {
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
	}
	give_back(node);
}

static void defer(const struct op_sample *sample)
{
	struct llist_node *free = llist_del_first(this_cpu_ptr(&free_nodes));
	struct deferred *node;

	if (!free) {
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_WORK);
		return;
	}
	node = llist_entry(free, struct deferred, free);
	node->sample = *sample;
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

static void defer(const struct op_sample *sample)
{
	oprofile_stat_inc(STAT_SAMPLE_LOST_BUSY);
}

#endif /* HAVE_TASK_WORK_ADD */

static void add_user_sample(struct op_sample *sample)
{
	struct mm_struct *mm = current->mm;
	enum verdict verdict = NEW_IMAGE;
	bool is_new = false;

	if (!mm) {
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
		return;
	}
	if (COMPAT_IRQ_MAY_LOCK_MMAP && mmap_read_trylock(mm)) {
		verdict =
			resolve(sample, mm, CAN_DEFER ? LEAVE : MAKE, &is_new);
		mmap_read_unlock(mm);
	}
	if (verdict == NEW_IMAGE)
		defer(sample);
	else
		finish(sample, verdict);
}

static void add_kernel_sample(struct op_sample *sample, struct mm_struct *mm)
{
	bool is_new = false;

	/* The task may be in here for hours: nothing can be deferred. */
	if (mm)
		sample->app_cookie = app_cookie(
			mm, COMPAT_IRQ_MAY_LOCK_MMAP ? MAKE : LEAVE, &is_new);
	sample->space = SAMPLE_KERNEL;
	cpu_buffer_add(sample);
}

/* A sample of the running task, in a hard interrupt. */
static void add_now(u64 pc, bool is_user, unsigned int counter)
{
	struct op_sample sample = {
		.offset = pc,
		.tid = current->pid,
		.tgid = current->tgid,
		.cpu = smp_processor_id(),
		.counter = counter,
	};

	if (is_user)
		add_user_sample(&sample);
	else
		add_kernel_sample(&sample, current->mm);
}

/*
 * What an NMI saw. Over user mode the task is still here; over kernel code
 * that had interrupts off it may have been switched away, and then nothing
 * tells its program.
 */
static void add_staged(const struct nmi_sample *staged)
{
	struct op_sample sample = {
		.offset = staged->pc,
		.tid = staged->tid,
		.tgid = staged->tgid,
		.cpu = smp_processor_id(),
		.counter = staged->counter,
	};
	bool is_same = current == staged->task && current->pid == staged->tid;

	if (!staged->is_user)
		add_kernel_sample(&sample, is_same ? current->mm : NULL);
	else if (is_same)
		add_user_sample(&sample);
	else
		oprofile_stat_inc(STAT_SAMPLE_LOST_NO_MM);
}

static void stage(u64 pc, bool is_user, unsigned int counter)
{
	const struct nmi_sample sample = {
		.pc = pc,
		.task = current,
		.tid = current->pid,
		.tgid = current->tgid,
		.counter = counter,
		.is_user = is_user,
	};

	if (!nmi_stage_add(&sample))
		oprofile_stat_inc(STAT_SAMPLE_LOST_OVERFLOW);
}

static void add(u64 pc, bool is_user, unsigned int counter)
{
	oprofile_stat_inc(STAT_SAMPLE_RECEIVED);
	if (pc == OP_ESCAPE)
		oprofile_stat_inc(STAT_SAMPLE_INVALID_EIP);
	else if (in_nmi())
		stage(pc, is_user, counter);
	else
		add_now(pc, is_user, counter);
}

void oprofile_add_sample(struct pt_regs *regs, unsigned int counter)
{
	add(instruction_pointer(regs), user_mode(regs), counter);
}
EXPORT_SYMBOL_GPL(oprofile_add_sample);

void oprofile_add_kernel_pc(unsigned long pc, unsigned int counter)
{
	add(pc, false, counter);
}
EXPORT_SYMBOL_GPL(oprofile_add_kernel_pc);

/* ---- setting up -------------------------------------------------------- */

int resolve_setup(void)
{
	int err = nmi_stage_setup(add_staged);

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
