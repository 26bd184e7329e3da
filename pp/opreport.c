// SPDX-License-Identifier: GPL-2.0-or-later
/* opreport: where the time went. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libop/op_session.h"
#include "pp/opreport_options.h"
#include "pp/options.h"

/* A report without header does not hide that samples were lost. */
static void print_loss(const struct opreport_options *o,
		       const struct op_ledger *account)
{
	bool silent = o->args.no_header || o->format->no_account;

	if (account && silent && op_ledger_lost(account))
		fprintf(stderr,
			"opreport: warning: %llu of %llu samples were lost; %s to see why\n",
			(unsigned long long)op_ledger_lost(account),
			(unsigned long long)account->taken,
			o->args.no_header ? "leave out --no-header"
					  : "leave out --format");
}

static int check_loss(const struct opreport_options *o,
		      const struct op_ledger *account, struct op_diag *diag)
{
	double percent;

	if (o->max_loss < 0)
		return 0;
	if (!account)
		return op_diag_set(
			diag, -ENODATA,
			"--max-loss=%s: the session has no account of its samples; leave the option out",
			o->args.max_loss);
	percent = account->taken ? 100.0 * (double)op_ledger_lost(account) /
					   (double)account->taken
				 : 0;
	if (percent <= o->max_loss)
		return 0;
	return op_diag_set(
		diag, -EOVERFLOW,
		"%.4g %% of %llu samples were lost, more than --max-loss=%s; profile again with larger buffers or fewer samples",
		percent, (unsigned long long)account->taken, o->args.max_loss);
}

static int check_losses(const struct opreport_options *o,
			const struct pp_report *report, struct op_diag *diag)
{
	int err = check_loss(o, report->account, diag);

	print_loss(o, report->account);
	if (!err && report->is_diff) {
		err = check_loss(o, report->old_account, diag);
		print_loss(o, report->old_account);
	}
	return err;
}

static int write_report_to_output(const struct opreport_options *o,
				  const struct pp_report *report,
				  struct op_diag *diag)
{
	const char *path = o->args.output;
	FILE *out = path ? fopen(path, "we") : stdout;
	bool failed;
	int err;

	if (!out)
		return op_diag_set(diag, -errno, "%s: cannot be written: %s",
				   path, strerror(errno));
	err = o->format->write(out, report, &o->format_options);
	failed = fflush(out) || ferror(out);
	if (path)
		failed |= fclose(out) != 0;
	if (failed)
		return op_diag_set(diag, -EIO, "%s: cannot be written: %s",
				   path ? path : "standard output",
				   strerror(errno));
	return err;
}

static int report_session(struct opreport_options *o, struct op_diag *diag)
{
	static struct op_session session;
	struct pp_report *report;
	int err = op_session_init(&session, o->args.common.session_dir, diag);

	if (err)
		return err;
	o->request.session = &session;
	err = pp_report_new(&report, &o->request, diag);
	if (report)
		pp_print_messages(stderr, "opreport", &report->messages,
				  o->verbose);
	if (!err)
		err = check_losses(o, report, diag);
	if (!err)
		err = write_report_to_output(o, report, diag);
	pp_report_free(report);
	return err;
}

int main(int argc, char **argv)
{
	static struct opreport_options options;
	struct op_diag diag = { 0 };
	const char *const *words;
	poptContext context;
	int status = 0;

	context = opreport_parse(&options.args, argc, (const char **)argv);
	words = poptGetArgs(context);
	if (opreport_take_options(&options, words, (const char *const *)argv,
				  &diag))
		status = EXIT_USAGE;
	else if (opreport_take_words(&options, words, &diag))
		status = 1;
	if (options.sort_ignored)
		fputs("opreport: warning: --sort changes nothing in XML\n",
		      stderr);
	if (!status && report_session(&options, &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opreport: %s\n", op_diag_text(&diag, -ENOMEM));
	opreport_release_options(&options);
	poptFreeContext(context);
	return status;
}
