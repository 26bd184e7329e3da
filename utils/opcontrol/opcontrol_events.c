// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From --event to the module's counters and the daemon's --events.
 */

#include "utils/opcontrol/opcontrol_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_ibs.h"
#include "utils/opcontrol/opcontrol.h"
#include "utils/opcontrol/opcontrol_ibs.h"

#define TIMER "timer"
#define WAYS_OUT                                                               \
	"sample by the timer, --event=timer, or with --source=perf an event "  \
	"of the kernel's own such as page-faults:1"

int oc_events_init(struct oc_events *events)
{
	int err = event_machine_init(&events->machine);

	events->list = (struct event_list){ .event = NULL };
	events->machine.takes_ibs = true;
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
static bool has_counters(const struct opcontrol *oc, enum oc_source source)
{
	if (source != OC_SOURCE_PERF && oc_fs_is_mounted(&oc->fs))
		return oc_fs_has(&oc->fs, "0");
	return event_machine_can_sample(&oc->events.machine);
}

/* The least counts are such that samples with their stacks can be taken. */
static void set_factor(struct opcontrol *oc, const struct oc_settings *settings)
{
	oc->events.machine.factor =
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

static int check_source(struct opcontrol *oc, const struct event_list *list,
			enum oc_source source)
{
	const struct op_parsed_event *kernels = event_list_first(list, true);
	const struct op_parsed_event *cpus = first_of_counters(list);

	if (kernels && source == OC_SOURCE_MODULE)
		return op_diag_set(&oc->diag, -EINVAL,
				   "%s: an event of the kernel's own, which "
				   "the module cannot sample; choose "
				   "--source=perf or an event of the CPU",
				   kernels->event->name);
	if (cpus && !has_counters(oc, source))
		return op_diag_set(&oc->diag, -ENODEV,
				   "%s: no hardware counters to sample with "
				   "here; " WAYS_OUT,
				   cpus->event->name);
	return oc_ibs_check_source(oc, list, source);
}

/* Of one who asked for an event on a machine whose events are not known. */
static int add_way_out(struct opcontrol *oc, int err)
{
	struct op_diag why = oc->diag;

	oc->diag.text[0] = '\0';
	return op_diag_set(&oc->diag, err, "%s; " WAYS_OUT, why.text);
}

static int resolve(struct opcontrol *oc, struct event_list *list,
		   const char *text, enum oc_source source)
{
	struct event_machine *machine = &oc->events.machine;
	int err = event_list_init(list, machine, text, &oc->diag);

	if (err == -EINVAL && !event_machine_cpu(machine, NULL))
		return add_way_out(oc, err);
	if (!err)
		err = check_source(oc, list, source);
	return err ? err : event_list_check(list, machine, &oc->diag);
}

/* Why the default is the timer, or NULL if it is the CPU's default event. */
static const char *why_timer(struct opcontrol *oc, enum oc_source source,
			     struct op_diag *why)
{
	if (!has_counters(oc, source))
		return "no hardware counters to sample with here";
	return event_machine_cpu(&oc->events.machine, why) ? NULL : why->text;
}

/* ---- the setting --------------------------------------------------------- */

static int check_words(struct opcontrol *oc, const char *list)
{
	for (const char *at = list; at; at = strchr(at, ',')) {
		size_t len;

		at += *at == ',';
		len = strcspn(at, ",");
		if (len == strlen(TIMER) && !memcmp(at, TIMER, len))
			return op_diag_set(&oc->diag, -EINVAL,
					   "--event=%s: the timer and counters "
					   "cannot be used together; choose "
					   "one of them",
					   list);
	}
	return 0;
}

static int write_out(struct opcontrol *oc, struct oc_settings *settings,
		     const struct event_list *list)
{
	char *text = event_list_text(list);
	int err = 0;

	if (!text)
		return op_diag_set(&oc->diag, -ENOMEM, "out of memory");
	if (strlen(text) < sizeof(settings->events))
		strcpy(settings->events, text);
	else
		err = op_diag_set(&oc->diag, -EINVAL,
				  "--event: the list is longer than %zu bytes; "
				  "choose fewer events",
				  sizeof(settings->events) - 1);
	free(text);
	return err;
}

int oc_events_check(struct opcontrol *oc, struct oc_settings *settings)
{
	const char *text = settings->events;
	struct event_list list = { .event = NULL };
	int err;

	if (!*text || !strcmp(text, TIMER))
		return 0;
	set_factor(oc, settings);
	err = check_words(oc, text);
	if (!err)
		err = resolve(oc, &list, text, settings->source);
	if (!err)
		err = write_out(oc, settings, &list);
	event_list_release(&list);
	return err;
}

/* ---- the choice ---------------------------------------------------------- */

static int choose_default(struct opcontrol *oc)
{
	enum oc_source source = oc->choice.source;
	struct op_diag why = { "" };
	const char *reason = why_timer(oc, source, &why);
	char *text;
	int err;

	if (reason) {
		fprintf(stderr,
			"opcontrol: %s; sampling by the timer (--event=timer "
			"chooses that)\n",
			reason);
		return 0;
	}
	err = resolve(oc, &oc->events.list, "default", source);
	text = err ? NULL : event_list_text(&oc->events.list);
	if (text)
		printf("Using default event: %s\n", text);
	free(text);
	return err;
}

int oc_events_choose(struct opcontrol *oc)
{
	const char *text = oc->settings.events;

	event_list_release(&oc->events.list);
	set_factor(oc, &oc->settings);
	if (!*text)
		return choose_default(oc);
	if (!strcmp(text, TIMER))
		return 0;
	return resolve(oc, &oc->events.list, text, oc->choice.source);
}

/* ---- oprofilefs ---------------------------------------------------------- */

static int write_file(struct opcontrol *oc, size_t counter, const char *name,
		      uint64_t value)
{
	char file[64];

	snprintf(file, sizeof(file), "%zu/%s", counter, name);
	return oc_fs_write(oc, file, value);
}

/*
 * The module puts the register together from event, unit_mask and extra. How
 * that is done is the CPU's; extra alone can hold all of it, so the others
 * only have what is the same in each encoding.
 */
static int write_counter(struct opcontrol *oc, size_t counter,
			 const struct op_parsed_event *event)
{
	const struct op_cpu_type *cpu = oc->events.machine.cpu->cpu;
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
		err = write_file(oc, counter, files[i].file, files[i].value);
	return err;
}

/* Turn all off. Returns how many counters the module has, or -errno. */
static int clear_counters(struct opcontrol *oc)
{
	char file[16] = "0";
	int nr = 0, err;

	while (oc_fs_has(&oc->fs, file)) {
		err = write_file(oc, (size_t)nr, "enabled", 0);
		if (err)
			return err;
		snprintf(file, sizeof(file), "%d", ++nr);
	}
	return nr;
}

static int write_pmu_types(struct opcontrol *oc)
{
	char types[96];

	if (!event_machine_pmu_types(&oc->events.machine, types, sizeof(types)))
		return 0; /* the module's own choice serves */
	return oc_fs_write_text(oc, "pmu_types", types);
}

/* The name of the event that gets counter @nr. */
static const char *nth_with_counter(const struct event_list *list, size_t nr)
{
	size_t i = 0;

	while (op_event_is_ibs(list->event[i].event, NULL) || nr--)
		i++;
	return list->event[i].event->name;
}

int oc_events_write(struct opcontrol *oc)
{
	const struct event_list *list = &oc->events.list;
	size_t wanted = event_list_nr_counters(list), counter = 0;
	int nr = clear_counters(oc), err;

	if (nr < 0)
		return nr;
	err = oc_ibs_write(oc);
	if (err || !wanted)
		return err;
	if (wanted > (size_t)nr)
		return op_diag_set(&oc->diag, -EBUSY,
				   "%s: the module has %d counters, one is "
				   "needed for each of %zu events; choose "
				   "fewer, or free the NMI watchdog's with "
				   "sysctl kernel.nmi_watchdog=0 and load the "
				   "module again",
				   nth_with_counter(list, (size_t)nr), nr,
				   wanted);
	err = write_pmu_types(oc);
	for (size_t i = 0; i < list->nr && !err; i++)
		if (!op_event_is_ibs(list->event[i].event, NULL))
			err = write_counter(oc, counter++, &list->event[i]);
	return err;
}

/* ---- for people ---------------------------------------------------------- */

/* The daemon passes on what the module has answered. */
void oc_events_explain(struct opcontrol *oc)
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
	struct op_diag why = oc->diag;

	oc_reply_find(oc->daemon.reply, "source", source, sizeof(source));
	if (strcmp(source, "module/perf") != 0)
		return;
	for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++) {
		if (!strstr(why.text, strerror(cures[i].err)))
			continue;
		oc->diag.text[0] = '\0';
		op_diag_set(&oc->diag, -cures[i].err, "%s: %s", why.text,
			    cures[i].cure);
		return;
	}
}

/* Who only looks may not be allowed to try; the daemon knows. */
static bool is_sampling_counters(const struct opcontrol *oc, const char *source)
{
	const char *slash = strchr(source, '/');

	if (!slash)
		return has_counters(oc, oc->choice.source);
	return strcmp(slash, "/timer") != 0 && strcmp(slash, "/cpu-clock") != 0;
}

char *oc_events_text(struct opcontrol *oc, const char *source)
{
	const char *text = oc->settings.events;
	struct event_list list = { .event = NULL };
	char *out = NULL;

	if (*text)
		return strcmp(text, TIMER) ? strdup(text) : NULL;
	set_factor(oc, &oc->settings);
	if (is_sampling_counters(oc, source) &&
	    !event_list_init(&list, &oc->events.machine, "default", NULL))
		out = event_list_text(&list);
	event_list_release(&list);
	return out;
}
