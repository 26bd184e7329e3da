// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All events, whether from --events or from the records of a stream, pass the
 * checks of opd_events_set(), because each event becomes part of a file name:
 * the characters of its name are restricted, and two counters may not have the
 * same name, count and unit mask, or they would share a sample file.
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/source/opd_events.h"
#include "libop/events/op_wait_event.h"

void opd_events_timer(struct opd_events *events)
{
	memset(events, 0, sizeof(*events));
	events->counter[0] = (struct opd_event){
		.set = true,
		.name = OP_TIMER_EVENT,
		.kernel = true,
		.user = true,
	};
	events->nr = 1;
}

bool opd_event_is_timer(const struct opd_event *event)
{
	return event->count == 0;
}

bool opd_event_is_wait(const struct opd_event *event)
{
	return !strcmp(event->name, op_wait_event()->name);
}

bool opd_event_is_latency(const struct opd_event *event)
{
	return !strcmp(event->name, OP_LATENCY_EVENT);
}

bool opd_events_sample_kernel(const struct opd_events *events)
{
	for (unsigned int i = 0; i < events->nr; i++)
		if (events->counter[i].set && events->counter[i].kernel)
			return true;
	return false;
}

/* A name becomes the first part of a sample file's last component. */
static bool name_ok(const char *name)
{
	if (!*name || strlen(name) >= OP_EVENT_NAME_MAX)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
			return false;
	return true;
}

/* Two counters with the same event would share a sample file. */
static bool is_twin(const struct opd_event *a, const struct opd_event *b)
{
	return a->set && !strcmp(a->name, b->name) && a->count == b->count &&
	       a->um == b->um;
}

int opd_events_set(struct opd_events *events, uint64_t counter,
		   const struct opd_event *event, struct op_diag *diag)
{
	if (!name_ok(event->name))
		return op_diag_set(
			diag, -EINVAL,
			"event name '%s': only letters, digits, '_', '-' and '.' can be part of one",
			event->name);
	if (counter >= OP_MAX_COUNTERS)
		return op_diag_set(diag, -EINVAL,
				   "counter %" PRIu64
				   " of event %s: counters are 0 to %d",
				   counter, event->name, OP_MAX_COUNTERS - 1);
	if (event->value > UINT32_MAX || event->um > UINT32_MAX)
		return op_diag_set(
			diag, -EINVAL,
			"event %s: value and unit mask have 32 bits at most",
			event->name);
	for (unsigned int i = 0; i < events->nr; i++)
		if (i != counter && is_twin(&events->counter[i], event))
			return op_diag_set(diag, -EINVAL,
					   "event %s is given twice",
					   event->name);
	events->counter[counter] = *event;
	events->counter[counter].set = true;
	if (events->nr <= counter)
		events->nr = (unsigned int)counter + 1;
	return 0;
}

static int add_counter_event(struct opd_events *events,
			     const struct op_counter_event *from,
			     struct op_diag *diag)
{
	struct opd_event event = {
		.set = true,
		.value = from->value,
		.count = from->count,
		.um = from->um,
		.config = from->config ?: from->value | from->um << 8,
		.kernel = from->kernel,
		.user = from->user,
	};

	memcpy(event.name, from->name, sizeof(event.name));
	if (from->counter < OP_MAX_COUNTERS &&
	    events->counter[from->counter].set)
		return op_diag_set(
			diag, -EINVAL,
			"events %s and %s have the same counter %" PRIu64,
			events->counter[from->counter].name, from->name,
			from->counter);
	return opd_events_set(events, from->counter, &event, diag);
}

int opd_events_parse(struct opd_events *events, const char *text,
		     struct op_diag *diag)
{
	struct op_counter_event event;
	int err = 0;

	if (!text || !*text) {
		opd_events_timer(events);
		return 0;
	}
	memset(events, 0, sizeof(*events));
	while (*text && !err)
		err = op_counter_event_parse(&event, &text, diag)
			      ?: add_counter_event(events, &event, diag);
	return err;
}
