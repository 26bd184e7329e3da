/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_STATE_H
#define PP_OPTOP_OPTOP_STATE_H

/*
 * All that the screen shows, whatever shows it. Pages lie on each other: the
 * views of the session at the bottom, and above what was opened from there. A
 * page has a pane for each of its views; each has the last reading of its own,
 * so that going back shows at once what was there.
 */

#include "pp/optop/optop_model.h"
#include "pp/optop/optop_reader.h"

#define OPTOP_MAX_PAGES 16
#define OPTOP_FILTER_MAX 64 /* bytes, with the 0 at its end */

struct optop_pane {
	struct optop_reading *reading; /* NULL before the first */
	uint64_t files; /* as they were then; see struct optop_result */
	uint64_t asked; /* number of the query under way; 0: none */
	struct optop_counts *previous; /* of the reading before */
	struct optop_counts *mark; /* of the one to count from */
	struct optop_shown shown;
	size_t chosen, top; /* lines of it; the first that is on the screen */
	uint64_t chosen_key; /* the line follows this row; 0: it stays */
	struct op_diag why_not; /* the last reading failed; or empty */
};

struct optop_page {
	struct optop_query query; /* of its first pane; its strings */
	size_t nr_panes, at; /* views; the one that is shown */
	char filter[OPTOP_FILTER_MAX];
	struct optop_pane panes[OPTOP_NR_VIEWS];
};

/* Start of the counts that are shown. */
enum optop_since { OPTOP_START, OPTOP_REFRESH, OPTOP_MARK, OPTOP_NR_SINCE };

enum optop_overlay { OPTOP_NO_OVERLAY, OPTOP_HELP, OPTOP_WARNINGS };

struct optop_state {
	const char *session; /* what to call it */
	unsigned int interval; /* seconds; 0: only when asked */
	bool is_once; /* nobody presses keys */
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
	struct optop_page *pages[OPTOP_MAX_PAGES];
	size_t nr_pages;
	size_t nr_lines; /* that the screen has for rows */
	char *event; /* its name; NULL: the first */
	bool by_total, hides_intervals, is_paused, has_ended;
	enum optop_since since;
	enum optop_overlay overlay;
	size_t overlay_top;
	bool is_typing; /* a filter */
	char filter_before[OPTOP_FILTER_MAX];
	bool wants_reading; /* of the pane that is shown */
	bool wants_all; /* even if the files have not changed */
	enum optop_daemon daemon;
	struct op_diag daemon_diag;
	uint64_t folder; /* as in struct optop_result */
	struct op_ledger account;
	bool has_account;
	char status[512]; /* said until the next key; or empty */
};

/* Begin with the views of the session, at @view. Returns 0 or -ENOMEM; to be
 * released either way. */
int optop_state_init(struct optop_state *state, const char *session,
		     enum optop_kind view);
void optop_state_release(struct optop_state *state);

struct optop_page *optop_page(const struct optop_state *state);
struct optop_pane *optop_pane(const struct optop_state *state);
enum optop_kind optop_kind(const struct optop_state *state);

/* The query of the pane that is shown; its strings are the page's. */
struct optop_query optop_query_of_pane(const struct optop_state *state);

/* Say @fmt until the next key. */
void optop_say(struct optop_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Put a page for @query on top: the views of the session, narrowed, or what is
 * known about a function. Says why if that cannot be done.
 */
void optop_push_page(struct optop_state *state,
		     const struct optop_query *query);
/* Remove it; nothing happens to the last one. */
void optop_pop_page(struct optop_state *state);

/* Let @state have the reading of @result, or what is said in place of it. */
void optop_take_result(struct optop_state *state, struct optop_result *result);

/* Choose and order lines anew, after something about them was changed. */
void optop_show_again(struct optop_state *state);

/* Count from now on. */
void optop_mark_now(struct optop_state *state);

/* Go to line @line, as far as there are lines. */
void optop_choose_line(struct optop_state *state, size_t line);

/* The counts to subtract from the reading of @pane: NULL for none. */
const struct optop_counts *optop_base_of(const struct optop_state *state,
					 const struct optop_pane *pane);

#endif /* PP_OPTOP_OPTOP_STATE_H */
