/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_OPROFILE_STATS_H
#define MODULE_OPROFILE_STATS_H

/*
 * Counts of samples by fate, per CPU, shown in stats/. For every sample that
 * was taken, sample_received and at most one lost or invalid count go up; a
 * sample with none of these was handed to the reader or is on its way. Those
 * filtered were of the mode, user or kernel, that nobody asked for, and count
 * as not taken; those throttled are estimated. Those whose names begin with
 * backtrace are about the callers of samples that are not lost themselves, and
 * multiplex_counter is how often other events got the counters, and those with
 * image_file are about files that were kept for the reader
 * (image_file.h), were too many for that, or were not fetched in time.
 * wait_untracked are waits of threads that nothing is known of (wait.h).
 * handler_ns is how long sampling kept the CPU from other work, in ns. A sample
 * that was taken at a lower rate counts for all that it stands for.
 */

#include <linux/types.h>

struct dentry;

/* X(constant, file name, 1: one file per CPU, 0: one file with the sum) */
#define OPROFILE_STATS(X)                                                      \
	X(SAMPLE_RECEIVED, sample_received, 1)                                 \
	X(SAMPLE_LOST_OVERFLOW, sample_lost_overflow, 1)                       \
	X(SAMPLE_LOST_BUSY, sample_lost_busy, 1)                               \
	X(SAMPLE_LOST_NO_WORK, sample_lost_no_work, 1)                         \
	X(SAMPLE_LOST_NO_COOKIE, sample_lost_no_cookie, 1)                     \
	X(SAMPLE_LOST_THROTTLED, sample_lost_throttled, 1)                     \
	X(SAMPLE_INVALID_EIP, sample_invalid_eip, 1)                           \
	X(SAMPLE_FILTERED, sample_filtered, 1)                                 \
	X(THROTTLE, throttle, 1)                                               \
	X(WAIT_UNTRACKED, wait_untracked, 1)                                   \
	X(COUNTER_FAILED, counter_failed, 1)                                   \
	X(TIMER_OVERRUN, timer_overrun, 1)                                     \
	X(HANDLER_NS, handler_ns, 1)                                           \
	X(BACKTRACE_FRAMES, backtrace_frames, 1)                               \
	X(BACKTRACE_STACKS, backtrace_stacks, 1)                               \
	X(BACKTRACE_DEEP, backtrace_deep, 1)                                   \
	X(BACKTRACE_BROKEN, backtrace_broken, 1)                               \
	X(BACKTRACE_BUSY, backtrace_busy, 1)                                   \
	X(BACKTRACE_ABORTED, backtrace_aborted, 1)                             \
	X(MULTIPLEX_COUNTER, multiplex_counter, 0)                             \
	X(IMAGE_FILE_HELD, image_file_held, 0)                                 \
	X(IMAGE_FILE_REFUSED, image_file_refused, 0)                           \
	X(IMAGE_FILE_EXPIRED, image_file_expired, 0)                           \
	X(SAMPLE_LOST_NO_MM, sample_lost_no_mm, 0)                             \
	X(SAMPLE_LOST_NO_MAPPING, sample_lost_no_mapping, 0)                   \
	X(EVENT_LOST_OVERFLOW, event_lost_overflow, 0)

enum oprofile_stat {
#define X(constant, name, per_cpu) STAT_##constant,
	OPROFILE_STATS(X)
#undef X
		NR_OPROFILE_STATS
};

/* Count one up, or @nr. Any context, NMI included. */
void oprofile_stat_inc(enum oprofile_stat stat);
void oprofile_stat_add(enum oprofile_stat stat, unsigned long nr);

/* All to zero. Nothing may be counting. */
void oprofile_stats_reset(void);

/* Make stats/ below @root. Returns 0 or -errno. */
int oprofile_stats_create_files(struct dentry *root);

#endif /* MODULE_OPROFILE_STATS_H */
