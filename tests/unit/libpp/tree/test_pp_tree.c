// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees put together: random stacks against a plain list of them, what is
 * cut off, depth.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "libpp/report/report.h"
#include "libpp/tree/tree_builder.h"

static struct op_arena arena;

static int set_up(void **state)
{
	(void)state;
	op_arena_init(&arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	op_arena_release(&arena);
	return 0;
}

#define TREE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void begin(struct pp_tree_builder *b, size_t nr_columns)
{
	assert_int_equal(pp_tree_builder_init(b, &arena, nr_columns, "all"), 0);
}

static uint32_t frame_of(struct pp_tree_builder *b, const char *name,
			 enum pp_frame_kind kind)
{
	struct pp_frame frame = { .name = op_arena_strdup(&arena, name),
				  .kind = kind };
	uint32_t number;

	assert_int_equal(pp_tree_frame(b, &frame, &number), 0);
	return number;
}

static uint32_t child(struct pp_tree_builder *b, uint32_t parent,
		      const char *name)
{
	uint32_t node, frame = frame_of(b, name, PP_FRAME_APP);

	assert_int_equal(pp_tree_child(b, parent, frame, &node), 0);
	return node;
}

/* Add a stack of frames with names of one letter. */
static void add(struct pp_tree_builder *b, const char *stack, size_t column,
		uint64_t count)
{
	uint32_t node = 0;

	for (; *stack; stack++)
		node = child(b, node, (char[]){ *stack, '\0' });
	pp_tree_add(b, node, column, count);
}

static struct pp_tree finish(struct pp_tree_builder *b, double threshold)
{
	struct pp_tree tree;

	assert_int_equal(pp_tree_finish(b, threshold, 0, &tree), 0);
	pp_tree_builder_release(b);
	return tree;
}

static const char *name_of(const struct pp_tree *tree, uint32_t node)
{
	return tree->frames[tree->nodes[node].frame].name;
}

/* "a/b 3" for the node at @node. */
static void must_be(const struct pp_tree *tree, uint32_t node, const char *path,
		    uint64_t self, uint64_t all)
{
	char text[256] = "", longer[256];

	for (uint32_t at = node; at; at = tree->nodes[at].parent) {
		snprintf(longer, sizeof(longer), "%s%s%.100s",
			 name_of(tree, at), *text ? "/" : "", text);
		memcpy(text, longer, sizeof(text));
	}
	assert_string_equal(text, path);
	assert_int_equal(*pp_tree_self(tree, node), self);
	assert_int_equal(*pp_tree_all(tree, node), all);
}

TREE_TEST(test_order)
{
	struct pp_tree_builder b;
	struct pp_tree tree;

	begin(&b, 1);
	add(&b, "bd", 0, 1);
	add(&b, "a", 0, 2);
	add(&b, "bca", 0, 3);
	add(&b, "b", 0, 4);
	add(&b, "bd", 0, 5);
	add(&b, "zzz", 0, 0); /* never sampled */
	tree = finish(&b, 0);
	assert_int_equal(tree.nr_nodes, 6);
	must_be(&tree, 0, "", 0, 15);
	must_be(&tree, 1, "a", 2, 2);
	must_be(&tree, 2, "b", 4, 13);
	must_be(&tree, 3, "b/c", 0, 3);
	must_be(&tree, 4, "b/c/a", 3, 3);
	must_be(&tree, 5, "b/d", 6, 6);
}

TREE_TEST(test_nothing)
{
	struct pp_tree_builder b;
	struct pp_tree tree;

	begin(&b, 2);
	tree = finish(&b, 50);
	assert_int_equal(tree.nr_nodes, 1);
	assert_int_equal(pp_tree_all(&tree, 0)[1], 0);
}

TREE_TEST(test_threshold)
{
	struct pp_tree_builder b;
	struct pp_tree tree;

	begin(&b, 1);
	add(&b, "a", 0, 90);
	add(&b, "ab", 0, 4);
	add(&b, "abc", 0, 2); /* cut with its parent, counted once */
	add(&b, "ad", 0, 3);
	add(&b, "e", 0, 1);
	tree = finish(&b, 7);
	assert_int_equal(tree.nr_nodes, 4);
	must_be(&tree, 0, "", 0, 100);
	must_be(&tree, 1, "(below the threshold)", 1, 1);
	must_be(&tree, 2, "a", 90, 99);
	must_be(&tree, 3, "a/(below the threshold)", 9, 9);
	assert_int_equal(tree.cut[0], 10);
	assert_int_equal(tree.nr_cut, 4);
	assert_int_equal(tree.nr_frames, 3); /* those of nodes that stay */
	assert_int_equal(tree.frames[tree.nodes[3].frame].kind, PP_FRAME_CUT);
}

/* The largest stay: fewer rather than more where some are alike. */
TREE_TEST(test_max_nodes)
{
	struct pp_tree_builder b;
	struct pp_tree tree;

	begin(&b, 1);
	add(&b, "a", 0, 10);
	add(&b, "b", 0, 9);
	add(&b, "c", 0, 5);
	add(&b, "d", 0, 5);
	add(&b, "e", 0, 1);
	assert_int_equal(pp_tree_finish(&b, 0, 3, &tree), 0);
	pp_tree_builder_release(&b);
	assert_int_equal(tree.nr_nodes, 4);
	must_be(&tree, 1, "(below the threshold)", 11, 11);
	must_be(&tree, 2, "a", 10, 10);
	must_be(&tree, 3, "b", 9, 9);
	assert_true(tree.threshold > 100 * 5 / 30.0);
	begin(&b, 1);
	add(&b, "abc", 0, 1);
	assert_int_equal(pp_tree_finish(&b, 0, 3, &tree), 0);
	pp_tree_builder_release(&b);
	assert_int_equal(tree.nr_nodes, 4);
	assert_int_equal(tree.nr_cut, 0);
}

/* A column in which a node is large is enough. */
TREE_TEST(test_threshold_of_columns)
{
	struct pp_tree_builder b;
	struct pp_tree tree;

	begin(&b, 2);
	add(&b, "a", 0, 1000);
	add(&b, "b", 0, 1);
	add(&b, "b", 1, 1);
	tree = finish(&b, 50);
	assert_int_equal(tree.nr_nodes, 3);
	must_be(&tree, 2, "b", 1, 1);
	assert_int_equal(pp_tree_all(&tree, 2)[1], 1);
	assert_int_equal(tree.nr_cut, 0);
}

/* Columns do not run into each other, nor own samples into all. */
TREE_TEST(test_columns)
{
	enum { NR = 100 };
	struct pp_tree_builder b;
	struct pp_tree tree;
	char stack[2] = "";

	begin(&b, 2);
	for (unsigned int i = 0; i < NR; i++) {
		stack[0] = (char)(' ' + 1 + i % 90);
		add(&b, stack, 0, i);
		add(&b, stack, 1, 1000 * i);
	}
	tree = finish(&b, 0);
	assert_int_equal(tree.nr_nodes, 1 + 90);
	for (uint32_t i = 1; i < tree.nr_nodes; i++) {
		uint64_t nr = i - 1, sum = nr < NR - 90 ? 2 * nr + 90 : nr;

		must_be(&tree, i, (char[]){ (char)(' ' + i), '\0' }, sum, sum);
		assert_int_equal(pp_tree_self(&tree, i)[1], 1000 * sum);
		assert_int_equal(pp_tree_all(&tree, i)[1], 1000 * sum);
	}
	assert_int_equal(pp_tree_self(&tree, 0)[0], 0);
	assert_int_equal(pp_tree_all(&tree, 0)[0], NR * (NR - 1) / 2);
	assert_int_equal(pp_tree_all(&tree, 0)[1], 1000 * NR * (NR - 1) / 2);
}

/* What is below a gap is broken once, also what is cut off later. */
TREE_TEST(test_broken)
{
	struct pp_tree_builder b;
	struct pp_tree tree;
	uint32_t node, gap;

	begin(&b, 1);
	gap = frame_of(&b, "[truncated]", PP_FRAME_GAP);
	assert_int_equal(pp_tree_child(&b, child(&b, 0, "a"), gap, &node), 0);
	pp_tree_add(&b, node, 0, 1);
	assert_int_equal(pp_tree_child(&b, child(&b, node, "b"), gap, &node),
			 0);
	pp_tree_add(&b, node, 0, 2);
	add(&b, "a", 0, 97);
	tree = finish(&b, 10);
	assert_int_equal(tree.broken[0], 3);
	assert_int_equal(tree.cut[0], 3);
}

/* Nothing here recurses: a stack as deep as there may be. */
TREE_TEST(test_depth)
{
	enum { DEPTH = 1000000 };
	struct pp_tree_builder b;
	struct pp_tree tree;
	uint32_t node = 0, frame;

	begin(&b, 1);
	frame = frame_of(&b, "f", PP_FRAME_APP);
	for (int i = 0; i < DEPTH; i++)
		assert_int_equal(pp_tree_child(&b, node, frame, &node), 0);
	pp_tree_add(&b, node, 0, UINT64_MAX);
	pp_tree_add(&b, node, 0, 1);
	tree = finish(&b, 0);
	assert_int_equal(tree.nr_nodes, DEPTH + 1);
	assert_int_equal(*pp_tree_self(&tree, DEPTH), UINT64_MAX);
	assert_int_equal(*pp_tree_all(&tree, 0), UINT64_MAX);
}

/* Frames of one name are in the order of their images, then of their kinds. */
TREE_TEST(test_order_of_equals)
{
	static const struct pp_frame frames[] = {
		{ .name = "f", .image = "b", .kind = PP_FRAME_APP },
		{ .name = "f", .image = "a", .kind = PP_FRAME_LIBRARY },
		{ .name = "f", .image = "a", .kind = PP_FRAME_APP },
		{ .name = "f", .kind = PP_FRAME_KERNEL },
		{ .name = "e", .image = "z", .kind = PP_FRAME_LIBRARY },
		{ .name = "f", .image = "b", .kind = PP_FRAME_APP },
	};
	static const int order[] = { 4, 2, 1, 0 };
	struct pp_tree_builder b;
	struct pp_tree tree;
	uint32_t number, node;

	begin(&b, 1);
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		if (i == 3)
			continue; /* without an image */
		assert_int_equal(pp_tree_frame(&b, &frames[i], &number), 0);
		assert_int_equal(pp_tree_child(&b, 0, number, &node), 0);
		pp_tree_add(&b, node, 0, i + 1);
	}
	tree = finish(&b, 0);
	assert_int_equal(tree.nr_nodes, 5);
	assert_int_equal(tree.nr_frames, 5);
	for (uint32_t i = 0; i < 4; i++) {
		const struct pp_frame *is =
			&tree.frames[tree.nodes[i + 1].frame];

		assert_string_equal(is->name, frames[order[i]].name);
		assert_string_equal(is->image, frames[order[i]].image);
		assert_int_equal(is->kind, frames[order[i]].kind);
	}
	must_be(&tree, 4, "f", 1 + 6, 1 + 6);
	/* By kind where one of them has no image. */
	begin(&b, 1);
	for (size_t i = 3; i > 1; i--) {
		assert_int_equal(pp_tree_frame(&b, &frames[i], &number), 0);
		assert_int_equal(pp_tree_child(&b, 0, number, &node), 0);
		pp_tree_add(&b, node, 0, i);
	}
	tree = finish(&b, 0);
	must_be(&tree, 1, "f", 2, 2);
	must_be(&tree, 2, "f", 3, 3);
}

