// SPDX-License-Identifier: GPL-2.0-or-later
/* What optop says around its rows: of the session, the daemon, losses, and what
 * a page is narrowed to; nothing was read yet. */

#include "tests/unit/pp_fixture.h"

#include "pp/optop/optop_draw.h"
#include "pp/optop/optop_keys.h"

/* A state in words: what differs from a screen that was just opened. */
struct head_row {
	const char *name;
	size_t columns; /* 0: 100 */
	enum optop_daemon daemon;
	enum optop_since since;
	unsigned int interval;
	bool is_paused;
	uint64_t taken, lost; /* 0 taken: no account */
	const char *cgroup;
	int64_t tgid, tid; /* 0: any */
	const char *diag; /* of the daemon */
	const char *why_not; /* the last reading failed */
	const char *wanted;
};

static void set_head(struct optop_state *s, const struct head_row *row)
{
	struct optop_target *target = &optop_page(s)->query.target;

	s->daemon = row->daemon;
	s->since = row->since;
	s->interval = row->interval;
	s->is_paused = row->is_paused;
	if (row->diag)
		snprintf(s->daemon_diag.text, sizeof(s->daemon_diag.text), "%s",
			 row->diag);
	if (row->why_not)
		snprintf(optop_pane(s)->why_not.text,
			 sizeof(optop_pane(s)->why_not.text), "%s",
			 row->why_not);
	s->has_account = row->taken != 0;
	s->account.taken = row->taken;
	s->account.stored = row->taken - row->lost;
	if (row->lost)
		assert_int_equal(
			op_ledger_lose(&s->account, "no_mm", row->lost), 0);
	if (row->cgroup)
		target->cgroup = strdup(row->cgroup);
	if (row->tgid)
		target->tgid = row->tgid;
	if (row->tid)
		target->tid = row->tid;
}

static void check_heads(const struct head_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct optop_state s;
		struct optop_grid grid;
		struct text t;

		assert_int_equal(optop_state_init(&s, "here", OPTOP_IMAGES), 0);
		set_head(&s, &rows[i]);
		s.nr_lines = 2;
		assert_int_equal(optop_grid_init(&grid, 2 + OPTOP_OTHER_LINES,
						 rows[i].columns ?: 100),
				 0);
		optop_draw(&grid, &s);
		optop_grid_write(&grid, text_begin(&t));
		optop_grid_release(&grid);
		optop_state_release(&s);
		text_must_be(&t, rows[i].name, rows[i].wanted);
	}
}

TEST(daemons_are_told)
{
	static const struct head_row rows[] = {
		{ .name = "no daemon",
		  .daemon = OPTOP_NO_DAEMON,
		  .wanted = EXPECTED_ROW },
		{ .name = "a daemon",
		  .daemon = OPTOP_ANSWERS,
		  .wanted = EXPECTED_ROW },
		{ .name = "one that refuses",
		  .daemon = OPTOP_REFUSES,
		  .wanted = EXPECTED_ROW },
		{ .name = "one that is silent",
		  .daemon = OPTOP_SILENT,
		  .wanted = EXPECTED_ROW },
		{ .name = "one that fails",
		  .daemon = OPTOP_FAILS,
		  .diag = "the disk is full",
		  .wanted = EXPECTED_ROW },
		{ .name = "one that has ended",
		  .daemon = OPTOP_ENDED,
		  .wanted = EXPECTED_ROW },
		{ .name = "one that was killed",
		  .daemon = OPTOP_KILLED,
		  .wanted = EXPECTED_ROW },
	};

	check_heads(rows, NR(rows));
}

TEST(times_are_told)
{
	static const struct head_row rows[] = {
		{ .name = "every second",
		  .interval = 1,
		  .wanted = EXPECTED_ROW },
		{ .name = "since the last refresh, paused",
		  .since = OPTOP_REFRESH,
		  .interval = 1,
		  .is_paused = true,
		  .wanted = EXPECTED_ROW },
		{ .name = "since a mark that is not there yet",
		  .since = OPTOP_MARK,
		  .wanted = EXPECTED_ROW },
		{ .name = "narrow",
		  .columns = 59,
		  .since = OPTOP_MARK,
		  .wanted = EXPECTED_ROW },
		/* The session has what is left, if that is some columns. */
		{ .name = "not so narrow",
		  .columns = 60,
		  .since = OPTOP_REFRESH,
		  .wanted = EXPECTED_ROW },
		{ .name = "a column more",
		  .columns = 61,
		  .since = OPTOP_REFRESH,
		  .wanted = EXPECTED_ROW },
		{ .name = "very narrow",
		  .columns = 30,
		  .interval = 5,
		  .wanted = EXPECTED_ROW },
	};

	check_heads(rows, NR(rows));
}

TEST(losses_are_told)
{
	static const struct head_row rows[] = {
		{ .name = "none", .taken = 100, .wanted = EXPECTED_ROW },
		{ .name = "some",
		  .taken = 200,
		  .lost = 3,
		  .wanted = EXPECTED_ROW },
		{ .name = "no room for the account",
		  .columns = 62,
		  .taken = 200,
		  .lost = 3,
		  .wanted = EXPECTED_ROW },
	};

	check_heads(rows, NR(rows));
}

TEST(what_a_page_is_of_is_told)
{
	static const struct head_row rows[] = {
		{ .name = "a process", .tgid = 7, .wanted = EXPECTED_ROW },
		{ .name = "a thread of it",
		  .tgid = 7,
		  .tid = 8,
		  .wanted = EXPECTED_ROW },
		{ .name = "a cgroup",
		  .cgroup = "/system.slice/web.service",
		  .wanted = EXPECTED_ROW },
		{ .name = "no known cgroup",
		  .cgroup = "",
		  .wanted = EXPECTED_ROW },
	};

	check_heads(rows, NR(rows));
}

/* Why there are no rows, cut between words, or in a word that is too long. */
TEST(reasons_are_cut_between_words)
{
	static const struct head_row rows[] = {
		{ .name = "as long as a line",
		  .columns = 24,
		  .why_not = "it is 24 columns long ..",
		  .wanted = EXPECTED_ROW },
		{ .name = "one column more",
		  .columns = 24,
		  .why_not = "it is 25 columns long ...",
		  .wanted = EXPECTED_ROW },
		{ .name = "a blank where the line ends",
		  .columns = 24,
		  .why_not = "there are 24 columns for it and it is",
		  .wanted = EXPECTED_ROW },
		{ .name = "one long word",
		  .columns = 24,
		  .why_not = "/usr/share/some/folder/and/more",
		  .wanted = EXPECTED_ROW },
	};

	check_heads(rows, NR(rows));
}
