/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPD_FIXTURE_H
#define TESTS_UNIT_OPD_FIXTURE_H

/*
 * A daemon inside of the test program, with a session in a fresh folder and a
 * source that the test plays. Streams are written in words with put_*().
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/context/opd_trans.h"
#include "daemon/opd.h"
#include "daemon/source/opd_stream.h"
#include "daemon/store/opd_session.h"
#include "libdb/db_folder.h"
#include "libdb/odb.h"
#include "no_stdin.h"
#include "tests/unit/test.h"

/* ---- words ------------------------------------------------------------------
 */

struct words {
	uint64_t word[16384];
	size_t nr;
};

__attribute__((unused)) static void put(struct words *w, uint64_t word)
{
	assert_true(w->nr < sizeof(w->word) / sizeof(w->word[0]));
	w->word[w->nr++] = word;
}

/* A record of @nr payload words. */
__attribute__((unused)) static void put_record(struct words *w, uint32_t code,
					       unsigned int nr, ...)
{
	va_list args;

	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(code, 0, nr));
	va_start(args, nr);
	while (nr--)
		put(w, va_arg(args, uint64_t));
	va_end(args);
}

/* Add a string to the payload of the record that starts at @start. */
__attribute__((unused)) static void put_string(struct words *w, size_t start,
					       const char *text)
{
	size_t len = strlen(text);

	put(w, len);
	for (size_t i = 0; i < len; i += 8) {
		uint64_t word = 0;

		memcpy(&word, text + i, len - i < 8 ? len - i : 8);
		put(w, word);
	}
	w->word[start + 1] = OP_CODE_WORD(OP_CODE_OF(w->word[start + 1]),
					  OP_FLAGS_OF(w->word[start + 1]),
					  w->nr - start - 2);
}

#define U(n) ((uint64_t)(n))

__attribute__((unused)) static void put_begin(struct words *w)
{
	put_record(w, OP_STREAM_BEGIN, 3, OP_STREAM_MAGIC, U(OP_ABI_VERSION),
		   U(8));
}

__attribute__((unused)) static void put_cpu(struct words *w, uint64_t cpu)
{
	put_record(w, OP_CPU_SWITCH, 1, cpu);
}

__attribute__((unused)) static void put_task(struct words *w, uint64_t tid,
					     uint64_t tgid, uint64_t app)
{
	put_record(w, OP_CTX_SWITCH, 2, tid, app);
	put_record(w, OP_CTX_TGID, 1, tgid);
}

__attribute__((unused)) static void put_image(struct words *w, uint64_t cookie)
{
	put_record(w, OP_COOKIE_SWITCH, 1, cookie);
}

__attribute__((unused)) static void put_user(struct words *w)
{
	put_record(w, OP_USER_ENTER, 0);
}

__attribute__((unused)) static void put_kernel(struct words *w)
{
	put_record(w, OP_KERNEL_ENTER, 0);
}

__attribute__((unused)) static void put_sample(struct words *w, uint64_t pc,
					       uint64_t counter)
{
	put(w, pc);
	put(w, counter);
}

__attribute__((unused)) static void put_cookie_built(struct words *w,
						     uint64_t cookie,
						     const char *path,
						     uint64_t build)
{
	size_t start = w->nr;

	put_record(w, OP_COOKIE_NAME, 10, cookie, U(0), U(0), U(0), U(0),
		   U(build ? 8 : 0), build, U(0), U(0), U(0));
	put_string(w, start, path);
}

__attribute__((unused)) static void put_cookie(struct words *w, uint64_t cookie,
					       const char *path)
{
	put_cookie_built(w, cookie, path, 0);
}

__attribute__((unused)) static void put_range(struct words *w, bool first,
					      uint64_t from, uint64_t to,
					      const char *name)
{
	size_t start = w->nr;

	put_record(w, OP_KERNEL_RANGE, 7, from, to, U(0), U(0), U(0), U(0),
		   U(0));
	if (first)
		w->word[start + 1] |= (uint64_t)OP_KERNEL_FIRST << 16;
	put_string(w, start, name);
}

__attribute__((unused)) static void put_anon(struct words *w, uint64_t from,
					     uint64_t to, const char *name)
{
	size_t start = w->nr;

	put_record(w, OP_ANON_SWITCH, 2, from, to);
	put_string(w, start, name);
}

__attribute__((unused)) static void put_lost(struct words *w, uint64_t nr,
					     const char *cause)
{
	size_t start = w->nr;

	put_record(w, OP_LOST, 1, nr);
	put_string(w, start, cause);
}

__attribute__((unused)) static void put_event(struct words *w, uint64_t counter,
					      const char *name, uint64_t count)
{
	size_t start = w->nr;

	put_record(w, OP_EVENT, 6, counter, U(0x76), count, U(0), U(1), U(1));
	put_string(w, start, name);
}

/* ---- the daemon -------------------------------------------------------------
 */

struct fixture {
	struct opd opd;
	bool has_no_stdin;
	char dir[64];
};

/* Fixtures that are there, and descriptors before the first of them. */
static unsigned int nr_fixtures, nr_fds_before;

static ssize_t read_nothing(struct opd_source *source, void *buf, size_t len)
{
	(void)source;
	(void)buf;
	(void)len;
	return -EAGAIN;
}

static const struct opd_source_ops test_replay = {
	.name = "test",
	.read = read_nothing,
	.ends = true,
};

