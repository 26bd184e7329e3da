// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for the nodes of call trees: a place (image and offset) becomes a
 * frame (a function in an image). All places of all files are sorted by image,
 * so that each image is opened once, and by offset in it, so that each symbol
 * is named and demangled once. Each place remembers the node it is of, and the
 * frame's number goes there, in whatever order the nodes are. A stack is
 * chosen by its last frame: a node whose symbol is not wanted keeps its place
 * in the tree but adds no samples.
 *
 * Functions that were inlined at a call are frames, too. A sampled frame is
 * known as its function alone, so its samples are split as those of the
 * function in the flat files are, on whatever stacks it was: a share, not a
 * fact, but right in the sum of all stacks.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_search.h"
#include "libpp/images/image_symbols.h"
#include "libpp/images/owners.h"
#include "libpp/images/symbol_match.h"
#include "libpp/tree/tree_input.h"

/* A place that some nodes of a tree are at. */
struct place {
	const struct pp_image *image;
	uint64_t offset;
	struct pp_tree_input *input;
	struct pp_tree_place *to; /* the same for who asks by node */
	uint32_t in_tree; /* number of the image there */
	uint32_t order; /* of the image */
	bool is_gap;
	bool is_leaf; /* some samples are in it, so it is a function */
	uint64_t count; /* of these, in all nodes */
	const struct pp_sample_file *flat; /* see pp_tree_image */
};

/* A flat sample of the image being named. */
struct flat_sample {
	uint64_t key, count;
	const struct pp_sample_file *file;
};

/* The image being named. */
struct naming {
	struct pp_tree_inputs *in;
	struct pp_tree_builder *b;
	struct pp_image_symbols symbols;
	struct pp_owners owners;
	struct named_owner *named; /* for each owner, as far as it is known */
	uint32_t nr_named;
	struct flat_sample *flat; /* by key */
	size_t nr_flat;
	struct pp_flat_part *parts; /* for trees of all samples */
	size_t nr_parts;
};

struct named_owner {
	const char *name, *raw_name; /* NULL for none yet */
	bool is_wanted; /* by its name */
	struct pp_place place;
};

static int compare_node_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return op_compare(x->order, y->order)
		       ?: op_compare(x->offset, y->offset)
			       ?: op_compare(x->is_leaf, y->is_leaf)
				       ?: op_compare((uintptr_t)x->input,
						     (uintptr_t)y->input);
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

/* "[libz.so.1]" is code without a symbol; some names of images have brackets
 * already. */
static const char *raw_name_of(struct op_arena *arena,
			       const struct pp_owner *owner,
			       const struct pp_image *image)
{
	const char *raw = image->recorded.space == OP_SPACE_ANON
				  ? image->recorded.name
				  : image->base;

	if (owner->symbol)
		return op_arena_strdup(arena, owner->symbol->name);
	if (owner->inlined.name)
		return op_arena_strdup(arena, owner->inlined.name);
	return *raw == '[' ? raw : op_arena_printf(arena, "[%s]", raw);
}

/* Where the function is declared. */
static int place_owner(struct naming *n, const struct pp_owner *owner,
		       struct pp_place *place)
{
	struct op_arena *arena = &n->in->p->report->arena;

	if (owner->symbol)
		pp_image_symbols_declared(&n->symbols, owner->symbol->key,
					  arena, place);
	if (owner->symbol || !owner->inlined.file)
		return 0;
	place->file = op_arena_strdup(arena, owner->inlined.file);
	place->line = owner->inlined.line;
	return place->file ? 0 : -ENOMEM;
}

