// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callers and callees in XML. Beneath a module each of them tells its own
 * module; directly beneath a binary they do not, as in the original.
 */

#include "libpp/format/xml.h"

static void xml_write_arc(struct pp_xml *x, const struct pp_arc *arc,
			  const struct pp_xml_scope *scope, bool in_module)
{
	if (!arc->self && !pp_xml_has_counts(x, arc->counts, scope))
		return;
	if (in_module) {
		fputs("<module ", x->out);
		op_xml_attr(x->out, "name", arc->other->image->name);
		fputs(">\n", x->out);
	}
	pp_xml_symbol_begin(x, arc->other);
	if (arc->self)
		op_xml_attr(x->out, "self", "true");
	fputs(">\n", x->out);
	pp_xml_sum_begin(x);
	pp_xml_sum_add(x, arc->counts, scope);
	pp_xml_sum_write(x, false);
	fputs("</symbol>\n", x->out);
	if (in_module)
		fputs("</module>\n", x->out);
}

void pp_xml_neighbours(struct pp_xml *x, const struct pp_symbol_entry *entry,
		       const struct pp_xml_scope *scope, bool in_module)
{
	const struct pp_neighbours *n = entry->neighbours;

	fputs("<callers>\n", x->out);
	for (size_t i = 0; i < n->nr_callers; i++)
		xml_write_arc(x, &n->callers[i], scope, in_module);
	fputs("</callers>\n<callees>\n", x->out);
	for (size_t i = 0; i < n->nr_callees; i++)
		xml_write_arc(x, &n->callees[i], scope, in_module);
	fputs("</callees>\n", x->out);
}
