// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which spans of a history a report opens for the times that it is asked for,
 * what it says where there is nothing, and how times become columns. The clock
 * stands at NOW.
 */

#include "tests/unit/pp_session.h"

#include "libop/session/op_span.h"
#include "libpp/select/session_search.h"

#define NOW 10000

#define SESSION "samples/current"

struct spans_row {
	const char *name;
	/*
	 * What is in the folder of the session: "[KIND-]BEGIN-END" are spans,
	 * "beside" samples that are in none, "ledger=TIME" its account, which
	 * was written then.
	 */
	const char *given;
	const char *words; /* of the specification */
	size_t columns; /* that there may be; 0: any number */
	const char *wanted;
};

/* ---- making a history ---------------------------------------------------- */

static void make_part_of_history(const char *word)
{
	char path[256];

	if (!strcmp(word, "beside")) {
		write_samples("current x x E 0=1");
	} else if (!strncmp(word, "ledger=", 7)) {
		write_ledger_at(SESSION "/ledger", 1, atoi(word + 7));
	} else {
		snprintf(path, sizeof(path), SESSION "/.%s%s",
			 *word < 'a' ? "span-" : "", word);
		assert_int_equal(mkdir(path, 0755), 0);
		strcat(path, "/ledger");
		if (strstr(word, "dropped-"))
			write_ledger_at(path, 7, 0);
	}
}

static void make_spans_and_more(const char *given)
{
	const char *words[24] = { NULL };
	char copy[256];

	assert_int_equal(op_make_parents(SESSION "/x", 0755), 0);
	split_words(given, copy, words, NR(words));
	for (size_t i = 0; words[i]; i++)
		make_part_of_history(words[i]);
}

/* ---- what is opened ------------------------------------------------------ */

static int seconds_of(uint64_t ns)
{
	return (int)(ns / PP_TIME_NS);
}

/* When a session began of which nothing was ever put aside, the file system
 * tells: that is not shown. */
static void write_opened_folder(FILE *out, const struct pp_session *session,
				bool has_columns)
{
	fprintf(out, "%s", session->path);
	if (session->is_span || session->has_spans || session->dropped)
		fprintf(out, " %d-%d", seconds_of(session->begin),
			seconds_of(session->end));
	if (has_columns && session->column_end)
		fprintf(out, " in %d-%d", seconds_of(session->column_begin),
			seconds_of(session->column_end));
	fprintf(out, "%s%s%s%s\n", session->is_span ? " span" : "",
		session->has_spans ? " with spans" : "",
		session->is_left_out ? " left out" : "",
		session->dropped ? " dropped" : "");
}

static void write_history(FILE *out, const struct pp_history *history)
{
	fprintf(out, "history %d-%d, %d", seconds_of(history->begin),
		seconds_of(history->end), (int)history->nr_spans);
	fprintf(out, ", asked %d-", seconds_of(history->asked_begin));
	/* A range of time without an end has that of the real clock. */
	if (history->asked_end > (uint64_t)(NOW * PP_TIME_NS))
		fputs("now", out);
	else
		fprintf(out, "%d", seconds_of(history->asked_end));
	if (history->dropped_samples)
		fprintf(out, ", dropped %d until %d",
			(int)history->dropped_samples,
			(int)history->dropped_end);
	fprintf(out, "%s%s\n", history->is_part ? ", in part" : "",
		history->is_coarse ? ", coarse" : "");
}

static void write_opened_history(FILE *out, const struct spans_row *row)
{
	struct pp_spec spec;
	struct pp_sessions sessions = { 0 };
	struct op_arena arena;
	struct op_diag diag = { "" };
	struct pp_session_search search = {
		.sessions = &sessions,
		.arena = &arena,
		.spec = &spec,
		.diag = &diag,
		.now = NOW,
	};
	const char *words[8] = { NULL };
	char copy[256];
	int err;

	split_words(row->words, copy, words, NR(words));
	op_arena_init(&arena);
	assert_int_equal(pp_spec_init(&spec, words, &diag), 0);
	assert_int_equal(pp_session_open(&search, SESSION, "current"), 0);
	err = pp_session_add_spans(&search);
	if (!err)
		err = pp_session_check_times(&search);
	if (!err && row->columns != SIZE_MAX)
		err = pp_sessions_make_columns(&sessions, &arena, row->columns);
	for (size_t i = 0; i < sessions.nr && !err; i++)
		write_opened_folder(out, &sessions.list[i],
				    row->columns != SIZE_MAX);
	if (!err)
		write_history(out, &sessions.history);
	else
		fprintf(out, "%s: %s\n", strerror(-err), diag.text);
	pp_sessions_close(&sessions);
	pp_spec_release(&spec);
	op_arena_release(&arena);
}

