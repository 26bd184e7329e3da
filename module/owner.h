/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OWNER_H
#define MODULE_OWNER_H

#include <linux/types.h>

/* No ordinary user may see the sample. */
#define NO_OWNER U32_MAX

/*
 * The user who could read all of the running task with a debugger, numbered as
 * in the first user namespace; NO_OWNER for root, tasks of the kernel, and
 * those with privileges or that have changed their user. Any context.
 */
u32 owner_of_current(void);

/*
 * The real user of the running task, numbered alike; 0 for tasks of the kernel.
 * A process without privileges cannot change it. Any context.
 */
u32 user_of_current(void);

#endif /* MODULE_OWNER_H */
