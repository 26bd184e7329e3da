// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call tree of a report, from the trees of all applications, and in a
 * comparison of both sides: the columns of the old side come behind those of
 * the later one. A file's tree is added under a root of its application, with
 * the process and thread that the file was kept apart by, unless applications
 * are merged; then all stacks begin at the root of the tree. tree_names.c has
 * turned places into frames before, so nodes of several files that are the
 * same stack become one node.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/tree/tree_input.h"

#define ROOT_NAME "all"

/* ---- roots --------------------------------------------------------------- */

/* "bash-7423/7424": what the file was kept apart by and is not merged. */
static const char *root_name(struct op_arena *arena, unsigned int merge,
			     const struct pp_sample_file *file)
{
	const char *base = pp_base_name(file->app);
	bool tgid =
		file->name.tgid != OP_MANGLE_ALL && !(merge & PP_MERGE_TGID);
	bool tid = file->name.tid != OP_MANGLE_ALL &&
		   !(merge & (PP_MERGE_TID | PP_MERGE_TGID));

	if (tgid && tid)
		return op_arena_printf(arena, "%s-%lld/%lld", base,
				       (long long)file->name.tgid,
				       (long long)file->name.tid);
	if (tgid || tid)
		return op_arena_printf(arena, "%s-%lld", base,
				       (long long)(tgid ? file->name.tgid
							: file->name.tid));
	return base;
}

/* The frame that stands for the application of @file. */
static int find_root(struct pp_population *p, struct pp_tree_builder *b,
		     const struct pp_sample_file *file, uint32_t *number)
{
	struct pp_frame frame = { .kind = PP_FRAME_ROOT };
	unsigned int merge = p->request->select.merge;

	frame.name = root_name(&p->report->arena, merge, file);
	frame.is_apart =
		!(merge & PP_MERGE_TGID) && (file->name.tgid != OP_MANGLE_ALL ||
					     file->name.tid != OP_MANGLE_ALL);
	if (frame.is_apart) {
		frame.tgid = file->name.tgid;
		frame.tid =
			merge & PP_MERGE_TID ? OP_MANGLE_ALL : file->name.tid;
	}
	if (!frame.name)
		return -ENOMEM;
	if (p->request->tree.origins && !(merge & PP_MERGE_CGROUP))
		frame.cgroup = file->name.cgroup;
	if (!p->request->tree.by_name)
		frame.image = file->app;
	return pp_tree_frame(b, &frame, number);
}

/* Without applications all stacks begin at the root of the tree. */
static bool has_roots(const struct pp_population *p)
{
	return !(p->request->select.merge & PP_MERGE_LIB);
}

/* ---- putting together ---------------------------------------------------- */

/*
 * Share @count samples out among the splits of a place. What is left of one
 * stack by rounding is owed to the next, so the sums are right.
 */
static void share_out(struct pp_tree_place *place, uint64_t count)
{
	uint64_t left = count;

	for (uint32_t i = 0; i < place->nr_splits; i++) {
		struct pp_tree_split *split = &place->splits[i];
		double whole;

		split->owed += (double)count * split->share;
		whole = floor(split->owed);
		split->samples = whole > 0 ? (uint64_t)whole : 0;
		if (split->samples > left)
			split->samples = left;
		left -= split->samples;
		split->owed -= (double)split->samples;
	}
	while (left) {
		struct pp_tree_split *most = place->splits;

		for (uint32_t i = 1; i < place->nr_splits; i++)
			if (place->splits[i].owed > most->owed)
				most = &place->splits[i];
		most->samples++;
		most->owed--;
		left--;
	}
}

/* Go from node *@at to the one of @nr frames below it, which were inlined one
 * in the other. */
static int go_inlined(struct pp_tree_builder *b, const uint32_t *frames,
		      uint32_t nr, uint32_t *at)
{
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = pp_tree_inlined(b, *at, frames[i], at);
	return err;
}

/* The same where the first of them is a function that was called. */
static int go_in(struct pp_tree_builder *b, const uint32_t *frames, uint32_t nr,
		 uint32_t *at)
{
	return pp_tree_child(b, *at, frames[0], at)
		       ?: go_inlined(b, frames + 1, nr - 1, at);
}

