// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nodes of call trees as places whose symbols are to be found. A node gets the
 * number of all the functions there; populate_totals.c and gather_calls.c go on
 * with these.
 */

#include <errno.h>

#include "libpp/report/populate_symbols.h"
#include "libpp/tree/tree_input.h"

static size_t nr_tree_uses(const struct pp_side *side)
{
	size_t nr = 0;

	for (size_t i = 0; i < side->trees->nr; i++)
		nr += ctree_nr_images(side->trees->list[i].tree);
	return nr;
}

static uint64_t key_of_node(const struct pp_use *use, size_t i)
{
	struct ctree_node node;

	pp_tree_input_node(use->tree, use->tree_image->nodes[i] + 1, &node);
	return node.offset;
}

static void put_nodes(struct pp_point *points, const struct pp_use *use)
{
	const struct pp_tree_image *image = use->tree_image;

	for (uint32_t i = 0; i < image->nr_nodes; i++) {
		uint32_t at = image->nodes[i];
		struct ctree_node node;

		pp_tree_input_node(use->tree, at + 1, &node);
		points[i] = (struct pp_point){
			.key = node.offset,
			.is_function = node.count ||
				       !(use->tree->needs[at] & PP_NEEDS_PLACE),
			.is_node = true,
			.class_nr = (unsigned int)use->tree->class_nr,
			.symbol_nr = &use->tree->frames[at],
		};
	}
}

/* A call tree uses the images of frames whose symbols are needed. */
static int add_tree_uses(struct pp_population *p, struct pp_side *side,
			 struct pp_use *uses, size_t *nr)
{
	(void)p;
	for (size_t t = 0; t < side->trees->nr; t++) {
		const struct pp_tree_input *tree = &side->trees->list[t];

		for (uint32_t i = 0; i < ctree_nr_images(tree->tree); i++) {
			const struct pp_tree_image *image = &tree->images[i];

			if (!image->nr_nodes)
				continue;
			uses[(*nr)++] = (struct pp_use){
				.image = image->image,
				.app = image->app,
				.file = tree->file,
				.nr_points = image->nr_nodes,
				.key = key_of_node,
				.put = put_nodes,
				.is_of_user = true,
				.tree = tree,
				.tree_image = image,
			};
		}
	}
	return 0;
}

static bool wants_places(const struct pp_request *request)
{
	return request->totals.stack_calls || request->lines.totals;
}

int pp_add_frame(const struct pp_batch *b, const struct pp_point *point,
		 uint32_t *nr)
{
	const struct pp_request *request = b->p->request;
	const struct pp_owner_chain *chain = &point->chain;
	struct op_arena *arena = &b->p->report->arena;
	struct pp_side *side = b->side;
	struct pp_frame_symbols *all =
		op_arena_grow(arena, side->frame_symbols,
			      side->nr_frame_symbols, sizeof(*all));
	uint32_t *symbols = op_arena_alloc(arena, chain->nr, sizeof(*symbols));

	if (!all || !symbols)
		return -ENOMEM;
	for (uint32_t i = 0; i < chain->nr; i++)
		symbols[i] = pp_entry_in_chain(b, chain, i);
	side->frame_symbols = all;
	*nr = side->nr_frame_symbols;
	all += side->nr_frame_symbols++;
	*all = (struct pp_frame_symbols){
		.symbols = symbols,
		.nr = chain->nr,
		.is_function = point->is_function,
	};
	if (wants_places(request) || request->calls.addresses)
		all->vma =
			pp_image_symbols_vma(b->symbols, b->image, point->key);
	if (wants_places(request))
		all->places = pp_places_of_chain(b, point);
	return !wants_places(request) || all->places ? 0 : -ENOMEM;
}

/* Nodes at one place share what they are in. */
static int set_frame_symbols(const struct pp_batch *b,
			     const struct pp_point *point,
			     const struct pp_point *before)
{
	const struct pp_request *request = b->p->request;
	bool with_vma = wants_places(request) || request->calls.addresses;

	if (!point->is_node)
		return 0;
	if (before && before->is_node &&
	    before->chain.first == point->chain.first &&
	    (!with_vma || before->key == point->key)) {
		*point->symbol_nr = *before->symbol_nr;
		return 0;
	}
	return pp_add_frame(b, point, point->symbol_nr);
}

static int renumber_frame_symbols(struct pp_side *side, const uint32_t *into,
				  size_t nr)
{
	(void)nr;
	for (uint32_t i = 0; i < side->nr_frame_symbols; i++)
		for (uint32_t j = 0; j < side->frame_symbols[i].nr; j++)
			pp_renumber(&side->frame_symbols[i].symbols[j], into);
	return 0;
}

const struct pp_symbol_user pp_tree_user = {
	.nr_uses = nr_tree_uses,
	.add_uses = add_tree_uses,
	.take_point = set_frame_symbols,
	.renumber = renumber_frame_symbols,
};
