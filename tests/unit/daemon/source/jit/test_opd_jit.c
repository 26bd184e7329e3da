// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps and jitdumps of made-up processes, read while their samples come:
 * what is found, when, and what must not be read.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/jit/opd_jit.h"
#include "libop/image/op_build_id.h"
#include "tests/unit/daemon/source/jitdump_writer.h"
#include "tests/unit/daemon/source/perf_rig.h"

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
	rig->table.jits.proc = rig->proc;
	rig->table.jits.folder = j->images;
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
	opd_jits_end_round(&j->rig->table.jits, j->rig->now);
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

TEST(test_found)
{
	struct jit_rig j;
	uint64_t a, b;

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
TEST(test_number_of_its_own)
{
	struct jit_rig j;

	new_jit_rig(&j, "Name:\tx\nNSpid:\t77\t12\t5\nNSpgid:\t1\n");
	strcpy(strrchr(j.map, '/'), "/perf-5.map");
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(key_of_sample(&j, 0x100));
	free_rig(j.rig);
}

TEST(test_grows)
{
	struct jit_rig j;
	uint64_t a, b;

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

TEST(test_written_anew)
{
	struct jit_rig j;
	uint64_t a;

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

TEST(test_late)
{
	struct jit_rig j;

	new_jit_rig(&j, NULL);
	assert_int_equal(key_of_sample(&j, 0x100), 0);
	assert_int_equal(key_of_sample(&j, 0x110), 0);
	assert_int_equal(key_of_sample(&j, 0x300), 0);
	opd_jits_save(&j.rig->table.jits);
	expect_late_names(&j, "");
	put_map(j.map, "w", "7f0000000100 20 a b\n7f0000000200 20 c\n");
	do_exit(j.rig, PID);
	expect_late_names(&j, "7f0000000100 20 a b\n");
	assert_int_equal(j.rig->table.jits.nr, 0);
	assert_int_equal(j.rig->table.jits.nr_codes, 0);
	free_rig(j.rig);
}

/* An exec is the end of the code, and the next image has another name. */
TEST(test_exec)
{
	struct op_cookie_query q;
	struct jit_rig j;
	struct seen seen;

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

TEST(test_not_to_be_read)
{
	static void (*const put[])(const char *map) = {
		put_link,  put_hard_link,	 put_fifo, put_dir, put_theirs,
		put_zeros, put_nothing_of_a_map,
	};

	for (size_t i = 0; i < sizeof(put) / sizeof(put[0]); i++) {
		struct jit_rig j;

		new_jit_rig(&j, NULL);
		put[i](j.map);
		assert_int_equal(key_of_sample(&j, 0x100), 0);
		end_round(&j);
		assert_int_equal(key_of_sample(&j, 0x100), 0);
		assert_int_equal(j.rig->table.jits.nr_codes, 0);
		do_exit(j.rig, PID);
		expect_late_names(&j, "");
		free_rig(j.rig);
	}
}

/* Likewise of a jitdump, which is known by the mapping of it. */
static void put_dump(const char *dump)
{
	const struct op_jitdump_header header = {
		.magic = OP_JITDUMP_MAGIC,
		.version = OP_JITDUMP_VERSION,
		.size = sizeof(header),
	};
	static const char code[16];
	const struct op_jitdump_load load = {
		.prefix = { OP_JITDUMP_LOAD, sizeof(load) + 2 + sizeof(code),
			    0 },
		.code_addr = CODE + 0x100,
		.code_size = sizeof(code),
	};
	FILE *file = fopen(dump, "w");

	assert_non_null(file);
	fwrite(&header, sizeof(header), 1, file);
	fwrite(&load, sizeof(load), 1, file);
	fwrite("a", 2, 1, file);
	fwrite(code, sizeof(code), 1, file);
	assert_int_equal(fclose(file), 0);
}

static void put_dump_of_others(const char *dump)
{
	put_dump(dump);
	if (chown(dump, 12345, (gid_t)-1)) /* only root may: else not ours */
		assert_int_equal(unlink(dump), 0);
}

static void put_dump_link(const char *dump)
{
	char other[180];

	snprintf(other, sizeof(other), "%s.other", dump);
	put_dump(other);
	assert_int_equal(symlink(other, dump), 0);
}

static void put_dump_hard_link(const char *dump)
{
	char other[180];

	snprintf(other, sizeof(other), "%s.other", dump);
	put_dump(other);
	assert_int_equal(link(other, dump), 0);
}

static void put_half_a_header(const char *dump)
{
	put_dump(dump);
	assert_int_equal(truncate(dump, 39), 0);
}

TEST(test_dumps)
{
	static const struct {
		void (*put)(const char *dump);
		bool is_read;
		bool is_other_file; /* than the one that was mapped */
	} rows[] = {
		{ put_dump, true, false },
		{ put_dump, false, true },
		{ put_dump_of_others, false, false },
		{ put_dump_link, false, false },
		{ put_dump_hard_link, false, false },
		{ put_half_a_header, false, false },
		{ put_fifo, false, false },
		{ put_dir, false, false },
		{ put_zeros, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stat st = { 0 };
		struct jit_rig j;

		new_jit_rig(&j, NULL);
		strcpy(strrchr(j.map, '/'), "/jit-77.dump");
		rows[i].put(j.map);
		stat(j.map, &st);
		opd_jits_see_mapping(&j.rig->table.jits, PID,
				     "/tmp/jit-77.dump",
				     st.st_ino + rows[i].is_other_file);
		assert_int_equal(key_of_sample(&j, 0x108) != 0,
				 rows[i].is_read);
		free_rig(j.rig);
	}
}

/* A line may be as long as a chunk; a longer one is passed over. */
TEST(test_long_lines)
{
	struct jit_rig j;
	FILE *file;

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

/*
 * Of a map without end so much is kept as is allowed, and so much read in a
 * round; addresses may come in any order. What is dropped makes room.
 */
TEST(test_huge)
{
	const unsigned int nr = 1200000, most = 1000000;
	const struct opd_jits *jits;
	struct jit_rig j;
	size_t before;
	FILE *file;

	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	do_map(j.rig, PID, CODE, 0x10000000, 0, "//anon");
	file = fopen(j.map, "w");
	assert_non_null(file);
	for (unsigned int i = nr; i--;)
		fprintf(file, "%" PRIx64 " 10 f\n", CODE + 16 * i);
	fclose(file);
	do {
		before = jits->nr_codes;
		key_of_sample(&j, 16 * (nr - 1));
		/* What the sample and the end of the round read, of lines
		 * of 18 bytes. */
		assert_true(jits->nr_codes - before <=
			    2 * ((4u << 20) + (64u << 10)) / 18);
		end_round(&j);
	} while (jits->nr_codes > before);
	assert_int_equal(jits->nr_codes, most);
	assert_true(jits->is_full);
	assert_true(key_of_sample(&j, 16 * (nr - 1)));
	assert_true(key_of_sample(&j, 16 * (nr - most)));
	assert_int_equal(key_of_sample(&j, 16 * (nr - most - 1)), 0);
	do_exit(j.rig, PID);
	assert_int_equal(jits->nr_codes, 0);
	free_rig(j.rig);

	/* A million times the same: one function. */
	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	file = fopen(j.map, "w");
	assert_non_null(file);
	for (unsigned int i = 0; i < nr; i++)
		fprintf(file, "%" PRIx64 " 10 f%u\n", CODE, i);
	fputs("7f0000000100 20 last\n", file);
	fclose(file);
	for (int i = 0; i < 40; i++) {
		assert_true(key_of_sample(&j, 0));
		end_round(&j);
	}
	assert_true(key_of_sample(&j, 0x100));
	assert_true(jits->nr_codes <= 100);
	free_rig(j.rig);
}

/* A child has the code of its parent. */
TEST(test_fork)
{
	struct op_cookie_query q;
	struct jit_rig j;
	struct seen seen;

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
	assert_int_equal(j.rig->table.jits.nr, 0);
	free_rig(j.rig);
}

/* Code in a memfd, as of .NET, has names, too; without one it stays there. */
TEST(test_memfd)
{
	struct op_cookie_query q;
	struct jit_rig j;
	struct seen seen;

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
TEST(test_saved)
{
	struct op_build_id id;
	struct op_cookie_query q;
	char path[512], hex[33];
	struct jit_rig j;
	struct seen seen;
	int fd;

	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	do_sample(j.rig, PID, CODE + 0x100);
	assert_true(next_sample(j.rig, &seen));
	query(j.rig, seen.cookie, &q);
	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", q.build_id[i]);
	snprintf(path, sizeof(path), "%s/77.jo-%s", j.images, hex);
	opd_jits_save(&j.rig->table.jits);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(op_build_id_of_elf(&id, fd), 0);
	assert_int_equal(id.len, 16);
	assert_memory_equal(id.bytes, q.build_id, 16);
	close(fd);
	free_rig(j.rig);
}

/* ---- jitdumps ---------------------------------------------------------------
 */

/* The key of @offset of the code for process @pid at @now; 0: not known. */
static uint64_t find_at(struct jit_rig *j, uint32_t pid, uint64_t offset,
			uint64_t now)
{
	uint64_t cookie, key;

	return opd_jits_find(&j->rig->table.jits, pid, CODE + offset, now,
			     &cookie, &key)
		       ? key
		       : 0;
}

/* Whether the session has @len @bytes in a file whose name begins with @name.
 */
static bool is_saved(struct jit_rig *j, const char *name, const void *bytes,
		     size_t len)
{
	char text[65536], path[512];
	struct dirent *entry;
	bool found = false;
	DIR *dir = opendir(j->images);
	size_t got;
	FILE *file;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, name, strlen(name)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", j->images, entry->d_name);
		file = fopen(path, "r");
		assert_non_null(file);
		got = fread(text, 1, sizeof(text), file);
		fclose(file);
		found |= memmem(text, got, bytes, len) != NULL;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A dump of process 77; its inode. */
static uint64_t new_dump(struct jit_rig *j, struct dump_writer *w,
			 uint64_t flags)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/proc/77/root/tmp/jit-77.dump",
		 j->rig->dir);
	dump_header_to(w,
		       open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
		       flags);
	assert_int_equal(fstat(w->fd, &st), 0);
	return st.st_ino;
}

static void see_dump(struct jit_rig *j, uint32_t pid, uint64_t ino)
{
	opd_jits_see_mapping(&j->rig->table.jits, pid, "/tmp/jit-77.dump", ino);
}

/* A record counts from its time on, which is that of another clock. */
TEST(test_dump)
{
	struct dump_writer w;
	struct jit_rig j;
	uint64_t key, ino;

	new_jit_rig(&j, NULL);
	ino = new_dump(&j, &w, 0);
	dump_load(&w, 1000, CODE + 0x100, "first", "ABCD");
	dump_load(&w, 2000, CODE + 0x100, "second", "EFGH");
	see_dump(&j, PID, ino);
	j.rig->table.jits.ahead = 50;
	assert_int_equal(find_at(&j, PID, 0x100, 1049), 0);
	key = find_at(&j, PID, 0x100, 1050);
	assert_int_equal(key, 0x1000);
	assert_int_equal(find_at(&j, PID, 0x103, 2049), key + 3);
	assert_int_equal(find_at(&j, PID, 0x104, 2049), 0);
	assert_int_equal(j.rig->table.jits.nr_codes, 1);
	assert_int_equal(find_at(&j, PID, 0x102, 2050), 0x1012);
	/* What is added is found in the next round. */
	dump_load(&w, 2100, CODE + 0x200, "third", "IJKL");
	assert_int_equal(find_at(&j, PID, 0x200, 3000), 0);
	end_round(&j);
	assert_int_equal(find_at(&j, PID, 0x200, 3000), 0x1020);
	/* With the one that was replaced, which makes room when there are many.
	 */
	assert_int_equal(j.rig->table.jits.nr_codes, 3);
	opd_jits_save(&j.rig->table.jits);
	assert_true(is_saved(&j, "77.jo-", "\0first\0second\0third", 20));
	assert_true(is_saved(&j, "77.jo-", "EFGH", 4));
	/* It is for the machine that the dump says. */
	assert_true(is_saved(&j, "77.jo-", "\2\0\3\0\1\0\0\0", 8));
	close(w.fd);
	opd_jits_exit(&j.rig->table.jits, PID);
	assert_int_equal(j.rig->table.jits.nr_codes, 0);
	free_rig(j.rig);
}

/* A dump takes the place of a map, and what is none does not. */
TEST(test_dump_instead_of_map)
{
	struct dump_writer w;
	struct jit_rig j;
	uint64_t ino;

	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(find_at(&j, PID, 0x100, 1));
	ino = new_dump(&j, &w, 0);
	assert_int_equal(ftruncate(w.fd, 39), 0);
	see_dump(&j, PID, ino);
	assert_true(find_at(&j, PID, 0x100, 1));
	close(w.fd);
	ino = new_dump(&j, &w, 0);
	dump_load(&w, 1, CODE + 0x200, "b", "ABCD");
	see_dump(&j, PID, ino);
	assert_int_equal(find_at(&j, PID, 0x100, 1), 0);
	assert_true(find_at(&j, PID, 0x200, 1));
	/* Once it is read, neither another mapping nor another dump. */
	see_dump(&j, PID, ino);
	assert_true(find_at(&j, PID, 0x200, 1));
	end_round(&j);
	assert_int_equal(find_at(&j, PID, 0x100, 1), 0);
	close(w.fd);
	free_rig(j.rig);
}

TEST(test_dump_not_to_be_read)
{
	static const struct {
		const char *name;
		bool other_inode, other_owner, linked, no_folder;
		size_t nr; /* processes that are remembered */
	} rows[] = {
		{ "/tmp/jit-77.dump", false, false, false, false, 1 },
		{ "/tmp/jit-77.dump", true, false, false, false, 1 },
		{ "/tmp/jit-77.dump", false, true, false, false, 1 },
		{ "/tmp/jit-77.dump", false, false, true, false, 1 },
		{ "/tmp/jit-77.dump", false, false, false, true, 0 },
		{ "/tmp/jit-78.dump", false, false, false, false, 1 },
		{ "/tmp/77.dump", false, false, false, false, 0 },
		{ "//anon", false, false, false, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dump_writer w;
		struct jit_rig j;
		char path[200], other[200];
		unsigned int nr_fds;
		uint64_t ino;

		new_jit_rig(&j, NULL);
		ino = new_dump(&j, &w, 0) + rows[i].other_inode;
		dump_load(&w, 1, CODE + 0x100, "a", "ABCD");
		if (rows[i].other_owner && fchown(w.fd, 12345, (gid_t)-1))
			ino++; /* only root may */
		snprintf(path, sizeof(path), "%s/proc/77/root/tmp/jit-77.dump",
			 j.rig->dir);
		snprintf(other, sizeof(other), "%s/link", j.rig->dir);
		if (rows[i].linked)
			assert_int_equal(link(path, other), 0);
		if (rows[i].no_folder)
			j.rig->table.jits.folder = NULL;
		nr_fds = count_fds();
		opd_jits_see_mapping(&j.rig->table.jits, PID, rows[i].name,
				     ino);
		assert_int_equal(j.rig->table.jits.nr, rows[i].nr);
		/* The folder of the process; the dump and the socket of who
		 * reads it. */
		assert_int_equal(count_fds(),
				 nr_fds + rows[i].nr + 2 * (i == 0));
		assert_int_equal(find_at(&j, PID, 0x100, 1) != 0, i == 0);
		close(w.fd);
		free_rig(j.rig);
	}
}

/* A child has what its parent told before the fork. */
TEST(test_dump_of_parent)
{
	struct opd_jits *jits;
	struct dump_writer w;
	struct jit_rig j;
	uint64_t ino;

	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	ino = new_dump(&j, &w, 0);
	dump_load(&w, 1000, CODE + 0x100, "before", "ABCD");
	dump_load(&w, 2000, CODE + 0x100, "after", "EFGH");
	dump_load(&w, 2000, CODE + 0x200, "after", "EFGH");
	see_dump(&j, PID, ino);
	opd_jits_fork(jits, PID, 78, 1500);
	/* Its child is no later than it. */
	opd_jits_fork(jits, 78, 79, 3000);
	opd_jits_fork(jits, 78, 80, 900);
	assert_true(find_at(&j, 78, 0x100, 4000));
	assert_int_equal(find_at(&j, 78, 0x200, 4000), 0);
	assert_true(find_at(&j, 79, 0x100, 4000));
	assert_int_equal(find_at(&j, 79, 0x200, 4000), 0);
	assert_int_equal(find_at(&j, 80, 0x100, 4000), 0);
	assert_true(find_at(&j, PID, 0x200, 4000));
	assert_int_equal(jits->nr, 4);
	/* What is late of the parent stays its own, too. */
	opd_jits_save(jits);
	assert_true(is_saved(&j, "78.jo-", "\0before\0", 8));
	assert_false(is_saved(&j, "78.jo-", "\0after\0", 7));
	assert_false(is_saved(&j, "perf-78.map", "after", 5));
	/* Its own dump tells of it alone. */
	jits->proc = j.rig->proc;
	proc_add(j.rig, 78, NULL, "");
	opd_jits_exit(jits, 78);
	opd_jits_fork(jits, PID, 78, 1500);
	assert_true(find_at(&j, 78, 0x101, 4000));
	close(w.fd);
	opd_jits_exit(jits, 78);
	opd_jits_exit(jits, 79);
	opd_jits_exit(jits, 80);
	opd_jits_exit(jits, PID);
	assert_int_equal(jits->nr_codes, 0);
	free_rig(j.rig);
}

TEST(test_own_dump_after_fork)
{
	struct opd_jits *jits;
	struct dump_writer w, own;
	struct jit_rig j;
	char path[200];
	struct stat st;

	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	snprintf(path, sizeof(path), "%s/proc/78", j.rig->dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/proc/78/root", j.rig->dir);
	assert_int_equal(symlink("../77/root", path), 0);
	snprintf(path, sizeof(path), "%s/proc/77/root/tmp/jit-78.dump",
		 j.rig->dir);
	dump_header_to(&own, open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), 0);
	dump_load(&own, 2000, CODE + 0x200, "own", "EFGH");
	assert_int_equal(fstat(own.fd, &st), 0);
	see_dump(&j, PID, new_dump(&j, &w, 0));
	dump_load(&w, 1000, CODE + 0x100, "parents", "ABCD");
	opd_jits_fork(jits, PID, 78, 1500);
	assert_true(find_at(&j, 78, 0x100, 1500));
	opd_jits_see_mapping(jits, 78, "/tmp/jit-78.dump", st.st_ino);
	assert_int_equal(find_at(&j, 78, 0x200, 1999), 0);
	end_round(&j);
	assert_true(find_at(&j, 78, 0x200, 2000));
	assert_int_equal(find_at(&j, 78, 0x100, 2000), 0);
	assert_true(find_at(&j, PID, 0x100, 2000));
	assert_int_equal(jits->nr_codes, 2);
	close(own.fd);
	close(w.fd);
	free_rig(j.rig);
}

/* Code that was told after its samples gets a name by address. */
TEST(test_dump_late)
{
	struct dump_writer w;
	struct jit_rig j;

	new_jit_rig(&j, NULL);
	see_dump(&j, PID, new_dump(&j, &w, 0));
	assert_int_equal(find_at(&j, PID, 0x101, 100), 0);
	dump_load(&w, 200, CODE + 0x100, "late", "ABCD");
	opd_jits_exit(&j.rig->table.jits, PID);
	expect_late_names(&j, "7f0000000100 4 late\n");
	close(w.fd);
	free_rig(j.rig);
}

/* Code that has moved away is nobody's. */
TEST(test_dump_moves)
{
	struct dump_writer w;
	struct jit_rig j;
	uint64_t key;

	new_jit_rig(&j, NULL);
	see_dump(&j, PID, new_dump(&j, &w, 0));
	dump_load(&w, 100, CODE + 0x100, "a", "ABCD");
	dump_move(&w, 200, CODE + 0x100, CODE + 0x200, 4);
	key = find_at(&j, PID, 0x100, 199);
	assert_true(key);
	assert_int_equal(find_at(&j, PID, 0x100, 200), 0);
	assert_int_equal(find_at(&j, PID, 0x201, 200), key + 1);
	opd_jits_save(&j.rig->table.jits);
	expect_late_names(&j, "");
	close(w.fd);
	free_rig(j.rig);
}

/* ---- limits -----------------------------------------------------------------
 */

static void open_log(struct jit_rig *j, struct op_log *log)
{
	struct op_diag diag = { "" };
	char path[160];

	op_log_init(log);
	snprintf(path, sizeof(path), "%s/log", j->rig->dir);
	assert_int_equal(op_log_open(log, path, &diag), 0);
	j->rig->table.jits.log = log;
}

/* The log has @nr lines that end with @text. */
static void expect_log(struct jit_rig *j, const char *text, int nr)
{
	char path[160], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/log", j->rig->dir);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strlen(line) > strlen(text) &&
		    !strcmp(line + strlen(line) - strlen(text), text))
			nr--;
	fclose(file);
	assert_int_equal(nr, 0);
}

TEST(test_most_processes)
{
	const char *crowded =
		"128 processes have code in anonymous memory; samples in that of further ones have no name\n";
	struct jit_rig j;
	struct op_log log;

	new_jit_rig(&j, NULL);
	open_log(&j, &log);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	for (uint32_t pid = 1000; pid < 1127; pid++)
		assert_int_equal(find_at(&j, pid, 0x100, 1), 0);
	assert_int_equal(j.rig->table.jits.nr, 127);
	assert_true(find_at(&j, PID, 0x100, 1));
	expect_log(&j, crowded, 0);
	assert_int_equal(find_at(&j, 2000, 0x100, 1), 0);
	assert_int_equal(j.rig->table.jits.nr, 128);
	for (uint32_t pid = 3000; pid < 3003; pid++)
		assert_int_equal(find_at(&j, pid, 0x100, 1), 0);
	assert_int_equal(j.rig->table.jits.nr, 128);
	expect_log(&j, crowded, 1);
	/* Two of them are in one bucket. */
	assert_int_equal(find_at(&j, 1000, 0x100, 1), 0);
	opd_jits_exit(&j.rig->table.jits, 1000);
	opd_jits_exit(&j.rig->table.jits, 1000);
	assert_int_equal(j.rig->table.jits.nr, 127);
	assert_int_equal(find_at(&j, PID + 256, 0x100, 1), 0);
	assert_int_equal(j.rig->table.jits.nr, 128);
	assert_true(find_at(&j, PID, 0x100, 1));
	opd_jits_exit(&j.rig->table.jits, PID + 256);
	assert_true(find_at(&j, PID, 0x100, 1));
	op_log_close(&log);
	free_rig(j.rig);
}

/* A process whose end was lost gives its place back. */
TEST(test_lost_end)
{
	struct jit_rig j;
	char path[160];

	new_jit_rig(&j, NULL);
	make_folder(path, sizeof(path), j.rig, "proc/1");
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(key_of_sample(&j, 0x100));
	for (int i = 0; i < 3; i++)
		opd_perf_proc_find_ended(&j.rig->table, PID);
	assert_int_equal(j.rig->table.jits.nr, 1);
	proc_remove(j.rig, PID);
	opd_perf_proc_find_ended(&j.rig->table, PID);
	assert_int_equal(j.rig->table.jits.nr, 1);
	opd_perf_proc_find_ended(&j.rig->table, PID);
	assert_int_equal(j.rig->table.jits.nr, 0);
	free_rig(j.rig);
}

/* So many codes of all processes are kept, and that is said once. */
TEST(test_most_codes)
{
	const char *full =
		"perf-77.map of process 77: too many functions to keep in memory; samples in further ones have no name\n";
	struct jit_rig j;
	struct op_log log;

	new_jit_rig(&j, NULL);
	open_log(&j, &log);
	/* What others have. */
	j.rig->table.jits.nr_codes = 4000000 - 2;
	put_map(j.map, "w", "7f0000000100 20 a\n7f0000000200 20 b\n");
	assert_true(find_at(&j, PID, 0x200, 1));
	expect_log(&j, full, 0);
	assert_int_equal(j.rig->table.jits.nr_codes, 4000000);
	j.rig->table.jits.nr_codes--;
	put_map(j.map, "a", "7f0000000300 20 c\n7f0000000400 20 d\n");
	end_round(&j);
	assert_true(find_at(&j, PID, 0x300, 1));
	assert_int_equal(find_at(&j, PID, 0x400, 1), 0);
	expect_log(&j, full, 1);
	/* No more is read while there is no room. */
	put_map(j.map, "a", "7f0000000500 20 e\n");
	end_round(&j);
	end_round(&j);
	assert_int_equal(find_at(&j, PID, 0x500, 1), 0);
	expect_log(&j, full, 1);
	j.rig->table.jits.nr_codes -= 100;
	end_round(&j);
	assert_true(find_at(&j, PID, 0x500, 1));
	opd_jits_exit(&j.rig->table.jits, PID);
	assert_int_equal(j.rig->table.jits.nr_codes, 4000000 - 2 - 101);
	op_log_close(&log);
	free_rig(j.rig);
}

TEST(test_most_codes_of_a_dump)
{
	struct dump_writer w;
	struct jit_rig j;
	struct op_log log;

	new_jit_rig(&j, NULL);
	open_log(&j, &log);
	j.rig->table.jits.nr_codes = 4000000 - 1;
	see_dump(&j, PID, new_dump(&j, &w, 0));
	dump_load(&w, 1, CODE + 0x100, "a", "ABCD");
	dump_load(&w, 1, CODE + 0x200, "b", "ABCD");
	assert_true(find_at(&j, PID, 0x100, 1));
	assert_int_equal(find_at(&j, PID, 0x200, 1), 0);
	expect_log(
		&j,
		"too many functions to keep in memory; samples in further ones have no name\n",
		1);
	close(w.fd);
	op_log_close(&log);
	free_rig(j.rig);
}

/* 4 MiB, and as much as is read at a time, in short lines. */
static void put_filling(FILE *file)
{
	for (int i = 0; i < (4 << 20) + (64 << 10); i++)
		putc_unlocked(i % 64 ? 'x' : '\n', file);
}

/* A long map is read in parts, and what is left at the end. */
TEST(test_long_map)
{
	struct jit_rig j;
	FILE *file;

	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "");
	assert_int_equal(find_at(&j, PID, 0x301, 1), 0);
	file = fopen(j.map, "w");
	assert_non_null(file);
	put_filling(file);
	fputs("\n7f0000000100 20 a\n", file);
	put_filling(file);
	fputs("\n7f0000000200 20 b\n", file);
	put_filling(file);
	put_filling(file);
	fputs("\n7f0000000300 20 c\n", file);
	fclose(file);
	assert_int_equal(find_at(&j, PID, 0x100, 1), 0);
	/* Two parts of the time in which so much is read, and not one. */
	end_round(&j);
	assert_int_equal(find_at(&j, PID, 0x100, 1), 0);
	for (int i = 0; i < 2; i++)
		end_round(&j);
	assert_true(find_at(&j, PID, 0x100, 1));
	assert_int_equal(find_at(&j, PID, 0x200, 1), 0);
	opd_jits_exit(&j.rig->table.jits, PID);
	expect_late_names(
		&j,
		"7f0000000100 20 a\n7f0000000200 20 b\n7f0000000300 20 c\n");
	free_rig(j.rig);
}

/* ---- when -------------------------------------------------------------------
 */

/* A process without a map is looked at once a second. */
TEST(test_looks_once_a_second)
{
	const uint64_t start = 100 * SECOND;
	struct opd_jits *jits;
	struct jit_rig j;

	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	assert_int_equal(find_at(&j, PID, 0x100, start), 0);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	opd_jits_end_round(jits, start);
	assert_int_equal(find_at(&j, PID, 0x100, start + SECOND - 1), 0);
	assert_true(find_at(&j, PID, 0x100, start + SECOND));
	/* One with a map is, in each round in which code is not known. */
	put_map(j.map, "a", "7f0000000200 20 b\n");
	assert_int_equal(find_at(&j, PID, 0x200, start + SECOND), 0);
	opd_jits_end_round(jits, start + SECOND);
	assert_true(find_at(&j, PID, 0x200, start + SECOND));
	put_map(j.map, "a", "7f0000000300 20 c\n");
	opd_jits_end_round(jits, start + SECOND);
	put_map(j.map, "a", "7f0000000400 20 d\n");
	opd_jits_end_round(jits, start + SECOND);
	assert_true(find_at(&j, PID, 0x400, start + SECOND));
	free_rig(j.rig);
}

/* A map that is removed is read to its end. */
TEST(test_removed_map)
{
	struct jit_rig j;
	FILE *file;

	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	assert_true(find_at(&j, PID, 0x100, 1));
	file = fopen(j.map, "a");
	assert_non_null(file);
	assert_int_equal(unlink(j.map), 0);
	fputs("7f0000000200 20 b\n", file);
	fclose(file);
	end_round(&j);
	assert_true(find_at(&j, PID, 0x200, 1));
	free_rig(j.rig);
}

/* Of a map that only we have asked for nothing is lost when it is removed. */
TEST(test_removes_map)
{
	static const struct {
		const char *program;
		bool removes, late;
		void (*put)(const char *map); /* in the place of the map */
		bool is_left;
	} rows[] = {
		{ "/bin/node", true, false, NULL, false },
		{ "/bin/node", true, true, NULL, false },
		{ "/bin/node", false, true, NULL, true },
		{ "/bin/luajit", true, false, NULL, true },
		{ "/bin/runtime", true, false, NULL, true },
		{ "/bin/node", true, false, put_hard_link, true },
		{ "/bin/node", true, false, put_link, true },
		{ "/bin/node", true, false, put_dir, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct jit_rig j;
		struct stat st;

		new_jit_rig(&j, NULL);
		do_exec(j.rig, PID);
		do_map(j.rig, PID, 0x1000, 0x1000, 0, rows[i].program);
		do_map(j.rig, PID, CODE, 0x100000, 0, "//anon");
		j.rig->table.jits.removes_maps = rows[i].removes;
		if (rows[i].late)
			assert_int_equal(key_of_sample(&j, 0x100), 0);
		if (rows[i].put)
			rows[i].put(j.map);
		else
			put_map(j.map, "w", "7f0000000100 20 a\n");
		if (!rows[i].late)
			key_of_sample(&j, 0x100);
		do_exit(j.rig, PID);
		assert_int_equal(!lstat(j.map, &st), rows[i].is_left);
		expect_late_names(&j,
				  rows[i].late ? "7f0000000100 20 a\n" : "");
		free_rig(j.rig);
	}
}

/* Images are written every ten seconds. */
TEST(test_saved_from_time_to_time)
{
	struct opd_jits *jits;
	struct jit_rig j;

	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	put_map(j.map, "w", "7f0000000100 20 first\n7f0000000200 20 second\n");
	assert_true(find_at(&j, PID, 0x100, 1));
	opd_jits_end_round(jits, 50 * SECOND);
	assert_true(is_saved(&j, "77.jo-", "\0first\0", 7));
	assert_true(find_at(&j, PID, 0x200, 1));
	opd_jits_end_round(jits, 60 * SECOND - 1);
	assert_false(is_saved(&j, "77.jo-", "\0second\0", 8));
	opd_jits_end_round(jits, 60 * SECOND);
	assert_true(is_saved(&j, "77.jo-", "\0second\0", 8));
	assert_int_equal(jits->save_at, 70 * SECOND);
	free_rig(j.rig);
}

/* Where nothing can be written, that is said. */
TEST(test_cannot_be_saved)
{
	struct jit_rig j;
	struct op_log log;

	new_jit_rig(&j, NULL);
	open_log(&j, &log);
	assert_int_equal(find_at(&j, PID, 0x100, 1), 0);
	put_map(j.map, "w", "7f0000000100 20 a\n");
	make_file(j.images, "", 0); /* no folder */
	opd_jits_save(&j.rig->table.jits);
	expect_log(
		&j,
		"names of code that process 77 made at run time: Not a directory\n",
		1);
	assert_int_equal(unlink(j.images), 0);
	opd_jits_save(&j.rig->table.jits);
	expect_late_names(&j, "7f0000000100 20 a\n");
	op_log_close(&log);
	free_rig(j.rig);
}

/* Names of lost addresses are written once, in their order. */
TEST(test_late_names_once)
{
	struct jit_rig j;

	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(find_at(&j, PID, 0x310, 1), 0);
		assert_int_equal(find_at(&j, PID, 0x110, 1), 0);
		assert_int_equal(find_at(&j, PID, 0x410, 1), 0);
		assert_int_equal(find_at(&j, PID, 0x300, 1), 0);
	}
	put_map(j.map, "w",
		"7f0000000300 20 c\n7f0000000200 20 b\n7f0000000100 20 a\n");
	opd_jits_save(&j.rig->table.jits);
	expect_late_names(&j, "7f0000000100 20 a\n7f0000000300 20 c\n");
	opd_jits_save(&j.rig->table.jits);
	put_map(j.map, "a", "7f0000000400 20 d\n");
	/* One that was written is lost no more, and the other still is. */
	assert_true(find_at(&j, PID, 0x310, 1));
	opd_jits_exit(&j.rig->table.jits, PID);
	expect_late_names(
		&j,
		"7f0000000100 20 a\n7f0000000300 20 c\n7f0000000400 20 d\n");
	free_rig(j.rig);
}

/* So many addresses of a process are remembered. */
TEST(test_most_lost)
{
	struct jit_rig j;

	new_jit_rig(&j, NULL);
	put_map(j.map, "w", "");
	for (uint64_t i = 0; i < 65537; i++)
		assert_int_equal(find_at(&j, PID, i, 1), 0);
	put_map(j.map, "w", "7f0000010000 20 b\n");
	opd_jits_save(&j.rig->table.jits);
	expect_late_names(&j, "");
	put_map(j.map, "a", "7f000000ffff 1 a\n");
	opd_jits_save(&j.rig->table.jits);
	expect_late_names(&j, "7f000000ffff 1 a\n");
	free_rig(j.rig);
}

/* The last of its numbers is that of its own namespace. */
TEST(test_numbers)
{
	static const struct {
		const char *status;
		const char *map;
	} rows[] = {
		{ "Name:\tx\nNSpid:\t77\n", "/perf-77.map" },
		{ "Name:\tx\nNSpid: 77 5\n", "/perf-5.map" },
		{ "Name:\tx\nNSpid:\t77\t5x\n", "/perf-5.map" },
		{ "Name:\tx\nNSpid:\tx\n", "/perf-77.map" },
		{ "Name:\tNSpid: 5\nPid:\t5\n", "/perf-77.map" },
		{ "", "/perf-77.map" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct jit_rig j;

		new_jit_rig(&j, rows[i].status);
		strcpy(strrchr(j.map, '/'), rows[i].map);
		put_map(j.map, "w", "7f0000000100 20 a\n");
		assert_true(find_at(&j, PID, 0x100, 1));
		free_rig(j.rig);
	}
}

/*
 * Whatever a dump has, and however many samples come, no more than 50,000 of
 * its records are read in a tenth of a second, and the rest in those that
 * follow.
 */
TEST(test_dump_without_end)
{
	const unsigned int nr = 120000, at_once = 50000;
	struct dump_writer w;
	struct opd_jits *jits;
	struct jit_rig j;
	uint64_t ino;

	new_jit_rig(&j, NULL);
	jits = &j.rig->table.jits;
	ino = new_dump(&j, &w, 0);
	for (unsigned int i = 1; i <= nr; i++)
		dump_load(&w, i, CODE + 64 * (uint64_t)i, "f", "ABCD");
	see_dump(&j, PID, ino);
	for (int i = 0; i < 100; i++)
		find_at(&j, PID, 64 * (uint64_t)nr, nr);
	assert_int_equal(jits->nr_codes, at_once);
	opd_jits_end_round(jits, 0);
	for (int i = 0; i < 100; i++)
		find_at(&j, PID, 64 * (uint64_t)nr, nr);
	assert_int_equal(jits->nr_codes, 2 * at_once);
	/* Another round that is no later gives nothing more. */
	opd_jits_end_round(jits, 1);
	assert_int_equal(find_at(&j, PID, 64 * (uint64_t)nr, nr), 0);
	assert_int_equal(jits->nr_codes, 2 * at_once);
	opd_jits_end_round(jits, SECOND);
	assert_true(find_at(&j, PID, 64 * (uint64_t)nr, nr));
	assert_int_equal(jits->nr_codes, nr);
	close(w.fd);
	free_rig(j.rig);
}

/* A hundred gigabytes without anything in them: nothing is read of these. */
TEST(test_sparse_dump)
{
	struct dump_writer w;
	struct jit_rig j;
	uint64_t ino;

	new_jit_rig(&j, NULL);
	ino = new_dump(&j, &w, 0);
	dump_load(&w, 1, CODE + 0x100, "f", "ABCD");
	assert_int_equal(ftruncate(w.fd, (off_t)100 << 30), 0);
	see_dump(&j, PID, ino);
	assert_true(find_at(&j, PID, 0x100, 2));
	assert_int_equal(j.rig->table.jits.nr_codes, 1);
	opd_jits_exit(&j.rig->table.jits, PID);
	close(w.fd);
	free_rig(j.rig);
}

/* It is cut, grows and has something else in it between any two looks. */
TEST(test_dump_that_changes)
{
	struct dump_writer w;
	struct jit_rig j;
	uint64_t ino, seed = 1;
	char bytes[4096];

	new_jit_rig(&j, NULL);
	ino = new_dump(&j, &w, 0);
	for (unsigned int i = 1; i <= 100; i++)
		dump_load(&w, i, CODE + 64 * (uint64_t)i, "f", "ABCD");
	see_dump(&j, PID, ino);
	for (unsigned int i = 0; i < 2000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		memset(bytes, (int)(seed >> 60), sizeof(bytes));
		assert_true(pwrite(w.fd, bytes, seed >> 52 & 0xfff,
				   (off_t)(seed >> 40 & 0xfff)) >= 0);
		if (i % 7 == 0)
			assert_int_equal(
				ftruncate(w.fd, (off_t)(seed >> 30 & 0x1fff)),
				0);
		find_at(&j, PID, seed >> 33 & 0x1fff, i);
		end_round(&j);
	}
	opd_jits_exit(&j.rig->table.jits, PID);
	close(w.fd);
	free_rig(j.rig);
}
