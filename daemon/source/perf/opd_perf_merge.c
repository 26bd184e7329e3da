// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The merge has one loop. It finds the earliest record of all side band rings,
 * handles the samples of all CPUs before the time of that record, and then the
 * record itself. When no side band is left before the horizon, it handles the
 * samples up to the horizon. Looking at the head of each side band ring is
 * cheap enough, as side band is rare compared with samples.
 *
 * The position of the merge is in the tails of the rings alone. So it can stop
 * at any record when the room for words is used up, and the next call goes on
 * there. The kernel gets the room of all handled records back at the end of a
 * call.
 *
 * A throttled CPU writes a record when it is throttled and another when it goes
 * on. The samples that the clock would have taken in between are counted as
 * lost.
 */

#include "daemon/source/perf/opd_perf_merge.h"

#include "libop/base/op_search.h"

void opd_perf_merge_poll(struct opd_perf_merge *merge)
{
	for (unsigned int i = 0; i < merge->nr_cpus; i++) {
		opd_perf_ring_poll(&merge->cpus[i].samples);
		opd_perf_ring_poll(&merge->cpus[i].side);
		opd_perf_ring_poll(&merge->cpus[i].switches);
	}
}

static size_t look_ahead_in_ring(struct opd_perf_ring *ring, void *bounce,
				 struct opd_process_table *table)
{
	struct opd_perf_rec rec;
	const void *bytes;
	size_t nr = 0;
	uint32_t len;

	opd_perf_ring_poll(ring);
	for (; (bytes = opd_perf_ring_ahead(ring, bounce, &len)); nr++)
		if (!opd_perf_decode(&rec, bytes, len, ring->sample_type))
			opd_perf_handle_ahead(table, &rec);
	return nr;
}

size_t opd_perf_merge_look_ahead(struct opd_perf_merge *merge,
				 struct opd_process_table *table, bool *filling)
{
	size_t nr = 0;

	*filling = false;
	for (unsigned int i = 0; i < merge->nr_cpus; i++) {
		struct opd_perf_ring *side = &merge->cpus[i].side;

		nr += look_ahead_in_ring(side, merge->bounce, table);
		*filling |= side->head - side->tail > side->size / 8;
	}
	return nr;
}

static bool decode(const struct opd_perf_merge *merge,
		   struct opd_process_table *table,
		   const struct opd_perf_ring *ring, struct opd_perf_rec *rec)
{
	const void *bytes = opd_perf_ring_record(ring, merge->bounce);

	if (!opd_perf_decode(rec, bytes, ring->len, ring->sample_type))
		return true;
	table->stats[OPD_PERF_BAD_RECORD]++;
	return false;
}

/* ---- samples ----------------------------------------------------------------
 */

/* An unknown id gives a counter without event: its samples count as lost. */
static uint32_t counter_of(const struct opd_perf_merge *merge, uint64_t id)
{
	const struct opd_perf_id *ids = merge->ids;
	size_t at = OP_BISECT(i, merge->nr_ids, ids[i].id < id);

	if (!merge->nr_ids)
		return 0;
	return at < merge->nr_ids && ids[at].id == id ? ids[at].counter
						      : UINT32_MAX;
}

/*
 * The kernel does not report the cost of a sample, interrupt included. By
 * doc/overhead.md these are round figures for two instructions in a nanosecond:
 * for itself, for callers in the kernel, and for bytes of a user stack.
 */
#define SAMPLE_NS 1000
#define CHAIN_NS 500
#define BYTES_PER_NS 4

static uint64_t sample_ns(const struct opd_perf_rec *rec)
{
	return SAMPLE_NS + (rec->sample.chain_len ? CHAIN_NS : 0) +
	       rec->sample.stack_len / BYTES_PER_NS;
}

