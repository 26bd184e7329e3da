// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of events as JSON (RFC 8259), for programs. Numbers that may exceed
 * 2^53 are texts, "0x...", as many readers keep numbers as doubles.
 */

#include "utils/ophelp/ophelp.h"

#include <inttypes.h>
#include <stdio.h>

#include "libop/base/op_json.h"

static void write_hex(struct op_json *json, const char *key, uint64_t value)
{
	char text[sizeof("0x") + 16];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	op_json_text(json, key, text);
}

/* Members that are not there are left out. */
static void write_if_any(struct op_json *json, const char *key,
			 const char *text)
{
	if (text)
		op_json_text(json, key, text);
}

static void write_json_entry(struct op_json *json,
			     const struct op_events *events,
			     const struct op_event *event,
			     const struct op_unit_mask_entry *entry)
{
	op_json_open(json, NULL, '{');
	write_if_any(json, "name", entry->name);
	write_hex(json, "value", entry->value);
	write_hex(json, "extra", entry->extra);
	write_hex(json, "config",
		  op_event_config(events, event, entry->value, entry->extra));
	op_json_text(json, "description", entry->desc);
	op_json_close(json, '}');
}

static void write_json_unit_mask(struct op_json *json,
				 const struct op_events *events,
				 const struct op_event *event)
{
	const struct op_unit_mask *um = event->um;

	op_json_open(json, "unit_mask", '{');
	op_json_text(json, "type", ophelp_um_type(um));
	write_hex(json, "default", um->default_value);
	if (um->default_entry)
		write_if_any(json, "default_name", um->default_entry->name);
	op_json_open(json, "entries", '[');
	for (size_t i = 0; i < um->nr; i++)
		write_json_entry(json, events, event, &um->entries[i]);
	op_json_close(json, ']');
	op_json_close(json, '}');
}

static void write_json_event(struct op_json *json,
			     const struct ophelp_list *list,
			     const struct op_event *event)
{
	op_json_open(json, NULL, '{');
	op_json_text(json, "name", event->name);
	write_hex(json, "code", event->code);
	op_json_u64(json, "min_count", event->min_count * list->factor);
	write_if_any(json, "ext", event->ext);
	op_json_open(json, "counters", '[');
	for (unsigned int i = 0; i < 64; i++)
		if (event->counters >> i & 1)
			op_json_u64(json, NULL, i);
	op_json_close(json, ']');
	op_json_text(json, "description", event->desc);
	write_json_unit_mask(json, list->events, event);
	op_json_close(json, '}');
}

void ophelp_print_json(const struct ophelp_list *list)
{
	const struct op_cpu_type *cpu = list->events->cpu;
	struct op_json json = { .out = stdout };
	const struct op_event *event;
	size_t at = 0;

	op_json_open(&json, NULL, '{');
	op_json_text(&json, "cpu_type", cpu->name);
	op_json_text(&json, "title", cpu->title);
	op_json_text(&json, "manual", cpu->manual);
	op_json_text(&json, "default_event", cpu->default_event);
	op_json_u64(&json, "counters", cpu->counters);
	op_json_open(&json, "events", '[');
	while ((event = ophelp_next(list, &at)))
		write_json_event(&json, list, event);
	op_json_close(&json, ']');
	op_json_close(&json, '}');
	putchar('\n');
}
