// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events to count.
 *
 * Events are parsed as everywhere (utils/event_list.h), but have no count. A
 * raw number, "r" and hexadecimal digits, is described as an event of its own
 * with a unit mask of eight bits, so that the same parser takes its other
 * fields. Some events of the kernel happen in kernel mode alone or are clocks
 * that count in all modes; what is shown for them follows from that.
 */

#include "utils/ocount/ocount_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/kernel/op_perf.h"
#include "utils/event_list.h"
#include "utils/ocount/ocount_number.h"

#define MASK_SHIFT 8 /* of the unit mask in a raw event */
#define MASK_BITS 8

/* ---- raw events ---------------------------------------------------------- */

/* The event of a number, described as event files would do it. */
struct raw {
	struct op_cpu_type cpu;
	struct op_unit_mask_entry entries[1 + MASK_BITS];
	struct op_unit_mask um;
	struct op_event event;
	struct op_events events;
};

static void describe_raw(struct raw *raw, const char *name)
{
	*raw = (struct raw){
		.um = { .type = OP_UM_BITMASK,
			.entries = raw->entries,
			.nr = 1 + MASK_BITS },
		.event = { .name = name, .um = &raw->um },
		.events = { .cpu = &raw->cpu, .event = &raw->event, .nr = 1 },
	};
	for (unsigned int i = 0; i < MASK_BITS; i++)
		raw->entries[1 + i].value = 1u << i;
}

/* Whether @text is "r" and a hexadecimal number, up to a colon or its end. */
static bool is_raw_event(const char *text, uint64_t *number)
{
	const char *end;

	return *text == 'r' &&
	       !ocount_number_parse(text + 1, &end, 16, UINT64_MAX, number) &&
	       (!*end || *end == ':');
}

/* @text with the @number that it names. */
static int parse_raw_event(struct op_parsed_event *parsed, const char *text,
			   uint64_t number, struct op_diag *diag)
{
	const struct op_parse_options options = { .no_count = true };
	char *name = strndup(text, strcspn(text, ":"));
	struct raw raw;
	int err;

	if (!name)
		return op_out_of_memory(diag);
	describe_raw(&raw, name);
	err = op_parse_event(parsed, &raw.events, text, &options, diag);
	parsed->config = number | parsed->um << MASK_SHIFT;
	parsed->event = NULL; /* it ends here */
	free(name);
	return err;
}

/* ---- events -------------------------------------------------------------- */

static int parse_named_event(struct ocount_event *event,
			     struct op_parsed_event *parsed,
			     struct event_machine *machine, const char *text,
			     struct op_diag *diag)
{
	const struct op_parse_options options = { .no_count = true };
	int err = event_parse(parsed, machine, text, &options, diag);

	if (!err && event_is_kernels(parsed->event))
		event->type = op_perf_event_find(parsed->event->name)->type;
	return err;
}

/* Whether KERNEL or USER, behind the second colon, is there. */
static bool has_mode_fields(const char *text)
{
	text = strchr(text, ':');
	text = text ? strchr(text + 1, ':') : NULL;
	return text && text[strspn(text, ":")];
}

static int parse_counted_event(struct ocount_event *event,
			       struct event_machine *machine, const char *text,
			       struct op_diag *diag)
{
	struct op_parsed_event parsed = { .event = NULL };
	uint64_t number;
	int err;

	event->type = PERF_TYPE_RAW;
	event->name = strdup(text);
	if (!event->name)
		return op_out_of_memory(diag);
	if (is_raw_event(text, &number))
		err = parse_raw_event(&parsed, text, number, diag);
	else
		err = parse_named_event(event, &parsed, machine, text, diag);
	if (err)
		return err;
	event->config = parsed.config;
	event->kernel = parsed.kernel;
	event->user = parsed.user;
	event->modes_given = has_mode_fields(text);
	if (!event->kernel && ocount_event_is_kernels(event))
		return op_diag_set(
			diag, -EINVAL,
			"%s: it happens only in kernel mode; do not exclude kernel mode",
			event->name);
	return 0;
}

static size_t nr_words(const char *text)
{
	size_t nr = 1;

	while ((text = strchr(text, ','))) {
		text++;
		nr++;
	}
	return nr;
}

