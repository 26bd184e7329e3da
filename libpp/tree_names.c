// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for the nodes of call trees: a place (image and offset) becomes a
 * frame (a function in an image). All places of all files are sorted by image,
 * so that each image is opened once, and by offset in it, so that each symbol
 * is named and demangled once. Each place remembers the node it is of, and the
 * frame's number goes there, in whatever order the nodes are. A stack is
 * chosen by its last frame: a node whose symbol is not wanted keeps its place
 * in the tree but adds no samples.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_search.h"
#include "libpp/image_symbols.h"
#include "libpp/tree_input.h"

/* A place that some node is at. */
struct place {
	const struct pp_image *image;
	uint64_t offset;
	struct pp_tree_input *input;
	uint32_t node; /* from 0 */
	uint32_t order; /* of the image */
	bool is_gap;
};

/* The image being named. */
struct naming {
	struct pp_tree_inputs *in;
	struct pp_tree_builder *b;
	struct pp_image_symbols symbols;
	const struct pp_symbol *symbol; /* that has @name; NULL for none */
	const char *name; /* NULL before the first */
	bool is_wanted; /* by its name */
};

static int compare_node_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return op_compare(x->order, y->order)
		       ?: op_compare(x->offset, y->offset);
}

/* ---- names --------------------------------------------------------------- */

static const struct pp_symbol *
symbol_with_key(const struct pp_image_symbols *symbols, uint64_t key)
{
	size_t at = OP_BISECT(i, symbols->nr, symbols->table[i].end <= key);

	return at < symbols->nr && symbols->table[at].key <= key
		       ? &symbols->table[at]
		       : NULL;
}

/* Let @n->name be that of @symbol, or "[libz.so.1]" for code without one; some
 * names of images have brackets already. */
static int set_symbol_name(struct naming *n, const struct pp_symbol *symbol,
			   const struct pp_image *image)
{
	struct pp_population *p = n->in->p;
	struct op_arena *arena = &p->report->arena;
	const char *raw = image->recorded.space == OP_SPACE_ANON
				  ? image->recorded.name
				  : image->base;

	if (n->name && n->symbol == symbol)
		return 0;
	if (symbol)
		raw = op_arena_strdup(arena, symbol->name);
	else if (*raw != '[')
		raw = op_arena_printf(arena, "[%s]", raw);
	if (!raw)
		return -ENOMEM;
	n->symbol = symbol;
	n->name = symbol ? pp_demangle(arena, raw, p->request->demangle) : raw;
	n->is_wanted = pp_is_wanted(p->request, raw, n->name);
	return 0;
}

/* ---- frames -------------------------------------------------------------- */

static enum pp_frame_kind kind_of_frame(const struct place *place)
{
	const struct pp_image *image = place->image;

	if (place->is_gap)
		return PP_FRAME_GAP;
	if (image->kind == OP_IMAGE_KERNEL || image->kind == OP_IMAGE_MODULE)
		return PP_FRAME_KERNEL;
	if (image->kind == OP_IMAGE_ANON)
		return PP_FRAME_ANON;
	if (image->kind == OP_IMAGE_PSEUDO &&
	    !strncmp(image->name, "[kernel", 7))
		return PP_FRAME_KERNEL;
	return strcmp(image->name, place->input->file->app) ? PP_FRAME_LIBRARY
							    : PP_FRAME_APP;
}

static int name_place(struct naming *n, const struct place *place)
{
	struct pp_tree_input *input = place->input;
	struct pp_frame frame = { .kind = kind_of_frame(place) };
	int err = set_symbol_name(
		n, symbol_with_key(&n->symbols, place->offset), place->image);

	if (err)
		return err;
	frame.name = n->name;
	if (!n->in->p->request->tree_by_name)
		frame.image = place->image->name;
	else if (frame.kind != PP_FRAME_GAP)
		frame.kind = PP_FRAME_APP;
	if (!n->is_wanted)
		input->is_chosen[place->node] = false;
	return pp_tree_frame(n->b, &frame, &input->frames[place->node]);
}

/* All @nr places are in one image. */
static int name_places_in_image(struct pp_tree_inputs *in,
				struct pp_tree_builder *b,
				const struct place *places, size_t nr)
{
	struct naming n = { .in = in, .b = b };
	int err = pp_image_symbols_open(&n.symbols, places->image,
					in->side->session, &in->side->locator,
					in->side->wants & ~PP_WANT_LINES,
					&in->p->report->messages);

	for (size_t i = 0; i < nr && !err; i++)
		err = name_place(&n, &places[i]);
	pp_image_symbols_release(&n.symbols);
	return err;
}

static struct place *gather_places(const struct pp_tree_inputs *in, size_t *nr)
{
	struct place *places;
	size_t room = 0;

	*nr = 0;
	for (size_t i = 0; i < in->nr; i++)
		room += ctree_nr_nodes(in->list[i].tree);
	places = calloc(room + 1, sizeof(*places));
	for (size_t i = 0; places && i < in->nr; i++) {
		struct pp_tree_input *input = &in->list[i];

		for (uint32_t j = 0; j < ctree_nr_nodes(input->tree); j++) {
			const struct pp_tree_image *image;
			struct ctree_node node;

			ctree_node(input->tree, j + 1, &node);
			image = &input->images[node.image - 1];
			input->is_chosen[j] = image->is_chosen;
			places[(*nr)++] = (struct place){
				.image = image->image,
				.offset = node.offset,
				.input = input,
				.node = j,
				.order = image->order,
				.is_gap = image->is_gap,
			};
		}
	}
	return places;
}

int pp_tree_inputs_name(struct pp_tree_inputs *in, struct pp_tree_builder *b)
{
	size_t nr, nr_images = 0, nr_files = 0;
	struct place *places = gather_places(in, &nr);
	int err = places ? 0 : -ENOMEM;

	if (!err)
		qsort(places, nr, sizeof(*places), compare_node_places);
	for (size_t i = 0, end; !err && i < nr; i = end) {
		for (end = i; end < nr && places[end].image == places[i].image;)
			end++;
		err = name_places_in_image(in, b, places + i, end - i);
		nr_images++;
	}
	free(places);
	for (size_t i = 0; i < in->nr; i++)
		nr_files += !i || in->list[i].file != in->list[i - 1].file;
	if (!err)
		pp_message(&in->p->report->messages, PP_REMARK_STATS,
			   "%zu call trees, %zu images, each opened once",
			   nr_files, nr_images);
	return err;
}
