// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph: one page of HTML that needs nothing else. The page is
 * libpp/format/flamegraph.html, compiled in as a string; this file puts the
 * call tree into it as JSON, with all sentences that the page shows, and the
 * script of the page draws.
 *
 * The JSON stands in a script element, which any "</script" would end; in JSON
 * a '<' occurs in strings alone, so each is written as an escape. Nodes are
 * one flat array of numbers, because there may be hundreds of thousands of
 * them: how far back the parent is, the frame, and the node's own counts.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/flamegraph.html.h" /* made from flamegraph.html */
#include "libpp/format/format.h"
#include "libop/op_json.h"
#include "libpp/sample_list.h"

#define DATA "@DATA@"
#define MAX_TITLE_APPS 2

struct writer {
	struct op_json json;
	const struct pp_report *report;
	const struct pp_tree *tree;
	const struct pp_format_options *options;
	const char **images; /* names, each once */
	uint32_t nr_images;
	int32_t *image_of; /* for each frame: index in images; -1 for none */
};

/* ---- images -------------------------------------------------------------- */

static int compare_frame_images(const void *a, const void *b, void *arg)
{
	const struct pp_frame *frames = arg;
	const char *x = frames[*(const uint32_t *)a].image;
	const char *y = frames[*(const uint32_t *)b].image;

	if (!x || !y)
		return (x != NULL) - (y != NULL);
	return strcmp(x, y);
}

/* Number the images of all frames by name. */
static int find_frame_images(struct writer *w)
{
	const struct pp_tree *tree = w->tree;
	uint32_t *order = calloc(tree->nr_frames, sizeof(*order));

	w->images = calloc(tree->nr_frames, sizeof(const char *));
	w->image_of = calloc(tree->nr_frames, sizeof(*w->image_of));
	if (!order || !w->images || !w->image_of) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < tree->nr_frames; i++)
		order[i] = i;
	qsort_r(order, tree->nr_frames, sizeof(*order), compare_frame_images,
		tree->frames);
	for (uint32_t i = 0; i < tree->nr_frames; i++) {
		const char *image = tree->frames[order[i]].image;

		if (image && (!w->nr_images ||
			      strcmp(w->images[w->nr_images - 1], image) != 0))
			w->images[w->nr_images++] = image;
		w->image_of[order[i]] = image ? (int32_t)w->nr_images - 1 : -1;
	}
	free(order);
	return 0;
}

/* ---- descriptions -------------------------------------------------------- */

/* @text is written to a string by @write and then into the JSON. */
static void write_description(struct writer *w, const char *key,
			      void (*write)(FILE *out, const struct writer *w,
					    size_t column),
			      size_t column)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	write(out, w, column);
	fclose(out);
	if (text && *text)
		op_json_text(&w->json, key, text);
	free(text);
}

/* How many of the samples are in the picture. */
static void describe_samples(FILE *out, const struct writer *w, size_t column)
{
	uint64_t shown = pp_tree_all(w->tree, 0)[column];
	const struct pp_format_options *options = w->options;
	size_t nr = w->report->classes.nr;
	uint64_t all = column < nr ? w->report->totals[column]
				   : w->report->old_totals[column - nr];

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
		old ? w->report->old_account : w->report->account;

	if (!account)
		return;
	fprintf(out, "%s: ", old ? "Earlier session" : "Session");
	pp_write_account(out, account);
	if (!pp_has_stacks(account))
		return;
	fputs("; stacks: ", out);
	pp_write_stacks(out, account);
}

/* "prog, bash and 4 more": applications are sorted by their samples. */
static void describe_title(FILE *out, const struct writer *w, size_t column)
{
	const struct pp_report *report = w->report;
	size_t nr = report->nr_apps > MAX_TITLE_APPS + 1 ? MAX_TITLE_APPS
							 : report->nr_apps;

	(void)column;
	fputs(report->is_diff ? "Flame graph of a change" : "Flame graph", out);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? ", " : ": ",
			pp_base_name(report->apps[i].name));
	if (nr < report->nr_apps)
		fprintf(out, " and %zu more", report->nr_apps - nr);
}

