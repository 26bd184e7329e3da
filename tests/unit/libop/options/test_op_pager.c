// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pagers on a pseudo-terminal: which is started, what it finds, and what the
 * program's output is before, with and after it. The only less is a script that
 * prints its environment before the text.
 */

#include "tests/unit/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "libop/options/op_pager.h"
#include "libop/files/op_remove.h"

static const char less[] =
	"#!/bin/sh\n"
	"if [ \"$1\" = --version ]; then echo \"$LESS_IS\"; exit; fi\n"
	"echo \"less LESS=$LESS LV=$LV COLUMNS=$COLUMNS\"\n"
	"cat\n";

static char folder[] = "/tmp/test_op_pager.XXXXXX"; /* of less */

#define LESS_600 "LESS_IS=less 600 (GNU regular expressions)"
#define PLAIN(text) "no pager\n" text "after\n"
#define LESS(environment) "less " environment "\na\nafter\n"

/* given: the environment; script: "size ROWS COLUMNS", "header LINES",
 * "unwanted", "write TEXT". */
static const struct row rows[] = {
	{ "a_pager_reads_the_output", "PAGER=sed s/^/page:/",
	  "write a; write b", "page:a\npage:b\nafter\n" },
	{ "a_pager_of_our_own", "PAGER=false;OPROFILE_PAGER=sed s/^/page:/",
	  "write a", "page:a\nafter\n" },
	{ "no_pager_is_wanted", "PAGER=sed s/^/page:/", "unwanted; write a",
	  PLAIN("a\n") },
	{ "cat_is_no_pager", "PAGER=cat", "write a", PLAIN("a\n") },
	{ "an_empty_name_is_no_pager", "OPROFILE_PAGER=;PAGER=false", "write a",
	  PLAIN("a\n") },
	{ "a_dumb_terminal_has_no_pager", "TERM=dumb", "write a",
	  PLAIN("a\n") },
	{ "an_unknown_terminal_has_no_pager", "TERM", "write a", PLAIN("a\n") },
	{ "less_where_no_pager_is_named", NULL, "write a",
	  LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "less_in_any_folder_of_the_path",
	  "PATH=/nowhere:FOLDER:/usr/bin:/bin", "write a",
	  LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "no_less_on_the_path", "PATH=/nowhere", "write a", PLAIN("a\n") },
	{ "no_path", "PATH", "write a", PLAIN("a\n") },
	{ "settings_of_the_user_stay", "LESS=S;LV=-d;COLUMNS=3;" LESS_600,
	  "size 24 80; header 2; write a", LESS("LESS=S LV=-d COLUMNS=3") },
	{ "the_width_of_the_terminal", NULL, "size 24 81; write a",
	  LESS("LESS=FRX LV=-c COLUMNS=81") },
	{ "a_header_stays_in_sight", LESS_600, "size 12 0; header 2; write a",
	  LESS("LESS=FRX --header=2 LV=-c COLUMNS=") },
	{ "a_header_on_a_low_terminal", LESS_600,
	  "size 11 0; header 2; write a", LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "a_header_of_no_lines", LESS_600, "size 24 0; write a",
	  LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "a_header_with_an_older_less", "LESS_IS=less 599 (POSIX)",
	  "size 24 0; header 2; write a", LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "a_header_with_another_less", "LESS_IS=more 600",
	  "size 24 0; header 2; write a", LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "a_header_with_a_less_that_is_silent", "LESS_IS=less ",
	  "size 24 0; header 2; write a", LESS("LESS=FRX LV=-c COLUMNS=") },
	{ "a_header_with_another_pager", LESS_600 ";PAGER=less -S",
	  "size 24 0; header 2; write a", LESS("LESS=FRX LV=-c COLUMNS=") },
	/* What does not fit the pipe cannot be written. */
	{ "a_pager_that_is_left", "PAGER=true", "write-much", "after\n" },
	{ "a_pager_that_fails", "PAGER=exit 125", "write a", "after\n" },
	{ "a_pager_that_is_missing", "PAGER=no-such-pager 2>&-", "write a",
	  EXPECTED_ROW },
	{ "a_pager_that_is_no_program", "PAGER=/ 2>&-", "write a",
	  EXPECTED_ROW },
	{ "signals_end_a_pager",
	  "PAGER=ulimit -c 0\nexec 2>&-\nfor s in INT QUIT PIPE\ndo sh -c \"kill -$s \\$\\$\"\necho $?\ndone",
	  "write a", "130\n131\n141\nafter\n" },
};

/* ---- a terminal as standard output --------------------------------------- */

struct terminal {
	int master;
	int stdout_was;
};

static void terminal_open(struct terminal *terminal)
{
	struct termios raw;
	int slave;

	terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal->master >= 0);
	assert_int_equal(grantpt(terminal->master), 0);
	assert_int_equal(unlockpt(terminal->master), 0);
	slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	assert_int_equal(tcgetattr(slave, &raw), 0);
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	fflush(stdout);
	terminal->stdout_was = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	assert_int_equal(dup2(slave, STDOUT_FILENO), STDOUT_FILENO);
	close(slave);
}

/* Print what the terminal has got to @out. */
static void terminal_close(struct terminal *terminal, FILE *out)
{
	char text[4096];
	ssize_t len;

	fflush(stdout);
	dup2(terminal->stdout_was, STDOUT_FILENO);
	close(terminal->stdout_was);
	/* An error when all is read, as nobody has the terminal open. */
	while ((len = read(terminal->master, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)len, out);
	close(terminal->master);
}

/* ---- rows ---------------------------------------------------------------- */

/* "NAME=VALUE", or "NAME" alone to remove it; FOLDER is that of less. */
static void set_variable(char *setting)
{
	char *value = strchr(setting, '='), *at, text[256];

	if (!value) {
		assert_int_equal(unsetenv(setting), 0);
		return;
	}
	*value++ = '\0';
	at = strstr(value, "FOLDER");
	if (at)
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - value),
			 value, folder, at + strlen("FOLDER"));
	assert_int_equal(setenv(setting, at ? text : value, 1), 0);
}

