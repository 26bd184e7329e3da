// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths, folders, full disks, and other things that are not a database. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/libdb/odb_fixture.h"
#include "tests/unit/small_disk.h"

#include "libdb/ctree.h"

#define NOBODY 65534

static size_t nr_entries(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2; /* . and .. */
}

static void add_many(struct odb *odb, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++)
		assert_int_equal(odb_add(odb, scattered(i), 1), 0);
}

/* Add new keys until that fails; returns the error and how many went in. */
static int add_until_error(struct odb *odb, uint64_t *n)
{
	int err = 0;

	for (*n = 0; *n < 1000000; ++*n) {
		err = odb_add(odb, scattered(*n), 1);
		if (err)
			break;
	}
	return err;
}

ODB_TEST(nothing_is_created_for_a_reader)
{
	struct fixture *f = *state;

	must_refuse(f->path, ODB_RDONLY, -ENOENT);
	assert_int_equal(nr_entries(f->dir), 0);
}

ODB_TEST(folders_are_not_created)
{
	struct fixture *f = *state;

	must_refuse(beside(f, "no/db"), ODB_RDWR, -ENOENT);
	assert_int_equal(nr_entries(f->dir), 0);
}

ODB_TEST(folders_are_refused)
{
	struct fixture *f = *state;

	must_refuse(f->dir, ODB_RDONLY, -EISDIR);
	must_refuse(f->dir, ODB_RDWR, -EISDIR);
}

/* A wait for the other end of the FIFO would never end. */
ODB_TEST(fifos_and_devices_are_refused)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(f->path, 0600), 0);
	must_refuse(f->path, ODB_RDONLY, -EBADMSG);
	must_refuse(f->path, ODB_RDWR, -EBADMSG);
	must_refuse("/dev/null", ODB_RDONLY, -EBADMSG);
	must_refuse("/dev/zero", ODB_RDONLY, -EBADMSG);
}

/* The user's bytes are told by the head of the file alone. */
ODB_TEST(a_peek_reads_the_users_bytes)
{
	struct fixture *f = *state;
	const char *path = beside(f, "tree");
	uint8_t user[ODB_USER_SIZE], wanted[ODB_USER_SIZE];
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct ctree *tree;

	memset(wanted, 0x5a, sizeof(wanted));
	memcpy(odb_user(odb), wanted, sizeof(wanted));
	odb_close(odb);
	assert_int_equal(odb_peek(f->path, user), 0);
	assert_memory_equal(user, wanted, sizeof(user));
	assert_int_equal(ctree_open(&tree, path, ODB_RDWR), 0);
	memcpy(ctree_user(tree), wanted, sizeof(wanted));
	ctree_close(tree);
	memset(user, 0, sizeof(user));
	assert_int_equal(odb_peek(path, user), 0);
	assert_memory_equal(user, wanted, sizeof(user));
	assert_int_equal(truncate(f->path, 255), 0);
	assert_int_equal(odb_peek(f->path, user), -EBADMSG);
	write_file(f->path, "no database at all", 18);
	assert_int_equal(odb_peek(f->path, user), -EBADMSG);
	assert_int_equal(odb_peek(f->dir, user), -EISDIR);
	assert_int_equal(odb_peek(beside(f, "nothing"), user), -ENOENT);
}

ODB_TEST(only_the_database_stays_in_the_folder)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	assert_int_equal(nr_entries(f->dir), 1);
	add_many(odb, 0, 5000);
	assert_int_equal(nr_entries(f->dir), 1);
	odb_close(odb);
}

/* What a writer leaves that was killed while its file grew. */
ODB_TEST(left_overs_are_replaced)
{
	struct fixture *f = *state;
	struct odb *odb;

	write_file(beside(f, ".db.grow"), "not all", 7);
	odb = must_open(f->path, ODB_RDWR);
	assert_int_equal(nr_entries(f->dir), 1);
	write_file(beside(f, ".db.grow"), "not all", 7);
	add_many(odb, 0, 1000);
	assert_int_equal(nr_entries(f->dir), 1);
	assert_int_equal(walk(odb), 1000);
	odb_close(odb);
}

ODB_TEST(a_left_over_link_is_not_followed)
{
	struct fixture *f = *state;
	const char *victim = beside(f, "victim");
	struct odb *odb;

	write_file(victim, "precious", 8);
	assert_int_equal(symlink(victim, beside(f, ".db.grow")), 0);
	odb = must_open(f->path, ODB_RDWR);
	odb_close(odb);
	must_hold(victim, (const uint8_t *)"precious", 8);
}

