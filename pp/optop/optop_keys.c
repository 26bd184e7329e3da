// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys work on the state alone: what is to be read for them, the state wants,
 * and whoever runs the screen asks the reader for it. While a filter is typed
 * characters belong to it; while help or warnings are shown, keys scroll these
 * or close them.
 */

#include "pp/optop/optop_keys.h"

#include <stdlib.h>
#include <string.h>
#include <wctype.h>

/* ---- moving -------------------------------------------------------------- */

static void move_by(struct optop_state *state, ptrdiff_t lines)
{
	size_t at = optop_pane(state)->chosen;

	if (lines < 0 && (size_t)-lines > at)
		optop_choose_line(state, 0);
	else
		optop_choose_line(state, at + (size_t)lines);
}

static void press_up(struct optop_state *state)
{
	move_by(state, -1);
}

static void press_down(struct optop_state *state)
{
	move_by(state, 1);
}

static void press_page_up(struct optop_state *state)
{
	move_by(state, -(ptrdiff_t)state->nr_lines);
}

static void press_page_down(struct optop_state *state)
{
	move_by(state, (ptrdiff_t)state->nr_lines);
}

static void press_home(struct optop_state *state)
{
	optop_choose_line(state, 0);
}

static void press_end(struct optop_state *state)
{
	optop_choose_line(state, SIZE_MAX);
}

/* ---- views --------------------------------------------------------------- */

static void go_to_view(struct optop_state *state, size_t nr)
{
	struct optop_page *page = optop_page(state);

	if (nr >= page->nr_panes || nr == page->at)
		return;
	page->at = nr;
	state->wants_reading = true;
	optop_show_again(state);
}

static void press_right(struct optop_state *state)
{
	const struct optop_page *page = optop_page(state);

	go_to_view(state, (page->at + 1) % page->nr_panes);
}

static void press_left(struct optop_state *state)
{
	const struct optop_page *page = optop_page(state);

	go_to_view(state, (page->at + page->nr_panes - 1) % page->nr_panes);
}

static void press_back(struct optop_state *state)
{
	struct optop_page *page = optop_page(state);

	if (*page->filter) {
		*page->filter = '\0';
		optop_show_again(state);
	} else {
		optop_pop_page(state);
	}
}

/* A restriction to a task or image holds for the pages that are opened from
 * there. */
static void press_enter(struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);
	const struct optop_target *here = &optop_page(state)->query.target;
	enum optop_kind below = optop_kind_below(optop_kind(state));
	const struct optop_target *opens;
	struct optop_query query;

	if (!pane->reading || !pane->shown.nr || below == OPTOP_NR_KINDS)
		return;
	opens = pane->reading->rows[pane->shown.lines[pane->chosen].row].opens;
	if (!opens) {
		optop_say(state, "there is nothing to open");
		return;
	}
	query = (struct optop_query){ .kind = below, .target = *opens };
	if (below == OPTOP_ASSEMBLY && opens->is_inlined)
		query.kind = OPTOP_SOURCE;
	if (query.target.tgid == OP_MANGLE_ALL)
		query.target.tgid = here->tgid;
	if (query.target.tid == OP_MANGLE_ALL)
		query.target.tid = here->tid;
	if (!query.target.cgroup)
		query.target.cgroup = here->cgroup;
	if (!query.target.image && !query.target.symbol && !query.target.file)
		query.target.image = here->image;
	optop_push_page(state, &query);
}

/* ---- what is counted ----------------------------------------------------- */

static void press_sort(struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);

	if (pane->reading && pane->reading->keeps_order) {
		optop_say(state, "code and calls cannot be sorted");
		return;
	}
	if (pane->reading && !pane->shown.has_all) {
		optop_say(
			state,
			optop_kind(state) == OPTOP_SYMBOLS
				? "there are no totals: the samples have no stacks; profile with --callgraph"
				: "only symbols have totals");
		return;
	}
	state->by_total = !state->by_total;
	optop_say(state, "sorted by %s", state->by_total ? "total" : "self");
	optop_show_again(state);
}

static void press_event(struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);
	const struct optop_counts *counts;
	size_t at;
	char *event;

	if (!pane->reading)
		return;
	counts = pane->reading->counts;
	if (counts->nr_events < 2) {
		optop_say(state, "the session has only this event");
		return;
	}
	at = optop_counts_event(counts, state->event);
	at = (at == OPTOP_NONE ? 1 : at + 1) % counts->nr_events;
	event = strdup(counts->events[at]);
	if (!event)
		return;
	free(state->event);
	state->event = event;
	optop_show_again(state);
}

static void press_since(struct optop_state *state)
{
	state->since =
		state->since == OPTOP_START ? OPTOP_REFRESH : OPTOP_START;
	optop_show_again(state);
}

static void press_now(struct optop_state *state)
{
	optop_mark_now(state);
	optop_show_again(state);
}

static void press_intervals(struct optop_state *state)
{
	state->hides_intervals = !state->hides_intervals;
}

static void press_pause(struct optop_state *state)
{
	state->is_paused = !state->is_paused;
}

static void press_refresh(struct optop_state *state)
{
	state->wants_reading = state->wants_all = true;
}

/* ---- the filter ---------------------------------------------------------- */

static void press_filter(struct optop_state *state)
{
	struct optop_page *page = optop_page(state);

	if (page->query.kind >= OPTOP_NR_VIEWS) {
		optop_say(state, "only tables can be filtered");
		return;
	}
	state->is_typing = true;
	memcpy(state->filter_before, page->filter, OPTOP_FILTER_MAX);
}

