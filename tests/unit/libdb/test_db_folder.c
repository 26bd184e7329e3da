// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Session folders: what is in them in each state that a packer may leave, what
 * is not, in which order; the lock; packs that cannot be used.
 */
#include <limits.h>
#include <sys/file.h>
#include <time.h>

#include "odb_fixture.h"

#include "libdb/db_folder.h"
#include "libdb/pack.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"

#define A "{root}/bin/a/{dep}/{root}/bin/a/E"
#define B "{root}/bin/b/{dep}/{root}/bin/b/E"
#define TREE "{root}/bin/b/{tree}/E"

/* What pathconf(3) says of names in any folder that there is. */
static long longest_name = NAME_MAX;

long pathconf(const char *path, int name)
{
	assert_int_equal(name, _PC_NAME_MAX);
	return access(path, F_OK) ? -1 : longest_name;
}

/* Nobody sleeps; how often one wanted to. */
static unsigned int nr_sleeps;

int nanosleep(const struct timespec *requested_time, struct timespec *remaining)
{
	(void)remaining;
	assert_in_range(requested_time->tv_nsec, 1, 999999999);
	nr_sleeps++;
	return 0;
}

/* ---- making what there is -------------------------------------------------
 */

static const char *place(const struct fixture *f, const char *name)
{
	const char *path = beside(f, name);

	assert_int_equal(op_make_parents(path, 0755), 0);
	return path;
}

/* Count @nr more at key 1 of a file. */
static void count(const struct fixture *f, const char *name, uint64_t nr)
{
	struct odb *odb;

	assert_int_equal(odb_open(&odb, place(f, name), ODB_RDWR), 0);
	assert_int_equal(odb_add(odb, 1, nr), 0);
	odb_close(odb);
}

/* Count @nr more for one node. */
static void count_stack(const struct fixture *f, const char *name, uint64_t nr)
{
	struct ctree *tree;
	uint32_t image, node;

	assert_int_equal(ctree_open(&tree, place(f, name), ODB_RDWR), 0);
	assert_int_equal(ctree_image(tree, "image", 5, &image), 0);
	assert_int_equal(ctree_child(tree, CTREE_ROOT, image, 7, &node), 0);
	assert_int_equal(ctree_add(tree, node, nr), 0);
	ctree_close(tree);
}

