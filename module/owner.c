// SPDX-License-Identifier: GPL-2.0
/*
 * Only a task itself changes its credentials, by a pointer that it sets when
 * the new ones are complete, and the old ones are freed after a grace period.
 * So an interrupt or NMI over it may read them as they are.
 *
 * The kernel marks an address space whose task has changed its user, or runs a
 * file that it may not read, as not dumpable, until the next exec.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/uidgid.h>

#include "compat.h"
#include "owner.h"

static bool has_one_identity(const struct cred *cred)
{
	return uid_eq(cred->uid, cred->euid) && uid_eq(cred->uid, cred->suid) &&
	       uid_eq(cred->uid, cred->fsuid) &&
	       gid_eq(cred->gid, cred->egid) && gid_eq(cred->gid, cred->sgid) &&
	       gid_eq(cred->gid, cred->fsgid);
}

u32 owner_of(const struct task_struct *task)
{
	const struct cred *cred = rcu_dereference_raw(task->real_cred);

	if (!task->mm || task->flags & PF_KTHREAD ||
	    uid_eq(cred->uid, GLOBAL_ROOT_UID) || !has_one_identity(cred) ||
	    !cap_isclear(cred->cap_permitted) || !compat_is_dumpable(task))
		return NO_OWNER;
	return __kuid_val(cred->uid);
}

u32 user_of(const struct task_struct *task)
{
	return __kuid_val(rcu_dereference_raw(task->real_cred)->uid);
}