static int name_owner(struct naming *n, uint32_t number,
		      const struct pp_image *image, struct named_owner *out)
{
	const struct pp_owner *owner = &n->owners.list[number];
	struct pp_population *p = n->in->p;
	struct op_arena *arena = &p->report->arena;
	const char *raw;

	while (n->nr_named <= number) {
		if (op_array_reserve(&n->named, n->nr_named, 1))
			return -ENOMEM;
		n->named[n->nr_named++] = (struct named_owner){ 0 };
	}
	*out = n->named[number];
	if (out->name)
		return 0;
	raw = raw_name_of(arena, owner, image);
	if (!raw)
		return -ENOMEM;
	out->name = owner->symbol || owner->inlined.name
			    ? pp_symbol_name(&p->names, arena, raw,
					     p->request->names.demangle)
			    : raw;
	if (!out->name)
		return -ENOMEM;
	out->is_wanted = pp_is_wanted(&p->request->names, raw, out->name);
	out->raw_name = raw;
	if (p->request->tree.origins && place_owner(n, owner, &out->place))
		return -ENOMEM;
	n->named[number] = *out;
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
	    (!strncmp(image->name, "[kernel", 7) ||
	     (image->recorded.space == OP_SPACE_KERN && *image->name == '/')))
		return PP_FRAME_KERNEL;
	return strcmp(image->name, place->input->file->app) ? PP_FRAME_LIBRARY
							    : PP_FRAME_APP;
}

static int frame_of_owner(struct naming *n, const struct place *place,
			  uint32_t owner, uint32_t *out, bool *is_wanted)
{
	const struct pp_owner *is = &n->owners.list[owner];
	struct pp_frame frame = { .kind = kind_of_frame(place) };
	struct named_owner named;
	int err = name_owner(n, owner, place->image, &named);

	if (err)
		return err;
	frame.name = named.name;
	frame.source = named.place.file;
	frame.line = named.place.line;
	if (!place->is_gap)
		frame.binary = place->image;
	if (is->symbol || is->inlined.name)
		frame.raw_name = named.raw_name;
	if (is->symbol) {
		frame.vma = is->symbol->vma;
		frame.size = is->symbol->end - is->symbol->key;
	}
	*is_wanted = named.is_wanted;
	if (!n->in->p->request->tree.by_name)
		frame.image = place->image->name;
	else if (frame.kind != PP_FRAME_GAP)
		frame.kind = PP_FRAME_APP;
	return pp_tree_frame(n->b, &frame, out);
}

/* The frames of the first @nr owners of a chain, the outermost first; *@out is
 * in the arena. */
static int frames_of_chain(struct naming *n, const struct place *place,
			   const struct pp_owner_chain *chain, uint32_t nr,
			   const uint32_t **out, bool *is_wanted)
{
	uint32_t *frames =
		op_arena_alloc(&n->in->p->report->arena, nr, sizeof(*frames));
	int err = frames ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = frame_of_owner(
			n, place, n->owners.chained[chain->first + nr - 1 - i],
			&frames[i], is_wanted);
	*out = frames;
	return err;
}

/* ---- inlined functions --------------------------------------------------- */

static int compare_flat_samples(const void *a, const void *b)
{
	const struct flat_sample *x = a, *y = b;

	return op_compare(x->key, y->key);
}

/* The flat samples of @image, which may have several applications. */
static int gather_flat_samples(struct naming *n, const struct pp_image *image)
{
	const struct pp_sample_list *list = &n->in->side->list;
	const struct pp_sample_file *file;
	size_t at = 0;

	while ((file = pp_tree_next_flat_file(list, image, &at))) {
		if (op_array_reserve(&n->flat, n->nr_flat, file->nr_samples))
			return -ENOMEM;
		if (n->in->is_named)
			n->in->is_named[file - list->files] = true;
		for (size_t j = 0; j < file->nr_samples; j++)
			n->flat[n->nr_flat++] = (struct flat_sample){
				.key = file->samples[j].key,
				.count = file->samples[j].count,
				.file = file,
			};
	}
	if (n->nr_flat)
		qsort(n->flat, n->nr_flat, sizeof(*n->flat),
		      compare_flat_samples);
	return 0;
}

/* Whether @sample is one of @app's in the column of @place's tree. */
static bool is_flat_sample_of(const struct flat_sample *sample,
			      const struct place *place, const char *app)
{
	return sample->file->class_nr == place->input->class_nr &&
	       !strcmp(sample->file->app, app);
}

