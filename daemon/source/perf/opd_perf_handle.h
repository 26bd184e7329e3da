/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_HANDLE_H
#define DAEMON_SOURCE_PERF_OPD_PERF_HANDLE_H

/*
 * Records of perf_events, in the order of time: those of side band change the
 * table of processes, and samples become samples of the stream.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/perf/opd_process_table.h"

/* A record that is not a sample; there must be room in table->words. */
void opd_perf_handle_side(struct opd_process_table *table,
			  const struct opd_perf_rec *rec);

/* A record of side band that is handled later: if it is about an image that is
 * new, its file is looked at now; and which program an exec begins is known
 * when its turn comes. */
void opd_perf_handle_ahead(struct opd_process_table *table,
			   const struct opd_perf_rec *rec);

/* A sample of event @counter on @cpu, and for table->times of them, and where
 * there are table->other_times, of table->other_counter, too: counted, and
 * written if it is of a process that counts and has a place. There must be room
 * in table->words. */
void opd_perf_handle_sample(struct opd_process_table *table,
			    const struct opd_perf_rec *rec, uint32_t cpu,
			    uint32_t counter);

/* Whether samples of process @tgid count. */
bool opd_perf_handle_counts(struct opd_process_table *table, uint32_t tgid);

/*
 * The stack of sample @rec, taken in the kernel on @cpu, to be written later by
 * opd_perf_handle_kept(). NULL when memory is short.
 */
struct opd_kept_stack *opd_perf_handle_stack(struct opd_process_table *table,
					     const struct opd_perf_rec *rec,
					     uint32_t cpu);

/* The same of a thread whose stack is not known: a place called @name. */
struct opd_kept_stack *opd_perf_handle_no_stack(struct opd_process_table *table,
						uint32_t tgid, uint32_t tid,
						uint32_t cpu, const char *name);

/* Write @stack as a sample of event @counter that was taken @times times. There
 * must be room in table->words. */
void opd_perf_handle_kept(struct opd_process_table *table,
			  const struct opd_kept_stack *stack, uint32_t counter,
			  uint64_t times);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_HANDLE_H */
