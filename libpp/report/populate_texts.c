// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The CPU and the events of the sample files, in the words of the event files.
 * A report does without them where they are not installed or do not know the
 * CPU. For an archive, only the event files that were archived with it are
 * used: those that are installed here may describe another version of the CPU.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/events/op_events.h"
#include "libop/kernel/op_perf.h"
#include "libpp/report/population.h"

#define TIMER_TITLE "CPU with timer interrupt"

/*
 * The event files for the CPU; NULL when there are none. Of a profile that was
 * archived those that were archived with it.
 */
static struct op_events *load_event_texts(struct pp_population *p)
{
	const struct pp_archive *archive = p->side.archive;
	struct op_events *events = NULL;
	char *dir;

	if (archive && archive->events) {
		if (!pp_archive_check_events(archive, &p->report->messages))
			return NULL;
		dir = strdup(archive->events);
	} else if (op_events_dir(&dir, NULL)) {
		return NULL;
	}
	if (!dir || op_events_load(&events, dir, p->report->cpu.type, NULL))
		events = NULL;
	free(dir);
	return events;
}

/* @value in words: its entry, or that it is made of several. */
static const char *unit_mask_text(const struct op_unit_mask *um, uint64_t value)
{
	for (size_t i = 0; i < um->nr; i++)
		if (um->entries[i].value == value)
			return um->entries[i].desc;
	return um->type == OP_UM_BITMASK && value ? "multiple flags" : NULL;
}

static void describe_class(struct op_arena *arena,
			   const struct op_events *events,
			   const struct pp_class *class,
			   struct pp_event_text *text)
{
	const struct op_event *event =
		events ? op_events_find(events, class->event) : NULL;
	const struct op_perf_event *perf = op_perf_event_find(class->event);
	const char *mask = NULL;

	if (event && event->um && !class->unit_masks_differ)
		mask = unit_mask_text(event->um, class->counted_unit_mask);
	if (mask)
		text->unit_mask = op_arena_strdup(arena, mask);
	if (event && event->desc)
		text->event = op_arena_strdup(arena, event->desc);
	else if (!event && perf)
		text->event = perf->desc;
}

int pp_describe(struct pp_population *p)
{
	const struct op_sample_header *header = &p->side.list.files[0].header;
	const struct pp_classes *classes = &p->side.classes;
	struct pp_report *report = p->report;
	struct pp_event_text *texts =
		op_arena_alloc(&report->arena, classes->nr, sizeof(*texts));
	struct op_events *events;
	const char *title = NULL;

	if (!texts)
		return -ENOMEM;
	memcpy(report->cpu.type, header->cpu_type, sizeof(report->cpu.type));
	report->cpu.khz = header->cpu_khz;
	report->cpu.timer_hz = header->timer_hz;
	events = load_event_texts(p);
	if (events && events->cpu->title)
		title = op_arena_strdup(&report->arena, events->cpu->title);
	report->cpu.title = title ? title
			    : !strcmp(report->cpu.type, "timer")
				    ? TIMER_TITLE
				    : report->cpu.type;
	for (size_t i = 0; i < classes->nr; i++)
		describe_class(&report->arena, events, &classes->classes[i],
			       &texts[i]);
	op_events_free(events);
	report->cpu.event_texts = texts;
	return 0;
}