static void handle_ring_sample(const struct opd_perf_merge *merge,
			       struct opd_process_table *table,
			       struct opd_perf_cpu *cpu,
			       const struct opd_perf_rec *rec)
{
	uint32_t counter = counter_of(merge, rec->sample.id);

	cpu->handler += sample_ns(rec);
	table->times = UINT64_C(1) << opd_perf_rates_at(&cpu->rates, rec->time);
	/* A sample of the clock, which is counter 0, is one of latency, too. */
	if (merge->latency && !counter) {
		table->other_times =
			opd_latency_count(merge->latency, rec, cpu->cpu,
					  table->times * merge->period_ns);
		table->other_counter = merge->latency->counter;
	}
	opd_perf_handle_sample(table, rec, cpu->cpu, counter);
	table->other_times = 0;
}

/* Samples that the clock would have taken while the kernel throttled it. */
static uint64_t throttled(const struct opd_perf_merge *merge,
			  const struct opd_perf_cpu *cpu, uint64_t now)
{
	if (!cpu->throttled_at || now <= cpu->throttled_at || !merge->period_ns)
		return 0;
	return (now - cpu->throttled_at) / merge->period_ns;
}

static void end_throttle(const struct opd_perf_merge *merge,
			 struct opd_process_table *table,
			 struct opd_perf_cpu *cpu, uint64_t now)
{
	table->stats[OPD_PERF_THROTTLED] += throttled(merge, cpu, now);
	cpu->throttled_at = 0;
}

uint64_t opd_perf_merge_throttled(const struct opd_perf_merge *merge,
				  uint64_t now)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < merge->nr_cpus; i++)
		sum += throttled(merge, &merge->cpus[i], now);
	return sum;
}

void opd_perf_merge_stop(struct opd_perf_merge *merge,
			 struct opd_process_table *table, uint64_t now)
{
	for (unsigned int i = 0; i < merge->nr_cpus; i++)
		end_throttle(merge, table, &merge->cpus[i], now);
}

static void handle_other(const struct opd_perf_merge *merge,
			 struct opd_process_table *table,
			 struct opd_perf_cpu *cpu,
			 const struct opd_perf_rec *rec)
{
	switch (rec->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		table->stats[OPD_PERF_OVERFLOW] +=
			rec->lost.nr
			<< opd_perf_rates_at(&cpu->rates, rec->time);
		break;
	case PERF_RECORD_THROTTLE:
		table->stats[OPD_PERF_THROTTLE]++;
		cpu->throttled_at = rec->time;
		break;
	case PERF_RECORD_UNTHROTTLE:
		end_throttle(merge, table, cpu, rec->time);
		break;
	}
}

/* All of one CPU before @limit. False when there is no more room. */
static bool drain_cpu(const struct opd_perf_merge *merge,
		      struct opd_process_table *table, struct opd_perf_cpu *cpu,
		      uint64_t limit)
{
	struct opd_perf_ring *ring = &cpu->samples;
	struct opd_perf_rec rec;

	while (ring->len && ring->time < limit) {
		if (!opd_writer_goes_on(table->writer))
			return false;
		if (!decode(merge, table, ring, &rec))
			;
		else if (rec.type == PERF_RECORD_SAMPLE)
			handle_ring_sample(merge, table, cpu, &rec);
		else
			handle_other(merge, table, cpu, &rec);
		opd_perf_ring_next(ring);
	}
	return true;
}

static bool drain_samples(const struct opd_perf_merge *merge,
			  struct opd_process_table *table, uint64_t limit)
{
	for (unsigned int i = 0; i < merge->nr_cpus; i++)
		if (!drain_cpu(merge, table, &merge->cpus[i], limit))
			return false;
	return true;
}

/* ---- switches ---------------------------------------------------------------
 */

/* The CPU with the earliest record of a switch before @limit, or NULL; @until
 * becomes the time of the earliest one of all others. */
static struct opd_perf_cpu *next_switching_cpu(const struct opd_perf_merge *m,
					       uint64_t limit, uint64_t *until)
{
	struct opd_perf_cpu *first = NULL;

	*until = limit;
	for (unsigned int i = 0; i < m->nr_cpus; i++) {
		struct opd_perf_cpu *cpu = &m->cpus[i];

		if (!cpu->switches.len || cpu->switches.time >= limit)
			continue;
		if (!first || cpu->switches.time < first->switches.time) {
			if (first)
				*until = first->switches.time;
			first = cpu;
		} else if (cpu->switches.time < *until) {
			*until = cpu->switches.time;
		}
	}
	return first;
}

