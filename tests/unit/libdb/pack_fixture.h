/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PACK_FIXTURE_H
#define TESTS_UNIT_PACK_FIXTURE_H

/*
 * What the tests of packs share: writing and opening that must succeed, and
 * content to pack.
 */

#include "libdb/pack.h"
#include "odb_fixture.h"

#define GENERATION 7

__attribute__((unused)) static struct pack_writer *new_writer(const char *path)
{
	struct pack_writer *writer = NULL;

	assert_int_equal(pack_writer_new(&writer, path, GENERATION), 0);
	assert_non_null(writer);
	return writer;
}

__attribute__((unused)) static struct pack *must_open_pack(const char *path)
{
	struct pack *pack = NULL;

	assert_int_equal(pack_open(&pack, path), 0);
	assert_non_null(pack);
	return pack;
}

__attribute__((unused)) static void must_refuse_pack(const char *path, int err)
{
	struct pack *pack = NULL;

	assert_int_equal(pack_open(&pack, path), err);
	assert_null(pack);
}

__attribute__((unused)) static struct ctree *must_open_tree(const char *path,
							    enum odb_mode mode)
{
	struct ctree *tree = NULL;

	assert_int_equal(ctree_open(&tree, path, mode), 0);
	return tree;
}

__attribute__((unused)) static struct odb *
must_have_table(const struct pack *pack, const char *name)
{
	const struct pack_entry *entry = pack_find(pack, name);
	struct odb *odb = NULL;

	assert_non_null(entry);
	assert_int_equal(entry->kind, PACK_TABLE);
	assert_int_equal(pack_table(pack, entry, &odb), 0);
	return odb;
}

__attribute__((unused)) static struct ctree *
must_have_tree(const struct pack *pack, const char *name)
{
	const struct pack_entry *entry = pack_find(pack, name);
	struct ctree *tree = NULL;

	assert_non_null(entry);
	assert_int_equal(entry->kind, PACK_TREE);
	assert_int_equal(pack_tree(pack, entry, &tree), 0);
	return tree;
}

__attribute__((unused)) static void put_table(struct pack_writer *writer,
					      const char *name,
					      const struct odb *a,
					      const struct odb *b)
{
	const struct odb *parts[] = { a, b };

	assert_int_equal(pack_writer_table(writer, name, parts, b ? 2 : 1), 0);
}

__attribute__((unused)) static void put_tree(struct pack_writer *writer,
					     const char *name,
					     const struct ctree *a,
					     const struct ctree *b)
{
	const struct ctree *parts[] = { a, b };

	assert_int_equal(pack_writer_tree(writer, name, parts, b ? 2 : 1), 0);
}

/* Keys of the range that @shape stands for; some counts are very large. */
__attribute__((unused)) static void add_keys(struct odb *odb, uint64_t seed,
					     size_t nr, int shape)
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
__attribute__((unused)) static void add_stacks(struct ctree *tree,
					       uint64_t seed, size_t nr)
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

__attribute__((unused)) static void set_user(void *user, uint8_t byte)
{
	memset(user, byte, ODB_USER_SIZE);
}

/* A pack with a table, an empty one, and a tree. */
__attribute__((unused)) static void make_example(struct fixture *f)
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

#endif /* TESTS_UNIT_PACK_FIXTURE_H */
