// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call tree of a report, from the trees of all applications, and in a
 * comparison of both sides.
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

/* Without applications all stacks begin at the root of the tree. */
static int find_root(struct pp_population *p, struct pp_tree_builder *b,
		     const struct pp_sample_file *file, uint32_t *node)
{
	struct pp_frame frame = { .kind = PP_FRAME_ROOT };
	uint32_t number;
	int err;

	*node = 0;
	if (p->request->merge & PP_MERGE_LIB)
		return 0;
	frame.name = root_name(&p->report->arena, p->request->merge, file);
	if (!frame.name)
		return -ENOMEM;
	if (!p->request->tree_by_name)
		frame.image = file->app;
	err = pp_tree_frame(b, &frame, &number);
	return err ? err : pp_tree_child(b, 0, number, node);
}

/* ---- putting together ---------------------------------------------------- */

/* @nodes has room for a number for each node of @input and the root. */
static int add_nodes_of_input(struct pp_tree_builder *b,
			      const struct pp_tree_input *input, size_t column,
			      uint32_t *nodes)
{
	int err = 0;

	for (uint32_t i = 1; i <= ctree_nr_nodes(input->tree) && !err; i++) {
		struct ctree_node node;

		ctree_node(input->tree, i, &node);
		err = pp_tree_child(b, nodes[node.parent], input->frames[i - 1],
				    &nodes[i]);
		if (!err && input->is_chosen[i - 1])
			pp_tree_add(b, nodes[i], column, node.count);
	}
	return err;
}

static int add_tree_input(struct pp_population *p, struct pp_tree_builder *b,
			  const struct pp_tree_input *input,
			  size_t first_column)
{
	size_t nr = (size_t)ctree_nr_nodes(input->tree) + 1;
	uint32_t *nodes = calloc(nr, sizeof(*nodes));
	int err = nodes ? find_root(p, b, input->file, &nodes[0]) : -ENOMEM;

	if (!err)
		err = add_nodes_of_input(b, input,
					 first_column + input->class_nr, nodes);
	free(nodes);
	return err;
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
		err = add_tree_input(p, b, &in.list[i], first_column);
	pp_tree_inputs_release(&in);
	return err;
}

static int check_one_class(const struct pp_population *p, struct op_diag *diag)
{
	const struct pp_classes *classes = &p->side.classes;

	if (!p->request->one_class || classes->nr == 1)
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"a folded stack has one count, but there are %zu (%s, %s ...); choose with event:%s or the like, or use --format=flamegraph",
		classes->nr, classes->classes[0].name, classes->classes[1].name,
		classes->classes[0].event);
}

/* Samples may be from a time when no stacks were taken. */
static void tell_flat(struct pp_population *p, const struct pp_tree *tree)
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

static int check_found(const struct pp_population *p,
		       const struct pp_tree *tree, struct op_diag *diag)
{
	if (!p->side.list.nr_trees)
		return op_diag_set(
			diag, -ENOENT,
			"%s: the samples have no stacks; profile with --callgraph",
			p->side.list.sessions.list[0].path);
	if (tree->nr_nodes == 1)
		return op_diag_set(
			diag, -ENOENT,
			"the samples that are asked for have no stacks; ask for others");
	return 0;
}

int pp_populate_tree(struct pp_population *p, struct op_diag *diag)
{
	size_t nr = p->side.classes.nr;
	struct pp_tree *tree =
		op_arena_alloc(&p->report->arena, 1, sizeof(*tree));
	struct pp_tree_builder b;
	int err = check_one_class(p, diag);

	if (err)
		return err;
	if (!tree)
		return -ENOMEM;
	err = pp_tree_builder_init(&b, &p->report->arena,
				   p->request->old_spec ? 2 * nr : nr,
				   ROOT_NAME);
	if (!err)
		err = add_trees_of_side(p, &p->side, &b, 0);
	if (!err && p->request->old_spec)
		err = add_trees_of_side(p, &p->old, &b, nr);
	if (!err)
		err = pp_tree_finish(&b, p->request->threshold,
				     p->request->tree_max_nodes, tree);
	pp_tree_builder_release(&b);
	if (!err)
		err = check_found(p, tree, diag);
	if (!err)
		tell_flat(p, tree);
	p->report->tree = tree;
	return err;
}
