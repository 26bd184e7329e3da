// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ophelp: what hardware events a CPU can count, and what event specifications
 * mean.
 *
 * The CPU is this machine's unless another is named. A machine without
 * hardware counters, such as most virtual ones, has the type "timer" and no
 * events; that is an answer and not an error, so that scripts can ask. Numbers
 * and lists go to stdout, all else to stderr.
 */

#include "utils/ophelp/ophelp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "libop/events/op_alloc_counter.h"
#include "libop/classic/op_classic.h"
#include "libop/files/op_config.h"
#include "libop/options/op_pager.h"
#include "libop/events/op_parse_event.h"
#include "libop/kernel/op_perf.h"
#include "utils/ophelp/ophelp_check.h"
#include "utils/ophelp/ophelp_options.h"

/* The type of machines that cannot count events. */
#define TIMER "timer"
#define TIMER_TITLE "CPU with timer interrupt"

struct ophelp {
	struct ophelp_request request;
	char *dir; /* of the event files */
	char cpu[128]; /* name of the type, TIMER if there are no counters */
	struct op_events *events; /* NULL with TIMER */
};

/* ---- which CPU ---- */

/* Name the CPU type of this machine. */
static int detect_cpu(struct ophelp *help, struct op_diag *diag)
{
	struct op_cpu_type *type;
	struct perf_event_attr attr;
	struct op_diag why = { "" };
	int err = 0;

	if (!op_perf_has_pmu()) {
		op_perf_cycles(&attr);
		err = op_perf_explain(&why, op_perf_open(&attr, 0, -1, -1),
				      &attr, 0, -1, "cycles");
	}
	/* Other errors, such as -EACCES, mean that this user may not use the
	 * counters that the machine has. */
	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP ||
	    err == -ENOSYS) {
		fprintf(stderr,
			"ophelp: %s; samples are taken by the timer, "
			"--cpu-type=TYPE shows the events of another machine\n",
			why.text);
		strcpy(help->cpu, TIMER);
		return 0;
	}
	err = op_cpu_type_detect(&type, help->dir, "", 0, diag);
	if (err)
		return err;
	snprintf(help->cpu, sizeof(help->cpu), "%s", type->name);
	if (type->is_nearest)
		fprintf(stderr,
			"ophelp: there is no list of this CPU's events; those "
			"of the nearest, %s, are shown\n",
			type->name);
	op_cpu_type_free(type);
	/* Where CPUs differ, as with big.LITTLE, the first one's are shown. */
	if (op_cpu_type_detect(&type, help->dir, "", 1, NULL))
		return 0;
	fprintf(stderr,
		"ophelp: this machine has CPUs of several kinds, also %s; "
		"--cpu-type=%s shows its events\n",
		type->name, type->name);
	op_cpu_type_free(type);
	return 0;
}

/* The type that was asked for by name, or by its number in OProfile 1.4. */
static void choose_shown_cpu(struct ophelp *help)
{
	const char *cpu = help->request.cpu, *old, *name = NULL;
	uint64_t number;

	if (!op_parse_u64(cpu, &number) && number <= UINT32_MAX)
		name = op_classic_cpu_name(OP_CLASSIC_VERSION_1,
					   (uint32_t)number);
	if (name) {
		old = op_classic_cpu_name(OP_CLASSIC_VERSION_0,
					  (uint32_t)number);
		if (old && strcmp(old, name) != 0)
			fprintf(stderr,
				"ophelp: --cpu-type=%s: %s, as OProfile 1.4 "
				"had numbers; with those of 0.9.9 it is %s\n",
				cpu, name, old);
		cpu = name;
	}
	/* A longer name is not that of a type, so cutting it does no harm. */
	snprintf(help->cpu, sizeof(help->cpu), "%s", cpu);
}

/* ---- the modes; each returns the exit status or -errno ---- */

static int list_events(struct ophelp *help)
{
	struct ophelp_list list = {
		.events = help->events,
		.search = help->request.search,
		.factor = help->request.callgraph ? OP_CALLGRAPH_FACTOR : 1,
	};
	size_t at = 0;
	bool any = ophelp_next(&list, &at);

	if (help->request.xml) {
		ophelp_print_xml(&list);
	} else if (help->request.json) {
		ophelp_print_json(&list);
	} else {
		if (any)
			ophelp_print_text(&list);
		any |= ophelp_print_times(list.search, any);
		if (!any)
			fprintf(stderr,
				"ophelp: %s: %s has no event with this text\n",
				list.search, help->cpu);
	}
	return !any;
}