static int parse_counted_list(struct ocount_events *events,
			      struct event_machine *machine, const char *text,
			      struct op_diag *diag)
{
	char *copy = strdup(text), *rest = copy;
	int err = 0;

	events->list = calloc(nr_words(text), sizeof(*events->list));
	if (!copy || !events->list) {
		err = -ENOMEM;
		op_diag_set(diag, err, "out of memory");
	}
	while (!err && rest)
		err = parse_counted_event(&events->list[events->nr++], machine,
					  strsep(&rest, ","), diag);
	free(copy);
	return err;
}

int ocount_events_init(struct ocount_events *events, const char *text,
		       struct op_diag *diag)
{
	struct event_machine machine;
	int err = event_machine_init(&machine);

	*events = (struct ocount_events){ .list = NULL };
	if (!text) {
		events->is_fallback = !op_perf_has_pmu();
		text = events->is_fallback ? "cpu-clock" : "cycles";
	}
	if (err)
		op_diag_set(diag, err, "out of memory");
	else
		err = parse_counted_list(events, &machine, text, diag);
	event_machine_release(&machine);
	return err;
}

void ocount_events_release(struct ocount_events *events)
{
	for (size_t i = 0; i < events->nr; i++)
		free(events->list[i].name);
	free(events->list);
	*events = (struct ocount_events){ .list = NULL };
}

int ocount_event_show_modes(struct ocount_event *event)
{
	size_t len = strcspn(event->name, ":");
	const char *mask = "";
	char *name;

	if (event->name[len])
		len += 1 + strcspn(event->name + len + 1, ":");
	else
		mask = ":0";
	if (asprintf(&name, "%.*s%s:%d:%d", (int)len, event->name, mask,
		     event->kernel, event->user) < 0)
		return -ENOMEM;
	free(event->name);
	event->name = name;
	return 0;
}

void ocount_event_attr(const struct ocount_event *event,
		       struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = event->type,
		.size = sizeof(*attr),
		.config = event->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_user = !event->user,
		.exclude_kernel = !event->kernel,
		.exclude_hv = !event->kernel,
	};
}

bool ocount_event_is_clock(const struct ocount_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CPU_CLOCK ||
		event->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool ocount_event_is_kernels(const struct ocount_event *event)
{
	if (event->type != PERF_TYPE_SOFTWARE)
		return false;
	switch (event->config) {
	case PERF_COUNT_SW_CONTEXT_SWITCHES:
	case PERF_COUNT_SW_CPU_MIGRATIONS:
	case PERF_COUNT_SW_CGROUP_SWITCHES:
	case PERF_COUNT_SW_BPF_OUTPUT:
		return true;
	default:
		return false;
	}
}

/* The config of what @event is a part of, of the same type. */
static int base_config(const struct ocount_event *event, uint64_t *config)
{
	const uint64_t miss = PERF_COUNT_HW_CACHE_RESULT_MISS << 16;

	if (event->type == PERF_TYPE_HW_CACHE && (event->config & miss)) {
		*config = event->config & ~miss;
		return 0;
	}
	if (event->type != PERF_TYPE_HARDWARE)
		return -ENOENT;
	switch (event->config) {
	case PERF_COUNT_HW_INSTRUCTIONS:
		*config = PERF_COUNT_HW_CPU_CYCLES;
		return 0;
	case PERF_COUNT_HW_BRANCH_MISSES:
		*config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
		return 0;
	case PERF_COUNT_HW_CACHE_MISSES:
		*config = PERF_COUNT_HW_CACHE_REFERENCES;
		return 0;
	default:
		return -ENOENT;
	}
}

const struct ocount_event *ocount_event_base(const struct ocount_events *events,
					     const struct ocount_event *event)
{
	uint64_t config;

	if (base_config(event, &config))
		return NULL;
	for (size_t i = 0; i < events->nr; i++) {
		const struct ocount_event *base = &events->list[i];

		if (base->type == event->type && base->config == config &&
		    base->kernel == event->kernel && base->user == event->user)
			return base;
	}
	return NULL;
}
