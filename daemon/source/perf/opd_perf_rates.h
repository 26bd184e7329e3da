/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_RATES_H
#define DAEMON_SOURCE_PERF_OPD_PERF_RATES_H

/*
 * How many samples one stands for, where the period of a CPU's events was
 * changed while they count. A change begins a new period, so it is told by the
 * time of a sample. (PERF_SAMPLE_PERIOD does not tell: of the software clock it
 * stays what it was when the event was opened.) Samples are read some time
 * after they were taken, so the last few changes are kept.
 */

#include <stdint.h>

#define OPD_PERF_RATES 8

/* Empty: one sample is one. */
struct opd_perf_rates {
	struct {
		uint64_t time; /* ns, of the clock of the samples */
		unsigned int shift; /* from then on */
	} changes[OPD_PERF_RATES]; /* by time */
	unsigned int nr;
	unsigned int before; /* the shift before all of these */
};

/* From @time on, which is no earlier than that of the change before, a sample
 * stands for 1 << @shift. */
void opd_perf_rates_change(struct opd_perf_rates *rates, uint64_t time,
			   unsigned int shift);

/* How many a sample of @time stands for, as a shift. */
unsigned int opd_perf_rates_at(const struct opd_perf_rates *rates,
			       uint64_t time);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_RATES_H */
