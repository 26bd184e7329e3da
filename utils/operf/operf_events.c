// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/operf/operf_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int parse_operf_events(struct operf_events *events,
			      struct event_machine *machine, const char *text,
			      const struct operf_rights *rights,
			      bool with_stacks, struct op_diag *diag)
{
	struct event_list list;
	int err = event_list_init(&list, machine, text, diag);

	if (!err)
		err = event_list_check(&list, machine, &events->share, diag);
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

int operf_events_init(struct operf_events *events,
		      struct event_machine *machine, const char *list,
		      bool clock, const struct operf_rights *rights,
		      struct op_diag *diag)
{
	bool is_default = !list && !clock;
	int err = 0;

	memset(events, 0, sizeof(*events));
	if (is_default) {
		list = choose_default(machine, rights);
		events->no_counter = !list;
	}
	if (list)
		err = parse_operf_events(events, machine, list, rights,
					 is_default && rights->stacks, diag);
	else
		events->user_only = !rights->may_sample_kernel;
	return err ? op_diag_set(diag, err, "out of memory") : 0;
}

void operf_events_release(struct operf_events *events)
{
	free(events->text);
	memset(events, 0, sizeof(*events));
}
