// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph: one page of HTML that needs nothing else. The page is
 * libpp/format/flamegraph.html, compiled in as a string; this file puts the
 * call tree into it as JSON, with all sentences that the page shows, and the
 * script of the page draws. Nodes are one flat array of numbers, because there
 * may be hundreds of thousands of them: how far back the parent is, the frame,
 * and the node's own counts.
 */

#include <inttypes.h>
#include <math.h>

#include "libpp/format/flamegraph.html.h" /* made from flamegraph.html */
#include "libpp/format/format.h"
#include "libpp/format/frame_images.h"
#include "libpp/format/page.h"
#include "libpp/report/report_times.h"
#include "libop/base/op_json.h"

struct writer {
	struct op_json *json;
	const struct pp_report *report;
	const struct pp_tree *tree;
	const struct pp_format_options *options;
	struct pp_frame_images images;
};

/* ---- descriptions -------------------------------------------------------- */

/* A sentence about a column. */
struct description {
	const struct writer *w;
	size_t column;
	void (*write)(FILE *out, const struct writer *w, size_t column);
};

static void write_of_column(FILE *out, void *arg)
{
	const struct description *d = arg;

	d->write(out, d->w, d->column);
}

static void write_description(struct writer *w, const char *key,
			      void (*write)(FILE *out, const struct writer *w,
					    size_t column),
			      size_t column)
{
	struct description d = { w, column, write };

	pp_json_description(w->json, key, write_of_column, &d);
}

/* How many of the samples are in the picture. */
static void describe_samples(FILE *out, const struct writer *w, size_t column)
{
	uint64_t shown = pp_tree_all(w->tree, 0)[column];
	const struct pp_format_options *options = w->options;
	size_t nr = w->report->classes.nr;
	uint64_t all = column < nr ? w->report->totals[column]
				   : w->report->old.totals[column - nr];

	if (shown >= all)
		fprintf(out, "%" PRIu64 " samples, all of them with stacks.",
			shown);
	else
		fprintf(out,
			"%" PRIu64 " of %" PRIu64
			" samples (%.2f %%) are in this picture; the others have no stack%s.",
			shown, all, pp_percent(shown, all),
			options->include_symbols || options->exclude_symbols
				? " or were left out by their symbols"
				: "");
	if (w->report->missing.hidden_own)
		fprintf(out, " Hidden: %" PRIu64 " of %s.",
			w->report->missing.hidden_own, OP_SELF_NAME);
}

static void describe_whole_stacks(FILE *out, const struct writer *w,
				  size_t column)
{
	uint64_t all = pp_tree_all(w->tree, 0)[column];
	uint64_t broken = w->tree->broken[column];

	if (broken)
		fprintf(out,
			"%.2f %% of the stacks are whole. The others are below a frame in brackets that says why.",
			pp_percent(all - broken, all));
	else
		fprintf(out, "All stacks are whole.");
}

static void describe_cut_frames(FILE *out, const struct writer *w,
				size_t column)
{
	const struct pp_tree *tree = w->tree;

	if (tree->cut[column])
		fprintf(out,
			"%.2f %% of the samples are in frames with less than %.3g %% of all, which are not shown (%" PRIu32
			" frames).",
			pp_percent(tree->cut[column],
				   pp_tree_all(tree, 0)[column]),
			tree->threshold, tree->nr_cut);
}

/* The whole of what the profiler did, not only of what was chosen. */
static void describe_account(FILE *out, const struct writer *w, size_t old)
{
	const struct op_ledger *account =
		old ? w->report->old.account : w->report->account;

	if (!account)
		return;
	fprintf(out, "%s: ", old ? "Earlier session" : "Session");
	pp_write_account(out, account);
	if (!pp_has_stacks(account))
		return;
	fputs("; stacks: ", out);
	pp_write_stacks(out, account);
	if (!old)
		pp_write_stack_end(out, w->report);
}

static void describe_times(FILE *out, const struct writer *w, size_t column)
{
	(void)column;
	if (!pp_has_times(w->report))
		return;
	pp_write_times(out, w->report);
	if (pp_has_waits(w->report)) {
		fputs(". ", out);
		pp_write_waits(out, w->report);
	}
}

static void describe_folded(FILE *out, const struct writer *w, size_t nr)
{
	pp_write_folded(out, w->report->missing.folded[nr]);
}

static void describe_title(FILE *out, const struct writer *w, size_t column)
{
	(void)column;
	fputs(w->report->old.made ? "Flame graph of a change" : "Flame graph",
	      out);
	if (w->report->summary.nr_apps)
		fputs(": ", out);
	pp_describe_apps(out, w->report);
}

static void describe_profile(FILE *out, const struct writer *w, size_t column)
{
	(void)column;
	pp_describe_profile(out, w->report, w->options);
}

/* ---- the tree ------------------------------------------------------------ */

/* The measure of a column of a comparison, and its grain. */
static void write_column_measure(struct writer *w, size_t class_nr)
{
	const struct pp_old_profile *old = &w->report->old;
	const struct pp_measure *m =
		old->made ? &old->measures[class_nr] : NULL;

	if (!m || m->per_sample <= 0)
		return;
	op_json_double(w->json, m->is_time ? "seconds" : "events",
		       m->per_sample);
	op_json_double(w->json, "grain",
		       fmax(w->report->classes.classes[class_nr].grain,
			    old->classes.classes[class_nr].grain));
}

