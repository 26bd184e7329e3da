// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From --event to the module's counters.
 *
 * A list of events is resolved twice: when it is given, so that a mistake is
 * told at once and the settings file holds all fields; and when a daemon is
 * started, for the source that was chosen by then, as the module and
 * perf_events can sample different events. With call graphs the least counts
 * are larger, as a sample with its stack costs more.
 */

#include "utils/opcontrol/opcontrol_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/events/op_ibs.h"
#include "utils/daemon.h"
#include "utils/opcontrol/opcontrol_ibs.h"
#include "utils/opcontrol/opcontrol_waits.h"
#include "utils/say.h"

#define WAYS_OUT                                                               \
	"sample by the timer, --event=timer, or with --source=perf an event "  \
	"of the kernel's own such as page-faults:1"

int oc_events_init(struct oc_events *events, const struct oc_fs *fs)
{
	int err = event_machine_init(&events->machine);

	events->fs = fs;
	events->list = (struct event_list){ .event = NULL };
	events->machine.is_module = true;
	events->machine.has_waits = true;
	return err;
}

void oc_events_release(struct oc_events *events)
{
	event_list_release(&events->list);
	event_machine_release(&events->machine);
}

/* ---- what can be sampled ------------------------------------------------- */

/* Whether @source can sample the CPU's events. What the module has found is
 * known once it is loaded. */
static bool has_cpu_counters(const struct oc_events *events,
			     enum oc_source source)
{
	if (source != OC_SOURCE_PERF && oc_fs_is_mounted(events->fs))
		return oc_fs_has(events->fs, "0");
	return event_machine_can_sample(&events->machine);
}

/* The least counts are such that samples with their stacks can be taken. */
static void set_factor(struct oc_events *events,
		       const struct oc_settings *settings)
{
	events->machine.factor =
		settings->numbers[OC_CALLGRAPH] ? OP_CALLGRAPH_FACTOR : 1;
}

/* The first that a counter of the CPU counts; NULL: none. */
static const struct op_parsed_event *
first_of_counters(const struct event_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!list->event[i].event->ext)
			return &list->event[i];
	return NULL;
}

static int check_event_source(const struct oc_events *events,
			      const struct event_list *list,
			      enum oc_source source, struct op_diag *diag)
{
	const struct op_parsed_event *kernels = event_list_first(list, true);
	const struct op_parsed_event *cpus = first_of_counters(list);
	int err;

	if (kernels && source == OC_SOURCE_MODULE)
		return op_diag_set(diag, -EINVAL,
				   "%s: an event of the kernel's own, which "
				   "the module cannot sample; choose "
				   "--source=perf or an event of the CPU",
				   kernels->event->name);
	if (cpus && !has_cpu_counters(events, source))
		return op_diag_set(diag, -ENODEV,
				   "%s: no hardware counters here; "
				   "" WAYS_OUT,
				   cpus->event->name);
	if (cpus && list->has_timer)
		return op_diag_set(diag, -EINVAL,
				   "%s: the timer and counters cannot be used "
				   "together; choose one of them",
				   cpus->event->name);
	err = oc_waits_check_source(events->fs, list, source, diag);
	return err ?: oc_ibs_check_source(events->fs, list, source, diag);
}

static int resolve_events(struct oc_events *events, struct event_list *list,
			  const char *text, enum oc_source source,
			  struct op_diag *diag)
{
	struct op_diag why = { "" };
	int err = event_list_init(list, &events->machine, text, &why);

	/* Where the events of the CPU are not known others can be chosen. */
	if (err == -EINVAL && !event_machine_cpu(&events->machine, NULL))
		return op_diag_set(diag, err, "%s; " WAYS_OUT, why.text);
	if (err)
		return op_diag_set(diag, err, "%s", op_diag_text(&why, err));
	err = check_event_source(events, list, source, diag);
	return err ? err
		   : event_list_check(list, &events->machine, &events->share,
				      diag);
}

/* ---- the setting --------------------------------------------------------- */