#define SWITCH_NS 300 /* that a record of a switch costs the kernel */

static void handle_switch(const struct opd_perf_merge *merge,
			  struct opd_process_table *table,
			  struct opd_perf_cpu *cpu)
{
	struct opd_perf_rec rec;

	if (decode(merge, table, &cpu->switches, &rec)) {
		cpu->nr_switches += rec.type == PERF_RECORD_SAMPLE;
		cpu->handler += rec.type == PERF_RECORD_SAMPLE ? sample_ns(&rec)
							       : SWITCH_NS;
		opd_waits_handle(merge->waits, table, &rec, cpu->cpu);
		if (merge->latency)
			opd_latency_switch(merge->latency, &rec, cpu->cpu);
	}
	opd_perf_ring_next(&cpu->switches);
}

/* All before @limit. False when there is no more room. */
static bool drain_switches(const struct opd_perf_merge *merge,
			   struct opd_process_table *table, uint64_t limit)
{
	struct opd_perf_cpu *cpu;
	uint64_t until;

	if (!merge->waits)
		return true;
	while ((cpu = next_switching_cpu(merge, limit, &until)))
		do {
			if (!opd_waits_write(merge->waits, table))
				return false;
			handle_switch(merge, table, cpu);
		} while (cpu->switches.len && cpu->switches.time < until);
	return opd_waits_write(merge->waits, table);
}

/* All samples and switches before @limit in the order of time, as samples ask
 * which threads run. False when there is no more room. */
static bool drain_in_order(const struct opd_perf_merge *merge,
			   struct opd_process_table *table, uint64_t limit)
{
	for (;;) {
		struct opd_perf_cpu *first = NULL;
		uint64_t at = limit;

		for (unsigned int i = 0; i < merge->nr_cpus; i++) {
			struct opd_perf_cpu *cpu = &merge->cpus[i];

			if (!cpu->samples.len || cpu->samples.time >= at)
				continue;
			first = cpu;
			at = cpu->samples.time;
		}
		if (!drain_switches(merge, table, at))
			return false;
		if (!first)
			return true;
		if (!drain_cpu(merge, table, first, at + 1))
			return false;
	}
}

/* ---- side band --------------------------------------------------------------
 */

/* The ring whose next record is the earliest of all up to @horizon, or NULL. */
static struct opd_perf_ring *next_side(const struct opd_perf_merge *merge,
				       uint64_t horizon)
{
	struct opd_perf_ring *first = NULL;

	for (unsigned int i = 0; i < merge->nr_cpus; i++) {
		struct opd_perf_ring *ring = &merge->cpus[i].side;

		if (!ring->len || ring->time > horizon)
			continue;
		if (!first || ring->time < first->time)
			first = ring;
	}
	return first;
}

bool opd_perf_merge_run(struct opd_perf_merge *merge,
			struct opd_process_table *table, uint64_t horizon)
{
	struct opd_perf_ring *side;
	struct opd_perf_rec rec;
	bool all;

	do {
		uint64_t limit;

		side = next_side(merge, horizon);
		limit = side ? side->time : horizon + 1;
		all = merge->latency
			      ? drain_in_order(merge, table, limit)
			      : drain_samples(merge, table, limit) &&
					drain_switches(merge, table, limit);
		all = all && opd_writer_goes_on(table->writer);
		if (!side || !all)
			break;
		if (decode(merge, table, side, &rec)) {
			opd_perf_handle_side(table, &rec);
			if (merge->waits)
				opd_waits_handle_side(merge->waits, table,
						      &rec);
			if (merge->latency)
				opd_latency_side(merge->latency, &rec);
		}
		opd_perf_ring_next(side);
	} while (true);
	for (unsigned int i = 0; i < merge->nr_cpus; i++) {
		opd_perf_ring_done(&merge->cpus[i].samples);
		opd_perf_ring_done(&merge->cpus[i].side);
		opd_perf_ring_done(&merge->cpus[i].switches);
	}
	return all;
}
