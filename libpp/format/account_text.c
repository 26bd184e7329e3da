// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sentences that several formats share: the accounts of samples and of stacks,
 * the time of the samples, and the scale of counts.
 */

#include "libpp/format/format.h"

#include <inttypes.h>

#include "libop/base/op_plural.h"
#include "libop/events/op_wait_event.h"
#include "libop/image/op_runtime.h"
#include "libpp/report/report_times.h"

void pp_write_scale(FILE *out, const struct pp_class *class)
{
	fprintf(out,
		"%s was counted %.1f %% of the time: counts are scaled by %.4g, intervals widened",
		class->event, 100 / class->scale, class->scale);
}

bool pp_has_run(const struct op_ledger *account)
{
	const struct op_run *run = &account->run;

	return *run->command || *run->host || *run->kernel || *run->note ||
	       run->start;
}

/* Two significant digits, or whole seconds. */
static int decimals_of_time(uint64_t ns)
{
	return ns < 995000000 ? 2 : ns < 9950000000 ? 1 : 0;
}

static void write_run_times(FILE *out, const struct op_run *run)
{
	if (run->wall_ns)
		fprintf(out, "%.*f s", decimals_of_time(run->wall_ns),
			(double)run->wall_ns / 1e9);
	if (run->cpu_ns)
		fprintf(out, "%s%.*f s of CPU", run->wall_ns ? ", " : "",
			decimals_of_time(run->cpu_ns),
			(double)run->cpu_ns / 1e9);
}

void pp_write_run(FILE *out, const struct op_ledger *account, size_t most)
{
	const struct op_run *run = &account->run;
	const char *before = "";
	char text[sizeof(run->command)], when[PP_TIME_TEXT_LEN];

	if (*run->command) {
		op_run_set_text(text,
				most && most < sizeof(text) ? most + 1
							    : sizeof(text),
				run->command);
		fputs(text, out);
		before = "; ";
	}
	if (run->wall_ns || run->cpu_ns) {
		fputs(*before ? ": " : "", out);
		write_run_times(out, run);
		before = "; ";
	}
	if (*run->host && *run->user)
		snprintf(text, sizeof(text), "%s by %s", run->host, run->user);
	else
		snprintf(text, sizeof(text), "%s%s", *run->user ? "by " : "",
			 *run->user ? run->user : run->host);
	if (*text) {
		fprintf(out, "%s%s", before, text);
		before = ", ";
	}
	if (*run->kernel) {
		fprintf(out, "%sLinux %s", before, run->kernel);
		before = ", ";
	}
	if (run->start) {
		fprintf(out, "%s%.16s", before,
			pp_time_text(when, (time_t)run->start));
		before = ", ";
	}
	/* A rate that was lowered has a line of its own, with the cost. */
	if (account->costs[OP_COST_CPUS] && !pp_rate_was_lowered(account)) {
		double ns = op_ledger_cost_ns(account);

		fprintf(out, "%scost %.*f s of CPU, %.2f %%",
			*before ? "; " : "", decimals_of_time((uint64_t)ns),
			ns / 1e9, 100 * op_ledger_cost(account));
		before = "; ";
	}
	if (*run->note)
		fprintf(out, "%snote: %s", *before ? "; " : "", run->note);
}

static void write_causes(FILE *out, const struct op_ledger *account)
{
	const char *before = " (";

	for (unsigned int i = 0; i < account->nr_causes; i++) {
		const struct op_ledger_cause *cause = &account->causes[i];

		if (!cause->nr)
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, cause->nr,
			cause->name);
		before = ", ";
	}
	if (*before == ',')
		fputc(')', out);
}

void pp_write_samples(FILE *out, const struct op_ledger *account)
{
	fprintf(out,
		"%" PRIu64 " taken = %" PRIu64 " stored + %" PRIu64 " lost",
		account->taken, account->stored, op_ledger_lost(account));
	write_causes(out, account);
	if (account->pending)
		fprintf(out, " + %" PRIu64 " pending", account->pending);
}

static void write_times(FILE *out, const struct op_ledger *account)
{
	const char *before = "; scaled: ";

	for (unsigned int i = 0; i < account->nr_events; i++) {
		const struct op_ledger_event *event = &account->events[i];
		double percent = pp_percent(event->running, event->enabled);

		/* An event that lacks less does so because counters take time
		 * to start. */
		if (!event->enabled || percent >= 99.99)
			continue;
		fprintf(out, "%s%s:%" PRIu64 " was counted %.1f %% of the time",
			before, event->name, event->count, percent);
		before = ", ";
	}
}

static void write_periods(FILE *out, const struct op_ledger *account)
{
	for (unsigned int i = 0; i < account->nr_events; i++) {
		const struct op_ledger_event *event = &account->events[i];

		if (!event->periods)
			continue;
		fputs("; ", out);
		op_ledger_print_periods(out, event->name, event->periods,
					event->sum_of_periods);
	}
}

bool pp_rate_was_lowered(const struct op_ledger *account)
{
	return account->costs[OP_COST_DIVISOR] && account->costs[OP_COST_TIME];
}

void pp_write_lowered(FILE *out, const struct op_ledger *account)
{
	op_ledger_print_lowered(out, account->costs);
	fprintf(out,
		"; cost %.2f %%: each sample stands for several, intervals are wider",
		100 * op_ledger_cost(account));
}

