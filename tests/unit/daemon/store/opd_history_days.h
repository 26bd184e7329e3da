/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPD_HISTORY_DAYS_H
#define TESTS_UNIT_OPD_HISTORY_DAYS_H

/*
 * Days of a history, in spans of ten minutes with a known number of samples
 * each. Whatever is brought to the disk or renamed, the bytes that the session
 * takes just then are looked at: rename() and fsync() take the place of the C
 * library's in this program. That nothing is really synced makes it fast.
 */

#include <sys/syscall.h>

#include "tests/unit/opd_history_fixture.h"

#include "libop/files/op_walk.h"

#define SLOT 600 /* seconds of a span that is closed */

static struct watch {
	const char *dir; /* NULL: nothing is watched */
	unsigned int every; /* so many of the steps are not looked at */
	unsigned int steps;
	uint64_t most; /* bytes that were seen */
} watch;

static int add_up_blocks(const struct op_walk_entry *entry, void *ctx)
{
	if (entry->kind == OP_WALK_FILE || entry->kind == OP_WALK_FOLDER)
		*(uint64_t *)ctx += (uint64_t)entry->st->st_blocks * 512;
	return 0;
}

static void look_at_bytes(void)
{
	uint64_t bytes = 0;

	if (!watch.dir || watch.steps++ % watch.every)
		return;
	assert_int_equal(op_walk(watch.dir, add_up_blocks, &bytes), 0);
	watch.most = bytes > watch.most ? bytes : watch.most;
}

int fsync(int fd)
{
	(void)fd;
	look_at_bytes();
	return 0;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int rename(const char *from, const char *to)
{
	look_at_bytes();
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int places; /* in each program; more of them take more of the disk */

/* How many samples come in the ten minutes that begin at @at. */
static int samples_at(time_t at)
{
	return places + (int)(at / SLOT % 7);
}

/* They are in @path, at as many places as there are. */
static void take_slot(struct fixture *f, const char *path)
{
	struct words *w = calloc(1, sizeof(*w));
	static uint64_t cookie = 1 << 20;

	assert_non_null(w);
	put_cookie(w, ++cookie, path);
	put_cpu(w, 0);
	put_task(w, 1, 1, cookie);
	put_image(w, cookie);
	put_user(w);
	for (int i = 0; i < samples_at(now); i++) {
		/* No regular distance, which packs would have for nothing. */
		uint64_t noise = U(i + now) * U(0x9e3779b97f4a7c15);

		noise = (noise ^ noise >> 29) * U(0xbf58476d1ce4e5b9) >> 44;
		put_sample(w, U(i % places) << 20 | noise, 0);
	}
	run_words(f, w);
	free(w);
}

static uint64_t samples_between(uint64_t begin, uint64_t end)
{
	uint64_t nr = 0;

	for (time_t at = (time_t)begin; at < (time_t)end; at += SLOT)
		nr += (uint64_t)samples_at(at);
	return nr;
}

/* What a span of that length is at most old, and at least. */
static void check_span(const struct op_history *limits,
		       const struct op_span *span)
{
	static const uint64_t len_of[] = { SLOT, HOUR, DAY };
	uint64_t len = span->end - span->begin;
	time_t age = now - (time_t)span->end;
	unsigned int last = limits->nr - 1;

	assert_true(len <= DAY);
	assert_true(age < (time_t)limits->levels[last].keep);
	for (unsigned int i = 0; i < last; i++) {
		const struct op_history_level *level = &limits->levels[i];
		uint64_t next = len_of[limits->levels[i + 1].grain];

		/* No coarser before its time, and no finer after that. */
		if (age < (time_t)level->keep)
			assert_true(len <= len_of[level->grain]);
		if (age >= (time_t)(level->keep + next))
			assert_true(len == next || i + 1 < last);
	}
}

/* Spans follow on each other without a gap up to now, each has the samples of
 * its time, and all that is not there was dropped. */
static void check_days(struct fixture *f)
{
	const struct opd_history *history = &f->opd.store.history;
	const char *dir = f->opd.session.current;
	uint64_t end = (uint64_t)START, kept = 0;
	struct op_span *spans;
	size_t nr;

	assert_int_equal(op_spans_list(dir, &spans, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		char name[OP_SPAN_NAME_MAX], path[8192];
		struct sum sum;

		assert_int_equal(spans[i].begin, end);
		end = spans[i].end;
		if (spans[i].state == OP_SPAN_DROPPED)
			continue;
		assert_true(op_span_counts(&spans[i]));
		op_span_name(&spans[i], name);
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		sum = sum_of(path, NULL, 0);
		assert_int_equal(sum.loose, 0);
		assert_int_equal(sum.packed,
				 samples_between(spans[i].begin, end));
		kept += sum.packed;
		check_span(&history->limits, &spans[i]);
	}
	free(spans);
	assert_int_equal(end, now);
	assert_int_equal(kept + history->dropped_account.stored,
			 samples_between((uint64_t)START, end));
	assert_int_equal(history->dropped_account.stored,
			 samples_between((uint64_t)START,
					 history->dropped.end
						 ?: (uint64_t)START));
	assert_int_equal(status_says(f, "stored"), kept);
	if (history->dropped.end)
		assert_int_equal(status_says(f, "dropped"),
				 history->dropped_account.stored);
}

/* @nr days with @history; one in @every steps is looked at. Returns the share
 * of the bytes that were allowed and taken, in percent. */
static unsigned int run_days(const char *history, unsigned int nr,
			     int nr_places, unsigned int every)
{
	struct fixture *f = new_history(history);
	uint64_t bytes = f->opd.store.history.limits.bytes;

	places = nr_places;
	watch = (struct watch){ .dir = f->opd.session.current, .every = every };
	for (unsigned int i = 0; i < nr * (DAY / SLOT); i++) {
		char path[32];

		snprintf(path, sizeof(path), "/bin/program-%u", i % 5);
		take_slot(f, path);
		now += SLOT;
		close_span(f);
		must_tend(f);
		opd_history_tended(&f->opd.store, 0);
		assert_false(f->opd.store.history.is_untended);
		if (i % 211 == 210)
			check_days(f);
	}
	check_days(f);
	assert_true(watch.most <= bytes);
	watch.dir = NULL;
	free_fixture(f);
	return (unsigned int)(100 * watch.most / bytes);
}

#endif /* TESTS_UNIT_OPD_HISTORY_DAYS_H */
