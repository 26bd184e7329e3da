// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opreport shows where samples were taken: its options become a request, libpp
 * makes the report, and the chosen format writes it. A report that --max-loss
 * refuses is not written at all.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/options/op_pager.h"
#include "libop/base/op_terminal_safe.h"
#include "libop/base/op_plural.h"
#include "libop/session/op_session.h"
#include "libpp/check.h"
#include "libpp/images/kept_symbols.h"
#include "libpp/format/text/text.h"
#include "pp/missing_debug_hint.h"
#include "pp/opreport/opreport_loss.h"
#include "pp/opreport/opreport_options.h"
#include "pp/opreport/opreport_output.h"
#include "pp/opreport/opreport_browser.h"
#include "pp/opreport/opreport_page.h"
#include "pp/options.h"
#include "pp/row_notes.h"

/* Lines to keep in sight: those above the rows of a table. */
static unsigned int nr_header_lines(const struct opreport_options *o,
				    const struct pp_report *report)
{
	bool is_table = report->symbols.made && !report->calls.made;
	unsigned int nr = 1;
	char *buf = NULL;
	size_t len;
	FILE *out;

	if (o->format != pp_format_find("text") || !is_table ||
	    o->args.no_header)
		return 0;
	out = open_memstream(&buf, &len);
	if (!out)
		return 0;
	pp_text_describe_change(out, report);
	pp_text_describe(out, report, &o->format_options);
	fclose(out);
	for (const char *at = buf; at && *at; at++)
		nr += *at == '\n';
	free(buf);
	return nr;
}

static int write_report_to_stdout(const struct opreport_options *o,
				  const struct pp_report *report, bool is_plain,
				  bool is_noted)
{
	FILE *out = is_plain ? op_terminal_safe_open(stdout) : stdout;
	int err = out ? o->format->write(out, report, &o->format_options)
		      : -ENOMEM;

	if (!err && is_noted)
		pp_print_row_notes(out, report);
	if (is_plain && out)
		fclose(out);
	return err;
}

static int write_report_to_output(const struct opreport_options *o,
				  const struct pp_report *report,
				  struct op_diag *diag)
{
	struct op_pager pager = { 0 };
	struct opreport_output output;
	bool is_text = o->format == pp_format_find("text");
	bool is_terminal = isatty(STDOUT_FILENO);
	int err;

	if (o->args.output) {
		err = opreport_output_open(&output, o->args.output, diag);
		if (err)
			return err;
		err = o->format->write(output.file, report, &o->format_options);
		return opreport_output_close(&output, err, diag);
	}
	op_pager_start(&pager, stdout, !o->args.no_pager,
		       nr_header_lines(o, report));
	err = write_report_to_stdout(o, report, is_text || is_terminal,
				     is_text && is_terminal);
	return op_pager_end(&pager, stdout, diag) ?: err;
}

static int report_session(struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_loss loss = {
		.max_percent = o->max_loss,
		.max_text = o->args.max_loss,
		.hidden_by = o->args.no_header			? "--no-header"
			     : o->format->flags & PP_SHOWS_LOSS ? NULL
								: "--format",
	};
	struct opreport_page page = { 0 };
	bool is_text = o->format == pp_format_find("text"), is_made;
	struct pp_report *report;
	int err;

	if (o->format->flags & PP_SHOWS_ALL) {
		/* A page is of several reports. */
		o->request.images.kept_symbols = pp_kept_symbols_new();
		opreport_page_limit(o);
	}
	err = pp_make_report_silently(&o->args.common, &o->request, &report,
				      diag);
	if (report && (err || !is_text))
		pp_print_messages(stderr, "opreport", &report->messages,
				  o->verbose);
	is_made = !err;
	err = err ?: opreport_check_loss(&loss, report, stderr, diag);
	if (!err && o->format->flags & PP_SHOWS_ALL)
		err = opreport_page_init(&page, o, diag)
			      ?: opreport_page_fit(&page, o, report, diag);
	err = err ?: write_report_to_output(o, report, diag);
	/* The answer first, then what is to be known of it. */
	if (is_made && is_text) {
		fflush(stdout);
		pp_print_report_messages(stderr, "opreport", report,
					 o->verbose);
		pp_print_missing_debug_hint(stderr, "opreport", report,
					    o->request.images.root);
	}
	err = err ?:
		  pp_check_complete(&report->messages, diag) ?:
		  opreport_check_gate(&o->gate, report, stderr, diag);
	if (!err && page.details)
		err = pp_check_complete(&page.details->messages, diag);

	opreport_page_release(&page);
	pp_report_free(report);
	pp_kept_symbols_free(o->request.images.kept_symbols);
	return err;
}

/* ---- --check ------------------------------------------------------------- */

static void print_finding(void *ctx, const char *line)
{
	(void)ctx;
	puts(line);
}

static int refuse_words(const char *word, struct op_diag *diag)
{
	op_diag_set(diag, -EINVAL,
		    "%s: --check looks at all of --session-dir; leave it out",
		    word);
	return EXIT_USAGE;
}

static int check_session(const struct opreport_options *o, struct op_diag *diag)
{
	struct pp_check check = { .say = print_finding,
				  .repair = o->args.repair };
	static struct op_session session;
	uint64_t left;
	int err;

	err = op_session_init(&session, o->args.common.session_dir, diag)
		      ?: pp_check_session(&check, &session, diag);
	if (err)
		return err;
	left = check.nr_damaged - check.nr_repaired;
	printf("%s: %" PRIu64 " file%s with %" PRIu64 " sample%s: ",
	       session.dir, check.nr_files, op_plural(check.nr_files),
	       check.nr_samples, op_plural(check.nr_samples));
	if (!check.nr_damaged)
		puts("all sound");
	else if (check.nr_repaired)
		printf("%" PRIu64 " damaged, %" PRIu64 " repaired\n",
		       check.nr_damaged, check.nr_repaired);
	else
		printf("%" PRIu64 " damaged\n", check.nr_damaged);
	if (fflush(stdout) || ferror(stdout))
		return op_diag_set(diag, -EIO,
				   "standard output: cannot be written: %s",
				   strerror(errno));
	return left ? op_diag_set(diag, -EBADMSG, "%s: not all files are sound",
				  session.dir)
		    : 0;
}

/* ---- all of it ----------------------------------------------------------- */

int main(int argc, char **argv)
{
	static struct opreport_options options;
	struct op_diag diag = { 0 };
	const char *const *words;
	poptContext context;
	int status = 0;

	context = opreport_parse(&options.args, argc, (const char **)argv);
	words = poptGetArgs(context);
	if (options.args.check || options.args.repair)
		status = words && *words
				 ? refuse_words(*words, &diag)
				 : (check_session(&options, &diag) ? 1 : 0);
	else if (options.args.open && !options.args.html &&
		 opreport_page_place(&options.args.html,
				     options.args.common.session_dir, &diag))
		status = 1;
	else if (opreport_take_options(&options, words,
				       (const char *const *)argv, &diag))
		status = EXIT_USAGE;
	else if (opreport_take_words(&options, words, &diag))
		status = 1;
	if (options.sort_ignored)
		fprintf(stderr,
			"opreport: warning: --sort has no effect on %s\n",
			options.format->title);
	if (!status && !options.args.check && !options.args.repair &&
	    report_session(&options, &diag))
		status = 1;
	if (!status && options.args.open)
		opreport_open_page(options.args.html, stderr);
	if (status)
		fprintf(stderr, "opreport: %s\n", op_diag_text(&diag, -ENOMEM));
	opreport_release_options(&options);
	poptFreeContext(context);
	return status;
}
