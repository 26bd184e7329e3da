/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_EVENTS_H
#define LIBOP_EVENTS_OP_EVENTS_H

/*
 * The events of one CPU type, read from the files "events" and "unit_masks"
 * of its folder; the syntax is described in doc/events.md. Everything is
 * checked while it is read: an event that is in the list can be programmed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/events/op_cpu_type.h"
#include "libop/base/op_diag.h"

/* The flags of "extra:" as the bits of an x86 event select register. */
#define OP_EXTRA_EDGE (1ull << 18)
#define OP_EXTRA_PEBS (1ull << 19) /* perf's precise_ip, no bit of config */
#define OP_EXTRA_ANY (1ull << 21)
#define OP_EXTRA_INV (1ull << 23)
#define OP_EXTRA_CMASK_SHIFT 24
#define OP_EXTRA_CMASK_MAX 0xffu

/* Where a thing is described, for the reasons of errors. */
struct op_events_place {
	const char *path;
	unsigned int line;
};

struct op_unit_mask_entry {
	uint64_t value;
	uint64_t extra;
	const char *name; /* NULL if it has none */
	const char *desc;
	unsigned int line; /* in the file of its unit mask */
};

enum op_unit_mask_type {
	OP_UM_MANDATORY, /* one value */
	OP_UM_EXCLUSIVE, /* one of its entries */
	OP_UM_BITMASK, /* entries can be combined */
};

struct op_unit_mask {
	const char *name;
	enum op_unit_mask_type type;
	const char *default_text; /* as written */
	uint64_t default_value;
	const struct op_unit_mask_entry *default_entry; /* if it is one */
	struct op_unit_mask_entry *entries;
	size_t nr;
	bool own; /* of the CPU's folder itself, not included */
	bool used;
	struct op_events_place place;
};

struct op_event {
	const char *name;
	const char *desc;
	uint64_t code;
	uint64_t counters; /* bit n: counter n can count it; 0 with ext */
	uint64_t min_count;
	const char *ext; /* counted by this feature, not a counter; or NULL */
	uint64_t perf; /* what Linux calls it on a Pentium 4 */
	int filter; /* bit of CPUID.0AH:EBX that it depends on, or -1 */
	const struct op_unit_mask *um;
	struct op_events_place place;
};

struct op_events {
	struct op_cpu_type *cpu;
	struct op_event *event; /* in the order of the files */
	size_t nr;
	struct op_event *original; /* by names of the original profiler that
				      the list lacks; not for lists */
	size_t nr_original;
	struct op_unit_mask **um;
	size_t nr_ums;
	char **texts; /* what the strings point into */
	size_t nr_texts;
	const char **paths; /* the files that were read, but for "cpu"; some
			       twice */
	size_t nr_paths;
};

/*
 * Read the events of the type @cpu of the folder @dir. Returns 0; -ENOENT for
 * an unknown type, -EINVAL with "FILE:LINE: what", or -errno, with the
 * reason. Free *@out by op_events_free().
 */
int op_events_load(struct op_events **out, const char *dir, const char *cpu,
		   struct op_diag *diag);
void op_events_free(struct op_events *events);

/*
 * The event @name as it is written, of the list or as the original profiler
 * called it, else one whose name differs in the case of letters only; NULL if
 * there is none. The event has its name as in the files. A name of POWER's that
 * ends with a group of counters, "_GRP12", is also known without.
 */
const struct op_event *op_events_find(const struct op_events *events,
				      const char *name);

/* The only entry of @um called @name, whatever the case of its letters; NULL
 * if there is none. */
const struct op_unit_mask_entry *
op_unit_mask_find(const struct op_unit_mask *um, const char *name);

/*
 * Whether @um may have the value @value; *@extra are then the extra bits of
 * its entry. Returns 0, -EINVAL if not, or -EEXIST if several entries have this
 * value, which then does not tell the extra bits.
 */
int op_unit_mask_take(const struct op_unit_mask *um, uint64_t value,
		      uint64_t *extra);

/*
 * The config of a PERF_TYPE_RAW event for perf_event_open(2): @event
 * with the unit mask @value and the bits @extra.
 */
uint64_t op_event_config(const struct op_events *events,
			 const struct op_event *event, uint64_t value,
			 uint64_t extra);

#endif /* LIBOP_EVENTS_OP_EVENTS_H */
