// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the CPU and the events of the sample files are, in the words of the
 * event files. A report does without them where they are not installed or do
 * not know the CPU.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_events.h"
#include "libop/op_perf.h"
#include "libpp/population.h"

#define TIMER_TITLE "CPU with timer interrupt"

static void set_cpu_texts(struct pp_population *p)
{
	const struct op_sample_header *header = &p->side.list.files[0].header;
	struct pp_report *report = p->report;
	bool timer = !strcmp(header->cpu_type, "timer");

	memcpy(report->cpu_type, header->cpu_type, sizeof(report->cpu_type));
	report->cpu_khz = header->cpu_khz;
	report->timer_hz = header->timer_hz;
	report->cpu_title = timer ? TIMER_TITLE : report->cpu_type;
}

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
	if (!dir || op_events_load(&events, dir, p->report->cpu_type, NULL))
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

static const char *copy_text(struct pp_population *p, const char *text)
{
	return text ? op_arena_strdup(&p->report->arena, text) : NULL;
}

static void describe_class(struct pp_population *p,
			   const struct op_events *events,
			   const struct pp_class *class,
			   struct pp_event_text *text)
{
	const struct op_event *event =
		events ? op_events_find(events, class->event) : NULL;
	const struct op_perf_event *perf = op_perf_event_find(class->event);

	if (event) {
		text->event = copy_text(p, event->desc);
		if (event->um && !class->unit_masks_differ)
			text->unit_mask = copy_text(
				p, unit_mask_text(event->um,
						  class->counted_unit_mask));
	} else if (perf) {
		text->event = perf->desc;
	}
}

int pp_describe(struct pp_population *p)
{
	const struct pp_classes *classes = &p->side.classes;
	struct pp_event_text *texts =
		op_arena_alloc(&p->report->arena, classes->nr, sizeof(*texts));
	struct op_events *events;

	if (!texts)
		return -ENOMEM;
	set_cpu_texts(p);
	events = load_event_texts(p);
	if (events) {
		const char *title = copy_text(p, events->cpu->title);

		if (title)
			p->report->cpu_title = title;
	}
	for (size_t i = 0; i < classes->nr; i++)
		describe_class(p, events, &classes->classes[i], &texts[i]);
	op_events_free(events);
	p->report->event_texts = texts;
	return 0;
}
