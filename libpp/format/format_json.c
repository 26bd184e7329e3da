// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON, described in doc/reports.md. Unlike the tables for people, JSON holds
 * everything that the report model has: all classes side by side as arrays in
 * the order of "classes", exact counts beside shares, and the account with all
 * its causes. A change that may mislead a reader raises JSON_VERSION; a new
 * key does not, because readers skip keys that they do not know.
 */

#include <stdio.h>

#include "libpp/format/format.h"
#include "libpp/format/page.h"
#include "libpp/report/interval.h"
#include "libpp/report/report_times.h"
#include "libop/base/op_json.h"
#include "libop/image/op_runtime.h"

#define JSON_VERSION 1

struct writer {
	struct op_json json;
	const struct pp_report *report;
};

/* Seconds since the epoch; @ns is whole ones but for slices of time lines. */
static void json_write_time(struct op_json *json, const char *key, uint64_t ns)
{
	char text[PP_TIME_TEXT_LEN];

	op_json_digits(json, key, pp_time_seconds(text, ns));
}

/* ---- what was counted ---------------------------------------------------- */

static void json_write_id(struct writer *w, const char *key, int64_t id)
{
	if (id != OP_MANGLE_ALL)
		op_json_i64(&w->json, key, id);
}

/* Its counts are samples times "scale". */
static void json_write_scale(struct writer *w, const struct pp_class *class,
			     uint64_t total)
{
	struct pp_interval interval = pp_class_total_interval(class, total);

	op_json_double(&w->json, "scale", class->scale);
	op_json_double(&w->json, "time_counted_percent", 100 / class->scale);
	op_json_u64(&w->json, "time_enabled_ns", class->enabled);
	op_json_u64(&w->json, "time_counted_ns", class->running);
	op_json_open(&w->json, "samples_interval", '[');
	op_json_double(&w->json, NULL, interval.low);
	op_json_double(&w->json, NULL, interval.high);
	op_json_close(&w->json, ']');
}

static void json_write_class(struct writer *w, size_t i)
{
	const struct pp_class *class = &w->report->classes.classes[i];
	const struct pp_event_text *text = &w->report->cpu.event_texts[i];
	struct op_json *json = &w->json;

	op_json_open(json, NULL, '{');
	op_json_text(json, "name", class->name);
	op_json_text(json, "event", class->event);
	if (text->event)
		op_json_text(json, "description", text->event);
	op_json_u64(json, "count", class->count);
	if (!class->unit_masks_differ)
		op_json_u64(json, "unit_mask", class->counted_unit_mask);
	if (text->unit_mask)
		op_json_text(json, "unit_mask_description", text->unit_mask);
	if (class->periods) {
		op_json_u64(json, "periods", class->periods);
		op_json_u64(json, "sum_of_periods", class->sum_of_periods);
	}
	if (pp_is_scaled(class))
		json_write_scale(w, class, w->report->totals[i]);
	json_write_id(w, "tgid", class->tgid);
	json_write_id(w, "tid", class->tid);
	json_write_id(w, "cpu", class->cpu);
	if (class->process)
		op_json_text(json, "process", class->process);
	if (class->thread)
		op_json_text(json, "thread", class->thread);
	if (class->mounts)
		op_json_u64(json, "mount_namespace", class->mounts);
	if (class->cgroup) {
		if (*class->cgroup)
			op_json_text(json, "cgroup", class->cgroup);
		op_json_text(json, "cgroup_name", class->cgroup_name);
	}
	if (class->session && w->report->classes.by_label) {
		op_json_text(json, "label", w->report->classes.by_label);
		op_json_text(json, "label_value", class->session);
	} else if (class->session) {
		op_json_text(json, "session", class->session);
	}
	if (class->end) {
		json_write_time(json, "begin", class->begin);
		json_write_time(json, "end", class->end);
	}
	op_json_u64(json, "samples", w->report->totals[i]);
	if (w->report->symbols.made)
		op_json_u64(json, "symbol_samples",
			    w->report->symbols.totals[i]);
	if (w->report->old.symbol_totals)
		op_json_u64(json, "old_symbol_samples",
			    w->report->old.symbol_totals[i]);
	op_json_close(json, '}');
}

