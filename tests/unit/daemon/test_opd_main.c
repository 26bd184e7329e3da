// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oprofiled as a program: its exit status, what it prints, and what is there
 * when it says that it is ready. Each run is a process of its own.
 */

#include "daemon/opd_main.h"
#include "libop/session/op_control.h"
#include "libop/session/op_ledger.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

#include <sys/prctl.h>
#include <sys/wait.h>

static char dir[64]; /* of the test; also its working folder */

static int enter_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/opd-main-XXXXXX");
	return mkdtemp(dir) ? chdir(dir) : -1;
}

static int leave_dir(void **state)
{
	(void)state;
	remove_tree(dir);
	return chdir("/");
}

#define FOLDER_TEST(name) TEST_WITH(name, enter_dir, leave_dir)

/* Run oprofiled with @options, words; what it prints goes to the file "out".
 */
static pid_t start(const char *options)
{
	char *text = strdup(options), *rest;
	const char *argv[16] = { "oprofiled" };
	int argc = 1;
	pid_t pid;

	for (char *at = strtok_r(text, " ", &rest); at;
	     at = strtok_r(NULL, " ", &rest))
		argv[argc++] = at;
	pid = fork();
	if (pid == 0) {
		struct opd *opd = calloc(1, sizeof(*opd));

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!freopen("out", "w", stdout) ||
		    !freopen("out", "a", stderr))
			_exit(99);
		argc = opd_main(opd, argc, argv);
		free(opd);
		free(text);
		exit(argc);
	}
	free(text);
	assert_true(pid > 0);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The text of a file, "none" without it. */
static const char *text_of(const char *name)
{
	static char text[16384];
	FILE *file = fopen(name, "r");
	size_t len;

	if (!file)
		return "none";
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	return text;
}

/* Two samples of /bin/sh, of three that were taken; and a half word. */
static void put_recording(const char *name, size_t tail)
{
	struct words *w = calloc(1, sizeof(*w));
	FILE *file = fopen(name, "w");

	assert_non_null(w);
	assert_non_null(file);
	put_begin(w);
	put_cookie(w, 1, "/bin/sh");
	put_cpu(w, 0);
	put_task(w, 1, 1, 1);
	put_user(w);
	put_image(w, 1);
	put_sample(w, 0x10, 0);
	put_sample(w, 0x20, 0);
	put_record(w, OP_TAKEN, 1, U(3));
	fwrite(w->word, sizeof(uint64_t), w->nr, file);
	fwrite("1234567890", 1, tail, file);
	fclose(file);
	free(w);
}

/* ---- a command line ---------------------------------------------------------
 */

FOLDER_TEST(test_command_lines)
{
	/* What is printed has @text; nothing where that is NULL. */
	static const struct {
		const char *options;
		int status;
		const char *text;
	} rows[] = {
		{ "--version", 0, "oprofiled: " },
		{ "--nonsense", 2, "oprofiled: --nonsense: " },
		{ "--source=nonsense", 2,
		  "oprofiled: --source=nonsense: no such source" },
		{ "--source=file:rec --ext-feature=nonsense", 2,
		  "oprofiled: " },
		{ "--source=file:rec --session-dir=s", 0, NULL },
		{ "--source=file:rec --session-dir=s --xen-image=x", 0,
		  "oprofiled: --xen-image: ignored: " },
		{ "--source=file:rec --session-dir=s --kernel-range=1,2", 0,
		  "oprofiled: --kernel-range: ignored: " },
		{ "--source=file:none --session-dir=s", 1,
		  "oprofiled: none: No such file or directory" },
		{ "--source=file:bad --session-dir=s", 1,
		  "oprofiled: bad: is not a recorded stream" },
		{ "--source=file:rec --session-dir=rec", 1, "oprofiled: " },
		{ "--source=oprofilefs:none --session-dir=s --foreground", 1,
		  "oprofiled: none: No such file or directory" },
		{ "--source=oprofilefs:none --session-dir=s", 1,
		  "oprofiled: none: No such file or directory" },
		{ "--source=file:rec --session-dir=s --record=no/folder", 1,
		  "no/folder" },
	};

	put_recording("rec", 0);
	write_text(dir, "bad", "this is no recording of anything at all\n");
	for (size_t i = 0; i < NR(rows); i++) {
		assert_int_equal(status_of(start(rows[i].options)),
				 rows[i].status);
		if (rows[i].text)
			assert_non_null(strstr(text_of("out"), rows[i].text));
		else
			assert_string_equal(text_of("out"), "");
		/* It is said once. */
		if (rows[i].text)
			assert_null(strstr(text_of("out") + 1, "oprofiled: "));
	}
}

/* ---- a recording ------------------------------------------------------------
 */

FOLDER_TEST(test_a_recording)
{
	struct op_diag diag = { "" };
	struct op_ledger ledger;
	const char *log;

	put_recording("rec", 3);
	assert_int_equal(
		status_of(start("--source=file:rec --session-dir=s --verbose")),
		0);
	assert_string_equal(text_of("out"), "");
	assert_int_equal(
		op_ledger_read(&ledger, "s/samples/current/ledger", &diag), 0);
	assert_int_equal(ledger.taken, 3);
	assert_int_equal(ledger.stored, 2);
	assert_int_equal(op_ledger_lost_by(&ledger, "lost_at_exit"), 1);
	log = text_of("s/samples/oprofiled.log");
	assert_int_equal(strncmp(log, "oprofiled started ", 18), 0);
	assert_non_null(strstr(log, "\nkernel pointer size: 8\n"));
	/* The half word at its end. */
	assert_non_null(strstr(log, "\nNr. incomplete code structs: 1\n"));
	assert_string_equal(log + strlen(log) - 18, "oprofiled stopped\n");
	/* A second one goes on with the session, which is not locked any more.
	 */
	assert_int_equal(status_of(start("--source=file:rec --session-dir=s")),
			 0);
	assert_int_equal(
		op_ledger_read(&ledger, "s/samples/current/ledger", &diag), 0);
	assert_int_equal(ledger.taken, 6);
}