int oc_events_check(struct oc_events *events, struct oc_settings *settings,
		    struct op_diag *diag)
{
	struct event_list list = { .event = NULL };
	char *text = NULL;
	int err;

	if (!*settings->events || !strcmp(settings->events, EVENT_LIST_TIMER))
		return 0;
	set_factor(events, settings);
	err = resolve_events(events, &list, settings->events,
			     settings->numbers[OC_SOURCE], diag);
	if (err)
		goto out;
	text = event_list_text(&list);
	if (!text)
		err = op_out_of_memory(diag);
	else if (strlen(text) < sizeof(settings->events))
		strcpy(settings->events, text);
	else
		err = op_diag_set(diag, -EINVAL,
				  "--event: the list is longer than %zu bytes; "
				  "choose fewer events",
				  sizeof(settings->events) - 1);
out:
	free(text);
	event_list_release(&list);
	return err;
}

/* ---- the choice ---------------------------------------------------------- */

static int choose_default_event(struct oc_events *events, enum oc_source source,
				struct op_diag *diag)
{
	const char *reason = "no hardware counters here";
	struct op_diag why = { "" };
	bool has_counters = has_cpu_counters(events, source);
	char *text;
	int err;

	if (!has_counters || !event_machine_cpu(&events->machine, &why)) {
		say_note("opcontrol",
			 "%s; sampling by the timer (as with "
			 "--event=timer)",
			 has_counters ? why.text : reason);
		return 0;
	}
	err = resolve_events(events, &events->list, "default", source, diag);
	text = err ? NULL : event_list_text(&events->list);
	if (text)
		printf("Using default event: %s\n", text);
	free(text);
	return err;
}

int oc_events_choose(struct oc_events *events,
		     const struct oc_settings *settings, enum oc_source source,
		     struct op_diag *diag)
{
	const char *text = settings->events;
	int err;

	event_list_release(&events->list);
	set_factor(events, settings);
	if (!*text)
		return choose_default_event(events, source, diag);
	if (!strcmp(text, EVENT_LIST_TIMER))
		return 0;
	err = resolve_events(events, &events->list, text, source, diag);
	if (!err && events->share)
		say_note("opcontrol", "%s", EVENT_LIST_SHARE_NOTE);
	return err;
}

/* ---- oprofilefs ---------------------------------------------------------- */

static int write_counter_file(const struct oc_fs *fs, size_t counter,
			      const char *name, uint64_t value,
			      struct op_diag *diag)
{
	char file[64];

	snprintf(file, sizeof(file), "%zu/%s", counter, name);
	return oc_fs_write(fs, file, value, diag);
}

/*
 * The module puts the register together from event, unit_mask and extra. How
 * that is done is the CPU's; extra alone can hold all of it, so the others
 * only have what is the same in each encoding.
 */
static int write_counter(const struct oc_events *events, size_t counter,
			 const struct op_parsed_event *event,
			 struct op_diag *diag)
{
	const struct op_cpu_type *cpu = events->machine.cpu->cpu;
	bool is_plain = cpu->encoding == OP_ENCODING_X86 ||
			(cpu->encoding == OP_ENCODING_RAW && !event->um);
	const struct {
		const char *file;
		uint64_t value;
	} files[] = {
		{ "event", is_plain ? event->event->code : 0 },
		{ "count", event->count },
		{ "unit_mask", is_plain ? event->um : 0 },
		{ "kernel", event->kernel },
		{ "user", event->user },
		{ "extra", event->config },
		{ "enabled", 1 },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !err; i++)
		err = write_counter_file(events->fs, counter, files[i].file,
					 files[i].value, diag);
	return err;
}

/* Turn all off. Returns how many counters the module has, or -errno. */
static int clear_counters(const struct oc_fs *fs, struct op_diag *diag)
{
	char file[16] = "0";
	int nr = 0, err;

	while (oc_fs_has(fs, file)) {
		err = write_counter_file(fs, (size_t)nr, "enabled", 0, diag);
		if (err)
			return err;
		snprintf(file, sizeof(file), "%d", ++nr);
	}
	return nr;
}

