// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XML by the schema of the original profiler, version 3.0, with the element
 * "account" added: its head here, then binaries or processes
 * (xml_applications.c), then what is known of the symbols (xml_symbols.c).
 * Programs parse this with the schema in hand, so even the blanks are where
 * the original had them, and where the original did something odd (a binary
 * counts without its modules), we do the same.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_utf8.h"
#include "libpp/format/xml.h"

/* ---- text ---------------------------------------------------------------- */

/* What XML has no character for (XML 1.0, 2.2) becomes a question mark. */
static void xml_write_escaped(FILE *out, const char *text)
{
	while (*text) {
		unsigned int len = op_utf8_len(text);

		if ((unsigned char)*text < ' ' || *text == 0x7f ||
		    !strncmp(text, "\xef\xbf\xbe", 3) ||
		    !strncmp(text, "\xef\xbf\xbf", 3))
			len = 0;
		if (!len)
			fputc('?', out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fwrite(text, len, 1, out);
		text += len ? len : 1;
	}
}

void pp_xml_attr(const struct pp_xml *x, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(x->out, " %s=\"", name);
	xml_write_escaped(x->out, text);
	fputc('"', x->out);
}

void pp_xml_number(const struct pp_xml *x, const char *name, uint64_t number)
{
	fprintf(x->out, " %s=\"%" PRIu64 "\"", name, number);
}

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
	const char *type = x->report->cpu_type, *slash = strchr(type, '/');
	char arch[sizeof(x->report->cpu_type)];
	size_t nr_cpus = 0;

	snprintf(arch, sizeof(arch), "%.*s",
		 slash ? (int)(slash - type) : (int)sizeof(arch) - 1, type);
	fputs("<?xml version=\"1.0\" ?>\n<profile", x->out);
	pp_xml_attr(x, " schemaversion", "3.0");
	pp_xml_attr(x, "cputype", arch);
	fputc('\n', x->out);
	pp_xml_attr(x, "processor", slash ? slash + 1 : type);
	fputc('\n', x->out);
	for (size_t i = 0; i < classes->nr; i++) {
		size_t j = 0;

		while (pp_xml_class(x, j)->cpu != pp_xml_class(x, i)->cpu)
			j++;
		nr_cpus += i == j;
	}
	if (nr_cpus > 1) {
		pp_xml_number(x, "separatedcpus", nr_cpus);
		fputc('\n', x->out);
	}
	fprintf(x->out, " mhz=\"%.2f\"\n", x->report->cpu_khz / 1000.0);
	pp_xml_attr(x, "title", x->options->command ? x->options->command : "");
	fputs(">\n", x->out);
}

static void xml_write_options(const struct pp_xml *x)
{
	const struct pp_format_options *o = x->options;
	const struct {
		const char *name, *value;
	} attrs[] = {
		{ "session", o->words },
		{ "debuginfo", x->report->has_lines ? "true" : NULL },
		{ "details", x->report->has_details ? "true" : NULL },
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
		pp_xml_attr(x, attrs[i].name, attrs[i].value);
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
			pp_xml_number(x, "rtcinterrupts", x->report->timer_hz);
		} else {
			fputs("<eventsetup ", x->out);
			pp_xml_number(x, "id", event_nr(x, i));
			pp_xml_attr(x, "eventname", class->event);
			pp_xml_number(x, "unitmask", class->counted_unit_mask);
			pp_xml_number(x, "setupcount", class->count);
		}
		fputs("/>\n", x->out);
	}
	fputs("</setup>\n", x->out);
}

static void xml_write_account(const struct pp_xml *x,
			      const struct op_ledger *account)
{
	fputs("<account ", x->out);
	pp_xml_attr(x, "source", account->source);
	pp_xml_number(x, "taken", account->taken);
	pp_xml_number(x, "stored", account->stored);
	pp_xml_number(x, "pending", account->pending);
	pp_xml_number(x, "lost", op_ledger_lost(account));
	fputs(">\n", x->out);
	for (unsigned int i = 0; i < account->nr_causes; i++) {
		fputs("<loss ", x->out);
		pp_xml_attr(x, "cause", account->causes[i].name);
		pp_xml_number(x, "samples", account->causes[i].nr);
		fputs("/>\n", x->out);
	}
	fputs("</account>\n", x->out);
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
			pp_xml_number(x, "cpu", (uint64_t) class->cpu);
		if (several_events)
			pp_xml_number(x, "event", event_nr(x, i));
		if (masks)
			pp_xml_number(x, "mask", class->unit_mask);
		fputs("/>\n", x->out);
	}
	fputs("</classes>\n", x->out);
}

/* ---- all of it ----------------------------------------------------------- */

static int init_xml(struct pp_xml *x)
{
	size_t nr = x->report->classes.nr, nr_symbols = x->report->nr_known;
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
		if (report->account)
			xml_write_account(&x, report->account);
		fputc('\n', out);
		xml_write_classes(&x);
		pp_xml_applications(&x);
		pp_xml_tables(&x);
		fputs("</profile>\n", out);
	}
	op_arena_release(&x.arena);
	return err;
}
