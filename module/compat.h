/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COMPAT_H
#define MODULE_COMPAT_H

/*
 * All that differs between the kernels that the module builds on. The rest
 * of the module is written for the newest of them; here the older ones get
 * what they lack under the newer name.
 */

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#include <linux/sched/exec_state.h>
#endif

/* ---- mappings and pages -------------------------------------------------- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
static inline struct vm_area_struct *vma_lookup(struct mm_struct *mm,
						unsigned long address)
{
	struct vm_area_struct *vma = find_vma(mm, address);

	return vma && vma->vm_start <= address ? vma : NULL;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define kmap_local_page(page) kmap_atomic(page)
#define kunmap_local(address) kunmap_atomic(address)
#endif

/*
 * Take a reference to the page at @address of @mm in *@page, and fill it in
 * first if it is not there; the mappings are locked, and stay so.
 */
static inline bool compat_get_page(struct mm_struct *mm, unsigned long address,
				   struct page **page)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return get_user_pages_remote(mm, address, 1, 0, page, NULL, NULL) == 1;
#else
	return get_user_pages_remote(mm, address, 1, 0, page, NULL) == 1;
#endif
}

/*
 * Whether mmap_read_trylock() may be used in a hard interrupt. Not on
 * PREEMPT_RT, where the unlock may enable interrupts. Elsewhere the unlock
 * takes locks of the scheduler at most, under which no interrupt comes.
 */
#ifdef CONFIG_PREEMPT_RT
#define COMPAT_IRQ_MAY_LOCK_MMAP false
#else
#define COMPAT_IRQ_MAY_LOCK_MMAP true
#endif

/* ---- interrupts ---------------------------------------------------------- */

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define IRQ_WORK_INIT_HARD(function)                                           \
	((struct irq_work){ .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ),           \
			    .func = (function) })
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* The raw data of an event that was made with PERF_SAMPLE_RAW, or NULL. */
static inline const struct perf_raw_frag *
compat_raw_data(const struct perf_sample_data *data)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	/* Fields without a flag were not written. */
	if (!(data->sample_flags & PERF_SAMPLE_RAW))
		return NULL;
#endif
	return data->raw ? &data->raw->frag : NULL;
}

/* ---- files --------------------------------------------------------------- */

#ifndef FUSE_SUPER_MAGIC /* of Linux 5.11 */
#define FUSE_SUPER_MAGIC 0x65735546
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
static inline struct timespec64 inode_get_mtime(const struct inode *inode)
{
	return inode->i_mtime;
}

static inline void simple_inode_init_ts(struct inode *inode)
{
	inode->i_mtime = current_time(inode);
	inode->i_atime = inode->i_mtime;
	inode->i_ctime = inode->i_mtime;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
static inline int inode_just_drop(struct inode *inode)
{
	return generic_delete_inode(inode);
}
#endif

/*
 * Files that stay until the file system is unmounted. The caller keeps its
 * reference to @dentry, and the result is @dentry.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
static inline struct dentry *d_make_persistent(struct dentry *dentry,
					       struct inode *inode)
{
	d_add(dentry, inode);
	return dget(dentry);
}
#endif

static inline void compat_kill_persistent_super(struct super_block *sb)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
	kill_litter_super(sb);
#else
	kill_anon_super(sb);
#endif
}

/* The path by which user space knows a file: on an overlay not f_path. */
static inline const struct path *compat_user_path(struct file *file)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	return &file->f_path;
#else
	return file_user_path(file);
#endif
}

/*
 * A reference to the file that @mm was started from, or NULL. The kernel's
 * own get_mm_exe_file() is not exported.
 */
static inline struct file *compat_get_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
#else
	file = get_file_rcu(&mm->exe_file);
#endif
	rcu_read_unlock();
	return file;
}

/* ---- modules ------------------------------------------------------------- */

/* The code that @mod keeps. Returns its bytes. */
static inline unsigned int compat_text(const struct module *mod,
				       unsigned long *start)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	*start = (unsigned long)mod->core_layout.base;
	return mod->core_layout.text_size;
#else
	*start = (unsigned long)mod->mem[MOD_TEXT].base;
	return mod->mem[MOD_TEXT].size;
#endif
}

/* The code that @mod runs once, when it is loaded. Returns its bytes. */
static inline unsigned int compat_init_text(const struct module *mod,
					    unsigned long *start)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	*start = (unsigned long)mod->init_layout.base;
	return mod->init_layout.text_size;
#else
	*start = (unsigned long)mod->mem[MOD_INIT_TEXT].base;
	return mod->mem[MOD_INIT_TEXT].size;
#endif
}

/* ---- the scheduler ------------------------------------------------------- */

/* The kind of wait of @task, as bits; 0: none, or for a CPU. */
static inline unsigned int compat_state_of(const struct task_struct *task)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
	return READ_ONCE(task->state);
#else
	return READ_ONCE(task->__state);
#endif
}

/*
 * The arguments of a probe of sched_switch behind the first two, and the state
 * that @prev leaves its CPU in.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#define COMPAT_SWITCH_ARGS(prev, next, state)                                  \
	struct task_struct *prev, struct task_struct *next
#define COMPAT_SWITCH_STATE(prev, state) compat_state_of(prev)
#else
#define COMPAT_SWITCH_ARGS(prev, next, state)                                  \
	struct task_struct *prev, struct task_struct *next, unsigned int state
#define COMPAT_SWITCH_STATE(prev, state) (state)
#endif

/* ---- tasks --------------------------------------------------------------- */

/*
 * Whether processes of the same user may look into @task, which has an address
 * space and is the running one or gets no CPU meanwhile: not after it has
 * changed its user, or runs a file that it may not read. In any context.
 */
static inline bool compat_is_dumpable(const struct task_struct *task)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
	const struct task_exec_state *state;
	bool is_dumpable;

	rcu_read_lock();
	state = rcu_dereference(task->exec_state);
	is_dumpable =
		state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return is_dumpable;
#else
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	unsigned long flags = __mm_flags_get_dumpable(task->mm);
#else
	unsigned long flags = READ_ONCE(task->mm->flags);
#endif

	return (flags & MMF_DUMPABLE_MASK) == SUID_DUMP_USER;
#endif
}

/* Whether @task has a CPU, or is about to lose it. */
static inline bool compat_has_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return task == current;
#endif
}

/* Tasks that never run user code though they have an address space. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER PF_IO_WORKER
#endif

#endif /* MODULE_COMPAT_H */