/* Explain an event of time, or refuse it where events of counters are asked
 * for. Returns whether one of the arguments is such an event. */
static bool asks_for_time(const struct ophelp *help, int *err,
			  struct op_diag *diag)
{
	const struct op_event *event = NULL;
	char *name;

	for (int i = 0; !event && i < help->request.nr_args; i++) {
		name = strndup(help->request.args[i],
			       strcspn(help->request.args[i], ":"));
		if (!name) {
			*err = -ENOMEM;
			return true;
		}
		event = ophelp_find_time(name);
		free(name);
	}
	*err = 0;
	if (event && help->request.mode == OPHELP_LIST)
		ophelp_print_time(event);
	else if (event)
		*err = op_diag_set(
			diag, -EINVAL,
			"%s: no counter counts it, so it has no numbers of one; ophelp %s explains it",
			event->name, event->name);
	return event;
}

static int list_cpus(const struct ophelp *help, struct op_diag *diag)
{
	struct op_cpu_type *type;
	char *names;
	int err = op_cpu_type_names(&names, help->dir, diag);

	if (err)
		return err;
	for (const char *at = names; !err && *at; at += strlen(at) + 1) {
		err = op_cpu_type_read(&type, help->dir, at, diag);
		if (err)
			break;
		printf("%-30s %s\n", at, type->title);
		op_cpu_type_free(type);
	}
	free(names);
	return err;
}

static int parse_ophelp_event(const struct ophelp *help,
			      struct op_parsed_event *parsed, const char *spec,
			      struct op_diag *diag)
{
	struct op_parse_options options = {
		.no_count = help->request.ignore_count,
		.factor = help->request.callgraph ? OP_CALLGRAPH_FACTOR : 1,
	};

	return op_parse_event(parsed, help->events, spec, &options, diag);
}

/* Whether the events can be counted together; print their counters, or all of
 * them as oprofiled takes it: NAME:VALUE:COUNTER:COUNT:UM:KERNEL:USER. */
static int show_events(const struct ophelp *help, struct op_diag *diag)
{
	size_t nr = (size_t)help->request.nr_args;
	struct op_parsed_event *parsed = calloc(nr, sizeof(*parsed));
	int *counters = calloc(nr, sizeof(*counters));
	bool in_numbers = help->request.mode == OPHELP_EVENTS;
	int err = parsed && counters ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = parse_ophelp_event(help, &parsed[i],
					 help->request.args[i], diag);
	if (!err)
		err = op_check_events(counters, help->events, parsed, nr, diag);
	for (size_t i = 0; !err && i < nr; i++) {
		const struct op_parsed_event *p = &parsed[i];

		if (in_numbers)
			printf("%s%s:%" PRIu64 ":%d:%" PRIu64 ":%" PRIu64
			       ":%d:%d",
			       i ? "," : "", p->event->name, p->config,
			       counters[i], p->count, p->um, p->kernel,
			       p->user);
		else if (counters[i] == OP_NO_COUNTER)
			printf("%s ", p->event->ext);
		else
			printf("%d ", counters[i]);
	}
	if (!err)
		putchar('\n');
	free(parsed);
	free(counters);
	return err;
}

static int show_mask(const struct ophelp *help, struct op_diag *diag)
{
	struct op_parsed_event parsed;
	int err =
		parse_ophelp_event(help, &parsed, help->request.args[0], diag);

	if (err)
		return err;
	if (help->request.mode == OPHELP_EXTRA_MASK)
		printf("%" PRIu64 "\n", parsed.extra || !parsed.um_name[0]
						? parsed.extra
						: parsed.um);
	else if (parsed.um_name[0])
		puts(parsed.um_name);
	else
		printf("%" PRIu64 "\n", parsed.um);
	return 0;
}

/* A word alone: the event's code or its minimum, without a COUNT. */
static int show_event(const struct ophelp *help, struct op_diag *diag)
{
	const struct op_event *event;
	struct op_parsed_event parsed;
	char *name = strdup(help->request.args[0]);
	const struct op_parse_options no_count = { .no_count = true };
	int err;

	if (!name)
		return -ENOMEM;
	name[strcspn(name, ":")] = '\0';
	err = op_parse_event(&parsed, help->events, name, &no_count, diag);
	free(name);
	if (err)
		return err;
	event = parsed.event;
	if (help->request.mode == OPHELP_MIN_COUNT)
		printf("%" PRIu64 "\n",
		       event->min_count * (help->request.callgraph
						   ? OP_CALLGRAPH_FACTOR
						   : 1));
	else
		printf("%" PRIu64 "\n", event->code);
	return 0;
}

