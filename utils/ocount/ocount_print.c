// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Printing counts: a table, or a line for each count with commas between.
 *
 * Columns are as wide as their widest cell. Each line is made twice, first to
 * measure it: lines are few, and nothing has to be kept. Rates are per second
 * of the time that an event was to be counted; a clock is shown as the number
 * of CPUs it was in use on.
 */

#include "utils/ocount/ocount_print.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "utils/ocount/ocount_number.h"

/* Columns of the table; each line is made twice, first to measure it. */
enum { EVENT, WHO, COUNT, PERCENT, RATE, NR_COLUMNS };

#define CELL_MAX 128

struct line {
	const char *event;
	char cells[NR_COLUMNS][CELL_MAX]; /* but for the event */
};

static const char not_counted[] = "not counted";

/* ---- cells --------------------------------------------------------------- */

/* Add the ratio of the count to another event that was counted in the same
 * group. */
static void add_ratio(char *cell, const struct ocount_result *result, size_t e,
		      size_t group)
{
	const struct ocount_event *event = &result->events->list[e];
	const struct ocount_event *base =
		ocount_event_base(result->events, event);
	uint64_t count = ocount_result_get(result, e, group)->count, whole;
	size_t len = strlen(cell);

	if (!base)
		return;
	whole = ocount_result_get(result, (size_t)(base - result->events->list),
				  group)
			->count;
	if (!whole)
		return;
	if (base->config == PERF_COUNT_HW_CPU_CYCLES &&
	    base->type == PERF_TYPE_HARDWARE)
		snprintf(cell + len, CELL_MAX - len, ", %.2f per cycle",
			 (double)count / (double)whole);
	else
		snprintf(cell + len, CELL_MAX - len, ", %.2f %% of %.40s",
			 100 * (double)count / (double)whole, base->name);
}

/*
 * Per second of the time that it was to be counted in: of a task that is time
 * on a CPU.
 */
static void rate_cell(char *cell, const struct ocount_result *result, size_t e,
		      size_t group)
{
	const struct ocount_count *count = ocount_result_get(result, e, group);
	char number[OCOUNT_NUMBER_MAX];
	enum ocount_state state = ocount_count_state(count);

	*cell = '\0';
	if (state == OCOUNT_NOT_COUNTED || !count->count)
		return;
	if (ocount_event_is_clock(&result->events->list[e])) {
		if (result->ns)
			snprintf(cell, CELL_MAX, "%.3f CPUs",
				 (double)count->count / (double)result->ns);
		return;
	}
	snprintf(cell, CELL_MAX, "%s/s%s",
		 ocount_number_unit(number, (double)count->count * 1e9 /
						    (double)count->enabled),
		 state == OCOUNT_SCALED ? ", scaled" : "");
	add_ratio(cell, result, e, group);
}

/* ---- the table ----------------------------------------------------------- */

static void make_line(struct line *line, const struct ocount_result *result,
		      size_t e, size_t group)
{
	const struct ocount_count *count = ocount_result_get(result, e, group);
	const struct ocount_target *target = &result->targets->list[group];
	enum ocount_state state = ocount_count_state(count);
	char number[OCOUNT_NUMBER_MAX];

	line->event = result->events->list[e].name;
	if (target->pid < 0)
		snprintf(line->cells[WHO], CELL_MAX, "%d", target->cpu);
	else
		snprintf(line->cells[WHO], CELL_MAX, "%d %s", (int)target->pid,
			 target->comm);
	snprintf(line->cells[COUNT], CELL_MAX, "%s",
		 state == OCOUNT_NOT_COUNTED
			 ? not_counted
			 : ocount_number_group(number, count->count));
	if (state == OCOUNT_NEVER_RAN)
		strcpy(line->cells[PERCENT], "never ran");
	else
		snprintf(line->cells[PERCENT], CELL_MAX, "%.2f",
			 ocount_count_percent(count));
	rate_cell(line->cells[RATE], result, e, group);
}