ODB_TEST(symbolic_links_stay_links)
{
	struct fixture *f = *state;
	const char *real = beside(f, "sub/real");
	struct odb *odb;
	struct stat st;

	assert_int_equal(mkdir(beside(f, "sub"), 0700), 0);
	odb_close(must_open(real, ODB_RDWR));
	assert_int_equal(symlink("sub/real", f->path), 0);
	odb = must_open(f->path, ODB_RDWR);
	add_many(odb, 0, 1000);
	odb_close(odb);
	assert_int_equal(lstat(f->path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	odb = must_open(real, ODB_RDONLY);
	assert_int_equal(walk(odb), 1000);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(walk(odb), 1000);
	odb_close(odb);
}

ODB_TEST(links_that_lead_nowhere_are_refused)
{
	struct fixture *f = *state;

	assert_int_equal(symlink("nowhere", f->path), 0);
	must_refuse(f->path, ODB_RDWR, -ENOENT);
	must_refuse(f->path, ODB_RDONLY, -ENOENT);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(symlink("db", f->path), 0);
	must_refuse(f->path, ODB_RDWR, -ELOOP);
	must_refuse(f->path, ODB_RDONLY, -ELOOP);
}

ODB_TEST(relative_paths_survive_chdir)
{
	struct fixture *f = *state;
	char *home = getcwd(NULL, 0);
	struct odb *odb;

	assert_non_null(home);
	assert_int_equal(chdir(f->dir), 0);
	odb = must_open("db", ODB_RDWR);
	assert_int_equal(chdir("/"), 0);
	add_many(odb, 0, 1000);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(walk(odb), 1000);
	odb_close(odb);
	assert_int_equal(chdir(home), 0);
	free(home);
}

ODB_TEST(growing_keeps_the_mode)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct stat st;

	assert_int_equal(chmod(f->path, 0664), 0);
	add_many(odb, 0, 1000);
	odb_close(odb);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0664);
}

/* A session may be reset or replaced under a writer: hands off then. */
ODB_TEST(a_file_that_was_replaced_does_not_grow)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	uint64_t n;

	assert_int_equal(rename(f->path, beside(f, "moved")), 0);
	assert_int_equal(add_until_error(odb, &n), -ENOENT);
	assert_int_equal(nr_entries(f->dir), 1);
	odb_close(must_open(f->path, ODB_RDWR));
	assert_int_equal(odb_add(odb, scattered(n), 1), -ESTALE);
	assert_int_equal(walk(odb), n);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(walk(odb), 0);
	odb_close(odb);
	odb = must_open(beside(f, "moved"), ODB_RDONLY);
	assert_int_equal(walk(odb), n);
	odb_close(odb);
}

/* A sparse copy is given all its blocks before it is written to. */
ODB_TEST(holes_are_filled)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct odb_header header;
	struct odb_stat figures;
	struct stat st;
	size_t len;
	uint8_t *bytes;

	odb_stat(odb, &figures);
	odb_close(odb);
	bytes = read_file(f->path, &len);
	memcpy(&header, bytes, sizeof(header));
	free(bytes);
	header.nr_slots = (1 << 20) / 16 - 16;
	write_file(f->path, &header, sizeof(header));
	assert_int_equal(truncate(f->path, 1 << 20), 0);
	odb = must_open(f->path, ODB_RDWR);
	assert_int_equal(stat(f->path, &st), 0);
	assert_true(st.st_blocks >= (1 << 20) / 512);
	add_many(odb, 0, 10000);
	odb_close(odb);
}

/* ---- when there is no room ----------------------------------------------- */

/*
 * Fill @path until it cannot grow. What was added then must be there, the
 * file as it was, old keys countable, and no other file beside it.
 */
static void fill_up(const char *dir, const char *path, uint64_t *room,
		    int wanted)
{
	struct odb *odb = must_open(path, ODB_RDWR);
	uint8_t *bytes;
	uint64_t n;
	size_t len;

	odb_share_room(odb, room);
	assert_int_equal(add_until_error(odb, &n), wanted);
	assert_true(n > 1000);
	bytes = read_file(path, &len);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(odb_add(odb, scattered(n + i), 1), wanted);
	must_hold(path, bytes, len);
	free(bytes);
	assert_int_equal(nr_entries(dir), 1);
	assert_int_equal(odb_add(odb, scattered(7), 1), 0);
	assert_int_equal(odb_get(odb, scattered(7)), 2);
	assert_int_equal(walk(odb), n);
	odb_close(odb);
	odb = must_open(path, ODB_RDONLY);
	assert_int_equal(walk(odb), n);
	odb_close(odb);
}

ODB_TEST(a_file_size_limit_leaves_the_file_as_it_was)
{
	struct fixture *f = *state;
	struct rlimit limit, small;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 100000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	fill_up(f->dir, f->path, NULL, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_DFL);
}