static int show_default(const struct ophelp *help, struct op_diag *diag)
{
	struct op_parsed_event parsed;
	int err = op_parse_event(&parsed, help->events, "default", NULL, diag);

	if (err)
		return err;
	printf("%s:%" PRIu64 ":", parsed.event->name, parsed.count);
	if (parsed.um_name[0])
		printf("%s:", parsed.um_name);
	else
		printf("%" PRIu64 ":", parsed.um);
	printf("%d:%d\n", parsed.kernel, parsed.user);
	return 0;
}

static int run_timer(const struct ophelp *help, struct op_diag *diag)
{
	switch (help->request.mode) {
	case OPHELP_GET_CPU_TYPE:
		puts(TIMER_TITLE);
		return 0;
	case OPHELP_GET_DEFAULT_EVENT:
		puts("");
		return 0;
	case OPHELP_LIST:
		if (!help->request.nr_args) {
			puts("Using timer interrupt.");
			if (!help->request.xml && !help->request.json)
				ophelp_print_times(help->request.search, true);
			return 0;
		}
		break;
	default:
		break;
	}
	return op_diag_set(diag, -ENODEV,
			   "%s: there are no events in timer mode; leave them "
			   "out, or give --cpu-type",
			   help->request.args[0]);
}

static int run_cpu(struct ophelp *help, struct op_diag *diag)
{
	switch (help->request.mode) {
	case OPHELP_CHECK_EVENTS:
	case OPHELP_EVENTS:
		return show_events(help, diag);
	case OPHELP_UNIT_MASK:
	case OPHELP_EXTRA_MASK:
		return show_mask(help, diag);
	case OPHELP_MIN_COUNT:
		return show_event(help, diag);
	case OPHELP_GET_CPU_TYPE:
		puts(help->events->cpu->title);
		return 0;
	case OPHELP_GET_DEFAULT_EVENT:
		return show_default(help, diag);
	default:
		return help->request.nr_args ? show_event(help, diag)
					     : list_events(help);
	}
}

static int run_ophelp(struct ophelp *help, struct op_diag *diag)
{
	int err;

	if (help->request.mode == OPHELP_VERSION) {
		puts("ophelp: " PACKAGE_NAME " " PACKAGE_VERSION);
		return 0;
	}
	err = op_events_dir(&help->dir, diag);
	if (err)
		return err;
	if (help->request.mode == OPHELP_LIST_CPUS)
		return list_cpus(help, diag);
	if (help->request.mode == OPHELP_CHECK) {
		err = ophelp_check(help->dir, help->request.cpu, diag);
		return err > 0 ? 1 : err;
	}
	if (asks_for_time(help, &err, diag))
		return err;
	if (help->request.cpu)
		choose_shown_cpu(help);
	else
		err = detect_cpu(help, diag);
	if (!err && strcmp(help->cpu, TIMER))
		err = op_events_load(&help->events, help->dir, help->cpu, diag);
	if (err)
		return err;
	return help->events ? run_cpu(help, diag) : run_timer(help, diag);
}

/* A page is for lists; what scripts ask for is one line. */
static bool is_long(const struct ophelp_request *request)
{
	return request->mode == OPHELP_LIST ||
	       request->mode == OPHELP_LIST_CPUS;
}

int main(int argc, const char **argv)
{
	struct op_diag diag = { "" };
	struct op_diag later = { "" };
	struct ophelp help = { .dir = NULL };
	struct op_pager pager = { 0 };
	int end, err = ophelp_request_parse(&help.request, argc, argv, &diag);

	if (err) {
		fprintf(stderr, "ophelp: %s\n", diag.text);
		err = err == -EINVAL ? 2 : 1;
	} else {
		op_pager_start(&pager, stdout,
			       !help.request.no_pager && is_long(&help.request),
			       0);
		err = run_ophelp(&help, &diag);
		end = op_pager_end(&pager, stdout, err ? &later : &diag);
		err = err ?: end;
		if (err < 0)
			fprintf(stderr, "ophelp: %s\n",
				op_diag_text(&diag, err));
		err = err != 0;
	}
	op_events_free(help.events);
	free(help.dir);
	ophelp_request_release(&help.request);
	return err;
}
