// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call tree as text: a line for each frame, indented below its caller, the
 * largest first. Frames whose samples are all in one frame that they called
 * make a chain: its further frames stand below the first one without numbers
 * and without further indentation, because a stack of fifty frames would
 * otherwise run out of the screen before it says anything. An image is named
 * where it is another than that of the frame above.
 *
 * Stacks may be thousands of frames deep, so the walk keeps its own stack.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/format/text/text.h"
#include "libpp/select/sample_list.h"

enum { WIDTH_COUNT = 9, WIDTH_SHARE = 10, WIDTH_BETWEEN = 21, INDENT = 2 };

struct tree_text {
	struct pp_text *t;
	const struct pp_tree *tree;
	bool callers; /* each line is below what it called */
	uint32_t *order; /* nodes but the root, by parent and samples */
	uint32_t *first; /* for each node: where its children start, plus 1;
			    0: none */
	uint32_t nr; /* in @order */
};

/* ---- order --------------------------------------------------------------- */

static int by_parent_and_count(const void *a, const void *b, void *arg)
{
	const struct pp_tree *tree = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return op_compare(tree->nodes[x].parent, tree->nodes[y].parent) ?:
	       op_compare(pp_tree_all(tree, y)[0], pp_tree_all(tree, x)[0]) ?:
	       op_compare(x, y);
}

/* Nodes that were cut off are counted below the tree, not in it. */
static int sort_children(struct tree_text *tt)
{
	const struct pp_tree *tree = tt->tree;

	tt->order = calloc(tree->nr_nodes, sizeof(*tt->order));
	tt->first = calloc(tree->nr_nodes, sizeof(*tt->first));
	if (!tt->order || !tt->first)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->nr_nodes; i++)
		if (tree->frames[tree->nodes[i].frame].kind != PP_FRAME_CUT)
			tt->order[tt->nr++] = i;
	qsort_r(tt->order, tt->nr, sizeof(*tt->order), by_parent_and_count,
		(void *)tree);
	for (uint32_t i = tt->nr; i > 0; i--)
		tt->first[tree->nodes[tt->order[i - 1]].parent] = i;
	return 0;
}

/* The child at @at of the order, counted from 1, if it is one of @parent; else
 * 0. */
static uint32_t child_at(const struct tree_text *tt, uint32_t at,
			 uint32_t parent)
{
	uint32_t child = at && at <= tt->nr ? tt->order[at - 1] : 0;

	return child && tt->tree->nodes[child].parent == parent ? child : 0;
}

/* The child that has all samples of @node; 0 if none has. */
static uint32_t only_child(const struct tree_text *tt, uint32_t node)
{
	uint32_t child = child_at(tt, tt->first[node], node);
	size_t len = tt->tree->nr_columns * sizeof(uint64_t);

	return child && !memcmp(pp_tree_all(tt->tree, child),
				pp_tree_all(tt->tree, node), len)
		       ? child
		       : 0;
}

/* ---- lines --------------------------------------------------------------- */

static void tree_write_heads(const struct tree_text *tt)
{
	FILE *out = tt->t->out;

	if (tt->t->options->no_header)
		return;
	for (size_t c = 0; c < tt->tree->nr_columns; c++) {
		fprintf(out, "%*s %*s", WIDTH_COUNT,
			pp_text_count_head(tt->t,
					   c % tt->t->report->classes.nr),
			WIDTH_SHARE, tt->callers ? "%" : "total %");
		if (tt->t->report->intervals)
			fprintf(out, " %*s", WIDTH_BETWEEN, "95% interval");
		if (!tt->callers)
			fprintf(out, " %*s", WIDTH_SHARE, "self %");
	}
	fputs("  symbol name\n", out);
}

/* Behind the columns of the later profile are those of the old one. */
static double tree_grain(const struct tree_text *tt, size_t column)
{
	const struct pp_report *report = tt->t->report;
	size_t nr = report->classes.nr;

	return pp_class_grain(
		column < nr ? &report->classes.classes[column]
			    : &report->old.classes.classes[column - nr]);
}

