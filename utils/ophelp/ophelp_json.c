// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of events as JSON (RFC 8259), for programs. Numbers that may exceed
 * 2^53 are texts, "0x...", as many readers keep numbers as doubles. Texts hold
 * no control character but the tab: event files with others are refused when
 * they are read.
 */

#include "utils/ophelp/ophelp.h"

#include <inttypes.h>
#include <stdio.h>

static void print_json_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text == '\t')
			printf("\\t");
		else
			printf(*text == '"' || *text == '\\' ? "\\%c" : "%c",
			       *text);
	putchar('"');
}

static void print_json_member(const char *name, const char *value)
{
	printf("\"%s\": ", name);
	print_json_text(value);
	printf(", ");
}

static void print_json_entry(const struct op_events *events,
			     const struct op_event *event,
			     const struct op_unit_mask_entry *entry)
{
	printf("{");
	if (entry->name)
		print_json_member("name", entry->name);
	printf("\"value\": \"0x%" PRIx64 "\", \"extra\": \"0x%" PRIx64 "\", ",
	       entry->value, entry->extra);
	printf("\"config\": \"0x%" PRIx64 "\", ",
	       op_event_config(events, event, entry->value, entry->extra));
	printf("\"description\": ");
	print_json_text(entry->desc);
	printf("}");
}

static void print_json_unit_mask(const struct op_events *events,
				 const struct op_event *event)
{
	const struct op_unit_mask *um = event->um;

	printf("\"unit_mask\": {\"type\": \"%s\", \"default\": \"0x%" PRIx64
	       "\", ",
	       ophelp_um_type(um), um->default_value);
	if (um->default_entry && um->default_entry->name)
		print_json_member("default_name", um->default_entry->name);
	printf("\"entries\": [");
	for (size_t i = 0; i < um->nr; i++) {
		printf(i ? ",\n    " : "\n    ");
		print_json_entry(events, event, &um->entries[i]);
	}
	printf("]}");
}

static void print_json_counters(uint64_t counters)
{
	const char *between = "";

	printf("\"counters\": [");
	for (unsigned int i = 0; i < 64; i++)
		if (counters >> i & 1) {
			printf("%s%u", between, i);
			between = ", ";
		}
	printf("], ");
}

static void print_json_event(const struct ophelp_list *list,
			     const struct op_event *event)
{
	printf("  {");
	print_json_member("name", event->name);
	printf("\"code\": \"0x%" PRIx64 "\", \"min_count\": %" PRIu64 ", ",
	       event->code, event->min_count * list->factor);
	if (event->ext)
		print_json_member("ext", event->ext);
	print_json_counters(event->counters);
	print_json_member("description", event->desc);
	print_json_unit_mask(list->events, event);
	printf("}");
}

void ophelp_print_json(const struct ophelp_list *list)
{
	const struct op_cpu_type *cpu = list->events->cpu;
	const struct op_event *event;
	size_t at = 0, nr = 0;

	printf("{");
	print_json_member("cpu_type", cpu->name);
	print_json_member("title", cpu->title);
	print_json_member("manual", cpu->manual);
	print_json_member("default_event", cpu->default_event);
	printf("\"counters\": %u, \"events\": [", cpu->counters);
	while ((event = ophelp_next(list, &at))) {
		printf(nr++ ? ",\n" : "\n");
		print_json_event(list, event);
	}
	puts("]}");
}
