// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a source tells of tasks: names, cgroups and the links that programs were
 * run by, from records and from a /proc that the test makes.
 */

#include "tests/unit/op_fixture.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "daemon/source/opd_names.h"
#include "daemon/source/opd_stream.h"

/* ---- cgroups ----------------------------------------------------------------
 */

TEST(test_cgroup_files)
{
	static const struct {
		const char *text, *path; /* NULL: there is none */
	} rows[] = {
		{ "0::/\n", "/" },
		{ "0::/system.slice/a.service\n", "/system.slice/a.service" },
		{ "0::/a:b:c\n", "/a:b:c" },
		{ "0::/gone (deleted)\n", "/gone" },
		{ "0::/../x\n", "/../x" },
		/* the hybrid form: the unified one has nothing but itself */
		{ "12:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice/a.scope\n0::/user.slice/b.scope\n",
		  "/user.slice/b.scope" },
		{ "12:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice/a.scope\n0::/\n",
		  "/user.slice/a.scope" },
		/* cgroup v1 */
		{ "3:memory:/docker/1\n1:name=systemd:/docker/2\n",
		  "/docker/2" },
		{ "3:memory:/docker/1\n2:cpu:/other\n1:name=systemd:/\n",
		  "/docker/1" },
		{ "3:memory:/\n", "/" },
		/* no such file */
		{ "", NULL },
		{ "nonsense\n", NULL },
		{ "0::relative\n", NULL },
		{ "0:/x\n", NULL },
		{ "\n\n0::/x", "/x" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[OP_PATH_MAX] = "none";
		bool found = opd_names_parse_cgroup(rows[i].text, path);

		if (found != (rows[i].path != NULL) ||
		    (found && strcmp(path, rows[i].path) != 0))
			fail_msg("%s: %s", rows[i].text, path);
	}
}

/* ---- telling ----------------------------------------------------------------
 */

struct rig {
	struct opd_names names;
	struct op_stream_words words;
	char text[4096]; /* what was told last */
};

/* The records in words: "name TGID TID NAME; ..." */
static const char *told(struct rig *rig)
{
	struct opd_stream stream = { .at = rig->words.words };
	char string[OP_PATH_MAX];
	struct opd_rec rec;
	size_t at = 0;

	rig->text[0] = '\0';
	if (!rig->words.nr)
		return rig->text;
	stream.end = stream.at + rig->words.nr;
	while (stream.at < stream.end) {
		assert_int_equal(opd_stream_record(&stream, &rec),
				 OPD_UNIT_RECORD);
		if (opd_stream_string(&rec, 2, string, sizeof(string)))
			strcpy(string, "-");
		at += (size_t)snprintf(rig->text + at, sizeof(rig->text) - at,
				       "%s%s %" PRIu64 " %" PRIu64 " %s",
				       at ? "; " : "",
				       rec.code == OP_TASK_NAME	    ? "name"
				       : rec.code == OP_TASK_CGROUP ? "cgroup"
								    : "run",
				       (uint64_t)rec.payload[0],
				       (uint64_t)rec.payload[1], string);
	}
	rig->words.nr = 0;
	return rig->text;
}

static const char *tell(struct rig *rig, uint32_t tgid, uint32_t tid,
			uint64_t app, const char *path)
{
	opd_names_put(&rig->names, tgid, tid, app, path, &rig->words);
	return told(rig);
}

static void put_file(const char *path, const char *text)
{
	char command[256];

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s)", path);
	assert_int_equal(system(command), 0);
	write_bytes(path, text, strlen(text));
}

static void start(struct rig *rig, unsigned int tells)
{
	memset(rig, 0, sizeof(*rig));
	opd_names_init(&rig->names, "proc", tells, true);
}

static void stop(struct rig *rig)
{
	opd_names_release(&rig->names);
	op_stream_words_release(&rig->words);
}

