/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_STATS_H
#define DAEMON_OPD_STATS_H

/*
 * The fate of each sample. The ledger of samples/current is
 *
 *	base (what the file said when the daemon started)
 *	+ what the stream has told and this daemon has counted
 *	- origin (what of that belongs to sessions that were saved or reset)
 *
 * and always adds up: taken = stored + lost + pending.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/session/op_ledger.h"

struct op_diag;
struct opd_store;

enum opd_mode {
	OPD_MODE_UNKNOWN,
	OPD_MODE_KERNEL,
	OPD_MODE_USER,
	OPD_NR_MODES
};

/*
 * Causes of the daemon's own: X(NAME, name in the ledger)
 */
/* clang-format off */
#define OPD_CAUSES(X)                                                         \
	/* the stream did not say where the sample is */                      \
	X(NO_CONTEXT,   "lost_no_context")                                    \
	/* user code in no image file and no named memory */                  \
	X(NO_IMAGE,     "lost_no_image")                                      \
	/* the image's cookie has no name */                                  \
	X(NO_NAME,      "lost_no_image_name")                                 \
	/* not asked for by --image */                                        \
	X(FILTER,       "lost_image_filter")                                  \
	/* the sample file cannot be opened or grow */                        \
	X(SAMPLE_FILE,  "lost_sample_file")                                   \
	/* it is new or has to grow, and --max-disk leaves no room */         \
	X(MAX_DISK,     "lost_max_disk")                                      \
	/* a counter that has no event */                                     \
	X(BAD_COUNTER,  "lost_bad_counter")                                   \
	/* an offset outside of its memory, or cut short */                   \
	X(BAD_RECORD,   "lost_bad_record")                                    \
	/* a raw IBS record, but no event derived from it was asked for */    \
	X(NO_IBS_EVENT, "lost_no_ibs_event")                                  \
	/* a raw IBS record whose address the hardware says is not valid */   \
	X(IBS_ADDRESS,  "lost_ibs_no_address")
/* clang-format on */

/* Causes that appear in the ledger only, when files or daemons changed. */
#define OPD_LOST_DAMAGED "lost_damaged_file" /* in an unreadable file */
#define OPD_LOST_KILLED "lost_daemon_killed" /* were pending then */
#define OPD_LOST_AT_EXIT "lost_at_exit" /* never came out of the kernel */

enum opd_fate {
#define X(name, text) OPD_LOST_##name,
	OPD_CAUSES(X)
#undef X
		OPD_NR_CAUSES,
	OPD_STORED = OPD_NR_CAUSES,
	OPD_DEFERRED,
};

struct opd_stats {
	struct opd_store *store; /* of the session; borrowed, like the next */
	const uint64_t *nr_deferred; /* samples that wait for a name */
	const uint64_t *costs; /* since the daemon started; NULL: not known */
	char source[32]; /* what the samples are from, "module/timer" */
	struct op_run run; /* likewise, as far as it is known */
	/* samples */
	uint64_t seen[OPD_NR_MODES]; /* in the stream, deferred ones too */
	uint64_t stored;
	uint64_t lost[OPD_NR_CAUSES];
	/* other things */
	uint64_t spread; /* n times n - 1 for each that stands for n */
	uint64_t frames; /* of stack traces, without the innermost */
	uint64_t stacks[OP_NR_STACKS]; /* what became of them */
	uint64_t nr_reads; /* of the buffer */
	uint64_t unknown_codes; /* records */
	uint64_t bad_records; /* known code, but no sense */
	uint64_t bad_lengths; /* places where the stream was resynchronised */
	uint64_t skipped_words; /* there */
	uint64_t incomplete; /* words at the end of the stream */
	struct op_ledger stream; /* what OP_LOST records said; their sum is what
				    it has taken */
	uint64_t taken_told; /* by OP_TAKEN of this stream */
	uint64_t taken_before; /* in all streams before it */
	struct op_ledger base;
	struct op_ledger origin;
};

/* @nr samples that were seen have met their fate (not OPD_DEFERRED). */
static inline void opd_stats_count(struct opd_stats *stats, enum opd_fate fate,
				   uint64_t nr)
{
	if (fate == OPD_STORED)
		stats->stored += nr;
	else
		stats->lost[fate] += nr;
}

/* The name of a cause in the ledger, or "stored" or "deferred". */
const char *opd_fate_name(enum opd_fate fate);

/*
 * Read the ledger of samples/current, the session of @store, make it agree with
 * the sample files that are there, and go on from it. An unreadable one is
 * renamed to ledger.bad. Returns 0 or -errno with the reason.
 */
int opd_stats_init(struct opd_stats *stats, struct opd_store *store,
		   const uint64_t *nr_deferred, struct op_diag *diag);

/* The samples are from source @name. */
void opd_stats_set_source(struct opd_stats *stats, const char *name);

/* OP_LOST: @nr samples lost before this stream. Returns 0 or -EINVAL. */
int opd_stats_stream_lost(struct opd_stats *stats, const char *cause,
			  uint64_t nr);

/* OP_EVENT_TIME: @event was to be counted and had a counter for so much more.
 * Returns 0 or -EINVAL. */
int opd_stats_stream_event(struct opd_stats *stats,
			   const struct op_ledger_event *event);

/* OP_TAKEN: of this stream by now @nr. Returns 0 or -EINVAL. */
int opd_stats_stream_taken(struct opd_stats *stats, uint64_t nr);

/* Another stream begins. */
void opd_stats_stream_begins(struct opd_stats *stats);

/* Fill @out with the ledger as it is now. */
void opd_stats_ledger(const struct opd_stats *stats, struct op_ledger *out);

/* Write the ledger. Returns 0 or -errno; the log has the reason. */
int opd_stats_write(struct opd_stats *stats);

/* Write the last ledger: samples that are still pending will never come. */
int opd_stats_write_last(struct opd_stats *stats);

/*
 * Write the ledger without the pending samples, which will belong to the next
 * session. Returns 0 or -errno; the log has the reason.
 */
int opd_stats_write_saved(struct opd_stats *stats);

/* All that was counted up to now belongs to another session. */
void opd_stats_restart(struct opd_stats *stats);

/* Write the statistics block to the log. */
void opd_stats_log(const struct opd_stats *stats);

#endif /* DAEMON_OPD_STATS_H */