/* The name of the event that gets counter @nr. */
static const char *nth_with_counter(const struct event_list *list, size_t nr)
{
	size_t i = 0;

	while (!event_needs_counter(list->event[i].event) || nr--)
		i++;
	return list->event[i].event->name;
}

int oc_events_write(const struct oc_events *events, struct op_diag *diag)
{
	const struct event_list *list = &events->list;
	size_t wanted = event_list_nr_counters(list), counter = 0;
	int nr = clear_counters(events->fs, diag), err;
	char types[96];

	if (nr < 0)
		return nr;
	err = oc_ibs_write(events->fs, &events->machine, list, diag);
	if (!err)
		err = oc_waits_write(events->fs, list, diag);
	/* Without counters the timer samples, but not beside waits alone. */
	if (!err && oc_fs_has(events->fs, "timer/enabled"))
		err = oc_fs_write(events->fs, "timer/enabled",
				  !list->nr || list->has_timer, diag);
	if (err || !wanted)
		return err;
	if (wanted > (size_t)nr)
		return op_diag_set(diag, -EBUSY,
				   "%s: the module has %d counters, one is "
				   "needed for each of %zu events; choose "
				   "fewer, or free the NMI watchdog's with "
				   "sysctl kernel.nmi_watchdog=0 and load the "
				   "module again",
				   nth_with_counter(list, (size_t)nr), nr,
				   wanted);
	/* Without any the module's own choice serves. */
	if (event_machine_pmu_types(&events->machine, types, sizeof(types)))
		err = oc_fs_write_text(events->fs, "pmu_types", types, diag);
	/* The number of a counter is the event's place in the daemon's list. */
	for (size_t i = 0; i < list->nr && !err; i++) {
		const struct op_parsed_event *event = &list->event[i];

		if (event_needs_counter(event->event))
			err = write_counter(events, counter, event, diag);
		counter += !op_event_is_ibs(event->event, NULL);
	}
	return err;
}

/* ---- for people ---------------------------------------------------------- */

/* The daemon passes on what the module has answered. */
void oc_events_explain(const char *reply, struct op_diag *diag)
{
	/* clang-format off */
	static const struct {
		int err;
		const char *cure;
	} cures[] = {
		{ EBUSY, "no counter is free on some CPU; end perf and other profilers, free the NMI watchdog's with sysctl kernel.nmi_watchdog=0, or choose fewer events" },
		{ ENOENT, "this CPU has no such event; choose another, see opcontrol --list-events" },
		{ EOPNOTSUPP, "this CPU cannot sample the event; choose another, see opcontrol --list-events" },
		{ EINVAL, "this CPU refuses the event or its count; choose others, see opcontrol --list-events" },
	};
	/* clang-format on */
	char source[64];
	struct op_diag why = *diag;

	daemon_reply_find(reply, "source", source, sizeof(source));
	if (strcmp(source, "module/perf") != 0)
		return;
	for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++) {
		if (!strstr(why.text, strerror(cures[i].err)))
			continue;
		diag->text[0] = '\0';
		op_diag_set(diag, -cures[i].err, "%s: %s", why.text,
			    cures[i].cure);
		return;
	}
}

char *oc_events_text(struct oc_events *events,
		     const struct oc_settings *settings, enum oc_source chosen,
		     const char *told)
{
	const char *text = settings->events, *slash = strchr(told, '/');
	struct event_list list = { .event = NULL };
	bool is_timer;
	char *out = NULL;

	if (*text)
		return strcmp(text, EVENT_LIST_TIMER) ? strdup(text) : NULL;
	set_factor(events, settings);
	/* A caller who only looks may not be allowed to try; the daemon knows.
	 */
	is_timer =
		slash ? !strcmp(slash, "/timer") || !strcmp(slash, "/cpu-clock")
		      : !has_cpu_counters(events, chosen);
	if (!is_timer &&
	    !event_list_init(&list, &events->machine, "default", NULL))
		out = event_list_text(&list);
	event_list_release(&list);
	return out;
}