/* The same from the last frame to the first. */
static int go_out(struct pp_tree_builder *b, const uint32_t *frames,
		  uint32_t nr, uint32_t *at)
{
	int err = 0;

	while (nr-- && !err)
		err = pp_tree_child(b, *at, frames[nr], at);
	return err;
}

/* Add @count samples at @node, which is that of @place. */
static int add_samples(struct pp_tree_builder *b, struct pp_tree_place *place,
		       uint32_t node, size_t column, uint64_t count)
{
	int err = 0;

	if (!place->nr_splits && place->is_wanted)
		pp_tree_add(b, node, column, count);
	if (place->nr_splits)
		share_out(place, count);
	for (uint32_t i = 0; i < place->nr_splits && !err; i++) {
		const struct pp_tree_split *split = &place->splits[i];
		uint32_t at = node;

		if (!split->samples || !split->is_wanted)
			continue;
		err = go_inlined(b, split->frames, split->nr, &at);
		if (!err)
			pp_tree_add(b, at, column, split->samples);
	}
	return err;
}

static int add_stacks(struct pp_population *p, struct pp_tree_builder *b,
		      const struct pp_tree_input *input, uint32_t root,
		      size_t column)
{
	uint32_t nr = ctree_nr_nodes(input->tree);
	uint32_t *nodes = calloc((size_t)nr + 1, sizeof(*nodes));
	int err = nodes ? 0 : -ENOMEM;

	if (!err && has_roots(p))
		err = pp_tree_child(b, 0, root, &nodes[0]);
	for (uint32_t i = 1; i <= nr && !err; i++) {
		struct pp_tree_place *place = input->places[i - 1];
		struct ctree_node node;

		pp_tree_input_node(input, i, &node);
		nodes[i] = nodes[node.parent];
		err = go_in(b, place->frames, place->nr, &nodes[i]);
		if (!err && node.count && input->is_chosen[i - 1])
			err = add_samples(b, place, nodes[i], column,
					  node.count);
	}
	free(nodes);
	return err;
}

/* A stack from inside out, to the application. */
struct outwards {
	struct pp_population *p;
	struct pp_tree_builder *b;
	const struct pp_tree_input *input;
	uint32_t root;
	size_t column;
};

/* Add @count samples in the frames of @split (or NULL) and then in those of
 * node @node and its callers. */
static int add_outwards(const struct outwards *o,
			const struct pp_tree_split *split, uint32_t node,
			uint64_t count)
{
	uint32_t at = 0;
	int err = split ? go_out(o->b, split->frames, split->nr, &at) : 0;

	while (node && !err) {
		const struct pp_tree_place *place = o->input->places[node - 1];
		struct ctree_node is;

		pp_tree_input_node(o->input, node, &is);
		err = go_out(o->b, place->frames, place->nr, &at);
		node = is.parent;
	}
	if (!err && has_roots(o->p))
		err = pp_tree_child(o->b, at, o->root, &at);
	if (!err)
		pp_tree_add(o->b, at, o->column, count);
	return err;
}

static int add_callers(const struct outwards *o)
{
	uint32_t nr = ctree_nr_nodes(o->input->tree);
	int err = 0;

	for (uint32_t i = 1; i <= nr && !err; i++) {
		struct pp_tree_place *place = o->input->places[i - 1];
		struct ctree_node node;

		pp_tree_input_node(o->input, i, &node);
		if (!node.count || !o->input->is_chosen[i - 1])
			continue;
		if (!place->nr_splits && place->is_wanted)
			err = add_outwards(o, NULL, i, node.count);
		if (place->nr_splits)
			share_out(place, node.count);
		for (uint32_t s = 0; s < place->nr_splits && !err; s++) {
			const struct pp_tree_split *split = &place->splits[s];

			if (split->samples && split->is_wanted)
				err = add_outwards(o, split, i, split->samples);
		}
	}
	return err;
}

