// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of a reading: which function fills it for each kind of query.
 */

#include "pp/optop/optop_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int optop_reading_new(struct optop_reading **out,
		      const struct optop_query *query,
		      const struct pp_request *base, struct op_diag *diag)
{
	static int (*const fill[OPTOP_NR_KINDS])(struct optop_reading *,
						 const struct optop_query *,
						 const struct pp_request *,
						 struct op_diag *) = {
		[OPTOP_ASSEMBLY] = optop_fill_assembly,
		[OPTOP_SOURCE] = optop_fill_source,
		[OPTOP_CALLS] = optop_fill_calls,
	};
	struct optop_reading *reading = calloc(1, sizeof(*reading));
	int err;

	*out = NULL;
	if (!reading)
		return op_out_of_memory(diag);
	op_arena_init(&reading->arena);
	err = (fill[query->kind] ? fill[query->kind]
				 : optop_fill_view)(reading, query, base, diag)
		      ?: optop_counts_index(reading->counts);
	if (err) {
		optop_reading_free(reading);
		return op_diag_set(diag, err, "%s", strerror(-err));
	}
	*out = reading;
	return 0;
}

void optop_reading_free(struct optop_reading *reading)
{
	if (!reading)
		return;
	optop_counts_put(reading->counts);
	pp_report_free(reading->report);
	op_arena_release(&reading->arena);
	free(reading);
}