static void make_heading(struct line *line, const struct ocount_result *result)
{
	bool is_cpu = result->targets->list[0].pid < 0;

	line->event = "Event";
	strcpy(line->cells[WHO], is_cpu ? "CPU" : "Thread");
	strcpy(line->cells[COUNT], "Count");
	strcpy(line->cells[PERCENT], "% time counted");
	strcpy(line->cells[RATE], "Rate");
}

static void measure_line(const struct line *line, int *widths)
{
	int len = (int)strlen(line->event);

	if (len > widths[EVENT])
		widths[EVENT] = len;
	for (int i = WHO; i < NR_COLUMNS; i++) {
		len = (int)strlen(line->cells[i]);
		if (len > widths[i])
			widths[i] = len;
	}
}

static void print_line(FILE *file, const struct line *line, const int *widths,
		       bool separate)
{
	const char *rate = line->cells[RATE];

	fprintf(file, "\t%-*s  ", widths[EVENT], line->event);
	if (separate)
		fprintf(file, "%-*s  ", widths[WHO], line->cells[WHO]);
	fprintf(file, "%*s  %*s%s%s\n", widths[COUNT], line->cells[COUNT],
		widths[PERCENT], line->cells[PERCENT], *rate ? "  " : "", rate);
}

static void print_table(FILE *file, const struct ocount_style *style,
			const struct ocount_result *result)
{
	int widths[NR_COLUMNS] = { 0 };
	struct line line;

	make_heading(&line, result);
	measure_line(&line, widths);
	for (size_t e = 0; e < result->events->nr; e++) {
		for (size_t g = 0; g < result->nr_groups; g++) {
			make_line(&line, result, e, g);
			measure_line(&line, widths);
		}
	}
	make_heading(&line, result);
	print_line(file, &line, widths, style->separate);
	for (size_t e = 0; e < result->events->nr; e++) {
		for (size_t g = 0; g < result->nr_groups; g++) {
			make_line(&line, result, e, g);
			print_line(file, &line, widths, style->separate);
		}
	}
}

static void print_long(FILE *file, const struct ocount_style *style,
		       const struct ocount_result *result)
{
	char time[OCOUNT_NUMBER_MAX];

	fprintf(file, "Events were actively counted for %s.\n",
		ocount_number_time(time, result->ns));
	fprintf(file, "Event counts (%s) for %s:\n",
		ocount_result_is_scaled(result) ? "scaled" : "actual",
		style->subject);
	print_table(file, style, result);
}

/* ---- brief --------------------------------------------------------------- */

static void print_brief(FILE *file, const struct ocount_style *style,
			const struct ocount_result *result, size_t e,
			size_t group)
{
	const struct ocount_target *target = &result->targets->list[group];
	const struct ocount_count *count = ocount_result_get(result, e, group);
	enum ocount_state state = ocount_count_state(count);

	if (style->separate)
		fprintf(file, "%d,",
			target->pid < 0 ? target->cpu : (int)target->pid);
	fprintf(file, "%s,", result->events->list[e].name);
	if (state == OCOUNT_NOT_COUNTED)
		fputs(not_counted, file);
	else
		fprintf(file, "%" PRIu64, count->count);
	fprintf(file, ",%.2f%s\n", ocount_count_percent(count),
		state == OCOUNT_SCALED ? ",scaled" : "");
}

/* -------------------------------------------------------------------------- */

static void print_now(FILE *file, const struct ocount_style *style)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(file, "%s%jd.%03ld\n",
		style->brief ? "timestamp,"
			     : "Current time (seconds since epoch): ",
		(intmax_t)now.tv_sec, now.tv_nsec / 1000000);
}

void ocount_print(FILE *file, const struct ocount_style *style,
		  const struct ocount_result *result)
{
	if (!style->brief)
		fputc('\n', file);
	if (style->intervals)
		print_now(file, style);
	if (!style->brief) {
		print_long(file, style, result);
		return;
	}
	for (size_t e = 0; e < result->events->nr; e++)
		for (size_t g = 0; g < result->nr_groups; g++)
			print_brief(file, style, result, e, g);
}
