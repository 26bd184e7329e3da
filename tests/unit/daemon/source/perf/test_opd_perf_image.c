// SPDX-License-Identifier: GPL-2.0-or-later
/* The images of perf_events by cookie, and what is known of their files. */

#include <sys/mman.h>

#include "daemon/source/opd_proc_maps.h"
#include "libcfi/unwinder.h"
#include "tests/unit/build_elf.h"
#include "tests/unit/daemon/source/perf_rig.h"

static uint64_t cookie_of(struct opd_perf_images *images,
			  const struct opd_perf_image_id *id)
{
	uint64_t cookie = opd_perf_image_cookie(images, id);

	assert_int_not_equal(cookie, OP_NO_COOKIE);
	return cookie;
}

/* Each of these stands for something else than the others. */
TEST(what_tells_images_apart)
{
	const struct opd_perf_image_id ids[] = {
		{ .name = "/n/a" },
		{ .name = "/n/b" },
		{ .name = "/n/a (deleted)" },
		{ .name = "/n/a", .dev = 1 },
		{ .name = "/n/a", .ino = 1 },
		{ .name = "/n/a", .generation = 1 },
		{ .name = "/n/a", .dev = 1, .ino = 1 },
		{ .name = "/n/a", .build_id = build_of(1, 20) },
		{ .name = "/n/a", .build_id = build_of(2, 20) },
		{ .name = "/n/a", .build_id = build_of(1, 16) },
		{ .name = "/n/a", .build_id = build_of(1, 1) },
		{ .name = "/n/b", .build_id = build_of(1, 20) },
	};
	const size_t nr = sizeof(ids) / sizeof(ids[0]);
	struct opd_perf_images images;

	opd_perf_images_init(&images, NULL);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < nr; i++) {
			struct opd_perf_image_id id = ids[i];

			/* Where it is mapped does not matter. */
			id.pid = 99999 + (uint32_t)round;
			id.start = i;
			assert_int_equal(cookie_of(&images, &id), i + 1);
		}
	}
	opd_perf_images_release(&images);
}

TEST(many_images)
{
	struct opd_perf_images images;
	struct op_cookie_query q;
	char name[32];
	const struct opd_perf_image_id id = { .name = name };

	opd_perf_images_init(&images, NULL);
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 1; i <= 3000; i++) {
			snprintf(name, sizeof(name), "/nonexistent/%u", i);
			assert_int_equal(cookie_of(&images, &id), i);
		}
	}
	assert_int_equal(images.nr, 3000);
	for (unsigned int i = 1; i <= 3000; i++) {
		snprintf(name, sizeof(name), "/nonexistent/%u", i);
		q.cookie = i;
		assert_int_equal(opd_perf_image_query(&images, &q), 0);
		assert_string_equal(q.path, name);
	}
	opd_perf_images_release(&images);
}

/* Images beyond the bounds share a cookie, which has no name and no file. */
TEST(too_many_images)
{
	struct rig *rig = new_rig();
	struct op_cookie_query q = { .cookie = OPD_PERF_NAMELESS };
	struct opd_perf_images images;
	char name[128];
	struct opd_perf_image_id id = { .name = name, .is_made = true };

	opd_perf_images_init(&images, NULL);
	for (unsigned int i = 1; i <= OPD_PERF_IMAGES_MAX; i++) {
		snprintf(name, sizeof(name), "/nonexistent/%u", i);
		assert_int_equal(cookie_of(&images, &id), i);
	}
	/* Nor is the file of a further one looked at. */
	id.is_made = false;
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/%u", rig->dir, i);
		make_elf(name, 1);
		assert_int_equal(cookie_of(&images, &id), OPD_PERF_NAMELESS);
	}
	assert_int_equal(images.nr, OPD_PERF_IMAGES_MAX);
	assert_int_equal(images.files.nr, 0);
	assert_int_equal(opd_perf_image_query(&images, &q), -ENOENT);
	assert_int_equal(opd_perf_image_open(&images, q.cookie), -ENOENT);
	assert_int_equal(opd_perf_image_take(&images, q.cookie), -ENOENT);
	assert_null(opd_perf_image_path(&images, q.cookie));
	assert_false(opd_perf_image_gives_no_rights(&images, q.cookie));
	assert_false(opd_perf_image_is_memory(&images, q.cookie));
	/* Those that are known stay so. */
	id.is_made = true;
	snprintf(name, sizeof(name), "/nonexistent/%d", 7);
	assert_int_equal(cookie_of(&images, &id), 7);
	opd_perf_images_release(&images);
	free_rig(rig);
}

