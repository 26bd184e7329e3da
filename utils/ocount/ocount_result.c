// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts that readings of counters are added up to.
 *
 * Where events share the hardware the kernel counts each a part of the time,
 * and the value is scaled by the time it was enabled to the time it ran. A
 * counter that had the hardware all the time may be short of some nanoseconds;
 * that does not make its value an estimate.
 */

#include "utils/ocount/ocount_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A counter that had the hardware all the time can be some nanoseconds short,
 * since start and stop take time. Below this part of the whole that is what
 * it was.
 */
#define SHORT_OF_WHOLE 10000

static struct ocount_count *count_of(const struct ocount_result *result,
				     size_t event, size_t group)
{
	return &result->counts[event * result->nr_groups + group];
}

static bool is_whole(uint64_t enabled, uint64_t running)
{
	return running >= enabled ||
	       enabled - running <= enabled / SHORT_OF_WHOLE;
}

void ocount_count_add(struct ocount_count *count,
		      const struct ocount_reading *reading)
{
	uint64_t value = reading->value;

	if (reading->running && !is_whole(reading->enabled, reading->running))
		value = (uint64_t)((double)value * (double)reading->enabled /
					   (double)reading->running +
				   0.5);
	count->count += value;
	count->enabled += reading->enabled;
	count->running += reading->running;
}

enum ocount_state ocount_count_state(const struct ocount_count *count)
{
	if (count->failed)
		return OCOUNT_NOT_COUNTED;
	if (!count->enabled)
		return OCOUNT_NEVER_RAN;
	if (!count->running)
		return OCOUNT_NOT_COUNTED;
	return is_whole(count->enabled, count->running) ? OCOUNT_ACTUAL
							: OCOUNT_SCALED;
}

double ocount_count_percent(const struct ocount_count *count)
{
	switch (ocount_count_state(count)) {
	case OCOUNT_ACTUAL:
		return 100;
	case OCOUNT_SCALED:
		return 100.0 * (double)count->running / (double)count->enabled;
	default:
		return 0;
	}
}

int ocount_result_init(struct ocount_result *result,
		       const struct ocount_counters *counters, bool separate,
		       struct op_diag *diag)
{
	*result = (struct ocount_result){
		.events = counters->events,
		.targets = counters->targets,
		.nr_groups = separate ? counters->targets->nr : 1,
	};
	result->counts = calloc(result->events->nr * result->nr_groups,
				sizeof(*result->counts));
	return result->counts ? 0 : op_out_of_memory(diag);
}

void ocount_result_release(struct ocount_result *result)
{
	free(result->counts);
	result->counts = NULL;
}

static int read_event(struct ocount_result *result,
		      struct ocount_counters *counters, size_t event,
		      struct op_diag *diag)
{
	struct ocount_reading reading;
	int err;

	for (size_t t = 0; t < result->targets->nr; t++) {
		err = ocount_counters_read(counters, event, t, &reading, diag);
		if (err)
			return err;
		ocount_count_add(count_of(result, event,
					  result->nr_groups > 1 ? t : 0),
				 &reading);
	}
	return 0;
}

int ocount_result_read(struct ocount_result *result,
		       struct ocount_counters *counters, uint64_t ns,
		       struct op_diag *diag)
{
	size_t nr = result->events->nr * result->nr_groups;
	int err = 0;

	memset(result->counts, 0, nr * sizeof(*result->counts));
	result->ns = ns;
	for (size_t i = 0; i < nr; i++)
		result->counts[i].failed =
			result->events->list[i / result->nr_groups].failed;
	for (size_t e = 0; !err && e < result->events->nr; e++)
		err = read_event(result, counters, e, diag);
	return err;
}

const struct ocount_count *ocount_result_get(const struct ocount_result *result,
					     size_t event, size_t group)
{
	return count_of(result, event, group);
}

bool ocount_result_is_scaled(const struct ocount_result *result)
{
	size_t nr = result->events->nr * result->nr_groups;

	for (size_t i = 0; i < nr; i++)
		if (ocount_count_state(&result->counts[i]) == OCOUNT_SCALED)
			return true;
	return false;
}
