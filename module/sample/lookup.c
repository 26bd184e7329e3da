// SPDX-License-Identifier: GPL-2.0
/*
 * An interrupt may find the cookie of a known file but, where task work can
 * follow, leaves new files to it (LEAVE), so that the task names them while its
 * mount namespace exists. The vdso has no file and is known by the name that
 * its mapping gives. Other memory without a file is told by its range, as heap
 * and stack of the program where it overlaps these.
 */

#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "buffer/cpu_buffer.h"
#include "compat.h"
#include "image/image_cookie.h"
#include "sample/lookup.h"
#include "uapi/oprofile.h"

/* The time between two attempts to take the lock. */
#define LOCK_STEP_US 250

/*
 * Sleeps are short, as a process that maps and unmaps all the time leaves the
 * lock free only for moments. Where CPU time is limited a sleep may be long, so
 * that it is the time that counts and not their number.
 */
bool lookup_lock_maps(struct mm_struct *mm)
{
	ktime_t end = ktime_add_ms(ktime_get(), LOOKUP_WAIT_MS);

	while (!mmap_read_trylock(mm)) {
		if (ktime_after(ktime_get(), end))
			return false;
		usleep_range(LOCK_STEP_US, LOCK_STEP_US + LOCK_STEP_US / 4);
	}
	return true;
}

/* *@inode is that of the program's file. It may go away: compare it, no more.
 */
static u64 cookie_of_program(struct mm_struct *mm, u32 maker,
			     const struct inode **inode)
{
	struct file *file;
	u64 cookie = 0;

	*inode = NULL;
	rcu_read_lock();
	file = rcu_dereference(mm->exe_file);
	if (file) {
		*inode = file_inode(file);
		cookie = image_cookie_find(*inode);
	}
	rcu_read_unlock();
	if (cookie || !file || maker == LEAVE_NEW)
		return cookie;

	file = compat_get_exe_file(mm);
	if (file) {
		*inode = file_inode(file);
		cookie = image_cookie_get(file, maker);
		fput(file);
	}
	return cookie;
}

u64 lookup_app(struct mm_struct *mm, u32 maker)
{
	const struct inode *inode;

	return cookie_of_program(mm, maker, &inode);
}

/* The vdso has no file but a name that its mapping tells. */
static bool is_vdso(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name && !strcmp(name, "[vdso]");
}

static enum lookup file_cookie(struct file *file, u32 maker, u64 *cookie)
{
	if (maker == LEAVE_NEW) {
		*cookie = image_cookie_find(file_inode(file));
		return *cookie ? LOOKUP_DONE : LOOKUP_NEW_IMAGE;
	}
	*cookie = image_cookie_get(file, maker);
	return *cookie ? LOOKUP_DONE : LOOKUP_NO_COOKIE;
}

enum lookup lookup_cookie(struct vm_area_struct *vma, u32 maker, u64 *cookie)
{
	if (vma->vm_file)
		return file_cookie(vma->vm_file, maker, cookie);
	*cookie = is_vdso(vma) ? image_cookie_vdso(vma->vm_end <= U32_MAX)
			       : OP_NO_COOKIE;
	return LOOKUP_DONE;
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

static void tell_place(struct op_sample *sample, struct vm_area_struct *vma,
		       u64 cookie)
{
	if (cookie != OP_NO_COOKIE) {
		sample->space = SAMPLE_IMAGE;
		sample->cookie = cookie;
		sample->anon_end = 0;
	} else {
		set_anon(sample, vma);
	}
	if (vma->vm_file)
		sample->offset += (u64)vma->vm_pgoff << PAGE_SHIFT;
	sample->offset -= vma->vm_start;
}

enum lookup lookup_place(struct op_sample *sample, struct vm_area_struct *vma,
			 u32 maker)
{
	u64 cookie;
	enum lookup lookup = lookup_cookie(vma, maker, &cookie);

	if (lookup == LOOKUP_DONE)
		tell_place(sample, vma, cookie);
	return lookup;
}

enum lookup lookup_sample(struct op_sample *sample, struct mm_struct *mm,
			  u32 maker, struct vm_area_struct **vma)
{
	const struct inode *app;

	*vma = vma_lookup(mm, sample->offset);
	if (!*vma)
		return LOOKUP_NO_MAPPING;
	sample->app_cookie = cookie_of_program(mm, maker, &app);
	if (!sample->app_cookie && maker == LEAVE_NEW &&
	    rcu_access_pointer(mm->exe_file))
		return LOOKUP_NEW_IMAGE;
	/* Most samples are in the program itself. */
	if (sample->app_cookie && (*vma)->vm_file &&
	    file_inode((*vma)->vm_file) == app) {
		tell_place(sample, *vma, sample->app_cookie);
		return LOOKUP_DONE;
	}
	return lookup_place(sample, *vma, maker);
}
