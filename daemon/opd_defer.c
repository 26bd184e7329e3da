// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/opd.h"

/* Reads of the buffer, four a second or more, that a name may take. */
#define MAX_TRIES 64

int opd_defer_init(struct opd_defer *defer)
{
	defer->nr = 0;
	defer->samples = calloc(OPD_MAX_DEFERRED, sizeof(defer->samples[0]));
	return defer->samples ? 0 : -ENOMEM;
}

void opd_defer_release(struct opd_defer *defer)
{
	free(defer->samples);
	memset(defer, 0, sizeof(*defer));
}

bool opd_defer_add(struct opd_defer *defer, const struct opd_deferred *sample)
{
	if (defer->nr == OPD_MAX_DEFERRED)
		return false;
	defer->samples[defer->nr++] = *sample;
	return true;
}

/* True when @sample has met its fate. */
static bool retry(struct opd *opd, struct opd_deferred *sample, bool last)
{
	struct opd_place place;
	enum opd_fate fate;

	last |= ++sample->tries >= MAX_TRIES;
	fate = opd_place_store(opd, &sample->context, sample->pc,
			       sample->counter, last, &place,
			       &sample->waits_for);
	if (fate == OPD_DEFERRED)
		return false;
	opd_stats_count(&opd->stats, fate);
	return true;
}

void opd_defer_retry(struct opd *opd, uint64_t cookie, bool last)
{
	struct opd_defer *defer = &opd->defer;
	size_t kept = 0;

	for (size_t i = 0; i < defer->nr; i++) {
		struct opd_deferred *sample = &defer->samples[i];
		bool tried =
			cookie == OP_NO_COOKIE || cookie == sample->waits_for;

		if (!tried || !retry(opd, sample, last))
			defer->samples[kept++] = *sample;
	}
	defer->nr = kept;
}
