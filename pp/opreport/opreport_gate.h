/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_GATE_H
#define PP_OPREPORT_OPREPORT_GATE_H

/*
 * --gate: a comparison that fails where the later profile is slower, for
 * scripts that build and test. Two profiles of the same program differ by
 * chance; of 1,000 such pairs fewer than one fails.
 */

#include <stdio.h>

#include "libop/base/op_diag.h"
#include "libpp/report/report.h"

#define OPREPORT_GATE_LEVEL 0.001 /* false alarms, of all counts together */

struct opreport_gate {
	double percent; /* that counts may grow by; negative: no gate */
	bool has_names; /* symbols of the report were named, so they count, too
			 */
};

/*
 * Check all samples of the comparison @report, and the symbols of it if they
 * were named: each class by itself. What is slower is printed to @out, or else
 * how all samples changed. Returns 0; -EINVAL if counts cannot be compared,
 * -ENOENT if no named symbol is there, -ERANGE if any is slower, with the
 * reason in @diag.
 */
int opreport_check_gate(const struct opreport_gate *gate,
			const struct pp_report *report, FILE *out,
			struct op_diag *diag);

#endif /* PP_OPREPORT_OPREPORT_GATE_H */
