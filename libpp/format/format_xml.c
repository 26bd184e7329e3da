// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * XML by the schema of the original profiler, version 3.0, with the element
 * "account" added: its head here, then binaries or processes
 * (xml_applications.c), then what is known of the symbols (xml_symbols.c).
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_utf8.h"
#include "libpp/format/xml.h"

/* ---- text ---------------------------------------------------------------- */

/* The length of the character that @text starts with; 0 for one that XML does
 * not know (XML 1.0, 2.2). */
static unsigned int xml_character_len(const char *text)
{
	unsigned int len = op_utf8_len(text);
	bool is_none = !strncmp(text, "\xef\xbf\xbe", 3) ||
		       !strncmp(text, "\xef\xbf\xbf", 3);

	return (unsigned char)*text < ' ' || *text == 0x7f || is_none ? 0 : len;
}

static void xml_write_escaped(FILE *out, const char *text)
{
	while (*text) {
		unsigned int len = xml_character_len(text);

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

/* The number of the event of class @i, counted from 0. */
static size_t event_nr(const struct pp_xml *x, size_t i)
{
	size_t nr = 0;

	for (size_t j = 0; j < i; j++) {
		size_t first = 0;

		if (pp_xml_same_event(pp_xml_class(x, j), pp_xml_class(x, i)))
			return event_nr(x, j);
		while (!pp_xml_same_event(pp_xml_class(x, first),
					  pp_xml_class(x, j)))
			first++;
		nr += first == j;
	}
	return nr;
}

static bool is_first_of_event(const struct pp_xml *x, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (pp_xml_same_event(pp_xml_class(x, j), pp_xml_class(x, i)))
			return false;
	return true;
}

/* ---- the head ------------------------------------------------------------ */

static void xml_write_cpu(const struct pp_xml *x)
{
	const char *type = x->report->cpu_type, *slash = strchr(type, '/');
	char arch[sizeof(x->report->cpu_type)];

	snprintf(arch, sizeof(arch), "%.*s",
		 slash ? (int)(slash - type) : (int)sizeof(arch) - 1, type);
	pp_xml_attr(x, " schemaversion", "3.0");
	pp_xml_attr(x, "cputype", arch);
	fputc('\n', x->out);
	pp_xml_attr(x, "processor", slash ? slash + 1 : type);
	fputc('\n', x->out);
}

static void xml_write_profile(const struct pp_xml *x)
{
	const struct pp_classes *classes = &x->report->classes;
	size_t nr_cpus = 0;

	fputs("<?xml version=\"1.0\" ?>\n<profile", x->out);
	xml_write_cpu(x);
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

static void xml_write_flag(const struct pp_xml *x, const char *name, bool set)
{
	if (set)
		pp_xml_attr(x, name, "true");
}

static void xml_write_options(const struct pp_xml *x)
{
	const struct pp_format_options *o = x->options;
	bool blank = o->words || x->report->has_lines ||
		     x->report->has_details || o->exclude_dependent ||
		     o->exclude_symbols || o->image_path ||
		     o->include_symbols || o->merge;

	fputs(blank ? "<options " : "<options", x->out);
	pp_xml_attr(x, "session", o->words);
	xml_write_flag(x, "debuginfo", x->report->has_lines);
	xml_write_flag(x, "details", x->report->has_details);
	xml_write_flag(x, "excludedependent", o->exclude_dependent);
	pp_xml_attr(x, "excludesymbols", o->exclude_symbols);
	pp_xml_attr(x, "imagepath", o->image_path);
	pp_xml_attr(x, "includesymbols", o->include_symbols);
	pp_xml_attr(x, "merge", o->merge);
	fputs(blank ? "/>\n" : " />\n", x->out);
}

static void xml_write_setup(const struct pp_xml *x)
{
	fputs("<setup>\n", x->out);
	for (size_t i = 0; i < x->report->classes.nr; i++) {
		const struct pp_class *class = pp_xml_class(x, i);

		if (!is_first_of_event(x, i))
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

static void xml_write_account(const struct pp_xml *x)
{
	const struct op_ledger *account = x->report->account;

	if (!account)
		return;
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

static bool masks_differ(const struct pp_xml *x)
{
	for (size_t i = 1; i < x->report->classes.nr; i++)
		if (pp_xml_class(x, i)->unit_mask !=
		    pp_xml_class(x, 0)->unit_mask)
			return true;
	return false;
}

static void xml_write_classes(const struct pp_xml *x)
{
	bool several_events = false, masks = masks_differ(x);

	if (x->one_column)
		return;
	for (size_t i = 0; i < x->report->classes.nr; i++)
		several_events |= event_nr(x, i) > 0;
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

static void xml_write_all(struct pp_xml *x)
{
	xml_write_profile(x);
	xml_write_options(x);
	xml_write_setup(x);
	xml_write_account(x);
	fputc('\n', x->out);
	xml_write_classes(x);
	pp_xml_applications(x);
	pp_xml_tables(x);
	fputs("</profile>\n", x->out);
}

static int init_xml(struct pp_xml *x)
{
	size_t nr = x->report->classes.nr, nr_symbols = x->report->nr_known;

	x->column = calloc(nr, sizeof(*x->column));
	x->sums = calloc(nr, sizeof(*x->sums));
	x->head = calloc(nr_symbols + 1, sizeof(*x->head));
	x->next = calloc(nr_symbols + 1, sizeof(*x->next));
	x->first_detail = calloc(nr_symbols + 1, sizeof(*x->first_detail));
	x->id = calloc(nr_symbols + 1, sizeof(*x->id));
	x->by_id = calloc(nr_symbols + 1, sizeof(*x->by_id));
	x->told = calloc(nr_symbols + 1, sizeof(*x->told));
	if (!x->column || !x->sums || !x->head || !x->next ||
	    !x->first_detail || !x->id || !x->by_id || !x->told)
		return -ENOMEM;
	pp_xml_find_columns(x);
	return pp_xml_find_heads(x);
}

static void release_xml(struct pp_xml *x)
{
	free(x->told);
	free(x->by_id);
	free(x->id);
	free(x->first_detail);
	free(x->next);
	free(x->head);
	free(x->sums);
	free(x->column);
}

int pp_format_xml(FILE *out, const struct pp_report *report,
		  const struct pp_format_options *options)
{
	struct pp_xml x = { .out = out, .report = report, .options = options };
	int err;

	x.vma_digits = pp_vma_digits(report);
	err = init_xml(&x);
	if (!err)
		xml_write_all(&x);
	release_xml(&x);
	return err;
}
