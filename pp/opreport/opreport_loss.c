// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opreport/opreport_loss.h"

#include <errno.h>
#include <inttypes.h>

#include "libpp/format/format.h"
#include "pp/options.h"

static int check_account(const struct opreport_loss *loss,
			 const struct op_ledger *account, FILE *warnings,
			 struct op_diag *diag)
{
	double percent;

	if (loss->hidden_by) {
		char advice[64];

		snprintf(advice, sizeof(advice), "leave out %s to see why",
			 loss->hidden_by);
		pp_print_loss(warnings, "opreport", account, advice);
	}
	if (loss->max_percent < 0)
		return 0;
	if (!account)
		return op_diag_set(
			diag, -ENODATA,
			"--max-loss=%s: the session has no account of its samples; leave the option out",
			loss->max_text);
	percent = pp_percent(op_ledger_lost(account), account->taken);
	if (percent <= loss->max_percent)
		return 0;
	return op_diag_set(
		diag, -EOVERFLOW,
		"%.4g %% of %" PRIu64
		" samples were lost, more than --max-loss=%s; profile again with larger buffers or fewer samples",
		percent, account->taken, loss->max_text);
}

int opreport_check_loss(const struct opreport_loss *loss,
			const struct pp_report *report, FILE *warnings,
			struct op_diag *diag)
{
	int err = check_account(loss, report->account, warnings, diag);

	if (err || !report->old.made)
		return err;
	return check_account(loss, report->old.account, warnings, diag);
}
