// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs: what goes in comes out, sums are sums, equal content is equal bytes;
 * whatever is damaged is noticed; a writer that fails leaves what was there.
 */
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/odb_fixture.h"

#include "libdb/ctree_format.h"
#include "libdb/pack_column.h"
#include "libdb/pack_content.h"
#include "libdb/pack_index.h"

#define GENERATION 7

static struct pack_writer *new_writer(const char *path)
{
	struct pack_writer *writer = NULL;

	assert_int_equal(pack_writer_new(&writer, path, GENERATION), 0);
	assert_non_null(writer);
	return writer;
}

static struct pack *must_open_pack(const char *path)
{
	struct pack *pack = NULL;

	assert_int_equal(pack_open(&pack, path), 0);
	assert_non_null(pack);
	return pack;
}

static void must_refuse_pack(const char *path, int err)
{
	struct pack *pack = NULL;

	assert_int_equal(pack_open(&pack, path), err);
	assert_null(pack);
}

static struct ctree *must_open_tree(const char *path, enum odb_mode mode)
{
	struct ctree *tree = NULL;

	assert_int_equal(ctree_open(&tree, path, mode), 0);
	return tree;
}

static struct odb *must_have_table(const struct pack *pack, const char *name)
{
	const struct pack_entry *entry = pack_find(pack, name);
	struct odb *odb = NULL;

	assert_non_null(entry);
	assert_int_equal(entry->kind, PACK_TABLE);
	assert_int_equal(pack_table(pack, entry, &odb), 0);
	return odb;
}

static struct ctree *must_have_tree(const struct pack *pack, const char *name)
{
	const struct pack_entry *entry = pack_find(pack, name);
	struct ctree *tree = NULL;

	assert_non_null(entry);
	assert_int_equal(entry->kind, PACK_TREE);
	assert_int_equal(pack_tree(pack, entry, &tree), 0);
	return tree;
}

static void put_table(struct pack_writer *writer, const char *name,
		      const struct odb *a, const struct odb *b)
{
	const struct odb *parts[] = { a, b };

	assert_int_equal(pack_writer_table(writer, name, parts, b ? 2 : 1), 0);
}

static void put_tree(struct pack_writer *writer, const char *name,
		     const struct ctree *a, const struct ctree *b)
{
	const struct ctree *parts[] = { a, b };

	assert_int_equal(pack_writer_tree(writer, name, parts, b ? 2 : 1), 0);
}

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

/* ---- content to pack ------------------------------------------------------
 */

/* Keys of the range that @shape stands for; some counts are very large. */
static void add_keys(struct odb *odb, uint64_t seed, size_t nr, int shape)
{
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t r = scattered(seed * 100000 + i);
		uint64_t key = r >> (shape == 0 ? 0 : shape == 1 ? 40 : 54);

		if (shape == 2) /* arcs: few callers, with few callees */
			key = key % 9 << 32 | key >> 4;
		assert_int_equal(odb_add(odb, key, r % 11 ? r % 300 : r), 0);
	}
}

/* Stacks of a few functions; what comes at random is told by @seed. */
static void add_stacks(struct ctree *tree, uint64_t seed, size_t nr)
{
	uint32_t images[5], node = CTREE_ROOT;

	for (uint32_t i = 0; i < 5; i++) {
		char text[40];
		int len = snprintf(text, sizeof(text), "%.*s",
				   (int)(30 - 7 * ((i + seed) % 5)),
				   "an image with quite a long name");

		assert_int_equal(ctree_image(tree, text, (size_t)len,
					     &images[(i + seed) % 5]),
				 0);
	}
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t r = scattered(seed * 100000 + i);

		if (r % 4 == 0)
			node = CTREE_ROOT;
		assert_int_equal(ctree_child(tree, node, images[r >> 8 & 3],
					     r >> 16 & 7 ? r >> 20 & 3 : ~r,
					     &node),
				 0);
		if (r % 3)
			assert_int_equal(ctree_add(tree, node, r >> 60), 0);
	}
}

static void set_user(void *user, uint8_t byte)
{
	memset(user, byte, ODB_USER_SIZE);
}

/* A pack with a table, an empty one, and a tree. */
static void make_example(struct fixture *f)
{
	struct odb *odb = must_open(beside(f, "table"), ODB_RDWR);
	struct odb *empty = must_open(beside(f, "empty"), ODB_RDWR);
	struct ctree *tree = must_open_tree(beside(f, "tree"), ODB_RDWR);
	struct pack_writer *writer = new_writer(f->path);

	add_keys(odb, 1, 60, 2);
	set_user(odb_user(odb), 1);
	add_stacks(tree, 1, 60);
	set_user(ctree_user(tree), 2);
	ctree_close(tree);
	tree = must_open_tree(beside(f, "tree"), ODB_RDONLY);
	put_table(writer, "{root}/a", odb, NULL);
	put_tree(writer, "{root}/a/{tree}/x", tree, NULL);
	put_table(writer, "{root}/b", empty, NULL);
	assert_int_equal(pack_writer_finish(writer), 0);
	odb_close(odb);
	odb_close(empty);
	ctree_close(tree);
}

