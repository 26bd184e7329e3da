// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pfmcompare EVENTS: compare the event files of the folder EVENTS with what
 * libpfm4 says of the same CPUs ("libpfm4 =" in their files cpu).
 *
 * A way to count an event is equal when libpfm4 encodes it so for any event
 * of that CPU: names differ between manuals, codes must not. One that it does
 * not is a difference, unless the line above it says why:
 *
 *	# libpfm4: WHAT; MANUAL, page or section
 *
 * An event that both call alike must be encoded alike. Prints a table, and
 * each difference on standard error; ends with 1 if there is one.
 */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/pfm.h"
#include "libop/events/op_events.h"

#define MAX_PMUS 16

struct counts {
	unsigned int compared;
	unsigned int equal;
	unsigned int justified;
	unsigned int different;
};

struct compare {
	const struct op_events *events;
	struct pfm_table *table[MAX_PMUS];
	size_t nr;
	bool is_x86;
	struct counts counts;
};

/* What libpfm4 adds to any event of an x86 CPU, as in EVENT:i:c=1. */
#define MODIFIERS                                                              \
	(OP_EXTRA_EDGE | OP_EXTRA_ANY | OP_EXTRA_INV |                         \
	 (uint64_t)OP_EXTRA_CMASK_MAX << OP_EXTRA_CMASK_SHIFT)

static bool event_has(const struct pfm_event *event, uint64_t config,
		      bool is_x86)
{
	uint64_t all = 0, plain = is_x86 ? config & ~MODIFIERS : config;

	for (size_t i = 0; i < event->nr; i++) {
		if (event->entries[i].config == config ||
		    event->entries[i].config == plain)
			return true;
		all |= event->entries[i].config;
	}
	/* A combination of entries, of which each is only some bits. */
	return event->combine && event->nr &&
	       !((config ^ event->entries[0].config) & 0xf000000ff) &&
	       !(config & ~all);
}

static bool has_config(const struct compare *c, uint64_t config)
{
	for (size_t t = 0; t < c->nr; t++)
		for (size_t i = 0; i < c->table[t]->nr; i++)
			if (event_has(&c->table[t]->events[i], config,
				      c->is_x86))
				return true;
	return false;
}

/* Whether libpfm4 has an event of this name, and none of them that config. */
static bool name_differs(const struct compare *c, const char *name,
			 uint64_t config)
{
	bool named = false;

	for (size_t t = 0; t < c->nr; t++)
		for (size_t i = 0; i < c->table[t]->nr; i++) {
			const struct pfm_event *event = &c->table[t]->events[i];

			if (strcmp(event->name, name) != 0 || !event->nr)
				continue;
			if (event_has(event, config, c->is_x86))
				return false;
			named = true;
		}
	return named;
}

/* Whether the line above @line of @path says why. */
static bool is_justified(const char *path, unsigned int line)
{
	FILE *file = fopen(path, "r");
	char text[1024] = "", above[sizeof(text)];

	if (!file)
		return false;
	do {
		strcpy(above, text);
	} while (--line && fgets(text, sizeof(text), file));
	fclose(file);
	return strstr(above, "# libpfm4: ");
}

static void compare_entry(struct compare *c, const struct op_event *event,
			  const struct op_unit_mask_entry *entry)
{
	uint64_t config =
		op_event_config(c->events, event, entry->value, entry->extra);
	bool same =
		has_config(c, config) && !name_differs(c, event->name, config);

	c->counts.compared++;
	c->counts.equal += same;
	if (same)
		return;
	if (is_justified(event->place.path, event->place.line) ||
	    is_justified(event->um->place.path, entry->line) ||
	    is_justified(event->um->place.path, event->um->place.line)) {
		c->counts.justified++;
		return;
	}
	c->counts.different++;
	fprintf(stderr, "%s:%u: %s:%s 0x%02" PRIx64 ": 0x%" PRIx64 ": %s\n",
		event->place.path, event->place.line, event->name,
		entry->name ? entry->name : "", entry->value, config,
		has_config(c, config) ? "libpfm4 has it under another name"
				      : "libpfm4 does not have it");
}

static void compare_events(struct compare *c)
{
	for (size_t i = 0; i < c->events->nr; i++)
		/* What a feature counts is in no table of counters. */
		for (size_t j = 0;
		     !c->events->event[i].ext && j < c->events->event[i].um->nr;
		     j++)
			compare_entry(c, &c->events->event[i],
				      &c->events->event[i].um->entries[j]);
}

/* The tables of the words of @names; false when libpfm4 knows none. */
static bool open_tables(struct compare *c, const char *names)
{
	char *copy = strdup(names), *at = copy, *name;
	pfm_pmu_info_t info;

	while (at && (name = strsep(&at, " ")))
		if (c->nr < MAX_PMUS && pfm_find_pmu(name, &info)) {
			c->table[c->nr] = pfm_table_new(&info);
			c->nr += c->table[c->nr] != NULL;
		}
	free(copy);
	return c->nr;
}

static void add(struct counts *sum, const struct counts *counts)
{
	sum->compared += counts->compared;
	sum->equal += counts->equal;
	sum->justified += counts->justified;
	sum->different += counts->different;
}

static void print_row(const char *name, const struct counts *counts)
{
	printf("%-24s %8u %8u %10u %10u\n", name, counts->compared,
	       counts->equal, counts->justified, counts->different);
}

/* Returns how many CPUs were compared, 0 or 1, or -1. */
static int compare_type(const char *dir, const char *name, struct counts *sum)
{
	struct compare c = { .nr = 0 };
	struct op_diag diag = { "" };
	struct op_events *events;
	bool known;

	if (op_events_load(&events, dir, name, &diag)) {
		fprintf(stderr, "pfmcompare: %s\n", diag.text);
		return -1;
	}
	c.events = events;
	c.is_x86 = events->cpu->encoding == OP_ENCODING_X86;
	known = events->cpu->pfm && open_tables(&c, events->cpu->pfm);
	if (known) {
		compare_events(&c);
		print_row(name, &c.counts);
		add(sum, &c.counts);
	}
	for (size_t i = 0; i < c.nr; i++)
		pfm_table_free(c.table[i]);
	op_events_free(events);
	return known;
}

int main(int argc, char **argv)
{
	struct counts sum = { 0 };
	struct op_diag diag = { "" };
	int types = 0, got = 0;
	char *names;

	if (argc != 2 || pfm_start() ||
	    op_cpu_type_names(&names, argv[1], &diag)) {
		fprintf(stderr, "pfmcompare: use: pfmcompare EVENTS %s\n",
			diag.text);
		return 1;
	}
	printf("%-24s %8s %8s %10s %10s\n", "CPU", "compared", "equal",
	       "justified", "different");
	for (char *at = names; *at && got >= 0; at += strlen(at) + 1) {
		got = compare_type(argv[1], at, &sum);
		types += got > 0;
	}
	free(names);
	print_row("all", &sum);
	printf("%d CPUs known to both\n", types);
	return got < 0 || sum.different || !types;
}
