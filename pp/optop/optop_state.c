// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Taking a reading over. It replaces that of its pane, whose counts become the
 * previous ones. Fewer samples than before, or another folder, mean that the
 * session was reset or is another one; then the counts of the old session are
 * not subtracted any more. The chosen line follows its row, except for the
 * first line, which stays in place.
 */

#include "pp/optop/optop_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pages --------------------------------------------------------------- */

static void release_pane(struct optop_pane *pane)
{
	optop_reading_free(pane->reading);
	optop_counts_put(pane->previous);
	optop_counts_put(pane->mark);
	optop_shown_release(&pane->shown);
}

static void free_page(struct optop_page *page)
{
	if (!page)
		return;
	for (size_t i = 0; i < OPTOP_NR_VIEWS; i++)
		release_pane(&page->panes[i]);
	optop_query_release(&page->query);
	free(page);
}

/* A page for the views of @query, at that of its kind. */
static struct optop_page *new_page(const struct optop_query *query)
{
	struct optop_page *page = calloc(1, sizeof(*page));
	bool is_view = query->kind < OPTOP_NR_VIEWS;
	enum optop_kind first = is_view ? 0 : OPTOP_NR_VIEWS;

	if (!page)
		return NULL;
	if (optop_query_copy(&page->query, query)) {
		free_page(page);
		return NULL;
	}
	page->query.kind = first;
	page->nr_panes =
		is_view ? OPTOP_NR_VIEWS : OPTOP_NR_KINDS - OPTOP_NR_VIEWS;
	page->at = query->kind - first;
	return page;
}

int optop_state_init(struct optop_state *state, const char *session,
		     enum optop_kind view)
{
	const struct optop_query query = {
		.kind = view,
		.target = { .tgid = OP_MANGLE_ALL, .tid = OP_MANGLE_ALL },
	};

	*state = (struct optop_state){ .session = session, .nr_lines = 1 };
	state->pages[0] = new_page(&query);
	state->nr_pages = 1;
	state->wants_reading = true;
	return state->pages[0] ? 0 : -ENOMEM;
}

void optop_state_release(struct optop_state *state)
{
	while (state->nr_pages)
		free_page(state->pages[--state->nr_pages]);
	free(state->event);
}

struct optop_page *optop_page(const struct optop_state *state)
{
	return state->pages[state->nr_pages - 1];
}

struct optop_pane *optop_pane(const struct optop_state *state)
{
	struct optop_page *page = optop_page(state);

	return &page->panes[page->at];
}

enum optop_kind optop_kind(const struct optop_state *state)
{
	return optop_page(state)->query.kind + optop_page(state)->at;
}

struct optop_query optop_query_of_pane(const struct optop_state *state)
{
	struct optop_query query = optop_page(state)->query;

	query.kind = optop_kind(state);
	return query;
}

void optop_say(struct optop_state *state, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(state->status, sizeof(state->status), fmt, ap);
	va_end(ap);
}

void optop_push_page(struct optop_state *state, const struct optop_query *query)
{
	struct optop_page *page;

	if (state->nr_pages == OPTOP_MAX_PAGES) {
		optop_say(state,
			  "too many pages are open; go back with Backspace");
		return;
	}
	page = new_page(query);
	if (!page) {
		optop_say(state, "out of memory");
		return;
	}
	state->pages[state->nr_pages++] = page;
	state->wants_reading = true;
}

void optop_pop_page(struct optop_state *state)
{
	if (state->nr_pages < 2)
		return;
	free_page(state->pages[--state->nr_pages]);
	state->wants_reading = true;
	optop_show_again(state);
}

/* ---- lines --------------------------------------------------------------- */

const struct optop_counts *optop_base_of(const struct optop_state *state,
					 const struct optop_pane *pane)
{
	const struct optop_counts *own =
		pane->reading ? pane->reading->counts : NULL;

	/* Without an earlier reading nothing has come since. */
	if (state->since == OPTOP_REFRESH)
		return pane->previous ? pane->previous : own;
	if (state->since == OPTOP_MARK)
		return pane->mark ? pane->mark : own;
	return NULL;
}

static uint64_t key_of_line(const struct optop_pane *pane, size_t line)
{
	return pane->reading->counts->keys[pane->shown.lines[line].row];
}

static void follow_row(struct optop_pane *pane)
{
	const struct optop_shown *shown = &pane->shown;
	size_t at = 0;

	if (!pane->chosen_key)
		return;
	while (at < shown->nr && key_of_line(pane, at) != pane->chosen_key)
		at++;
	if (at < shown->nr)
		pane->chosen = at;
}