/* ---- what goes in comes out ------------------------------------------------
 */

static void entries_are_found_by_name(void **state)
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

static void content_does_not_need_the_pack(void **state)
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

static void other_kinds_are_refused(void **state)
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

static void a_pack_may_be_empty(void **state)
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
static void random_tables_come_out(void **state)
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

static void keys_and_counts_may_be_anything(void **state)
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
static void a_tree_may_be_deep(void **state)
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
static void tables_add_up(void **state)
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
static void trees_add_up(void **state)
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

static void trees_merge_into_files(void **state)
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

static void user_bytes_are_the_first_that_are_there(void **state)
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
static void entries_can_be_copied(void **state)
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

static void names_ascend_and_stay_below(void **state)
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

/* ---- damage ----------------------------------------------------------------
 */

/* Whether all of the pack can be read. */
static bool is_sound(const char *path)
{
	struct pack *pack = NULL;
	int err = pack_open(&pack, path);

	for (size_t i = 0; !err && i < pack_nr(pack); i++) {
		const struct pack_entry *entry = pack_entry(pack, i);
		struct ctree *tree = NULL;
		struct odb *odb = NULL;

		if (entry->kind == PACK_TREE)
			err = pack_tree(pack, entry, &tree);
		else
			err = pack_table(pack, entry, &odb);
		ctree_close(tree);
		odb_close(odb);
	}
	pack_close(pack);
	assert_true(!err || err == -EBADMSG || err == -EPROTO);
	return !err;
}

static void any_cut_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	size_t len;

	make_example(f);
	assert_true(is_sound(f->path));
	bytes = read_file(f->path, &len);
	for (size_t cut = 0; cut < len; cut++) {
		write_file(f->path, bytes, cut);
		must_refuse_pack(f->path, -EBADMSG);
	}
	bytes[len] = 0;
	write_file(f->path, bytes, len + 1);
	must_refuse_pack(f->path, -EBADMSG);
	free(bytes);
}

/* A file that is cut while it is open is an error, no signal. */
static void a_cut_while_it_is_read_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct odb *odb = NULL;
	struct pack *pack;

	make_example(f);
	pack = must_open_pack(f->path);
	assert_int_equal(truncate(f->path, 64), 0);
	assert_int_equal(pack_table(pack, pack_entry(pack, 0), &odb), -EBADMSG);
	pack_close(pack);
}

static void any_changed_byte_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	size_t len;

	make_example(f);
	bytes = read_file(f->path, &len);
	for (size_t i = 0; i < 4 * len; i++) {
		uint8_t change = (uint8_t)(i & 3 ? scattered(i) | 1 : 0x80);

		bytes[i / 4] ^= change;
		write_file(f->path, bytes, len);
		assert_false(is_sound(f->path));
		bytes[i / 4] ^= change;
	}
	write_file(f->path, bytes, len);
	assert_true(is_sound(f->path));
	free(bytes);
}

static void others_are_told_from_damage(void **state)
{
	struct fixture *f = *state;
	struct pack_header header;
	uint8_t *bytes;
	size_t len;

	make_example(f);
	bytes = read_file(f->path, &len);
	memcpy(&header, bytes, sizeof(header));
	header.version++;
	memcpy(bytes, &header, sizeof(header));
	write_file(f->path, bytes, len);
	must_refuse_pack(f->path, -EPROTO);
	header.version--;
	header.byte_order = PACK_BYTE_ORDER_SWAPPED;
	memcpy(bytes, &header, sizeof(header));
	write_file(f->path, bytes, len);
	must_refuse_pack(f->path, -EPROTO);
	must_refuse_pack(beside(f, "table"), -EBADMSG);
	must_refuse_pack(f->dir, -EISDIR);
	must_refuse_pack(beside(f, "missing"), -ENOENT);
	free(bytes);
}

/* ---- liars -----------------------------------------------------------------
 */

/* Columns of numbers: each list ends with LAST. */
#define LAST UINT64_C(0xdeadbeefdeadbeef)

static void pack_columns(struct pack_bytes *to, size_t nr,
			 const uint64_t columns[][16])
{
	struct pack_bytes bytes[PACK_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; columns[i][j] != LAST; j++)
			pack_bytes_number(&bytes[i], columns[i][j]);
	assert_int_equal(pack_columns_put(to, bytes, nr), 0);
	for (size_t i = 0; i < nr; i++)
		pack_bytes_release(&bytes[i]);
}

