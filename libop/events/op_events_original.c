// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file "original": names of the original profiler's lists that the list of
 * the CPU lacks, one a line:
 *
 *	NAME CODE COUNTERS MINIMUM TYPE DEFAULT VALUE[:FLAG,...]...
 *
 * as the files "events" and "unit_masks" have them. Such a name is an event of
 * its own, so that sample files and reports have the name that was asked for.
 * Where our list has an event of this code that takes the default unit mask, it
 * is this event in all but name and default; where it has none, the line is all
 * that is known of it.
 */

#include "libop/events/op_events_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

enum field { NAME, CODE, COUNTERS, MINIMUM, TYPE, DEFAULT, NR_FIELDS };

struct original_line {
	struct op_events_reader *r;
	const struct op_events_text *text;
	const char *path;
	char *field[NR_FIELDS];
	char *values; /* the rest */
};

/* ---- the unit mask ---- */

/* "VALUE[:FLAG,...]" */
static int add_original_value(const struct original_line *line,
			      struct op_unit_mask *um, char *word)
{
	struct op_unit_mask_entry entry = { .desc = "see the CPU's manual",
					    .line = line->text->number };
	char *flags = strchr(word, ':');
	int err = 0;

	if (flags) {
		*flags++ = '\0';
		err = op_events_take_extra(line->text, &entry, flags);
	}
	if (err)
		return err;
	if (op_parse_u64(word, &entry.value))
		return op_events_text_error(line->text, "%s: not a number",
					    word);
	if (op_array_reserve(&um->entries, um->nr, 1))
		return op_out_of_memory(line->r->diag);
	um->entries[um->nr++] = entry;
	return 0;
}

/* The unit mask that the line tells of. */
static int make_original_um(struct original_line *line,
			    struct op_unit_mask **out)
{
	struct op_events *events = line->r->events;
	struct op_unit_mask *um = calloc(1, sizeof(*um));
	char *word;
	int err;

	if (!um || op_array_reserve(&events->um, events->nr_ums, 1)) {
		free(um);
		return op_out_of_memory(line->r->diag);
	}
	events->um[events->nr_ums++] = *out = um;
	um->name = line->field[NAME];
	um->default_text = line->field[DEFAULT];
	um->place = (struct op_events_place){ line->path, line->text->number };
	err = op_events_take_um_type(line->text, &um->type, line->field[TYPE]);
	while (!err && (word = op_events_word(&line->values)))
		err = add_original_value(line, um, word);
	return err;
}

/* Make it that of @ours, but for the default. */
static int adopt_our_um(const struct original_line *line,
			struct op_unit_mask *um,
			const struct op_unit_mask *ours)
{
	um->nr = 0;
	if (op_array_reserve(&um->entries, 0, ours->nr))
		return op_out_of_memory(line->r->diag);
	memcpy(um->entries, ours->entries, ours->nr * sizeof(*um->entries));
	um->nr = ours->nr;
	um->type = ours->type;
	return op_unit_mask_check(um, line->r->diag);
}

/* ---- the event ---- */

/* Whether @event counts what @um has by default, with this code. */
static bool counts_the_same(const struct op_event *event, uint64_t code,
			    const struct op_unit_mask *um)
{
	const struct op_unit_mask_entry *entry = um->default_entry;
	uint64_t number, extra;

	if (event->code != code || event->ext)
		return false;
	if (op_parse_u64(um->default_text, &number))
		return op_unit_mask_find(event->um, um->default_text);
	return !op_unit_mask_take(event->um, number, &extra) &&
	       extra == (entry ? entry->extra : 0);
}

static const struct op_event *find_ours(const struct op_events *events,
					uint64_t code,
					const struct op_unit_mask *um)
{
	for (size_t i = 0; i < events->nr; i++)
		if (counts_the_same(&events->event[i], code, um))
			return &events->event[i];
	return NULL;
}

/* The CPU may have fewer counters than the original counted with. */
static uint64_t take_counters(const struct original_line *line)
{
	unsigned int nr = line->r->events->cpu->counters;
	uint64_t all = ~0ull >> (64 - nr), counters = 0, number;
	char *rest = line->field[COUNTERS];

	while (rest)
		if (!op_parse_u64(strsep(&rest, ","), &number) && number < nr)
			counters |= 1ull << number;
	return counters ?: all;
}

/* Returns 1 where the default is the name of an entry that we lack. */
static int fill_original_event(struct original_line *line,
			       struct op_event *event)
{
	const struct op_event *ours;
	struct op_unit_mask *um = NULL;
	uint64_t code, minimum, number;
	bool has_number = !op_parse_u64(line->field[DEFAULT], &number);
	int err;

	if (op_parse_u64(line->field[CODE], &code) ||
	    op_parse_u64(line->field[MINIMUM], &minimum) || !minimum)
		return op_events_text_error(line->text,
					    "%s %s: no code and minimum",
					    line->field[CODE],
					    line->field[MINIMUM]);
	err = make_original_um(line, &um);
	if (!err && has_number)
		err = op_unit_mask_check(um, line->r->diag);
	if (err)
		return err;
	ours = find_ours(line->r->events, code, um);
	if (!ours && !has_number)
		return 1;
	*event =
		ours ? *ours
		     : (struct op_event){
			       .desc = "as OProfile 1.4 called it; see the CPU's manual",
			       .code = code,
			       .counters = take_counters(line),
			       .min_count = minimum,
			       .filter = -1,
		       };
	event->name = line->field[NAME];
	event->um = um;
	event->place = um->place;
	return ours ? adopt_our_um(line, um, ours->um) : 0;
}

static int parse_original_line(struct original_line *line)
{
	struct op_events *events = line->r->events;
	struct op_event event;
	int err;

	line->values = line->text->line;
	for (int i = 0; i < NR_FIELDS; i++) {
		line->field[i] = op_events_word(&line->values);
		if (!line->field[i])
			return op_events_text_error(
				line->text, "fewer than %d words", NR_FIELDS);
	}
	err = op_events_check_name(line->text, line->field[NAME]);
	if (err)
		return err;
	/* The list may have learnt the name since, as libpfm4 does. */
	for (size_t i = 0; i < events->nr; i++)
		if (!strcmp(events->event[i].name, line->field[NAME]))
			return 0;
	err = fill_original_event(line, &event);
	if (err)
		return err < 0 ? err : 0;
	if (op_array_reserve(&events->original, events->nr_original, 1))
		return op_out_of_memory(line->r->diag);
	events->original[events->nr_original++] = event;
	return 0;
}

int op_events_read_original(struct op_events_reader *r, const char *cpu)
{
	struct op_events_text text;
	struct original_line line = { .r = r, .text = &text };
	char *path;
	int err;

	if (asprintf(&path, "%s/%s/original", r->dir, cpu) < 0)
		return op_out_of_memory(r->diag);
	err = access(path, F_OK);
	free(path);
	if (err)
		return 0;
	err = op_events_read_open(r, &text, cpu, "original", &line.path);
	while (!err && op_events_text_next(&text))
		err = parse_original_line(&line);
	return err;
}
