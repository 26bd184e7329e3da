// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nothing tells here when processes begin and end. So each one that has samples
 * in anonymous memory is watched by a pidfd, and what it has told is read a
 * last time and forgotten some seconds after its end, when the kernel has
 * handed out all of its samples. A process of the same number that runs another
 * program is another process at once.
 *
 * A jitdump is found among the mappings of the process, which are read once a
 * second while it has samples in anonymous memory, or less often if that takes
 * long: there may be some ten thousand.
 */

#include "daemon/source/jit/opd_jit_ranges.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_copied_text.h"
#include "daemon/source/perf/opd_perf_proc.h"
#include "daemon/source/opd_source.h"
#include "libop/base/op_clock.h"

#define SECOND UINT64_C(1000000000)
/* So long after the end of a process all of its samples have come. */
#define LAST_SAMPLES (3 * SECOND)

/* The cost of looks, ns, since it was @before. */
static uint64_t cost_since(const struct opd_jit_ranges *ranges, uint64_t before)
{
	return opd_untrusted_cost(&ranges->jits.untrusted) - before;
}

int opd_jit_ranges_new(struct opd_jit_ranges **out,
		       const struct opd_source_client *client, const char *proc)
{
	struct opd_jit_ranges *ranges = calloc(1, sizeof(*ranges));

	*out = ranges;
	if (!ranges)
		return -ENOMEM;
	opd_perf_images_init(&ranges->images, proc);
	opd_jits_init(&ranges->jits, &ranges->images);
	ranges->jits.proc = proc;
	ranges->jits.log = client->log;
	ranges->jits.is_late = true;
	ranges->images.files.untrusted = &ranges->jits.untrusted;
	ranges->images.files.max = 0;
	if (client->images && *client->images)
		ranges->jits.folder = client->images;
	return 0;
}

/* ---- processes --------------------------------------------------------------
 */

static void forget_made(struct opd_jit_ranges *ranges,
			struct opd_jit_ranges_process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	opd_jits_exit(&ranges->jits, process->tgid);
	process->tgid = 0;
}

void opd_jit_ranges_save(struct opd_jit_ranges *ranges)
{
	opd_jits_save(&ranges->jits);
}

void opd_jit_ranges_free(struct opd_jit_ranges *ranges)
{
	if (!ranges)
		return;
	for (size_t i = 0; i < ranges->nr; i++)
		if (ranges->processes[i].tgid)
			forget_made(ranges, &ranges->processes[i]);
	opd_jits_release(&ranges->jits);
	opd_perf_images_release(&ranges->images);
	free(ranges);
}

static struct opd_jit_ranges_process *find_made(struct opd_jit_ranges *ranges,
						uint32_t tgid)
{
	for (size_t i = 0; i < ranges->nr; i++)
		if (ranges->processes[i].tgid == tgid)
			return &ranges->processes[i];
	return NULL;
}

/* NULL if there are too many. */
static struct opd_jit_ranges_process *watch_made(struct opd_jit_ranges *ranges,
						 uint32_t tgid, uint64_t app)
{
	struct opd_jit_ranges_process *process = find_made(ranges, tgid);

	if (process && process->app == app)
		return process;
	if (process)
		forget_made(ranges, process);
	else
		process = find_made(ranges, 0);
	if (!process && ranges->nr < OPD_JIT_RANGES_PROCESSES)
		process = &ranges->processes[ranges->nr++];
	if (!process)
		return NULL;
	*process = (struct opd_jit_ranges_process){
		.tgid = tgid,
		.app = app,
		.fd = (int)syscall(SYS_pidfd_open, tgid, 0),
	};
	return process;
}

static bool has_ended(const struct opd_jit_ranges_process *process)
{
	struct pollfd poll_fd = { .fd = process->fd, .events = POLLIN };

	return process->fd < 0 || poll(&poll_fd, 1, 0) > 0;
}

void opd_jit_ranges_end_round(struct opd_jit_ranges *ranges)
{
	uint64_t now = op_clock_ns(CLOCK_MONOTONIC);

	ranges->round_at = now;
	opd_jits_end_round(&ranges->jits, now);
	for (size_t i = 0; i < ranges->nr; i++) {
		struct opd_jit_ranges_process *process = &ranges->processes[i];

		if (!process->tgid || !has_ended(process))
			continue;
		if (!process->ended_at)
			process->ended_at = now;
		else if (now - process->ended_at > LAST_SAMPLES)
			forget_made(ranges, process);
	}
}

/* ---- code -------------------------------------------------------------------
 */

