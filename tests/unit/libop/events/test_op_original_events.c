// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every event of the original profiler's lists, by name, on every CPU that it
 * has in common with us: tests/unit/libop/events/original_events.txt has lines
 *
 *	cpu CPU [names] [libpfm4]
 *	[!-]NAME CODE UNIT-MASK [EXTRA] [mMINIMUM]
 *
 * NAME without a count and a unit mask has to count CODE with this UNIT-MASK,
 * by default. After "names" the codes are of another form than ours. A '!' says
 * that ours counts something else on purpose, a '-' that no event is called so;
 * doc/events.md gives the reasons. NAME:MINIMUM has to be taken. Where our list
 * is made of libpfm4's tables, its version decides about a '!', and it has one
 * minimum for all events.
 */

#include <limits.h>

#include "tests/unit/op_fixture.h"

#include "libop/events/op_parse_event.h"

#define LIST "tests/unit/libop/events/original_events.txt"

/* The folders that the build has made of libpfm4's tables are there, too. */
static const char *events_dir(void)
{
	static char path[PATH_MAX];
	const char *build = getenv("O");

	snprintf(path, sizeof(path), "%s/events", build ? build : "build");
	return access(path, F_OK) ? "events" : path;
}

struct counts {
	unsigned int cpus, lines, same, others, unknown, missing, refused;
};

struct original {
	char mark; /* '!', '-' or 0 */
	bool by_name, from_pfm; /* words of the line of the CPU */
	char name[128];
	uint64_t code, um, extra, minimum; /* the last 0: not known */
};

static bool read_line(const char *line, struct original *o)
{
	const char *minimum = strstr(line, " m");

	o->mark = 0;
	o->extra = 0;
	o->minimum = minimum ? strtoul(minimum + 2, NULL, 10) : 0;
	if (*line == '!' || *line == '-')
		o->mark = *line++;
	return sscanf(line, "%127s %lx %lx %lx", o->name, &o->code, &o->um,
		      &o->extra) >= 3;
}

static char resolve(const struct op_events *events, const struct original *o,
		    struct op_diag *diag)
{
	const struct op_parse_options options = { .no_count = true };
	struct op_parsed_event event;

	if (op_parse_event(&event, events, o->name, &options, diag))
		return '-';
	if (o->by_name)
		return 0;
	if (event.event->code == o->code && event.um == o->um &&
	    (event.extra & ~OP_EXTRA_PEBS) == (o->extra & ~OP_EXTRA_PEBS))
		return 0;
	op_diag_set(diag, -EINVAL, "is 0x%lx 0x%lx 0x%lx, %s",
		    (unsigned long)event.event->code, (unsigned long)event.um,
		    (unsigned long)event.extra, event.event->name);
	return '!';
}

/* Whether the lowest count of the original is too low for ours. */
static bool refuses_minimum(const struct op_events *events,
			    const struct original *o, struct op_diag *diag)
{
	const struct op_parse_options options = { .no_count = false };
	struct op_parsed_event event;
	char spec[160];

	snprintf(spec, sizeof(spec), "%s:%lu", o->name,
		 (unsigned long)o->minimum);
	return op_parse_event(&event, events, spec, &options, diag);
}

static void count_line(struct counts *counts, const struct op_events *events,
		       const struct original *o)
{
	struct op_diag diag = { "" };
	char got = resolve(events, o, &diag);

	counts->lines++;
	counts->same += !got;
	counts->others += got == '!';
	counts->unknown += got == '-';
	if (got != '-' && o->minimum && !o->from_pfm &&
	    refuses_minimum(events, o, &diag)) {
		counts->refused++;
		print_error("%s\n", diag.text);
	}
	if (got == o->mark || (o->from_pfm && got != '-' && o->mark != '-'))
		return;
	counts->missing++;
	print_error("%s %s 0x%lx 0x%lx 0x%lx: '%c', not '%c': %s\n",
		    events->cpu->name, o->name, (unsigned long)o->code,
		    (unsigned long)o->um, (unsigned long)o->extra,
		    got ? got : '=', o->mark ? o->mark : '=', diag.text);
}

TEST(every_event)
{
	struct op_events *events = NULL;
	struct counts counts = { 0 };
	char line[256], cpu[64];
	struct original o = { 0 };
	FILE *file = fopen(LIST, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (*line == '#')
			continue;
		if (!strncmp(line, "cpu ", 4)) {
			assert_int_equal(sscanf(line, "cpu %63s", cpu), 1);
			o.by_name = strstr(line, " names");
			o.from_pfm = strstr(line, " libpfm4");
			op_events_free(events);
			events = NULL;
			/* Without libpfm4 some are not there. */
			if (!op_events_load(&events, events_dir(), cpu, NULL))
				counts.cpus++;
			continue;
		}
		assert_true(read_line(line, &o));
		if (events)
			count_line(&counts, events, &o);
	}
	op_events_free(events);
	fclose(file);
	print_message("%u CPUs, %u names: %u alike, %u another and %u unknown "
		      "for a reason in doc/events.md, %u missing; %u minimum "
		      "counts refused\n",
		      counts.cpus, counts.lines, counts.same, counts.others,
		      counts.unknown, counts.missing, counts.refused);
	assert_int_equal(counts.missing, 0);
	assert_int_equal(counts.refused, 0);
	assert_true(counts.cpus >= 50 && counts.same > 5000);
}
