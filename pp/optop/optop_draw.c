// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Columns are a table: each says from which width of the screen on it is there.
 * What is left of the width belongs to the names. The lines of the header are
 * made of fields in the order of their importance, each of which is there if it
 * fits; the last may be cut.
 */

#include "pp/optop/optop_draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libop/kernel/op_cgroup.h"
#include "libop/base/op_plural.h"
#include "libpp/format/text/text.h"
#include "libpp/select/sample_list.h"
#include "pp/optop/optop_keys.h"

#define HEAD_LINES 4
#define PATH_MIN 32 /* columns that a path is shown in */
#define HOT_PERCENT 5.0
#define WARM_PERCENT 1.0

/* ---- lines of fields ----------------------------------------------------- */

struct field_line {
	struct optop_grid *grid;
	size_t row, at;
};

/* Add a field behind two blanks. It is left out if it does not fit. */
__attribute__((format(printf, 3, 4))) static void
add_field(struct field_line *line, enum optop_attr attr, const char *fmt, ...)
{
	size_t gap = line->at ? 2 : 0, columns = line->grid->nr_columns;
	char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if (len && line->at + gap + optop_text_columns(text) <= columns)
		line->at += gap + optop_grid_put(line->grid, line->row,
						 line->at + gap, columns, attr,
						 text);
	free(text);
}

/* Add a name with at most @most columns, shortened if need be. */
static void add_name_field(struct field_line *line, enum optop_attr attr,
			   const char *before, const char *name, size_t most)
{
	char *fitted = optop_fit_name(name, most);

	if (fitted)
		add_field(line, attr, "%s%s", before, fitted);
	free(fitted);
}

/* ---- the header ---------------------------------------------------------- */

#define SINCE_LEN 32

/* "since the start", or of a narrow screen "start". */
static const char *text_of_since(const struct optop_state *state,
				 bool is_narrow, char buf[SINCE_LEN])
{
	const struct optop_pane *pane = optop_pane(state);
	struct tm tm;

	if (state->since == OPTOP_START)
		return is_narrow ? "start" : "since the start";
	if (state->since == OPTOP_REFRESH)
		return is_narrow ? "refresh" : "since the last refresh";
	if (!pane->mark || !localtime_r(&pane->mark->when, &tm))
		return is_narrow ? "now" : "since now";
	strftime(buf, SINCE_LEN, is_narrow ? "%H:%M:%S" : "since %H:%M:%S",
		 &tm);
	return buf;
}

static void text_of_interval(const struct optop_state *state, bool is_narrow,
			     char buf[SINCE_LEN])
{
	if (state->is_once)
		*buf = '\0';
	else if (state->is_paused)
		strcpy(buf, "paused");
	else if (!state->interval)
		strcpy(buf, is_narrow ? "r" : "r refreshes");
	else
		snprintf(buf, SINCE_LEN, is_narrow ? "%u s" : "every %u s",
			 state->interval);
}

static const char *word_of_daemon(enum optop_daemon daemon)
{
	static const char *const words[OPTOP_NR_DAEMONS] = {
		[OPTOP_NO_DAEMON] = "stored",	 [OPTOP_ANSWERS] = "running",
		[OPTOP_REFUSES] = "not allowed", [OPTOP_SILENT] = "no answer",
		[OPTOP_FAILS] = "not storing",	 [OPTOP_ENDED] = "ended",
		[OPTOP_KILLED] = "killed",
	};

	return words[daemon];
}

/* The session gets what the others leave. */
static void draw_session(struct optop_grid *grid,
			 const struct optop_state *state)
{
	struct field_line line = { grid, 0, 0 };
	size_t columns = grid->nr_columns, used;
	bool is_narrow = columns < 60;
	const char *daemon = word_of_daemon(state->daemon);
	char since_buf[SINCE_LEN], interval[SINCE_LEN];
	const char *since = text_of_since(state, is_narrow, since_buf);

	text_of_interval(state, is_narrow, interval);
	used = strlen("optop") + strlen(daemon) + strlen(since) +
	       strlen(interval) + 8;
	add_field(&line, OPTOP_BOLD, "optop");
	if (columns > used + 8)
		add_name_field(&line, OPTOP_PLAIN, "",
			       is_narrow ? pp_base_name(state->session)
					 : state->session,
			       columns - used);
	add_field(&line,
		  state->daemon > OPTOP_ANSWERS ? OPTOP_ALERT : OPTOP_PLAIN,
		  "%s", daemon);
	add_field(&line, state->since == OPTOP_START ? OPTOP_PLAIN : OPTOP_WARM,
		  "%s", since);
	add_field(&line, state->is_paused ? OPTOP_ALERT : OPTOP_PLAIN, "%s",
		  interval);
}

