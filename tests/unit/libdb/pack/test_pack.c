// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs: what goes in comes out, sums are sums, equal content is equal bytes.
 */
#include "tests/unit/libdb/pack_fixture.h"

/* ---- content to compare ---------------------------------------------------
 */

/* Both have the same pairs. */
static void must_be_equal(const struct odb *a, const struct odb *b)
{
	uint64_t key, count;
	size_t nr = 0;

	for (size_t at = 0; odb_next(a, &at, &key, &count); nr++)
		assert_int_equal(odb_get(b, key), count);
	assert_int_equal(walk(b), nr);
}

/* Number @node of @from is in @to at @parent; returns where. */
static uint32_t must_have_node(const struct ctree *to, const struct ctree *from,
			       uint32_t node, uint32_t parent)
{
	struct ctree_node want, is;
	const void *want_image, *image;
	size_t want_len, len;

	ctree_node(from, node, &want);
	want_image = ctree_image_bytes(from, want.image, &want_len);
	for (uint32_t i = parent + 1; i <= ctree_nr_nodes(to); i++) {
		ctree_node(to, i, &is);
		assert_true(is.parent < i);
		if (is.parent != parent || is.offset != want.offset)
			continue;
		image = ctree_image_bytes(to, is.image, &len);
		if (len != want_len || memcmp(image, want_image, len) != 0)
			continue;
		assert_int_equal(is.count, want.count);
		return i;
	}
	fail_msg("node %u is missing", node);
	return 0;
}

/* Both have the same images, nodes and counts, whatever their order. */
static void must_be_equal_trees(const struct ctree *a, const struct ctree *b)
{
	uint32_t nr = ctree_nr_nodes(a);
	uint32_t *numbers = calloc((size_t)nr + 1, sizeof(*numbers));

	assert_non_null(numbers);
	assert_int_equal(ctree_nr_nodes(b), nr);
	assert_int_equal(ctree_nr_images(b), ctree_nr_images(a));
	for (uint32_t i = 1; i <= nr; i++) {
		struct ctree_node node;

		ctree_node(a, i, &node);
		numbers[i] = must_have_node(b, a, i, numbers[node.parent]);
	}
	free(numbers);
}

/* ---- what goes in comes out ------------------------------------------------
 */

ODB_TEST(entries_are_found_by_name)
{
	struct fixture *f = *state;
	uint8_t user[ODB_USER_SIZE];
	struct pack *pack;

	make_example(f);
	pack = must_open_pack(f->path);
	assert_int_equal(pack_generation(pack), GENERATION);
	assert_int_equal(pack_nr(pack), 3);
	assert_string_equal(pack_entry(pack, 0)->name, "{root}/a");
	assert_string_equal(pack_entry(pack, 1)->name, "{root}/a/{tree}/x");
	assert_ptr_equal(pack_find(pack, "{root}/b"), pack_entry(pack, 2));
	assert_null(pack_find(pack, "{root}/"));
	assert_null(pack_find(pack, "{root}/c"));
	set_user(user, 2);
	assert_memory_equal(pack_entry(pack, 1)->user, user, sizeof(user));
	assert_int_equal(pack_entry(pack, 2)->nr, 0);
	assert_int_equal(pack_entry(pack, 2)->total, 0);
	pack_close(pack);
}

ODB_TEST(content_does_not_need_the_pack)
{
	struct fixture *f = *state;
	struct odb *odb, *want;
	struct ctree *tree, *want_tree;
	struct pack *pack;
	struct odb_stat stat;
	uint8_t user[ODB_USER_SIZE];

	make_example(f);
	pack = must_open_pack(f->path);
	odb = must_have_table(pack, "{root}/a");
	tree = must_have_tree(pack, "{root}/a/{tree}/x");
	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, pack_entry(pack, 0)->nr);
	assert_int_equal(stat.total, pack_entry(pack, 0)->total);
	pack_close(pack);
	want = must_open(beside(f, "table"), ODB_RDONLY);
	want_tree = must_open_tree(beside(f, "tree"), ODB_RDONLY);
	must_be_equal(want, odb);
	must_be_equal_trees(want_tree, tree);
	set_user(user, 1);
	assert_memory_equal(odb_user(odb), user, sizeof(user));
	set_user(user, 2);
	assert_memory_equal(ctree_user(tree), user, sizeof(user));
	assert_int_equal(odb_add(odb, 1, 1), -EBADF);
	odb_close(odb);
	odb_close(want);
	ctree_close(tree);
	ctree_close(want_tree);
}

