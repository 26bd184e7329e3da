// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of spans, which of them count, and the account of a session with a
 * history. */

#include "tests/unit/op_fixture.h"

#include <sys/stat.h>

#include "libop/session/op_span.h"

TEST(test_names)
{
	static const struct {
		const char *name;
		struct op_span span; /* end 0: no span */
	} rows[] = {
		{ ".span-1-2", { 1, 2, OP_SPAN_CLOSED, false } },
		{ ".span-0-1", { 0, 1, OP_SPAN_CLOSED, false } },
		{ ".closing-10-20", { 10, 20, OP_SPAN_CLOSING, false } },
		{ ".making-9-9223372036",
		  { 9, 9223372036, OP_SPAN_MAKING, false } },
		{ ".making-9-9223372037", { 0 } },
		{ ".span-99999999999999999999-1", { 0 } },
		{ ".span-2-2", { 0 } },
		{ ".span-3-2", { 0 } },
		{ ".span-01-2", { 0 } },
		{ ".span-1-02", { 0 } },
		{ ".span--1-2", { 0 } },
		{ ".span-1--2", { 0 } },
		{ ".span-+1-2", { 0 } },
		{ ".span-1-2.bad", { 0 } },
		{ ".span-1", { 0 } },
		{ ".span-", { 0 } },
		{ "span-1-2", { 0 } },
		{ ".packing-1", { 0 } },
	};
	char name[OP_SPAN_NAME_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_span span = { 77, 78, OP_SPAN_MAKING, true };

		if (op_span_parse(rows[i].name, &span) != !!rows[i].span.end)
			fail_msg("%s", rows[i].name);
		if (!rows[i].span.end) {
			assert_int_equal(span.begin, 77);
			continue;
		}
		assert_int_equal(span.begin, rows[i].span.begin);
		assert_int_equal(span.end, rows[i].span.end);
		assert_int_equal(span.state, rows[i].span.state);
		assert_false(span.is_replaced);
		op_span_name(&span, name);
		assert_string_equal(name, rows[i].name);
	}
}

static void make_span(const char *name, const char *ledger)
{
	char path[128];

	assert_int_equal(mkdir(name, 0755), 0);
	snprintf(path, sizeof(path), "%s/ledger", name);
	if (ledger)
		write_text(path, ledger);
}

#define LEDGER(taken, stored, lost)                                            \
	"source = test\ntaken = " taken "\nstored = " stored                   \
	"\npending = 0\nlost.lost_at_exit = " lost "\n"

FOLDER_TEST(test_list_and_account)
{
	static const struct {
		uint64_t begin, end;
		bool counts;
	} expected[] = {
		{ 10, 30, true },  { 10, 20, false },	{ 20, 30, false },
		{ 30, 40, true },  { 40, 50, true },	{ 60, 70, true },
		{ 60, 65, false }, { 100, 900, false },
	};
	struct op_diag diag = { "" };
	struct op_ledger ledger;
	struct op_span *spans;
	size_t nr;

	assert_int_equal(op_session_account(".", &ledger, &diag), -ENOENT);
	make_span(".span-60-70", LEDGER("7", "4", "3"));
	make_span(".span-60-65", LEDGER("5", "5", "0"));
	make_span(".closing-40-50", NULL);
	make_span(".span-10-20", LEDGER("100", "100", "0"));
	make_span(".span-20-30", LEDGER("100", "100", "0"));
	make_span(".span-10-30", LEDGER("21", "20", "1"));
	make_span(".making-100-900", LEDGER("1000", "1000", "0"));
	make_span(".span-30-40", LEDGER("2", "2", "0"));
	make_span("{root}", NULL);
	assert_int_equal(op_spans_list(".", &spans, &nr), 0);
	assert_int_equal(nr, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(spans[i].begin, expected[i].begin);
		assert_int_equal(spans[i].end, expected[i].end);
		assert_int_equal(op_span_counts(&spans[i]), expected[i].counts);
	}
	free(spans);
	/* The session itself may have nothing, or more. */
	assert_int_equal(op_session_account(".", &ledger, &diag), 0);
	assert_int_equal(ledger.taken, 30);
	write_text("ledger", LEDGER("5", "5", "0"));
	assert_int_equal(op_session_account(".", &ledger, &diag), 0);
	assert_int_equal(ledger.taken, 35);
	assert_int_equal(ledger.stored, 31);
	assert_int_equal(op_ledger_lost(&ledger), 4);
	write_text(".span-30-40/ledger", "nonsense");
	assert_int_not_equal(op_session_account(".", &ledger, &diag), 0);
	assert_reason(&diag, ".span-30-40/ledger");
}

/* They do not count from the instant when their account is there. */
FOLDER_TEST(test_dropped)
{
	struct op_diag diag = { "" };
	struct op_ledger ledger;
	struct op_span *spans, span;
	size_t nr;

	make_span(".span-10-20", LEDGER("7", "7", "0"));
	make_span(".span-20-30", LEDGER("5", "4", "1"));
	make_span(".span-30-40", LEDGER("3", "3", "0"));
	assert_int_equal(op_spans_dropped(".", &span, &ledger, &diag), 0);
	assert_int_equal(span.end, 0);
	assert_int_equal(ledger.stored, 0);
	make_span(".dropped-10-20", LEDGER("7", "7", "0"));
	make_span(".dropped-10-30", LEDGER("12", "11", "1"));
	assert_int_equal(op_spans_list(".", &spans, &nr), 0);
	assert_int_equal(nr, 5);
	assert_int_equal(spans[0].state, OP_SPAN_DROPPED);
	for (size_t i = 0; i < nr; i++) {
		bool is_last = spans[i].begin == 30;
		bool is_whole =
			spans[i].state == OP_SPAN_DROPPED && spans[i].end == 30;

		assert_int_equal(op_span_counts(&spans[i]), is_last);
		assert_int_equal(spans[i].is_replaced, !is_last && !is_whole);
	}
	free(spans);
	assert_int_equal(op_spans_dropped(".", &span, &ledger, &diag), 0);
	assert_int_equal(span.begin, 10);
	assert_int_equal(span.end, 30);
	assert_int_equal(ledger.taken, 12);
	assert_int_equal(op_session_account(".", &ledger, &diag), 0);
	assert_int_equal(ledger.taken, 3);
	write_text(".dropped-10-30/ledger", "nonsense");
	assert_int_not_equal(op_spans_dropped(".", NULL, &ledger, &diag), 0);
	assert_reason(&diag, ".dropped-10-30/ledger");
}

FOLDER_TEST(test_no_folder)
{
	struct op_ledger ledger = { .taken = 3 };
	struct op_diag diag = { "" };
	struct op_span *spans;
	size_t nr;

	assert_int_equal(op_spans_list("absent", &spans, &nr), -ENOENT);
	assert_null(spans);
	assert_int_equal(op_spans_account("absent", &ledger, &diag), 0);
	assert_int_equal(ledger.taken, 3);
}