/* The process, of which what was read is not too old; or NULL. */
static struct opd_jit_ranges_process *
look_at_made(struct opd_jit_ranges *ranges, uint32_t tgid, uint64_t app,
	     uint64_t now)
{
	struct opd_jit_ranges_process *process;

	if (!ranges->jits.folder || !tgid)
		return NULL;
	process = watch_made(ranges, tgid, app);
	if (process && now >= process->look_at) {
		uint64_t cost = opd_untrusted_cost(&ranges->jits.untrusted);

		opd_perf_proc_see_dumps(&ranges->jits, tgid);
		process->nr_memory = 0;
		process->look_at =
			op_clock_ns(CLOCK_MONOTONIC) + SECOND +
			OPD_PERF_PROC_SHARE * cost_since(ranges, cost);
	}
	return process;
}

static const struct unwinder_map *
find_made_memory(const struct opd_jit_ranges_process *process, uint64_t addr)
{
	for (size_t i = 0; i < process->nr_memory; i++)
		if (addr >= process->memory[i].start &&
		    addr < process->memory[i].end)
			return &process->memory[i];
	return NULL;
}

/* NULL if it was not looked at, and is not to be now. */
static const struct unwinder_map *
look_at_memory(struct opd_jit_ranges *ranges,
	       struct opd_jit_ranges_process *process, uint64_t addr,
	       uint64_t now)
{
	const struct unwinder_map *known = find_made_memory(process, addr);
	struct unwinder_map *map = &process->memory[process->nr_memory];
	uint64_t cost;

	if (known || process->nr_memory == OPD_JIT_RANGES_MEMORY ||
	    now < process->copied_at)
		return known;
	cost = opd_untrusted_cost(&ranges->jits.untrusted);
	*map = (struct unwinder_map){ .start = addr, .end = addr + 1 };
	if (opd_copied_text_find(&ranges->jits.untrusted, &ranges->images,
				 ranges->jits.proc, process->tgid, addr, map))
		map->cookie |= OPD_JIT_RANGES_COOKIE;
	else
		map->cookie = OP_NO_COOKIE;
	process->nr_memory++;
	process->copied_at =
		opd_perf_proc_may_look(process->copied_at,
				       op_clock_ns(CLOCK_MONOTONIC),
				       cost_since(ranges, cost));
	return map;
}

bool opd_jit_ranges_find_text(struct opd_jit_ranges *ranges, uint32_t tgid,
			      uint64_t app, uint64_t addr,
			      struct unwinder_map *map)
{
	uint64_t now = op_clock_ns(CLOCK_MONOTONIC);
	struct opd_jit_ranges_process *process =
		look_at_made(ranges, tgid, app, now);
	const struct unwinder_map *memory =
		process ? look_at_memory(ranges, process, addr, now) : NULL;

	if (!memory || memory->cookie == OP_NO_COOKIE)
		return false;
	*map = *memory;
	return true;
}

bool opd_jit_ranges_find(struct opd_jit_ranges *ranges, uint32_t tgid,
			 uint64_t app, uint64_t addr, uint64_t *cookie,
			 uint64_t *key)
{
	uint64_t now = op_clock_ns(CLOCK_MONOTONIC);
	struct opd_jit_ranges_process *process =
		look_at_made(ranges, tgid, app, now);
	const struct unwinder_map *memory;

	if (!process)
		return false;
	if (opd_jits_find(&ranges->jits, tgid, addr, ranges->round_at, cookie,
			  key) ||
	    opd_jits_find(&ranges->jits, tgid, addr, now, cookie, key)) {
		*cookie |= OPD_JIT_RANGES_COOKIE;
		return true;
	}
	memory = look_at_memory(ranges, process, addr, now);
	if (!memory || memory->cookie == OP_NO_COOKIE)
		return false;
	*cookie = memory->cookie;
	*key = addr - memory->start + memory->offset;
	return true;
}

int opd_jit_ranges_open(const struct opd_jit_ranges *ranges, uint64_t cookie)
{
	int fd = opd_perf_image_open(&ranges->images,
				     cookie & ~OPD_JIT_RANGES_COOKIE);

	return fd < 0 ? -1 : fd;
}

int opd_jit_ranges_query(struct opd_jit_ranges *ranges,
			 struct op_cookie_query *query)
{
	uint64_t cookie = query->cookie;
	int err;

	query->cookie = cookie & ~OPD_JIT_RANGES_COOKIE;
	err = opd_perf_image_query(&ranges->images, query);
	query->cookie = cookie;
	return err;
}
