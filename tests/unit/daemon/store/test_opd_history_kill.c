// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A daemon is killed while it closes a span, and a child while it packs, sums
 * and drops spans: after each of their system calls. In the first tier after
 * one in some. Whoever looks then finds each sample once, and the next daemon
 * goes on from there.
 */
#include "kill_at.h"
#include "tests/unit/opd_history_fixture.h"

#define HISTORY "64M,minute:10m,hour:1d,day:2d"
#define EVERY_IN_FIRST_TIER 13
#define TAKEN 42 /* all samples of make_spans() */
#define DROPPED 3 /* of these, by and by */

/* Two spans that become one hour and are too old, two that become one hour, and
 * samples that are counted just now. */
static void make_spans(struct fixture *f)
{
	static const struct {
		int samples;
		time_t end;
	} spans[] = { { 1, HOUR / 2 },
		      { 2, HOUR },
		      { 4, 3 * DAY + HOUR / 2 },
		      { 8, 3 * DAY + HOUR } };

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		f->opd.store.history.begin =
			(uint64_t)(START + spans[i].end - HOUR / 2);
		take(f, i % 2 ? "/bin/ls" : "/bin/sh", spans[i].samples);
		now = START + spans[i].end;
		close_span(f);
	}
	take(f, "/bin/sh", 20);
	take(f, "/bin/new", 7);
	now += 15 * MINUTE;
}

static void close_and_tend(struct fixture *f)
{
	struct op_diag diag = { "" };

	f->opd.store.history.is_untended = false;
	if (opd_span_close(&f->opd, &diag) || tend(f, &diag))
		_exit(1);
	_exit(0);
}

/* All samples that whoever reads the session finds, and those that were
 * dropped. */
static uint64_t count_all_once(struct fixture *f, uint64_t *dropped)
{
	const char *dir = f->opd.session.current;
	struct op_ledger account;
	struct op_span *spans;
	uint64_t sum = total(f);
	size_t nr;

	assert_int_equal(op_spans_list(dir, &spans, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		char name[OP_SPAN_NAME_MAX], path[8192];
		struct sum one;

		if (!op_span_counts(&spans[i]))
			continue;
		op_span_name(&spans[i], name);
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		one = sum_of(path, NULL, 0);
		sum += one.loose + one.packed;
	}
	free(spans);
	assert_int_equal(op_spans_dropped(dir, NULL, &account, NULL), 0);
	*dropped = account.stored;
	return sum;
}

/* Returns whether the work was done before the kill. */
static bool killed_after(unsigned long nr)
{
	struct fixture *f = new_history(HISTORY);
	uint64_t dropped, found;
	unsigned long done;
	int gate[2], status;
	pid_t pid;

	make_spans(f);
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char byte;

		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0)
			_exit(1);
		close_and_tend(f);
	}
	close(gate[0]);
	done = kill_at(pid, gate[1], nr);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (done < nr)
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));

	found = count_all_once(f, &dropped);
	if (found + dropped != TAKEN)
		fail_msg("after %lu calls: %d samples in files, %d dropped", nr,
			 (int)found, (int)dropped);
	assert_true(dropped == 0 || dropped == DROPPED);

	restart_daemon(f);
	keep(f, HISTORY);
	assert_int_equal(count_all_once(f, &dropped) + dropped, TAKEN);
	assert_int_equal(status_says(f, "taken") + dropped, TAKEN);
	assert_int_equal(status_says(f, "stored") + dropped, TAKEN);
	close_span(f);
	must_tend(f);
	assert_int_equal(count_all_once(f, &dropped), TAKEN - DROPPED);
	assert_int_equal(dropped, DROPPED);
	assert_non_null(strstr(spans_of(f), "259200-262800=12 "));
	free_fixture(f);
	return done < nr;
}

TEST(each_sample_counts_once_after_each_call)
{
	const char *tier = getenv("TIER");
	unsigned long nr = 0, every = tier && !strcmp(tier, "all")
					      ? 1
					      : EVERY_IN_FIRST_TIER;

	while (!killed_after(nr))
		nr += every;
	print_message("killed after each of %lu system calls\n", nr / every);
	assert_true(nr > 100);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
