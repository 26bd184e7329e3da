// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of events as XML, as far as the old program's schema 2 has them. */

#include "utils/ophelp/ophelp.h"

#include <inttypes.h>
#include <stdio.h>

#include "libop/base/op_xml.h"

#define SCHEMA_VERSION "2.0"

static void print_xml_header(const struct op_cpu_type *cpu)
{
	char title[512], doc[2048];

	snprintf(title, sizeof(title),
		 "oprofile: available events for CPU type \"%s\"", cpu->title);
	snprintf(doc, sizeof(doc), "See %s", cpu->manual);
	printf("<header ");
	op_xml_attr(stdout, "title", title);
	op_xml_attr(stdout, "doc", doc);
	puts("/>");
}

static void print_xml_unit_mask(const struct op_unit_mask *um)
{
	printf("<unit_masks default=\"%" PRIu64 "\" category=\"%s\">\n",
	       um->default_value, ophelp_um_type(um));
	for (size_t i = 0; i < um->nr; i++) {
		printf("<unit_mask");
		op_xml_attr(stdout, "name", um->entries[i].name);
		op_xml_number(stdout, "mask", um->entries[i].value);
		op_xml_attr(stdout, "desc", um->entries[i].desc);
		puts("/>");
	}
	puts("</unit_masks>");
}

static void print_xml_event(const struct ophelp_list *list,
			    const struct op_event *event)
{
	bool shown = ophelp_um_is_shown(event->um);

	printf("<event");
	op_xml_attr(stdout, "event_name", event->name);
	op_xml_attr(stdout, "ext", event->ext);
	op_xml_attr(stdout, "desc", event->desc);
	op_xml_number(stdout, "counter_mask", event->counters);
	op_xml_number(stdout, "min_count", event->min_count * list->factor);
	puts(shown ? ">" : "/>");
	if (shown) {
		print_xml_unit_mask(event->um);
		puts("</event>");
	}
}

void ophelp_print_xml(const struct ophelp_list *list)
{
	const struct op_event *event;
	size_t at = 0;

	puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
	puts("<help_events schemaversion=\"" SCHEMA_VERSION "\">");
	print_xml_header(list->events->cpu);
	while ((event = ophelp_next(list, &at)))
		print_xml_event(list, event);
	puts("</help_events>");
}
