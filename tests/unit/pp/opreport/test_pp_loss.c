// SPDX-License-Identifier: GPL-2.0-or-later
/* What opreport says of lost samples: each row is two accounts and what is
 * asked for, with the warnings and the reason to fail that must come out. */

#include "tests/unit/pp_fixture.h"

#include "pp/opreport/opreport_loss.h"

#define NONE UINT64_MAX /* no account at all */
#define LOSS(max, hidden_by)                                                   \
	{                                                                      \
		max, #max, hidden_by                                           \
	}
#define WARNING(lost, taken, option)                                           \
	"opreport: warning: " #lost " of " #taken                              \
	" samples were lost; leave out " option " to see why\n"
#define TOO_MANY(percent, taken, max)                                          \
	"= " percent " % of " #taken                                           \
	" samples were lost, more than --max-loss=" #max                       \
	"; profile again with larger buffers or fewer samples"
#define NO_ACCOUNT(max)                                                        \
	"= --max-loss=" #max                                                   \
	": the session has no account of its samples; leave the option out"

static void fill(struct op_ledger *account, uint64_t taken, uint64_t lost)
{
	*account = (struct op_ledger){ .taken = taken, .stored = taken - lost };
	assert_int_equal(op_ledger_lose(account, "no_mm", lost), 0);
}

TEST(losses_are_told_or_refused)
{
	static const struct {
		uint64_t taken, lost;
		bool is_diff;
		uint64_t old_taken, old_lost;
		struct opreport_loss loss;
		const char *outcome;
	} rows[] = {
		/* Nothing is asked for, and the report tells it. */
		{ 100, 100, false, 0, 0, LOSS(-1, NULL), "" },
		{ NONE, 0, false, 0, 0, LOSS(-1, NULL), "" },
		/* The report hides it. */
		{ 100, 0, false, 0, 0, LOSS(-1, "--format"), "" },
		{ NONE, 0, false, 0, 0, LOSS(-1, "--format"), "" },
		{ 100, 3, false, 0, 0, LOSS(-1, "--format"),
		  WARNING(3, 100, "--format") },
		{ 100, 3, false, 100, 4, LOSS(-1, "--no-header"),
		  WARNING(3, 100, "--no-header") },
		{ 100, 3, true, 50, 4, LOSS(-1, "--no-header"),
		  WARNING(3, 100, "--no-header")
			  WARNING(4, 50, "--no-header") },
		{ 100, 0, true, 50, 4, LOSS(-1, "--no-header"),
		  WARNING(4, 50, "--no-header") },
		/* A limit. */
		{ 0, 0, false, 0, 0, LOSS(0, NULL), "" },
		{ 100, 0, false, 0, 0, LOSS(0, NULL), "" },
		{ 200, 3, false, 0, 0, LOSS(1.5, NULL), "" },
		{ 200, 4, false, 0, 0, LOSS(1.5, NULL),
		  TOO_MANY("2", 200, 1.5) },
		{ 3, 1, false, 0, 0, LOSS(33, NULL), TOO_MANY("33.33", 3, 33) },
		{ 1, 1, false, 0, 0, LOSS(100, NULL), "" },
		{ NONE, 0, false, 0, 0, LOSS(100, NULL), NO_ACCOUNT(100) },
		/* A limit for both sides of a comparison. */
		{ 100, 1, true, 100, 2, LOSS(1, NULL), TOO_MANY("2", 100, 1) },
		{ 100, 1, true, 100, 1, LOSS(1, NULL), "" },
		{ 100, 1, true, NONE, 0, LOSS(1, NULL), NO_ACCOUNT(1) },
		{ 100, 1, false, NONE, 0, LOSS(1, NULL), "" },
		/* The first side that fails ends it; a warning comes first. */
		{ 100, 2, true, 100, 3, LOSS(1, "--format"),
		  WARNING(2, 100, "--format") TOO_MANY("2", 100, 1) },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_ledger account, old;
		struct pp_report report = { .old.made = rows[i].is_diff };
		struct op_diag diag = { "" };
		struct text t;
		FILE *out = text_begin(&t);
		char row[32];
		int err;

		if (rows[i].taken != NONE) {
			fill(&account, rows[i].taken, rows[i].lost);
			report.account = &account;
		}
		if (rows[i].old_taken != NONE) {
			fill(&old, rows[i].old_taken, rows[i].old_lost);
			report.old.account = &old;
		}
		err = opreport_check_loss(&rows[i].loss, &report, out, &diag);
		if (err)
			fprintf(out, "= %s", diag.text);
		assert_true(err == 0 || err == -ENODATA || err == -EOVERFLOW);
		snprintf(row, sizeof(row), "row %zu", i);
		text_must_be(&t, row, rows[i].outcome);
	}
}
