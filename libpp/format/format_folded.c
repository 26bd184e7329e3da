// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, one on a line: "root;caller;...;leaf COUNT", as the scripts
 * and viewers of flame graphs take them. A comparison has two counts, the old
 * one first.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/format.h"

/* A name as part of a line: what separates becomes something else. */
static void folded_write_name(FILE *out, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == ';')
			c = ':';
		else if (c < 0x20 || c == 0x7f)
			c = '?';
		fputc(c, out);
	}
}

/* The frames from the root's child to @node; @stack has room for all. */
static void folded_write_stack(FILE *out, const struct pp_tree *tree,
			       uint32_t node, uint32_t *stack)
{
	uint32_t depth = 0;

	for (; node; node = tree->nodes[node].parent)
		stack[depth++] = node;
	while (depth--) {
		folded_write_name(
			out,
			tree->frames[tree->nodes[stack[depth]].frame].name);
		fputc(depth ? ';' : ' ', out);
	}
}

static void folded_write_counts(FILE *out, const struct pp_tree *tree,
				uint32_t node)
{
	const uint64_t *self = pp_tree_self(tree, node);

	if (tree->nr_columns == 2)
		fprintf(out, "%" PRIu64 " ", self[1]);
	fprintf(out, "%" PRIu64 "\n", self[0]);
}

static bool has_samples(const struct pp_tree *tree, uint32_t node)
{
	const uint64_t *self = pp_tree_self(tree, node);

	return self[0] || (tree->nr_columns == 2 && self[1]);
}

int pp_format_folded(FILE *out, const struct pp_report *report,
		     const struct pp_format_options *options)
{
	const struct pp_tree *tree = report->tree;
	uint32_t *stack = calloc(tree->nr_nodes, sizeof(*stack));

	(void)options;
	for (uint32_t i = 1; stack && i < tree->nr_nodes; i++) {
		if (!has_samples(tree, i))
			continue;
		folded_write_stack(out, tree, i, stack);
		folded_write_counts(out, tree, i);
	}
	free(stack);
	return stack ? 0 : -ENOMEM;
}