static const uint8_t no_user[ODB_USER_SIZE];

static int get_table(const uint64_t columns[PACK_TABLE_COLUMNS][16],
		     uint64_t nr, uint64_t total)
{
	struct pack_entry entry = { "t", PACK_TABLE, no_user, nr, total };
	struct pack_bytes bytes = { 0 };
	struct odb *odb = NULL;
	int err;

	pack_columns(&bytes, PACK_TABLE_COLUMNS, columns);
	err = pack_table_get(&odb, bytes.bytes, bytes.len, &entry);
	pack_bytes_release(&bytes);
	odb_close(odb);
	return err;
}

static void tables_that_cannot_be_are_refused(void **state)
{
	/* 2 groups: 1 key with half 5, 2 with half 6; counts 2, 3, 4 */
	const uint64_t sound[3][16] = { { 5, 0, 0, 1, LAST },
					{ 7, 1, UINT32_MAX - 2, LAST },
					{ 1, 2, 3, LAST } };
	uint64_t bad[3][16];

	(void)state;
	assert_int_equal(get_table(sound, 3, 9), 0);
	assert_int_equal(get_table(sound, 3, 8), -EBADMSG);
	assert_int_equal(get_table(sound, 2, 5), -EBADMSG);
	assert_int_equal(get_table(sound, 4, 9), -EBADMSG);
	assert_int_equal(get_table(sound, UINT64_MAX, 9), -EBADMSG);
	memcpy(bad, sound, sizeof(bad));
	bad[1][2]++; /* a key beyond its half */
	assert_int_equal(get_table(bad, 3, 9), -EBADMSG);
	memcpy(bad, sound, sizeof(bad));
	bad[0][2] = UINT32_MAX - 5; /* a group beyond the last */
	assert_int_equal(get_table(bad, 3, 9), -EBADMSG);
	memcpy(bad, sound, sizeof(bad));
	bad[0][3] = UINT64_MAX; /* more keys than there are */
	assert_int_equal(get_table(bad, 3, 9), -EBADMSG);
	memcpy(bad, sound, sizeof(bad));
	bad[2][0] = UINT64_MAX; /* one more than can be counted */
	assert_int_equal(get_table(bad, 3, UINT64_MAX), -EBADMSG);
}

static int get_tree(const uint64_t columns[PACK_TREE_COLUMNS][16], uint64_t nr,
		    uint64_t total)
{
	struct pack_entry entry = { "t", PACK_TREE, no_user, nr, total };
	struct pack_bytes bytes = { 0 };
	struct ctree *tree = NULL;
	int err;

	pack_columns(&bytes, PACK_TREE_COLUMNS, columns);
	err = pack_tree_get(&tree, bytes.bytes, bytes.len, &entry);
	pack_bytes_release(&bytes);
	ctree_close(tree);
	return err;
}

/* What becomes of a sound tree with columns[column][at] = value. */
static int get_changed(const uint64_t sound[PACK_TREE_COLUMNS][16],
		       size_t column, size_t at, uint64_t value)
{
	uint64_t columns[PACK_TREE_COLUMNS][16];

	memcpy(columns, sound, sizeof(columns));
	columns[column][at] = value;
	return get_tree(columns, 4, 6);
}

static void trees_that_cannot_be_are_refused(void **state)
{
	/* f -> (g, h -> f) in images "a" and "bb" */
	const uint64_t sound[PACK_TREE_COLUMNS][16] = {
		{ 1, 'a', 2, 'b', 'b', LAST },
		{ 0, 0, 1, LAST },
		{ 10, 20, 10, LAST },
		{ 1, 2, 0, 1, 0, LAST },
		{ 0, 1, 2, 0, LAST },
		{ 1, 2, LAST },
		{ 3, 0, LAST },
	};
	static const struct {
		const char *what;
		size_t column, at;
		uint64_t value;
	} lies[] = {
		{ "an image without bytes", 0, 0, 0 },
		{ "an image longer than any", 0, 0, CTREE_IMAGE_MAX + 1 },
		{ "images not in order", 0, 1, 'c' },
		{ "half an image", 0, 4, LAST },
		{ "a function of no image", 1, 1, 2 },
		{ "the same function twice", 2, 1, 10 },
		{ "a function without offset", 2, 2, LAST },
		{ "more roots than nodes", 3, 0, 2 },
		{ "more roots than can be", 3, 0, UINT64_MAX },
		{ "no roots", 3, 0, 0 },
		{ "more children than nodes", 3, 4, 1 },
		{ "fewer children", 3, 1, 1 },
		{ "a node of no function", 4, 3, 3 },
		{ "siblings not in order", 4, 1, 2 },
		{ "a count too few", 6, 1, LAST },
		{ "another sum", 6, 1, 1 },
	};

	(void)state;
	assert_int_equal(get_tree(sound, 4, 6), 0);
	assert_int_equal(get_tree(sound, 3, 6), -EBADMSG);
	assert_int_equal(get_tree(sound, 5, 6), -EBADMSG);
	assert_int_equal(get_tree(sound, UINT64_MAX, 6), -EBADMSG);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (get_changed(sound, lies[i].column, lies[i].at,
				lies[i].value) != -EBADMSG)
			fail_msg("taken: %s", lies[i].what);
}

