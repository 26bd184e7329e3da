/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_PFM_H
#define EVENTS_PFM_H

/*
 * The tables of libpfm4, cut down to what our event files can say: an event
 * code, unit mask values and extra bits. For programs that run while this tree
 * is built or tested; nothing installed needs libpfm4.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <perfmon/pfmlib.h>

/* One way to count an event. */
struct pfm_entry {
	char *name; /* of libpfm4's unit mask, "" if it has none */
	char *desc;
	uint64_t config; /* for perf_event_open(2) */
	bool is_default;
};

struct pfm_event {
	char *name;
	char *desc;
	struct pfm_entry *entries;
	size_t nr;
	bool combine; /* entries can be or-ed together */
	size_t left_out; /* ways to count it that need more than a config */
};

struct pfm_table {
	struct pfm_event *events;
	size_t nr;
};

/* Call before the others. Returns 0 or libpfm4's error. */
int pfm_start(void);

/* Whether @pmu is that of a CPU core, which events of ours are about. */
bool pfm_is_core(const pfm_pmu_info_t *pmu);

/* The PMU called @name; false if libpfm4 knows none. */
bool pfm_find_pmu(const char *name, pfm_pmu_info_t *info);

/* All events of @pmu; NULL when memory is short. Free by pfm_table_free(). */
struct pfm_table *pfm_table_new(const pfm_pmu_info_t *pmu);
void pfm_table_free(struct pfm_table *table);

#endif /* EVENTS_PFM_H */
