// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/session/op_budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int op_budget_parse(uint32_t *budget, const char *text, struct op_diag *diag)
{
	double percent;
	char *end;

	*budget = OP_BUDGET_DEFAULT;
	if (!text)
		return 0;
	*budget = 0;
	if (!strcmp(text, "none"))
		return 0;
	percent = strtod(text, &end);
	if (end == text || *end || !(percent >= 0) || percent > 100)
		return op_diag_set(
			diag, -EINVAL,
			"--cpu-budget=%s: not a part of each CPU; give percent, such as 1 or 0.5, or none",
			text);
	*budget = (uint32_t)(percent * OP_BUDGET_PERCENT + 0.5);
	/* A budget that rounds to nothing is little, but not none. */
	if (percent > 0 && !*budget)
		*budget = 1;
	return 0;
}
