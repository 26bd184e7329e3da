// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of events, resolved for this machine.
 *
 * A name is looked for among the kernel's own events first, then among those
 * of the CPU. For a name that is in neither, the message is about the list
 * that has a similar name, so that it suggests that one. The text for people
 * and the text for the daemon are printed from the same list.
 */

#include "utils/event_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/events/op_alloc_counter.h"
#include "libop/base/op_array.h"
#include "libop/events/op_counter_text.h"
#include "libop/events/op_ibs.h"
#include "libop/events/op_wait_event.h"
#include "libop/kernel/op_perf.h"
#include "module/uapi/oprofile.h"

/* ---- one event ----------------------------------------------------------- */

/* @spec with @name, the usual one of an event that has a second one. */
static int parse_kernel_event(struct op_parsed_event *event,
			      const struct event_machine *machine,
			      const char *name, const char *spec,
			      const struct op_parse_options *options,
			      struct op_diag *diag)
{
	char *usual;
	int err;

	if (asprintf(&usual, "%s%s", name, strchrnul(spec, ':')) < 0)
		return op_out_of_memory(diag);
	err = op_parse_event(event, event_machine_kernel(machine), usual,
			     options, diag);
	free(usual);
	return err;
}

/* Choose the list that the user probably meant by @name, which the kernel does
 * not know. */
static const struct op_events *choose_list(const struct op_events *cpu,
					   const struct op_events *kernel,
					   const char *name)
{
	char similar[256];

	if (op_events_find(cpu, name))
		return cpu;
	op_events_similar(cpu, name, similar, sizeof(similar));
	if (*similar)
		return cpu;
	op_events_similar(kernel, name, similar, sizeof(similar));
	return *similar ? kernel : cpu;
}

static int parse_cpu_event(struct op_parsed_event *event,
			   struct event_machine *machine, const char *name,
			   const char *spec,
			   const struct op_parse_options *options,
			   struct op_diag *diag)
{
	const struct op_events *kernel = event_machine_kernel(machine), *cpu;
	struct op_diag why = { "" };
	char similar[256];

	cpu = event_machine_cpu(machine, &why);
	if (cpu && strcmp(name, "default") != 0)
		cpu = choose_list(cpu, kernel, name);
	if (cpu)
		return op_parse_event(event, cpu, spec, options, diag);
	op_events_similar(kernel, name, similar, sizeof(similar));
	return op_diag_set(diag, -EINVAL,
			   "%s: the kernel has no event of this name%s%s; "
			   "the events of this CPU are unknown: %s",
			   name, *similar ? "; similar: " : "",
			   *similar ? similar + 2 : "", why.text);
}

/* Features that are no counters have interfaces of their own. */
static int check_event_feature(const struct event_machine *machine,
			       const struct op_event *event,
			       struct op_diag *diag)
{
	if (!event->ext || event_is_kernels(event) ||
	    (machine->is_module && op_event_is_ibs(event, NULL)) ||
	    (machine->has_waits && op_event_is_wait(event)))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "%s: not counted by a counter but by %s, which "
			   "cannot be used here; choose another event",
			   event->name, event->ext);
}

int event_parse(struct op_parsed_event *event, struct event_machine *machine,
		const char *spec, const struct op_parse_options *options,
		struct op_diag *diag)
{
	char *name = strndup(spec, strcspn(spec, ":"));
	const struct op_perf_event *known;
	int err;

	if (!name)
		return op_out_of_memory(diag);
	known = op_perf_event_find(name);
	if (!*name)
		err = op_diag_set(diag, -EINVAL,
				  "\"%s\": the name of an event is missing; "
				  "ophelp lists them",
				  spec);
	else if (!strcasecmp(name, OP_LATENCY_EVENT))
		err = op_diag_set(diag, -EINVAL,
				  "%s: cannot be chosen in a list of events: "
				  "it is made of samples of the CPU clock; "
				  "operf --latency counts it",
				  OP_LATENCY_EVENT);
	else if (known)
		err = parse_kernel_event(event, machine, known->name, spec,
					 options, diag);
	else if (!strcasecmp(name, op_wait_event()->name))
		err = parse_kernel_event(event, machine, op_wait_event()->name,
					 spec, options, diag);
	else
		err = parse_cpu_event(event, machine, name, spec, options,
				      diag);
	free(name);
	return err ? err : check_event_feature(machine, event->event, diag);
}

/* ---- the list ------------------------------------------------------------ */

static int add_event_of_list(struct event_list *list,
			     struct event_machine *machine, const char *spec,
			     struct op_diag *diag)
{
	const struct op_parse_options options = { .factor = machine->factor };
	int err;

