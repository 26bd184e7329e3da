// SPDX-License-Identifier: GPL-2.0-or-later
/* The sum of sample files of one name: what is a part of it, what is not, and
 * what is written. */

#include "pack_fixture.h"

#include "libdb/db_sum.h"

#define KEY 7

/* A table with @count at KEY, whose user bytes are @user. */
static void make_part(const struct fixture *f, const char *name, uint8_t user,
		      uint64_t count)
{
	struct odb *odb = must_open(beside(f, name), ODB_RDWR);

	set_user(odb_user(odb), user);
	if (count)
		assert_int_equal(odb_add(odb, KEY, count), 0);
	odb_close(odb);
}

/* A tree with @count at one node. */
static void make_tree_part(const struct fixture *f, const char *name,
			   uint8_t user, uint64_t count)
{
	struct ctree *tree = must_open_tree(beside(f, name), ODB_RDWR);
	uint32_t image, node;

	set_user(ctree_user(tree), user);
	assert_int_equal(ctree_image(tree, "image", 5, &image), 0);
	assert_int_equal(ctree_child(tree, CTREE_ROOT, image, KEY, &node), 0);
	assert_int_equal(ctree_add(tree, node, count), 0);
	ctree_close(tree);
}

static uint64_t count_of_tree(const struct ctree *tree)
{
	struct ctree_node node;

	assert_int_equal(ctree_nr_nodes(tree), 1);
	ctree_node(tree, 1, &node);
	assert_int_equal(node.offset, KEY);
	return node.count;
}

/* Add the loose file @name of the test's folder. */
static int add_loose(struct db_sum *sum, const struct fixture *f,
		     const char *name)
{
	const struct db_member member = { .name = name,
					  .path = beside(f, name) };
	struct db_folder *folder;
	int err;

	assert_int_equal(db_folder_open(&folder, f->dir), 0);
	err = db_sum_add(sum, folder, &member);
	db_folder_close(folder);
	return err;
}

/* The pack that the sum as entry "sum" makes. */
static struct pack *pack_of_sum(const struct fixture *f,
				const struct db_sum *sum)
{
	struct pack_writer *writer = new_writer(f->path);

	assert_int_equal(db_sum_write(sum, writer, "sum"), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	return must_open_pack(f->path);
}

static void must_have_user(const struct pack *pack, uint8_t byte)
{
	uint8_t user[ODB_USER_SIZE];

	set_user(user, byte);
	assert_memory_equal(pack_entry(pack, 0)->user, user, sizeof(user));
}

ODB_TEST(files_of_one_name_add_up)
{
	struct fixture *f = *state;
	struct db_sum sum;
	struct pack *pack;
	struct odb *odb;

	make_part(f, "a", 1, 10);
	make_part(f, "b", 2, 20);
	assert_int_equal(db_sum_init(&sum, false, 3), 0);
	assert_int_equal(add_loose(&sum, f, "b"), 0);
	assert_int_equal(add_loose(&sum, f, "a"), 0);
	assert_int_equal(sum.nr, 2);
	/* One that was open. */
	make_part(f, "c", 3, 40);
	db_sum_add_table(&sum, must_open(beside(f, "c"), ODB_RDONLY));
	assert_int_equal(sum.nr, 3);
	assert_int_equal(*(uint8_t *)db_sum_user(&sum, 0), 2);
	assert_int_equal(*(uint8_t *)db_sum_user(&sum, 2), 3);
	set_user(db_sum_user(&sum, 0), 9);
	pack = pack_of_sum(f, &sum);
	db_sum_release(&sum);
	assert_int_equal(sum.nr, 0);
	assert_null(sum.tables);
	odb = must_have_table(pack, "sum");
	assert_int_equal(odb_get(odb, KEY), 70);
	must_have_user(pack, 9);
	odb_close(odb);
	pack_close(pack);
}

ODB_TEST(trees_of_one_name_add_up)
{
	struct fixture *f = *state;
	struct ctree *tree;
	struct db_sum sum;
	struct pack *pack;

	make_tree_part(f, "a", 1, 10);
	make_tree_part(f, "b", 2, 20);
	assert_int_equal(db_sum_init(&sum, true, 2), 0);
	db_sum_add_tree(&sum, must_open_tree(beside(f, "a"), ODB_RDONLY));
	assert_int_equal(add_loose(&sum, f, "b"), 0);
	assert_int_equal(sum.nr, 2);
	assert_int_equal(*(uint8_t *)db_sum_user(&sum, 0), 1);
	assert_int_equal(*(uint8_t *)db_sum_user(&sum, 1), 2);
	pack = pack_of_sum(f, &sum);
	db_sum_release(&sum);
	tree = must_have_tree(pack, "sum");
	assert_int_equal(count_of_tree(tree), 30);
	must_have_user(pack, 1);
	ctree_close(tree);
	pack_close(pack);
}

/* A file that was made and never written to has no user bytes. */
ODB_TEST(blank_files_are_left_out)
{
	struct fixture *f = *state;
	uint8_t last[ODB_USER_SIZE] = { [ODB_USER_SIZE - 1] = 1 };
	struct db_sum sum;
	struct odb *odb;

	make_part(f, "blank", 0, 5);
	make_part(f, "a", 1, 0);
	assert_int_equal(db_sum_init(&sum, false, 3), 0);
	assert_int_equal(add_loose(&sum, f, "blank"), 0);
	assert_int_equal(sum.nr, 0);
	assert_int_equal(add_loose(&sum, f, "a"), 0);
	assert_int_equal(sum.nr, 1);
	assert_int_equal(add_loose(&sum, f, "blank"), 0);
	assert_int_equal(sum.nr, 1);
	/* One byte of them is enough. */
	odb = must_open(beside(f, "blank"), ODB_RDWR);
	memcpy(odb_user(odb), last, sizeof(last));
	odb_close(odb);
	assert_int_equal(add_loose(&sum, f, "blank"), 0);
	assert_int_equal(sum.nr, 2);
	db_sum_release(&sum);

	make_tree_part(f, "blank tree", 0, 5);
	assert_int_equal(db_sum_init(&sum, true, 1), 0);
	assert_int_equal(add_loose(&sum, f, "blank tree"), 0);
	assert_int_equal(sum.nr, 0);
	db_sum_release(&sum);
}

ODB_TEST(what_cannot_be_read_is_no_part)
{
	struct fixture *f = *state;
	struct db_sum sum;

	make_part(f, "a", 1, 1);
	make_tree_part(f, "tree", 1, 1);
	write_file(beside(f, "text"), "text", 4);
	assert_int_equal(db_sum_init(&sum, false, 2), 0);
	assert_int_equal(add_loose(&sum, f, "none"), -ENOENT);
	assert_int_equal(add_loose(&sum, f, "text"), -EBADMSG);
	assert_int_equal(add_loose(&sum, f, "tree"), -EBADMSG);
	assert_int_equal(sum.nr, 0);
	assert_int_equal(add_loose(&sum, f, "a"), 0);
	assert_int_equal(sum.nr, 1);
	db_sum_release(&sum);
	assert_int_equal(db_sum_init(&sum, true, 1), 0);
	assert_int_equal(add_loose(&sum, f, "a"), -EBADMSG);
	assert_int_equal(sum.nr, 0);
	db_sum_release(&sum);
}
