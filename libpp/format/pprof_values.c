// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events as pprof has them: a sample has one or two values for each event, the
 * number of samples, and where the count of the event is known the number of
 * events, or the time that they stand for.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libpp/format/pprof.h"
#include "libpp/report/report_times.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* Set the factor and the unit of an event: a sample of the timer stands for its
 * period, and the count of some events of perf_events is a time. */
static void pprof_measure(const struct pp_report *report,
			  struct pprof_event *event)
{
	const struct pp_class *class = event->class;

	event->factor = class->count;
	event->unit = "count";
	if (!pp_class_sample_ns(report, class))
		return;
	event->unit = "nanoseconds";
	event->factor = pp_class_sample_ns(report, class);
}

void pprof_find_events(struct pprof *w)
{
	const struct pp_classes *classes = &w->report->classes;

	for (size_t c = 0; c < classes->nr; c++) {
		const struct pp_class *class = &classes->classes[c];
		size_t e = 0;

		while (e < w->nr_events &&
		       !pp_same_event(w->events[e].class, class))
			e++;
		w->event_of[c] = e;
		if (e < w->nr_events)
			continue;
		w->events[e] = (struct pprof_event){ .class = class,
						     .value = w->nr_values };
		pprof_measure(w->report, &w->events[e]);
		w->nr_values += w->events[e].factor ? 2 : 1;
		w->nr_events++;
	}
}

/* "CYCLES"; where another event is called so, with what tells them apart. */
static const char *pprof_event_name(struct pprof *w, size_t e)
{
	const struct pp_class *class = w->events[e].class;

	for (size_t i = 0; i < w->nr_events; i++)
		if (i != e && !strcmp(w->events[i].class->event, class->event))
			return op_arena_printf(&w->s.arena,
					       "%s:%" PRIu64 ":0x%02" PRIx64,
					       class->event, class->count,
					       class->unit_mask);
	return class->event;
}

static void pprof_put_type(struct pprof *w, const char *type, const char *unit)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT, *values = &value;

	value.type = pprof_stream_string(&w->s, type);
	value.unit = pprof_stream_string(&w->s, unit);
	piece.n_sample_type = 1;
	piece.sample_type = &values;
	pprof_stream_put(&w->s, &piece);
}

void pprof_put_types(struct pprof *w)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;

	for (size_t e = 0; e < w->nr_events && !w->s.err; e++) {
		const struct pprof_event *event = &w->events[e];
		const char *name = pprof_event_name(w, e);
		const char *samples =
			w->nr_events == 1 ? "samples"
			: name ? op_arena_printf(&w->s.arena, "samples:%s",
						 name)
			       : NULL;

		if (!samples) {
			w->s.err = -ENOMEM;
			return;
		}
		pprof_put_type(w, samples, "count");
		if (event->factor)
			pprof_put_type(w, name, event->unit);
		if (!e)
			piece.default_sample_type =
				pprof_stream_string(&w->s, samples);
	}
	if (w->nr_events == 1 && w->events->factor) {
		period.type =
			pprof_stream_string(&w->s, w->events->class->event);
		period.unit = pprof_stream_string(&w->s, w->events->unit);
		piece.period_type = &period;
		piece.period = (int64_t)w->events->factor;
	}
	piece.time_nanos = (int64_t)(w->report->account_written * NSEC_PER_SEC);
	pprof_stream_put(&w->s, &piece);
}

static int64_t pprof_scale(uint64_t count, uint64_t factor)
{
	uint64_t value;

	if (__builtin_mul_overflow(count, factor, &value) || value > INT64_MAX)
		return INT64_MAX;
	return (int64_t)value;
}

bool pprof_find_values(struct pprof *w, const uint64_t *counts, size_t first)
{
	const struct pp_classes *classes = &w->report->classes;
	bool any = false;

	memset(w->values, 0, w->nr_values * sizeof(*w->values));
	for (size_t c = first; c < classes->nr; c++) {
		const struct pprof_event *event = &w->events[w->event_of[c]];

		if (!counts[c] || pp_compare_sessions(&classes->classes[first],
						      &classes->classes[c]))
			continue;
		any = true;
		w->values[event->value] = pprof_scale(counts[c], 1);
		if (event->factor)
			w->values[event->value + 1] =
				pprof_scale(counts[c], event->factor);
	}
	return any;
}