static void add_losses(struct field_line *line, const struct optop_state *state)
{
	uint64_t lost = op_ledger_lost(&state->account);
	char *sentence = NULL, percent[PP_PERCENT_LEN];
	size_t len;
	FILE *out;

	if (!state->has_account) {
		add_field(line, OPTOP_FAINT, "no account");
		return;
	}
	if (lost)
		add_field(line, OPTOP_WARM, "lost %" PRIu64 " (%s %%)", lost,
			  pp_text_percent(percent,
					  pp_percent(lost,
						     state->account.taken)) +
				  strspn(percent, " "));
	else
		add_field(line, OPTOP_PLAIN, "lost 0");
	out = open_memstream(&sentence, &len);
	if (!out)
		return;
	pp_write_account(out, &state->account);
	if (!fclose(out))
		add_field(line, OPTOP_FAINT, "%s", sentence);
	free(sentence);
}

static void draw_event(struct optop_grid *grid, const struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);
	const struct optop_counts *counts =
		pane->reading ? pane->reading->counts : NULL;
	struct field_line line = { grid, 1, 0 };
	const char *event = state->event;
	size_t at;

	if (!event && counts && counts->nr_events)
		event = counts->events[0];
	if (event)
		add_name_field(&line, OPTOP_BOLD, "", event,
			       grid->nr_columns < 60 ? 16 : 40);
	if (counts && counts->nr_events > 1) {
		at = optop_counts_event(counts, event);
		add_field(&line, OPTOP_PLAIN, "%zu/%zu",
			  at == OPTOP_NONE ? 0 : at + 1, counts->nr_events);
	}
	add_field(&line, OPTOP_PLAIN, "%" PRIu64 " sample%s%s",
		  pane->shown.self_sum, op_plural(pane->shown.self_sum),
		  optop_kind(state) < OPTOP_NR_VIEWS ? "" : " in it");
	add_losses(&line, state);
}

/* The views of the page, what it is narrowed to, the filter. */
static void draw_views(struct optop_grid *grid, const struct optop_state *state)
{
	const struct optop_page *page = optop_page(state);
	const struct optop_target *target = &page->query.target;
	struct field_line line = { grid, 2, 0 };
	bool is_narrow = grid->nr_columns < 60;
	const char *name = target->title ?: target->file ?: target->image;

	for (size_t i = 0; i < page->nr_panes; i++) {
		const char *view = optop_kind_name(page->query.kind + i);

		if (i == page->at)
			add_field(&line, OPTOP_BAR, "%zu %s", i + 1, view);
		else if (!is_narrow)
			add_field(&line, OPTOP_PLAIN, "%zu %s", i + 1, view);
	}
	if (*page->filter || state->is_typing)
		add_name_field(&line, OPTOP_WARM, "filter: ", page->filter,
			       is_narrow ? 16 : 32);
	if (target->tid != OP_MANGLE_ALL)
		add_field(&line, OPTOP_WARM, "thread %" PRId64, target->tid);
	else if (target->tgid != OP_MANGLE_ALL)
		add_field(&line, OPTOP_WARM, "process %" PRId64, target->tgid);
	if (target->cgroup) {
		char cgroup[OP_CGROUP_NAME_MAX] = "unknown";

		if (*target->cgroup)
			op_cgroup_name(target->cgroup, cgroup, sizeof(cgroup));
		add_name_field(&line, OPTOP_WARM, "cgroup ", cgroup,
			       is_narrow ? 16 : 32);
	}
	if (name && grid->nr_columns > line.at + 2)
		add_name_field(&line, OPTOP_BOLD, "", name,
			       grid->nr_columns - line.at - 2);
}

/* ---- columns ------------------------------------------------------------- */

enum value {
	VALUE_SAMPLES,
	VALUE_SELF,
	VALUE_SELF_INTERVAL,
	VALUE_ALL_SAMPLES,
	VALUE_ALL,
	VALUE_ALL_INTERVAL,
};

struct column {
	enum value value;
	const char *head;
	size_t width, from; /* is there if the screen has as many columns */
	bool needs_all, is_interval;
};

static const struct column columns_of_values[] = {
	{ VALUE_SAMPLES, "samples", 9, 60, false, false },
	{ VALUE_SELF, "self %", 8, 0, false, false },
	{ VALUE_SELF_INTERVAL, "95% interval", 17, 110, false, true },
	{ VALUE_ALL_SAMPLES, "total", 9, 100, true, false },
	{ VALUE_ALL, "total %", 9, 30, true, false },
	{ VALUE_ALL_INTERVAL, "95% interval", 17, 140, true, true },
};

