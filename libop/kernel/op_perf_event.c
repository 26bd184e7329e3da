// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's own events by name, with what perf_event_open(2) takes for
 * them. Names are those of perf(1), which people know; second names lead to
 * the first ones, so that an event has one name in sample files and reports.
 */

#include <string.h>

#include "libop/kernel/op_perf.h"

#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

#define HW(name, id, desc)                                                     \
	{                                                                      \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, desc             \
	}
#define SW(name, id, desc)                                                     \
	{                                                                      \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, desc             \
	}

/* "config" of a cache event: perf_event_open(2), PERF_TYPE_HW_CACHE */
#define CACHE_ID(cache, op, result)                                            \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |      \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define CACHE(name, cache, op, result, desc)                                   \
	{                                                                      \
		name, PERF_TYPE_HW_CACHE, CACHE_ID(cache, op, result), desc    \
	}
#define CACHE_READ(name, cache, what)                                          \
	CACHE(name "-loads", cache, READ, ACCESS, "Reads of the " what),       \
		CACHE(name "-load-misses", cache, READ, MISS,                  \
		      "Reads that miss the " what)
#define CACHE_WRITE(name, cache, what)                                         \
	CACHE(name "-stores", cache, WRITE, ACCESS, "Writes to the " what),    \
		CACHE(name "-store-misses", cache, WRITE, MISS,                \
		      "Writes that miss the " what)
#define CACHE_PREFETCH(name, cache, what)                                      \
	CACHE(name "-prefetches", cache, PREFETCH, ACCESS,                     \
	      "Prefetches from the " what),                                    \
		CACHE(name "-prefetch-misses", cache, PREFETCH, MISS,          \
		      "Prefetches that miss the " what)

/* clang-format off */
static const struct op_perf_event events[] = {
	HW("cycles", CPU_CYCLES, "CPU cycles"),
	HW("instructions", INSTRUCTIONS, "Instructions retired"),
	HW("cache-references", CACHE_REFERENCES,
	   "Accesses of a cache, usually the last level"),
	HW("cache-misses", CACHE_MISSES,
	   "Misses of a cache, usually the last level"),
	HW("branches", BRANCH_INSTRUCTIONS, "Branch instructions retired"),
	HW("branch-misses", BRANCH_MISSES, "Mispredicted branches"),
	HW("bus-cycles", BUS_CYCLES, "Bus cycles"),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND,
	   "Cycles without instructions to issue"),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND,
	   "Cycles in which nothing retired for lack of resources"),
	HW("ref-cycles", REF_CPU_CYCLES,
	   "CPU cycles at a fixed frequency"),

	SW("cpu-clock", CPU_CLOCK, "Time on the CPU, in nanoseconds"),
	SW("task-clock", TASK_CLOCK, "Time the task ran, in nanoseconds"),
	SW("page-faults", PAGE_FAULTS, "Page faults"),
	SW("minor-faults", PAGE_FAULTS_MIN,
	   "Page faults that did not read from disk"),
	SW("major-faults", PAGE_FAULTS_MAJ,
	   "Page faults that read from disk"),
	SW("context-switches", CONTEXT_SWITCHES, "Switches to another task"),
	SW("cpu-migrations", CPU_MIGRATIONS, "Migrations to another CPU"),
	SW("cgroup-switches", CGROUP_SWITCHES,
	   "Switches to a task of another cgroup"),
	SW("alignment-faults", ALIGNMENT_FAULTS,
	   "Unaligned accesses that the kernel fixed up"),
	SW("emulation-faults", EMULATION_FAULTS,
	   "Instructions that the kernel emulated"),
	SW("bpf-output", BPF_OUTPUT, "Records written by BPF programs"),
	SW("dummy", DUMMY, "Counts nothing"),

	CACHE_READ("L1-dcache", L1D, "level 1 data cache"),
	CACHE_WRITE("L1-dcache", L1D, "level 1 data cache"),
	CACHE_PREFETCH("L1-dcache", L1D, "level 1 data cache"),
	CACHE_READ("L1-icache", L1I, "level 1 instruction cache"),
	CACHE_PREFETCH("L1-icache", L1I, "level 1 instruction cache"),
	CACHE_READ("LLC", LL, "last level cache"),
	CACHE_WRITE("LLC", LL, "last level cache"),
	CACHE_PREFETCH("LLC", LL, "last level cache"),
	CACHE_READ("dTLB", DTLB, "data TLB"),
	CACHE_WRITE("dTLB", DTLB, "data TLB"),
	CACHE_PREFETCH("dTLB", DTLB, "data TLB"),
	CACHE_READ("iTLB", ITLB, "instruction TLB"),
	CACHE_READ("branch", BPU, "branch predictor"),
	CACHE_READ("node", NODE, "memory of the local node"),
	CACHE_WRITE("node", NODE, "memory of the local node"),
	CACHE_PREFETCH("node", NODE, "memory of the local node"),
};

static const struct {
	const char *alias;
	const char *name;
} aliases[] = {
	{ "cpu-cycles", "cycles" },
	{ "branch-instructions", "branches" },
	{ "idle-cycles-frontend", "stalled-cycles-frontend" },
	{ "idle-cycles-backend", "stalled-cycles-backend" },
	{ "faults", "page-faults" },
	{ "cs", "context-switches" },
	{ "migrations", "cpu-migrations" },
};
/* clang-format on */

const struct op_perf_event *op_perf_event_find(const char *name)
{
	for (size_t i = 0; i < NR_OF(aliases); i++)
		if (!strcmp(name, aliases[i].alias))
			name = aliases[i].name;
	for (size_t i = 0; i < NR_OF(events); i++)
		if (!strcmp(name, events[i].name))
			return &events[i];
	return NULL;
}

const struct op_perf_event *op_perf_events(size_t *nr)
{
	*nr = NR_OF(events);
	return events;
}
