/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_REPORT_H
#define UTILS_OPERF_OPERF_REPORT_H

/*
 * The last words of a run: how many samples there are, where the others went,
 * why there are none, and how to see them.
 */

#include "libop/session/op_ledger.h"
#include "utils/operf/operf_wait.h"

struct operf;

/*
 * Fill @ledger with the account of samples/current, or with zeros where there
 * is none. Returns 0, or -errno with the reason in @diag.
 */
int operf_ledger_get(const struct operf *operf, struct op_ledger *ledger,
		     struct op_diag *diag);

/*
 * Add the times of the run to the ledger that the daemon has left, unless it
 * is also of runs @before. That this fails is a line on stderr.
 */
void operf_keep_times(const struct operf *operf, enum operf_end end,
		      const struct op_ledger *before);

/*
 * Add to that ledger the CPU time of operf and of all programs that it has
 * started but the command, as far as the daemon has not counted it since the
 * account was @before. Last of all, as what is kept for reports is part of it.
 */
void operf_keep_cost(const struct operf *operf, const struct op_ledger *before);

/* Say what came to the session since the account was @before. Returns 0, or
 * -errno with the reason in operf->diag. */
int operf_report(struct operf *operf, const struct op_ledger *before);

#endif /* UTILS_OPERF_OPERF_REPORT_H */