static int add_tree_input(struct pp_population *p, struct pp_tree_builder *b,
			  const struct pp_tree_input *input, size_t column)
{
	uint32_t root;
	int err = find_root(p, b, input->file, &root);

	if (err)
		return err;
	return p->request->tree.callers ? add_callers(&(struct outwards){
						  p, b, input, root, column })
					: add_stacks(p, b, input, root, column);
}

/* Add the samples that have no stack, below the roots of their files. */
static int add_stackless(struct pp_population *p, struct pp_tree_builder *b,
			 const struct pp_stackless *stackless, size_t column)
{
	bool outwards = p->request->tree.callers;
	uint32_t root, at = 0;
	int err = find_root(p, b, stackless->file, &root);

	if (!err && has_roots(p) && !outwards)
		err = pp_tree_child(b, 0, root, &at);
	if (!err)
		err = (outwards ? go_out : go_in)(b, stackless->frames,
						  stackless->nr, &at);
	if (!err && has_roots(p) && outwards)
		err = pp_tree_child(b, at, root, &at);
	if (!err)
		pp_tree_add(b, at, column, stackless->count);
	return err;
}

static int add_trees_of_side(struct pp_population *p, struct pp_side *side,
			     struct pp_tree_builder *b, size_t first_column)
{
	struct pp_tree_inputs in;
	int err = pp_tree_inputs_read(&in, p, side);

	pp_sessions_close(&side->list.sessions);
	if (!err)
		err = pp_tree_inputs_find_ends(&in)
			      ?: pp_tree_inputs_name(&in, b);
	for (size_t i = 0; i < in.nr && !err; i++)
		err = add_tree_input(p, b, &in.list[i],
				     first_column + in.list[i].class_nr);
	for (size_t i = 0; i < in.nr_stackless && !err; i++)
		err = add_stackless(p, b, &in.stackless[i],
				    first_column +
					    in.stackless[i].file->class_nr);
	pp_tree_inputs_release(&in);
	return err;
}

/* Samples may be from a time when no stacks were taken; a choice of symbols
 * leaves out samples on purpose. */
static void warn_of_flat_samples(struct pp_population *p,
				 const struct pp_tree *tree)
{
	const struct pp_request *request = p->request;

	if (request->names.include || request->names.exclude)
		return;
	for (size_t c = 0; c < p->side.classes.nr; c++) {
		uint64_t shown = pp_tree_all(tree, 0)[c];
		uint64_t all = p->side.totals[c];

		if (shown < all)
			pp_message(
				&p->report->messages, PP_WARNING,
				"%s: %llu of %llu samples have no stack, so they are not shown",
				p->side.classes.classes[c].name,
				(unsigned long long)(all - shown),
				(unsigned long long)all);
	}
}

int pp_populate_tree(struct pp_population *p, struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	size_t nr = p->side.classes.nr;
	struct pp_tree *tree =
		op_arena_alloc(&p->report->arena, 1, sizeof(*tree));
	struct pp_tree_builder b;
	int err;

	if (!tree)
		return -ENOMEM;
	err = pp_tree_builder_init(&b, &p->report->arena,
				   request->compare.spec ? 2 * nr : nr,
				   ROOT_NAME)
		      ?: add_trees_of_side(p, &p->side, &b, 0);
	if (!err && request->compare.spec)
		err = add_trees_of_side(p, &p->old, &b, nr);
	err = err
		      ?: pp_tree_finish(&b, request->threshold,
					request->tree.max_nodes, tree);
	if (!err && request->tree.origins)
		err = pp_side_name_roots(p, &p->side, tree);
	pp_tree_builder_release(&b);
	if (err)
		return err;
	tree->callers = request->tree.callers;
	p->report->tree = tree;
	if (!p->side.list.nr_trees && !request->tree.all)
		return op_diag_set(
			diag, -ENOENT,
			"%s: the samples have no stacks; profile with --callgraph",
			p->side.list.sessions.list[0].path);
	if (tree->nr_nodes == 1)
		return op_diag_set(
			diag, -ENOENT,
			request->tree.all
				? "no samples are chosen; choose others"
				: "the chosen samples have no stacks; choose others");
	warn_of_flat_samples(p, tree);
	return 0;
}