/* clang-format off */
#define NO_COLUMNS SIZE_MAX
static const struct spans_row spans_rows[] = {
	{ "a session without spans",
	  "beside", "", NO_COLUMNS, EXPECTED_ROW },
	{ "nothing but a folder",
	  "", "", NO_COLUMNS, EXPECTED_ROW },
	{ "all spans",
	  "100-200 200-300 300-400", "", NO_COLUMNS, EXPECTED_ROW },
	{ "and what is beside them",
	  "100-200 200-300 300-400 beside", "", NO_COLUMNS, EXPECTED_ROW },
	{ "an account beside spans is no sample",
	  "100-200 200-300 300-400 ledger=500", "", NO_COLUMNS, EXPECTED_ROW },
	{ "beside them until the account was written",
	  "100-200 200-300 300-400 beside ledger=9100", "", NO_COLUMNS, EXPECTED_ROW },
	{ "or until now where that may be going on",
	  "100-200 200-300 300-400 beside ledger=9101", "", NO_COLUMNS, EXPECTED_ROW },
	{ "an account that is older than the spans",
	  "100-200 200-300 300-400 beside ledger=399", "", NO_COLUMNS, EXPECTED_ROW },
	{ "one that is a second older",
	  "100-200 200-300 300-400 beside ledger=400", "", NO_COLUMNS, EXPECTED_ROW },
	{ "spans that are replaced or not finished",
	  "100-200 200-300 100-300 making-300-400 closing-400-500", "", NO_COLUMNS, EXPECTED_ROW },
	{ "dropped spans",
	  "dropped-1-100 100-200 beside", "", NO_COLUMNS, EXPECTED_ROW },
	{ "dropped spans alone",
	  "dropped-1-100 beside", "", NO_COLUMNS, EXPECTED_ROW },
	{ "dropped spans that count in later ones",
	  "dropped-50-90 10-100 beside", "", NO_COLUMNS, EXPECTED_ROW },
	{ "middles in the range",
	  "100-200 200-300 300-400 beside", "time:@150-@350", NO_COLUMNS, EXPECTED_ROW },
	{ "a middle at the end is not in the range",
	  "100-200 200-300 300-400 beside", "time:@151-@350", NO_COLUMNS, EXPECTED_ROW },
	{ "a middle behind the end is",
	  "100-200 200-300 300-400 beside", "time:@151-@351", NO_COLUMNS, EXPECTED_ROW },
	{ "ranges that follow each other share no span",
	  "100-200 200-300 300-400", "time:@100-@250,@250-@400", NO_COLUMNS, EXPECTED_ROW },
	{ "ranges in any order",
	  "100-200 200-300 300-400", "time:@250-@400,@100-@160,@180-@200", NO_COLUMNS,
	  EXPECTED_ROW },
	{ "no middle, but a quarter",
	  "100-200 200-300 300-400", "time:@160-@240", NO_COLUMNS, EXPECTED_ROW },
	{ "exactly a quarter of one",
	  "100-200 200-300 300-400", "time:@170-@210", NO_COLUMNS, EXPECTED_ROW },
	{ "less than a quarter of one",
	  "100-200 200-300 300-400", "time:@170-@209", NO_COLUMNS, EXPECTED_ROW },
	{ "a span that has more than a quarter besides",
	  "100-200", "time:@126-@226", NO_COLUMNS, EXPECTED_ROW },
	{ "a span that has a quarter besides",
	  "100-200", "time:@125-@225", NO_COLUMNS, EXPECTED_ROW },
	{ "all that is beside",
	  "beside 100-200 ledger=300", "time:@240-@260", NO_COLUMNS, EXPECTED_ROW },
	{ "until now",
	  "100-200 200-300 300-400 beside", "time:@250", NO_COLUMNS, EXPECTED_ROW },
	{ "until some seconds ago",
	  "9900-9990 9990-10002", "time:@9000-@9995", NO_COLUMNS, EXPECTED_ROW },
	{ "until more seconds ago",
	  "9900-9990 9990-10002", "time:@9000-@9994", NO_COLUMNS, EXPECTED_ROW },
	{ "the middle is just now",
	  "9900-9990 9990-10010", "time:@9000", NO_COLUMNS, EXPECTED_ROW },
	{ "all of a session without spans",
	  "dropped-1-100 beside ledger=500", "time:@100-@501", NO_COLUMNS, EXPECTED_ROW },
	{ "not its first second",
	  "dropped-1-100 beside ledger=500", "time:@101-@501", NO_COLUMNS,
	  "No such file or directory: samples/current: it has no history to choose a time of; leave out time:, and profile with opcontrol --setup --history=SIZE\n" },
	{ "not its last second",
	  "dropped-1-100 beside ledger=500", "time:@100-@500", NO_COLUMNS,
	  "No such file or directory: samples/current: it has no history to choose a time of; leave out time:, and profile with opcontrol --setup --history=SIZE\n" },
	{ "all of it in one of several times",
	  "dropped-1-100 beside ledger=500", "time:@200-@250,@90-@600", NO_COLUMNS, EXPECTED_ROW },
	{ "what was dropped is of other times",
	  "dropped-1-100 100-200 200-300", "time:@100-@200", NO_COLUMNS, EXPECTED_ROW },
	{ "a part of it was dropped",
	  "dropped-1-100 100-200 200-300", "time:@99-@200", NO_COLUMNS, EXPECTED_ROW },
	{ "no history",
	  "beside", "time:@100-@200", NO_COLUMNS,
	  "No such file or directory: samples/current: it has no history to choose a time of; leave out time:, and profile with opcontrol --setup --history=SIZE\n" },
	{ "when a session without spans began, its file system tells",
	  "beside", "time:@1-@10000", NO_COLUMNS,
	  "No such file or directory: samples/current: it has no history to choose a time of; leave out time:, and profile with opcontrol --setup --history=SIZE\n" },
	{ "all of that was dropped",
	  "dropped-1-100 100-200", "time:@10-@100", NO_COLUMNS,
	  "No such file or directory: time:@10-@100: samples up to 1970-01-01 00:01:40 were dropped; ask for a later time, and keep more with opcontrol --setup --history=SIZE\n" },
	{ "some of that was dropped",
	  "dropped-1-100 180-200", "time:@10-@101", NO_COLUMNS,
	  "No such file or directory: time:@10-@101: the history begins at 1970-01-01 00:03:00; ask for a later time\n" },
	{ "before the history",
	  "100-200 200-300 300-400", "time:@10-@100", NO_COLUMNS,
	  "No such file or directory: time:@10-@100: the history begins at 1970-01-01 00:01:40; ask for a later time\n" },
	{ "just before the history",
	  "100-200 200-300 300-400", "time:@10-@101", NO_COLUMNS,
	  "No such file or directory: time:@10-@101: nothing was profiled then; the history begins at 1970-01-01 00:01:40, see opreport --over-time\n" },
	{ "between spans",
	  "100-200 400-500", "time:@250-@300", NO_COLUMNS,
	  "No such file or directory: time:@250-@300: nothing was profiled then; the history begins at 1970-01-01 00:01:40, see opreport --over-time\n" },
	{ "two times without samples",
	  "100-200 400-500", "time:@250-@300,@310-@320", NO_COLUMNS,
	  "No such file or directory: time:@250-@300: nothing was profiled then; the history begins at 1970-01-01 00:01:40, see opreport --over-time\n" },
	{ "a column of each",
	  "100-200 200-300 300-400 beside ledger=500", "", 0, EXPECTED_ROW },
	{ "as many columns as spans",
	  "100-200 200-300 300-400", "", 3, EXPECTED_ROW },
	{ "fewer columns",
	  "100-200 200-300 300-400 beside ledger=500", "", 2, EXPECTED_ROW },
	{ "one column",
	  "100-200 200-300 300-400", "", 1, EXPECTED_ROW },
	{ "columns of equal length",
	  "100-110 110-120 120-200 200-300", "", 4, EXPECTED_ROW },
	{ "what is left out has no column",
	  "100-200 200-300 300-400 beside", "time:@100-@200", 2, EXPECTED_ROW },
};
/* clang-format on */

TEST(spans_are_chosen_by_time)
{
	for (size_t i = 0; i < NR(spans_rows); i++) {
		const struct spans_row *row = &spans_rows[i];
		struct text text;
		void *folder = NULL;

		assert_int_equal(enter_folder(&folder), 0);
		make_spans_and_more(row->given);
		write_opened_history(text_begin(&text), row);
		text_must_be(&text, row->name, row->wanted);
		assert_int_equal(leave_folder(&folder), 0);
	}
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC", 1);
}
