// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a user gets of a session that root takes: rows with a session, and what
 * a daemon of that user counts of it. Nobody else's samples are in that, and of
 * the kernel only as much as is to be told.
 */

#include "daemon/opd_mine_stream.h"
#include "tests/unit/opd_history_fixture.h"
#include "tests/unit/opd_rows.h"

#define USERS "--separate-user=1"
#define ALL                                                                    \
	USERS " --separate-lib=1 --separate-kernel=1 --separate-thread=1"      \
	      " --separate-cpu=1 --separate-cgroup=1"

#define WORLD                                                                  \
	"stream 1 8;"                                                          \
	"kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux;"  \
	"kernel-range 0xffffffffc0000000 0xffffffffc0010000 - ext4;"           \
	"cookie 1 0 0 0 0 - /bin/mine; cookie 2 0 0 0 0 - /lib/c;"             \
	"cookie 3 0 0 0 0 - /bin/theirs; cpu 1;"
#define MINE "ctx 12 1; tgid 11 1000;"
#define THEIRS "ctx 22 3; tgid 21 1001;"
#define NOBODYS "ctx 32 3; tgid 31;"

static const struct row rows[] = {
	{ "only_what_is_theirs", USERS,
	  WORLD MINE "image 1; user; sample 0x10 0; sample 0x10 0;" THEIRS
		     "image 3; user; sample 0x30 0;" NOBODYS
		     "sample 0x30 0;" MINE "image 2; sample 0x20 0;",
	  "by\n"
	  "{root}/bin/mine 0x10:2\n"
	  "{root}/lib/c 0x20:1\n"
	  "taken 3 stored 3\n" },
	{ "nothing_is_theirs", USERS,
	  WORLD THEIRS "image 3; user; sample 0x30 0;",
	  "-61: there are no samples of your processes\n" },
	{ "no_session", USERS " --separate-lib=1", "stream 1 8;",
	  "-61: there are no samples of your processes\n" },
	/* How much is in the kernel, and nothing of where. */
	{ "the_kernel_is_not_told", USERS " --separate-kernel=1",
	  WORLD MINE
	  "kernel; sample 0xffffffff81000010 0; sample 0xffffffff81000020 0;"
	  "sample 0xffffffffc0000010 0; sample 0xffffffffd0000000 0;",
	  "by kernel lib\n"
	  "{root}/bin/mine/{dep}/{kern}/kernel 0x0:4\n"
	  "taken 4 stored 4\n" },
	{ "the_kernel_is_told", USERS " --separate-kernel=1 kernel",
	  WORLD MINE
	  "kernel; sample 0xffffffff81000010 0; sample 0xffffffff81000020 0;"
	  "sample 0xffffffffc0000010 0; sample 0xffffffffd0000000 0;",
	  "by kernel lib\n"
	  "{root}/bin/mine/{dep}/{kern}/ext4 0x10:1\n"
	  "{root}/bin/mine/{dep}/{kern}/kernel 0x0:1\n"
	  "{root}/bin/mine/{dep}/{kern}/vmlinux 0x10:1 0x20:1\n"
	  "taken 4 stored 4\n" },
	{ "all_that_keeps_apart", ALL,
	  WORLD "task-name 11 11 main; task-name 11 12 worker;"
		"task-cgroup 11 0 /a/b;" MINE
		"image 2; user; sample 0x20 0; cpu 2;" MINE
		"image 2; user; sample 0x20 0;"
		"anon 0x7f0000000000 0x7f0000010000 anon; sample 0x30 0;"
		"show-names;",
	  "by lib thread cpu cgroup\n"
	  "main worker\n"
	  "{root}/bin/mine/{cgroup}/a/b/{dep}/{anon:anon}/11.0x7f0000000000.0x7f0000010000/TIMER.0.0.11.12.2 0x30:1\n"
	  "{root}/bin/mine/{cgroup}/a/b/{dep}/{root}/lib/c/TIMER.0.0.11.12.1 0x20:1\n"
	  "{root}/bin/mine/{cgroup}/a/b/{dep}/{root}/lib/c/TIMER.0.0.11.12.2 0x20:1\n"
	  "taken 3 stored 3\n" },
	{ "builds_of_one_path", USERS,
	  WORLD "cookie 4 0 0 0 0 0102030405060708 /lib/d;"
		"cookie 5 0 0 0 0 1112131415161718 /lib/d;" MINE
		"user; image 4; sample 0x10 0; image 5; sample 0x10 0;"
		"sample 0x10 0;",
	  "by\n"
	  "{root}/lib/d/{build:0102030405060708} 0x10:1\n"
	  "{root}/lib/d/{build:1112131415161718} 0x10:2\n"
	  "taken 3 stored 3\n" },
	{ "several_events", USERS,
	  "stream 1 8; event 0 0xcd 1000 0x1 1 1 LOADS;"
	  "event 1 0x3c 5000 0x0 1 1 CYCLES;"
	  "cookie 1 0 0 0 0 - /bin/mine; cpu 1;" MINE
	  "image 1; user; sample 0x10 1; sample 0x20 0; sample 0x10 1;",
	  "by\n"
	  "{root}/bin/mine/CYCLES.5000.0.all.all.all 0x10:2\n"
	  "{root}/bin/mine/LOADS.1000.1.all.all.all 0x20:1\n"
	  "taken 3 stored 3\n" },
	/* More than one record of times can say. */
	{ "often", USERS,
	  WORLD MINE "image 1; user; times 4000000000; sample 0x10 0;"
		     "times 4000000000; sample 0x10 0;",
	  "by\n"
	  "{root}/bin/mine 0x10:8000000000\n"
	  "taken 8000000000 stored 8000000000\n" },
	{ "a_history", USERS,
	  WORLD MINE "image 1; user; sample 0x10 0;" THEIRS
		     "image 3; sample 0x30 0; close-span;" MINE
		     "image 1; sample 0x10 0; sample 0x20 0; close-span;"
		     "sample 0x20 0;",
	  "by\n"
	  "{root}/bin/mine 0x10:2 0x20:2\n"
	  "taken 4 stored 4\n" },
};

