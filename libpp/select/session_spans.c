// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The history of a session: spans are folders in that of the session, and the
 * lock of that keeps them as they are. So it is open even where its own samples
 * are not asked for.
 *
 * A range of time has the spans whose middle is in it. So two ranges that
 * follow on each other share no span, and what they have adds up. Where no
 * middle is in the range, because the history is coarser there, it has the
 * spans that are at some quarter of it, and the report says so.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/session/op_span.h"
#include "libpp/select/sample_list.h"
#include "libpp/select/session_search.h"
#include "libpp/select/slices.h"

#define LEDGER_PERIOD 900 /* seconds: more than a daemon lets pass */
#define NOW_LASTS                                                              \
	(5 * PP_TIME_NS) /* more than a program takes to come here             \
			  */

/* A span, what is beside them, or a slice of a time line. */
struct choice {
	struct op_span span;
	int64_t begin, end; /* ns since the epoch */
	bool is_open;
	bool is_chosen;
};

/* ---- when ------------------------------------------------------------------
 */

/* Until when the samples beside the spans may be: the ledger is written last,
 * and while a daemon runs every few minutes. */
static uint64_t end_of_open_span(const char *path, time_t now)
{
	char ledger[PATH_MAX];
	struct stat st;
	int len = snprintf(ledger, sizeof(ledger), "%s/ledger", path);

	if (len < 0 || (size_t)len >= sizeof(ledger) || stat(ledger, &st) ||
	    st.st_mtime < 0 || st.st_mtime > now - LEDGER_PERIOD)
		return (uint64_t)now;
	return (uint64_t)st.st_mtime + 1;
}

/* Samples that are there are no older than their folder; 0: not known. */
static uint64_t begin_of_session(const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &st) ||
	    !(st.stx_mask & STATX_BTIME) || st.stx_btime.tv_sec <= 0)
		return 0;
	return (uint64_t)st.stx_btime.tv_sec;
}

/* Whether there is anything beside the spans. */
static bool has_samples_beside(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	struct op_span span;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = op_session_holds_samples(entry->d_name) &&
			!op_span_parse(entry->d_name, &span);
	if (folder)
		closedir(folder);
	return found;
}

/* ---- choosing --------------------------------------------------------------
 */

static bool has_middle(const struct pp_time_range *range,
		       const struct choice *choice)
{
	int64_t middle = choice->begin + (choice->end - choice->begin) / 2;

	return middle >= range->from && middle < range->to;
}

/* The time that @choice and @range have together, ns. */
static uint64_t overlap_of(const struct pp_time_range *range,
			   const struct choice *choice)
{
	int64_t from = choice->begin, to = choice->end;

	from = from > range->from ? from : range->from;
	to = to < range->to ? to : range->to;
	return to > from ? (uint64_t)(to - from) : 0;
}

/* A quarter of a range. */
static uint64_t much_of(const struct pp_time_range *range)
{
	return ((uint64_t)(range->to - range->from) + 3) / 4;
}

/* Whether a part of @choice makes up much of @range. */
static bool is_touched(const struct pp_time_range *range,
		       const struct choice *choice)
{
	return overlap_of(range, choice) >= much_of(range);
}

/* Whether @choice has so much that is not of @range as to be worth a word. */
static bool is_coarse(const struct pp_time_range *range,
		      const struct choice *choice)
{
	return (uint64_t)(choice->end - choice->begin) -
		       overlap_of(range, choice) >
	       much_of(range);
}

/* Returns whether @range has something of @all. */
static bool choose_by(const struct pp_time_range *range, struct choice *all,
		      size_t nr, struct pp_history *history,
		      bool (*agrees)(const struct pp_time_range *range,
				     const struct choice *choice))
{
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		if (!agrees(range, &all[i]))
			continue;
		all[i].is_chosen = true;
		history->is_coarse |= is_coarse(range, &all[i]);
		found = true;
	}
	return found;
}

/* Note what was asked for, of a session from @begin to @end. */
static void note_asked(struct pp_history *history, struct pp_time_range range,
		       int64_t begin, int64_t end, time_t now)
{
	pp_time_range_resolve(&range, begin, end, now * PP_TIME_NS);
	if (!history->asked_end || (uint64_t)range.from < history->asked_begin)
		history->asked_begin = (uint64_t)range.from;
	if ((uint64_t)range.to > history->asked_end)
		history->asked_end = (uint64_t)range.to;
}