/* The application that has the flat samples from @first to before @end which
 * the tree of @place is about: its own, or the image where applications are
 * not kept apart. */
static const char *app_of_flat_samples(const struct naming *n,
				       const struct place *place, size_t first,
				       size_t end)
{
	const char *app = place->input->file->app;

	for (size_t i = first; i < end; i++)
		if (is_flat_sample_of(&n->flat[i], place, app))
			return app;
	return place->image->path;
}

/* Add @count samples with @chain to the splits of a function. Equal chains are
 * mostly one after the other. */
static int add_to_split(struct naming *n, const struct place *place,
			const struct pp_owner_chain *chain, uint64_t count,
			struct pp_tree_place *to)
{
	struct op_arena *arena = &n->in->p->report->arena;
	struct pp_tree_split split = { .nr = chain->nr - 1 }, *all;
	int err = frames_of_chain(n, place, chain, split.nr, &split.frames,
				  &split.is_wanted);

	if (err)
		return err;
	if (!split.nr)
		split.is_wanted = to->is_wanted;
	for (uint32_t i = 0; i < to->nr_splits; i++) {
		struct pp_tree_split *old = &to->splits[i];

		if (old->nr == split.nr &&
		    !memcmp(old->frames, split.frames,
			    split.nr * sizeof(*split.frames))) {
			old->share += (double)count;
			return 0;
		}
	}
	split.share = (double)count;
	all = op_arena_grow(arena, to->splits, to->nr_splits, sizeof(*all));
	if (!all)
		return -ENOMEM;
	to->splits = all;
	all[to->nr_splits++] = split;
	return 0;
}

/* Split the samples of the function at @place by what was inlined there. */
static int split_place(struct naming *n, const struct place *place,
		       const struct pp_symbol *symbol, struct pp_tree_place *to)
{
	size_t first = OP_BISECT(i, n->nr_flat, n->flat[i].key < symbol->key);
	size_t end = OP_BISECT(i, n->nr_flat, n->flat[i].key < symbol->end);
	const char *app = app_of_flat_samples(n, place, first, end);
	double all = 0;
	int err = 0;

	for (size_t i = first; i < end && !err; i++) {
		const struct flat_sample *sample = &n->flat[i];
		struct pp_owner_chain chain;

		if (!is_flat_sample_of(sample, place, app))
			continue;
		err = pp_owners_find(&n->owners, sample->key, symbol, true,
				     &chain);
		if (!err)
			err = add_to_split(n, place, &chain, sample->count, to);
		all += (double)sample->count;
	}
	if (to->nr_splits == 1 && !to->splits[0].nr)
		to->nr_splits = 0;
	for (uint32_t s = 0; s < to->nr_splits; s++)
		to->splits[s].share /= all;
	return err;
}

/* ---- samples without a stack --------------------------------------------- */

static int add_flat_part(struct naming *n, const struct pp_sample_file *file,
			 uint64_t key, uint64_t count, bool has_stack)
{
	const struct pp_symbol *symbol = symbol_with_key(&n->symbols, key);

	if (op_array_reserve(&n->parts, n->nr_parts, 1))
		return -ENOMEM;
	n->parts[n->nr_parts++] = (struct pp_flat_part){
		.file = file,
		.function = symbol ? symbol->key : UINT64_MAX,
		.key = key,
		.count = count,
		.has_stack = has_stack,
	};
	return 0;
}

