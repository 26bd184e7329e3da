/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_BUDGET_H
#define DAEMON_OPD_BUDGET_H

/*
 * Keeps the cost of profiling this machine within --cpu-budget, a part of each
 * CPU. The cost is measured where it arises, once a second: the time that each
 * CPU spends in the kernel on taking samples, as the source tells, and what the
 * daemon needs, which is shared among the CPUs. The dearest CPU counts. When it
 * is too dear, the source takes fewer samples, each of which stands for several
 * (opd_governor.h).
 *
 * The daemon's start, and what it does once a minute or when it is asked, is in
 * the account, but no reason for a lower rate.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/opd_governor.h"
#include "libop/session/op_ledger.h"

struct op_log;
struct opd_source;

struct opd_budget {
	struct opd_source *source; /* NULL: nothing is measured */
	struct op_log *log;
	uint32_t millionths; /* of each CPU, 0: any */
	struct opd_governor governor;
	uint64_t *handler; /* ns that each CPU had spent at the last look ... */
	uint64_t *handler_now; /* ... and now */
	unsigned int nr_cpus; /* that may ever be there */
	unsigned int nr_online;
	/* ns, like those below: at the last look */
	uint64_t looked, daemon, reading;
	uint64_t began_to_read; /* this thread had run for so long by then */
	uint64_t read; /* it has run for reading, in all */
	bool was_on;
	uint64_t costs[OP_NR_COSTS]; /* since the source was opened */
};

/* Begin to measure @source, which samples this machine, and keep it within
 * @millionths of each CPU, 0: any. Nothing is measured where it cannot be. */
void opd_budget_begin(struct opd_budget *budget, struct opd_source *source,
		      struct op_log *log, uint32_t millionths);
void opd_budget_release(struct opd_budget *budget);

/* All that was measured belongs to another session from now on. */
void opd_budget_restart(struct opd_budget *budget);

/* Around what is done about samples that have come. */
void opd_budget_reads(struct opd_budget *budget);
void opd_budget_has_read(struct opd_budget *budget);

/* To be called often: does its work once a second, or when @at_once, before the
 * sum is looked at. */
void opd_budget_check(struct opd_budget *budget, bool at_once);

#endif /* DAEMON_OPD_BUDGET_H */