/* The range of @item, of a session from @begin to @end. One that ends now has
 * what is counted just now: the clock has gone on since its words were read. */
static struct pp_time_range range_of(const struct pp_session_search *search,
				     const struct pp_spec_item *item,
				     int64_t begin, int64_t end)
{
	struct pp_time_range range = item->range;
	int64_t now = search->now * PP_TIME_NS;

	if (range.to_base == PP_TIME_AGE && range.to >= now - NOW_LASTS)
		range.to = now + PP_TIME_NS;
	pp_time_range_resolve(&range, begin, end, now);
	return range;
}

/* Choose what is asked for of @all, which end at @end. */
static void choose_spans(struct pp_session_search *search, struct choice *all,
			 size_t nr, int64_t end)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	struct pp_history *history = &search->sessions->history;

	for (size_t i = 0; i < nr && !times->nr; i++)
		all[i].is_chosen = true;
	for (size_t i = 0; i < times->nr; i++) {
		struct pp_time_range range =
			range_of(search, &times->items[i], all[0].begin, end);

		note_asked(history, times->items[i].range, all[0].begin, end,
			   search->now);
		if (!choose_by(&range, all, nr, history, has_middle))
			choose_by(&range, all, nr, history, is_touched);
	}
}

/* The choice of the samples beside the spans, which end at @last; 0: there are
 * no spans. */
static struct choice open_choice(const char *path, uint64_t last, time_t now)
{
	struct choice open = {
		.span.begin = last ?: begin_of_session(path),
		.span.end = end_of_open_span(path, now),
		.is_open = true,
	};

	if (open.span.end <= open.span.begin)
		open.span.end = open.span.begin + 1;
	return open;
}

static void set_choice_times(struct choice *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		all[i].begin = (int64_t)all[i].span.begin * PP_TIME_NS;
		all[i].end = (int64_t)all[i].span.end * PP_TIME_NS;
	}
}

/* All that is there, from the earliest; what is beside the spans is the last,
 * if there is anything, or no span. free() *@out. Returns how many, or -ENOMEM
 * or -errno of the folder. */
static ssize_t list_choices(struct pp_session_search *search, const char *path,
			    struct choice **out)
{
	struct op_span *spans;
	size_t nr, nr_all = 0;
	uint64_t last = 0;
	int err = op_spans_list(path, &spans, &nr);

	*out = NULL;
	for (size_t i = 0; i < nr && !err; i++) {
		if (spans[i].state == OP_SPAN_DROPPED && !spans[i].is_replaced)
			last = spans[i].end;
		if (!op_span_counts(&spans[i]))
			continue;
		last = spans[i].end;
		if (op_array_reserve(out, nr_all, 1))
			err = -ENOMEM;
		else
			(*out)[nr_all++] = (struct choice){ .span = spans[i] };
	}
	free(spans);
	if (!err && (!nr_all || has_samples_beside(path))) {
		if (op_array_reserve(out, nr_all, 1))
			err = -ENOMEM;
		else
			(*out)[nr_all++] = open_choice(path, last, search->now);
		/* The folder of an archive is as old as the copy, or the sum.
		 */
		if (nr_all && search->archive && !last)
			(*out)[nr_all - 1].span.begin = 0;
	}
	set_choice_times(*out, nr_all);
	return err ? err : (ssize_t)nr_all;
}

/* ---- opening ---------------------------------------------------------------
 */

static int open_span(struct pp_session_search *search, const char *path,
		     const char *name, const struct op_span *span)
{
	struct pp_sessions *sessions = search->sessions;
	struct pp_session *opened;
	char folder[OP_SPAN_NAME_MAX];
	int err;

	op_span_name(span, folder);
	path = op_arena_printf(search->arena, "%s/%s", path, folder);
	err = pp_session_open(search, path, name);
	if (err)
		return op_diag_set(search->diag, err, "%s: %s", path ?: folder,
				   strerror(-err));
	opened = &sessions->list[sessions->nr - 1];
	opened->begin = span->begin * PP_TIME_NS;
	opened->end = span->end * PP_TIME_NS;
	opened->is_span = true;
	return 0;
}