FOLDER_TEST(test_names_from_proc)
{
	struct rig rig;

	put_file("proc/7/task/7/comm", "main\n");
	put_file("proc/7/task/8/comm", "bio_aof\n");
	start(&rig, OPD_TELL_NAMES);
	assert_string_equal(tell(&rig, 7, 8, 1, NULL),
			    "name 7 7 main; name 7 8 bio_aof");
	assert_string_equal(tell(&rig, 7, 8, 1, NULL), "");
	assert_string_equal(tell(&rig, 7, 7, 1, NULL), "");
	/* A task that has ended before anybody looked has no name. */
	assert_string_equal(tell(&rig, 7, 9, 1, NULL), "");
	assert_string_equal(tell(&rig, 5, 5, 1, NULL), "");
	/* Another program, which the source is not told of. */
	put_file("proc/7/task/7/comm", "other\n");
	assert_string_equal(tell(&rig, 7, 7, 2, NULL), "name 7 7 other");
	put_file("proc/7/task/8/comm", "bio_lazy\n");
	opd_names_reread(&rig.names, &rig.words);
	assert_string_equal(told(&rig), "name 7 8 bio_lazy");
	opd_names_reread(&rig.names, &rig.words);
	assert_string_equal(told(&rig), "");
	stop(&rig);
}

/* What nobody can look up any more is told again, too. */
FOLDER_TEST(test_names_are_told_again)
{
	struct rig rig;

	put_file("proc/11/cgroup", "0::/a\n");
	put_file("proc/11/task/11/comm", "main\n");
	put_file("proc/11/task/12/comm", "worker\n");
	start(&rig, OPD_TELL_NAMES | OPD_TELL_CGROUPS);
	opd_names_repeat(&rig.names);
	assert_string_equal(
		tell(&rig, 11, 12, 1, NULL),
		"cgroup 11 0 /a; name 11 11 main; name 11 12 worker");
	assert_string_equal(tell(&rig, 11, 12, 1, NULL), "");
	assert_int_equal(system("rm -r proc/11"), 0);
	opd_names_repeat(&rig.names);
	assert_string_equal(
		tell(&rig, 11, 12, 1, NULL),
		"cgroup 11 0 /a; name 11 11 main; name 11 12 worker");
	assert_string_equal(tell(&rig, 11, 11, 1, NULL), "");
	stop(&rig);
}

FOLDER_TEST(test_names_from_records)
{
	struct rig rig;

	start(&rig, OPD_TELL_NAMES);
	opd_names_named(&rig.names, 7, 7, "sh", true);
	assert_string_equal(tell(&rig, 7, 7, 1, "/bin/sh"), "name 7 7 sh");
	/* A child is called as its parent, until it calls itself otherwise. */
	opd_names_forked(&rig.names, 8, 8, 7, 7);
	assert_string_equal(tell(&rig, 8, 8, 1, "/bin/sh"), "name 8 8 sh");
	opd_names_named(&rig.names, 8, 8, "make", true);
	assert_string_equal(tell(&rig, 8, 8, 2, "/bin/make"), "name 8 8 make");
	opd_names_forked(&rig.names, 8, 9, 8, 8);
	opd_names_named(&rig.names, 8, 9, "worker", false);
	assert_string_equal(tell(&rig, 8, 9, 2, "/bin/make"),
			    "name 8 9 worker");
	/* The same name again is no news, another is. */
	opd_names_named(&rig.names, 8, 9, "worker", false);
	assert_string_equal(tell(&rig, 8, 9, 2, "/bin/make"), "");
	opd_names_named(&rig.names, 8, 9, "idle", false);
	assert_string_equal(tell(&rig, 8, 9, 2, "/bin/make"), "name 8 9 idle");
	/* A number that is used again. */
	opd_names_forked(&rig.names, 9, 9, 7, 7);
	opd_names_forked(&rig.names, 8, 8, 7, 7);
	assert_string_equal(tell(&rig, 8, 8, 1, "/bin/sh"), "name 8 8 sh");
	stop(&rig);
}

