// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples in XML: by binary with the modules that it used, or where threads
 * are told apart by process, thread and module. The symbols of the report are
 * sorted by application and image for this (PP_NEEDS_SYMBOLS), so that each of
 * these elements is a range of them. An element without counts is left out.
 */

#include <inttypes.h>
#include <string.h>

#include "libpp/format/xml.h"

/* ---- symbols and modules ------------------------------------------------- */

/* Entries [from, to) of the report. */
struct range {
	size_t from, to;
};

static const struct pp_symbol_entry *entry_at(const struct pp_xml *x, size_t i)
{
	return &x->report->symbols.list[i];
}

/* Whether there is anything to write about symbols of the range. */
static bool range_has_counts(const struct pp_xml *x, struct range r,
			     const struct pp_xml_scope *scope)
{
	for (size_t i = r.from; i < r.to; i++)
		if (pp_xml_concerns(x, entry_at(x, i), scope))
			return true;
	return false;
}

/* @image: count that one alone; NULL for all. Returns whether there was
 * anything to count. */
static bool xml_write_sum(const struct pp_xml *x, struct range r,
			  const struct pp_xml_scope *scope, const char *image)
{
	bool any = false;

	pp_xml_sum_begin(x);
	for (size_t i = r.from; i < r.to; i++)
		if (!image || !strcmp(entry_at(x, i)->image->name, image))
			any |= pp_xml_sum_add(x, entry_at(x, i)->counts, scope);
	pp_xml_sum_write(x, false);
	return any;
}

/* Begin element @element of the image @name. The original's schema wants a
 * count of each binary, even where only its libraries have samples. */
static void xml_begin_image(const struct pp_xml *x, struct range r,
			    const struct pp_xml_scope *scope,
			    const char *element, const char *name)
{
	fprintf(x->out, "<%s ", element);
	op_xml_attr(x->out, "name", name);
	fputs(">\n", x->out);
	if (!xml_write_sum(x, r, scope, name) && x->options->xml_classic)
		fputs(x->one_column ? "<count>\n0</count>\n"
				    : "<count  class=\"c0\">\n0</count>\n",
		      x->out);
}

/* The end of the entries from @i on that share image and application. */
static size_t image_end(const struct pp_xml *x, size_t i, size_t to)
{
	size_t end = i;

	while (end < to &&
	       !strcmp(entry_at(x, end)->app, entry_at(x, i)->app) &&
	       !strcmp(entry_at(x, end)->image->name,
		       entry_at(x, i)->image->name))
		end++;
	return end;
}

static void xml_write_modules(struct pp_xml *x, struct range r,
			      const struct pp_xml_scope *scope,
			      const char *except)
{
	for (size_t i = r.from, end; i < r.to; i = end) {
		const char *name = entry_at(x, i)->image->name;
		struct range module = { i, end = image_end(x, i, r.to) };

		if (except && !strcmp(name, except))
			continue;
		if (!range_has_counts(x, module, scope))
			continue;
		xml_begin_image(x, module, scope, "module", name);
		for (size_t j = i; j < end; j++)
			pp_xml_symbol(x, entry_at(x, j), scope, true);
		fputs("</module>\n", x->out);
	}
}

/* ---- applications and processes ------------------------------------------ */

/* A binary has the samples of its own code alone, and its modules have theirs,
 * as the original counted. */
static void xml_write_binaries(struct pp_xml *x)
{
	const struct pp_xml_scope all = { NULL, false };
	size_t nr = x->report->symbols.nr;

	for (size_t i = 0, end; i < nr; i = end) {
		const char *app = entry_at(x, i)->app;
		struct range r = { i, i };

		while (r.to < nr && !strcmp(entry_at(x, r.to)->app, app))
			r.to++;
		end = r.to;
		xml_begin_image(x, r, &all, "binary", app);
		for (size_t j = i; j < end; j++)
			if (!strcmp(entry_at(x, j)->image->name, app))
				pp_xml_symbol(x, entry_at(x, j), &all, false);
		xml_write_modules(x, r, &all, app);
		fputs("</binary>\n", x->out);
	}
}

static void xml_write_thread(struct pp_xml *x, const struct pp_class *class)
{
	const struct range all = { 0, x->report->symbols.nr };
	const struct pp_xml_scope scope = { class, false };

	fprintf(x->out, "<thread  tid=\"%" PRId64 "\"",
		class->tid == OP_MANGLE_ALL ? class->tgid : class->tid);
	if (!x->options->xml_classic)
		op_xml_attr(x->out, "comm", class->thread);
	fputs(">\n", x->out);
	xml_write_sum(x, all, &scope, NULL);
	xml_write_modules(x, all, &scope, NULL);
	fputs("</thread>\n", x->out);
}

static bool is_first_with(const struct pp_xml *x, size_t i, bool whole_process)
{
	for (size_t j = 0; j < i; j++)
		if (pp_xml_in_thread(x, j, pp_xml_class(x, i), whole_process))
			return false;
	return true;
}

/* Call @write for each thread of the process of class @i. */
static void each_thread(struct pp_xml *x, size_t i,
			void (*write)(struct pp_xml *x,
				      const struct pp_class *class))
{
	for (size_t j = i; j < x->report->classes.nr; j++)
		if (pp_xml_class(x, j)->tgid == pp_xml_class(x, i)->tgid &&
		    is_first_with(x, j, false))
			write(x, pp_xml_class(x, j));
}

static void xml_write_thread_sum(struct pp_xml *x, const struct pp_class *class)
{
	const struct pp_xml_scope scope = { class, false };

	xml_write_sum(x, (struct range){ 0, x->report->symbols.nr }, &scope,
		      NULL);
}

/* A process is named after its first application and, as the original had it,
 * has the counts of its threads one by one; the original's schema has one. */
static void xml_write_process(struct pp_xml *x, size_t i)
{
	const struct pp_class *class = pp_xml_class(x, i);
	const struct pp_xml_scope scope = { class, true };
	const char *name = "";

	for (size_t j = 0; j < x->report->symbols.nr && !*name; j++)
		if (pp_xml_concerns(x, entry_at(x, j), &scope))
			name = entry_at(x, j)->app;
	fprintf(x->out, "<process  pid=\"%" PRId64 "\"", class->tgid);
	op_xml_attr(x->out, "name", name);
	if (!x->options->xml_classic)
		op_xml_attr(x->out, "comm", class->process);
	if (!x->options->xml_classic && class->cgroup && *class->cgroup)
		op_xml_attr(x->out, "cgroup", class->cgroup);
	fputs(">\n", x->out);
	if (x->options->xml_classic)
		xml_write_sum(x, (struct range){ 0, x->report->symbols.nr },
			      &scope, NULL);
	else
		each_thread(x, i, xml_write_thread_sum);
	each_thread(x, i, xml_write_thread);
	fputs("</process>\n", x->out);
}

void pp_xml_applications(struct pp_xml *x)
{
	size_t nr = x->report->classes.nr;
	bool has_processes = false;

	for (size_t i = 0; i < nr; i++)
		has_processes |= pp_xml_class(x, i)->tgid != OP_MANGLE_ALL;
	if (!has_processes)
		xml_write_binaries(x);
	for (size_t i = 0; has_processes && i < nr; i++)
		if (is_first_with(x, i, true))
			xml_write_process(x, i);
}
