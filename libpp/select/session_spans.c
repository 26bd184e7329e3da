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
#include "libpp/select/session_search.h"

#define LEDGER_PERIOD 900 /* seconds: more than a daemon lets pass */
#define NOW_LASTS 5 /* seconds: more than a program needs to come here */

/* A span, or what is beside them. */
struct choice {
	struct op_span span;
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
		       const struct op_span *span)
{
	uint64_t middle = span->begin + (span->end - span->begin) / 2;

	return (int64_t)middle >= range->from && (int64_t)middle < range->to;
}

/* Seconds that @span and @range have together. */
static uint64_t overlap_of(const struct pp_time_range *range,
			   const struct op_span *span)
{
	int64_t from = (int64_t)span->begin, to = (int64_t)span->end;

	from = from > range->from ? from : range->from;
	to = to < range->to ? to : range->to;
	return to > from ? (uint64_t)(to - from) : 0;
}

/* A quarter of a range. */
static uint64_t much_of(const struct pp_time_range *range)
{
	return ((uint64_t)(range->to - range->from) + 3) / 4;
}

/* Whether a part of @span makes up much of @range. */
static bool is_touched(const struct pp_time_range *range,
		       const struct op_span *span)
{
	return overlap_of(range, span) >= much_of(range);
}

/* Whether @span has so much that is not of @range as to be worth a word. */
static bool is_coarse(const struct pp_time_range *range,
		      const struct op_span *span)
{
	return span->end - span->begin - overlap_of(range, span) >
	       much_of(range);
}

/* Returns whether @range has something of @all. */
static bool choose_by(const struct pp_time_range *range, struct choice *all,
		      size_t nr, struct pp_history *history,
		      bool (*agrees)(const struct pp_time_range *range,
				     const struct op_span *span))
{
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		if (!agrees(range, &all[i].span))
			continue;
		all[i].is_chosen = true;
		history->is_coarse |= is_coarse(range, &all[i].span);
		found = true;
	}
	return found;
}

/* The range of @item. One that ends now has what is counted just now: the clock
 * has gone on since its words were read. */
static struct pp_time_range range_of(const struct pp_session_search *search,
				     const struct pp_spec_item *item)
{
	struct pp_time_range range = item->range;

	if (range.to >= search->now - NOW_LASTS)
		range.to = search->now + 1;
	return range;
}

static void choose_spans(struct pp_session_search *search, struct choice *all,
			 size_t nr)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	struct pp_history *history = &search->sessions->history;

	for (size_t i = 0; i < nr && !times->nr; i++)
		all[i].is_chosen = true;
	for (size_t i = 0; i < times->nr; i++) {
		struct pp_time_range range = range_of(search, &times->items[i]);

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
	if (!err && nr_all && !has_samples_beside(path))
		return (ssize_t)nr_all;
	if (!err && op_array_reserve(out, nr_all, 1))
		err = -ENOMEM;
	if (!err)
		(*out)[nr_all++] = open_choice(path, last, search->now);
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
	opened->begin = span->begin;
	opened->end = span->end;
	opened->is_span = true;
	return 0;
}

static void note_time(struct pp_history *history, const struct op_span *span)
{
	history->nr_spans++;
	if (!history->end || span->begin < history->begin)
		history->begin = span->begin;
	if (span->end > history->end)
		history->end = span->end;
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

	if (!search->first || all[0].span.begin < search->first)
		search->first = all[0].span.begin;
	if (!is_kept && search->spec->lists[PP_SPEC_TIME].nr)
		search->no_times = path;
	sessions->list[at].has_spans = is_kept;
	sessions->list[at].is_left_out = !open || !open->is_chosen;
	if (open) {
		sessions->list[at].begin = open->span.begin;
		sessions->list[at].end = open->span.end;
	}
	for (size_t i = 0; i < nr && !err; i++) {
		if (!all[i].is_chosen)
			continue;
		if (is_kept || search->spec->lists[PP_SPEC_TIME].nr)
			note_time(&sessions->history, &all[i].span);
		if (!all[i].is_open)
			err = open_span(search, path, name, &all[i].span);
	}
	return err;
}