/* ---- who waits --------------------------------------------------------------
 */

/* Who gave a descriptor is told there: nothing, or the reason. */
FOLDER_TEST(test_ready_fd)
{
	static const struct {
		const char *source;
		int status;
		const char *told;
	} rows[] = {
		{ "file:rec", 0, "" },
		{ "file:none", 1, "none: No such file or directory" },
	};

	put_recording("rec", 0);
	for (size_t i = 0; i < NR(rows); i++) {
		char options[128], told[256];
		int fds[2];
		ssize_t len;
		pid_t pid;

		assert_int_equal(pipe(fds), 0);
		snprintf(options, sizeof(options),
			 "--source=%s --session-dir=s --ready-fd=%d",
			 rows[i].source, fds[1]);
		pid = start(options);
		close(fds[1]);
		len = read(fds[0], told, sizeof(told));
		assert_int_equal(status_of(pid), rows[i].status);
		assert_true(len > 0);
		/* With the zero byte. */
		assert_int_equal(strnlen(told, (size_t)len) + 1, len);
		assert_int_equal(
			strncmp(told, rows[i].told, strlen(rows[i].told)), 0);
		assert_int_equal(*told == '\0', *rows[i].told == '\0');
		assert_int_equal(read(fds[0], told, 1), 0);
		close(fds[0]);
		assert_string_equal(text_of("out"), "");
	}
}

/* ---- a daemon ---------------------------------------------------------------
 */

/* A folder like the module's; its buffer never ends. */
static int make_module(void)
{
	int fd;

	assert_int_equal(mkdir("fs", 0755), 0);
	assert_int_equal(mkdir("fs/stats", 0755), 0);
	write_text("fs", "abi_version", "1\n");
	write_text("fs", "cpu_type", "timer");
	write_text("fs", "enable", "0\n");
	write_text("fs", "dump", "");
	assert_int_equal(mkfifo("fs/buffer", 0600), 0);
	fd = open("fs/buffer", O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void ask(const char *request, char *reply, size_t len)
{
	struct op_diag diag = { "" };
	struct op_session session;

	assert_int_equal(op_session_init(&session, "s", &diag), 0);
	if (op_control_call(session.socket, request, reply, len, -1, &diag))
		fail_msg("%s: %s", request, diag.text);
}

static void expect_link(pid_t pid, const char *name, const char *want)
{
	char path[64], to[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	assert_true(readlink(path, to, sizeof(to) - 1) > 0);
	assert_string_equal(to, want);
}

/* The command ends as soon as the daemon takes requests, which has let go of
 * all that it was started with. */
FOLDER_TEST(test_background)
{
	char reply[4096], session[128];
	int buffer = make_module();
	pid_t daemon;

	/* It becomes our child when the command has ended. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	umask(0);
	assert_int_equal(
		status_of(start("--source=oprofilefs:fs --session-dir=s")), 0);
	umask(022);
	assert_string_equal(text_of("out"), "");
	ask("status", reply, sizeof(reply));
	assert_non_null(strstr(reply, "pid = "));
	daemon = atoi(strstr(reply, "pid = ") + 6);
	assert_int_equal(getsid(daemon), daemon);
	snprintf(session, sizeof(session), "%s/s", dir);
	expect_link(daemon, "cwd", session);
	expect_link(daemon, "fd/0", "/dev/null");
	expect_link(daemon, "fd/1", "/dev/null");
	expect_link(daemon, "fd/2", "/dev/null");
	/* Another one is refused, and the command tells why. */
	assert_int_equal(
		status_of(start("--source=oprofilefs:fs --session-dir=s")), 1);
	assert_int_equal(strncmp(text_of("out"), "oprofiled: ", 11), 0);
	ask("shutdown", reply, sizeof(reply));
	assert_int_equal(status_of(daemon), 0);
	assert_int_equal(access("s/samples/current/ledger", F_OK), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(buffer);
}

/* In the foreground it stays the same process, and keeps its folder. */
FOLDER_TEST(test_foreground)
{
	char reply[4096], byte;
	int buffer = make_module(), fds[2];
	char options[128];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	snprintf(
		options, sizeof(options),
		"--source=oprofilefs:fs --session-dir=s --foreground --ready-fd=%d",
		fds[1]);
	pid = start(options);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(byte, '\0');
	close(fds[0]);
	expect_link(pid, "cwd", dir);
	ask("status", reply, sizeof(reply));
	assert_int_equal(atoi(strstr(reply, "pid = ") + 6), pid);
	/* Its answer comes at the very end. */
	ask("shutdown", reply, sizeof(reply));
	assert_int_equal(status_of(pid), 0);
	close(buffer);
}

/* A source that fails is an end with a reason. */
FOLDER_TEST(test_source_fails)
{
	int buffer;

	buffer = make_module();
	assert_int_equal(unlink("fs/buffer"), 0);
	assert_int_equal(mkdir("fs/buffer", 0755), 0);
	assert_int_equal(status_of(start("--source=oprofilefs:fs "
					 "--session-dir=s --foreground")),
			 1);
	assert_int_equal(strncmp(text_of("out"), "oprofiled: ", 11), 0);
	close(buffer);
}
