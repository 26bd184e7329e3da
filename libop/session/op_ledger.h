/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_LEDGER_H
#define LIBOP_SESSION_OP_LEDGER_H

/*
 * Where the samples of a session went. Every sample that was taken is either
 * stored in a sample file or lost for exactly one named cause:
 *
 *	taken = stored + sum of the lost ones + pending
 *
 * where pending are samples still on their way while the profiler runs (0
 * after a stop). Kept in samples/NAME/ledger as an op_config file with the
 * keys "source", "taken", "stored", "pending" and "lost.CAUSE" per cause, so
 * that the causes of any source can be shown without knowing them.
 *
 * "counted.EVENT:COUNT:UNIT-MASK = RUNNING of ENABLED ns" (and behind it
 * ", SAMPLES samples in TURNS turns", where that is known) tells how long an
 * event was to be counted and how long it had a hardware counter, both as sums
 * over CPUs. They differ where more events were sampled than there are
 * counters: sample files hold the samples that were taken, and a report scales
 * these by ENABLED / RUNNING.
 *
 * "periods.EVENT:COUNT:UNIT-MASK = SAMPLES samples of EVENTS events, SQUARES
 * squares" is about an event whose samples stand for different numbers of
 * events, as those of "perf record -F" do: each is as many samples here as it
 * had events, its period. SQUARES is the sum of the squares of these periods,
 * in OP_LEDGER_SQUARE.
 *
 * "cost.WHAT" tells what sampling cost the machine, and how far the rate was
 * lowered for that; a ledger of samples that were not taken here has none of
 * these keys.
 *
 * "run.WHAT" is about the command that ran and the machine (op_run.h).
 *
 * Where call graphs are kept, "stacks.WHAT" tells what became of the stacks of
 * the stored samples; a ledger without stacks has none of these keys.
 */

#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_run.h"

#define OP_LEDGER_MAX_CAUSES 64
#define OP_LEDGER_CAUSE_MAX 64
#define OP_LEDGER_MAX_EVENTS 128
#define OP_LEDGER_EVENT_MAX 128 /* bytes of a name, with the zero byte */
#define OP_LEDGER_SQUARE 1024 /* the unit of sums of squares */
#define OP_LEDGER_PERF_DATA "perf.data" /* the source of such a file */

/*
 * X(NAME, what): those up to BROKEN add up to the stacks that are stored, with
 * NOT_STORED to those that were seen.
 */
/* clang-format off */
#define OP_LEDGER_STACKS(X)                                                   \
	/* up to the outermost frame, each step certain */                    \
	X(WHOLE,        "whole")                                              \
	/* up to there, but some step was by a frame pointer unproven */      \
	X(GUESSED,      "guessed")                                            \
	/* deeper than was asked for, or than the piece of stack at hand */   \
	X(TRUNCATED,    "truncated")                                          \
	/* the caller is on a stack of which nothing is at hand */            \
	X(OTHER_STACK,  "other_stack")                                        \
	/* some frame's code does not tell its caller */                      \
	X(NO_UNWIND,    "no_unwind_data")                                     \
	/* there was no memory for what tells some frame's caller */           \
	X(NO_MEMORY,    "no_memory")                                          \
	/* something on the stack cannot be */                                \
	X(BROKEN,       "broken")                                             \
	/* no image name came for it, or its file could not be written */     \
	X(NOT_STORED,   "not_stored")                                         \
	/* frames, the innermost ones too */                                  \
	X(FRAMES,       "frames")                                             \
	/* calls that came without stacks and are stored */                   \
	X(ARCS,         "arcs")                                               \
	/* ... that are not, an offset being beyond 32 bits */                \
	X(ARCS_TOO_FAR, "arcs_too_far")                                       \
	/* ... or their file cannot be written */                             \
	X(ARCS_NOT_STORED, "arcs_not_stored")
/* clang-format on */

enum op_ledger_stacks {
#define X(name, what) OP_STACKS_##name,
	OP_LEDGER_STACKS(X)
#undef X
		OP_NR_STACKS
};

/*
 * X(NAME, what): the first ones are sums, and those from BUDGET on the largest
 * that there was.
 */
/* clang-format off */
#define OP_LEDGER_COSTS(X)                                                    \
	/* ns that there was sampling, and the same of all CPUs together */   \
	X(TIME,         "time_ns")                                            \
	X(CPUS,         "cpus_ns")                                            \
	/* ns of all CPUs for taking samples, and of the daemon */            \
	X(HANDLER,      "handler_ns")                                         \
	X(DAEMON,       "daemon_ns")                                          \
	/* ns of what else it took: before, after, other programs */          \
	X(REST,         "rest_ns")                                            \
	/* ns that the rate was lower than asked for */                       \
	X(LOWERED,      "lowered_ns")                                         \
	/* n times n - 1 for each sample that stands for n of them */         \
	X(SPREAD,       "spread")                                             \
	/* what was allowed, in millionths of each CPU; 0: any */             \
	X(BUDGET,       "budget")                                             \
	/* by what the rate was divided */                                    \
	X(DIVISOR,      "divisor")                                            \
	/* samples per second and CPU that were asked for; 0: events count */ \
	X(RATE,         "rate")
/* clang-format on */

enum op_ledger_cost {
#define X(name, what) OP_COST_##name,
	OP_LEDGER_COSTS(X)
#undef X
		OP_NR_COSTS
};

struct op_ledger_cause {
	char name[OP_LEDGER_CAUSE_MAX]; /* lower case, words joined by '_' */
	uint64_t nr; /* samples */
};