static void note_time(struct pp_history *history, const struct choice *choice)
{
	history->nr_spans++;
	if (!history->end || (uint64_t)choice->begin < history->begin)
		history->begin = (uint64_t)choice->begin;
	if ((uint64_t)choice->end > history->end)
		history->end = (uint64_t)choice->end;
}

static int open_chosen_spans(struct pp_session_search *search,
			     const struct choice *all, size_t nr)
{
	struct pp_sessions *sessions = search->sessions;
	size_t at = sessions->nr - 1;
	const char *path = sessions->list[at].path;
	const char *name = sessions->list[at].name;
	const struct choice *open = all[nr - 1].is_open ? &all[nr - 1] : NULL;
	bool is_kept = nr > 1 || !open;
	int err = 0;

	if (!search->first || (uint64_t)all[0].begin < search->first)
		search->first = (uint64_t)all[0].begin;
	if (!is_kept && search->spec->lists[PP_SPEC_TIME].nr)
		search->no_times = path;
	sessions->list[at].has_spans = is_kept;
	sessions->list[at].is_left_out = !open || !open->is_chosen;
	if (open) {
		sessions->list[at].begin = (uint64_t)open->begin;
		sessions->list[at].end = (uint64_t)open->end;
	}
	for (size_t i = 0; i < nr && !err; i++) {
		if (!all[i].is_chosen)
			continue;
		if (is_kept || search->spec->lists[PP_SPEC_TIME].nr)
			note_time(&sessions->history, &all[i]);
		if (!all[i].is_open)
			err = open_span(search, path, name, &all[i].span);
	}
	return err;
}

/* Ages of a history are from now on: it goes on. */
static int64_t end_of(const struct pp_session_search *search)
{
	return search->now * PP_TIME_NS;
}

/* A session without spans has one time, all of it: a part is not to be had. */
static bool is_too_coarse(const struct pp_session_search *search,
			  const struct choice *all, size_t nr)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	const struct choice *whole = &all[0];

	for (size_t i = 0; i < times->nr; i++) {
		struct pp_time_range range = range_of(
			search, &times->items[i], whole->begin, end_of(search));

		if (whole->begin && whole->begin >= range.from &&
		    whole->end <= range.to)
			return false;
	}
	return nr == 1 && all[0].is_open && times->nr;
}

/* The report is of what is there, and this a remark on it: an account that
 * cannot be read is no error. */
static int note_dropped(struct pp_session_search *search,
			struct pp_session *session)
{
	struct pp_history *history = &search->sessions->history;
	struct op_ledger *account = calloc(1, sizeof(*account));
	char name[OP_SPAN_NAME_MAX];
	struct op_diag why = { "" };
	struct op_span span;
	int err = account ? 0 : -ENOMEM;

	if (!err && !op_spans_dropped(session->path, &span, account, &why) &&
	    span.end) {
		op_span_name(&span, name);
		session->dropped = op_arena_printf(search->arena, "%s/%s",
						   session->path, name);
		history->dropped_samples += account->stored;
		if (span.end > history->dropped_end)
			history->dropped_end = span.end;
		if (!session->dropped)
			err = -ENOMEM;
	}
	free(account);
	return err;
}

/* ---- time lines ---------------------------------------------------------- */

static int choose_of_slices(struct pp_session_search *search,
			    struct pp_session *session, struct choice *all)
{
	struct pp_history *history = &search->sessions->history;
	struct pp_slices *slices = session->slices;
	size_t nr = slices->timeline.nr_slices, nr_chosen = 0;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		all[i] = (struct choice){
			.begin = (int64_t)pp_slice_begin(slices, i),
			.end = (int64_t)pp_slice_end(slices, i),
		};
	session->begin = (uint64_t)all[0].begin;
	session->end = (uint64_t)all[nr - 1].end;
	choose_spans(search, all, nr, all[nr - 1].end);
	for (size_t i = 0; i < nr && !err; i++) {
		if (!all[i].is_chosen)
			continue;
		nr_chosen++;
		/* A slice may have several entries. */
		if (!i || all[i].begin != all[i - 1].begin) {
			note_time(history, &all[i]);
			history->nr_slices++;
		}
		err = pp_slices_put(slices, search->arena, session, i, 0, 0);
	}
	session->is_left_out = !nr_chosen;
	session->is_sliced = true;
	search->last_slices = slices;
	if (!search->first || session->begin < search->first)
		search->first = session->begin;
	/* Several sessions have dates in common alone. */
	history->origin =
		history->origin ? UINT64_MAX : slices->timeline.head.begin;
	return err;
}