static uint64_t file_len(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

ODB_TEST(want_of_room_leaves_the_file_as_it_was)
{
	const uint64_t all = 200000;
	struct fixture *f = *state;
	uint64_t room = all;

	fill_up(f->dir, f->path, &room, -EDQUOT);
	assert_int_equal(file_len(f->path), ODB_PAGE + all - room);
	/* the next larger one has no room beside it */
	assert_true(file_len(f->path) / 10 * 13 > room);
}

ODB_TEST(tables_and_trees_share_room)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	uint64_t room = 200000, all = room + 2 * ODB_PAGE, n;
	struct ctree *tree;
	uint32_t image, node;
	int err = 0;

	assert_int_equal(ctree_open(&tree, beside(f, "tree"), ODB_RDWR), 0);
	assert_int_equal(ctree_image(tree, "image", 5, &image), 0);
	odb_share_room(odb, &room);
	ctree_share_room(tree, &room);
	assert_int_equal(add_until_error(odb, &n), -EDQUOT);
	for (n = 0; !err && n < 1000000; n++)
		err = ctree_child(tree, CTREE_ROOT, image, n, &node);
	assert_int_equal(err, -EDQUOT);
	assert_true(n > 1000);
	assert_int_equal(file_len(f->path) + file_len(beside(f, "tree")) + room,
			 all);
	/* With more, both go on. */
	room = 1 << 20;
	assert_int_equal(ctree_child(tree, CTREE_ROOT, image, n, &node), 0);
	assert_int_equal(odb_add(odb, 1234567, 1), 0);
	ctree_close(tree);
	odb_close(odb);
}

enum { PASSED = 0, CANNOT = 77 };

/* Run @fn in a child, which may exit CANNOT; a failed assertion ends it. */
static void in_child(void (*fn)(struct fixture *f), struct fixture *f)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		fn(f);
		_exit(PASSED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT) {
		print_message("skip: not permitted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), PASSED);
}

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "in the child: %s\n", what);
	_exit(1);
}

static void fill_small_disk(struct fixture *f)
{
	struct odb *odb;
	uint64_t n;

	if (!mount_small_disk(f->dir))
		_exit(CANNOT);
	check(!odb_open(&odb, f->path, ODB_RDWR), "cannot open");
	check(add_until_error(odb, &n) == -ENOSPC, "no ENOSPC");
	check(n > 1000 && walk(odb) == n, "keys differ");
	check(nr_entries(f->dir) == 1, "left-over file");
	check(!odb_add(odb, scattered(0), 1), "old key cannot be counted");
	check(odb_get(odb, scattered(0)) == 2, "count differs");
	odb_close(odb);
	check(!odb_open(&odb, f->path, ODB_RDONLY), "cannot reopen");
	check(walk(odb) == n, "keys differ after reopening");
	odb_close(odb);
}

ODB_TEST(a_full_disk_leaves_the_file_as_it_was)
{
	in_child(fill_small_disk, *state);
}

static void become_nobody(void)
{
	if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY))
		_exit(CANNOT);
}

/* The folder may be read, the file written, and no file be created. */
static void write_in_locked_folder(struct fixture *f)
{
	struct odb *odb;
	uint64_t n;

	become_nobody();
	check(odb_open(&odb, beside(f, "new"), ODB_RDWR) == -EACCES,
	      "created a file");
	check(!odb_open(&odb, f->path, ODB_RDWR), "cannot open");
	check(add_until_error(odb, &n) == -EACCES, "no EACCES");
	check(n > 100 && walk(odb) == n, "keys differ");
	odb_close(odb);
	check(odb_open(&odb, beside(f, "secret"), ODB_RDONLY) == -EACCES,
	      "read a secret");
	check(odb_open(&odb, beside(f, "secret"), ODB_RDWR) == -EACCES,
	      "wrote a secret");
}

ODB_TEST(a_folder_that_cannot_be_written)
{
	struct fixture *f = *state;

	odb_close(must_open(f->path, ODB_RDWR));
	assert_int_equal(chmod(f->path, 0666), 0);
	odb_close(must_open(beside(f, "secret"), ODB_RDWR));
	assert_int_equal(chmod(beside(f, "secret"), 0), 0);
	assert_int_equal(chmod(f->dir, 0555), 0);
	in_child(write_in_locked_folder, f);
	assert_int_equal(chmod(f->dir, 0755), 0);
}

/* How many files below the folder are mapped here. */
static int nr_mapped(const struct fixture *f)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int nr = 0;

	check(maps, "no maps");
	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, f->dir) != NULL;
	fclose(maps);
	return nr;
}

static void expect_nothing_mapped(struct fixture *f)
{
	check(!nr_mapped(f), "tables are mapped");
}

/* A child may be one that reads files of others. */
ODB_TEST(children_have_no_tables)
{
	struct fixture *f = *state;
	struct odb *old, *odb;
	struct ctree *tree;
	uint32_t image, node;

	odb_close(must_open(beside(f, "old"), ODB_RDWR));
	old = must_open(beside(f, "old"), ODB_RDWR);
	odb = must_open(f->path, ODB_RDWR);
	assert_int_equal(ctree_open(&tree, beside(f, "tree"), ODB_RDWR), 0);
	assert_int_equal(nr_mapped(f), 3);
	in_child(expect_nothing_mapped, f);
	/* Nor when they have grown. */
	assert_int_equal(ctree_image(tree, "image", 5, &image), 0);
	for (uint64_t n = 1; n < 10000; n++) {
		assert_int_equal(odb_add(odb, n, 1), 0);
		assert_int_equal(ctree_child(tree, CTREE_ROOT, image, n, &node),
				 0);
	}
	assert_int_equal(nr_mapped(f), 3);
	in_child(expect_nothing_mapped, f);
	ctree_close(tree);
	odb_close(odb);
	odb_close(old);
}
