// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/operf_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_config.h"
#include "libop/op_perf.h"

#define DEFAULT_EVENTS "cycles:1000000"

enum { NAME, COUNT, UM, KERNEL, USER, NR_FIELDS };

/* One event of the list. */
struct wanted {
	char *fields[NR_FIELDS]; /* NULL where not given */
	uint64_t count;
	bool kernel;
	bool user;
};

static int split(struct wanted *wanted, char *spec, struct op_diag *diag)
{
	char *rest = spec;
	int nr = 0;

	memset(wanted, 0, sizeof(*wanted));
	while (rest && nr < NR_FIELDS)
		wanted->fields[nr++] = strsep(&rest, ":");
	if (rest)
		return op_diag_set(diag, -EINVAL,
				   "--events=%s:...: too many parts; "
				   "NAME:COUNT[:UM[:KERNEL[:USER]]] is wanted",
				   spec);
	return 0;
}

static int take_count(struct wanted *wanted, struct op_diag *diag)
{
	const char *name = wanted->fields[NAME];
	const char *count = wanted->fields[COUNT];

	if (!count || !*count)
		return op_diag_set(diag, -EINVAL,
				   "--events=%s: no count; say after how many "
				   "to take a sample, such as %s:100000",
				   name, name);
	if (op_parse_u64(count, &wanted->count) || !wanted->count ||
	    wanted->count > INT64_MAX)
		return op_diag_set(diag, -EINVAL,
				   "--events=%s:%s: the count is not a number "
				   "above 0",
				   name, count);
	return 0;
}

/* The kernel's own events have no variants. */
static int take_unit_mask(const struct wanted *wanted, struct op_diag *diag)
{
	const char *um = wanted->fields[UM];
	uint64_t value = 0;

	if (um && *um && (op_parse_u64(um, &value) || value))
		return op_diag_set(diag, -EINVAL,
				   "--events=%s: unit mask %s: this event has "
				   "none; give 0",
				   wanted->fields[NAME], um);
	return 0;
}

static int take_flag(const struct wanted *wanted, int field, bool *flag,
		     struct op_diag *diag)
{
	const char *text = wanted->fields[field];

	*flag = !text || strcmp(text, "0") != 0;
	if (text && strcmp(text, "0") && strcmp(text, "1"))
		return op_diag_set(diag, -EINVAL,
				   "--events=%s: %s: %s: give "
				   "0 or 1",
				   wanted->fields[NAME],
				   field == KERNEL ? "kernel" : "user", text);
	return 0;
}

/* Leave out the kernel where this user may not sample it. */
static int limit(struct operf_events *events, struct wanted *wanted,
		 const struct operf_rights *rights, struct op_diag *diag)
{
	if (!wanted->kernel && !wanted->user)
		return op_diag_set(diag, -EINVAL,
				   "--events=%s: neither kernel nor user code "
				   "is left; give 1 for one of them",
				   wanted->fields[NAME]);
	if (!wanted->kernel || rights->may_sample_kernel)
		return 0;
	if (!wanted->user)
		return op_diag_set(
			diag, -EACCES,
			"--events=%s: kernel code only, which you "
			"may not sample: kernel.perf_event_paranoid "
			"is %d; sysctl kernel.perf_event_paranoid=1, "
			"run as root or with CAP_PERFMON, or sample "
			"user code",
			wanted->fields[NAME], rights->paranoid);
	wanted->kernel = false;
	events->user_only = true;
	return 0;
}

/* The daemon's "name:value:counter:count:um:kernel:user". */
static int append(struct operf_events *events, const struct wanted *wanted,
		  const struct op_perf_event *event, unsigned int counter)
{
	const char *before = events->text ? events->text : "";
	char *text;

	if (asprintf(&text, "%s%s%s:%" PRIu64 ":%u:%" PRIu64 ":0:%d:%d", before,
		     *before ? "," : "", event->name, event->config, counter,
		     wanted->count, wanted->kernel, wanted->user) < 0)
		return -ENOMEM;
	free(events->text);
	events->text = text;
	return 0;
}

static int add_event(struct operf_events *events, char *spec,
		     unsigned int counter, const struct operf_rights *rights,
		     struct op_diag *diag)
{
	const struct op_perf_event *event;
	struct wanted wanted;
	int err = split(&wanted, spec, diag);

	if (err)
		return err;
	event = op_perf_event_find(wanted.fields[NAME]);
	if (!event)
		return op_diag_set(diag, -EINVAL,
				   "--events=%s: no such event; man operf "
				   "lists them",
				   wanted.fields[NAME]);
	err = take_count(&wanted, diag);
	if (!err)
		err = take_unit_mask(&wanted, diag);
	if (!err)
		err = take_flag(&wanted, KERNEL, &wanted.kernel, diag);
	if (!err)
		err = take_flag(&wanted, USER, &wanted.user, diag);
	if (!err)
		err = limit(events, &wanted, rights, diag);
	return err ? err : append(events, &wanted, event, counter);
}

static int add_events(struct operf_events *events, const char *list,
		      const struct operf_rights *rights, struct op_diag *diag)
{
	char *copy = strdup(list), *rest = copy, *spec;
	unsigned int counter = 0;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (spec = strsep(&rest, ",")))
		if (*spec)
			err = add_event(events, spec, counter++, rights, diag);
	if (!err && !events->text)
		err = op_diag_set(diag, -EINVAL,
				  "--events=%s: names no event; man operf "
				  "lists them",
				  list);
	free(copy);
	return err;
}

int operf_events_init(struct operf_events *events, const char *list, bool clock,
		      const struct operf_rights *rights, struct op_diag *diag)
{
	int err = 0;

	memset(events, 0, sizeof(*events));
	if (!list && !clock && rights->can_sample_cycles)
		list = DEFAULT_EVENTS;
	events->no_counter = !list && !clock;
	if (list)
		err = add_events(events, list, rights, diag);
	else
		events->user_only = !rights->may_sample_kernel;
	return err ? op_diag_set(diag, err, "out of memory") : 0;
}

void operf_events_release(struct operf_events *events)
{
	free(events->text);
	memset(events, 0, sizeof(*events));
}
