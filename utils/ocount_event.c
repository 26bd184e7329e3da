// SPDX-License-Identifier: GPL-2.0-or-later
#include "utils/ocount_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_perf.h"
#include "utils/ocount_number.h"

#define LIST_HINT "events are NAME[:UNIT-MASK[:KERNEL[:USER]]]"
#define MASK_SHIFT 8 /* of the unit mask in a raw event */
#define MASK_MAX 0xff

/* The fields of one event, all but the name "" if not given. */
enum { NAME, MASK, KERNEL, USER, NR_FIELDS };

static int parse_raw(struct ocount_event *event, const char *digits)
{
	const char *end;

	event->type = PERF_TYPE_RAW;
	return ocount_number_parse(digits, &end, 16, UINT64_MAX,
				   &event->config) ||
			       *end
		       ? -EINVAL
		       : 0;
}

static int parse_mask(const char *text, uint64_t *mask)
{
	const char *end;

	*mask = 0;
	if (!*text)
		return 0;
	return ocount_number_parse(text, &end, 0, MASK_MAX, mask) || *end
		       ? -EINVAL
		       : 0;
}

/* From a name to what the kernel calls it: all that knows names is here. */
static int resolve(struct ocount_event *event, const char *name,
		   const char *mask_text, struct op_diag *diag)
{
	const struct op_perf_event *known = op_perf_event_find(name);
	uint64_t mask;

	if (parse_mask(mask_text, &mask))
		return op_diag_set(
			diag, -EINVAL,
			"%s: \"%s\" is no unit mask, a number up to 0x%x; " LIST_HINT,
			name, mask_text, MASK_MAX);
	if (known) {
		event->type = known->type;
		event->config = known->config;
		if (mask)
			return op_diag_set(
				diag, -EINVAL,
				"%s: an event of the kernel's own has no unit masks; give 0",
				name);
		return 0;
	}
	if (name[0] != 'r' || parse_raw(event, name + 1))
		return op_diag_set(
			diag, -EINVAL,
			"%s: no such event; give a name as perf list shows it (cycles, cpu-clock, page-faults) or a raw event, r and a hexadecimal number",
			name);
	event->config |= mask << MASK_SHIFT;
	return 0;
}

static int parse_mode(const char *text, bool *mode)
{
	if (!strcmp(text, "0"))
		*mode = false;
	else if (*text && strcmp(text, "1") != 0)
		return -EINVAL;
	return 0;
}

static int parse_modes(struct ocount_event *event, char *const *fields,
		       struct op_diag *diag)
{
	event->kernel = event->user = true;
	event->modes_given = *fields[KERNEL] || *fields[USER];
	if (parse_mode(fields[KERNEL], &event->kernel) ||
	    parse_mode(fields[USER], &event->user))
		return op_diag_set(
			diag, -EINVAL,
			"%s: whether to count in the kernel and in user mode is 0 or 1 each; " LIST_HINT,
			event->name);
	if (!event->kernel && !event->user)
		return op_diag_set(
			diag, -EINVAL,
			"%s: neither kernel nor user mode is left to count in; set one to 1",
			event->name);
	if (!event->kernel && ocount_event_is_kernels(event))
		return op_diag_set(
			diag, -EINVAL,
			"%s: it happens in kernel mode only; leave kernel mode in",
			event->name);
	return 0;
}

/* Cut @text at colons. */
static int split(char *text, char **fields)
{
	static char none[] = "";

	for (int i = 0; i < NR_FIELDS; i++)
		fields[i] = none;
	for (int i = 0; text; i++) {
		if (i == NR_FIELDS)
			return -EINVAL;
		fields[i] = strsep(&text, ":");
	}
	return *fields[NAME] ? 0 : -EINVAL;
}

static int parse_event(struct ocount_event *event, char *text,
		       struct op_diag *diag)
{
	char *fields[NR_FIELDS];
	int err;

	event->name = strdup(text);
	if (!event->name)
		return op_diag_set(diag, -ENOMEM, "out of memory");
	if (split(text, fields))
		return op_diag_set(diag, -EINVAL,
				   "--events: \"%s\" is no event; " LIST_HINT,
				   event->name);
	err = resolve(event, fields[NAME], fields[MASK], diag);
	return err ? err : parse_modes(event, fields, diag);
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

int ocount_events_init(struct ocount_events *events, const char *text,
		       struct op_diag *diag)
{
	char *copy, *rest;
	int err = 0;

	*events = (struct ocount_events){ .list = NULL };
	if (!text) {
		events->is_fallback = !op_perf_has_pmu();
		text = events->is_fallback ? "cpu-clock" : "cycles";
	}
	copy = rest = strdup(text);
	events->list = calloc(nr_words(text), sizeof(*events->list));
	if (!copy || !events->list)
		err = op_diag_set(diag, -ENOMEM, "out of memory");
	while (!err && rest)
		err = parse_event(&events->list[events->nr++],
				  strsep(&rest, ","), diag);
	free(copy);
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