#define NR_VALUES (sizeof(columns_of_values) / sizeof(columns_of_values[0]))

static bool has_column(const struct column *column,
		       const struct optop_state *state, size_t columns)
{
	const struct optop_shown *shown = &optop_pane(state)->shown;

	if (column->is_interval &&
	    (state->hides_intervals || optop_kind(state) >= OPTOP_NR_VIEWS))
		return false;
	return columns >= column->from &&
	       (shown->has_all || !column->needs_all);
}

/* The width of the column beside the name; 0 if it is not there. */
static size_t width_beside(const struct optop_state *state, size_t columns)
{
	const struct optop_reading *reading = optop_pane(state)->reading;

	switch (optop_kind(state)) {
	case OPTOP_IMAGES:
		return 0;
	case OPTOP_PROCESSES:
		return 9;
	case OPTOP_THREADS:
		return 17;
	case OPTOP_SOURCE:
		return 7;
	case OPTOP_ASSEMBLY:
		return columns < 70 || !reading || !reading->has_beside ? 0
									: 18;
	case OPTOP_LINES:
	case OPTOP_CGROUPS:
		return columns < 80 ? 20 : 28;
	default:
		return columns < 70 ? 0 : columns < 160 ? 20 : 30;
	}
}

static void write_value(char *buf, const struct optop_shown *shown,
			const struct optop_line *line, enum value value)
{
	switch (value) {
	case VALUE_SAMPLES:
		snprintf(buf, PP_INTERVAL_LEN, "%" PRIu64, line->self);
		break;
	case VALUE_SELF:
		pp_text_percent(buf, pp_percent(line->self, shown->self_sum));
		break;
	case VALUE_SELF_INTERVAL:
		pp_text_interval(buf, line->self, shown->self_sum, 1);
		break;
	case VALUE_ALL_SAMPLES:
		snprintf(buf, PP_INTERVAL_LEN, "%" PRIu64, line->all);
		break;
	case VALUE_ALL:
		pp_text_percent(buf, pp_percent(line->all, shown->all_sum));
		break;
	default:
		pp_text_interval(buf, line->all, shown->all_sum, 1);
	}
}

static enum optop_attr heat_of(uint64_t part, uint64_t whole)
{
	double percent = pp_percent(part, whole);

	return !part			 ? OPTOP_FAINT
	       : percent >= HOT_PERCENT	 ? OPTOP_HOT
	       : percent >= WARM_PERCENT ? OPTOP_WARM
					 : OPTOP_COOL;
}

/* Numbers end where their column does, one blank before the next. */
static void put_right(struct optop_grid *grid, size_t row, size_t at,
		      size_t width, enum optop_attr attr, const char *text)
{
	size_t len = strlen(text);

	optop_grid_put(grid, row, at + (len < width ? width - 1 - len : 0),
		       width - 1, attr, text);
}

/* Returns where the columns of values end. */
static size_t draw_values(struct optop_grid *grid, size_t row,
			  const struct optop_state *state,
			  const struct optop_line *line)
{
	const struct optop_shown *shown = &optop_pane(state)->shown;
	char buf[PP_INTERVAL_LEN];
	size_t at = 0;

	for (size_t i = 0; i < NR_VALUES; i++) {
		const struct column *column = &columns_of_values[i];
		bool is_all = column->needs_all;
		uint64_t part = is_all ? line->all : line->self;

		if (!has_column(column, state, grid->nr_columns))
			continue;
		write_value(buf, shown, line, column->value);
		if (part || optop_kind(state) < OPTOP_NR_VIEWS)
			put_right(grid, row, at, column->width,
				  heat_of(part, is_all ? shown->all_sum
						       : shown->self_sum),
				  buf);
		at += column->width;
	}
	return at;
}

