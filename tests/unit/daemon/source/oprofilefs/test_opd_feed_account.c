// SPDX-License-Identifier: GPL-2.0-or-later
/* What the stream of a feed says of lost samples and of the times of events. */

#include "feed_rig.h"

/* clang-format off */
static const struct row rows[] = {
	/* Only what has changed is told: of losses the more, of all the sum. */
	{ "what_was_taken_and_lost", NULL,
	  "read; account 10 3; ask; read; account 12 3; ask; read;"
	  "account 12 5; ask; read; ask; read",
	  EXPECTED_ROW },
	/* What was told stays told. */
	{ "less_than_was_told", NULL,
	  "read; account 10 3; ask; read; account 8 2; ask; read;"
	  "account 10 3; ask; read; account 8 2; ask; read;"
	  "account 11 4; ask; read",
	  EXPECTED_ROW },
	{ "an_account_that_cannot_be_read", NULL,
	  "account 10 3; no-account; read; ask; read; log",
	  EXPECTED_ROW },
	/* ---- times of events, since they were told last ---- */
	{ "times_grow", NULL,
	  "read; counted 100 50 7 2; ask; read; counted 300 60 9 2; ask; read;"
	  "ask; read",
	  EXPECTED_ROW },
	/* The kernel reads the two clocks one after the other. */
	{ "no_longer_than_enabled", NULL,
	  "read; counted 100 150 7 2; ask; read; counted 200 300 7 2; ask; read",
	  EXPECTED_ROW },
	/* As long as one of them is less than before, nothing is told. */
	{ "times_that_shrink", NULL,
	  "read; counted 100 50 7 2; ask; read; counted 200 49 8 3; ask; read;"
	  "counted 200 51 6 3; ask; read; counted 200 51 8 1; ask; read;"
	  "counted 100 51 8 3; ask; read; counted 101 50 7 2; ask; read",
	  EXPECTED_ROW },
	{ "periods_grow", NULL,
	  "read; periods 2 30 40; ask; read; periods 3 45 60; ask; read; ask;"
	  "read",
	  EXPECTED_ROW },
	/* The second of three is not set. */
	{ "times_of_several_events", NULL,
	  "three-events; read; counted 100 50 7 2; ask; read; uncounted; ask;"
	  "read",
	  EXPECTED_ROW },
};
/* clang-format on */

TEST_ROWS(test_account_row, rows)
{
	check_row(*state, run_feed);
}
