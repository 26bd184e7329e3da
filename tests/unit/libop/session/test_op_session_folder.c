// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folders of a session as a whole: reset, saved, and renamed to make room for a
 * new run, which may be undone at any point.
 */

#include "tests/unit/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "libop/session/op_session_folder.h"

#define THREE                                                                  \
	"current/{root}/new;previous/{root}/1;previous-2/{root}/2;previous-3/{root}/3"
#define OLD "current/{root}/new;previous/{root}/old"

/* given: files below samples/; script: "reset", "save NAME", "rotate",
 * "append", "keep N", "rotated", "undo", "file PATH" to make one more, and
 * "hold" to remember the folder "current". What is wanted: each step told,
 * errors, whether that folder is still the one, and the files that are there
 * then. */
static const struct row rows[] = {
	{ "samples_are_removed",
	  "current/{root}/a;current/packed-1;current/.span-1-2/x;"
	  "current/ledger;current/ledger.bad;current/leger;current/notes;"
	  "current/tasks;current/tasks2;current/.tmp-abcdef",
	  "hold; reset", EXPECTED_ROW },
	{ "a_folder_with_samples_alone_is_made_anew",
	  "current/{root}/a;current/ledger;current/tasks", "hold; reset",
	  "current is a new folder\n" },
	{ "no_session_to_reset", NULL, "reset", NULL },
	{ "a_session_that_cannot_be_reset", "current", "reset", EXPECTED_ROW },
	{ "saved", "current/{root}/a;other/{root}/b", "save mine",
	  EXPECTED_ROW },
	{ "saved_under_a_name_that_is_taken", "current/a;mine", "save mine",
	  EXPECTED_ROW },
	{ "nothing_to_save", "other/a", "save mine", EXPECTED_ROW },
	{ "a_first_run", NULL, "rotate; file current/a; rotated",
	  "current/a\n" },
	{ "a_first_run_that_does_not_begin", "other/a",
	  "rotate; file current/a; undo", EXPECTED_ROW },
	{ "a_first_run_that_makes_nothing", "other/a", "rotate; undo",
	  "other/a\n" },
	{ "a_second_run", "current/{root}/new",
	  "rotate; file current/a; rotated", EXPECTED_ROW },
	{ "a_second_run_that_does_not_begin", "current/{root}/new",
	  "rotate; file current/a; undo", EXPECTED_ROW },
	{ "a_third_run", OLD, "rotate; file current/a; rotated", EXPECTED_ROW },
	{ "a_third_run_that_does_not_begin", OLD,
	  "rotate; file current/a; undo", EXPECTED_ROW },
	/* One without samples does not replace a previous one. */
	{ "a_run_after_one_without_samples",
	  "current/ledger;previous/{root}/old",
	  "rotate; file current/a; rotated", EXPECTED_ROW },
	{ "undone_after_one_without_samples",
	  "current/ledger;previous/{root}/old", "rotate; undo", EXPECTED_ROW },
	{ "a_run_that_goes_on", OLD, "append; file current/a; rotated",
	  EXPECTED_ROW },
	{ "a_run_that_does_not_go_on", OLD, "append; undo", EXPECTED_ROW },
	{ "a_run_that_goes_on_from_nothing", NULL,
	  "append; file current/a; undo", "remove SAMPLES/current\n" },
	{ "a_third_run_of_three_that_are_kept", OLD,
	  "keep 3; rotate; file current/a; rotated", EXPECTED_ROW },
	{ "the_oldest_of_three", THREE,
	  "keep 3; rotate; file current/a; rotated", EXPECTED_ROW },
	{ "the_oldest_of_three_stays", THREE,
	  "keep 3; rotate; file current/a; undo", EXPECTED_ROW },
	{ "a_number_that_is_free",
	  "current/{root}/new;previous/{root}/1;previous-3/{root}/3",
	  "keep 3; rotate; file current/a; undo", EXPECTED_ROW },
	{ "fewer_are_kept_now", THREE,
	  "keep 1; rotate; file current/a; rotated", EXPECTED_ROW },
	{ "fewer_are_kept_but_nothing_is_moved",
	  "current/ledger;previous/{root}/1;previous-2/{root}/2",
	  "keep 1; rotate; file current/a; rotated", EXPECTED_ROW },
	/* Killed when the oldest was aside, and one other had been renamed. */
	{ "a_killed_shift",
	  "current/{root}/new;.replaced/{root}/3;previous/{root}/1;previous-3/{root}/2",
	  "keep 3; append", EXPECTED_ROW },
	{ "a_killed_shift_before_the_first",
	  "current/{root}/new;.replaced/{root}/3;previous/{root}/1;previous-2/{root}/2",
	  "keep 3; append", EXPECTED_ROW },
	{ "an_empty_one_that_was_aside", ".replaced/ledger;previous/{root}/1",
	  "keep 3; rotate", EXPECTED_ROW },
	{ "removed_once", OLD, "rotate; rotated; rotated", EXPECTED_ROW },
	/* Killed between two renames, and before the end. */
	{ "what_was_aside_is_the_previous_one",
	  "current/{root}/new;.replaced/{root}/old", "append", EXPECTED_ROW },
	{ "what_was_aside_is_replaced", OLD ";.replaced/{root}/older", "append",
	  EXPECTED_ROW },
	{ "a_file_in_the_way", "current/{root}/new;previous", "rotate; rotated",
	  EXPECTED_ROW },
	{ "a_session_that_is_a_file", "current;previous/{root}/old",
	  "rotate; undo", EXPECTED_ROW },
};