static void draw_heads(struct optop_grid *grid, const struct optop_state *state)
{
	size_t beside = width_beside(state, grid->nr_columns), at = 0;
	enum optop_kind kind = optop_kind(state);
	bool by_total = state->by_total && optop_pane(state)->shown.has_all;

	optop_grid_paint(grid, HEAD_LINES - 1, OPTOP_BAR);
	for (size_t i = 0; i < NR_VALUES; i++) {
		const struct column *column = &columns_of_values[i];
		char head[24];
		bool is_order =
			column->value == (by_total ? VALUE_ALL : VALUE_SELF);

		if (!has_column(column, state, grid->nr_columns))
			continue;
		snprintf(head, sizeof(head), "%s%s",
			 is_order && kind < OPTOP_NR_VIEWS ? ">" : "",
			 column->head);
		put_right(grid, HEAD_LINES - 1, at, column->width, OPTOP_BAR,
			  head);
		at += column->width;
	}
	if (beside)
		optop_grid_put(grid, HEAD_LINES - 1, at, beside - 1, OPTOP_BAR,
			       optop_kind_beside(kind));
	optop_grid_put(grid, HEAD_LINES - 1, at + beside, SIZE_MAX, OPTOP_BAR,
		       optop_kind_title(kind));
}

/* ---- rows ---------------------------------------------------------------- */

static void put_fitted(struct optop_grid *grid, size_t row, size_t at,
		       size_t width, enum optop_attr attr, const char *name)
{
	char *fitted = optop_fit_name(name, width);

	if (fitted)
		optop_grid_put(grid, row, at, width, attr, fitted);
	free(fitted);
}

/* Whether rows are paths, of which the last part says most. */
static bool is_path(enum optop_kind kind)
{
	return kind == OPTOP_IMAGES || kind == OPTOP_CGROUPS;
}

static void draw_row(struct optop_grid *grid, size_t at_row,
		     const struct optop_state *state,
		     const struct optop_line *line)
{
	const struct optop_pane *pane = optop_pane(state);
	const struct optop_row *row = &pane->reading->rows[line->row];
	size_t beside = width_beside(state, grid->nr_columns), at;
	bool is_code = pane->reading->keeps_order;
	const char *name = row->name;
	enum optop_attr attr =
		is_code && line->self
			? heat_of(line->self, pane->shown.self_sum)
			: OPTOP_PLAIN;

	if (row->is_title) {
		put_fitted(grid, at_row, 0, grid->nr_columns, OPTOP_BOLD,
			   row->name);
		return;
	}
	at = draw_values(grid, at_row, state, line);
	if (beside && row->beside)
		put_fitted(grid, at_row, at, beside - 1, OPTOP_FAINT,
			   row->beside);
	at += beside;
	if (is_path(optop_kind(state)) && at + PATH_MIN > grid->nr_columns)
		name = pp_base_name(name);
	/* Code is cut at its end: its beginning tells where it stands. */
	if (at < grid->nr_columns && is_code)
		optop_grid_put(grid, at_row, at, SIZE_MAX, attr, name);
	else if (at < grid->nr_columns)
		put_fitted(grid, at_row, at, grid->nr_columns - at, attr, name);
}

static const char *why_no_rows(const struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);

	if (!pane->reading)
		return *pane->why_not.text ? pane->why_not.text : "reading ...";
	if (pane->reading->note)
		return pane->reading->note;
	if (*optop_page(state)->filter)
		return "no row matches the filter; Esc removes it";
	if (state->since != OPTOP_START)
		return "no samples since then";
	return "no samples";
}

/* Text of several lines, cut between words. */
static void draw_paragraph(struct optop_grid *grid, size_t row,
			   const char *text)
{
	while (*text && row + 1 < grid->nr_rows) {
		size_t len = strlen(text), most = grid->nr_columns;
		char line[1024];

		most = most < sizeof(line) ? most : sizeof(line) - 1;
		if (len > most) {
			len = most;
			while (len && text[len] != ' ')
				len--;
			len = len ? len : most;
		}
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		optop_grid_put(grid, row++, 0, SIZE_MAX, OPTOP_PLAIN, line);
		text += len;
		text += strspn(text, " ");
	}
}

static void draw_rows(struct optop_grid *grid, const struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);
	const struct optop_shown *shown = &pane->shown;

	for (size_t i = 0; i < state->nr_lines; i++) {
		size_t line = pane->top + i;

		if (line >= shown->nr)
			break;
		draw_row(grid, HEAD_LINES + i, state, &shown->lines[line]);
		if (line == pane->chosen && !state->is_once)
			optop_grid_paint(grid, HEAD_LINES + i, OPTOP_CHOSEN);
	}
	if (!shown->nr)
		draw_paragraph(grid, HEAD_LINES, why_no_rows(state));
}

/* ---- help and warnings --------------------------------------------------- */

static size_t bound_top(struct optop_state *state, size_t nr)
{
	size_t most = nr > state->nr_lines ? nr - state->nr_lines : 0;

	if (state->overlay_top > most)
		state->overlay_top = most;
	return state->overlay_top;
}

