// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opannotate shows samples beside the lines (opannotate_source.c) or
 * instructions (opannotate_assembly.c) that they belong to. Both start from a
 * report with all addresses of all symbols. Samples without a line have no
 * place in a listing of sources, so how many there are is said on standard
 * error, with the reason.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libop/options/op_pager.h"
#include "libop/base/op_terminal_safe.h"
#include "libop/base/op_plural.h"
#include "libpp/images/annotation.h"
#include "libpp/format/format.h"
#include "pp/opannotate/opannotate_files.h"
#include "pp/opannotate/opannotate_text.h"
#include "pp/missing_debug_hint.h"
#include "pp/options.h"

#define NAMED_SYMBOLS 3 /* in a message */

/* ---- what is not shown --------------------------------------------------- */

/* How to get lines for code of @image: some of its code may have lines. */
static const char *advice_on_lines(const struct pp_report *report,
				   const struct pp_image *image)
{
	if (!image->binary)
		return "no binary has line information";
	for (size_t i = 0; i < report->symbols.nr; i++)
		if (report->symbols.list[i].image == image &&
		    report->symbols.list[i].place.file)
			return "that code was not compiled with -g";
	return "compile it with -g or install its debug symbols";
}

static void print_unplaced(const struct pp_report *report,
			   const struct pp_unplaced *u)
{
	size_t nr =
		u->nr_symbols < NAMED_SYMBOLS ? u->nr_symbols : NAMED_SYMBOLS;
	FILE *out = op_terminal_safe_open(stderr);

	if (!out)
		return;
	fprintf(out, "opannotate: warning: %s: no source lines for ",
		u->image->name);
	for (size_t i = 0; i < report->classes.nr; i++)
		fprintf(out, "%s%" PRIu64 " sample%s (%.4g %%)",
			i ? " and " : "", u->counts[i], op_plural(u->counts[i]),
			pp_percent(u->counts[i], report->symbols.totals[i]));
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? ", " : ", in ", u->symbols[i]->name);
	if (u->nr_symbols > nr)
		fprintf(out, " and %zu more symbol%s", u->nr_symbols - nr,
			op_plural(u->nr_symbols - nr));
	fprintf(out, "; %s\n", advice_on_lines(report, u->image));
	fclose(out);
}

static int check_sources(const struct pp_report *report,
			 const struct pp_annotation *annotation,
			 struct op_diag *diag)
{
	for (size_t i = 0; i < annotation->nr_unplaced; i++)
		print_unplaced(report, &annotation->unplaced[i]);
	if (!report->symbols.nr)
		return op_diag_set(diag, -ENOENT,
				   "none of the chosen symbols has samples");
	if (!annotation->nr_files)
		return op_diag_set(
			diag, -ENOENT,
			"none of the binaries has source lines for its samples; add --assembly to see instructions");
	return 0;
}

static char *locate_source(const void *options, const char *name)
{
	return opannotate_locate(options, name);
}

/* ---- all of it ----------------------------------------------------------- */

static int write_annotation(const struct opannotate_options *o,
			    struct pp_report *report, struct op_diag *diag)
{
	struct pp_messages messages = { .arena = &report->arena };
	const struct opannotate_text text = { op_terminal_safe_open(stdout),
					      report, o, &messages };
	struct pp_annotation annotation;
	struct op_pager pager = { 0 };
	int err = 0, end;

	if (!text.out)
		return -ENOMEM;
	if (o->args.assembly) {
		if (o->include_files || o->exclude_files)
			fputs("opannotate: warning: --include-file and --exclude-file change nothing in a listing of instructions\n",
			      stderr);
		op_pager_start(&pager, stdout, !o->args.no_pager, 0);
		err = opannotate_write_assembly(&text, diag);
	} else {
		/* A whole file is written once, whatever its names. */
		err = pp_annotate(&annotation, report,
				  o->all ? locate_source : NULL, o)
			      ?: check_sources(report, &annotation, diag);
		if (!err) {
			op_pager_start(&pager, stdout,
				       !o->args.no_pager && !o->output_dir, 0);
			err = o->all ? opannotate_write_source(
					       &text, &annotation, diag)
				     : opannotate_write_functions(
					       &text, &annotation, diag);
		}
	}
	fclose(text.out);
	end = op_pager_end(&pager, stdout, diag);
	pp_print_messages(stderr, "opannotate", &messages, o->verbose);
	report->messages.nr_faults += messages.nr_faults;
	return err ?: end;
}

/* A function that is asked for by name may be inlined everywhere, and then no
 * symbol has its instructions. */
static bool may_be_inlined(const struct opannotate_options *o, int err)
{
	return err == -ENOENT && o->request.names.include && o->args.assembly &&
	       !o->all;
}

static int annotate_session(struct opannotate_options *o, struct op_diag *diag)
{
	struct op_diag not_found = { 0 };
	struct pp_report *report;
	int err = pp_make_report_silently(&o->args.common, &o->request, &report,
					  diag);

	if (may_be_inlined(o, err)) {
		pp_report_free(report);
		o->inlined = o->request.names;
		o->request.names.include = NULL;
		not_found = *diag;
		err = pp_make_report_silently(&o->args.common, &o->request,
					      &report, diag);
	}
	if (report)
		pp_print_messages(stderr, "opannotate", &report->messages,
				  o->verbose);
	if (!err)
		pp_print_missing_debug_hint(stderr, "opannotate", report,
					    o->request.images.root);
	if (!err && (o->args.no_header || o->output_dir))
		pp_print_loss(stderr, "opannotate", report->account,
			      "the header of opreport says why");
	err = err ?: write_annotation(o, report, diag) ?:
	      pp_check_complete(&report->messages, diag);
	if (err == -ENOENT && o->inlined.include)
		*diag = not_found;
	pp_report_free(report);
	return err;
}

int main(int argc, char **argv)
{
	static struct opannotate_options options;
	struct op_diag diag = { 0 };
	poptContext context;
	int status = 0;

	context = opannotate_parse(&options.args, argc, (const char **)argv);
	if (opannotate_take_options(&options, (const char *const *)argv, &diag))
		status = EXIT_USAGE;
	else if (opannotate_take_words(&options, poptGetArgs(context), &diag) ||
		 annotate_session(&options, &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opannotate: %s\n",
			op_diag_text(&diag, -ENOMEM));
	opannotate_release_options(&options);
	poptFreeContext(context);
	return status;
}