static void touch(const struct fixture *f, const char *name)
{
	int fd = open(place(f, name), O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* A pack of that generation with 10 in A, and 20 in TREE. */
static void pack(const struct fixture *f, uint64_t generation)
{
	struct pack_writer *writer;
	struct ctree *tree;
	struct odb *odb;

	count(f, "x/table", 10);
	count_stack(f, "x/tree", 20);
	assert_int_equal(odb_open(&odb, beside(f, "x/table"), ODB_RDONLY), 0);
	assert_int_equal(ctree_open(&tree, beside(f, "x/tree"), ODB_RDONLY), 0);
	assert_int_equal(
		pack_writer_new(&writer, beside(f, "packed"), generation), 0);
	assert_int_equal(pack_writer_table(writer, A,
					   (const struct odb *[]){ odb }, 1),
			 0);
	assert_int_equal(pack_writer_tree(writer, TREE,
					  (const struct ctree *[]){ tree }, 1),
			 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	odb_close(odb);
	ctree_close(tree);
	assert_int_equal(unlink(beside(f, "x/table")), 0);
	assert_int_equal(unlink(beside(f, "x/tree")), 0);
}

/* ---- looking at it ---------------------------------------------------------
 */

struct view {
	struct db_folder *folder;
	char text[4096]; /* "NAME+COUNT " of each, "NAME!COUNT" of packed ones
			  */
	int stop; /* what to return for a member */
};

static uint64_t tree_total(const struct ctree *tree)
{
	struct ctree_node node;
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
		ctree_node(tree, i, &node);
		sum += node.count;
	}
	return sum;
}

static uint64_t total_of(const struct db_folder *folder,
			 const struct db_member *member)
{
	struct ctree *tree;
	struct odb *odb;
	uint64_t total;

	if (strstr(member->name, "{tree}")) {
		assert_int_equal(db_folder_tree(folder, member, &tree), 0);
		total = tree_total(tree);
		ctree_close(tree);
	} else {
		assert_int_equal(db_folder_table(folder, member, &odb), 0);
		total = odb_get(odb, 1);
		odb_close(odb);
	}
	return total;
}

static int add_member(const struct db_member *member, void *ctx)
{
	struct view *view = ctx;
	size_t len = strlen(view->text);

	if (member->entry) {
		assert_string_equal(member->path,
				    db_folder_pack_path(view->folder));
		assert_string_equal(member->name, member->entry->name);
	} else if (!strstr(member->path, "/" DB_FOLDER_LOOSE "/")) {
		assert_string_equal(member->path + strlen(member->path) -
					    strlen(member->name),
				    member->name);
	}
	snprintf(view->text + len, sizeof(view->text) - len, "%s%c%d ",
		 member->name, member->entry ? '!' : '+',
		 (int)total_of(view->folder, member));
	return view->stop;
}

static struct db_folder *must_open_folder(const char *path)
{
	struct db_folder *folder = NULL;

	assert_int_equal(db_folder_open(&folder, path), 0);
	assert_non_null(folder);
	return folder;
}

static void must_list(const char *path, const char *wanted)
{
	struct view view = { .folder = must_open_folder(path) };
	const struct db_visitor visitor = { .member = add_member,
					    .ctx = &view };

	assert_int_equal(db_folder_each(view.folder, &visitor), 0);
	assert_string_equal(view.text, wanted);
	db_folder_close(view.folder);
}

/* ---- tests -----------------------------------------------------------------
 */

ODB_TEST(test_loose)
{
	const struct fixture *f = *state;

	must_list(f->dir, "");
	count(f, B, 2);
	count(f, A, 1);
	count_stack(f, TREE, 3);
	must_list(f->dir, A "+1 " B "+2 " TREE "+3 ");
}

/* ---- names of loose files --------------------------------------------------
 */

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

ODB_TEST(test_paths_of_loose_files)
{
	static const struct {
		const char *name, *path;
	} rows[] = {
		{ A, "{loose}/{root}%-bin%-a%-{dep}%-{root}%-bin%-a%-E" },
		{ "{root}/%2Fa/%+/E", "{loose}/{root}%-%2Fa%-%+%-E" },
		/* as long as a piece, and longer */
		{ SIXTY SIXTY SIXTY SIXTY, "{loose}/" SIXTY SIXTY SIXTY SIXTY },
		{ SIXTY SIXTY SIXTY SIXTY "x",
		  "{loose}/" SIXTY SIXTY SIXTY TEN TEN TEN TEN TEN
		  "01234567%_/89x" },
		/* no piece begins with a dot */
		{ SIXTY SIXTY SIXTY TEN TEN TEN TEN TEN "0123456..." SIXTY,
		  "{loose}/" SIXTY SIXTY SIXTY TEN TEN TEN TEN TEN
		  "012345%_/6..." SIXTY },
		/* nor is a slash in two pieces */
		{ SIXTY SIXTY SIXTY TEN TEN TEN TEN TEN "0123456/." SIXTY,
		  "{loose}/" SIXTY SIXTY SIXTY TEN TEN TEN TEN TEN
		  "0123456%_/%-." SIXTY },
	};
	const struct fixture *f = *state;
	char path[8192];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *wanted = beside(f, rows[i].path);
		size_t len = strlen(wanted) + 1;

		assert_int_equal(
			db_folder_loose(f->dir, rows[i].name, path, len), 0);
		assert_string_equal(path, wanted);
		assert_int_equal(db_folder_loose(f->dir, rows[i].name, path,
						 len - 1),
				 -ENAMETOOLONG);
	}
}

ODB_TEST(test_short_names)
{
	const struct fixture *f = *state;
	char path[8192];

	longest_name = 254;
	assert_int_equal(db_folder_loose(f->dir, A, path, sizeof(path)), 0);
	assert_string_equal(path, beside(f, A));
	/* as a folder above says, where there is none yet */
	assert_int_equal(
		db_folder_loose(beside(f, "a/b"), A, path, sizeof(path)), 0);
	assert_string_equal(path, beside(f, "a/b/" A));
	assert_int_equal(db_folder_loose("none", A, path, sizeof(path)), 0);
	assert_non_null(strstr(path, "none/{loose}/"));
	errno = EACCES;
	longest_name = -1;
	assert_int_equal(db_folder_loose(f->dir, A, path, sizeof(path)), 0);
	assert_non_null(strstr(path, "/{loose}/"));
	longest_name = NAME_MAX;
}

/* A name of @len bytes that has dots, slashes and '%' anywhere. */
static void make_name(char *name, size_t len, unsigned int seed)
{
	static const char *const parts[] = { ".", "/a", "%2F", "b", "-", "_" };
	size_t nr = (size_t)sprintf(name, "{root}/a");

	while (nr + 3 < len) {
		seed = seed * 1664525 + 1013904223;
		nr += (size_t)sprintf(name + nr, "%s", parts[(seed >> 16) % 6]);
	}
	sprintf(name + nr, "/E");
}

ODB_TEST(test_names_of_loose_files)
{
	const struct fixture *f = *state;
	char name[4096], path[8192], wanted[4096 + 8];
	bool is_loose = true;

	/* Few of those that have a folder for each slash. */
	for (unsigned int i = 0; i < 300; i += is_loose ? 1 : 20) {
		make_name(name, 10 + i * 10, i);
		assert_int_equal(
			db_folder_loose(f->dir, name, path, sizeof(path)), 0);
		/* The longest are where they say. */
		is_loose = strstr(path, "/{loose}/") != NULL;
		assert_true(is_loose || !strcmp(path, beside(f, name)));
		assert_true(is_loose || i > 100);
		count(f, path + strlen(f->dir), i + 1);
		snprintf(wanted, sizeof(wanted), "%s+%u ", name, i + 1);
		must_list(f->dir, wanted);
		assert_int_equal(unlink(path), 0);
		assert_true(is_loose || !op_remove_tree(beside(f, "{root}")));
	}
	assert_false(is_loose);
}

ODB_TEST(test_strangers_among_loose_files)
{
	const struct fixture *f = *state;

	count(f, "{loose}/{root}%-a", 1);
	count(f, "{loose}/{root}%-a.bad", 2);
	count(f, "{loose}/b/c", 3);
	count(f, "{loose}/b%_/%-c", 4);
	touch(f, "{loose}/.{root}%-a.grow");
	count(f, ".packing-2/{loose}/{root}%-a", 5);
	must_list(f->dir, "{root}/a+5 {loose}/b/c+3 b/c+4 {root}/a+1 "
			  "{root}/a.bad+2 ");
}

/* ---- what there is, and where ----------------------------------------------
 */

/* "a.b" is before "a/" for strcmp(), but not where one lists folders. */
ODB_TEST(test_order)
{
	const struct fixture *f = *state;
	static const char *const names[] = { "{a}/x/1", "{a}/x/2", "{a}/x.y/1",
					     "{a}/xy", "{a}0" };
	char wanted[200] = "";

	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			assert_int_equal(
				(db_folder_compare(names[i], names[j]) > 0) -
					(db_folder_compare(names[i], names[j]) <
					 0),
				(i > j) - (i < j));
	assert_true(db_folder_compare("a", "a/b") < 0);
	assert_true(db_folder_compare("a\x80", "a/b") > 0);
	for (size_t i = 4; i-- > 0;)
		count(f, names[i], i + 1);
	for (size_t i = 0; i < 4; i++)
		snprintf(wanted + strlen(wanted),
			 sizeof(wanted) - strlen(wanted), "%s+%zu ", names[i],
			 i + 1);
	must_list(f->dir, wanted);
}

ODB_TEST(test_what_is_left_out)
{
	const struct fixture *f = *state;

	count(f, A, 1);
	touch(f, "ledger");
	touch(f, "{file}");
	touch(f, "other/{root}/x");
	touch(f, ".hidden/{root}/x");
	touch(f, "{root}/bin/a/{dep}/{root}/bin/a/.E.grow");
	touch(f, ".packed.grow");
	touch(f, ".packing-/{root}/x");
	touch(f, ".packing-0/{root}/x");
	touch(f, ".packing-01/{root}/x");
	touch(f, ".packing-1x/{root}/x");
	touch(f, ".packing-18446744073709551616/{root}/x");
	touch(f, ".packing-3/x");
	touch(f, ".packing-3/ledger/x");
	assert_int_equal(symlink("E", place(f, "{root}/bin/a/link")), 0);
	assert_int_equal(symlink("{root}", place(f, "{kern}")), 0);
	must_list(f->dir, A "+1 ");
	/* A folder of the name of a hidden file may be part of a path. */
	count(f, "{root}/home/.bin/E", 4);
	must_list(f->dir, A "+1 {root}/home/.bin/E+4 ");
}

TEST(test_numbers)
{
	assert_int_equal(db_folder_packing(".packing-1"), 1);
	assert_true(db_folder_packing(".packing-18446744073709551615") ==
		    UINT64_MAX);
	assert_int_equal(db_folder_packing(".packing-18446744073709551616"), 0);
	assert_int_equal(db_folder_packing(".packing-"), 0);
	assert_int_equal(db_folder_packing(".packing-0"), 0);
	assert_int_equal(db_folder_packing(".packing--1"), 0);
	assert_int_equal(db_folder_packing(".packing- 1"), 0);
	assert_int_equal(db_folder_packing("packing-1"), 0);
	assert_int_equal(db_folder_packing("{root}"), 0);
}

/* From loose to packed, through every state in which a packer may be killed. */
ODB_TEST(test_states_of_packing)
{
	const struct fixture *f = *state;

	count(f, A, 10);
	count_stack(f, TREE, 20);
	must_list(f->dir, A "+10 " TREE "+20 ");
	assert_int_equal(mkdir(beside(f, ".packing-4"), 0755), 0);
	must_list(f->dir, A "+10 " TREE "+20 ");
	assert_int_equal(
		rename(beside(f, "{root}"), beside(f, ".packing-4/{root}")), 0);
	must_list(f->dir, A "+10 " TREE "+20 ");
	count(f, A, 3);
	must_list(f->dir, A "+10 " TREE "+20 " A "+3 ");
	touch(f, ".packed.grow");
	must_list(f->dir, A "+10 " TREE "+20 " A "+3 ");
	pack(f, 4);
	must_list(f->dir, A "!10 " TREE "!20 " A "+3 ");
	/* The next ones, in the order of their numbers' digits. */
	count(f, ".packing-5/" A, 5);
	count(f, ".packing-10/" B, 6);
	must_list(f->dir, A "!10 " TREE "!20 " B "+6 " A "+5 " A "+3 ");
	pack(f, 5);
	must_list(f->dir, A "!10 " TREE "!20 " B "+6 " A "+3 ");
	pack(f, 11);
	must_list(f->dir, A "!10 " TREE "!20 " A "+3 ");
}

ODB_TEST(test_folders_of_another_name)
{
	const struct fixture *f = *state;
	char path[5000];

	count(f, A, 1);
	count(f, ".packing-1/" B, 2);
	snprintf(path, sizeof(path), "%s///", f->dir);
	must_list(path, B "+2 " A "+1 ");
	/* A folder that is packed is one of loose files itself. */
	must_list(beside(f, ".packing-1"), B "+2 ");
}

static int stop_at(const struct db_member *member, void *ctx)
{
	(void)member;
	return --*(int *)ctx ? 0 : 17;
}

ODB_TEST(test_visitors_may_end_it)
{
	const struct fixture *f = *state;
	struct db_folder *folder;
	int left;
	const struct db_visitor visitor = { .member = stop_at, .ctx = &left };

	pack(f, 1);
	count(f, B, 1);
	folder = must_open_folder(f->dir);
	for (int i = 1; i <= 4; i++) {
		left = i;
		assert_int_equal(db_folder_each(folder, &visitor),
				 i < 4 ? 17 : 0);
	}
	assert_int_equal(left, 1);
	db_folder_close(folder);
}

ODB_TEST(test_kinds)
{
	const struct fixture *f = *state;
	struct db_folder *folder;
	struct db_member member = { .name = A };
	struct ctree *tree;
	struct odb *odb;

	pack(f, 1);
	count(f, A, 1);
	count_stack(f, TREE, 1);
	folder = must_open_folder(f->dir);
	member.path = beside(f, TREE);
	assert_int_equal(db_folder_table(folder, &member, &odb), -EBADMSG);
	member.path = beside(f, A);
	assert_int_equal(db_folder_tree(folder, &member, &tree), -EBADMSG);
	member.path = db_folder_pack_path(folder);
	member.entry = pack_find(db_folder_pack(folder), A);
	assert_int_equal(db_folder_tree(folder, &member, &tree), -EBADMSG);
	assert_int_equal(db_folder_table(folder, &member, &odb), 0);
	odb_close(odb);
	member.entry = pack_find(db_folder_pack(folder), TREE);
	assert_int_equal(db_folder_table(folder, &member, &odb), -EBADMSG);
	db_folder_close(folder);
}

ODB_TEST(test_packs_that_cannot_be_used)
{
	const struct fixture *f = *state;
	struct db_folder *folder;

	count(f, ".packing-3/" A, 1);
	count(f, B, 2);
	pack(f, 3);
	must_list(f->dir, A "!10 " TREE "!20 " B "+2 ");
	assert_int_equal(truncate(beside(f, "packed"), 100), 0);
	folder = must_open_folder(f->dir);
	assert_int_equal(db_folder_pack_error(folder), -EBADMSG);
	assert_null(db_folder_pack(folder));
	assert_string_equal(db_folder_pack_path(folder), beside(f, "packed"));
	db_folder_close(folder);
	/* What was packed from there is lost, so it is not there twice. */
	must_list(f->dir, A "+1 " B "+2 ");
	assert_int_equal(unlink(beside(f, "packed")), 0);
	assert_int_equal(mkdir(beside(f, "packed"), 0755), 0);
	folder = must_open_folder(f->dir);
	assert_int_equal(db_folder_pack_error(folder), -EISDIR);
	db_folder_close(folder);
	must_list(f->dir, A "+1 " B "+2 ");
}

ODB_TEST(test_what_is_no_folder)
{
	const struct fixture *f = *state;
	struct db_folder *folder = NULL;

	assert_int_equal(db_folder_open(&folder, beside(f, "none")), -ENOENT);
	touch(f, "file");
	assert_int_equal(db_folder_open(&folder, beside(f, "file")), -ENOTDIR);
	assert_null(folder);
	db_folder_close(NULL);
}

ODB_TEST(test_lock)
{
	const struct fixture *f = *state;
	struct db_folder *one = must_open_folder(f->dir), *two;
	int fd = open(f->dir, O_RDONLY | O_DIRECTORY);

	assert_true(fd >= 0);
	two = must_open_folder(f->dir);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	db_folder_close(one);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	db_folder_close(two);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	/* Who waits for a packer gives up in the end. */
	assert_int_equal(nr_sleeps, 0);
	assert_int_equal(db_folder_open(&one, f->dir), -EBUSY);
	assert_true(nr_sleeps > 0);
	close(fd);
}