/* In the made-up /proc, process @pid is a user's. */
static void make_user(const struct rig *rig, uint32_t pid, unsigned int uid)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%u", rig->proc, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%u/status", rig->proc, pid);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "Name:\tx\nUid:\t%u\t0\t0\t0\n", uid);
	fclose(file);
}

/* A user who makes names without end leaves room for others. */
TEST(images_of_one_user)
{
	const uint32_t theirs = 71, roots = 72, others = 73, ended = 74;
	struct rig *rig = new_rig();
	struct opd_perf_images *images = &rig->table.images;
	char name[128];
	struct opd_perf_image_id id = { .name = name, .pid = theirs };
	unsigned int nr = 0;

	make_user(rig, theirs, 4000001);
	make_user(rig, others, 4000002);
	make_user(rig, roots, 0);
	do
		snprintf(name, sizeof(name), "[made]/%u", ++nr);
	while (cookie_of(images, &id) != OPD_PERF_NAMELESS);
	assert_int_equal(nr - 1, OPD_PERF_IMAGES_MAX / 4);
	/* A known one stays so, for this user as well. */
	snprintf(name, sizeof(name), "[made]/%d", 7);
	assert_int_equal(cookie_of(images, &id), 7);
	for (uint32_t pid = roots; pid <= ended; pid++) {
		id.pid = pid;
		snprintf(name, sizeof(name), "[made]/of %u", pid);
		assert_int_equal(cookie_of(images, &id), nr++);
	}
	free_rig(rig);
}

/* So do long names. */
TEST(names_of_one_user)
{
	const uint32_t theirs = 71, roots = 72;
	struct rig *rig = new_rig();
	struct opd_perf_images *images = &rig->table.images;
	static char name[OP_PATH_MAX];
	struct opd_perf_image_id id = { .name = name, .pid = theirs };
	const uint64_t fit = OPD_PERF_IMAGE_NAMES_MAX / 4 / sizeof(name);
	uint64_t nr = 0;

	make_user(rig, theirs, 4000001);
	make_user(rig, roots, 0);
	memset(name, '.', sizeof(name) - 1);
	do
		name[snprintf(name, 20, "[made]/%lu", ++nr)] = '.';
	while (cookie_of(images, &id) != OPD_PERF_NAMELESS);
	assert_in_range(nr - 1, fit - 1, fit);
	assert_int_equal(images->number_shares.taken, nr - 1);
	id.pid = roots;
	assert_int_equal(cookie_of(images, &id), nr);
	free_rig(rig);
}

/* Of a process that has ended the file at its path tells the user, and nothing
 * else does. */
TEST(images_of_ended_processes)
{
	struct rig *rig = new_rig();
	struct opd_perf_images *images = &rig->table.images;
	char path[128], name[160];
	struct opd_perf_image_id id = { .name = name, .pid = 74 };
	struct stat st;

	snprintf(path, sizeof(path), "%s/file", rig->dir);
	make_elf(path, 1);
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	id.build_id = build_of(1, 20);
	images->number_shares.size = 0;
	snprintf(name, sizeof(name), "%s (deleted)", path);
	assert_int_equal(cookie_of(images, &id), OPD_PERF_NAMELESS);
	snprintf(name, sizeof(name), "%s", path);
	assert_int_equal(cookie_of(images, &id), 1);
	unlink(path);
	free_rig(rig);
}

TEST(too_long_names_of_images)
{
	const struct opd_perf_image_id first = { .name = "/nonexistent/a" },
				       fits = { .name = "/nonexistent/b" },
				       more = { .name = "/n" };
	struct opd_perf_images images;

	opd_perf_images_init(&images, NULL);
	assert_int_equal(cookie_of(&images, &first), 1);
	assert_int_equal(images.names_len, strlen(first.name) + 1);
	images.names_len = OPD_PERF_IMAGE_NAMES_MAX - strlen(fits.name) - 1;
	assert_int_equal(cookie_of(&images, &fits), 2);
	assert_int_equal(images.names_len, OPD_PERF_IMAGE_NAMES_MAX);
	assert_int_equal(cookie_of(&images, &more), OPD_PERF_NAMELESS);
	assert_int_equal(cookie_of(&images, &first), 1);
	opd_perf_images_release(&images);
}

