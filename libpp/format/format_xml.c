// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XML by opreport.xsd: that is the schema 3.0 of the original profiler with
 * the element "account", names of tasks, lines of sources and several counts in
 * an element added, which are left out, or added up, where a program has only
 * the original's schema (options->xml_classic). Its head is here, then binaries
 * or processes (xml_applications.c), then what is known of the symbols
 * (xml_symbols.c). Programs parse this with the schema in hand, so even the
 * blanks are where the original had them, and where the original did something
 * odd (a binary counts without its modules), we do the same.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/xml.h"

/* ---- events ---------------------------------------------------------------
 */

/* The first class that counts the event of class @i. */
static size_t first_of_event(const struct pp_xml *x, size_t i)
{
	size_t first = 0;

	while (!pp_same_event(pp_xml_class(x, first), pp_xml_class(x, i)))
		first++;
	return first;
}

/* The number of the event of class @i, counted from 0. */
static size_t event_nr(const struct pp_xml *x, size_t i)
{
	size_t nr = 0, first = first_of_event(x, i);

	for (size_t j = 0; j < first; j++)
		nr += first_of_event(x, j) == j;
	return nr;
}

/* ---- the head ------------------------------------------------------------ */

static void xml_write_profile(const struct pp_xml *x)
{
	const struct pp_classes *classes = &x->report->classes;
	const char *type =
		*x->report->cpu.type ? x->report->cpu.type : "unknown";
	const char *slash = strchr(type, '/');
	char arch[sizeof(x->report->cpu.type)];
	size_t nr_cpus = 0;

	snprintf(arch, sizeof(arch), "%.*s",
		 slash ? (int)(slash - type) : (int)sizeof(arch) - 1, type);
	fputs("<?xml version=\"1.0\" ?>\n<profile", x->out);
	op_xml_attr(x->out, " schemaversion", "3.0");
	op_xml_attr(x->out, "cputype", arch);
	fputc('\n', x->out);
	op_xml_attr(x->out, "processor", slash ? slash + 1 : type);
	fputc('\n', x->out);
	for (size_t i = 0; i < classes->nr; i++) {
		size_t j = 0;

		while (pp_xml_class(x, j)->cpu != pp_xml_class(x, i)->cpu)
			j++;
		nr_cpus += i == j;
	}
	if (nr_cpus > 1 || pp_xml_has_cpus(x)) {
		op_xml_number(x->out, "separatedcpus", nr_cpus);
		fputc('\n', x->out);
	}
	fprintf(x->out, " mhz=\"%.2f\"\n", x->report->cpu.khz / 1000.0);
	op_xml_attr(x->out, "title",
		    x->options->command ? x->options->command : "");
	fputs(">\n", x->out);
}

static void xml_write_options(const struct pp_xml *x)
{
	const struct pp_format_options *o = x->options;
	const struct {
		const char *name, *value;
	} attrs[] = {
		{ "session", o->words },
		{ "debuginfo", x->report->lines.made ? "true" : NULL },
		{ "details", x->report->symbols.has_details ? "true" : NULL },
		{ "excludedependent", o->exclude_dependent ? "true" : NULL },
		{ "excludesymbols", o->exclude_symbols },
		{ "imagepath", o->image_path },
		{ "includesymbols", o->include_symbols },
		{ "merge", o->merge },
	};
	bool any = false;

	fputs("<options", x->out);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (attrs[i].value && !any)
			fputc(' ', x->out);
		any |= attrs[i].value != NULL;
		op_xml_attr(x->out, attrs[i].name, attrs[i].value);
	}
	fputs(any ? "/>\n" : " />\n", x->out);
}

static void xml_write_setup(const struct pp_xml *x)
{
	fputs("<setup>\n", x->out);
	for (size_t i = 0; i < x->report->classes.nr; i++) {
		const struct pp_class *class = pp_xml_class(x, i);

		if (first_of_event(x, i) != i)
			continue;
		if (pp_class_is_timer(class)) {
			fputs("<timersetup ", x->out);
			op_xml_number(x->out, "rtcinterrupts",
				      x->report->cpu.timer_hz);
		} else {
			fputs("<eventsetup ", x->out);
			op_xml_number(x->out, "id", event_nr(x, i));
			op_xml_attr(x->out, "eventname", class->event);
			op_xml_number(x->out, "unitmask",
				      class->counted_unit_mask);
			op_xml_number(x->out, "setupcount", class->count);
			if (pp_is_scaled(class) && !x->options->xml_classic)
				fprintf(x->out,
					" timecounted=\"%.4g\" scale=\"%.6g\"",
					100 / class->scale, class->scale);
		}
		fputs("/>\n", x->out);
	}
	fputs("</setup>\n", x->out);
}

