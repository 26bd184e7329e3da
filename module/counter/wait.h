/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_WAIT_H
#define MODULE_WAIT_H

/*
 * Samples of threads that wait: for something to happen, or for a CPU. Each
 * time a thread gets a CPU again, the time since it had lost the last one is
 * counted at the stack that it waited with. Several events may count different
 * parts of that time; each is a counter of the stream, and one sample of it
 * stands for an interval of waiting. Kernel threads are not counted.
 */

#include <linux/types.h>

struct dentry;
struct op_sample;
struct pt_regs;

/* Whether any event is set to count waits. */
bool wait_is_wanted(void);

/*
 * Count waits from now on, and no more. Nothing is being added when wait_stop()
 * has returned. Process context, never two at a time; 0 or -errno.
 */
int wait_start(void);
void wait_stop(void);

/*
 * Count the waits that are going on, up to now. Sampling is about to stop: from
 * here on nothing else is counted, but threads that get a CPU before
 * wait_stop() have their waits counted up to this moment, too. May sleep.
 */
void wait_count_unfinished(void);

/* Sample 1 << @shift times more rarely from now on. Any time. */
void wait_lower_rate(unsigned int shift);

/* Make wait/ below @root, where the kernel shows when it switches. 0 or -errno.
 */
int wait_create_files(struct dentry *root);

/* Find the kernel's tracepoints. Process context, once. */
void wait_init(void);

#endif /* MODULE_WAIT_H */
