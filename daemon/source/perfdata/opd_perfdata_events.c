// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names that the daemon gives to the events of a file of perf. Two of them
 * have the same sample files if they have one name, count and unit mask; the
 * modes of the CPU that they were counted in are not in the names of files, so
 * that events which differ in these alone get them into their own.
 */

#include "daemon/source/perfdata/opd_perfdata_events.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/kernel/op_perf.h"

bool opd_perfdata_is_sampled(const struct opd_perfdata_event *event)
{
	return event->attr.type != PERF_TYPE_SOFTWARE ||
	       event->attr.config != PERF_COUNT_SW_DUMMY;
}

/*
 * Remove the modifiers of a name, "cycles:upp", which are in the attributes
 * too. From the rest, "cpu/event=0x3c,umask=0x1/" becomes
 * "cpu_event_0x3c_umask_0x1".
 */
static void clean_name(char *name)
{
	char *colon = strrchr(name, ':');
	char *out = name;

	if (colon && colon > name &&
	    strspn(colon + 1, "ukhGHpPSDIWeb") == strlen(colon + 1))
		*colon = '\0';
	for (const char *c = name; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("-.", *c))
			*out++ = *c;
		else if (out > name && out[-1] != '_')
			*out++ = '_';
	}
	while (out > name && out[-1] == '_')
		out--;
	*out = '\0';
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* The clocks keep the period that the frequency makes. */
bool opd_perfdata_has_periods(const struct opd_perfdata_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return attr->freq && attr->sample_type & PERF_SAMPLE_PERIOD &&
	       !is_clock(attr);
}

/*
 * From one sample to the next; 1 where samples count for their periods. Where
 * the kernel chose it to get so many samples a second and does not tell it, it
 * is this number of samples, but for the clocks, which count ns.
 */
static uint64_t event_count(const struct opd_perfdata_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (!attr->sample_period || opd_perfdata_has_periods(event))
		return 1;
	return attr->freq && is_clock(attr)
		       ? UINT64_C(1000000000) / attr->sample_freq ?: 1
		       : attr->sample_period;
}

static void describe_event(struct opd_event *to,
			   const struct opd_perfdata_event *from)
{
	const struct perf_event_attr *attr = &from->attr;
	size_t nr;
	const struct op_perf_event *known = op_perf_events(&nr);

	*to = (struct opd_event){
		.set = true,
		.count = event_count(from),
		.config = attr->config,
		.kernel = !attr->exclude_kernel,
		.user = !attr->exclude_user,
	};
	if (attr->type == PERF_TYPE_RAW) {
		to->value = attr->config & 0xff;
		to->um = attr->config >> 8 & 0xff;
	}
	snprintf(to->name, sizeof(to->name), "%s", from->name);
	for (size_t i = 0; i < nr && !*to->name; i++)
		if (known[i].type == attr->type &&
		    known[i].config == attr->config)
			snprintf(to->name, sizeof(to->name), "%s",
				 known[i].name);
	clean_name(to->name);
	if (!*to->name)
		snprintf(to->name, sizeof(to->name), "type%" PRIu32 "-%" PRIx64,
			 (uint32_t)attr->type, (uint64_t)attr->config);
}

static bool has_same_files(const struct opd_event *a, const struct opd_event *b)
{
	return !strcmp(a->name, b->name) && a->count == b->count &&
	       a->um == b->um;
}

static bool has_same_modes(const struct opd_event *a, const struct opd_event *b)
{
	return a->kernel == b->kernel && a->user == b->user;
}

/* "cycles_u", as perf calls it: user, kernel, or both. */
static void name_modes(struct opd_event *event)
{
	size_t len = strlen(event->name);

	snprintf(event->name + len, sizeof(event->name) - len, "_%s%s",
		 event->user ? "u" : "", event->kernel ? "k" : "");
}

/* Put the modes into the names of events that are the same but for their modes,
 * as with "perf record -e cycles:u,cycles:k". */
static void separate_modes(struct opd_event *described, size_t nr)
{
	bool has_other[OPD_PERFDATA_MAX_EVENTS] = { false };

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < nr && !has_other[i]; k++)
			has_other[i] =
				described[k].set &&
				has_same_files(&described[i], &described[k]) &&
				!has_same_modes(&described[i], &described[k]);
	for (size_t i = 0; i < nr; i++)
		if (has_other[i])
			name_modes(&described[i]);
}

/* The counter of an event like @described, or the next free one. */
static unsigned int counter_of_like(const struct opd_events *events,
				    const struct opd_event *described)
{
	unsigned int at = 0;

	while (at < events->nr &&
	       !has_same_files(&events->counter[at], described))
		at++;
	return at;
}

/* Give @event a counter as what is @described. */
static int add_perfdata_event(struct opd_events *events,
			      struct opd_perfdata_event *event,
			      struct opd_event *described, struct op_diag *diag)
{
	unsigned int at = counter_of_like(events, described);
	int err = 0;

	/* A file that was read before has such an event, of other modes. */
	if (at < events->nr &&
	    !has_same_modes(&events->counter[at], described)) {
		name_modes(described);
		at = counter_of_like(events, described);
	}
	if (at == events->nr)
		err = opd_events_set(events, at, described, diag);
	event->counter = at;
	event->counts_periods = opd_perfdata_has_periods(event);
	return err;
}

int opd_perfdata_add_events(struct opd_perfdata *data,
			    struct opd_events *events, struct op_diag *diag)
{
	struct opd_event *described =
		calloc(data->nr_events + 1, sizeof(*described));
	int err = 0;

	if (!described)
		return op_diag_set(diag, -ENOMEM, "%s", strerror(ENOMEM));
	for (size_t i = 0; i < data->nr_events; i++)
		if (opd_perfdata_is_sampled(&data->events[i]))
			describe_event(&described[i], &data->events[i]);
	separate_modes(described, data->nr_events);
	for (size_t i = 0; !err && i < data->nr_events; i++)
		if (described[i].set)
			err = add_perfdata_event(events, &data->events[i],
						 &described[i], diag);
	free(described);
	return err;
}
