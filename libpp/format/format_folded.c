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
#include "libpp/select/sample_list.h"

/* The frames from the root's child to @node; @stack has room for all. What
 * separates frames, stacks and lines becomes something else in a name. */
static void folded_write_stack(FILE *out, const struct pp_tree *tree,
			       uint32_t node, uint32_t *stack)
{
	uint32_t depth = 0;

	for (; node; node = tree->nodes[node].parent)
		stack[depth++] = tree->nodes[node].frame;
	while (depth--) {
		const char *name = tree->frames[stack[depth]].name;

		for (; *name; name++)
			fputc(*name == ';' ? ':'
			      : (unsigned char)*name < 0x20 || *name == 0x7f
				      ? '?'
				      : *name,
			      out);
		fputc(depth ? ';' : ' ', out);
	}
}

int pp_format_folded(FILE *out, const struct pp_report *report,
		     const struct pp_format_options *options)
{
	const struct pp_tree *tree = report->tree;
	uint32_t *stack = calloc(tree->nr_nodes, sizeof(*stack));

	(void)options;
	for (uint32_t i = 1; stack && i < tree->nr_nodes; i++) {
		const uint64_t *self = pp_tree_self(tree, i);

		if (!pp_has_counts(self, tree->nr_columns))
			continue;
		folded_write_stack(out, tree, i, stack);
		if (tree->nr_columns == 2)
			fprintf(out, "%" PRIu64 " ", self[1]);
		fprintf(out, "%" PRIu64 "\n", self[0]);
	}
	free(stack);
	return stack ? 0 : -ENOMEM;
}