ODB_TEST(other_kinds_are_refused)
{
	struct fixture *f = *state;
	struct ctree *tree = NULL;
	struct odb *odb = NULL;
	struct pack *pack;

	make_example(f);
	pack = must_open_pack(f->path);
	assert_int_equal(pack_tree(pack, pack_entry(pack, 0), &tree), -EINVAL);
	assert_int_equal(pack_table(pack, pack_entry(pack, 1), &odb), -EINVAL);
	pack_close(pack);
}

ODB_TEST(a_pack_may_be_empty)
{
	struct fixture *f = *state;
	struct pack *pack;

	assert_int_equal(pack_writer_finish(new_writer(f->path)), 0);
	pack = must_open_pack(f->path);
	assert_int_equal(pack_nr(pack), 0);
	assert_null(pack_find(pack, "a"));
	pack_close(pack);
}

/* Rows of slots that are full, files that grew, keys of all lengths. */
ODB_TEST(random_tables_come_out)
{
	static const size_t sizes[] = { 1, 2, 300, 20000 };
	struct fixture *f = *state;

	for (int i = 0; i < 12; i++) {
		struct odb *odb = must_open(beside(f, "t"), ODB_RDWR), *is;
		struct pack_writer *writer = new_writer(f->path);
		struct pack *pack;

		add_keys(odb, (uint64_t)i, sizes[i / 3], i % 3);
		put_table(writer, "t", odb, NULL);
		assert_int_equal(pack_writer_finish(writer), 0);
		pack = must_open_pack(f->path);
		is = must_have_table(pack, "t");
		must_be_equal(odb, is);
		pack_close(pack);
		odb_close(is);
		odb_close(odb);
		unlink(beside(f, "t"));
	}
}

ODB_TEST(keys_and_counts_may_be_anything)
{
	static const uint64_t edges[] = { 0,
					  1,
					  127,
					  128,
					  UINT32_MAX - 1,
					  UINT32_MAX,
					  UINT64_C(1) << 32,
					  UINT64_C(1) << 63,
					  UINT64_MAX - 1,
					  UINT64_MAX };
	const size_t nr = sizeof(edges) / sizeof(edges[0]);
	struct fixture *f = *state;
	struct odb *odb = must_open(beside(f, "t"), ODB_RDWR), *is;
	struct pack_writer *writer = new_writer(f->path);
	struct pack *pack;

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(odb_add(odb, edges[i], edges[nr - 1 - i]), 0);
	put_table(writer, "t", odb, odb);
	assert_int_equal(pack_writer_finish(writer), 0);
	pack = must_open_pack(f->path);
	assert_int_equal(pack_entry(pack, 0)->total, UINT64_MAX);
	is = must_have_table(pack, "t");
	assert_int_equal(odb_get(is, 0), UINT64_MAX);
	assert_int_equal(odb_get(is, 1), UINT64_MAX);
	assert_int_equal(odb_get(is, UINT64_MAX - 1), 2);
	assert_int_equal(odb_get(is, UINT64_C(1) << 63), 2 * 127);
	assert_int_equal(walk(is), nr - 1);
	pack_close(pack);
	odb_close(is);
	odb_close(odb);
}

/* A level for each of a recursion: no stack of ours may be as deep. */
ODB_TEST(a_tree_may_be_deep)
{
	const uint32_t depth = 300000;
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(beside(f, "tree"), ODB_RDWR);
	struct pack_writer *writer = new_writer(f->path);
	uint32_t image, node = CTREE_ROOT;
	struct ctree_node deepest;
	struct pack *pack;

	assert_int_equal(ctree_image(tree, "deep", 4, &image), 0);
	for (uint32_t i = 0; i < depth; i++)
		assert_int_equal(ctree_child(tree, node, image, 1, &node), 0);
	assert_int_equal(ctree_add(tree, node, 5), 0);
	ctree_close(tree);
	tree = must_open_tree(beside(f, "tree"), ODB_RDONLY);
	put_tree(writer, "tree", tree, tree);
	assert_int_equal(pack_writer_finish(writer), 0);
	ctree_close(tree);
	pack = must_open_pack(f->path);
	tree = must_have_tree(pack, "tree");
	assert_int_equal(ctree_nr_nodes(tree), depth);
	ctree_node(tree, depth, &deepest);
	assert_int_equal(deepest.count, 10);
	assert_int_equal(deepest.parent, depth - 1);
	ctree_close(tree);
	pack_close(pack);
}