/* Nothing is read or told that is not wanted. */
FOLDER_TEST(test_nothing_is_wanted)
{
	struct rig rig;

	put_file("proc/7/task/7/comm", "main\n");
	start(&rig, 0);
	opd_names_named(&rig.names, 7, 7, "sh", true);
	opd_names_forked(&rig.names, 8, 8, 7, 7);
	assert_string_equal(tell(&rig, 7, 7, 1, "/bin/sh"), "");
	assert_null(rig.names.tasks);
	stop(&rig);
}

FOLDER_TEST(test_cgroups)
{
	struct rig rig;

	put_file("proc/7/cgroup", "0::/a\n");
	start(&rig, OPD_TELL_CGROUPS);
	assert_string_equal(tell(&rig, 7, 8, 1, NULL), "cgroup 7 0 /a");
	assert_string_equal(tell(&rig, 7, 7, 1, NULL), "");
	/* A child that has ended by now was where its parent is. */
	opd_names_forked(&rig.names, 8, 8, 7, 7);
	assert_string_equal(tell(&rig, 8, 8, 1, NULL), "cgroup 8 0 /a");
	/* So was one whose parent had no sample. */
	put_file("proc/20/cgroup", "0::/b\n");
	opd_names_forked(&rig.names, 21, 21, 20, 20);
	assert_string_equal(tell(&rig, 21, 21, 1, NULL), "cgroup 21 0 /b");
	/* One that lives knows better. */
	put_file("proc/9/cgroup", "0::/c\n");
	opd_names_forked(&rig.names, 9, 9, 7, 7);
	assert_string_equal(tell(&rig, 9, 9, 1, NULL), "cgroup 9 0 /c");
	/* It may have been moved before it ran another program. */
	put_file("proc/9/cgroup", "0::/d\n");
	assert_string_equal(tell(&rig, 9, 9, 1, NULL), "");
	opd_names_named(&rig.names, 9, 9, "x", true);
	assert_string_equal(tell(&rig, 9, 9, 2, NULL), "cgroup 9 0 /d");
	/* Nobody can tell. */
	assert_string_equal(tell(&rig, 30, 30, 1, NULL), "cgroup 30 0 -");
	stop(&rig);
}

/* ---- links ------------------------------------------------------------------
 */