void optop_choose_line(struct optop_state *state, size_t line)
{
	struct optop_pane *pane = optop_pane(state);
	size_t nr = pane->shown.nr;

	pane->chosen = line < nr ? line : nr ? nr - 1 : 0;
	pane->chosen_key =
		nr && pane->chosen ? key_of_line(pane, pane->chosen) : 0;
	if (pane->chosen < pane->top)
		pane->top = pane->chosen;
	if (pane->chosen >= pane->top + state->nr_lines)
		pane->top = pane->chosen - state->nr_lines + 1;
	if (pane->top + state->nr_lines > nr)
		pane->top = nr > state->nr_lines ? nr - state->nr_lines : 0;
}

void optop_show_again(struct optop_state *state)
{
	struct optop_pane *pane = optop_pane(state);
	const struct optop_choice choice = {
		.event = state->event,
		.base = optop_base_of(state, pane),
		.filter = optop_page(state)->filter,
		.by_total = state->by_total,
	};

	if (!pane->reading)
		return;
	/* The lines may refer to a reading that was freed. */
	if (optop_show(&pane->shown, pane->reading, &choice)) {
		optop_shown_release(&pane->shown);
		optop_say(state, "out of memory");
	}
	follow_row(pane);
	optop_choose_line(state, pane->chosen);
}

/* ---- readings ------------------------------------------------------------ */

static void forget_counts(struct optop_state *state)
{
	for (size_t i = 0; i < state->nr_pages; i++)
		for (size_t j = 0; j < OPTOP_NR_VIEWS; j++) {
			struct optop_pane *pane = &state->pages[i]->panes[j];

			optop_counts_put(pane->previous);
			optop_counts_put(pane->mark);
			pane->previous = pane->mark = NULL;
		}
}

void optop_mark_now(struct optop_state *state)
{
	struct optop_pane *pane = optop_pane(state);

	for (size_t i = 0; i < state->nr_pages; i++)
		for (size_t j = 0; j < OPTOP_NR_VIEWS; j++) {
			optop_counts_put(state->pages[i]->panes[j].mark);
			state->pages[i]->panes[j].mark = NULL;
		}
	if (pane->reading)
		pane->mark = optop_counts_get(pane->reading->counts);
	state->since = OPTOP_MARK;
}

/* The pane whose query has the number @number; NULL if it is gone. */
static struct optop_pane *find_pane(const struct optop_state *state,
				    uint64_t number)
{
	for (size_t i = 0; i < state->nr_pages; i++)
		for (size_t j = 0; j < OPTOP_NR_VIEWS; j++)
			if (state->pages[i]->panes[j].asked == number)
				return &state->pages[i]->panes[j];
	return NULL;
}

static void adopt_reading(struct optop_state *state, struct optop_pane *pane,
			  struct optop_result *result)
{
	struct optop_reading *reading = result->reading, *old = pane->reading;
	struct optop_counts *before = old ? old->counts : NULL;
	bool is_other = state->folder && result->folder &&
			state->folder != result->folder;
	bool is_first = !old;

	if (before && (is_other || optop_is_reset(reading->counts, before))) {
		forget_counts(state);
		optop_say(state,
			  is_other ? "the session was replaced by another one"
				   : "the session was reset");
		before = NULL;
	}
	optop_counts_put(pane->previous);
	pane->previous = optop_counts_get(before);
	pane->reading = reading;
	pane->files = result->files;
	optop_reading_free(old);
	result->reading = NULL;
	if (state->since == OPTOP_MARK && !pane->mark)
		pane->mark = optop_counts_get(reading->counts);
	state->has_account = reading->report->account;
	if (state->has_account)
		state->account = *reading->report->account;
	if (is_first && reading->keeps_order && reading->first) {
		pane->chosen = reading->first;
		pane->chosen_key = reading->counts->keys[reading->first];
		pane->top =
			reading->first - (reading->first < state->nr_lines / 2
						  ? reading->first
						  : state->nr_lines / 2);
	}
}

void optop_take_result(struct optop_state *state, struct optop_result *result)
{
	struct optop_pane *pane = find_pane(state, result->number);

	/* News of the daemon are newer than what was said before. */
	if (state->daemon != result->daemon)
		state->status[0] = '\0';
	state->daemon = result->daemon;
	state->daemon_diag = result->daemon_diag;
	if (pane) {
		pane->asked = 0;
		pane->why_not = result->diag;
		if (!result->err)
			pane->why_not.text[0] = '\0';
	}
	if (pane && result->reading)
		adopt_reading(state, pane, result);
	else if (pane && result->is_unchanged && pane->reading) {
		optop_counts_put(pane->previous);
		pane->previous = optop_counts_get(pane->reading->counts);
	}
	if (result->folder)
		state->folder = result->folder;
	optop_reading_free(result->reading);
	result->reading = NULL;
	if (pane == optop_pane(state))
		optop_show_again(state);
}
