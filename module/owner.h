/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OWNER_H
#define MODULE_OWNER_H

#include <linux/types.h>

/* No ordinary user may see the sample. */
#define NO_OWNER U32_MAX

struct task_struct;

/*
 * The user who could read all of @task with a debugger, numbered as in the
 * first user namespace; NO_OWNER for root, tasks of the kernel, and those with
 * privileges or that have changed their user. @task is the running one, or gets
 * no CPU meanwhile. Any context.
 */
u32 owner_of(const struct task_struct *task);

/*
 * The real user of such a task, numbered alike; 0 for tasks of the kernel. A
 * process without privileges cannot change it. Any context.
 */
u32 user_of(const struct task_struct *task);

#endif /* MODULE_OWNER_H */