/* Roots of two cgroups are two; builds of one image are one, which is told. */
TREE_TEST(test_origins_of_frames)
{
	static const struct pp_image builds[] = {
		{ .build_id = { 1, { 1 } } },
		{ .build_id = { 1, { 1 } } },
		{ .build_id = { 1, { 2 } } },
		{ .build_id.len = 0 },
	};
	static const struct {
		const struct pp_image *first, *second;
		bool many;
	} rows[] = {
		{ &builds[0], &builds[0], false },
		{ &builds[0], &builds[1], false },
		{ &builds[0], &builds[2], true },
		{ &builds[0], &builds[3], true },
		{ &builds[0], NULL, true },
		{ NULL, NULL, false },
	};
	static const char *const cgroups[] = { "/b", "/a", "", NULL, "/b" };
	struct pp_tree_builder b;
	struct pp_tree tree;
	uint32_t number, node;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pp_frame frame = { .name = "f",
					  .binary = rows[i].first };

		begin(&b, 1);
		assert_int_equal(pp_tree_frame(&b, &frame, &number), 0);
		assert_false(b.frames[number].many_builds);
		frame.binary = rows[i].second;
		assert_int_equal(pp_tree_frame(&b, &frame, &number), 0);
		assert_int_equal(number, 1);
		assert_ptr_equal(b.frames[1].binary, rows[i].first);
		assert_int_equal(b.frames[1].many_builds, rows[i].many);
		pp_tree_builder_release(&b);
	}
	begin(&b, 1);
	for (size_t i = 0; i < sizeof(cgroups) / sizeof(cgroups[0]); i++) {
		const struct pp_frame root = { .name = "x",
					       .cgroup = cgroups[i] };

		assert_int_equal(pp_tree_frame(&b, &root, &number), 0);
		assert_int_equal(pp_tree_child(&b, 0, number, &node), 0);
		pp_tree_add(&b, node, 0, 1);
	}
	tree = finish(&b, 0);
	assert_int_equal(tree.nr_nodes, 5);
	assert_string_equal(tree.frames[tree.nodes[3].frame].cgroup, "/a");
	assert_string_equal(tree.frames[tree.nodes[4].frame].cgroup, "/b");
	assert_int_equal(pp_tree_self(&tree, 4)[0], 2);
}

