// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call trees of a side that has symbols, for their totals and their calls:
 * whose samples the frames are, as the flat files have it, and of which frames
 * symbols are needed.
 *
 * A specification chooses files, so it chooses of a tree what files would have
 * of it: calls by the image of the caller, under the application that samples
 * in it are kept under.
 */

#include <errno.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/tree/tree_input.h"

/* ---- flat files ---------------------------------------------------------- */

/*
 * The flat file with the samples that @app has in @image: one of its own, or
 * of the image as an application where the two are not kept apart. NULL if
 * there is none.
 */
static const struct pp_sample_file *
find_flat_file(const struct pp_sample_list *list, const struct pp_image *image,
	       const char *app)
{
	const struct pp_sample_file *file, *of_image = NULL;
	size_t at = 0;

	while ((file = pp_tree_next_flat_file(list, image, &at))) {
		if (!strcmp(file->app, app))
			return file;
		if (!strcmp(file->app, image->path))
			of_image = file;
	}
	return of_image;
}

/* ---- applications -------------------------------------------------------- */

/* Which samples a session keeps apart by application: by --separate=library
 * those in files, by --separate=kernel those in the kernel, too. */
struct apart {
	bool files, kernel;
};

static bool is_in_kernel(const struct op_image_name *name)
{
	return name->space == OP_SPACE_KERN;
}

static bool is_app_of_tree(const struct pp_sample_list *list, const char *app)
{
	for (size_t i = 0; i < list->nr_trees; i++)
		if (!strcmp(list->trees[i].app, app))
			return true;
	return false;
}

/* All files tell, asked for or not: by an application that has another image,
 * or by one that is but a part of the stacks. Where none does, as where all
 * samples are in the applications themselves, stacks are the applications'. */
static struct apart what_is_apart(const struct pp_sample_list *list)
{
	bool has_kernel = false, has_dependent = false, has_alone = false;
	struct apart apart = { 0 };

	for (size_t i = 0; i < list->nr_found; i++) {
		const struct pp_sample_file *file = &list->found[i];
		bool is_dependent = strcmp(file->app, file->image_name);

		if (file->name.dep.space == OP_SPACE_ANON)
			continue;
		has_dependent |= is_dependent;
		if (is_in_kernel(&file->name.dep)) {
			has_kernel = true;
			apart.kernel |= is_dependent;
		} else if (!is_dependent && !has_alone && !has_dependent) {
			has_alone = !is_app_of_tree(list, file->app);
		}
	}
	apart.files = has_dependent || !has_alone;
	apart.kernel |= apart.files && !has_kernel;
	return apart;
}

/* The application that samples of @tree in @image are kept under. Memory
 * without a file always belongs to its application. */
static const char *app_of_image(const struct apart *apart,
				const struct pp_tree_input *tree,
				const struct pp_image *image)
{
	bool is_apart = image->recorded.space == OP_SPACE_ANON ? true
			: is_in_kernel(&image->recorded)       ? apart->kernel
							       : apart->files;

	return is_apart ? tree->file->app : image->name;
}

/* ---- images -------------------------------------------------------------- */

static void match_tree_image(struct pp_side *side, const struct apart *apart,
			     const struct pp_tree_input *tree,
			     struct pp_tree_image *image)
{
	const struct pp_request *request = side->trees->p->request;
	const struct pp_sample_file *file =
		find_flat_file(&side->list, image->image, tree->file->app);

	image->app = app_of_image(apart, tree, image->image);
	image->has_calls = request->calls.wanted && !image->gap &&
			   pp_tree_input_matches(side->trees, tree,
						 image->image, image->app);
	image->is_counted = file;
	if (request->select.merge & PP_MERGE_LIB)
		image->app = image->image->name;
	if (file) {
		image->image = file->image;
		image->app = file->app;
	}
}

/* ---- nodes --------------------------------------------------------------- */