/* A session without spans has one time, all of it: a part is not to be had. */
static bool is_too_coarse(const struct pp_session_search *search,
			  const struct choice *all, size_t nr)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	const struct op_span *span = &all[0].span;

	for (size_t i = 0; i < times->nr; i++) {
		struct pp_time_range range = range_of(search, &times->items[i]);

		if (span->begin && (int64_t)span->begin >= range.from &&
		    (int64_t)span->end <= range.to)
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

int pp_session_add_spans(struct pp_session_search *search)
{
	struct pp_session *session =
		&search->sessions->list[search->sessions->nr - 1];
	const char *path = session->path;
	struct choice *all;
	ssize_t nr = list_choices(search, path, &all);
	int err = nr < 0 ? (int)nr : 0;

	if (!err && !is_too_coarse(search, all, (size_t)nr))
		choose_spans(search, all, (size_t)nr);
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
	return op_diag_set(
		search->diag, -ENOENT,
		"%s: it has no history to choose a time of; leave out time:, and profile with opcontrol --setup --history=SIZE",
		search->no_times);
}

static int report_no_span(struct pp_session_search *search)
{
	const struct pp_spec_list *times = &search->spec->lists[PP_SPEC_TIME];
	const struct pp_history *history = &search->sessions->history;
	const struct pp_time_range *range = &times->items[0].range;
	const char *word = times->items[0].text;
	const char *dropped = text_of_time(search->arena, history->dropped_end);
	const char *first = text_of_time(search->arena, search->first);

	if ((uint64_t)range->to <= history->dropped_end)
		return op_diag_set(
			search->diag, -ENOENT,
			"time:%s: samples up to %s were dropped; ask for a later time, and keep more with opcontrol --setup --history=SIZE",
			word, dropped);
	if ((uint64_t)range->to <= search->first)
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
	history->asked_begin = (uint64_t)times->items[0].range.from;
	for (size_t i = 0; i < times->nr; i++) {
		const struct pp_time_range *range = &times->items[i].range;

		if ((uint64_t)range->from < history->asked_begin)
			history->asked_begin = (uint64_t)range->from;
		if ((uint64_t)range->to > history->asked_end)
			history->asked_end = (uint64_t)range->to;
	}
	if (history->asked_begin >= history->dropped_end)
		history->dropped_end = 0;
	return 0;
}

/* ---- columns ---------------------------------------------------------------
 */

struct column {
	uint64_t begin, end;
};

static void add_to_column(struct column *column,
			  const struct pp_session *session)
{
	if (!column->end || session->begin < column->begin)
		column->begin = session->begin;
	if (session->end > column->end)
		column->end = session->end;
}

int pp_sessions_make_columns(struct pp_sessions *sessions, size_t most)
{
	const struct pp_history *history = &sessions->history;
	uint64_t len = history->end - history->begin;
	struct column *columns = calloc(most + 1, sizeof(*columns));

	if (!columns)
		return -ENOMEM;
	for (int set = 0; set < 2; set++)
		for (size_t i = 0; i < sessions->nr; i++) {
			struct pp_session *session = &sessions->list[i];
			uint64_t middle = session->begin / 2 + session->end / 2;
			struct column own = { session->begin, session->end };
			struct column *column = &own;

			if (session->is_left_out)
				continue;
			if (most && middle > history->begin && len)
				column = &columns[(
					uint64_t)((double)(middle -
							   history->begin) /
						  (double)len * (double)most)];
			else if (most)
				column = &columns[0];
			if (!set && column != &own)
				add_to_column(column, session);
			session->column_begin = column->begin;
			session->column_end = column->end;
		}
	free(columns);
	return 0;
}