static void describe_profile(FILE *out, const struct writer *w, size_t column)
{
	(void)column;
	fputs(w->report->cpu_title, out);
	if (w->report->timer_hz)
		fprintf(out, ", %" PRIu32 " samples per second and CPU",
			w->report->timer_hz);
	if (w->options->command)
		fprintf(out, " — %s", w->options->command);
}

/* ---- the tree ------------------------------------------------------------ */

static void write_tree_columns(struct writer *w)
{
	const struct pp_classes *classes = &w->report->classes;
	struct op_json *json = &w->json;

	op_json_open(json, "columns", '[');
	for (size_t c = 0; c < w->tree->nr_columns; c++) {
		op_json_open(json, NULL, '{');
		op_json_text(json, "name",
			     classes->classes[c % classes->nr].name);
		op_json_open(json, "notes", '[');
		write_description(w, NULL, describe_samples, c);
		write_description(w, NULL, describe_whole_stacks, c);
		write_description(w, NULL, describe_cut_frames, c);
		op_json_close(json, ']');
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

static void write_tree_frames(struct writer *w)
{
	const struct pp_tree *tree = w->tree;
	struct op_json *json = &w->json;

	op_json_open(json, "images", '[');
	for (uint32_t i = 0; i < w->nr_images; i++)
		op_json_text(json, NULL, w->images[i]);
	op_json_close(json, ']');
	op_json_open(json, "frames", '[');
	for (uint32_t i = 0; i < tree->nr_frames; i++) {
		op_json_open(json, NULL, '[');
		op_json_text(json, NULL, tree->frames[i].name);
		op_json_i64(json, NULL, w->image_of[i]);
		op_json_u64(json, NULL, tree->frames[i].kind);
		op_json_close(json, ']');
	}
	op_json_close(json, ']');
}

/* The bulk of the page: how far back the parent is, frame, own counts. */
static void write_tree_nodes(struct writer *w)
{
	const struct pp_tree *tree = w->tree;
	FILE *out = w->json.out;

	op_json_open(&w->json, "nodes", '[');
	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		const struct pp_tree_node *node = &tree->nodes[i];

		fprintf(out, "%s%" PRIu32 ",%" PRIu32, i ? ",\n" : "\n",
			i - node->parent, node->frame);
		for (size_t c = 0; c < tree->nr_columns; c++)
			fprintf(out, ",%" PRIu64, pp_tree_self(tree, i)[c]);
	}
	op_json_close(&w->json, ']');
}

static void write_tree_data(struct writer *w)
{
	struct op_json *json = &w->json;

	op_json_open(json, NULL, '{');
	write_description(w, "title", describe_title, 0);
	write_description(w, "about", describe_profile, 0);
	op_json_bool(json, "diff", w->report->is_diff);
	write_tree_columns(w);
	op_json_open(json, "notes", '[');
	write_description(w, NULL, describe_account, false);
	write_description(w, NULL, describe_account, true);
	op_json_close(json, ']');
	write_tree_frames(w);
	write_tree_nodes(w);
	op_json_close(json, '}');
}

/* ---- the page ------------------------------------------------------------ */

/* In HTML a '<' could end the data; JSON has it in strings alone. */
static void write_script_text(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(text[i], out);
	}
}

/* The data as text; free() it. NULL when memory is short. */
static char *make_tree_data(struct writer *w, size_t *len)
{
	char *text = NULL;
	bool failed;

	w->json.out = open_memstream(&text, len);
	if (!w->json.out)
		return NULL;
	write_tree_data(w);
	failed = ferror(w->json.out);
	if (!fclose(w->json.out) && !failed)
		return text;
	free(text);
	return NULL;
}

int pp_format_flamegraph(FILE *out, const struct pp_report *report,
			 const struct pp_format_options *options)
{
	struct writer w = { .report = report,
			    .tree = report->tree,
			    .options = options };
	const char *at = strstr(flamegraph_page, DATA);
	char *data = NULL;
	size_t len = 0;

	if (!find_frame_images(&w))
		data = make_tree_data(&w, &len);
	if (data) {
		fwrite(flamegraph_page, 1, (size_t)(at - flamegraph_page), out);
		write_script_text(out, data, len);
		fputs(at + strlen(DATA), out);
	}
	free(data);
	free(w.images);
	free(w.image_of);
	return data ? 0 : -ENOMEM;
}
