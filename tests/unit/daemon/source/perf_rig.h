/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERF_RIG_H
#define TESTS_UNIT_PERF_RIG_H

/*
 * A table of processes (daemon/source/perf/opd_perf_handle.h) with a made-up
 * /proc: what happens there, told in records, and what samples come of it.
 */

#include "daemon/source/perf/opd_perf_proc.h"
#include "daemon/source/perf/opd_perf_handle.h"
#include "tests/unit/opd_fixture.h"
#include "perf_words.h"
#include "perf_writer.h"

#define SECOND UINT64_C(1000000000)

struct rig {
	struct opd_process_table table;
	struct perf_writer writer;
	size_t taken; /* words that were looked at */
	struct walk walk;
	uint64_t now;
	uint64_t written; /* samples */
	unsigned int nr_fds; /* before it */
	char dir[64];
	char proc[80];
};

static uint64_t cost_of_nothing(const struct opd_untrusted *untrusted)
{
	(void)untrusted;
	return 0;
}

__attribute__((unused)) static struct rig *new_rig(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->nr_fds = count_fds();
	snprintf(rig->dir, sizeof(rig->dir), "%s/opd-perf-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(rig->dir));
	snprintf(rig->proc, sizeof(rig->proc), "%s/proc", rig->dir);
	assert_int_equal(mkdir(rig->proc, 0755), 0);
	perf_writer_begin(&rig->writer, &rig->table);
	assert_string_equal(rig->table.proc, "/proc");
	rig->table.proc = rig->table.images.proc = rig->proc;
	/* The cache of the user who runs the tests is none of theirs. */
	opd_kept_tables_release(&rig->table.kept);
	rig->table.clock = NULL;
	rig->table.cost = cost_of_nothing;
	rig->now = 5 * SECOND;
	close_stdin();
	return rig;
}

__attribute__((unused)) static uint64_t stat_of(const struct rig *rig,
						enum opd_perf_stat stat)
{
	return rig->table.stats[stat];
}

__attribute__((unused)) static bool next_sample(struct rig *rig,
						struct seen *seen)
{
	const struct op_stream_words *words = &rig->table.writer->words;
	bool any;

	if (!words->nr)
		return false;
	walk_into(&rig->walk, words->words + rig->taken,
		  words->nr - rig->taken);
	any = walk_next(&rig->walk, seen);
	rig->taken = (size_t)(rig->walk.stream.at - words->words);
	rig->written += any;
	return any;
}

/* Every sample was written and looked at, or it has a cause. */
__attribute__((unused)) static void free_rig(struct rig *rig)
{
	struct seen seen;

	assert_false(next_sample(rig, &seen));
	assert_int_equal(stat_of(rig, OPD_PERF_RECEIVED),
			 rig->written + stat_of(rig, OPD_PERF_NO_MAPPING) +
				 stat_of(rig, OPD_PERF_NO_MM) +
				 stat_of(rig, OPD_PERF_INVALID_EIP));
	opd_perf_stacks_release(&rig->table.stacks);
	opd_process_table_release(&rig->table);
	perf_writer_end(&rig->writer);
	reopen_stdin();
	assert_int_equal(count_fds(), rig->nr_fds);
	remove_tree(rig->dir);
	free(rig);
}

/* ---- what happens -----------------------------------------------------------
 */

__attribute__((unused)) static struct opd_perf_rec
rec_of(struct rig *rig, uint32_t type, uint32_t pid)
{
	struct opd_perf_rec rec;

	memset(&rec, 0, sizeof(rec));
	rec.type = type;
	rec.pid = rec.tid = pid;
	rec.time = rig->now += 1000;
	return rec;
}

__attribute__((unused)) static void do_exec(struct rig *rig, uint32_t pid)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_COMM, pid);

	rec.misc = PERF_RECORD_MISC_COMM_EXEC;
	opd_perf_handle_side(&rig->table, &rec);
}

__attribute__((unused)) static void do_fork(struct rig *rig, uint32_t parent,
					    uint32_t pid)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_FORK, pid);

	rec.task.parent = parent;
	opd_perf_handle_side(&rig->table, &rec);
}

__attribute__((unused)) static void do_exit(struct rig *rig, uint32_t pid)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_EXIT, pid);

	opd_perf_handle_side(&rig->table, &rec);
}

__attribute__((unused)) static void do_lose(struct rig *rig, uint64_t nr)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_LOST, 0);

	rec.lost.nr = nr;
	opd_perf_handle_side(&rig->table, &rec);
}

