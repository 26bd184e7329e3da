// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps of made-up processes, read while their samples come: what is found,
 * when, and what must not be read.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/opd_jit.h"
#include "libop/op_build_id.h"
#include "tests/unit/perf_rig.h"

#define PID 77
#define CODE UINT64_C(0x7f0000000000)

struct jit_rig {
	struct rig *rig;
	char images[128];
	char map[160]; /* the path of the perf map */
};

static void make_folder(char *path, size_t len, const struct rig *rig,
			const char *name)
{
	snprintf(path, len, "%s/%s", rig->dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void new_jit_rig(struct jit_rig *j, const char *status)
{
	struct rig *rig = new_rig();
	char path[160];
	FILE *file;

	j->rig = rig;
	snprintf(j->images, sizeof(j->images), "%s/images", rig->dir);
	make_folder(path, sizeof(path), rig, "proc/77");
	make_folder(path, sizeof(path), rig, "proc/77/root");
	make_folder(path, sizeof(path), rig, "proc/77/root/tmp");
	snprintf(j->map, sizeof(j->map), "%s/proc/77/root/tmp/perf-77.map",
		 rig->dir);
	if (status) {
		snprintf(path, sizeof(path), "%s/proc/77/status", rig->dir);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(status, file);
		fclose(file);
	}
	rig->world.jits.proc = rig->proc;
	rig->world.jits.folder = j->images;
	do_exec(rig, PID);
	do_map(rig, PID, 0x1000, 0x1000, 0, "/bin/runtime");
	do_map(rig, PID, CODE, 0x100000, 0, "//anon");
}

static void put_map(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A sample at @offset of the code: the key in the image of the process that it
 * is given, 0 if it stays in anonymous memory. */
static uint64_t key_of_sample(struct jit_rig *j, uint64_t offset)
{
	struct op_cookie_query q;
	struct seen seen;

	do_sample(j->rig, PID, CODE + offset);
	assert_true(next_sample(j->rig, &seen));
	if (seen.cookie == OP_NO_COOKIE) {
		assert_int_equal(seen.pc, offset);
		assert_int_equal(seen.start, CODE);
		return 0;
	}
	query(j->rig, seen.cookie, &q);
	assert_string_equal(q.path, "/77.jo");
	assert_int_equal(q.flags, OP_IMAGE_NO_FILE);
	assert_int_equal(q.build_id_len, 16);
	return seen.pc;
}

static void end_round(struct jit_rig *j)
{
	opd_jits_end_round(&j->rig->world.jits, j->rig->now);
	j->rig->now += SECOND;
}

/* The lines that the session has for addresses that were lost. */
static void expect_late_names(const struct jit_rig *j, const char *want)
{
	char path[160], text[4096] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/perf-77.map", j->images);
	file = fopen(path, "r");
	if (file) {
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
	}
	assert_string_equal(text, want);
}

static void test_found(void **state)
{
	struct jit_rig j;
	uint64_t a, b;

	(void)state;
	new_jit_rig(&j, NULL);
	put_map(j.map, "w",
		"7f0000000100 20 a\nno line\n7f0000000200 40 b c\n");
	a = key_of_sample(&j, 0x100);
	assert_true(a);
	assert_int_equal(key_of_sample(&j, 0x11f), a + 0x1f);
	b = key_of_sample(&j, 0x210) - 0x10;
	/* There is a byte between them. */
	assert_true(b > a + 0x20);
	assert_int_equal(key_of_sample(&j, 0x120), 0);
	assert_int_equal(key_of_sample(&j, 0xff), 0);
	free_rig(j.rig);
}

/* In a container a process has another number. */
static void test_number_of_its_own(void **state)
{
	struct jit_rig j;

	(void)state;
	new_jit_rig(&j, "Name:\tx\nNSpid:\t77\t12\t5\nNSpgid:\t1\n");
	strcpy(strrchr(j.map, '/'), "/perf-5.map");
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(key_of_sample(&j, 0x100));
	free_rig(j.rig);
}

static void test_grows(void **state)
{
	struct jit_rig j;
	uint64_t a, b;

	(void)state;
	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n7f0000000200 20 b");
	a = key_of_sample(&j, 0x100);
	/* Its line is not whole. */
	assert_int_equal(key_of_sample(&j, 0x200), 0);
	put_map(j.map, "a", "b\n");
	end_round(&j);
	b = key_of_sample(&j, 0x200);
	assert_true(b && b != a);
	/* The address is used again: from the next round on. */
	put_map(j.map, "a", "7f0000000100 10 c\n");
	assert_int_equal(key_of_sample(&j, 0x100), a);
	end_round(&j);
	assert_true(key_of_sample(&j, 0x100) > b);
	assert_int_equal(key_of_sample(&j, 0x110), 0);
	/* A name that comes back is what it was. */
	put_map(j.map, "a", "7f0000000300 20 a\n");
	end_round(&j);
	assert_int_equal(key_of_sample(&j, 0x300), a);
	free_rig(j.rig);
}

static void test_written_anew(void **state)
{
	struct jit_rig j;
	uint64_t a;

	(void)state;
	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n7f0000000200 20 b\n");
	a = key_of_sample(&j, 0x100);
	/* Shorter; then longer, with other lines at the old places. */
	put_map(j.map, "w", "7f0000000100 20 c\n");
	end_round(&j);
	assert_true(key_of_sample(&j, 0x100) > a);
	end_round(&j);
	put_map(j.map, "w",
		"# x\n7f0000000100 20 c\n7f0000000200 20 b\n7f0000000300 20 d\n");
	end_round(&j);
	key_of_sample(&j, 0x200);
	end_round(&j);
	assert_true(key_of_sample(&j, 0x200));
	/* Another file in its place. */
	assert_int_equal(unlink(j.map), 0);
	put_map(j.map, "w", "7f0000000400 20 e\n7f0000000500 20 f\n# longer\n");
	end_round(&j);
	assert_true(key_of_sample(&j, 0x500));
	free_rig(j.rig);
}

static void test_late(void **state)
{
	struct jit_rig j;

	(void)state;
	new_jit_rig(&j, NULL);
	assert_int_equal(key_of_sample(&j, 0x100), 0);
	assert_int_equal(key_of_sample(&j, 0x110), 0);
	assert_int_equal(key_of_sample(&j, 0x300), 0);
	opd_jits_save(&j.rig->world.jits);
	expect_late_names(&j, "");
	put_map(j.map, "w", "7f0000000100 20 a b\n7f0000000200 20 c\n");
	do_exit(j.rig, PID);
	expect_late_names(&j, "7f0000000100 20 a b\n");
	assert_int_equal(j.rig->world.jits.nr, 0);
	assert_int_equal(j.rig->world.jits.nr_codes, 0);
	free_rig(j.rig);
}

/* An exec is the end of the code, and the next image has another name. */
static void test_exec(void **state)
{
	struct op_cookie_query q;
	struct jit_rig j;
	struct seen seen;

	(void)state;
	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(key_of_sample(&j, 0x100));
	do_exec(j.rig, PID);
	do_map(j.rig, PID, 0x1000, 0x1000, 0, "/bin/runtime");
	do_map(j.rig, PID, CODE, 0x100000, 0, "//anon");
	put_map(j.map, "w", "7f0000000100 20 b\n");
	do_sample(j.rig, PID, CODE + 0x100);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	assert_string_equal(q.path, "/77.2.jo");
	free_rig(j.rig);
}

/* Each @put puts something else in the place of the map. */
static void put_link(const char *map)
{
	char other[180];

	snprintf(other, sizeof(other), "%s.other", map);
	put_map(other, "w", "7f0000000100 20 a\n");
	assert_int_equal(symlink(other, map), 0);
}

static void put_hard_link(const char *map)
{
	char other[180];

	snprintf(other, sizeof(other), "%s.other", map);
	put_map(other, "w", "7f0000000100 20 a\n");
	assert_int_equal(link(other, map), 0);
}

static void put_fifo(const char *map)
{
	assert_int_equal(mkfifo(map, 0666), 0);
}

static void put_dir(const char *map)
{
	assert_int_equal(mkdir(map, 0777), 0);
}

static void put_theirs(const char *map)
{
	put_map(map, "w", "7f0000000100 20 a\n");
	if (chown(map, 12345, (gid_t)-1)) /* only root may: else not ours */
		assert_int_equal(unlink(map), 0);
}

static void put_zeros(const char *map)
{
	put_map(map, "w", "");
	assert_int_equal(truncate(map, 1 << 30), 0);
}

static void put_nothing_of_a_map(const char *map)
{
	put_map(map, "w", "\n\n\n100\n7f0000000100\n7f0000000100 20\n\x7f");
}

static void test_not_to_be_read(void **state)
{
	static void (*const put[])(const char *map) = {
		put_link,  put_hard_link,	 put_fifo, put_dir, put_theirs,
		put_zeros, put_nothing_of_a_map,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(put) / sizeof(put[0]); i++) {
		struct jit_rig j;

		new_jit_rig(&j, NULL);
		put[i](j.map);
		assert_int_equal(key_of_sample(&j, 0x100), 0);
		end_round(&j);
		assert_int_equal(key_of_sample(&j, 0x100), 0);
		assert_int_equal(j.rig->world.jits.nr_codes, 0);
		do_exit(j.rig, PID);
		expect_late_names(&j, "");
		free_rig(j.rig);
	}
}

/* A line may be as long as a chunk; a longer one is passed over. */
static void test_long_lines(void **state)
{
	struct jit_rig j;
	FILE *file;

	(void)state;
	new_jit_rig(&j, NULL);
	file = fopen(j.map, "w");
	assert_non_null(file);
	fputs("7f0000000100 20 ", file);
	for (int i = 0; i < 300000; i++)
		putc('x', file);
	fputs("\n7f0000000200 20 ", file);
	for (int i = 0; i < 5000; i++)
		putc('y', file);
	fputs("\n7f0000000300 20 z\n", file);
	fclose(file);
	assert_int_equal(key_of_sample(&j, 0x100), 0);
	assert_true(key_of_sample(&j, 0x200));
	assert_true(key_of_sample(&j, 0x300));
	free_rig(j.rig);
}

/* A child has the code of its parent. */
static void test_fork(void **state)
{
	struct op_cookie_query q;
	struct jit_rig j;
	struct seen seen;

	(void)state;
	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(key_of_sample(&j, 0x100));
	do_fork(j.rig, PID, 78);
	do_sample(j.rig, 78, CODE + 0x110);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	assert_string_equal(q.path, "/78.jo");
	/* The parent may end first, and the child of a child is like it. */
	do_exit(j.rig, PID);
	do_fork(j.rig, 78, 79);
	do_exit(j.rig, 78);
	do_sample(j.rig, 79, CODE + 0x110);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	assert_string_equal(q.path, "/79.jo");
	do_exec(j.rig, 79);
	assert_int_equal(j.rig->world.jits.nr, 0);
	free_rig(j.rig);
}

/* Code in a memfd, as of .NET, has names, too; without one it stays there. */
static void test_memfd(void **state)
{
	struct op_cookie_query q;
	struct jit_rig j;
	struct seen seen;

	(void)state;
	new_jit_rig(&j, NULL);
	do_map(j.rig, PID, CODE + 0x200000, 0x1000, 0x5000,
	       "/memfd:doublemapper (deleted)");
	put_map(j.map, "w", "7f0000200100 20 a\n");
	do_sample(j.rig, PID, CODE + 0x200110);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	assert_string_equal(q.path, "/77.jo");
	do_sample(j.rig, PID, CODE + 0x200120);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	assert_string_equal(q.path, "/memfd:doublemapper");
	assert_int_equal(seen.pc, 0x5120);
	free_rig(j.rig);
}

/* The session has the image as a file with the image's build-id. */
static void test_saved(void **state)
{
	struct op_build_id id;
	struct op_cookie_query q;
	char path[512], hex[33];
	struct jit_rig j;
	struct seen seen;
	int fd;

	(void)state;
	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	do_sample(j.rig, PID, CODE + 0x100);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", q.build_id[i]);
	snprintf(path, sizeof(path), "%s/77.jo-%s", j.images, hex);
	opd_jits_save(&j.rig->world.jits);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(op_build_id_of_elf(&id, fd), 0);
	assert_int_equal(id.len, 16);
	assert_memory_equal(id.bytes, q.build_id, 16);
	close(fd);
	free_rig(j.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_number_of_its_own),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_written_anew),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_not_to_be_read),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_memfd),
		cmocka_unit_test(test_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