/* Returns 0, -ENOENT if @session has no time line, or another -errno with the
 * reason unless it is -ENOMEM. */
static int choose_slices(struct pp_session_search *search,
			 struct pp_session *session)
{
	const char *path = op_arena_printf(search->arena, "%s/" TIMELINE_FILE,
					   session->path);
	struct choice *all;
	int err = path ? pp_archive_check(search->archive, path) : -ENOMEM;

	err = err ?: pp_slices_open(&session->slices, session->path);
	if (err && err != -ENOENT && err != -ENOMEM)
		return op_diag_set(search->diag, err, "%s: %s; leave out times",
				   path, pp_why_not_opened(err));
	if (err)
		return err;
	all = calloc(session->slices->timeline.nr_slices, sizeof(*all));
	err = all ? choose_of_slices(search, session, all) : -ENOMEM;
	free(all);
	return err;
}

int pp_session_add_spans(struct pp_session_search *search)
{
	struct pp_session *session =
		&search->sessions->list[search->sessions->nr - 1];
	const char *path = session->path;
	struct choice *all;
	ssize_t nr = list_choices(search, path, &all);
	int err = nr < 0 ? (int)nr : 0;

	if (nr == 1 && all[0].is_open &&
	    (search->over_time || search->spec->lists[PP_SPEC_TIME].nr)) {
		err = choose_slices(search, session);
		if (err != -ENOENT) {
			free(all);
			return err;
		}
		err = 0;
	}
	if (!err && !is_too_coarse(search, all, (size_t)nr))
		choose_spans(search, all, (size_t)nr, end_of(search));
	if (!err)
		err = note_dropped(search, session)
			      ?: open_chosen_spans(search, all, (size_t)nr);
	free(all);
	if (nr < 0 && err != -ENOMEM)
		op_diag_set(search->diag, err, "%s: %s", path, strerror(-err));
	return err;
}

/* ---- what there is not -----------------------------------------------------
 */

static const char *text_of_time(struct op_arena *arena, uint64_t at)
{
	char text[PP_TIME_TEXT_LEN];

	return op_arena_strdup(arena, pp_time_text(text, (time_t)at)) ?: "?";
}

static int report_no_history(struct pp_session_search *search)
{
	if (search->archive)
		return op_diag_set(
			search->diag, -ENOENT,
			"%s: it has no time line, and sums of opmerge never have; leave out time:, or give it with one of the archives that were merged",
			search->no_times);
	return op_diag_set(
		search->diag, -ENOENT,
		"%s: it has no history to choose a time of; leave out time:, and profile with opcontrol --setup --history=SIZE",
		search->no_times);
}

static int report_no_slice(struct pp_session_search *search, const char *word)
{
	const struct pp_slices *slices = search->last_slices;
	size_t nr = slices->timeline.nr_slices;
	uint64_t begin = pp_slice_begin(slices, 0);
	char text[PP_TIME_TEXT_LEN];

	if (begin < PP_FIRST_DATE)
		return op_diag_set(
			search->diag, -ENOENT,
			"time:%s: nothing was sampled then; the recording has no dates and is %s long: ask for times such as time:2s-3s, or record with perf record -k CLOCK_MONOTONIC",
			word,
			pp_time_since(text,
				      pp_slice_end(slices, nr - 1) - begin));
	return op_diag_set(
		search->diag, -ENOENT,
		"time:%s: nothing was sampled then; the session begins at %s and has %s",
		word, text_of_time(search->arena, begin / PP_TIME_NS),
		pp_time_since(text, pp_slice_end(slices, nr - 1) - begin));
}