FOLDER_TEST(test_links)
{
	static const struct {
		const char *comm, *file; /* in the working folder */
		const char *link; /* or NULL */
	} rows[] = {
		{ "real", "real", NULL },
		{ "link", "real", "link" },
		{ "far", "real", "far" }, /* a link to a link */
		{ "up", "real", "up" }, /* by way of another folder */
		{ "other", "real", NULL }, /* a link to something else */
		{ "real", "elsewhere", NULL }, /* no link at all */
		{ "none", "real", NULL }, /* a script, or a name of its own */
		{ "loop", "real", NULL },
		{ "", "real", NULL },
		{ "a/b", "real", NULL },
		/* the kernel keeps 15 bytes: such a name may be longer */
		{ "fifteen_letters", "real", NULL },
	};
	const char *folder = *state;
	char path[512], wanted[600];
	struct rig rig;

	write_bytes("real", "", 0);
	write_bytes("elsewhere", "", 0);
	assert_int_equal(symlink("real", "link"), 0);
	snprintf(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink(path, "far"), 0);
	assert_int_equal(mkdir("sub", 0755) + symlink("sub/../real", "up"), 0);
	assert_int_equal(symlink("elsewhere", "other"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("real", "fifteen_letters"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&rig, OPD_TELL_RUNS);
		opd_names_named(&rig.names, 7, 7, rows[i].comm, true);
		snprintf(path, sizeof(path), "%s/%s", folder, rows[i].file);
		snprintf(wanted, sizeof(wanted), "run 7 5 %s/%s", folder,
			 rows[i].link ?: "");
		if (!rows[i].link)
			wanted[0] = '\0';
		if (strcmp(tell(&rig, 7, 7, 5, path), wanted) != 0)
			fail_msg("%s as %s: %s", rows[i].file, rows[i].comm,
				 rig.text);
		stop(&rig);
	}
}

/* What a program calls itself later is no link that it was run by; and where
 * users may have mounted something, nobody looks unless told to. */
FOLDER_TEST(test_links_are_of_execs)
{
	const char *folder = *state;
	char path[512], wanted[600];
	struct rig rig;

	write_bytes("real", "", 0);
	assert_int_equal(symlink("real", "link"), 0);
	snprintf(path, sizeof(path), "%s/real", folder);
	snprintf(wanted, sizeof(wanted), "run 8 5 %s/link", folder);
	start(&rig, OPD_TELL_RUNS);
	opd_names_named(&rig.names, 7, 7, "real", true);
	opd_names_named(&rig.names, 7, 7, "link", false);
	assert_string_equal(tell(&rig, 7, 7, 5, path), "");
	opd_names_named(&rig.names, 7, 7, "link", true);
	opd_names_forked(&rig.names, 8, 8, 7, 7);
	assert_string_equal(tell(&rig, 8, 8, 5, path), wanted);
	stop(&rig);
	start(&rig, OPD_TELL_RUNS);
	rig.names.anywhere = false;
	opd_names_named(&rig.names, 8, 8, "link", true);
	assert_string_equal(tell(&rig, 8, 8, 5, path), "");
	stop(&rig);
}

/* A source that does not know the path of the program has it from /proc. */
FOLDER_TEST(test_links_from_proc)
{
	const char *folder = *state;
	char path[512], wanted[600];
	struct rig rig;

	write_bytes("real", "", 0);
	assert_int_equal(symlink("real", "link"), 0);
	put_file("proc/6/comm", "");
	put_file("proc/7/comm", "");
	snprintf(path, sizeof(path), "%s/real-and-longer", folder);
	assert_int_equal(symlink(path, "proc/6/exe"), 0);
	snprintf(path, sizeof(path), "%s/real", folder);
	assert_int_equal(symlink(path, "proc/7/exe"), 0);
	start(&rig, OPD_TELL_RUNS);
	opd_names_named(&rig.names, 6, 6, "link", true);
	assert_string_equal(tell(&rig, 6, 6, 4, NULL), "");
	opd_names_named(&rig.names, 7, 7, "link", true);
	opd_names_named(&rig.names, 8, 8, "link", true);
	snprintf(wanted, sizeof(wanted), "run 7 5 %s/link", folder);
	assert_string_equal(tell(&rig, 7, 7, 5, NULL), wanted);
	/* One that has ended meanwhile. */
	assert_string_equal(tell(&rig, 8, 8, 5, NULL), "");
	stop(&rig);
}

/* ---- the profiler -----------------------------------------------------------
 */

/* Whether a sample of process @tgid, by program 5, says that it is the
 * profiler's own. */
static bool is_own(struct rig *rig, uint32_t tgid)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "run %u 5 OProfile itself", tgid);
	return !strcmp(tell(rig, tgid, tgid, 5, "/bin/oprofiled"), wanted);
}

FOLDER_TEST(own_processes_are_told_by_number)
{
	const uint32_t daemon = (uint32_t)getpid(), starter = 9, other = 7;
	pid_t child = fork();
	struct rig rig;

	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	start(&rig, OPD_TELL_RUNS);
	rig.names.own =
		(struct opd_own_processes){ (pid_t)daemon, (pid_t)starter };
	for (uint32_t tgid = 7; tgid <= 9; tgid++)
		opd_names_named(&rig.names, tgid, tgid, "oprofiled", true);
	assert_false(is_own(&rig, other));
	assert_true(is_own(&rig, starter));
	assert_true(is_own(&rig, daemon));
	/* A child that no record reported, alive and dead. */
	assert_true(is_own(&rig, (uint32_t)child));
	assert_int_equal(kill(child, SIGKILL), 0);
	opd_names_repeat(&rig.names);
	assert_true(is_own(&rig, (uint32_t)child));
	assert_int_equal(waitpid(child, NULL, 0), child);
	opd_names_repeat(&rig.names);
	assert_false(is_own(&rig, (uint32_t)child));
	stop(&rig);
}

