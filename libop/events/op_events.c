// SPDX-License-Identifier: GPL-2.0-or-later
/* Questions to the events of a CPU type: an event's name, and perf's number. */

#include "libop/events/op_events.h"

#include <string.h>
#include <strings.h>

static const struct op_event *
find_event(const struct op_event *event, size_t nr, const char *name,
	   int (*compare)(const char *, const char *))
{
	for (size_t i = 0; i < nr; i++)
		if (!compare(event[i].name, name))
			return &event[i];
	return NULL;
}

static const struct op_event *
find_event_in_lists(const struct op_events *events, const char *name)
{
	const struct op_event *ours = events->event;
	const struct op_event *original = events->original;
	size_t nr = events->nr, nr_original = events->nr_original;

	return find_event(ours, nr, name, strcmp)
		       ?: find_event(original, nr_original, name, strcmp)
		       ?: find_event(ours, nr, name, strcasecmp)
		       ?: find_event(original, nr_original, name, strcasecmp);
}

const struct op_event *op_events_find(const struct op_events *events,
				      const char *name)
{
	const struct op_event *event = find_event_in_lists(events, name);
	const char *group = strcasestr(name, "_GRP");
	char stem[128];

	/* POWER's events once had the group of counters in their names. */
	if (event || !group || !group[4] ||
	    group[4 + strspn(group + 4, "0123456789")] ||
	    (size_t)(group - name) >= sizeof(stem))
		return event;
	memcpy(stem, name, (size_t)(group - name));
	stem[group - name] = '\0';
	return find_event_in_lists(events, stem);
}

/* ---- perf's config ---- */

/* Bits 8 to 11 of AMD's event select stand in bits 32 to 35. */
static uint64_t x86_config(uint64_t code, uint64_t value, uint64_t extra)
{
	return (code & 0xff) | (value & 0xff) << 8 | (extra & ~OP_EXTRA_PEBS) |
	       (code & 0xf00) << 24;
}

/*
 * The upper half is the ESCR with Linux' own number in place of the event
 * select, the lower one the CCCR; an event's code is the event select with
 * the CCCR's ESCR select below it, in one byte each. See
 * arch/x86/include/asm/perf_event_p4.h.
 */
static uint64_t netburst_config(const struct op_event *event, uint64_t value)
{
	return (event->perf & 0x3f) << (32 + 25) |
	       (value & 0xffff) << (32 + 9) | (event->code & 7) << 13;
}

uint64_t op_event_config(const struct op_events *events,
			 const struct op_event *event, uint64_t value,
			 uint64_t extra)
{
	switch (events->cpu->encoding) {
	case OP_ENCODING_X86:
		return x86_config(event->code, value, extra);
	case OP_ENCODING_NETBURST:
		return netburst_config(event, value);
	case OP_ENCODING_RAW:
		break;
	}
	return event->code | value;
}