/* Name the samples of @part; those before may be in the same functions. */
static int name_stackless(struct naming *n, const struct pp_image *image,
			  const struct pp_flat_part *part)
{
	struct pp_tree_inputs *in = n->in;
	struct pp_tree_input input = { .file = part->file };
	const struct place place = { .image = image, .input = &input };
	struct pp_stackless new = { .file = part->file, .count = part->count };
	struct pp_stackless *last =
		in->nr_stackless ? &in->stackless[in->nr_stackless - 1] : NULL;
	struct pp_owner_chain chain;
	bool is_wanted = true;
	int err = pp_owners_find(&n->owners, part->key,
				 symbol_with_key(&n->symbols, part->key), true,
				 &chain);

	new.nr = chain.nr;
	err = err
		      ?: frames_of_chain(n, &place, &chain, chain.nr,
					 &new.frames, &is_wanted);
	if (err || !is_wanted)
		return err;
	if (last && last->file == new.file && last->nr == new.nr &&
	    !memcmp(last->frames, new.frames, new.nr * sizeof(*new.frames))) {
		last->count = pp_add_counts(last->count, new.count);
		return 0;
	}
	if (op_array_reserve(&in->stackless, in->nr_stackless, 1))
		return -ENOMEM;
	in->stackless[in->nr_stackless++] = new;
	return 0;
}

/* @places are those of trees in the image. */
static int find_stackless(struct naming *n, const struct pp_image *image,
			  const struct place *places, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < n->nr_flat && !err; i++)
		err = add_flat_part(n, n->flat[i].file, n->flat[i].key,
				    n->flat[i].count, false);
	for (size_t i = 0; i < nr && !err; i++)
		if (places[i].is_leaf && places[i].flat)
			err = add_flat_part(n, places[i].flat, places[i].offset,
					    places[i].count, true);
	err = err ?: pp_flat_parts_settle(n->parts, n->nr_parts);
	for (size_t i = 0; i < n->nr_parts && !err; i++)
		if (n->parts[i].count)
			err = name_stackless(n, image, &n->parts[i]);
	return err;
}

/* ---- places -------------------------------------------------------------- */

static int name_place(struct naming *n, const struct place *place)
{
	const struct pp_symbol *symbol =
		symbol_with_key(&n->symbols, place->offset);
	/* Sessions of earlier versions have callers as functions. */
	bool is_function =
		place->is_leaf || (symbol && symbol->key == place->offset);
	struct pp_owner_chain chain;
	struct pp_tree_place *to = place->to;
	int err = pp_owners_find(&n->owners, place->offset, symbol,
				 !is_function, &chain);

	if (err)
		return err;
	to->nr = chain.nr;
	err = frames_of_chain(n, place, &chain, chain.nr, &to->frames,
			      &to->is_wanted);
	return err || !place->is_leaf || !symbol
		       ? err
		       : split_place(n, place, symbol, to);
}

/* All @nr places are in @image; those that are equal share their frames. */
static int name_places_in_image(struct pp_tree_inputs *in,
				struct pp_tree_builder *b,
				const struct pp_image *image,
				const struct place *places, size_t nr)
{
	bool all = in->p->request->tree.all;
	struct naming n = { .in = in, .b = b };
	int err = pp_image_symbols_open(&n.symbols, image, in->side->session,
					&in->side->locator,
					in->side->wants & ~PP_WANT_LINES,
					&in->p->report->messages);

	n.owners.symbols = &n.symbols;
	n.owners.has_inlines = in->p->request->names.inlines;
	if (!err && (n.owners.has_inlines || all))
		err = gather_flat_samples(&n, image);
	for (size_t i = 0; i < nr && !err; i++) {
		if (!i || compare_node_places(&places[i - 1], &places[i]))
			err = name_place(&n, &places[i]);
		else
			*places[i].to = *places[i - 1].to;
	}
	if (!err && all)
		err = find_stackless(&n, image, places, nr);
	pp_owners_release(&n.owners);
	free(n.named);
	free(n.flat);
	free(n.parts);
	pp_image_symbols_release(&n.symbols);
	return err;
}

/* The nodes of one tree that are at one place share it. */
struct gathering {
	struct pp_tree_inputs *in;
	struct place *places;
	size_t nr;
	size_t first; /* of this tree ... */
	struct op_hash index; /* ... that one being 1 */
};

