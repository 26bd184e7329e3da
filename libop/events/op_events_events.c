// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file "events": a line for each event, of tags "KEY:VALUE" in any order,
 * then " : " and a description.
 *
 * A line is cut up first and its values are checked afterwards, so that a
 * message names the tag. Several unit masks may be named together; they are
 * merged into a new one with the entries of all, which belongs to no file.
 */

#include "libop/events/op_events_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

/* The tags of a line, in the order of this table. */
enum tag { EVENT, COUNTERS, EXT, UM, MINIMUM, FILTER, PERF, NAME, NR_TAGS };

static const char *const tag_names[NR_TAGS] = {
	"event", "counters", "ext", "um", "minimum", "filter", "perf", "name",
};

struct line {
	const struct op_events_text *text;
	struct op_events_reader *r;
	char *tag[NR_TAGS]; /* values, NULL if absent */
	const char *desc;
};

/* ---- cutting a line up ---- */

static int parse_event_tag(struct line *line, char *word)
{
	char *value = strchr(word, ':');

	if (!value)
		return op_events_text_error(line->text,
					    "%s: no tag, \"KEY:VALUE\"", word);
	*value++ = '\0';
	for (int i = 0; i < NR_TAGS; i++) {
		if (strcmp(word, tag_names[i]) != 0)
			continue;
		if (line->tag[i])
			return op_events_text_error(line->text,
						    "%s: given twice", word);
		if (!*value)
			return op_events_text_error(line->text, "%s: no value",
						    word);
		line->tag[i] = value;
		return 0;
	}
	return op_events_text_error(line->text, "%s: unknown tag", word);
}

static int cut_event_line(struct line *line)
{
	static const enum tag needed[] = { EVENT, UM, MINIMUM, NAME };
	char *at = line->text->line, *word;
	int err;

	while ((word = op_events_word(&at)) && strcmp(word, ":") != 0) {
		err = parse_event_tag(line, word);
		if (err)
			return err;
	}
	if (!word || !*at)
		return op_events_text_error(line->text, "no \" : \" with a "
							"description");
	line->desc = at;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!line->tag[needed[i]])
			return op_events_text_error(line->text, "%s: not given",
						    tag_names[needed[i]]);
	if (!line->tag[COUNTERS] == !line->tag[EXT])
		return op_events_text_error(line->text, "either counters: or "
							"ext: must be given");
	return 0;
}

/* ---- the values ---- */

static int parse_event_number(const struct line *line, enum tag tag,
			      uint64_t *out)
{
	if (!line->tag[tag] || !op_parse_u64(line->tag[tag], out))
		return 0;
	return op_events_text_error(line->text, "%s:%s: not a number",
				    tag_names[tag], line->tag[tag]);
}

static int parse_event_counters(const struct line *line, uint64_t *counters)
{
	unsigned int nr = line->r->events->cpu->counters;
	char *at = line->tag[COUNTERS], *comma;
	uint64_t counter;

	if (!at)
		return 0;
	if (!strcmp(at, "cpuid") || !strcmp(at, "all")) {
		*counters = ~0ull >> (64 - nr);
		return 0;
	}
	for (; at; at = comma) {
		comma = strchr(at, ',');
		if (comma)
			*comma++ = '\0';
		if (op_parse_u64(at, &counter) || counter >= nr)
			return op_events_text_error(line->text,
						    "counters: %s: not from 0 "
						    "to %u",
						    at, nr - 1);
		*counters |= 1ull << counter;
	}
	return 0;
}

int op_events_check_name(const struct op_events_text *text, const char *name)
{
	if (strpbrk(name, "/.:,"))
		return op_events_text_error(text,
					    "name:%s: must not contain '/', "
					    "'.', ':' or ','",
					    name);
	if (strlen(name) >= 128)
		return op_events_text_error(text, "name: too long");
	return 0;
}

static int check_event_name(const struct line *line)
{
	const struct op_events *events = line->r->events;
	const struct op_event *other = op_events_find(events, line->tag[NAME]);

	int err = op_events_check_name(line->text, line->tag[NAME]);

	if (err)
		return err;
	if (other)
		return op_events_text_error(line->text,
					    "name:%s: already used in %s:%u",
					    other->name, other->place.path,
					    other->place.line);
	return 0;
}

/* ---- the unit mask ---- */

static struct op_unit_mask *find_um(const struct op_events *events,
				    const char *name)
{
	for (size_t i = 0; i < events->nr_ums; i++)
		if (!strcmp(events->um[i]->name, name))
			return events->um[i];
	return NULL;
}

