// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/waits/opd_axis.h"

#include "libop/base/op_hash.h"

void opd_draws_init(struct opd_draws *draws)
{
	*draws = (struct opd_draws){ .seed = op_hash_new_seed() };
}

static uint64_t draw_below(struct opd_draws *draws, uint64_t limit)
{
	uint64_t random = op_hash_mix(draws->seed, draws->nr++);

	return (uint64_t)(((unsigned __int128)random * limit) >> 64);
}

void opd_axis_init(struct opd_axis *axis, struct opd_draws *draws,
		   uint64_t interval)
{
	axis->at = 0;
	axis->point = draw_below(draws, interval);
}

uint64_t opd_axis_pass(struct opd_axis *axis, struct opd_draws *draws,
		       uint64_t ns, uint64_t interval)
{
	uint64_t start = axis->at, end = start + ns, nr;

	if (end < interval) {
		axis->at = end;
		return start <= axis->point && axis->point < end;
	}
	nr = (start <= axis->point) + end / interval - 1;
	axis->at = end % interval;
	axis->point = draw_below(draws, interval);
	return nr + (axis->point < axis->at);
}