static void draw_help(struct optop_grid *grid, struct optop_state *state)
{
	const char *key, *text;
	size_t nr = 0, top;

	while (optop_help_line(nr, &key, &text))
		nr++;
	top = bound_top(state, nr);
	for (size_t i = 0; i < state->nr_lines; i++) {
		if (!optop_help_line(top + i, &key, &text))
			break;
		optop_grid_put(grid, HEAD_LINES + i, 0, 14, OPTOP_BOLD, key);
		optop_grid_put(grid, HEAD_LINES + i, 14, SIZE_MAX, OPTOP_PLAIN,
			       text);
	}
}

static bool is_shown_message(const struct optop_state *state,
			     const struct pp_message *message)
{
	return message->kind == PP_WARNING ||
	       state->verbose & 1u << message->kind;
}

static void draw_warnings(struct optop_grid *grid, struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);
	const struct pp_messages *messages =
		pane->reading ? &pane->reading->report->messages : NULL;
	size_t nr = 0, at, row = HEAD_LINES;

	for (size_t i = 0; messages && i < messages->nr; i++)
		nr += is_shown_message(state, &messages->list[i]);
	if (!nr) {
		optop_grid_put(grid, row, 0, SIZE_MAX, OPTOP_PLAIN,
			       "there are no warnings");
		return;
	}
	at = bound_top(state, nr);
	for (size_t i = 0; i < messages->nr && row + 1 < grid->nr_rows; i++) {
		if (!is_shown_message(state, &messages->list[i]))
			continue;
		if (at) {
			at--;
			continue;
		}
		optop_grid_put(grid, row++, 0, SIZE_MAX, OPTOP_PLAIN,
			       messages->list[i].text);
	}
}

/* ---- the last line ------------------------------------------------------- */

static const char *what_of_daemon(const struct optop_state *state)
{
	switch (state->daemon) {
	case OPTOP_REFUSES:
		return "you may not make the daemon store its samples: only stored ones are shown";
	case OPTOP_SILENT:
		return "the daemon does not answer: only stored samples are shown";
	case OPTOP_FAILS:
		return state->daemon_diag.text;
	case OPTOP_ENDED:
		return "the daemon has ended; these are all samples";
	case OPTOP_KILLED:
		return "the daemon was killed; samples that it had not stored are lost";
	default:
		return NULL;
	}
}

#define HINTS_LONG                                                             \
	"q quit  ? help  Enter open  Esc back  / filter  s sort  e event  t n since  Space pause"
#define HINTS "q quit  ? help  Enter open  / filter  s sort"
#define HINTS_SHORT "q quit  ? help"

static void draw_status(struct optop_grid *grid,
			const struct optop_state *state)
{
	const struct optop_pane *pane = optop_pane(state);
	const char *daemon = what_of_daemon(state), *text = NULL;
	size_t row = grid->nr_rows - 1, columns = grid->nr_columns;
	enum optop_attr attr = OPTOP_ALERT;

	if (state->is_typing) {
		size_t at =
			optop_grid_put(grid, row, 0, SIZE_MAX, OPTOP_BOLD, "/");

		at += optop_grid_put(grid, row, at, SIZE_MAX, OPTOP_BOLD,
				     optop_page(state)->filter);
		optop_grid_put(grid, row, at, 1, OPTOP_BAR, " ");
		return;
	}
	if (*state->status)
		text = state->status;
	else if (*pane->why_not.text && pane->shown.nr)
		text = pane->why_not.text;
	else if (daemon)
		text = daemon;
	else if (pane->shown.nr && pane->reading->note)
		text = pane->reading->note;
	if (!text && !state->is_once) {
		attr = OPTOP_FAINT;
		text = state->overlay
			       ? "Up and Down scroll; any other key closes this"
		       : sizeof(HINTS_LONG) <= columns ? HINTS_LONG
		       : sizeof(HINTS) <= columns      ? HINTS
						       : HINTS_SHORT;
	}
	if (text)
		optop_grid_put(grid, row, 0, SIZE_MAX, attr, text);
}

/* ---- all of it ----------------------------------------------------------- */

void optop_draw(struct optop_grid *grid, struct optop_state *state)
{
	draw_session(grid, state);
	draw_event(grid, state);
	draw_views(grid, state);
	draw_heads(grid, state);
	if (state->overlay == OPTOP_HELP)
		draw_help(grid, state);
	else if (state->overlay == OPTOP_WARNINGS)
		draw_warnings(grid, state);
	else
		draw_rows(grid, state);
	draw_status(grid, state);
}