static int merge_unit_mask(const struct line *line, struct op_unit_mask *um,
			   const char *name)
{
	struct op_unit_mask *part = find_um(line->r->events, name);

	if (!part)
		return op_events_text_error(line->text,
					    "um:%s: no such unit mask", name);
	if (part->type != um->type)
		return op_events_text_error(line->text,
					    "um:%s: of another type", name);
	part->used = true;
	if (op_array_reserve(&um->entries, um->nr, part->nr))
		return op_out_of_memory(line->r->diag);
	if (part->nr)
		memcpy(um->entries + um->nr, part->entries,
		       part->nr * sizeof(*um->entries));
	um->nr += part->nr;
	if (um->type == OP_UM_BITMASK)
		um->default_value |= part->default_value;
	return 0;
}

/* "a,b": a new unit mask with the entries of all, the default of the first. */
static int merge_unit_masks(const struct line *line, struct op_unit_mask *um,
			    char *names)
{
	char *comma;
	int err = 0;

	for (; names && !err; names = comma) {
		comma = strchr(names, ',');
		if (comma)
			*comma++ = '\0';
		err = merge_unit_mask(line, um, names);
	}
	if (!err && um->default_entry)
		um->default_entry =
			&um->entries[um->default_entry -
				     find_um(line->r->events, line->tag[UM])
					     ->entries];
	return err;
}

static int find_merged_mask(const struct line *line,
			    const struct op_unit_mask **out)
{
	struct op_events *events = line->r->events;
	size_t first_len = strcspn(line->tag[UM], ",");
	char *name = strndup(line->tag[UM], first_len);
	struct op_unit_mask *first = name ? find_um(events, name) : NULL;
	struct op_unit_mask *um;

	free(name);
	if (!first || first->type == OP_UM_MANDATORY)
		return op_events_text_error(line->text,
					    "um:%s: no such unit masks, or "
					    "they cannot be merged",
					    line->tag[UM]);
	um = malloc(sizeof(*um));
	if (!um || op_array_reserve(&events->um, events->nr_ums, 1)) {
		free(um);
		return op_out_of_memory(line->r->diag);
	}
	*um = *first;
	um->name = "";
	um->entries = NULL;
	um->nr = 0;
	um->own = false;
	events->um[events->nr_ums++] = um;
	*out = um;
	return merge_unit_masks(line, um, line->tag[UM]);
}

static int find_unit_mask(const struct line *line,
			  const struct op_unit_mask **out)
{
	struct op_unit_mask *um;

	if (strchr(line->tag[UM], ','))
		return find_merged_mask(line, out);
	um = find_um(line->r->events, line->tag[UM]);
	if (!um)
		return op_events_text_error(
			line->text, "um:%s: no such unit mask", line->tag[UM]);
	um->used = true;
	*out = um;
	return 0;
}

/* ---- the file ---- */

static int parse_event_line(struct line *line, struct op_event *event)
{
	uint64_t filter = 0;
	const struct {
		enum tag tag;
		uint64_t *value;
	} numbers[] = {
		{ EVENT, &event->code },
		{ MINIMUM, &event->min_count },
		{ PERF, &event->perf },
		{ FILTER, &filter },
	};
	int err = cut_event_line(line);

	if (!err)
		err = check_event_name(line);
	for (size_t i = 0; !err && i < sizeof(numbers) / sizeof(*numbers); i++)
		err = parse_event_number(line, numbers[i].tag,
					 numbers[i].value);
	if (!err)
		err = parse_event_counters(line, &event->counters);
	if (!err)
		err = find_unit_mask(line, &event->um);
	if (err)
		return err;
	if (!event->min_count || filter > 31)
		return op_events_text_error(line->text,
					    event->min_count
						    ? "filter: above 31"
						    : "minimum: must not be 0");
	event->filter = line->tag[FILTER] ? (int)filter : -1;
	event->name = line->tag[NAME];
	event->ext = line->tag[EXT];
	event->desc = line->desc;
	return 0;
}

static int add_event_line(struct op_events_reader *r,
			  struct op_events_text *text, const char *path)
{
	struct op_events *events = r->events;
	struct line line = { .text = text, .r = r };
	struct op_event event = { .place = { path, text->number } };
	int err = parse_event_line(&line, &event);

	if (err)
		return err;
	if (op_array_reserve(&events->event, events->nr, 1))
		return op_out_of_memory(r->diag);
	events->event[events->nr++] = event;
	return 0;
}

int op_events_read_events(struct op_events_reader *r, const char *cpu)
{
	struct op_events_text text;
	const char *path, *included;
	int err = op_events_read_open(r, &text, cpu, "events", &path);

	while (!err && op_events_text_next(&text)) {
		if (!op_events_is_include(&text, &included)) {
			err = add_event_line(r, &text, path);
			continue;
		}
		r->depth++;
		err = op_events_read_events(r, included);
		r->depth--;
	}
	return err;
}
