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
#include <stdlib.h>
#include <string.h>

#include "libpp/tree_input.h"

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

	frame.name = root_name(&p->report->arena, p->request->merge, file);
	if (!frame.name)
		return -ENOMEM;
	if (!p->request->tree_by_name)
		frame.image = file->app;
	return pp_tree_frame(b, &frame, number);
}

/* Without applications all stacks begin at the root of the tree. */
static bool has_roots(const struct pp_population *p)
{
	return !(p->request->merge & PP_MERGE_LIB);
}

/* ---- putting together ---------------------------------------------------- */

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
		struct ctree_node node;

		ctree_node(input->tree, i, &node);
		err = pp_tree_child(b, nodes[node.parent], input->frames[i - 1],
				    &nodes[i]);
		if (!err && input->is_chosen[i - 1])
			pp_tree_add(b, nodes[i], column, node.count);
	}
	free(nodes);
	return err;
}

/* From each place with samples outwards, to the application. */
static int add_callers_of_place(struct pp_population *p,
				struct pp_tree_builder *b,
				const struct pp_tree_input *input,
				uint32_t place, uint32_t root, uint32_t *out)
{
	int err = 0;

	*out = 0;
	for (uint32_t at = place; at && !err;) {
		struct ctree_node node;

		ctree_node(input->tree, at, &node);
		err = pp_tree_child(b, *out, input->frames[at - 1], out);
		at = node.parent;
	}
	return err || !has_roots(p) ? err : pp_tree_child(b, *out, root, out);
}

static int add_callers(struct pp_population *p, struct pp_tree_builder *b,
		       const struct pp_tree_input *input, uint32_t root,
		       size_t column)
{
	uint32_t nr = ctree_nr_nodes(input->tree), last;
	int err = 0;

	for (uint32_t i = 1; i <= nr && !err; i++) {
		struct ctree_node node;

		ctree_node(input->tree, i, &node);
		if (!node.count || !input->is_chosen[i - 1])
			continue;
		err = add_callers_of_place(p, b, input, i, root, &last);
		if (!err)
			pp_tree_add(b, last, column, node.count);
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
	return p->request->tree_callers ? add_callers(p, b, input, root, column)
					: add_stacks(p, b, input, root, column);
}

static int add_trees_of_side(struct pp_population *p, struct pp_side *side,
			     struct pp_tree_builder *b, size_t first_column)
{
	struct pp_tree_inputs in;
	int err = pp_tree_inputs_read(&in, p, side);

	pp_sessions_close(&side->list.sessions);
	if (!err)
		err = pp_tree_inputs_name(&in, b);
	for (size_t i = 0; i < in.nr && !err; i++)
		err = add_tree_input(p, b, &in.list[i],
				     first_column + in.list[i].class_nr);
	pp_tree_inputs_release(&in);
	return err;
}

/* Samples may be from a time when no stacks were taken; a choice of symbols
 * leaves out samples on purpose. */
static void warn_of_flat_samples(struct pp_population *p,
				 const struct pp_tree *tree)
{
	const struct pp_request *request = p->request;

	if (request->include_symbols || request->exclude_symbols)
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
	const struct pp_class *classes = p->side.classes.classes;
	size_t nr = p->side.classes.nr;
	struct pp_tree *tree =
		op_arena_alloc(&p->report->arena, 1, sizeof(*tree));
	struct pp_tree_builder b;
	int err;

	if (request->one_class && nr > 1)
		return op_diag_set(
			diag, -EINVAL,
			"a folded stack has one count, but there are %zu (%s, %s ...); choose with event:%s or the like, or use --format=flamegraph",
			nr, classes[0].name, classes[1].name, classes[0].event);
	if (!tree)
		return -ENOMEM;
	err = pp_tree_builder_init(&b, &p->report->arena,
				   request->old_spec ? 2 * nr : nr, ROOT_NAME)
		      ?: add_trees_of_side(p, &p->side, &b, 0);
	if (!err && request->old_spec)
		err = add_trees_of_side(p, &p->old, &b, nr);
	err = err
		      ?: pp_tree_finish(&b, request->threshold,
					request->tree_max_nodes, tree);
	pp_tree_builder_release(&b);
	if (err)
		return err;
	p->report->tree = tree;
	if (!p->side.list.nr_trees)
		return op_diag_set(
			diag, -ENOENT,
			"%s: the samples have no stacks; profile with --callgraph",
			p->side.list.sessions.list[0].path);
	if (tree->nr_nodes == 1)
		return op_diag_set(
			diag, -ENOENT,
			"the samples that are asked for have no stacks; ask for others");
	warn_of_flat_samples(p, tree);
	return 0;
}