TEST(cookies_that_nobody_has)
{
	const struct opd_perf_image_id id = { .name = "/nonexistent/x" };
	static const uint64_t cookies[] = { 0, 2, 1000, UINT64_MAX };
	struct opd_perf_images images;
	struct op_cookie_query q;

	opd_perf_images_init(&images, NULL);
	assert_int_equal(cookie_of(&images, &id), 1);
	for (size_t i = 0; i < 4; i++) {
		q.cookie = cookies[i];
		assert_int_equal(opd_perf_image_query(&images, &q), -ENOENT);
	}
	opd_perf_images_release(&images);
}

TEST(names_of_anonymous_memory)
{
	static const char *const anon[] = { "",	       "[heap]", "[stack]",
					    "//anon",  "/",	 "[vsyscall]",
					    "[uprobe", "x",	 "//enomem" };
	static const char *const files[] = { "/x", "[vdso]", "/ (deleted)",
					     "/anon_hugepage (deleted)" };
	struct opd_perf_images images;
	const char *names[512];
	char name[256];

	for (size_t i = 0; i < sizeof(anon) / sizeof(anon[0]); i++)
		assert_true(opd_proc_is_anon(anon[i]));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_false(opd_proc_is_anon(files[i]));
	opd_perf_images_init(&images, NULL);
	/* One copy of each; a stream of new ones comes to an end. */
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 512; i++) {
			const char *copy;

			snprintf(name, sizeof(name), "[anon:%u]", i);
			copy = opd_perf_image_anon(&images, name);
			assert_string_equal(copy, name);
			assert_ptr_not_equal(copy, name);
			if (round)
				assert_ptr_equal(copy, names[i]);
			names[i] = copy;
		}
	}
	assert_string_equal(opd_perf_image_anon(&images, "[one more]"), "anon");
	assert_string_equal(opd_perf_image_anon(&images, "[anon:0]"),
			    "[anon:0]");
	assert_string_equal(opd_perf_image_anon(&images, "//anon"), "anon");
	opd_perf_images_release(&images);
}

/* A name that is cut is the same the next time, too. */
TEST(long_names_of_anonymous_memory)
{
	struct opd_perf_images images;
	char name[256];
	const char *copy;

	opd_perf_images_init(&images, NULL);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	copy = opd_perf_image_anon(&images, name);
	assert_int_equal(strlen(copy), OPD_PERF_ANON_MAX - 1);
	assert_ptr_equal(opd_perf_image_anon(&images, name), copy);
	assert_int_equal(images.nr_anon, 1);
	opd_perf_images_release(&images);
}

/* ---- files of images --------------------------------------------------------
 */

/* Ask for an image that is seen for the first time. */
static struct op_cookie_query look(const struct opd_perf_image_id *id)
{
	struct opd_perf_images images;
	struct op_cookie_query q;

	opd_perf_images_init(&images, NULL);
	q.cookie = cookie_of(&images, id);
	assert_int_equal(opd_perf_image_query(&images, &q), 0);
	opd_perf_images_release(&images);
	return q;
}

static void expect_file(const struct op_cookie_query *q, const struct stat *st,
			struct op_build_id build_id)
{
	assert_int_equal(q->mtime, st->st_mtime);
	assert_int_equal(q->dev, st->st_dev);
	assert_int_equal(q->ino, st->st_ino);
	assert_int_equal(q->build_id_len, build_id.len);
	assert_memory_equal(q->build_id, build_id.bytes, build_id.len);
}

/* The file at the path is asked what the kernel did not tell, if it is the
 * one that was mapped. */
