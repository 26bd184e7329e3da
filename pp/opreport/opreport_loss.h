/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_LOSS_H
#define PP_OPREPORT_OPREPORT_LOSS_H

/*
 * Lost samples in opreport: it fails if more are lost than --max-loss allows,
 * and it warns if the report itself does not show the loss.
 */

#include <stdio.h>

#include "libpp/report/report.h"

struct opreport_loss {
	double max_percent; /* of the samples that were taken; negative: any */
	const char *max_text; /* the same as --max-loss has it */
	const char *hidden_by; /* option that keeps the account out of the
				  report; NULL for none */
};

/*
 * Check the account of @report, and in a comparison the old one; warnings go
 * to @warnings. Returns 0; -ENODATA without an account to check, -EOVERFLOW
 * where too many were lost, with the reason in @diag.
 */
int opreport_check_loss(const struct opreport_loss *loss,
			const struct pp_report *report, FILE *warnings,
			struct op_diag *diag);

#endif /* PP_OPREPORT_OPREPORT_LOSS_H */