static void xml_write_account(const struct pp_xml *x,
			      const struct op_ledger *account)
{
	fputs("<account ", x->out);
	op_xml_attr(x->out, "source", account->source);
	op_xml_number(x->out, "taken", account->taken);
	op_xml_number(x->out, "stored", account->stored);
	op_xml_number(x->out, "pending", account->pending);
	op_xml_number(x->out, "lost", op_ledger_lost(account));
	if (pp_rate_was_lowered(account))
		fprintf(x->out,
			" loweredby=\"%" PRIu64
			"\" loweredfor=\"%.1f\" of=\"%.1f\"",
			account->costs[OP_COST_DIVISOR],
			(double)account->costs[OP_COST_LOWERED] / 1e9,
			(double)account->costs[OP_COST_TIME] / 1e9);
	if (account->costs[OP_COST_CPUS])
		fprintf(x->out, " cost=\"%.3f\"",
			100 * op_ledger_cost(account));
	fputs(">\n", x->out);
	for (unsigned int i = 0; i < account->nr_causes; i++) {
		fputs("<loss ", x->out);
		op_xml_attr(x->out, "cause", account->causes[i].name);
		op_xml_number(x->out, "samples", account->causes[i].nr);
		fputs("/>\n", x->out);
	}
	fputs("</account>\n", x->out);
}

/* Seconds since the epoch. */
static void xml_write_time(const struct pp_xml *x, const char *name,
			   uint64_t ns)
{
	char text[PP_TIME_TEXT_LEN];

	op_xml_attr(x->out, name, pp_time_seconds(text, ns));
}

static void xml_write_history(const struct pp_xml *x,
			      const struct pp_history *history)
{
	fputs("<history", x->out);
	xml_write_time(x, "begin", history->begin);
	xml_write_time(x, "end", history->end);
	op_xml_number(x->out, "spans", history->nr_spans);
	if (history->dropped_end) {
		op_xml_number(x->out, "droppedend", history->dropped_end);
		op_xml_number(x->out, "droppedsamples",
			      history->dropped_samples);
	}
	fputs("/>\n", x->out);
}

static void xml_write_classes(const struct pp_xml *x)
{
	bool several_events = false, masks = false;

	if (x->one_column)
		return;
	for (size_t i = 0; i < x->report->classes.nr; i++) {
		several_events |= first_of_event(x, i) > 0;
		masks |= pp_xml_class(x, i)->unit_mask !=
			 pp_xml_class(x, 0)->unit_mask;
	}
	fputs("<classes>\n", x->out);
	for (size_t i = 0; i < x->report->classes.nr; i++) {
		const struct pp_class *class = pp_xml_class(x, i);

		if (x->column[i] != i)
			continue;
		fprintf(x->out, "<class  name=\"c%zu\"",
			pp_xml_column_nr(x, i));
		if (class->cpu != OP_MANGLE_ALL)
			op_xml_number(x->out, "cpu", (uint64_t) class->cpu);
		if (several_events)
			op_xml_number(x->out, "event", event_nr(x, i));
		if (masks)
			op_xml_number(x->out, "mask", class->unit_mask);
		if (class->end) {
			xml_write_time(x, "begin", class->begin);
			xml_write_time(x, "end", class->end);
		}
		fputs("/>\n", x->out);
	}
	fputs("</classes>\n", x->out);
}

/* ---- all of it ----------------------------------------------------------- */

static int init_xml(struct pp_xml *x)
{
	size_t nr = x->report->classes.nr,
	       nr_symbols = x->report->symbols.nr_known;
	struct op_arena *arena = &x->arena;

	x->vma_digits = pp_vma_digits(x->report);
	x->column = op_arena_alloc(arena, nr, sizeof(*x->column));
	x->sums = op_arena_alloc(arena, nr, sizeof(*x->sums));
	x->symbols = op_arena_alloc(arena, nr_symbols, sizeof(*x->symbols));
	x->by_id = op_arena_alloc(arena, nr_symbols, sizeof(*x->by_id));
	if (!x->column || !x->sums || !x->symbols || !x->by_id)
		return -ENOMEM;
	pp_xml_find_columns(x);
	return pp_xml_find_heads(x);
}

int pp_format_xml(FILE *out, const struct pp_report *report,
		  const struct pp_format_options *options)
{
	struct pp_xml x = { .out = out, .report = report, .options = options };
	int err;

	op_arena_init(&x.arena);
	err = init_xml(&x);
	if (!err) {
		xml_write_profile(&x);
		xml_write_options(&x);
		xml_write_setup(&x);
		if (report->account && !options->xml_classic)
			xml_write_account(&x, report->account);
		if (report->history.end && !options->xml_classic)
			xml_write_history(&x, &report->history);
		fputc('\n', out);
		xml_write_classes(&x);
		pp_xml_applications(&x);
		pp_xml_tables(&x);
		fputs("</profile>\n", out);
	}
	op_arena_release(&x.arena);
	return err;
}