TEST(files_are_looked_at)
{
	struct rig *rig = new_rig();
	char path[128];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	struct op_cookie_query q;
	struct stat st;

	snprintf(path, sizeof(path), "%s/elf", rig->dir);
	make_elf(path, 1);
	assert_int_equal(stat(path, &st), 0);
	id.build_id = build_of(1, 20);
	q = look(&id);
	expect_file(&q, &st, id.build_id);
	/* Another build lies there by now. */
	id.build_id = build_of(2, 20);
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	assert_int_equal(q.ino, 0);
	assert_int_equal(q.build_id_len, 20);
	assert_int_equal(q.build_id[0], 2);
	/* Known by inode. */
	id.build_id = build_of(0, 0);
	id.ino = st.st_ino;
	id.dev = st.st_dev;
	q = look(&id);
	expect_file(&q, &st, build_of(1, 20));
	id.ino++;
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	assert_int_equal(q.build_id_len, 0);
	assert_int_equal(q.ino, st.st_ino + 1);
	free_rig(rig);
}

/* The kernel's names have no links: the owner of the folder has put one there.
 */
TEST(links_are_not_followed)
{
	struct rig *rig = new_rig();
	char path[128], target[128];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	struct op_cookie_query q;
	struct stat st;

	snprintf(path, sizeof(path), "%s/link", rig->dir);
	snprintf(target, sizeof(target), "%s/secret", rig->dir);
	make_file(target, "text", 4);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(stat(target, &st), 0);
	id.ino = st.st_ino;
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	/* Nor as the process sees it. */
	id.pid = (uint32_t)getpid();
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	id.name = target;
	q = look(&id);
	assert_int_equal(q.mtime, st.st_mtime);
	free_rig(rig);
}