static int test_remove_one(const char *path, const struct stat *st, int type,
			   struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

__attribute__((unused)) static void remove_tree(const char *dir)
{
	nftw(dir, test_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* How many descriptors this program has. */
__attribute__((unused)) static unsigned int count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int nr = 0;

	assert_non_null(folder);
	while (readdir(folder))
		nr++;
	closedir(folder);
	return nr;
}

/* A daemon in the folder that @f has, with source @ops, before its setup. */
static void prepare_daemon(struct fixture *f, const struct opd_source_ops *ops)
{
	struct op_diag diag = { "" };
	struct opd *opd = &f->opd;

	if (opd->source.ops != ops)
		memset(&opd->source, 0, sizeof(opd->source));
	opd->source.ops = ops;
	opd->source.client = &opd->client;
	opd->source.proc = "/proc";
	opd->source.fd = opd->source.dir = -1;
	snprintf(opd->source.name, sizeof(opd->source.name), "test");
	/* Who has parsed options has events, or wants none. */
	if (opd->options.events.nr == 0 && !opd->options.source)
		opd_events_timer(&opd->options.events);
	assert_int_equal(op_session_init(&opd->session, f->dir, &diag), 0);
	if (opd_session_make(&opd->session, NULL, &diag) ||
	    op_log_open(&opd->log, opd->session.log, &diag))
		fail_msg("%s", diag.text);
	if (!f->has_no_stdin) {
		f->has_no_stdin = true;
		close_stdin();
	}
}

/* A daemon in the folder that @f has, with source @ops. */
__attribute__((unused)) static void
start_daemon(struct fixture *f, const struct opd_source_ops *ops)
{
	struct op_diag diag = { "" };

	prepare_daemon(f, ops);
	if (opd_setup(&f->opd, &diag))
		fail_msg("%s", diag.text);
}

__attribute__((unused)) static struct fixture *new_fixture(void)
{
	struct fixture *f = malloc(sizeof(*f));
	char cache[sizeof(f->dir) + 8];

	assert_non_null(f);
	snprintf(f->dir, sizeof(f->dir), "%s/opd-test-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(f->dir));
	snprintf(cache, sizeof(cache), "%s/cache", f->dir);
	setenv("OPROFILE_CACHE_DIR", cache, 1);
	if (nr_fixtures++ == 0)
		nr_fds_before = count_fds() + (nr_without_stdin > 0);
	f->has_no_stdin = false;
	opd_init(&f->opd);
	return f;
}

/* A daemon that replays. Settings may be changed until the first words. */
__attribute__((unused)) static struct fixture *new_replay(void)
{
	struct fixture *f = new_fixture();

	start_daemon(f, &test_replay);
	return f;
}

/* End the daemon as if it had ended by itself, and start it again. */
__attribute__((unused)) static void restart_daemon(struct fixture *f)
{
	const struct opd_source_ops *ops = f->opd.source.ops;

	opd_release(&f->opd);
	opd_init(&f->opd);
	start_daemon(f, ops);
}

__attribute__((unused)) static void free_fixture(struct fixture *f)
{
	opd_release(&f->opd);
	if (f->has_no_stdin)
		reopen_stdin();
	if (--nr_fixtures == 0)
		assert_int_equal(count_fds() + (nr_without_stdin > 0),
				 nr_fds_before);
	remove_tree(f->dir);
	free(f);
}

/* Handle @w as a whole stream. */
__attribute__((unused)) static void run_words(struct fixture *f,
					      const struct words *w)
{
	size_t used = opd_trans_run(&f->opd, w->word, w->nr);

	opd_trans_end(&f->opd, w->nr - used);
}

/* Where the file @name of samples/current is, one of samples or another. */
__attribute__((unused)) static void
sample_path(struct fixture *f, const char *name, char *path, size_t len)
{
	const char *dir = f->opd.session.current;

	if (*name == '{')
		assert_int_equal(db_folder_loose(dir, name, path, len), 0);
	else
		assert_in_range(snprintf(path, len, "%s/%s", dir, name), 1,
				len - 1);
}

/* The count of @key in sample file @name of the session folder @dir; 0 without.
 */
__attribute__((unused)) static uint64_t count_in(const char *dir,
						 const char *name, uint64_t key)
{
	char path[8192];
	struct odb *odb;
	uint64_t count;

	assert_int_equal(db_folder_loose(dir, name, path, sizeof(path)), 0);
	if (odb_open(&odb, path, ODB_RDONLY))
		return 0;
	count = odb_get(odb, key);
	odb_close(odb);
	return count;
}

/* The same of samples/current. */
__attribute__((unused)) static uint64_t count_at(struct fixture *f,
						 const char *name, uint64_t key)
{
	return count_in(f->opd.session.current, name, key);
}

__attribute__((unused)) static bool has_samples(struct fixture *f,
						const char *name)
{
	char path[8192];

	sample_path(f, name, path, sizeof(path));
	return !access(path, F_OK);
}

/* In the folder of samples. */
__attribute__((unused)) static bool exists(struct fixture *f, const char *name)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/samples/%s", f->dir, name);
	return !access(path, F_OK);
}

__attribute__((unused)) static void
write_text(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* How many samples are in the files. */
__attribute__((unused)) static uint64_t count_samples(struct fixture *f)
{
	uint64_t nr;

	assert_int_equal(opd_session_count(&f->opd.store, &nr, NULL), 0);
	return nr;
}

/* The ledger now, after checking that it adds up and the files agree. */
__attribute__((unused)) static struct op_ledger ledger_of(struct fixture *f)
{
	struct op_ledger ledger;

	opd_stats_ledger(&f->opd.stats, &ledger);
	assert_int_equal(ledger.taken, ledger.stored + op_ledger_lost(&ledger) +
					       ledger.pending);
	assert_int_equal(ledger.stored, count_samples(f));
	return ledger;
}

#endif /* TESTS_UNIT_OPD_FIXTURE_H */
