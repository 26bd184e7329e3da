// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of sampling, and how far the rate was lowered to bound it. */

#include <inttypes.h>
#include <stdio.h>

#include "libop/session/op_budget.h"
#include "libop/session/op_ledger.h"

#define SECOND 1e9

double op_ledger_cost_ns(const struct op_ledger *ledger)
{
	const uint64_t *costs = ledger->costs;

	return (double)costs[OP_COST_HANDLER] + (double)costs[OP_COST_DAEMON] +
	       (double)costs[OP_COST_REST];
}

double op_ledger_cost(const struct op_ledger *ledger)
{
	uint64_t cpus = ledger->costs[OP_COST_CPUS];

	return cpus ? op_ledger_cost_ns(ledger) / (double)cpus : 0;
}

double op_ledger_grain(const struct op_ledger *ledger)
{
	return ledger->stored ? 1 + (double)ledger->costs[OP_COST_SPREAD] /
						(double)ledger->stored
			      : 1;
}

void op_ledger_print_lowered(FILE *out, const uint64_t *costs)
{
	uint64_t divisor = costs[OP_COST_DIVISOR];

	if (costs[OP_COST_RATE])
		fprintf(out, "to %" PRIu64 "/s", costs[OP_COST_RATE] / divisor);
	else
		fprintf(out, "to 1/%" PRIu64, divisor);
	fprintf(out, " for %.0f s of %.0f s",
		(double)costs[OP_COST_LOWERED] / SECOND,
		(double)costs[OP_COST_TIME] / SECOND);
	if (costs[OP_COST_BUDGET])
		fprintf(out, " to stay within %.4g %% of each CPU",
			(double)costs[OP_COST_BUDGET] / OP_BUDGET_PERCENT);
}