/* ---- sums ------------------------------------------------------------------
 */

/* The bytes of a pack of the sum of both; *@len of them. */
static uint8_t *pack_tables(const struct fixture *f, const struct odb *a,
			    const struct odb *b, size_t *len)
{
	struct pack_writer *writer = new_writer(f->path);

	put_table(writer, "t", a, b);
	assert_int_equal(pack_writer_finish(writer), 0);
	return read_file(f->path, len);
}

static uint8_t *pack_trees(const struct fixture *f, const struct ctree *a,
			   const struct ctree *b, size_t *len)
{
	struct pack_writer *writer = new_writer(f->path);

	put_tree(writer, "t", a, b);
	assert_int_equal(pack_writer_finish(writer), 0);
	return read_file(f->path, len);
}

static void must_be_same_bytes(uint8_t *a, size_t a_len, uint8_t *b,
			       size_t b_len)
{
	assert_int_equal(a_len, b_len);
	assert_memory_equal(a, b, a_len);
	free(a);
	free(b);
}

/* a + b, b + a and the file to which both were added are the same pack. */
ODB_TEST(tables_add_up)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 30; i++) {
		struct odb *a = must_open(beside(f, "a"), ODB_RDWR);
		struct odb *b = must_open(beside(f, "b"), ODB_RDWR);
		uint8_t *ab, *ba, *sum;
		size_t ab_len, ba_len, sum_len;

		add_keys(a, i, 1 + i * 20, (int)i % 3);
		add_keys(b, i + 100, 500, (int)i % 3);
		add_keys(b, i, 10, (int)i % 3);
		ab = pack_tables(f, a, b, &ab_len);
		ba = pack_tables(f, b, a, &ba_len);
		assert_int_equal(odb_merge(a, b), 0);
		sum = pack_tables(f, a, NULL, &sum_len);
		assert_int_equal(sum_len, ab_len);
		assert_memory_equal(sum, ab, ab_len);
		free(sum);
		must_be_same_bytes(ab, ab_len, ba, ba_len);
		odb_close(a);
		odb_close(b);
		unlink(beside(f, "a"));
		unlink(beside(f, "b"));
	}
}

static struct ctree *new_tree(const struct fixture *f, const char *name,
			      uint64_t seed, size_t nr)
{
	struct ctree *tree = must_open_tree(beside(f, name), ODB_RDWR);

	add_stacks(tree, seed, nr);
	ctree_close(tree);
	return must_open_tree(beside(f, name), ODB_RDONLY);
}

/* As above; and the sum is what the stacks of both make in one file. */
ODB_TEST(trees_add_up)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 30; i++) {
		struct ctree *a = new_tree(f, "a", i, 1 + i * 9);
		struct ctree *b = new_tree(f, "b", i + 100, 200), *sum;
		size_t ab_len, ba_len, sum_len;
		uint8_t *ab = pack_trees(f, a, b, &ab_len);
		uint8_t *ba = pack_trees(f, b, a, &ba_len);
		uint8_t *both;
		struct pack *pack = must_open_pack(f->path);
		struct ctree *is = must_have_tree(pack, "t");

		sum = must_open_tree(beside(f, "sum"), ODB_RDWR);
		add_stacks(sum, i, 1 + i * 9);
		add_stacks(sum, i + 100, 200);
		ctree_close(sum);
		sum = must_open_tree(beside(f, "sum"), ODB_RDONLY);
		must_be_equal_trees(sum, is);
		both = pack_trees(f, sum, NULL, &sum_len);
		assert_int_equal(sum_len, ab_len);
		assert_memory_equal(both, ab, ab_len);
		free(both);
		must_be_same_bytes(ab, ab_len, ba, ba_len);
		pack_close(pack);
		ctree_close(a);
		ctree_close(b);
		ctree_close(is);
		ctree_close(sum);
		unlink(beside(f, "a"));
		unlink(beside(f, "b"));
		unlink(beside(f, "sum"));
	}
}