/* ---- running --------------------------------------------------------------
 */

static char home[] = "/tmp/test_op_session_folder.XXXXXX";
static struct op_session session;
static FILE *said;

/* @text with SAMPLES for the folder samples/. */
static void print_with_samples(FILE *out, const char *text)
{
	const char *at;

	while ((at = strstr(text, session.samples))) {
		fprintf(out, "%.*sSAMPLES", (int)(at - text), text);
		text = at + strlen(session.samples);
	}
	fprintf(out, "%s\n", text);
}

static __attribute__((format(printf, 1, 2))) void say_step(const char *fmt, ...)
{
	char text[16384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print_with_samples(said, text);
}

static void make_sample_file(const char *name)
{
	char path[sizeof(session.samples) + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", session.samples, name);
	assert_int_equal(op_make_parents(path, 0700), 0);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void print_files(FILE *out)
{
	FILE *list = popen("cd samples 2>/dev/null && "
			   "find . -type f | cut -c3- | LC_ALL=C sort",
			   "r");
	char line[256];

	assert_non_null(list);
	while (fgets(line, sizeof(line), list))
		fputs(line, out);
	pclose(list);
}

/* Of "samples/current" before, so that its inode is not given away; or -1. */
static int held = -1;

static void print_held(FILE *out)
{
	struct stat before, now;

	if (held < 0)
		return;
	assert_int_equal(fstat(held, &before), 0);
	assert_int_equal(stat("samples/current", &now), 0);
	fprintf(out, "current is %s folder\n",
		before.st_ino == now.st_ino ? "the same" : "a new");
	close(held);
	held = -1;
}

static int do_step(struct op_session_room *room, const char *step,
		   struct op_diag *diag)
{
	unsigned int nr_removed;

	if (!strncmp(step, "keep ", 5)) {
		room->keep = (unsigned int)atoi(step + 5);
		return 0;
	}
	if (!strcmp(step, "hold")) {
		held = open("samples/current", O_RDONLY | O_DIRECTORY);
		assert_true(held >= 0);
		return 0;
	}
	if (!strcmp(step, "reset"))
		return op_session_reset(&session, diag);
	if (!strncmp(step, "save ", 5))
		return op_session_save(&session, step + 5, diag);
	if (!strcmp(step, "rotate") || !strcmp(step, "append"))
		return op_session_rotate(room, *step == 'a', diag);
	if (!strcmp(step, "rotated"))
		return op_session_rotated(room, &nr_removed, diag);
	if (!strcmp(step, "undo"))
		return op_session_undo_rotate(room, diag);
	assert_false(strncmp(step, "file ", 5));
	make_sample_file(step + 5);
	return 0;
}

static void run_steps(const struct row *row, FILE *out)
{
	struct op_session_room room = { .session = &session,
					.keep = 1,
					.say = say_step };
	const char *at = row->given ? row->given : "";
	char line[256];

	op_remove_tree("samples");
	assert_int_equal(mkdir("samples", 0700), 0);
	while (next_line(&at, line, sizeof(line)))
		make_sample_file(line);
	said = out;
	for (at = row->script; next_line(&at, line, sizeof(line));) {
		struct op_diag diag = { "" };
		int err = do_step(&room, line, &diag);

		if (!err)
			continue;
		fprintf(out, "error %d: ", err);
		print_with_samples(out, diag.text);
	}
	print_held(out);
	print_files(out);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_steps);
}

static int enter_home(void **state)
{
	struct op_diag diag = { "" };

	(void)state;
	if (!mkdtemp(home) || chdir(home))
		return -1;
	return op_session_init(&session, home, &diag);
}

static int leave_home(void **state)
{
	(void)state;
	return chdir("/") || op_remove_tree(home) ? -1 : 0;
}

TEST_GROUP(enter_home, leave_home)