/* Children of the daemon and their children are its own, though they ended
 * before anybody looked; what operf starts is what it profiles. */
FOLDER_TEST(own_processes_by_forks)
{
	const uint32_t daemon = (uint32_t)getpid(), starter = 9;
	struct rig rig;

	start(&rig, OPD_TELL_RUNS);
	rig.names.own =
		(struct opd_own_processes){ (pid_t)daemon, (pid_t)starter };
	opd_names_forked(&rig.names, 20, 20, daemon, daemon);
	opd_names_forked(&rig.names, 21, 21, 20, 20);
	opd_names_forked(&rig.names, 22, 22, starter, starter);
	assert_true(is_own(&rig, 21));
	assert_true(is_own(&rig, 20));
	assert_false(is_own(&rig, 22));
	/* The number is used again, by somebody else. */
	opd_names_forked(&rig.names, 20, 20, 22, 22);
	assert_false(is_own(&rig, 20));
	stop(&rig);
}

/* Whoever reads a recording has no processes in it. */
FOLDER_TEST(a_recording_has_no_own_processes)
{
	const uint32_t daemon = (uint32_t)getpid();
	struct rig rig;

	start(&rig, OPD_TELL_RUNS);
	opd_names_forked(&rig.names, 20, 20, daemon, daemon);
	assert_false(is_own(&rig, daemon));
	assert_false(is_own(&rig, 20));
	assert_false(is_own(&rig, 0));
	stop(&rig);
}

/* ---- bounds -----------------------------------------------------------------
 */

/* More tasks than there is room for: the oldest are forgotten, and told once
 * more. */
FOLDER_TEST(test_bound)
{
	const uint32_t nr = 2 * OPD_NAMES_SETS * OPD_NAMES_WAYS;
	struct rig rig;
	char wanted[64];

	start(&rig, OPD_TELL_NAMES);
	for (uint32_t i = 1; i <= nr; i++)
		opd_names_named(&rig.names, i, i, "x", true);
	assert_string_equal(tell(&rig, 1, 1, 1, NULL), "");
	snprintf(wanted, sizeof(wanted), "name %u %u x", nr, nr);
	assert_string_equal(tell(&rig, nr, nr, 1, NULL), wanted);
	stop(&rig);
}

/* It runs for days: tasks are used more often than 32 bits can count. */
FOLDER_TEST(test_many_uses)
{
	const uint32_t last = 2 * OPD_NAMES_WAYS * OPD_NAMES_SETS;
	struct rig rig;
	uint32_t tid;
	char path[64];

	start(&rig, OPD_TELL_NAMES);
	for (tid = OPD_NAMES_SETS; tid <= last; tid += OPD_NAMES_SETS) {
		snprintf(path, sizeof(path), "proc/%u/task/%u/comm", tid, tid);
		put_file(path, "x\n");
	}
	/* As many as a set has room for, and then others in their places. */
	for (tid = OPD_NAMES_SETS; tid <= last / 2; tid += OPD_NAMES_SETS)
		assert_string_not_equal(tell(&rig, tid, tid, 7, NULL), "");
	rig.names.uses = UINT32_MAX - 1;
	for (; tid <= last; tid += OPD_NAMES_SETS)
		assert_string_not_equal(tell(&rig, tid, tid, 7, NULL), "");
	for (tid = last; tid > last / 2; tid -= OPD_NAMES_SETS)
		assert_string_equal(tell(&rig, tid, tid, 7, NULL), "");
	stop(&rig);
}