ODB_TEST(trees_merge_into_files)
{
	struct fixture *f = *state;
	struct ctree *b = new_tree(f, "b", 5, 300), *a, *sum;

	ctree_close(new_tree(f, "a", 4, 300));
	sum = must_open_tree(beside(f, "sum"), ODB_RDWR);
	add_stacks(sum, 4, 300);
	add_stacks(sum, 5, 300);
	ctree_close(sum);
	sum = must_open_tree(beside(f, "sum"), ODB_RDONLY);
	a = must_open_tree(beside(f, "a"), ODB_RDWR);
	assert_int_equal(ctree_merge(b, sum), -EBADF);
	assert_int_equal(ctree_merge(a, a), -EINVAL);
	assert_int_equal(ctree_merge(a, b), 0);
	ctree_close(a);
	a = must_open_tree(beside(f, "a"), ODB_RDONLY);
	must_be_equal_trees(sum, a);
	ctree_close(a);
	ctree_close(b);
	ctree_close(sum);
}

ODB_TEST(user_bytes_are_the_first_that_are_there)
{
	struct fixture *f = *state;
	struct odb *blank = must_open(beside(f, "blank"), ODB_RDWR);
	struct odb *one = must_open(beside(f, "one"), ODB_RDWR);
	struct odb *two = must_open(beside(f, "two"), ODB_RDWR);
	const struct odb *parts[] = { blank, one, two };
	struct pack_writer *writer = new_writer(f->path);
	uint8_t user[ODB_USER_SIZE];
	struct pack *pack;

	set_user(odb_user(one), 1);
	set_user(odb_user(two), 2);
	assert_int_equal(pack_writer_table(writer, "a", parts, 3), 0);
	assert_int_equal(pack_writer_table(writer, "b", parts, 1), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	pack = must_open_pack(f->path);
	set_user(user, 1);
	assert_memory_equal(pack_entry(pack, 0)->user, user, sizeof(user));
	set_user(user, 0);
	assert_memory_equal(pack_entry(pack, 1)->user, user, sizeof(user));
	pack_close(pack);
	assert_int_equal(odb_merge(blank, two), 0);
	assert_int_equal(odb_merge(blank, one), 0);
	set_user(user, 2);
	assert_memory_equal(odb_user(blank), user, sizeof(user));
	odb_close(blank);
	odb_close(one);
	odb_close(two);
}

/* A copy, entry by entry, is the same file. */
ODB_TEST(entries_can_be_copied)
{
	struct fixture *f = *state;
	struct pack_writer *writer;
	struct pack *pack;
	uint8_t *was;
	size_t len;

	make_example(f);
	was = read_file(f->path, &len);
	pack = must_open_pack(f->path);
	writer = new_writer(f->path);
	for (size_t i = 0; i < pack_nr(pack); i++)
		assert_int_equal(
			pack_writer_copy(writer, pack, pack_entry(pack, i)), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	pack_close(pack);
	must_hold(f->path, was, len);
	free(was);
}

/* ---- names -----------------------------------------------------------------
 */

ODB_TEST(names_ascend_and_stay_below)
{
	static const char *const bad[] = { "",	 "/",	 "/a",	 "m",
					   "a",	 "n/",	 "n//n", ".",
					   "..", "n/..", "../n", "n/./n" };
	struct fixture *f = *state;
	struct odb *odb = must_open(beside(f, "t"), ODB_RDWR);
	const struct odb *parts[] = { odb };
	struct pack_writer *writer = new_writer(f->path);
	char name[PACK_NAME_MAX + 2];

	put_table(writer, "m", odb, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pack_writer_table(writer, bad[i], parts, 1),
				 -EINVAL);
	memset(name, 'n', sizeof(name));
	name[PACK_NAME_MAX + 1] = '\0';
	assert_int_equal(pack_writer_table(writer, name, parts, 1),
			 -ENAMETOOLONG);
	put_table(writer, "m/.a/..b", odb, NULL);
	put_table(writer, name + 1, odb, NULL);
	assert_int_equal(pack_writer_finish(writer), 0);
	odb_close(odb);
}