static int report_no_span(struct pp_session_search *search)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	const struct pp_history *history = &search->sessions->history;
	const struct pp_time_range *range = &times->items[0].range;
	const char *word = times->items[0].text;
	const char *dropped = text_of_time(search->arena, history->dropped_end);
	const char *first =
		text_of_time(search->arena, search->first / PP_TIME_NS);

	if (search->last_slices)
		return report_no_slice(search, word);
	if (range->to_base != PP_TIME_BEGIN &&
	    (uint64_t)(range->to / PP_TIME_NS) <= history->dropped_end)
		return op_diag_set(
			search->diag, -ENOENT,
			"time:%s: samples up to %s were dropped; ask for a later time, and keep more with opcontrol --setup --history=SIZE",
			word, dropped);
	if (range->to_base != PP_TIME_BEGIN &&
	    (uint64_t)range->to <= search->first)
		return op_diag_set(
			search->diag, -ENOENT,
			"time:%s: the history begins at %s; ask for a later time",
			word, first);
	return op_diag_set(
		search->diag, -ENOENT,
		"time:%s: nothing was profiled then; the history begins at %s, see opreport --over-time",
		word, first);
}

int pp_session_check_times(struct pp_session_search *search)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	struct pp_history *history = &search->sessions->history;

	if (!times->nr) {
		history->asked_begin = history->begin;
		history->asked_end = history->end;
		return 0;
	}
	if (!history->nr_spans)
		return search->no_times ? report_no_history(search)
					: report_no_span(search);
	history->is_part = true;
	if (history->asked_begin / PP_TIME_NS >= history->dropped_end)
		history->dropped_end = 0;
	return 0;
}

/* ---- columns ---------------------------------------------------------------
 */

struct column {
	uint64_t begin, end;
};

static void add_to_column(struct column *column, const struct column *own)
{
	if (!column->end || own->begin < column->begin)
		column->begin = own->begin;
	if (own->end > column->end)
		column->end = own->end;
}

/* The columns of a history, of which there are no more than @most, unless that
 * is 0. */
struct column_maker {
	const struct pp_history *history;
	struct column *columns;
	size_t most;
	bool is_last; /* all columns have their length */
};

/* The column of what has the time @own; that itself where each has its own. */
static struct column *column_of(const struct column_maker *maker,
				struct column *own)
{
	uint64_t begin = maker->history->begin;
	uint64_t len = maker->history->end - begin;
	uint64_t middle = own->begin / 2 + own->end / 2;
	struct column *column;

	if (!maker->most)
		return own;
	column = &maker->columns[middle > begin && len
					 ? (size_t)((double)(middle - begin) /
						    (double)len *
						    (double)maker->most)
					 : 0];
	if (!maker->is_last)
		add_to_column(column, own);
	return column;
}

static int make_slice_columns(const struct column_maker *maker,
			      const struct pp_session *session,
			      struct op_arena *arena)
{
	struct pp_slices *slices = session->slices;
	int err = 0;

	if (maker->is_last)
		slices->nr_columns = 0;
	for (size_t i = 0; i < slices->timeline.nr_slices && !err; i++) {
		struct column own = { pp_slice_begin(slices, i),
				      pp_slice_end(slices, i) };
		const struct column *column;

		if (slices->column_of[i] == PP_NO_COLUMN)
			continue;
		column = column_of(maker, &own);
		if (maker->is_last)
			err = pp_slices_put(slices, arena, session, i,
					    column->begin, column->end);
	}
	return err;
}

int pp_sessions_make_columns(struct pp_sessions *sessions,
			     struct op_arena *arena, size_t most)
{
	struct column_maker maker = { .history = &sessions->history,
				      .most = most };
	int err = 0;

	maker.columns = calloc(most + 1, sizeof(*maker.columns));
	if (!maker.columns)
		return -ENOMEM;
	for (int round = 0; round < 2 && !err; round++) {
		maker.is_last = round;
		for (size_t i = 0; i < sessions->nr && !err; i++) {
			struct pp_session *session = &sessions->list[i];
			struct column own = { session->begin, session->end };
			const struct column *column;

			if (session->is_left_out)
				continue;
			if (session->slices) {
				err = make_slice_columns(&maker, session,
							 arena);
				continue;
			}
			column = column_of(&maker, &own);
			session->column_begin = column->begin;
			session->column_end = column->end;
		}
	}
	free(maker.columns);
	return err;
}