__attribute__((unused)) static struct opd_perf_rec
map_rec(struct rig *rig, uint32_t pid, uint64_t start, uint64_t len,
	uint64_t offset, const char *name)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_MMAP2, pid);

	rec.mmap.start = start;
	rec.mmap.len = len;
	rec.mmap.offset = offset;
	rec.mmap.is_code = true;
	rec.mmap.name = name;
	return rec;
}

__attribute__((unused)) static void do_map(struct rig *rig, uint32_t pid,
					   uint64_t start, uint64_t len,
					   uint64_t offset, const char *name)
{
	struct opd_perf_rec rec = map_rec(rig, pid, start, len, offset, name);

	opd_perf_handle_side(&rig->table, &rec);
}

__attribute__((unused)) static void do_sample_as(struct rig *rig, uint32_t pid,
						 uint64_t ip, uint16_t misc)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_SAMPLE, pid);

	rec.misc = misc;
	rec.sample.ip = ip;
	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_handle_sample(&rig->table, &rec, 3, 1);
}

__attribute__((unused)) static void do_sample(struct rig *rig, uint32_t pid,
					      uint64_t ip)
{
	do_sample_as(rig, pid, ip, PERF_RECORD_MISC_USER);
}

/* ---- what comes of it -------------------------------------------------------
 */

__attribute__((unused)) static void query(struct rig *rig, uint64_t cookie,
					  struct op_cookie_query *q)
{
	memset(q, 0xff, sizeof(*q));
	q->cookie = cookie;
	assert_int_equal(opd_perf_image_query(&rig->table.images, q), 0);
	assert_int_equal(q->cookie, cookie);
}

__attribute__((unused)) static void
expect_cookie(struct rig *rig, uint64_t cookie, const char *name)
{
	struct op_cookie_query q;

	if (!name) {
		assert_int_equal(cookie, OP_NO_COOKIE);
		return;
	}
	query(rig, cookie, &q);
	assert_string_equal(q.path, name);
}

__attribute__((unused)) static struct seen
expect_of(struct rig *rig, uint32_t pid, const char *app)
{
	struct seen seen;

	assert_true(next_sample(rig, &seen));
	assert_int_equal(seen.cpu, 3);
	assert_int_equal(seen.tgid, pid);
	assert_int_equal(seen.tid, pid);
	assert_int_equal(seen.counter, 1);
	expect_cookie(rig, seen.app, app);
	return seen;
}

/* The next sample is @pid's, in image @name at @pc. */
__attribute__((unused)) static void expect(struct rig *rig, uint32_t pid,
					   const char *app, const char *name,
					   uint64_t pc)
{
	struct seen seen = expect_of(rig, pid, app);

	assert_false(seen.kernel);
	expect_cookie(rig, seen.cookie, name);
	assert_int_equal(seen.pc, pc);
}

__attribute__((unused)) static void expect_anon(struct rig *rig, uint32_t pid,
						const char *name,
						uint64_t start, uint64_t end,
						uint64_t pc)
{
	struct seen seen;

	assert_true(next_sample(rig, &seen));
	assert_int_equal(seen.tgid, pid);
	assert_false(seen.kernel);
	assert_int_equal(seen.cookie, OP_NO_COOKIE);
	assert_string_equal(seen.anon, name);
	assert_int_equal(seen.start, start);
	assert_int_equal(seen.end, end);
	assert_int_equal(seen.pc, pc);
}

__attribute__((unused)) static void expect_none(struct rig *rig)
{
	struct seen seen;

	assert_false(next_sample(rig, &seen));
}

/* ---- a made-up /proc --------------------------------------------------------
 */

__attribute__((unused)) static void make_file(const char *path,
					      const char *text, size_t len)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

__attribute__((unused)) static void proc_set(struct rig *rig, uint32_t pid,
					     const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u/%s", rig->proc, pid, name);
	make_file(path, text, strlen(text));
}

/* Process @pid has one thread, runs @exe, and its maps are @maps. */
__attribute__((unused)) static void proc_add(struct rig *rig, uint32_t pid,
					     const char *exe, const char *maps)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u", rig->proc, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%u/exe", rig->proc, pid);
	if (exe)
		assert_int_equal(symlink(exe, path), 0);
	snprintf(path, sizeof(path), "%s/%u/task", rig->proc, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%u/task/%u", rig->proc, pid, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	proc_set(rig, pid, "maps", maps);
}

__attribute__((unused)) static void proc_add_thread(struct rig *rig,
						    uint32_t pid, uint32_t tid)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u/task/%u", rig->proc, pid, tid);
	assert_int_equal(mkdir(path, 0755), 0);
}

__attribute__((unused)) static void proc_remove(struct rig *rig, uint32_t pid)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u", rig->proc, pid);
	remove_tree(path);
}

#endif /* TESTS_UNIT_PERF_RIG_H */