static char **environment_was;

/* What prints the results looks at the environment, too. */
static void restore_variables(void)
{
	environ = environment_was;
}

/* A pager may be a script of several lines, so only ';' separates settings. */
static void set_variables(const char *given)
{
	char defaults[] = "PATH=FOLDER:/usr/bin:/bin", term[] = "TERM=xterm";
	char *copy = strdup(given ? given : ""), *rest = copy, *setting;

	assert_non_null(copy);
	assert_int_equal(clearenv(), 0);
	set_variable(defaults);
	set_variable(term);
	while ((setting = strsep(&rest, ";")))
		if (*setting)
			set_variable(setting);
	free(copy);
}

static void write_much(void)
{
	for (int i = 0; i < 1 << 20; i++)
		putchar('x');
}

static void run_pager(const struct row *row, FILE *out)
{
	struct op_pager pager;
	struct op_diag diag = { "" };
	struct terminal terminal;
	struct winsize size = { 0 };
	unsigned int nr_header = 0;
	bool wanted = true;
	char line[256];
	const char *at;
	int err;

	set_variables(row->given);
	for (at = row->script; next_line(&at, line, sizeof(line));) {
		sscanf(line, "size %hu %hu", &size.ws_row, &size.ws_col);
		sscanf(line, "header %u", &nr_header);
		wanted &= strcmp(line, "unwanted") != 0;
	}
	terminal_open(&terminal);
	ioctl(terminal.master, TIOCSWINSZ, &size);
	op_pager_start(&pager, stdout, wanted, nr_header);
	if (!pager.pid)
		printf("no pager\n");
	for (at = row->script; next_line(&at, line, sizeof(line));) {
		if (!strncmp(line, "write ", 6))
			printf("%s\n", line + 6);
		else if (!strcmp(line, "write-much"))
			write_much();
	}
	err = op_pager_end(&pager, stdout, &diag);
	printf("after\n");
	terminal_close(&terminal, out);
	restore_variables();
	if (err)
		fprintf(out, "error %d: %s\n", err, diag.text);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_pager);
}

/* ---- others -------------------------------------------------------------- */

static void ignore_signal(int signo)
{
	(void)signo;
}

/* The pager has the signals of the keyboard; later they are the caller's. */
TEST(signals_are_left_to_the_pager)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGPIPE };
	const struct sigaction own = { .sa_handler = ignore_signal };
	struct sigaction was[NR(signals)], now;
	char setting[] = "PAGER=sed s/^/page:/";
	struct terminal terminal;
	struct op_pager pager;
	struct op_diag diag;
	bool ignored = true, back = true;

	set_variables(setting);
	for (size_t i = 0; i < NR(signals); i++)
		sigaction(signals[i], &own, &was[i]);
	terminal_open(&terminal);
	op_pager_start(&pager, stdout, true, 0);
	for (size_t i = 0; i < NR(signals); i++) {
		sigaction(signals[i], NULL, &now);
		ignored &= now.sa_handler == SIG_IGN;
	}
	op_pager_end(&pager, stdout, &diag);
	terminal_close(&terminal, stderr);
	restore_variables();
	for (size_t i = 0; i < NR(signals); i++) {
		sigaction(signals[i], &was[i], &now);
		back &= now.sa_handler == ignore_signal;
	}
	assert_true(ignored);
	assert_true(back);
}

TEST(output_that_cannot_be_written)
{
	struct op_diag diag = { "" };
	struct op_pager pager;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	set_variables(NULL);
	op_pager_start(&pager, full, true, 0);
	restore_variables();
	assert_int_equal(pager.pid, 0);
	fputs("a\n", full);
	assert_int_equal(op_pager_end(&pager, full, &diag), -EIO);
	assert_string_equal(
		diag.text,
		"standard output: cannot be written: No space left on device");
	fclose(full);
}

TEST(colours)
{
	static const struct {
		const char *environment;
		bool wanted;
	} cases[] = {
		{ "", true },
		{ "NO_COLOR=", true },
		{ "NO_COLOR=1", false },
		{ "TERM=dumb", false },
		{ "TERM", false },
	};
	bool wanted[NR(cases)], in_file;
	FILE *file = fopen("/dev/null", "w");
	struct terminal terminal;

	assert_non_null(file);
	terminal_open(&terminal);
	for (size_t i = 0; i < NR(cases); i++) {
		set_variables(cases[i].environment);
		wanted[i] = op_color_wanted(stdout);
	}
	set_variables(NULL);
	in_file = op_color_wanted(file);
	restore_variables();
	terminal_close(&terminal, stderr);
	fclose(file);
	for (size_t i = 0; i < NR(cases); i++)
		assert_int_equal(wanted[i], cases[i].wanted);
	assert_false(in_file);
}

static int make_less(void)
{
	char path[sizeof(folder) + 5];
	FILE *file;

	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/less", folder);
	file = fopen(path, "w");
	if (!file)
		return -1;
	fputs(less, file);
	return fclose(file) || chmod(path, 0755);
}

static int enter_pager_tests(void **state)
{
	(void)state;
	environment_was = environ;
	return make_less();
}

static int leave_pager_tests(void **state)
{
	(void)state;
	return op_remove_tree(folder);
}

TEST_GROUP(enter_pager_tests, leave_pager_tests)
