// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which columns XML has, and counts summed by them. The classes of the report
 * may differ in thread as well, which XML shows as elements instead; so a
 * column is the set of classes that are equal but for process and thread, and
 * counts of a scope (a thread, a process, or everything) are added up by
 * column before they are written.
 */

#include <string.h>

#include "libop/base/op_decimal.h"
#include "libpp/select/sample_list.h"
#include "libpp/format/xml.h"

/* ---- columns ------------------------------------------------------------- */

const struct pp_class *pp_xml_class(const struct pp_xml *x, size_t i)
{
	return &x->report->classes.classes[i];
}

/* A column of one CPU, chosen by the user, has its class there. */
bool pp_xml_has_cpus(const struct pp_xml *x)
{
	return x->options->xml_classic &&
	       pp_xml_class(x, 0)->cpu != OP_MANGLE_ALL;
}

void pp_xml_find_columns(struct pp_xml *x)
{
	size_t nr = x->report->classes.nr;

	x->one_column = true;
	for (size_t i = 0; i < nr; i++) {
		const struct pp_class *class = pp_xml_class(x, i);
		size_t j = 0;

		while (!pp_same_event(pp_xml_class(x, j), class) ||
		       pp_compare_sessions(pp_xml_class(x, j), class) ||
		       pp_xml_class(x, j)->begin != class->begin ||
		       pp_xml_class(x, j)->cpu != class->cpu)
			j++;
		x->column[i] = j;
		x->one_column &= !j;
	}
	if (pp_xml_has_cpus(x))
		x->one_column = false;
}

size_t pp_xml_column_nr(const struct pp_xml *x, size_t i)
{
	size_t nr = 0;

	for (size_t j = 0; j < x->column[i]; j++)
		nr += x->column[j] == j;
	return nr;
}

/* ---- counts -------------------------------------------------------------- */

bool pp_xml_in_thread(const struct pp_xml *x, size_t i,
		      const struct pp_class *thread, bool whole_process)
{
	const struct pp_class *class = pp_xml_class(x, i);

	return !thread || (class->tgid == thread->tgid &&
			   (whole_process || class->tid == thread->tid));
}

void pp_xml_sum_begin(const struct pp_xml *x)
{
	memset(x->sums, 0, x->report->classes.nr * sizeof(*x->sums));
}

bool pp_xml_sum_add(const struct pp_xml *x, const uint64_t *counts,
		    const struct pp_xml_scope *scope)
{
	bool any = false;

	for (size_t i = 0; i < x->report->classes.nr; i++) {
		if (!counts[i] || !pp_xml_in_thread(x, i, scope->thread,
						    scope->whole_process))
			continue;
		x->sums[x->column[i]] =
			pp_add_counts(x->sums[x->column[i]], counts[i]);
		any = true;
	}
	return any;
}

void pp_xml_sum_write(const struct pp_xml *x, bool detail)
{
	char digits[OP_DECIMAL_LEN];

	for (size_t i = 0; i < x->report->classes.nr; i++) {
		if (!x->sums[i])
			continue;
		fputs("<count", x->out);
		if (!x->one_column)
			fprintf(x->out, "  class=\"c%zu\"",
				pp_xml_column_nr(x, i));
		else if (detail)
			fputs("  class=\"\"", x->out);
		op_decimal_u64(digits, x->sums[i]);
		fputs(">\n", x->out);
		fputs(digits, x->out);
		fputs("</count>\n", x->out);
	}
}

bool pp_xml_has_counts(const struct pp_xml *x, const uint64_t *counts,
		       const struct pp_xml_scope *scope)
{
	for (size_t i = 0; i < x->report->classes.nr; i++)
		if (counts[i] &&
		    pp_xml_in_thread(x, i, scope->thread, scope->whole_process))
			return true;
	return false;
}