static void tree_write_counts(const struct tree_text *tt, uint32_t node)
{
	const struct pp_tree *tree = tt->tree;
	const uint64_t *root = pp_tree_all(tree, 0);
	char percent[PP_PERCENT_LEN], interval[PP_INTERVAL_LEN];
	char count[OP_DECIMAL_LEN];
	FILE *out = tt->t->out;

	for (size_t c = 0; c < tree->nr_columns; c++) {
		uint64_t all = pp_tree_all(tree, node)[c];
		uint64_t self = pp_tree_self(tree, node)[c];

		fprintf(out, "%*s %*s", WIDTH_COUNT,
			pp_text_count(count, tt->t,
				      c % tt->t->report->classes.nr, all),
			WIDTH_SHARE,
			pp_text_percent(percent, pp_percent(all, root[c])));
		if (tt->t->report->intervals)
			fprintf(out, " %*s", WIDTH_BETWEEN,
				pp_text_interval(interval, all, root[c],
						 tree_grain(tt, c)));
		if (!tt->callers)
			fprintf(out, " %*s", WIDTH_SHARE,
				pp_text_percent(percent,
						pp_percent(self, root[c])));
	}
}

/* Blanks as wide as the counts. */
static void tree_write_no_counts(const struct tree_text *tt)
{
	int width = WIDTH_COUNT + 1 + WIDTH_SHARE;

	width += tt->callers ? 0 : 1 + WIDTH_SHARE;
	width += tt->t->report->intervals ? 1 + WIDTH_BETWEEN : 0;
	fprintf(tt->t->out, "%*s", width * (int)tt->tree->nr_columns, "");
}

static void tree_write_frame(const struct tree_text *tt, uint32_t node,
			     uint32_t level)
{
	const struct pp_tree *tree = tt->tree;
	const struct pp_tree_node *at = &tree->nodes[node];
	const struct pp_frame *frame = &tree->frames[at->frame];
	const char *above = tree->frames[tree->nodes[at->parent].frame].image;
	const char *name = frame->name;

	/* Two programs of one name are two roots. */
	if (frame->kind == PP_FRAME_ROOT && frame->image &&
	    !strcmp(name, pp_base_name(frame->image)))
		name = pp_short_path(&tt->t->shorts, frame->image);
	fprintf(tt->t->out, "%*s%s", 2 + INDENT * (int)level, "",
		pp_text_plain(tt->t, name));
	if (frame->image && *frame->name != '[' &&
	    (above ? strcmp(above, frame->image) != 0
		   : frame->kind != PP_FRAME_ROOT))
		fprintf(tt->t->out, " [%s]", pp_text_name(tt->t, frame->image));
	if (frame->wait)
		fprintf(tt->t->out, " [waits: %s]", frame->wait);
	fputc('\n', tt->t->out);
}

/* The chain that starts at @node. Returns its last node. */
static uint32_t tree_write_chain(const struct tree_text *tt, uint32_t node,
				 uint32_t level)
{
	uint32_t next;

	tree_write_counts(tt, node);
	tree_write_frame(tt, node, level);
	while ((next = only_child(tt, node))) {
		node = next;
		tree_write_no_counts(tt);
		tree_write_frame(tt, node, level);
	}
	return node;
}

static void tree_write_cut(const struct tree_text *tt)
{
	const struct pp_tree *tree = tt->tree;

	if (tree->nr_cut && !tt->t->options->no_header)
		fprintf(tt->t->out,
			"%" PRIu32
			" frames with less than %.3g %% of the samples are not shown; --threshold=0 shows all.\n",
			tree->nr_cut, tree->threshold);
}

/* ---- all of it ----------------------------------------------------------- */

/* A node whose children are being written, and the next of them. */
struct level {
	uint32_t node;
	uint32_t next; /* in the order, from 1 */
};

static int walk_lines(const struct tree_text *tt)
{
	struct level *levels = calloc(tt->tree->nr_nodes, sizeof(*levels));
	uint32_t depth = 1;

	if (!levels)
		return -ENOMEM;
	levels[0].next = tt->first[0];
	while (depth) {
		struct level *top = &levels[depth - 1];
		uint32_t child = child_at(tt, top->next, top->node);

		if (!child) {
			depth--;
			continue;
		}
		top->next++;
		child = tree_write_chain(tt, child, depth - 1);
		levels[depth++] = (struct level){ child, tt->first[child] };
	}
	free(levels);
	return 0;
}

int pp_text_tree(struct pp_text *t)
{
	struct tree_text tt = { .t = t,
				.tree = t->report->tree,
				.callers = t->report->tree->callers };
	int err = sort_children(&tt);

	if (!err) {
		tree_write_heads(&tt);
		err = walk_lines(&tt);
		tree_write_cut(&tt);
	}
	free(tt.order);
	free(tt.first);
	return err;
}