static void json_write_cpu(struct writer *w)
{
	const struct pp_report *report = w->report;

	op_json_open(&w->json, "cpu", '{');
	op_json_text(&w->json, "type", report->cpu.type);
	op_json_text(&w->json, "title", report->cpu.title);
	if (report->cpu.khz)
		op_json_u64(&w->json, "khz", report->cpu.khz);
	if (report->cpu.timer_hz)
		op_json_u64(&w->json, "timer_hz", report->cpu.timer_hz);
	op_json_close(&w->json, '}');
}

static void json_write_history(struct writer *w, const char *key,
			       const struct pp_history *history)
{
	struct op_json *json = &w->json;

	if (!history->end)
		return;
	op_json_open(json, key, '{');
	json_write_time(json, "begin", history->begin);
	json_write_time(json, "end", history->end);
	if (history->nr_spans > history->nr_slices)
		op_json_u64(json, "spans",
			    history->nr_spans - history->nr_slices);
	if (history->nr_slices)
		op_json_u64(json, "slices", history->nr_slices);
	if (history->is_part) {
		json_write_time(json, "asked_begin", history->asked_begin);
		json_write_time(json, "asked_end", history->asked_end);
	}
	if (history->dropped_end) {
		op_json_u64(json, "dropped_end", history->dropped_end);
		op_json_u64(json, "dropped_samples", history->dropped_samples);
	}
	op_json_close(json, '}');
}

