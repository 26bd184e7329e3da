/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COMPAT_H
#define MODULE_COMPAT_H

/*
 * All that differs between the kernels that the module builds on. The rest
 * of the module is written for the newest of them; here the older ones get
 * what they lack under the newer name.
 */

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/version.h>

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

/* Whether whoever may look into @mm by its user may do so by all that @mm has
 * been through. */
static inline bool compat_is_dumpable(const struct mm_struct *mm)
{
	return (READ_ONCE(mm->flags) & MMF_DUMPABLE_MASK) == SUID_DUMP_USER;
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

/* Tasks that never run user code though they have an address space. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER PF_IO_WORKER
#endif

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

#endif /* MODULE_COMPAT_H */
