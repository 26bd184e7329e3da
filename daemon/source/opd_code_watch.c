// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An event that counts nothing on each CPU that is online, each with a ring:
 * code is told on the CPU that makes it (PERF_RECORD_KSYMBOL,
 * perf_event_open(2)). A CPU that goes offline takes its event with it. So
 * when the list of CPUs has changed, all events are opened anew, and what was
 * made meanwhile may not be told.
 */

#include "daemon/source/opd_code_watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/opd_cpu_list.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_ring.h"
#include "libop/base/op_array.h"
#include "libop/base/op_clock.h"
#include "libop/kernel/op_perf.h"

/* Bytes of a CPU's ring: some 600 functions between two reads. */
#define RING_SIZE ((size_t)64 << 10)

struct watched_cpu {
	int fd;
	struct opd_perf_ring ring;
};

struct opd_code_watch {
	const struct op_clock *clock;
	struct opd_cpu_list online; /* whose events are open */
	time_t looked_at; /* for CPUs, seconds */
	struct watched_cpu *cpus;
	size_t nr;
	size_t at; /* the one that is read */
	bool missed; /* code that came without a record */
	unsigned char bounce[OPD_PERF_RECORD_MAX];
};

static void close_cpus(struct opd_code_watch *watch)
{
	for (size_t i = 0; i < watch->nr; i++) {
		opd_perf_ring_unmap(&watch->cpus[i].ring);
		close(watch->cpus[i].fd);
	}
	watch->nr = watch->at = 0;
}

static int open_cpu(struct opd_code_watch *watch, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = OPD_PERF_SIDE,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.ksymbol = 1,
	};
	struct watched_cpu *new;
	int err = op_array_reserve(&watch->cpus, watch->nr, 1);

	if (err)
		return err;
	new = &watch->cpus[watch->nr];
	memset(new, 0, sizeof(*new));
	new->fd = op_perf_open(&attr, -1, (int)cpu, -1);
	if (new->fd < 0)
		return new->fd;
	err = opd_perf_ring_map(&new->ring, new->fd, RING_SIZE, OPD_PERF_SIDE);
	if (err)
		close(new->fd);
	else
		watch->nr++;
	return err;
}

/* A CPU that goes meanwhile is left out. */
static int open_cpus(struct opd_code_watch *watch)
{
	for (uint32_t cpu = 0; cpu < OPD_MAX_CPUS; cpu++) {
		int err = opd_cpu_list_has(&watch->online, cpu)
				  ? open_cpu(watch, cpu)
				  : 0;

		if (err && err != -ENODEV)
			return err;
	}
	return watch->nr ? 0 : -ENODEV;
}

static time_t seconds_now(const struct opd_code_watch *watch)
{
	return (watch->clock ?: &op_clock)->seconds();
}

int opd_code_watch_new(struct opd_code_watch **out,
		       const struct op_clock *clock)
{
	struct opd_code_watch *watch = calloc(1, sizeof(*watch));
	int err = watch ? 0 : -ENOMEM;

	if (!err) {
		watch->clock = clock;
		watch->looked_at = seconds_now(watch);
		err = opd_cpu_list_read(&watch->online, "online");
	}
	if (!err)
		err = open_cpus(watch);
	if (err) {
		opd_code_watch_free(watch);
		watch = NULL;
	}
	*out = watch;
	return err;
}

void opd_code_watch_free(struct opd_code_watch *watch)
{
	if (!watch)
		return;
	close_cpus(watch);
	free(watch->cpus);
	free(watch);
}

/* Once a second at most. The list is read before the events are opened: a CPU
 * that comes between is found the next time. */
static void find_new_cpus(struct opd_code_watch *watch)
{
	time_t now = seconds_now(watch);
	struct opd_cpu_list online;

	if (now == watch->looked_at)
		return;
	watch->looked_at = now;
	if (opd_cpu_list_read(&online, "online") ||
	    !memcmp(&online, &watch->online, sizeof(online)))
		return;
	close_cpus(watch);
	watch->online = online;
	watch->missed = true;
	if (open_cpus(watch))
		memset(&watch->online, 0, sizeof(watch->online));
}

/* Read the code that the record at the tail of @ring reports into @code. False
 * if it reports none. */
static bool parse_code_record(struct opd_code_watch *watch,
			      const struct opd_perf_ring *ring,
			      struct opd_new_code *code)
{
	const void *bytes = opd_perf_ring_record(ring, watch->bounce);
	struct opd_perf_rec rec;

	if (opd_perf_decode(&rec, bytes, ring->len, OPD_PERF_SIDE))
		return false;
	if (rec.type == PERF_RECORD_LOST)
		watch->missed = true;
	if (rec.type != PERF_RECORD_KSYMBOL || !opd_perf_makes_code(&rec))
		return false;
	code->start = rec.ksymbol.addr;
	code->end = rec.ksymbol.addr + rec.ksymbol.len;
	/* The kernel may overwrite the record once it is done with; it may be
	 * in bounce, too. */
	code->name = memmove(watch->bounce, rec.ksymbol.name,
			     strlen(rec.ksymbol.name) + 1);
	return true;
}

static bool pop_code_record(struct opd_code_watch *watch,
			    struct opd_perf_ring *ring,
			    struct opd_new_code *code)
{
	bool found = false;

	opd_perf_ring_poll(ring);
	while (!found && ring->len) {
		found = parse_code_record(watch, ring, code);
		opd_perf_ring_next(ring);
	}
	opd_perf_ring_done(ring);
	watch->missed |= ring->nr_bad != 0;
	ring->nr_bad = 0;
	return found;
}

int opd_code_watch_next(struct opd_code_watch *watch, struct opd_new_code *code)
{
	if (watch->at == 0)
		find_new_cpus(watch);
	for (; watch->at < watch->nr; watch->at++)
		if (pop_code_record(watch, &watch->cpus[watch->at].ring, code))
			return 1;
	watch->at = 0;
	if (!watch->missed)
		return 0;
	watch->missed = false;
	return -EOVERFLOW;
}