/* A function is a part of its caller if it was never called there. */
TREE_TEST(test_inlined_nodes)
{
	static const struct {
		const char *how; /* one letter for each time */
		bool is_inlined;
	} rows[] = {
		{ "i", true },	 { "c", false },   { "ii", true },
		{ "ic", false }, { "cii", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pp_tree_builder b;
		struct pp_tree tree;
		uint32_t node = 0, f;

		begin(&b, 1);
		f = frame_of(&b, "f", PP_FRAME_APP);
		for (const char *how = rows[i].how; *how; how++)
			assert_int_equal((*how == 'i' ? pp_tree_inlined
						      : pp_tree_child)(&b, 0, f,
								       &node),
					 0);
		pp_tree_add(&b, node, 0, 1);
		tree = finish(&b, 0);
		assert_int_equal(tree.nr_nodes, 2);
		assert_int_equal(tree.nodes[1].is_inlined, rows[i].is_inlined);
	}
}

/* What has exactly the threshold stays; so do as many as may. */
TREE_TEST(test_edges_of_cutting)
{
	static const struct {
		double threshold;
		uint32_t max, nr_nodes, nr_cut;
	} rows[] = {
		{ 0, 0, 5, 0 },	  { 10, 0, 5, 0 },   { 10.001, 0, 5, 1 },
		{ 20, 0, 5, 1 },  { 20.5, 0, 4, 2 }, { 0, 4, 5, 0 },
		{ 0, 3, 5, 1 },	  { 0, 2, 4, 2 },    { 0, 1, 3, 3 },
		{ 25, 3, 4, 2 },  { 10, 4, 5, 0 },   { -1, 0, 5, 0 },
		{ 100, 0, 2, 4 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pp_tree_builder b;
		struct pp_tree tree;
		uint64_t sum = 0;

		begin(&b, 1);
		add(&b, "a", 0, 40);
		add(&b, "b", 0, 30);
		add(&b, "c", 0, 20);
		add(&b, "d", 0, 10);
		assert_int_equal(pp_tree_finish(&b, rows[i].threshold,
						rows[i].max, &tree),
				 0);
		pp_tree_builder_release(&b);
		if (tree.nr_nodes != rows[i].nr_nodes ||
		    tree.nr_cut != rows[i].nr_cut)
			fail_msg("row %zu: %u nodes, %u cut", i, tree.nr_nodes,
				 tree.nr_cut);
		for (uint32_t n = 0; n < tree.nr_nodes; n++)
			sum += *pp_tree_self(&tree, n);
		assert_int_equal(sum, 100);
		assert_int_equal(*pp_tree_all(&tree, 0), 100);
		if (!rows[i].max)
			assert_true(tree.threshold == rows[i].threshold);
	}
}

/* Each column has its own sum of what is broken and what was cut off. */
TREE_TEST(test_broken_columns)
{
	struct pp_tree_builder b;
	struct pp_tree tree;
	uint32_t node;

	begin(&b, 2);
	assert_int_equal(pp_tree_child(&b, 0, frame_of(&b, "[g]", PP_FRAME_GAP),
				       &node),
			 0);
	pp_tree_add(&b, node, 0, 1);
	pp_tree_add(&b, child(&b, node, "b"), 1, 2);
	add(&b, "b", 0, 99);
	add(&b, "b", 1, 98);
	tree = finish(&b, 5);
	assert_int_equal(tree.broken[0], 1);
	assert_int_equal(tree.broken[1], 2);
	assert_int_equal(tree.cut[0], 1);
	assert_int_equal(tree.cut[1], 2);
	assert_int_equal(tree.nr_cut, 2);
	assert_int_equal(tree.nr_nodes, 3);
	assert_int_equal(pp_tree_self(&tree, 1)[1], 2);
}

/* A frame is what its name, image and kind are, whatever memory has them; the
 * tables grow. */
TREE_TEST(test_many_frames)
{
	enum { MANY = 5000 };
	struct pp_tree_builder b;
	struct pp_tree tree;
	char name[16];

	begin(&b, 1);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t frame, node;

			snprintf(name, sizeof(name), "%06u", i);
			frame = frame_of(&b, name, PP_FRAME_APP);
			assert_int_equal(frame, i + 1);
			assert_int_equal(pp_tree_child(&b, 0, frame, &node), 0);
			assert_int_equal(node, i + 1);
			pp_tree_add(&b, node, 0, i);
		}
	assert_int_equal(frame_of(&b, "000001", PP_FRAME_GAP), MANY + 1);
	tree = finish(&b, 0);
	assert_int_equal(tree.nr_nodes, MANY); /* the first has no samples */
	for (uint32_t i = 1; i < MANY; i++)
		assert_int_equal(*pp_tree_self(&tree, i), 2 * i);
}

/* ---- random stacks ------------------------------------------------------- */

#define NR_STACKS 5000

struct stack {
	char names[12];
	uint64_t count;
};

static int by_names(const void *a, const void *b)
{
	return strcmp(((const struct stack *)a)->names,
		      ((const struct stack *)b)->names);
}

/* Samples in stacks that begin with the path of @node. */
static uint64_t count_below(const struct stack *stacks, const char *path,
			    size_t len)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_STACKS; i++)
		if (!strncmp(stacks[i].names, path, len))
			sum += stacks[i].count;
	return sum;
}

