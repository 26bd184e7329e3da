// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events that are asked for become the text that the daemon takes. What
 * this user or this machine cannot sample is left out where nobody has asked
 * for it, and refused with the reason where somebody has.
 */

#include "utils/operf/operf_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/events/op_wait_event.h"
#include "utils/event_list.h"

#define DEFAULT_EVENTS "cycles:1000000"

static const char *choose_default(struct event_machine *machine,
				  const struct operf_rights *rights)
{
	if (!rights->can_sample_cpu)
		return NULL;
	return event_machine_cpu(machine, NULL) ? "default" : DEFAULT_EVENTS;
}

/* Counts that nobody has chosen: samples with stacks cost more. */
static void raise_counts(struct event_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint64_t least =
			OP_CALLGRAPH_FACTOR * list->event[i].event->min_count;

		if (list->event[i].count < least)
			list->event[i].count = least;
	}
}

/* Refuse what only the module knows of waits. */
static int check_waits(const struct event_list *list, bool *any,
		       struct op_diag *diag)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		uint64_t um = list->event[i].um;

		if (!op_event_is_wait(list->event[i].event))
			continue;
		nr++;
		if ((um & OP_WAIT_BLOCKED) == 0 ||
		    (um & OP_WAIT_BLOCKED) == OP_WAIT_BLOCKED)
			continue;
		return op_diag_set(
			diag, -EINVAL,
			"%s: unit mask %" PRIu64
			": perf_events does not report "
			"whether a sleep is interruptible; give 3 for both, 4 "
			"or 7, or use the module (opcontrol)",
			op_wait_event()->name, um);
	}
	*any = nr != 0;
	if (nr <= OP_WAIT_MAX_EVENTS)
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"%s: at most %d can be counted at once; choose fewer",
		op_wait_event()->name, OP_WAIT_MAX_EVENTS);
}

static int parse_operf_events(struct operf_events *events,
			      struct event_machine *machine, const char *text,
			      const struct operf_rights *rights,
			      bool with_stacks, struct op_diag *diag)
{
	struct event_list list;
	int err = event_list_init(&list, machine, text, diag);

	if (!err)
		err = event_list_check(&list, machine, &events->share, diag);
	if (!err)
		err = check_waits(&list, &events->waits, diag);
	if (!err && with_stacks)
		raise_counts(&list);
	if (!err && !rights->may_sample_kernel)
		err = event_list_leave_kernel(&list, &events->user_only, diag);
	if (!err) {
		events->text = event_list_daemon_text(&list);
		err = events->text ? 0 : -ENOMEM;
	}
	event_list_release(&list);
	return err;
}

/* The event that --wall adds: a sample for each millisecond. */
#define WALL_EVENTS "THREAD_WAIT:1000000"

static int parse_wall_events(struct operf_events *events,
			     struct event_machine *machine, const char *list,
			     const struct operf_rights *rights,
			     struct op_diag *diag)
{
	char *text;
	int err;

	if (asprintf(&text, "%s," WALL_EVENTS, list ? list : EVENT_LIST_TIMER) <
	    0)
		return -ENOMEM;
	err = parse_operf_events(events, machine, text, rights, false, diag);
	free(text);
	return err;
}

/* The event that --latency adds: with an own counter behind the others, and a
 * sample for each millisecond. */
static int add_latency(struct operf_events *events)
{
	char *text = events->text;
	unsigned int counter = 1;

	for (const char *at = text; (at = strchr(at, ',')); at++)
		counter++;
	if (asprintf(&events->text,
		     "%s," OP_LATENCY_EVENT ":0:%u:1000000:0:%d:1", text,
		     counter, !events->user_only) < 0) {
		events->text = text;
		return -ENOMEM;
	}
	free(text);
	return 0;
}

int operf_events_init(struct operf_events *events,
		      struct event_machine *machine, const char *list,
		      bool clock, bool wall, bool latency,
		      const struct operf_rights *rights, struct op_diag *diag)
{
	bool is_default = !list && !clock && !wall;
	int err = 0;

	memset(events, 0, sizeof(*events));
	if (is_default) {
		list = choose_default(machine, rights);
		events->no_counter = !list;
	}
	if (wall)
		err = parse_wall_events(events, machine, list, rights, diag);
	else if (list)
		err = parse_operf_events(events, machine, list, rights,
					 is_default && rights->stacks, diag);
	else
		events->user_only = !rights->may_sample_kernel;
	if (!err && latency)
		err = add_latency(events);
	return err ? op_diag_set(diag, err, "out of memory") : 0;
}

void operf_events_release(struct operf_events *events)
{
	free(events->text);
	memset(events, 0, sizeof(*events));
}