/* Lengths are claims: nothing is allocated for them. */
static void columns_that_lie_about_their_length_are_refused(void **state)
{
	const struct pack_entry entry = { "t", PACK_TABLE, no_user, 1u << 27,
					  0 };
	static const uint64_t packed[] = { 0, 1, 6, UINT32_MAX, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		struct pack_bytes bytes = { 0 };
		struct odb *odb = NULL;

		for (int column = 0; column < 3; column++) {
			pack_bytes_number(&bytes, UINT64_MAX - 1);
			pack_bytes_number(&bytes, packed[i]);
		}
		pack_bytes_put(&bytes, no_user, sizeof(no_user));
		assert_int_equal(pack_table_get(&odb, bytes.bytes, bytes.len,
						&entry),
				 -EBADMSG);
		pack_bytes_release(&bytes);
	}
}

/* ---- writers that fail -----------------------------------------------------
 */

static int write_limited(struct fixture *f, const struct odb *odb, size_t limit)
{
	struct rlimit was, now;
	struct pack_writer *writer = NULL;
	int err;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	now = was;
	now.rlim_cur = limit;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	err = pack_writer_new(&writer, f->path, 8);
	if (!err)
		err = pack_writer_table(writer, "other", &odb, 1);
	if (!err)
		err = pack_writer_finish(writer);
	else
		pack_writer_cancel(writer);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	return err;
}

static void a_writer_that_fails_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct odb *odb;
	uint8_t *was;
	size_t len, limit = 0;

	make_example(f);
	was = read_file(f->path, &len);
	odb = must_open(beside(f, "table"), ODB_RDONLY);
	signal(SIGXFSZ, SIG_IGN);
	for (; write_limited(f, odb, limit) == -EFBIG; limit += 20) {
		must_hold(f->path, was, len);
		assert_int_not_equal(access(beside(f, ".db.grow"), F_OK), 0);
	}
	signal(SIGXFSZ, SIG_DFL);
	assert_true(limit > sizeof(struct pack_header) + 100);
	assert_true(is_sound(f->path));
	odb_close(odb);
	free(was);
}

static void a_cancelled_writer_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct pack_writer *writer = new_writer(f->path);

	assert_int_equal(access(beside(f, ".db.grow"), F_OK), 0);
	pack_writer_cancel(writer);
	assert_int_not_equal(access(beside(f, ".db.grow"), F_OK), 0);
	assert_int_not_equal(access(f->path, F_OK), 0);
	pack_writer_cancel(NULL);
	assert_int_equal(pack_writer_new(&writer, beside(f, "no/pack"), 1),
			 -ENOENT);
}

static void trees_to_be_written_are_refused(void **state)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(beside(f, "tree"), ODB_RDWR);
	const struct ctree *parts[] = { tree };
	struct pack_writer *writer = new_writer(f->path);

	assert_int_equal(pack_writer_tree(writer, "t", parts, 1), -EINVAL);
	pack_writer_cancel(writer);
	ctree_close(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		odb_unit_test(entries_are_found_by_name),
		odb_unit_test(content_does_not_need_the_pack),
		odb_unit_test(other_kinds_are_refused),
		odb_unit_test(a_pack_may_be_empty),
		odb_unit_test(random_tables_come_out),
		odb_unit_test(keys_and_counts_may_be_anything),
		odb_unit_test(a_tree_may_be_deep),
		odb_unit_test(tables_add_up),
		odb_unit_test(trees_add_up),
		odb_unit_test(trees_merge_into_files),
		odb_unit_test(user_bytes_are_the_first_that_are_there),
		odb_unit_test(entries_can_be_copied),
		odb_unit_test(names_ascend_and_stay_below),
		odb_unit_test(any_cut_is_noticed),
		odb_unit_test(a_cut_while_it_is_read_is_noticed),
		odb_unit_test(any_changed_byte_is_noticed),
		odb_unit_test(others_are_told_from_damage),
		cmocka_unit_test(tables_that_cannot_be_are_refused),
		cmocka_unit_test(trees_that_cannot_be_are_refused),
		cmocka_unit_test(
			columns_that_lie_about_their_length_are_refused),
		odb_unit_test(a_writer_that_fails_changes_nothing),
		odb_unit_test(a_cancelled_writer_leaves_nothing),
		odb_unit_test(trees_to_be_written_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