static void write_tree_columns(struct writer *w)
{
	const struct pp_classes *classes = &w->report->classes;
	struct op_json *json = w->json;
	uint64_t ns;

	op_json_open(json, "columns", '[');
	for (size_t c = 0; c < w->tree->nr_columns; c++) {
		op_json_open(json, NULL, '{');
		op_json_text(json, "name",
			     classes->classes[c % classes->nr].name);
		if (pp_class_is_wait(&classes->classes[c % classes->nr]))
			op_json_bool(json, "waits", true);
		write_column_measure(w, c % classes->nr);
		ns = pp_class_sample_ns(w->report,
					&classes->classes[c % classes->nr]);
		if (pp_counts_are_seconds(w->report) && ns)
			op_json_double(json, "sample_seconds",
				       (double)ns / 1e9);
		op_json_open(json, "notes", '[');
		write_description(w, NULL, describe_samples, c);
		write_description(w, NULL, describe_whole_stacks, c);
		write_description(w, NULL, describe_cut_frames, c);
		op_json_close(json, ']');
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

/* Write the process and the thread that the stacks of a root are of. */
static void write_root_ids(struct op_json *json, const struct pp_frame *frame)
{
	if (!frame->is_apart)
		return;
	op_json_i64(json, NULL, frame->tgid);
	op_json_i64(json, NULL, frame->tid);
}

static void write_tree_frames(struct writer *w)
{
	const struct pp_tree *tree = w->tree;
	struct op_json *json = w->json;

	op_json_open(json, "images", '[');
	for (uint32_t i = 0; i < w->images.nr; i++)
		op_json_text(json, NULL, w->images.names[i]);
	op_json_close(json, ']');
	op_json_open(json, "frames", '[');
	for (uint32_t i = 0; i < tree->nr_frames; i++) {
		op_json_open(json, NULL, '[');
		op_json_text(json, NULL, tree->frames[i].name);
		op_json_i64(json, NULL, w->images.of_frame[i]);
		op_json_u64(json, NULL,
			    tree->frames[i].wait ? PP_NR_FRAME_KINDS
						 : tree->frames[i].kind);
		if (tree->frames[i].wait)
			op_json_text(json, NULL, tree->frames[i].wait);
		write_root_ids(json, &tree->frames[i]);
		op_json_close(json, ']');
	}
	op_json_close(json, ']');
}

/* The bulk of the page: how far back the parent is, frame, own counts. */
static void write_tree_nodes(struct writer *w)
{
	const struct pp_tree *tree = w->tree;
	FILE *out = w->json->out;

	op_json_open(w->json, "nodes", '[');
	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		const struct pp_tree_node *node = &tree->nodes[i];

		fprintf(out, "%s%" PRIu32 ",%" PRIu32, i ? ",\n" : "\n",
			i - node->parent, node->frame);
		for (size_t c = 0; c < tree->nr_columns; c++)
			fprintf(out, ",%" PRIu64, pp_tree_self(tree, i)[c]);
	}
	op_json_close(w->json, ']');
}

static void write_tree_members(struct writer *w)
{
	struct op_json *json = w->json;

	write_description(w, "title", describe_title, 0);
	write_description(w, "about", describe_profile, 0);
	op_json_bool(json, "diff", w->report->old.made);
	write_tree_columns(w);
	op_json_open(json, "notes", '[');
	write_description(w, NULL, describe_times, 0);
	write_description(w, NULL, describe_account, false);
	write_description(w, NULL, describe_account, true);
	for (size_t i = 0; i < w->report->missing.nr_folded; i++)
		write_description(w, NULL, describe_folded, i);
	op_json_close(json, ']');
	write_tree_frames(w);
	write_tree_nodes(w);
}

int pp_json_tree(struct op_json *json, const struct pp_report *report,
		 const struct pp_format_options *options)
{
	struct writer w = { .json = json,
			    .report = report,
			    .tree = report->tree,
			    .options = options };
	int err = pp_frame_images_init(&w.images, w.tree);

	if (!err)
		write_tree_members(&w);
	pp_frame_images_release(&w.images);
	return err;
}

/* ---- the page ------------------------------------------------------------ */

struct flame_page {
	const struct pp_report *report;
	const struct pp_format_options *options;
	int err;
};

static void write_flame_data(struct op_json *json, void *arg)
{
	struct flame_page *page = arg;

	op_json_open(json, NULL, '{');
	page->err = pp_json_tree(json, page->report, page->options)
			    ?: pp_json_whole_names(json, "whole_names",
						   &page->report, 1);
	op_json_close(json, '}');
}

int pp_format_flamegraph(FILE *out, const struct pp_report *report,
			 const struct pp_format_options *options)
{
	struct flame_page page = { report, options, 0 };
	int err = pp_page_write(out, flamegraph_page, write_flame_data, &page);

	return err ?: page.err;
}