bool pp_tree_input_has_call(const struct pp_tree_inputs *in,
			    const struct pp_tree_input *tree, uint32_t caller,
			    uint32_t callee)
{
	const struct pp_tree_image *from = &tree->images[caller - 1];
	const struct pp_tree_image *to = &tree->images[callee - 1];

	return from->has_calls && !to->gap &&
	       (!in->p->request->select.exclude_dependent ||
		from->image == to->image);
}

/* Tell which symbols of nodes are needed: totals are of the images that were
 * chosen, calls have two ends. */
static void find_needed_symbols(const struct pp_tree_inputs *in,
				const struct pp_tree_input *tree)
{
	const struct pp_request *request = in->p->request;
	uint8_t *needs = tree->needs;

	for (uint32_t i = ctree_nr_nodes(tree->tree); i > 0; i--) {
		const struct pp_tree_image *image;
		struct ctree_node node, parent;

		pp_tree_input_node(tree, i, &node);
		image = &tree->images[node.image - 1];
		if (request->totals.wanted && image->is_chosen && !image->gap)
			needs[i - 1] |= PP_NEEDS_PLACE;
		if (!request->calls.wanted || !node.parent)
			continue;
		pp_tree_input_node(tree, node.parent, &parent);
		if (!pp_tree_input_has_call(in, tree, parent.image, node.image))
			continue;
		needs[i - 1] |= PP_NEEDS_FUNCTION;
		needs[node.parent - 1] |= PP_NEEDS_PLACE;
	}
}

/* Give each image of @tree its nodes, those whose symbols are needed, and each
 * node no symbol. @order has room for all of them. */
static void sort_nodes_by_image(const struct pp_tree_input *tree,
				uint32_t *order)
{
	uint32_t nr = ctree_nr_nodes(tree->tree);
	struct ctree_node node;

	for (uint32_t i = 0; i < nr; i++) {
		tree->frames[i] = PP_NO_SYMBOL;
		pp_tree_input_node(tree, i + 1, &node);
		tree->images[node.image - 1].nr_nodes += tree->needs[i] != 0;
	}
	for (uint32_t i = 0; i < ctree_nr_images(tree->tree); i++) {
		tree->images[i].nodes = order;
		order += tree->images[i].nr_nodes;
		tree->images[i].nr_nodes = 0;
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct pp_tree_image *image;

		if (!tree->needs[i])
			continue;
		pp_tree_input_node(tree, i + 1, &node);
		image = &tree->images[node.image - 1];
		image->nodes[image->nr_nodes++] = i;
	}
}

static int find_nodes_of_images(const struct pp_tree_inputs *in,
				struct pp_tree_input *tree)
{
	struct op_arena *arena = &in->p->report->arena;
	uint32_t nr = ctree_nr_nodes(tree->tree);
	uint32_t *order = op_arena_alloc(arena, nr, sizeof(*order));

	tree->needs = op_arena_alloc(arena, nr, sizeof(*tree->needs));
	if (!order || !tree->needs)
		return -ENOMEM;
	find_needed_symbols(in, tree);
	sort_nodes_by_image(tree, order);
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_side_read_trees(struct pp_population *p, struct pp_side *side)
{
	struct op_arena *arena = &p->report->arena;
	struct apart apart = what_is_apart(&side->list);
	int err;

	side->trees = op_arena_alloc(arena, 1, sizeof(*side->trees));
	if (!side->trees)
		return -ENOMEM;
	err = pp_tree_inputs_read(side->trees, p, side)
		      ?: pp_tree_inputs_find_ends(side->trees);
	for (size_t i = 0; i < side->trees->nr && !err; i++) {
		struct pp_tree_input *tree = &side->trees->list[i];

		for (uint32_t j = 0; j < ctree_nr_images(tree->tree); j++)
			match_tree_image(side, &apart, tree, &tree->images[j]);
		err = find_nodes_of_images(side->trees, tree);
	}
	return err;
}
