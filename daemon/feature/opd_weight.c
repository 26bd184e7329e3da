// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Weights of precise samples: hardware that samples loads tells how many
 * cycles each of them took, which the stream has in a record before the
 * sample (OP_WEIGHT). The feature adds them up: each event of a counter gets
 * a second one, EVENT_LATENCY, whose counts are sums of weights.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feature/opd_ext_files.h"
#include "libop/base/op_log.h"

#define SUFFIX "_LATENCY"
#define NO_EVENT (-1)

struct opd_weight {
	struct opd_ext_events events; /* first: opd_ext_files.h */
	int of_counter[OP_MAX_COUNTERS]; /* number in events, or NO_EVENT */
	uint64_t samples; /* with a weight */
	uint64_t without; /* whose counter has no such event */
};

static int weight_init(struct opd_ext *ext, const char *args,
		       struct op_diag *diag)
{
	ext->state = calloc(1, sizeof(struct opd_weight));
	if (!ext->state)
		return op_diag_set(diag, -ENOMEM, "weight: out of memory");
	if (*args)
		return op_diag_set(diag, -EINVAL,
				   "weight: '%s': it takes no arguments", args);
	return 0;
}

static void weight_release(struct opd_ext *ext)
{
	free(ext->state);
	ext->state = NULL;
}

/* The event beside @event, or NO_EVENT if its name cannot be made longer. */
static int add_event(struct opd_weight *weight, const struct opd_event *event)
{
	struct opd_event latency = *event;
	size_t len = strlen(event->name);
	int number;

	if (len + sizeof(SUFFIX) > sizeof(latency.name))
		return NO_EVENT;
	memcpy(latency.name + len, SUFFIX, sizeof(SUFFIX));
	number = opd_ext_events_add(&weight->events, &latency, NULL);
	return number < 0 ? NO_EVENT : number;
}

static void weight_events(struct opd_ext *ext, const struct opd_events *events)
{
	struct opd_weight *weight = ext->state;

	memset(&weight->events, 0, sizeof(weight->events));
	for (unsigned int i = 0; i < OP_MAX_COUNTERS; i++) {
		const struct opd_event *event = &events->counter[i];

		weight->of_counter[i] = NO_EVENT;
		if (i < events->nr && event->set && !opd_event_is_timer(event))
			weight->of_counter[i] = add_event(weight, event);
	}
}

static enum opd_ext_use weight_record(struct opd_ext *ext,
				      const struct opd_rec *rec, uint64_t *pc)
{
	(void)ext;
	(void)rec;
	(void)pc;
	return OPD_EXT_NEXT;
}

static enum opd_fate weight_count(struct opd_ext *ext,
				  const struct opd_ext_sample *sample)
{
	struct opd_weight *weight = ext->state;
	int event = weight->of_counter[sample->counter];

	weight->samples++;
	if (event == NO_EVENT)
		weight->without++;
	else if (sample->data->words[0])
		opd_ext_files_add(ext, sample, (unsigned int)event,
				  sample->data->words[0]);
	return OPD_STORED;
}

static void weight_print_stats(const struct opd_ext *ext)
{
	const struct opd_weight *weight = ext->state;
	const struct opd_ext_events *events = &weight->events;

	op_log_plain(ext->log, "-- Weight Statistics --");
	op_log_plain(ext->log, "Nr. samples with a weight: %" PRIu64,
		     weight->samples);
	op_log_plain(ext->log, "Nr. of them without an event: %" PRIu64,
		     weight->without);
	for (unsigned int i = 0; i < events->nr; i++)
		op_log_plain(ext->log, "%s: %" PRIu64, events->event[i].name,
			     events->counted[i]);
}

static const uint32_t codes[] = { OP_WEIGHT, 0 };

static const struct opd_ext_sfile_handlers sfile_handlers = {
	.close = opd_ext_files_close,
	.sync = opd_ext_files_sync,
};

const struct opd_ext_feature opd_weight_feature = {
	.name = "weight",
	.codes = codes,
	.wants_weights = true,
	.ext_init = weight_init,
	.ext_release = weight_release,
	.ext_events = weight_events,
	.ext_record = weight_record,
	.ext_count = weight_count,
	.ext_print_stats = weight_print_stats,
	.ext_sfile = &sfile_handlers,
};