TREE_TEST(test_random_stacks)
{
	static struct stack stacks[NR_STACKS];
	struct pp_tree_builder b;
	struct pp_tree tree;
	unsigned int seed = 11, at = 0;

	begin(&b, 1);
	for (int i = 0; i < NR_STACKS; i++) {
		int len = 1 + rand_r(&seed) % 10;

		for (int j = 0; j < len; j++)
			stacks[i].names[j] = (char)('a' + rand_r(&seed) % 3);
		stacks[i].count = 1 + (uint64_t)rand_r(&seed) % 9;
		add(&b, stacks[i].names, 0, stacks[i].count);
	}
	tree = finish(&b, 0);
	qsort(stacks, NR_STACKS, sizeof(stacks[0]), by_names);
	for (uint32_t i = 1; i < tree.nr_nodes; i++) {
		char path[16] = "", longer[16];
		uint64_t self = 0;

		for (uint32_t n = i; n; n = tree.nodes[n].parent) {
			snprintf(longer, sizeof(longer), "%c%.14s",
				 *name_of(&tree, n), path);
			memcpy(path, longer, sizeof(path));
		}
		/* Stacks that end here come next in their order. */
		while (at < NR_STACKS && !strcmp(stacks[at].names, path))
			self += stacks[at++].count;
		assert_int_equal(*pp_tree_self(&tree, i), self);
		assert_int_equal(*pp_tree_all(&tree, i),
				 count_below(stacks, path, strlen(path)));
		assert_true(tree.nodes[i].parent < i);
	}
	assert_int_equal(at, NR_STACKS);
}
