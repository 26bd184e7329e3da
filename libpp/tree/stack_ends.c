// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code that most stacks end in for want of unwind data. A call-tree file
 * has such a stack below a root of its own (op_tree_gap_name()), so the images
 * are those of the nodes right below that root, with all samples that are below
 * these nodes.
 */

#include <errno.h>
#include <stdlib.h>

#include "libpp/tree/tree_input.h"

static bool is_end_of_data(const struct pp_tree_input *input,
			   const struct ctree_node *node)
{
	return node->parent == CTREE_ROOT &&
	       input->images[node->image - 1].gap == OP_STACKS_NO_UNWIND;
}

/* Add to @samples, by pp_tree_image.order, those of @input. */
static int count_stack_ends(const struct pp_tree_input *input,
			    uint64_t *samples)
{
	uint32_t nr = ctree_nr_nodes(input->tree);
	/* Samples of each node and of those below it, which have higher
	 * numbers. */
	uint64_t *below = calloc(nr + 1, sizeof(*below));
	struct ctree_node node, parent;

	if (!below)
		return -ENOMEM;
	for (uint32_t i = nr; i > 0; i--) {
		ctree_node(input->tree, i, &node);
		below[i] += node.count;
		if (!node.parent)
			continue;
		below[node.parent] += below[i];
		ctree_node(input->tree, node.parent, &parent);
		if (is_end_of_data(input, &parent))
			samples[input->images[node.image - 1].order] +=
				below[i];
	}
	free(below);
	return 0;
}

/* The image of @input with most @samples is the report's, if it has more than
 * what the report has already. */
static void keep_stack_end(struct pp_report *report,
			   const struct pp_tree_input *input,
			   const uint64_t *samples)
{
	for (uint32_t i = 0; i < ctree_nr_images(input->tree); i++) {
		const struct pp_tree_image *image = &input->images[i];

		if (samples[image->order] <= report->missing.stack_end_samples)
			continue;
		report->missing.stack_end_samples = samples[image->order];
		report->missing.stack_end = image->image->name;
	}
}

int pp_tree_inputs_find_ends(const struct pp_tree_inputs *in)
{
	uint64_t *samples;
	uint32_t nr = 1;
	int err = 0;

	if (in->side != &in->p->side)
		return 0;
	for (size_t i = 0; i < in->nr; i++)
		for (uint32_t j = 0; j < ctree_nr_images(in->list[i].tree); j++)
			if (in->list[i].images[j].order >= nr)
				nr = in->list[i].images[j].order + 1;
	samples = calloc(nr, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr && !err; i++)
		err = count_stack_ends(&in->list[i], samples);
	for (size_t i = 0; i < in->nr && !err; i++)
		keep_stack_end(in->p->report, &in->list[i], samples);
	free(samples);
	return err;
}
