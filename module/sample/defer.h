/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_DEFER_H
#define MODULE_DEFER_H

/*
 * From an interrupt to the task that it interrupted: a sample that may have to
 * wait, for a lock or for memory, is resolved in task work, before the task
 * runs another user instruction. A stop waits a second for that, then counts
 * the sample as lost.
 */

#include <linux/types.h>

struct op_sample;

#ifdef HAVE_TASK_WORK_ADD
#define DEFER_IS_POSSIBLE true
#else
#define DEFER_IS_POSSIBLE false
#endif

/* The CPU and at most 9 registers of IBS, see uapi/oprofile.h: the longest
 * record that a sample has. */
#define OP_MAX_IBS_WORDS 12

/*
 * Make room. @resolve is called in the sampled task, which has its own address
 * space then, and stores the sample or counts it as lost, soon, whatever other
 * tasks and file systems do. Returns 0 or -ENOMEM.
 */
int defer_setup(void (*resolve)(struct op_sample *sample, const u64 *record));

/* Nobody calls @resolve any more, nor is in it. */
void defer_shutdown(void);

/* Each deferred sample is stored or counted as lost. Returns 0, or -EINTR when
 * a fatal signal came first. */
int defer_drain(void);

/*
 * @resolve, which was given @sample, is to call this before it stores the
 * sample or counts it as lost: if it is false, a stop has counted it.
 */
bool defer_settles(struct op_sample *sample);

/*
 * Have @sample resolved by the current task, with the words of its record, if
 * it is one; or count it as lost. In a hard interrupt.
 */
void defer_sample(const struct op_sample *sample, const u64 *record);

#endif /* MODULE_DEFER_H */