/* Nobody opens what is no regular file: that could wait for ever. */
TEST(other_files_are_left_alone)
{
	struct rig *rig = new_rig();
	char path[128];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	struct op_cookie_query q;
	struct stat st;

	snprintf(path, sizeof(path), "%s/fifo", rig->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	snprintf(path, sizeof(path), "%s", rig->dir);
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	assert_string_equal(q.path, rig->dir);
	free_rig(rig);
}

/* A script or a text that is mapped has no build-id, but a time. */
TEST(files_that_are_no_programs)
{
	struct rig *rig = new_rig();
	char path[128];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	struct op_cookie_query q;
	struct stat st;

	snprintf(path, sizeof(path), "%s/text", rig->dir);
	make_file(path, "text", 4);
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	id.dev = st.st_dev;
	q = look(&id);
	expect_file(&q, &st, build_of(0, 0));
	free_rig(rig);
}

/* By the mapping, which only root may open. */
TEST(deleted_files_are_found)
{
	struct rig *rig = new_rig();
	char path[128], name[160], link[128];
	struct opd_perf_image_id id = { .name = name };
	struct op_cookie_query q;
	struct stat st;
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/elf", rig->dir);
	snprintf(name, sizeof(name), "%s (deleted)", path);
	make_elf(path, 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	at = mmap(NULL, 156, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(unlink(path), 0);
	make_elf(path, 2); /* something else has the name */
	id.pid = (uint32_t)getpid();
	id.start = (uint64_t)(uintptr_t)at;
	id.end = id.start + (uint64_t)sysconf(_SC_PAGESIZE);
	id.ino = st.st_ino;
	id.dev = st.st_dev;
	q = look(&id);
	assert_string_equal(q.path, path);
	assert_int_equal(q.flags, OP_IMAGE_DELETED);
	snprintf(link, sizeof(link), "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)id.start, (unsigned long long)id.end);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		expect_file(&q, &st, build_of(1, 20));
	} else {
		assert_int_equal(q.build_id_len, 0);
	}
	munmap(at, 156);
	free_rig(rig);
}

/* A program whose name leads nowhere, by the process that runs it: its owner
 * may open that. Another build is left alone. */
TEST(deleted_programs_are_found)
{
	struct opd_perf_image_id id = {
		.name = "/nonexistent/program (deleted)",
		.pid = (uint32_t)getpid(),
	};
	struct op_build_id own;
	struct op_cookie_query q;
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	if (op_build_id_of_elf(&own, fd))
		own = build_of(0, 0);
	close(fd);
	id.ino = st.st_ino;
	q = look(&id);
	expect_file(&q, &st, own);
	id.ino++;
	q = look(&id);
	assert_int_equal(q.mtime, 0);
	assert_int_equal(q.build_id_len, 0);
}

/* A copy of a program that gives rights says nothing of the rights of that, nor
 * the other way round. */
TEST(rights_are_those_of_the_file_itself)
{
	struct rig *rig = new_rig();
	struct opd_perf_images images;
	char path[128], copy[128];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	uint64_t cookie;

	snprintf(path, sizeof(path), "%s/program", rig->dir);
	snprintf(copy, sizeof(copy), "%s/copy", rig->dir);
	make_elf(path, 1);
	make_elf(copy, 1);
	id.build_id = build_of(1, 20);
	for (int i = 0; i < 2; i++) {
		/* What is held is of the same build. */
		assert_int_equal(chmod(copy, i ? 0755 : 04755), 0);
		assert_int_equal(chmod(path, i ? 04755 : 0755), 0);
		opd_perf_images_init(&images, NULL);
		opd_perf_files_add(&images.files,
				   open(copy, O_RDONLY | O_CLOEXEC), NULL);
		id.name = path;
		cookie = cookie_of(&images, &id);
		assert_int_equal(
			opd_perf_image_gives_no_rights(&images, cookie), !i);
		id.name = copy;
		cookie = cookie_of(&images, &id);
		assert_int_equal(
			opd_perf_image_gives_no_rights(&images, cookie), i);
		/* Nothing but the copy is known of this one. */
		id.name = "/nonexistent/program";
		cookie = cookie_of(&images, &id);
		assert_false(opd_perf_image_gives_no_rights(&images, cookie));
		opd_perf_images_release(&images);
	}
	/* Deleted, but still held by its own name. */
	opd_perf_images_init(&images, NULL);
	assert_int_equal(chmod(path, 0755), 0);
	opd_perf_files_add(&images.files, open(path, O_RDONLY | O_CLOEXEC),
			   NULL);
	assert_int_equal(unlink(path), 0);
	id.name = path;
	cookie = cookie_of(&images, &id);
	assert_true(opd_perf_image_gives_no_rights(&images, cookie));
	opd_perf_images_release(&images);
	assert_int_equal(unlink(copy), 0);
	free_rig(rig);
}

/* One of the same build-id is not the one that was mapped, if its code is
 * another. */
TEST(other_code_is_another_file)
{
	struct rig *rig = new_rig();
	struct opd_perf_images images;
	struct op_build_id one, two;
	char path[128], new_path[160];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	struct op_cookie_query q = { 0 };
	uint64_t cookie;
	int fd;

	snprintf(path, sizeof(path), "%s/app", rig->dir);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	make_elf_with_code(path, 1, 11);
	make_elf_with_code(new_path, 1, 22);
	one = build_at(path);
	two = build_at(new_path);
	opd_perf_images_init(&images, NULL);
	id.build_id = build_of(1, 20);
	cookie = cookie_of(&images, &id);
	q.cookie = cookie;
	assert_int_equal(opd_perf_image_query(&images, &q), 0);
	assert_memory_equal(q.build_id, one.bytes, sizeof(q.build_id));
	/* It is held, so it is found where another one lies. */
	assert_int_equal(rename(new_path, path), 0);
	fd = opd_perf_image_open(&images, cookie);
	assert_true(fd >= 0);
	close(fd);
	opd_perf_files_expire(&images.files);
	opd_perf_files_expire(&images.files);
	assert_int_equal(opd_perf_image_open(&images, cookie), -ENOENT);
	/* By another name, it is what it is. */
	assert_int_equal(rename(path, new_path), 0);
	id.name = new_path;
	q.cookie = cookie_of(&images, &id);
	assert_int_equal(opd_perf_image_query(&images, &q), 0);
	assert_memory_equal(q.build_id, two.bytes, sizeof(q.build_id));
	/* What another file stands in for may be any code. */
	id.name = "/nonexistent/app";
	q.cookie = cookie_of(&images, &id);
	assert_int_equal(opd_perf_image_query(&images, &q), 0);
	assert_int_equal(q.build_id_len, 20);
	assert_int_equal(q.build_id[OP_BUILD_ID_MAX - 1], 0);
	opd_perf_images_release(&images);
	free_rig(rig);
}

/* What the kernel tells is the same after a file was replaced by one of its
 * build-id. */
TEST(replaced_files_are_other_images)
{
	struct rig *rig = new_rig();
	struct opd_perf_images images;
	struct op_build_id two;
	char path[128], new_path[160];
	struct opd_perf_image_id id = { .name = path, .pid = 99999997 };
	struct op_cookie_query q = { 0 };
	uint64_t first, second;

	snprintf(path, sizeof(path), "%s/app", rig->dir);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	make_elf_with_code(path, 1, 11);
	make_elf_with_code(new_path, 1, 22);
	two = build_at(new_path);
	opd_perf_images_init(&images, NULL);
	id.build_id = build_of(1, 20);
	first = cookie_of(&images, &id);
	id.pid++;
	assert_int_equal(cookie_of(&images, &id), first);
	assert_int_equal(rename(new_path, path), 0);
	/* The process before has mapped what was there then. */
	assert_int_equal(cookie_of(&images, &id), first);
	id.pid++;
	second = cookie_of(&images, &id);
	assert_int_not_equal(second, first);
	assert_int_equal(cookie_of(&images, &id), second);
	q.cookie = second;
	assert_int_equal(opd_perf_image_query(&images, &q), 0);
	assert_memory_equal(q.build_id, two.bytes, sizeof(q.build_id));
	/* Nothing is there: the latest one will do. */
	assert_int_equal(unlink(path), 0);
	id.pid++;
	assert_int_equal(cookie_of(&images, &id), second);
	make_elf_with_code(path, 1, 33);
	id.pid++;
	assert_int_equal(cookie_of(&images, &id), second + 1);
	assert_int_equal(images.nr, 3);
	opd_perf_images_release(&images);
	free_rig(rig);
}

/* It is held from the moment it was seen until it is taken, or for a second. */
TEST(files_are_held)
{
	struct rig *rig = new_rig();
	struct opd_perf_images images;
	char path[128];
	struct opd_perf_image_id id = { .name = path, .pid = 99999999 };
	uint64_t cookie;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/elf", rig->dir);
	make_elf(path, 1);
	assert_int_equal(stat(path, &st), 0);
	opd_perf_images_init(&images, NULL);
	id.build_id = build_of(1, 20);
	cookie = cookie_of(&images, &id);
	assert_int_equal(unlink(path), 0);
	fd = opd_perf_image_open(&images, cookie);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	fd = opd_perf_image_take(&images, cookie);
	assert_true(fd >= 0);
	assert_int_equal(opd_perf_image_take(&images, cookie), -ENOENT);
	assert_int_equal(opd_perf_image_open(&images, cookie), -ENOENT);
	/* Somebody else hands it over: another image is the same build. */
	opd_perf_files_add(&images.files, fd, NULL);
	id.name = "/nonexistent/other";
	cookie = cookie_of(&images, &id);
	assert_int_equal(images.images[cookie - 1] != NULL, 1);
	opd_perf_files_expire(&images.files);
	fd = opd_perf_image_open(&images, cookie);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	opd_perf_files_expire(&images.files);
	assert_int_equal(opd_perf_image_open(&images, cookie), -ENOENT);
	assert_int_equal(opd_perf_image_take(&images, OP_NO_COOKIE), -ENOENT);
	assert_int_equal(opd_perf_image_take(&images, 3), -ENOENT);
	opd_perf_images_release(&images);
	free_rig(rig);
}

/* ---- what a name says -------------------------------------------------------
 */

TEST(what_names_say)
{
	static const struct {
		const char *name;
		const char *path;
		uint32_t flags;
		bool is_memory;
		int open; /* what opening it gives */
	} rows[] = {
		{ "/nonexistent/a", "/nonexistent/a", 0, false, -ENOENT },
		{ "/nonexistent/a (deleted)", "/nonexistent/a",
		  OP_IMAGE_DELETED, false, -ENOENT },
		{ "[vdso]", "[vdso]", OP_IMAGE_NO_FILE, false, UNWINDER_VDSO },
		{ "[vsyscall]", "[vsyscall]", OP_IMAGE_NO_FILE, false,
		  -ENOENT },
		{ "/memfd:x (deleted)", "/memfd:x",
		  OP_IMAGE_DELETED | OP_IMAGE_NO_FILE, true, -ENOENT },
		{ "/SYSV00000001 (deleted)", "/SYSV00000001",
		  OP_IMAGE_DELETED | OP_IMAGE_NO_FILE, true, -ENOENT },
		{ "/dev/zero (deleted)", "/dev/zero",
		  OP_IMAGE_DELETED | OP_IMAGE_NO_FILE, true, -ENOENT },
		{ "/anon_hugepage (deleted)", "/anon_hugepage",
		  OP_IMAGE_DELETED | OP_IMAGE_NO_FILE, true, -ENOENT },
		/* Files may be called so. */
		{ "/memfd:nonexistent", "/memfd:nonexistent", 0, false,
		  -ENOENT },
		{ "/tmp/memfd:x (deleted)", "/tmp/memfd:x", OP_IMAGE_DELETED,
		  false, -ENOENT },
		{ "/x(deleted)", "/x(deleted)", 0, false, -ENOENT },
		{ " (deleted)", " (deleted)", OP_IMAGE_NO_FILE, false,
		  -ENOENT },
	};
	struct opd_perf_images images;

	opd_perf_images_init(&images, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct opd_perf_image_id id = { .name = rows[i].name,
						      .pid = 99999999 };
		struct op_cookie_query q;
		uint64_t cookie = cookie_of(&images, &id);

		memset(&q, 0xff, sizeof(q));
		q.cookie = cookie;
		assert_int_equal(opd_perf_image_query(&images, &q), 0);
		assert_string_equal(q.path, rows[i].path);
		assert_int_equal(q.flags, rows[i].flags);
		assert_int_equal(q.build_id_len, 0);
		assert_int_equal(opd_perf_image_is_memory(&images, cookie),
				 rows[i].is_memory);
		assert_int_equal(opd_perf_image_open(&images, cookie),
				 rows[i].open);
		assert_int_equal(opd_perf_image_take(&images, cookie), -ENOENT);
	}
	assert_int_equal(images.files.nr, 0);
	assert_false(opd_perf_image_is_memory(&images, OP_NO_COOKIE));
	assert_false(opd_perf_image_is_memory(&images, images.nr + 1));
	assert_int_equal(opd_perf_image_open(&images, OP_NO_COOKIE), -ENOENT);
	assert_int_equal(opd_perf_image_open(&images, images.nr + 1), -ENOENT);
	opd_perf_images_release(&images);
}

/* What the kernel told stays true, whatever the file says. */
TEST(what_the_kernel_told)
{
	const struct opd_perf_image_id id = {
		.name = "/nonexistent/a", .dev = 5, .ino = 6, .pid = 99999999
	};
	const struct op_cookie_query q = look(&id);

	assert_int_equal(q.dev, 5);
	assert_int_equal(q.ino, 6);
	assert_int_equal(q.mtime, 0);
}

/* Code that the profiler made has a path, which nobody opens. */
TEST(made_images_have_no_file)
{
	struct rig *rig = new_rig();
	char path[128];
	struct opd_perf_image_id id = { .name = path, .is_made = true };
	struct opd_perf_images images;
	struct op_cookie_query q;
	struct stat st;

	snprintf(path, sizeof(path), "%s/elf", rig->dir);
	make_elf(path, 1);
	assert_int_equal(stat(path, &st), 0);
	id.ino = st.st_ino;
	opd_perf_images_init(&images, NULL);
	q.cookie = cookie_of(&images, &id);
	assert_int_equal(opd_perf_image_open(&images, q.cookie), -ENOENT);
	assert_int_equal(opd_perf_image_query(&images, &q), 0);
	assert_int_equal(q.flags, OP_IMAGE_NO_FILE);
	assert_int_equal(q.mtime, 0);
	opd_perf_images_release(&images);
	free_rig(rig);
}

TEST(each_of_many_is_found)
{
	struct opd_perf_images images;
	char name[64];
	const struct opd_perf_image_id id = { .name = name };

	opd_perf_images_init(&images, NULL);
	for (size_t i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "/nonexistent/%zu", i % 5000);
		assert_int_equal(cookie_of(&images, &id), i % 5000 + 1);
	}
	assert_int_equal(images.nr, 5000);
	opd_perf_images_release(&images);
}