/* The times of an event, in nanoseconds of all CPUs together. */
struct op_ledger_event {
	char name[OP_LEDGER_EVENT_MAX];
	uint64_t count; /* events per sample */
	uint64_t unit_mask;
	uint64_t enabled; /* it was to be counted */
	uint64_t running; /* it had a counter; no more than @enabled */
	uint64_t samples; /* that it took then; these two may be unknown, 0 */
	uint64_t turns; /* how often it got a counter for that */
	/* Where each sample counts for its period: how many samples there were,
	 * the sum of their periods, and that of the squares of these, in
	 * OP_LEDGER_SQUARE; else 0. */
	uint64_t periods;
	uint64_t sum_of_periods;
	uint64_t squares_of_periods;
};

/* The source of a session that was imported from the original profiler. */
#define OP_LEDGER_IMPORTED "imported"

struct op_ledger {
	char source[32]; /* "module/timer", "file" ... */
	struct op_run run;
	uint64_t taken;
	uint64_t stored;
	uint64_t pending;
	unsigned int nr_causes;
	struct op_ledger_cause causes[OP_LEDGER_MAX_CAUSES];
	uint64_t stacks[OP_NR_STACKS];
	uint64_t costs[OP_NR_COSTS];
	unsigned int nr_events;
	struct op_ledger_event events[OP_LEDGER_MAX_EVENTS];
};

/* The name of @which in the file, after "stacks.". */
const char *op_ledger_stacks_name(enum op_ledger_stacks which);

/* The same of @which, behind "cost.". */
const char *op_ledger_cost_name(enum op_ledger_cost which);

/* Add @more to @costs, each as its kind is. */
void op_ledger_add_costs(uint64_t *costs, const uint64_t *more);

/* CPU time, ns, that profiling took: kernel, daemon and all else. */
double op_ledger_cost_ns(const struct op_ledger *ledger);

/* The same as a part of the time of all CPUs, 0 to 1; what was done before and
 * after sampling can make it more. */
double op_ledger_cost(const struct op_ledger *ledger);

/*
 * The number of samples, 1 or more, that carry as much information as one
 * independent sample, since a sample may count as several. Kish's design
 * effect.
 */
double op_ledger_grain(const struct op_ledger *ledger);

/*
 * "to 250/s for 12 s of 60 s to stay within 1 % of each CPU", where @costs say
 * that the rate was lowered: OP_COST_DIVISOR is not 0.
 */
void op_ledger_print_lowered(FILE *out, const uint64_t *costs);

/*
 * "4321 samples of cycles, each counted for its period, 75012.4 events on
 * average", of @nr samples of @event whose periods add up to @sum.
 */
void op_ledger_print_periods(FILE *out, const char *event, uint64_t nr,
			     uint64_t sum);

/* The stacks that are stored. */
uint64_t op_ledger_stacks_stored(const struct op_ledger *ledger);

/*
 * Read a session's ledger. Returns 0, -ENOENT without one (no reason in
 * @diag), or -errno with the reason in @diag; all keys but the causes must be
 * there.
 */
int op_ledger_read(struct op_ledger *ledger, const char *path,
		   struct op_diag *diag);

/*
 * Replace @path by @ledger in one step, mode 0644, by way of the file @spare as
 * op_replace_open_spare() has it, or of a new one if @spare is NULL. Returns 0
 * or -errno with the reason in @diag; -EINVAL when @ledger has no source.
 */
int op_ledger_write(const struct op_ledger *ledger, const char *path,
		    const char *spare, struct op_diag *diag);

/*
 * Write @ledger to @file as op_ledger_read() reads it. Returns 0, -ENOMEM, or
 * -EINVAL when it has no source; errors of the file are the caller's to find.
 */
int op_ledger_print(const struct op_ledger *ledger, FILE *file);

/*
 * Add @nr samples to cause @name; a new cause is shown even with 0 samples.
 * Sums stay at UINT64_MAX rather than wrap. Returns 0, -ENOSPC for one cause
 * too many, -EINVAL for a name that is not made of a-z, 0-9 and '_'.
 */
int op_ledger_lose(struct op_ledger *ledger, const char *name, uint64_t nr);

/*
 * Add the times of @more to those of the same event (name, count and unit
 * mask). Sums stay at UINT64_MAX. Returns 0; -ENOSPC for one event too many;
 * -EINVAL for a name that is not made of letters, digits, '_', '-' and '.', or
 * for more time running than enabled.
 */
int op_ledger_time_event(struct op_ledger *ledger,
			 const struct op_ledger_event *more);

/*
 * Add all of @more to @ledger. Pending is replaced; an empty source is filled
 * in and one that differs becomes "several". A ledger with an empty source gets
 * the run of @more, else what both runs have in common stays. Errors as above;
 * then @ledger is unchanged.
 */
int op_ledger_merge(struct op_ledger *ledger, const struct op_ledger *more);

/* The same for two sessions, of which each has its own pending ones. */
int op_ledger_sum(struct op_ledger *ledger, const struct op_ledger *more);

/* Sort causes and events, so that sums of the same accounts are equal, whatever
 * the order in which they came. */
void op_ledger_sort(struct op_ledger *ledger);

/* The samples lost by the cause @name; 0 if there is no such cause. */
uint64_t op_ledger_lost_by(const struct op_ledger *ledger, const char *name);

/* The sum over all causes. */
uint64_t op_ledger_lost(const struct op_ledger *ledger);

#endif /* LIBOP_SESSION_OP_LEDGER_H */