	if (machine->has_waits && !strcmp(spec, EVENT_LIST_TIMER)) {
		list->has_timer = true;
		return 0;
	}
	if (op_array_reserve(&list->event, list->nr, 1))
		return op_out_of_memory(diag);
	err = event_parse(&list->event[list->nr], machine, spec, &options,
			  diag);
	if (!err)
		list->nr++;
	return err;
}

int event_list_init(struct event_list *list, struct event_machine *machine,
		    const char *text, struct op_diag *diag)
{
	char *copy = strdup(text), *rest = copy;
	int err = 0;

	*list = (struct event_list){ .event = NULL };
	if (!copy)
		return op_out_of_memory(diag);
	while (!err && rest)
		err = add_event_of_list(list, machine, strsep(&rest, ","),
					diag);
	free(copy);
	return err;
}

void event_list_release(struct event_list *list)
{
	free(list->event);
	*list = (struct event_list){ .event = NULL };
}

const struct op_parsed_event *event_list_first(const struct event_list *list,
					       bool is_kernels)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!op_event_is_wait(list->event[i].event) &&
		    event_is_kernels(list->event[i].event) == is_kernels)
			return &list->event[i];
	return NULL;
}

bool event_needs_counter(const struct op_event *event)
{
	return !op_event_is_ibs(event, NULL) && !op_event_is_wait(event);
}

size_t event_list_nr_counters(const struct event_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += event_needs_counter(list->event[i].event);
	return nr;
}

int event_list_check(const struct event_list *list,
		     struct event_machine *machine, bool *share,
		     struct op_diag *diag)
{
	const struct op_events *events = event_machine_kernel(machine);
	struct op_diag why = { "" };
	size_t nr = event_list_nr_counters(list);
	int *counters;
	int err;

	*share = false;
	if (nr > OP_MAX_COUNTERS)
		return op_diag_set(diag, -EINVAL,
				   "%zu events: at most %d can be sampled at "
				   "once; choose fewer",
				   nr, OP_MAX_COUNTERS);
	if (event_list_first(list, false))
		events = event_machine_cpu(machine, diag);
	counters = calloc(list->nr ? list->nr : 1, sizeof(*counters));
	if (!counters)
		return op_out_of_memory(diag);
	err = op_check_events(counters, events, list->event, list->nr, &why);
	free(counters);
	*share = err == -EBUSY;
	return *share ? 0 : err ? op_diag_set(diag, err, "%s", why.text) : 0;
}

int event_list_leave_kernel(struct event_list *list, bool *changed,
			    struct op_diag *diag)
{
	*changed = false;
	for (size_t i = 0; i < list->nr; i++) {
		struct op_parsed_event *event = &list->event[i];

		if (!event->user)
			return op_diag_set(
				diag, -EACCES,
				"%s: kernel code only, which you may not "
				"sample: kernel.perf_event_paranoid is %d; "
				"sysctl kernel.perf_event_paranoid=1, run as "
				"root or with CAP_PERFMON, or sample user code",
				event->event->name, op_perf_paranoid());
		*changed |= event->kernel;
		event->kernel = false;
	}
	return 0;
}

/* ---- texts --------------------------------------------------------------- */

static void print_daemon_spec(FILE *out, const struct op_parsed_event *event,
			      size_t place)
{
	struct op_counter_event e = {
		.value = event->event->code,
		.counter = place,
		.count = event->count,
		.um = event->um,
		.kernel = event->kernel,
		.user = event->user,
		.config = event->config,
	};

	snprintf(e.name, sizeof(e.name), "%s", event->event->name);
	op_counter_event_print(out, &e);
}

static char *print_event_list(const struct event_list *list, bool for_daemon)
{
	static const struct op_counter_event timer = { .name = OP_TIMER_EVENT,
						       .kernel = 1,
						       .user = 1 };
	char *text = NULL;
	size_t len, counter = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	/* Its rate is a setting of its own. */
	if (list->has_timer && list->nr) {
		if (for_daemon)
			op_counter_event_print(out, &timer);
		else
			fputs(EVENT_LIST_TIMER, out);
		counter++;
	}
	for (size_t i = 0; i < list->nr; i++) {
		const struct op_parsed_event *event = &list->event[i];

		if (for_daemon && op_event_is_ibs(event->event, NULL))
			continue;
		if (counter++)
			fputc(',', out);
		if (for_daemon)
			print_daemon_spec(out, event, counter - 1);
		else
			op_parsed_event_print(out, event);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

char *event_list_text(const struct event_list *list)
{
	return print_event_list(list, false);
}

char *event_list_daemon_text(const struct event_list *list)
{
	return print_event_list(list, true);
}