void pp_write_account(FILE *out, const struct op_ledger *account)
{
	pp_write_samples(out, account);
	write_times(out, account);
	write_periods(out, account);
	if (!pp_rate_was_lowered(account))
		return;
	fputs("; rate lowered ", out);
	pp_write_lowered(out, account);
}

bool pp_has_stacks(const struct op_ledger *account)
{
	return op_ledger_stacks_stored(account) ||
	       account->stacks[OP_STACKS_NOT_STORED];
}

void pp_write_stacks(FILE *out, const struct op_ledger *account)
{
	const uint64_t *stacks = account->stacks;

	fprintf(out, "%" PRIu64 " stored = %" PRIu64 " whole",
		op_ledger_stacks_stored(account), stacks[OP_STACKS_WHOLE]);
	for (unsigned int i = OP_STACKS_WHOLE + 1; i <= OP_STACKS_BROKEN; i++)
		if (stacks[i])
			fprintf(out, " + %" PRIu64 " %s", stacks[i],
				op_ledger_stacks_name(i));
	if (stacks[OP_STACKS_NOT_STORED])
		fprintf(out, "; %" PRIu64 " not stored",
			stacks[OP_STACKS_NOT_STORED]);
}

void pp_write_stack_end(FILE *out, const struct pp_report *report)
{
	if (report->missing.stack_end)
		fprintf(out,
			"; %" PRIu64 " end in %s, which has no unwind data",
			report->missing.stack_end_samples,
			report->missing.stack_end);
}

void pp_write_folded(FILE *out, const struct op_runtime *runtime)
{
	fprintf(out,
		"%s: the interpreter's own frames are counted for what called them; --native shows them",
		runtime->name);
}

/* A date, or so long after the begin of the one time line. */
static const char *history_time(char text[PP_TIME_TEXT_LEN],
				const struct pp_history *history, uint64_t at)
{
	uint64_t origin = pp_history_origin(history);

	return origin ? pp_time_since(text, at > origin ? at - origin : 0)
		      : pp_time_text(text, (time_t)(at / PP_TIME_NS));
}

void pp_write_history(FILE *out, const struct pp_history *history)
{
	uint64_t origin = pp_history_origin(history);
	char begin[PP_TIME_TEXT_LEN], end[PP_TIME_TEXT_LEN];

	history_time(begin, history, history->begin);
	history_time(end, history, history->end);
	fprintf(out, "%s to %s, %zu %s%s", begin, end, history->nr_spans,
		history->nr_slices == history->nr_spans ? "slice" : "span",
		op_plural(history->nr_spans));
	if (origin && origin < PP_FIRST_DATE)
		fputs("; the recording has no dates", out);
	else if (origin)
		fprintf(out, " from %s on",
			pp_time_text(begin, (time_t)(origin / PP_TIME_NS)));
	if (history->nr_slices && history->is_part)
		fputs("; the account is of the whole run", out);
	if (history->is_coarse)
		fprintf(out,
			"; asked for %s to %s, but the %s is no finer there",
			history_time(begin, history, history->asked_begin),
			history_time(end, history, history->asked_end),
			history->nr_slices ? "time line" : "history");
	if (history->dropped_end)
		fprintf(out, "; %" PRIu64 " sample%s up to %s dropped",
			history->dropped_samples,
			op_plural(history->dropped_samples),
			pp_time_text(end, (time_t)history->dropped_end));
}

bool pp_has_times(const struct pp_report *report)
{
	struct pp_times times;

	return !report->old.made && pp_report_times(report, &times);
}

static double seconds_of(uint64_t ns)
{
	return (double)ns / 1e9;
}

void pp_write_times(FILE *out, const struct pp_report *report)
{
	struct pp_times times;
	bool has_blocked, has_ready;
	double waited, ran;

	pp_report_times(report, &times);
	has_blocked = times.parts & OP_WAIT_BLOCKED;
	has_ready = times.parts & OP_WAIT_READY;
	waited = seconds_of(times.waited);
	ran = seconds_of(times.ran);
	fputs("Threads ", out);
	if (times.has_ran && has_blocked && has_ready)
		fprintf(out, "ran %.2f s of %.2f s; ", ran, ran + waited);
	else if (times.has_ran)
		fprintf(out, "ran %.2f s; ", ran);
	if (has_ready)
		fprintf(out, "waited %.2f s%s", waited,
			has_blocked ? "" : " for a CPU");
	else
		fprintf(out, "were blocked %.2f s", waited);
	if (has_blocked && times.ready)
		fprintf(out, ": blocked %.2f s, for a CPU %.2f s",
			seconds_of(times.blocked), seconds_of(times.ready));
}

/* Less is not enough to be read. */
static bool wait_matters(const struct pp_wait_sum *wait)
{
	return wait->ns >= 5000000;
}

bool pp_has_waits(const struct pp_report *report)
{
	const struct pp_symbol_table *symbols = &report->symbols;

	/* The longest is first. */
	return symbols->nr_waits && wait_matters(&symbols->waits[0]);
}

void pp_write_waits(FILE *out, const struct pp_report *report)
{
	const struct pp_symbol_table *symbols = &report->symbols;

	fputs("Waited for: ", out);
	for (size_t i = 0; i < symbols->nr_waits; i++)
		if (wait_matters(&symbols->waits[i]))
			fprintf(out, "%s%s %.2f s", i ? ", " : "",
				symbols->waits[i].name,
				seconds_of(symbols->waits[i].ns));
}