static void json_write_account(struct writer *w, const char *key,
			       const struct op_ledger *account)
{
	struct op_json *json = &w->json;

	if (!account)
		return;
	op_json_open(json, key, '{');
	op_json_text(json, "source", account->source);
	op_json_u64(json, "taken", account->taken);
	op_json_u64(json, "stored", account->stored);
	op_json_u64(json, "pending", account->pending);
	op_json_u64(json, "lost", op_ledger_lost(account));
	op_json_open(json, "causes", '{');
	for (unsigned int i = 0; i < account->nr_causes; i++)
		op_json_u64(json, account->causes[i].name,
			    account->causes[i].nr);
	op_json_close(json, '}');
	if (pp_has_run(account)) {
		op_json_open(json, "run", '{');
#define X(name, size)                                                          \
	if (*account->run.name)                                                \
		op_json_text(json, #name, account->run.name);
		OP_RUN_TEXTS(X)
#undef X
#define X(name)                                                                \
	if (account->run.name)                                                 \
		op_json_u64(json, #name, account->run.name);
		OP_RUN_NUMBERS(X)
#undef X
		op_json_close(json, '}');
	}
	if (pp_has_stacks(account)) {
		op_json_open(json, "stacks", '{');
		for (unsigned int i = 0; i < OP_NR_STACKS; i++)
			op_json_u64(json, op_ledger_stacks_name(i),
				    account->stacks[i]);
		op_json_close(json, '}');
	}
	if (account->costs[OP_COST_CPUS]) {
		op_json_open(json, "cost", '{');
		for (unsigned int i = 0; i < OP_NR_COSTS; i++)
			op_json_u64(json, op_ledger_cost_name(i),
				    account->costs[i]);
		op_json_double(json, "percent", 100 * op_ledger_cost(account));
		op_json_close(json, '}');
	}
	op_json_close(json, '}');
}

/* Where the old profile of a comparison has scaled counts. */
static void json_write_old_scales(struct writer *w)
{
	const struct pp_classes *old = &w->report->old.classes;
	bool any = false;

	for (size_t c = 0; c < old->nr; c++)
		any |= pp_is_scaled(&old->classes[c]);
	if (!any)
		return;
	op_json_open(&w->json, "old_scales", '[');
	for (size_t c = 0; c < old->nr; c++)
		op_json_double(&w->json, NULL, old->classes[c].scale);
	op_json_close(&w->json, ']');
}

/* By how many samples, where these stand for time or events. */
static void json_write_difference(struct op_json *json,
				  const struct pp_change *change)
{
	op_json_double(json, "difference", change->difference);
	op_json_double(json, "difference_low", change->least);
	op_json_double(json, "difference_high", change->most);
	op_json_bool(json, "differs", change->differs);
}

/* The measure of each class, and the change of all its samples. */
static void json_write_measures(struct writer *w)
{
	const struct pp_old_profile *old = &w->report->old;
	struct op_json *json = &w->json;
	bool any = false;

	for (size_t c = 0; old->made && c < w->report->classes.nr; c++)
		any |= old->measures[c].per_sample > 0;
	if (!any)
		return;
	op_json_open(json, "compared", '[');
	for (size_t c = 0; c < w->report->classes.nr; c++) {
		const struct pp_measure *m = &old->measures[c];
		const struct pp_change *change = &old->total_changes[c];

		op_json_open(json, NULL, '{');
		if (m->per_sample > 0) {
			op_json_double(json,
				       m->is_time ? "seconds_per_sample"
						  : "events_per_sample",
				       m->per_sample);
			op_json_u64(json, "old_samples", old->totals[c]);
			op_json_u64(json, "samples", w->report->totals[c]);
			op_json_double(json, "percent", change->percent);
			op_json_double(json, "low", change->low);
			op_json_double(json, "high", change->high);
			op_json_double(json, "p", change->p);
			json_write_difference(json, change);
		}
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

/* Runtimes whose interpreters' frames are not shown. */
static void json_write_folded(struct writer *w)
{
	const struct pp_report *report = w->report;

	if (!report->missing.nr_folded)
		return;
	op_json_open(&w->json, "folded", '[');
	for (size_t i = 0; i < report->missing.nr_folded; i++)
		op_json_text(&w->json, NULL, report->missing.folded[i]->name);
	op_json_close(&w->json, ']');
}

/* How long threads ran and waited, in nanoseconds. */
static void json_write_times(struct writer *w)
{
	const struct pp_symbol_table *symbols = &w->report->symbols;
	struct op_json *json = &w->json;
	struct pp_times times;

	if (!pp_has_times(w->report))
		return;
	pp_report_times(w->report, &times);
	op_json_open(json, "times", '{');
	if (times.has_ran)
		op_json_u64(json, "ran_ns", times.ran);
	op_json_u64(json, "waited_ns", times.waited);
	if (times.blocked)
		op_json_u64(json, "blocked_ns", times.blocked);
	if (times.ready)
		op_json_u64(json, "ready_ns", times.ready);
	op_json_open(json, "waited_for_ns", '{');
	for (size_t i = 0; i < symbols->nr_waits; i++)
		op_json_u64(json, symbols->waits[i].name, symbols->waits[i].ns);
	op_json_close(json, '}');
	op_json_close(json, '}');
}

void pp_json_profile(struct op_json *json, const struct pp_report *report)
{
	struct writer w = { .json = *json, .report = report };

	json_write_cpu(&w);
	op_json_open(&w.json, "classes", '[');
	for (size_t i = 0; i < report->classes.nr; i++)
		json_write_class(&w, i);
	op_json_close(&w.json, ']');
	json_write_times(&w);
	json_write_folded(&w);
	json_write_old_scales(&w);
	json_write_measures(&w);
	json_write_history(&w, "history", &report->history);
	json_write_history(&w, "old_history", &report->old.history);
	json_write_account(&w, "account", report->account);
	json_write_account(&w, "old_account", report->old.account);
	if (report->messages.nr_unread)
		op_json_u64(&w.json, "unread_files",
			    report->messages.nr_unread);
	*json = w.json;
}

/* ---- counts -------------------------------------------------------------- */

/* An array with an element for each class. */
static void json_write_counts(struct writer *w, const char *key,
			      const uint64_t *counts)
{
	op_json_open(&w->json, key, '[');
	for (size_t c = 0; c < w->report->classes.nr; c++)
		op_json_u64(&w->json, NULL, counts[c]);
	op_json_close(&w->json, ']');
}

/* Shares called @key, and, if asked for, intervals called @key_interval. */
static void json_write_percents(struct writer *w, const char *key,
				const uint64_t *counts, const uint64_t *totals)
{
	struct op_json *json = &w->json;
	char interval[32];

	op_json_open(json, key, '[');
	for (size_t c = 0; c < w->report->classes.nr; c++)
		op_json_double(json, NULL, pp_percent(counts[c], totals[c]));
	op_json_close(json, ']');
	if (!w->report->intervals)
		return;
	snprintf(interval, sizeof(interval), "%s_interval", key);
	op_json_open(json, interval, '[');
	for (size_t c = 0; c < w->report->classes.nr; c++) {
		struct pp_interval i = pp_scaled_share_interval(
			counts[c], totals[c],
			pp_class_grain(&w->report->classes.classes[c]));

		op_json_open(json, NULL, '[');
		op_json_double(json, NULL, 100 * i.low);
		op_json_double(json, NULL, 100 * i.high);
		op_json_close(json, ']');
	}
	op_json_close(json, ']');
}

static void json_write_shares(struct writer *w, const uint64_t *counts,
			      const uint64_t *totals)
{
	json_write_counts(w, "samples", counts);
	json_write_percents(w, "percent", counts, totals);
}

static void json_write_place(struct writer *w, const struct pp_place *place)
{
	if (!place->file)
		return;
	op_json_text(&w->json, "file", place->file);
	op_json_u64(&w->json, "line", place->line);
}

static void json_write_address(struct writer *w, uint64_t vma)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)vma);
	op_json_text(&w->json, "address", text);
}

static void json_write_changes(struct writer *w,
			       const struct pp_symbol_entry *entry)
{
	static const char *const presence[] = {
		[PP_BOTH] = "both",
		[PP_NEW] = "new",
		[PP_GONE] = "gone",
	};
	struct op_json *json = &w->json;

	op_json_text(json, "presence", presence[entry->presence]);
	json_write_counts(w, "old_samples", entry->old_counts);
	op_json_open(json, "change", '[');
	for (size_t c = 0; c < w->report->classes.nr; c++) {
		const struct pp_change *change = &entry->changes[c];

		op_json_open(json, NULL, '{');
		op_json_double(json, "percent", change->percent);
		if (w->report->old.measures[c].per_sample > 0)
			json_write_difference(json, change);
		if (w->report->intervals) {
			op_json_double(json, "low", change->low);
			op_json_double(json, "high", change->high);
			op_json_double(json, "p", change->p);
			op_json_bool(json, "significant", change->significant);
		}
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

/* ---- rows ---------------------------------------------------------------- */

static void json_write_details(struct writer *w,
			       const struct pp_symbol_entry *entry)
{
	struct op_json *json = &w->json;

	op_json_open(json, "addresses", '[');
	for (size_t i = 0; i < entry->nr_details; i++) {
		op_json_open(json, NULL, '{');
		json_write_address(w, entry->details[i].vma);
		json_write_counts(w, "samples", entry->details[i].counts);
		json_write_place(w, &entry->details[i].place);
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

static void json_write_identity(struct writer *w,
				const struct pp_symbol_entry *entry)
{
	struct op_json *json = &w->json;

	op_json_text(json, "application", entry->app);
	op_json_text(json, "image", entry->image->name);
	op_json_text(json, "symbol", entry->name);
	op_json_text(json, "raw_symbol", entry->raw_name);
	if (entry->is_inlined)
		op_json_bool(json, "inlined", true);
	if (entry->wait)
		op_json_text(json, "waits_for", entry->wait);
	if (entry->source)
		op_json_text(json, "source", entry->source);
	if (!entry->size)
		return;
	json_write_address(w, entry->vma);
	op_json_u64(json, "size", entry->size);
}

/* The symbol's own samples are told elsewhere. */
static void json_write_arcs(struct writer *w, const char *key,
			    const struct pp_arc *arcs, size_t nr,
			    const uint64_t *totals)
{
	struct op_json *json = &w->json;

	op_json_open(json, key, '[');
	for (size_t i = 0; i < nr; i++) {
		if (arcs[i].self)
			continue;
		op_json_open(json, NULL, '{');
		json_write_identity(w, arcs[i].other);
		if (arcs[i].recursive)
			op_json_bool(json, "recursive", true);
		json_write_shares(w, arcs[i].counts, totals);
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
}

static void json_write_symbol(struct writer *w,
			      const struct pp_symbol_entry *entry)
{
	const struct pp_neighbours *n = entry->neighbours;
	struct op_json *json = &w->json;

	op_json_open(json, NULL, '{');
	json_write_identity(w, entry);
	json_write_place(w, &entry->place);
	json_write_shares(w, entry->counts, w->report->symbols.totals);
	if (w->report->stack_totals.made) {
		json_write_counts(w, "total", entry->all_counts);
		json_write_percents(w, "total_percent", entry->all_counts,
				    w->report->totals);
	}
	if (w->report->old.made)
		json_write_changes(w, entry);
	if (w->report->symbols.has_details)
		json_write_details(w, entry);
	if (n) {
		json_write_counts(w, "cumulative", n->cumulative);
		json_write_arcs(w, "callers", n->callers, n->nr_callers,
				n->caller_totals);
		json_write_arcs(w, "callees", n->callees, n->nr_callees,
				n->callee_totals);
	}
	op_json_close(json, '}');
}

/* Times are nanoseconds. */
static void json_write_thread(struct writer *w, const struct pp_thread *thread)
{
	const struct pp_thread_table *table = &w->report->summary.threads;
	const struct pp_symbol_table *symbols = &w->report->symbols;
	const struct pp_class *class = thread->class;
	struct op_json *json = &w->json;

	op_json_open(json, NULL, '{');
	op_json_text(json, "name", thread->name);
	json_write_id(w, "tgid", class->tgid);
	if (thread->nr > 1)
		op_json_u64(json, "threads", thread->nr);
	else
		json_write_id(w, "tid", class->tid);
	if (table->has_ran)
		op_json_u64(json, "ran_ns", thread->ran);
	if (table->has_waited) {
		op_json_u64(json, "waited_ns", thread->waited);
		op_json_open(json, "waited_for_ns", '{');
		for (size_t i = 0; i < symbols->nr_waits; i++)
			if (thread->waits[i])
				op_json_u64(json, symbols->waits[i].name,
					    thread->waits[i]);
		op_json_close(json, '}');
	}
	if (table->nr_events)
		op_json_open(json, "events", '[');
	for (size_t i = 0; i < table->nr_events; i++) {
		op_json_open(json, NULL, '{');
		op_json_text(json, "event", table->events[i]->event);
		op_json_u64(json, "count", table->events[i]->count);
		op_json_u64(json, "samples", thread->counts[i]);
		op_json_close(json, '}');
	}
	if (table->nr_events)
		op_json_close(json, ']');
	op_json_close(json, '}');
}

static void json_write_app(struct writer *w, const struct pp_summary_app *app)
{
	struct op_json *json = &w->json;

	op_json_open(json, NULL, '{');
	op_json_text(json, "application", app->name);
	json_write_shares(w, app->counts, w->report->totals);
	op_json_open(json, "images", '[');
	for (size_t i = 0; i < app->nr_images; i++) {
		op_json_open(json, NULL, '{');
		op_json_text(json, "image", app->images[i].name);
		json_write_shares(w, app->images[i].counts, w->report->totals);
		op_json_close(json, '}');
	}
	op_json_close(json, ']');
	op_json_close(json, '}');
}

int pp_format_json(FILE *out, const struct pp_report *report,
		   const struct pp_format_options *options)
{
	struct writer w = { .json.out = out, .report = report };
	struct op_json *json = &w.json;

	(void)options;
	op_json_open(json, NULL, '{');
	op_json_text(json, "format", "oprofile-report");
	op_json_u64(json, "version", JSON_VERSION);
	pp_json_profile(json, report);
	op_json_open(json, "applications", '[');
	for (size_t i = 0; i < report->summary.nr_apps; i++)
		json_write_app(&w, &report->summary.apps[i]);
	op_json_close(json, ']');
	if (report->symbols.made) {
		op_json_open(json, report->lines.split ? "lines" : "symbols",
			     '[');
		for (size_t i = 0; i < report->symbols.nr; i++)
			json_write_symbol(&w, &report->symbols.list[i]);
		op_json_close(json, ']');
	}
	if (report->summary.threads.made) {
		op_json_open(json, "threads", '[');
		for (size_t i = 0; i < report->summary.threads.nr; i++)
			json_write_thread(&w, &report->summary.threads.list[i]);
		op_json_close(json, ']');
	}
	op_json_close(json, '}');
	fputc('\n', out);
	return 0;
}