/* The options of @given but the last word "kernel", which is no option. */
static struct fixture *new_session(const char *given, bool *kernel)
{
	char options[512];
	char *word;

	snprintf(options, sizeof(options), "%s", given);
	word = strstr(options, " kernel");
	*kernel = word && !strcmp(word, " kernel");
	if (*kernel)
		*word = '\0';
	return new_with(options);
}

static void show_separate(FILE *out, const struct opd_mine_separate *by)
{
	fprintf(out, "by%s%s%s%s%s\n", by->kernel ? " kernel" : "",
		by->lib ? " lib" : "", by->thread ? " thread" : "",
		by->cpu ? " cpu" : "", by->cgroup ? " cgroup" : "");
}

/* A daemon of the user counts @words, which keep apart what @by says. */
static void count_mine(const struct op_stream_words *words,
		       const struct opd_mine_separate *by, bool names,
		       FILE *out)
{
	struct fixture *f;
	char options[512];
	size_t used;

	snprintf(options, sizeof(options),
		 "--separate-lib=%d --separate-kernel=%d --separate-thread=%d"
		 " --separate-cpu=%d --separate-cgroup=%d",
		 by->lib, by->kernel, by->thread, by->cpu, by->cgroup);
	f = new_with(options);
	used = opd_trans_run(&f->opd, words->words, words->nr);
	opd_trans_end(&f->opd, words->nr - used);
	if (names)
		fprintf(out, "%s %s\n",
			op_tasks_name_of(&f->opd.tasks.names, 11, 11),
			op_tasks_name_of(&f->opd.tasks.names, 11, 12));
	show_all(f, out);
	free_with(f);
}

static void run_mine(const struct row *row, FILE *out)
{
	struct op_stream_words words = { .nr = 0 };
	struct words *w = calloc(1, sizeof(*w));
	struct opd_mine_request request = { .source = "test", .user = 1000 };
	struct opd_mine_separate by;
	struct op_diag diag = { "" };
	const char *at = row->script;
	bool names = false;
	struct fixture *f = new_session(row->given, &request.kernel);
	char line[8192];
	int err;

	assert_non_null(w);
	now = START;
	keep(f, "64M,minute:10m,hour:1d,day:2d");
	f->opd.store.history.begin = (uint64_t)START;
	while (next_line(&at, line, sizeof(line))) {
		if (!strcmp(line, "show-names")) {
			names = true;
		} else if (!strcmp(line, "close-span")) {
			run_whole(f, w);
			now += 60;
			close_span(f);
		} else {
			put_line(w, line);
		}
	}
	run_words(f, w);
	opd_sfiles_sync(&f->opd.store);
	opd_tasks_write(&f->opd.tasks, true);
	request.folder = f->opd.session.current;
	err = opd_mine_stream(&words, &by, &request, &diag);
	if (err) {
		fprintf(out, "%d: %s\n", err, diag.text);
	} else {
		show_separate(out, &by);
		count_mine(&words, &by, names, out);
	}
	free(words.words);
	free(w);
	free_with(f);
}

static void test_row(void **state)
{
	check_row(*state, run_mine);
}

int main(void)
{
	setenv("TZ", "UTC0", 1);
	return run_rows(rows, NR(rows), test_row, NULL, 0);
}
