// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/perf/opd_perf_rates.h"

#include <string.h>

void opd_perf_rates_change(struct opd_perf_rates *rates, uint64_t time,
			   unsigned int shift)
{
	if (rates->nr == OPD_PERF_RATES) {
		rates->before = rates->changes[0].shift;
		memmove(rates->changes, rates->changes + 1,
			(OPD_PERF_RATES - 1) * sizeof(rates->changes[0]));
		rates->nr--;
	}
	rates->changes[rates->nr].time = time;
	rates->changes[rates->nr].shift = shift;
	rates->nr++;
}

unsigned int opd_perf_rates_at(const struct opd_perf_rates *rates,
			       uint64_t time)
{
	for (unsigned int i = rates->nr; i-- > 0;)
		if (time >= rates->changes[i].time)
			return rates->changes[i].shift;
	return rates->before;
}
