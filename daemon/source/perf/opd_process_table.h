/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PROCESS_TABLE_H
#define DAEMON_SOURCE_PERF_OPD_PROCESS_TABLE_H

/*
 * The processes that records of perf_events tell of, their mappings, and all
 * else that turns records into samples of the stream. opd_perf_handle.h changes
 * the table by records, in the order of time; opd_perf_proc.h fills in from
 * /proc what they leave open: processes older than the profiler, and records
 * that were lost.
 */

#include <stdint.h>

#include "daemon/source/jit/opd_jit.h"
#include "daemon/source/opd_maps.h"
#include "daemon/source/opd_writer.h"
#include "daemon/source/perf/opd_perf_image.h"
#include "daemon/source/perf/opd_perf_programs.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_stack.h"
#include "daemon/source/perf/opd_perf_words.h"
#include "daemon/source/untrusted/opd_kept_tables.h"
#include "daemon/source/untrusted/opd_known_files.h"
#include "daemon/source/untrusted/opd_returns.h"
#include "libop/session/op_ledger.h"
#include "libop/kernel/op_perf_filter.h"

/* X(constant, name): what became of a sample, or is worth knowing. */
#define OPD_PERF_STATS(X)                                                      \
	X(RECEIVED, sample_received)                                           \
	X(NO_MAPPING, sample_lost_no_mapping)                                  \
	X(NO_MM, sample_lost_no_mm)                                            \
	X(INVALID_EIP, sample_invalid_eip)                                     \
	X(OVERFLOW, sample_lost_overflow)                                      \
	X(THROTTLED, sample_lost_throttled)                                    \
	/* of processes that nobody told of: ours, or others' */               \
	X(NO_PROCESS, sample_lost_no_process)                                  \
	X(OF_OTHERS, sample_of_others)                                         \
	X(THROTTLE, throttle)                                                  \
	X(SIDE_LOST, side_band_lost)                                           \
	X(SWITCH_LOST, switch_lost)                                            \
	X(PROC_READ, proc_read)                                                \
	X(REPLUG, cpu_replug)                                                  \
	X(REPLUG_FAILED, cpu_replug_failed)                                    \
	X(BAD_RECORD, bad_record)

enum opd_perf_stat {
#define X(constant, name) OPD_PERF_##constant,
	OPD_PERF_STATS(X)
#undef X
		OPD_PERF_NR_STATS
};

struct op_log;

struct opd_process_table {
	struct opd_maps maps;
	struct opd_perf_images images;
	struct opd_writer *writer; /* borrowed */
	struct opd_perf_words words; /* to it */
	struct opd_perf_stacks stacks;
	struct opd_jits jits;
	struct opd_untrusted binaries; /* reads those of images */
	struct opd_known_files known; /* that it has read */
	struct opd_kept_tables kept; /* of earlier sessions */
	struct opd_returns returns; /* what code says without such tables */
	struct opd_perf_programs programs; /* that will begin */
	uint64_t stats[OPD_PERF_NR_STATS];
	const char *proc; /* the folder, "/proc"; NULL: records are all that is
			   * known, as they are not of now */
	bool tells_owners; /* of processes, with their samples */
	bool only_chosen; /* samples of other processes do not count */
	uint32_t chosen_by_exec; /* the next exec of it does; 0: none */
	/* Drops samples of those in the kernel, NULL: nothing does. Not owned.
	 */
	struct op_perf_filter *filter;
	uint64_t times; /* how often the next sample was taken ... */
	bool lowered; /* ... or would have been at the full rate */
	/* Another event that it is a sample of, too, and how often; 0: none. */
	uint64_t other_times;
	uint32_t other_counter;
	uint64_t now; /* of the last record, ns */
	/* The time for those who write records, CLOCK_MONOTONIC_RAW in ns;
	 * NULL: that of the last record. */
	uint64_t (*clock)(void);
	/* opd_untrusted_cost() but for tests */
	uint64_t (*cost)(const struct opd_untrusted *untrusted);
	/* Processes that were read before this time are not complete any more.
	 */
	uint64_t gap_at;
};

void opd_process_table_init(struct opd_process_table *table, const char *proc,
			    struct opd_writer *writer);
/* The stacks are released by whoever has begun them. */
void opd_process_table_release(struct opd_process_table *table);

/* Tell of tasks what @tells (OPD_TELL_*) says, from table->proc and records. */
void opd_process_table_want_names(struct opd_process_table *table,
				  unsigned int tells);

/* Have the kernel drop the samples of process @tgid from now on, or none; does
 * nothing where it cannot. */
void opd_process_table_drop(struct opd_process_table *table, uint32_t tgid,
			    bool drop);

/* The present time, which the last record is older than. */
uint64_t opd_process_table_clock(const struct opd_process_table *table);

/* The cost of all looks at processes and files so far: opd_untrusted_cost(). */
uint64_t opd_process_table_cost(const struct opd_process_table *table);

/* Fill the empty @ledger from the statistics. Returns 0 or -ENOMEM. */
int opd_process_table_account(const struct opd_process_table *table,
			      struct op_ledger *ledger);

/* Write the statistics to @log. */
void opd_process_table_log(const struct opd_process_table *table,
			   struct op_log *log);

/*
 * A mapping of @process, however it was learnt: @map without cookie and name,
 * which come from @id. Returns the cookie, OP_NO_COOKIE for anonymous memory.
 */
uint64_t opd_process_table_map(struct opd_process_table *table,
			       struct opd_process *process,
			       const struct opd_map *map,
			       const struct opd_perf_image_id *id);

#endif /* DAEMON_SOURCE_PERF_OPD_PROCESS_TABLE_H */