static int add_place(struct gathering *g, struct pp_tree_input *input,
		     const struct ctree_node *node, struct place **out)
{
	const struct pp_tree_image *image = &input->images[node->image - 1];
	int err = op_hash_reserve(&g->index, g->nr - g->first + 1);
	uint64_t hash = op_hash_mix(op_hash_mix(g->index.seed, node->offset),
				    (uint64_t)node->image << 1 | !!node->count);
	uint32_t number;

	if (err)
		return err;
	op_hash_each(&g->index, hash, number) {
		struct place *place = &g->places[g->first + number - 1];

		*out = place;
		if (place->offset == node->offset &&
		    place->in_tree == node->image &&
		    place->is_leaf == !!node->count)
			return 0;
	}
	err = op_array_reserve(&g->places, g->nr, 1);
	if (err)
		return err;
	*out = &g->places[g->nr++];
	**out = (struct place){
		.image = image->image,
		.offset = node->offset,
		.input = input,
		.to = op_arena_alloc(&g->in->p->report->arena, 1,
				     sizeof(*(*out)->to)),
		.in_tree = node->image,
		.order = image->order,
		.is_gap = image->gap != OP_STACKS_WHOLE,
		.is_leaf = node->count,
		.flat = image->flat,
	};
	op_hash_add(&g->index, hash, (uint32_t)(g->nr - g->first));
	return (*out)->to ? 0 : -ENOMEM;
}

static int gather_places_of_tree(struct gathering *g,
				 struct pp_tree_input *input)
{
	uint32_t nr = ctree_nr_nodes(input->tree);
	int err = 0;

	g->first = g->nr;
	for (uint32_t i = 0; i < nr && !err; i++) {
		struct ctree_node node;
		struct place *place;

		pp_tree_input_node(input, i + 1, &node);
		err = add_place(g, input, &node, &place);
		if (err)
			break;
		place->count = pp_add_counts(place->count, node.count);
		input->places[i] = place->to;
		input->is_chosen[i] = input->images[node.image - 1].is_chosen;
	}
	op_hash_release(&g->index);
	return err;
}

static int gather_places(struct gathering *g)
{
	int err = 0;

	for (size_t i = 0; i < g->in->nr && !err; i++)
		err = gather_places_of_tree(g, &g->in->list[i]);
	return err;
}

/* Name what is in images that no tree has. */
static int name_other_images(struct pp_tree_inputs *in,
			     struct pp_tree_builder *b, size_t *nr_images)
{
	const struct pp_sample_list *list = &in->side->list;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++) {
		if (in->is_named[i] || pp_is_call_graph(&list->files[i]))
			continue;
		err = name_places_in_image(in, b, list->files[i].image, NULL,
					   0);
		++*nr_images;
	}
	return err;
}

int pp_tree_inputs_name(struct pp_tree_inputs *in, struct pp_tree_builder *b)
{
	struct gathering g = { .in = in };
	size_t nr_images = 0, nr_files = 0;
	int err;

	if (in->p->request->tree.all) {
		in->is_named = op_arena_alloc(&in->p->report->arena,
					      in->side->list.nr, sizeof(bool));
		if (!in->is_named)
			return -ENOMEM;
		pp_tree_inputs_find_flat(in);
	}
	err = gather_places(&g);
	if (!err && g.nr)
		qsort(g.places, g.nr, sizeof(*g.places), compare_node_places);
	for (size_t i = 0, end; !err && i < g.nr; i = end) {
		const struct pp_image *image = g.places[i].image;

		for (end = i; end < g.nr && g.places[end].image == image;)
			end++;
		err = name_places_in_image(in, b, image, g.places + i, end - i);
		nr_images++;
	}
	free(g.places);
	if (!err && in->is_named)
		err = name_other_images(in, b, &nr_images);
	for (size_t i = 0; i < in->nr; i++)
		nr_files += !i || in->list[i].file != in->list[i - 1].file;
	if (!err)
		pp_message(&in->p->report->messages, PP_REMARK_STATS,
			   "call trees: %zu; images, each opened once: %zu",
			   nr_files, nr_images);
	return err;
}
