/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_FEATURE_OPD_IBS_LOG_H
#define DAEMON_FEATURE_OPD_IBS_LOG_H

/*
 * The two logs of IBS op samples, for those who set the bits of the unit mask:
 * samples/ibs_memaccess.log has a line for each load or store whose address
 * is known, samples/ibs_bta.log for each retired branch and its target. Both
 * are appended to; their first line names the columns. Process, thread and
 * CPU are "all" unless separated.
 *
 * A log that has OPD_IBS_LOG_MAX bytes gets a line that says so and no more.
 * What is left out, there or because it could not be written, is counted; the
 * samples themselves are stored all the same, so the ledger has none of it.
 */

#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_diag.h"

struct op_log;
struct opd_ext_sample;
struct opd_ibs_regs;

#define OPD_IBS_UM_MEMORY 2u /* log memory accesses */
#define OPD_IBS_UM_BRANCH 4u /* log branch targets */
#define OPD_IBS_UM_ALL 7u

#define OPD_IBS_LOG_MAX (UINT64_C(256) << 20)

struct opd_ibs_log_file {
	const char *name; /* NULL: not asked for */
	FILE *file; /* NULL: it could not be written */
	uint64_t bytes; /* that it has, with those that are in memory */
	uint64_t waiting; /* lines that may be in memory */
	uint64_t left_out; /* lines */
};

struct opd_ibs_log {
	struct opd_ibs_log_file memory;
	struct opd_ibs_log_file branch;
};

/* Open what @um asks for in folder @dir. Returns 0 or -errno with the reason.
 */
int opd_ibs_log_open(struct opd_ibs_log *log, const char *dir, unsigned int um,
		     struct op_diag *diag);
void opd_ibs_log_close(struct opd_ibs_log *log);

/* Write what is still in memory; the daemon's log says what fails. */
void opd_ibs_log_flush(struct opd_ibs_log *log, struct op_log *daemon_log);

/* The lines for one op sample. */
void opd_ibs_log_sample(struct opd_ibs_log *log, struct op_log *daemon_log,
			const struct opd_ext_sample *sample,
			const struct opd_ibs_regs *regs);

/* Write to the daemon's log how much was left out. */
void opd_ibs_log_print_stats(const struct opd_ibs_log *log,
			     struct op_log *daemon_log);

#endif /* DAEMON_FEATURE_OPD_IBS_LOG_H */
