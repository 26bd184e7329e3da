/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TREE_GATHER_CALLS_H
#define LIBPP_TREE_GATHER_CALLS_H

/*
 * All calls of one side of a report, by the symbols and by the addresses that
 * they are between, for libpp alone.
 */

#include "libpp/report/population.h"

/* All calls of a side, one for each caller, callee and column. */
struct pp_symbol_calls {
	struct pp_symbol_call *list; /* by caller, callee and column */
	size_t nr;
};

/* Fill *@calls, whose list the caller frees, also on failure. Returns 0 or
 * -ENOMEM. */
int pp_symbol_calls_gather(struct pp_symbol_calls *calls,
			   const struct pp_side *side);

/* Fill the calls of the report. Returns 0 or -ENOMEM. */
int pp_address_calls_gather(struct pp_population *p,
			    const struct pp_side *side);

#endif /* LIBPP_TREE_GATHER_CALLS_H */