static void remove_character(char *text)
{
	size_t len = strlen(text);

	while (len && ((unsigned char)text[--len] & 0xc0) == 0x80)
		;
	text[len] = '\0';
}

/* Names are UTF-8 in every locale. */
static void add_character(char *text, wint_t c)
{
	size_t len = strlen(text);
	unsigned int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };

	if (len + more + 1 >= OPTOP_FILTER_MAX || !iswprint(c))
		return;
	text[len++] = (char)(first[more] | c >> 6 * more);
	while (more--)
		text[len++] = (char)(0x80 | (c >> 6 * more & 0x3f));
	text[len] = '\0';
}

static void type_filter(struct optop_state *state, wint_t key)
{
	struct optop_page *page = optop_page(state);

	if (key == OPTOP_KEY_ENTER) {
		state->is_typing = false;
		return;
	}
	if (key == OPTOP_KEY_BACK) {
		state->is_typing = false;
		memcpy(page->filter, state->filter_before, OPTOP_FILTER_MAX);
	} else if (key == OPTOP_KEY_RUBOUT) {
		remove_character(page->filter);
	} else {
		add_character(page->filter, key);
	}
	optop_show_again(state);
}

/* ---- help and warnings --------------------------------------------------- */

static void open_overlay(struct optop_state *state, enum optop_overlay overlay)
{
	state->overlay = overlay;
	state->overlay_top = 0;
}

static void press_help(struct optop_state *state)
{
	open_overlay(state, OPTOP_HELP);
}

static void press_warnings(struct optop_state *state)
{
	open_overlay(state, OPTOP_WARNINGS);
}

static void press_quit(struct optop_state *state)
{
	state->has_ended = true;
}

/* The screen keeps the first line in its bounds. */
static void press_in_overlay(struct optop_state *state, wint_t key)
{
	size_t *top = &state->overlay_top;
	size_t page = state->nr_lines;

	switch (key) {
	case OPTOP_KEY_UP:
		*top -= *top > 0;
		break;
	case OPTOP_KEY_DOWN:
		++*top;
		break;
	case OPTOP_KEY_PAGE_UP:
		*top -= *top < page ? *top : page;
		break;
	case OPTOP_KEY_PAGE_DOWN:
		*top += page;
		break;
	default:
		state->overlay = OPTOP_NO_OVERLAY;
	}
}

/* ---- the table ----------------------------------------------------------- */

static const struct key {
	wint_t keys[3];
	void (*press)(struct optop_state *state);
	const char *name, *text;
} all_keys[] = {
	{ { OPTOP_KEY_UP }, press_up, "Up", "one line up" },
	{ { OPTOP_KEY_DOWN }, press_down, "Down", "one line down" },
	{ { OPTOP_KEY_PAGE_UP }, press_page_up, "PageUp", "a screen up" },
	{ { OPTOP_KEY_PAGE_DOWN },
	  press_page_down,
	  "PageDown",
	  "a screen down" },
	{ { OPTOP_KEY_HOME }, press_home, "Home", "the first line" },
	{ { OPTOP_KEY_END }, press_end, "End", "the last line" },
	{ { OPTOP_KEY_RIGHT, OPTOP_KEY_TAB },
	  press_right,
	  "Right Tab",
	  "the next view; also its number" },
	{ { OPTOP_KEY_LEFT }, press_left, "Left", "the previous view" },
	{ { OPTOP_KEY_ENTER }, press_enter, "Enter", "open the chosen line" },
	{ { OPTOP_KEY_BACK, OPTOP_KEY_RUBOUT },
	  press_back,
	  "Esc Backspace",
	  "remove the filter, or go back" },
	{ { '/' }, press_filter, "/", "show only rows that contain a text" },
	{ { 's' }, press_sort, "s", "sort by self or by total" },
	{ { 'e' }, press_event, "e", "the next event" },
	{ { 't' },
	  press_since,
	  "t",
	  "count since the start, or since the last refresh" },
	{ { 'n' }, press_now, "n", "count from now on" },
	{ { 'i' }, press_intervals, "i", "show or hide 95 % intervals" },
	{ { ' ' }, press_pause, "Space", "pause or resume" },
	{ { 'r' }, press_refresh, "r", "refresh now" },
	{ { 'w' },
	  press_warnings,
	  "w",
	  "show warnings about samples and binaries" },
	{ { '?', 'h' }, press_help, "? h", "this help" },
	{ { 'q', 'Q' }, press_quit, "q", "quit" },
};

#define NR_KEYS (sizeof(all_keys) / sizeof(all_keys[0]))

bool optop_help_line(size_t nr, const char **key, const char **text)
{
	if (nr >= NR_KEYS)
		return false;
	*key = all_keys[nr].name;
	*text = all_keys[nr].text;
	return true;
}

void optop_press(struct optop_state *state, wint_t key)
{
	state->status[0] = '\0';
	if (state->is_typing) {
		type_filter(state, key);
		return;
	}
	if (state->overlay) {
		press_in_overlay(state, key);
		return;
	}
	if (key >= '1' && key <= '9') {
		go_to_view(state, key - '1');
		return;
	}
	for (size_t i = 0; i < NR_KEYS; i++)
		for (size_t j = 0; j < 3 && all_keys[i].keys[j]; j++)
			if (all_keys[i].keys[j] == key) {
				all_keys[i].press(state);
				return;
			}
}
