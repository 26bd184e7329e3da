/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPD_HISTORY_FIXTURE_H
#define TESTS_UNIT_OPD_HISTORY_FIXTURE_H

/*
 * What the tests of a history share: a clock that they put forward, spans that
 * are closed and tended, and a look at all of them. The zone is UTC.
 */

#include "daemon/opd_command.h"
#include "daemon/opd_span.h"
#include "daemon/store/opd_history.h"
#include "opd_pack_fixture.h"

#include <stdlib.h>

#include "libop/session/op_span.h"
#include "libop/files/op_walk.h"

#define MINUTE 60
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Midnight of a day in UTC, which is the zone of this test. */
#define START ((time_t)1790726400)

static time_t now;

static time_t get_date(void)
{
	return now;
}

static time_t get_seconds(void)
{
	return now;
}

static const struct op_clock clock_of_test = { .seconds = get_seconds,
					       .date = get_date };

/* What a loop would have; commands read what there is first. */
static void make_room_to_read(struct fixture *f)
{
	if (!f->opd.loop.words)
		f->opd.loop.words = malloc(OPD_CHUNK_WORDS * sizeof(uint64_t));
	assert_non_null(f->opd.loop.words);
}

__attribute__((unused)) static void keep(struct fixture *f, const char *history)
{
	struct op_history limits;
	struct op_diag diag = { "" };

	if (op_history_parse(&limits, history, &diag))
		fail_msg("%s", diag.text);
	make_room_to_read(f);
	f->opd.store.clock = &clock_of_test;
	opd_history_init(&f->opd.store, &limits);
}

__attribute__((unused)) static struct fixture *new_history(const char *history)
{
	struct fixture *f = new_replay();

	now = START;
	keep(f, history);
	f->opd.store.history.begin = (uint64_t)START;
	return f;
}

__attribute__((unused)) static void close_span(struct fixture *f)
{
	struct op_diag diag = { "" };

	/* As if a child had been at work. */
	f->opd.store.history.is_untended = false;
	if (opd_span_close(&f->opd, &diag))
		fail_msg("%s", diag.text);
}

__attribute__((unused)) static int tend(struct fixture *f, struct op_diag *diag)
{
	diag->text[0] = '\0';
	return opd_history_tend(&f->opd.store, f->opd.session.current,
				OPD_PACKER_NO_WAIT, diag);
}

__attribute__((unused)) static void must_tend(struct fixture *f)
{
	struct op_diag diag;

	if (tend(f, &diag))
		fail_msg("%s", diag.text);
}

/* "BEGIN-END=SAMPLES " of each span that counts, times from START on; "+" for
 * what is closing, and "*" for one whose ledger says otherwise. */
__attribute__((unused)) static const char *spans_of(struct fixture *f)
{
	static char text[8192];
	const char *dir = f->opd.session.current;
	struct op_span *spans;
	size_t nr, len = 0;

	text[0] = '\0';
	assert_int_equal(op_spans_list(dir, &spans, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		char name[OP_SPAN_NAME_MAX], path[8192];
		struct op_ledger ledger;
		struct sum sum;

		if (!op_span_counts(&spans[i]))
			continue;
		op_span_name(&spans[i], name);
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		sum = sum_of(path, NULL, 0);
		snprintf(path, sizeof(path), "%s/%s/ledger", dir, name);
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%lld-%lld=%llu",
			spans[i].state == OP_SPAN_CLOSING ? "+" : "",
			(long long)spans[i].begin - START,
			(long long)spans[i].end - START,
			(unsigned long long)sum.loose + sum.packed);
		if (op_ledger_read(&ledger, path, NULL) ||
		    ledger.stored != sum.loose + sum.packed)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"*");
		len += (size_t)snprintf(text + len, sizeof(text) - len, " ");
	}
	free(spans);
	return text;
}

__attribute__((unused)) static uint64_t status_says(struct fixture *f,
						    const char *key)
{
	char request[] = "status", line[64];
	struct opd_answer *answer = calloc(1, sizeof(*answer));
	struct op_diag diag = { "" };
	unsigned long long nr = 0;
	const char *found;

	assert_non_null(answer);
	make_room_to_read(f);
	assert_int_equal(opd_command_run(&f->opd, request, answer, &diag), 0);
	snprintf(line, sizeof(line), " %s = ", key);
	found = strstr(answer->text, line);
	assert_non_null(found);
	nr = strtoull(found + strlen(line), NULL, 10);
	free(answer);
	return nr;
}

#endif /* TESTS_UNIT_OPD_HISTORY_FIXTURE_H */
