// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event specifications, NAME:COUNT[:UM[:KERNEL[:USER]]].
 *
 * There is one parser for all programs, so a specification means the same
 * everywhere. A unit mask may be a number or names joined by '+'; a number
 * that several entries have is refused, as it does not say which extra bits
 * are meant. Events that are sampled together must differ in what the name of
 * a sample file says.
 */

#include "libop/events/op_parse_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/events/op_alloc_counter.h"
#include "libop/files/op_config.h"
#include "libop/events/op_ibs.h"

struct parser {
	struct op_parsed_event *out;
	const struct op_events *events;
	const char *spec; /* whole, for reasons */
	struct op_diag *diag;
};

/* ---- unit masks ---- */

/* The values that may be given, for reasons. */
static void print_choices(const struct op_unit_mask *um, char *buf, size_t len)
{
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < um->nr && at < len; i++) {
		const struct op_unit_mask_entry *entry = &um->entries[i];

		if (at > 300) {
			snprintf(buf + at, len - at, ", ...");
			return;
		}
		at += (size_t)snprintf(buf + at, len - at, "%s0x%02" PRIx64,
				       i ? ", " : "", entry->value);
		if (entry->name && at < len)
			at += (size_t)snprintf(buf + at, len - at, " (%s)",
					       entry->name);
	}
}

static int um_choice_error(const struct parser *p, const char *text,
			   const char *why)
{
	const struct op_event *event = p->out->event;
	char choices[512];

	print_choices(event->um, choices, sizeof(choices));
	return op_diag_set(p->diag, -EINVAL,
			   "%s: unit mask %s is %s for %s; give %s%s", p->spec,
			   text, why, event->name,
			   event->um->type == OP_UM_BITMASK ? "bits of " : "",
			   choices);
}

static void add_mask_entry(struct op_parsed_event *out,
			   const struct op_unit_mask_entry *entry)
{
	out->um |= entry->value;
	out->extra |= entry->extra;
}

/* "NAME+NAME..." */
static int parse_um_names(const struct parser *p, const char *text)
{
	const struct op_unit_mask *um = p->out->event->um;
	const struct op_unit_mask_entry *entry;
	char names[OP_UM_NAME_MAX], *at = names, *plus;

	if (strlen(text) >= sizeof(names))
		return um_choice_error(p, text, "too long");
	strcpy(names, text);
	strcpy(p->out->um_name, text);
	do {
		plus = strchr(at, '+');
		if (plus && um->type != OP_UM_BITMASK)
			return um_choice_error(p, text, "more than one");
		if (plus)
			*plus++ = '\0';
		entry = op_unit_mask_find(um, at);
		if (!entry)
			return um_choice_error(p, at, "no name");
		add_mask_entry(p->out, entry);
		at = plus;
	} while (at);
	return 0;
}

/* Several entries may have one value, and differ in their extra bits. */
static int parse_um_number(const struct parser *p, const char *text)
{
	int err;

	if (op_parse_u64(text, &p->out->um))
		return um_choice_error(p, text, "too large");
	err = op_unit_mask_take(p->out->event->um, p->out->um, &p->out->extra);
	if (err)
		return um_choice_error(p, text,
				       err == -EEXIST ? "not unique"
						      : "not possible");
	return 0;
}

static int parse_unit_mask(const struct parser *p, const char *text)
{
	const struct op_unit_mask *um = p->out->event->um;
	uint64_t number;

	if (text && *text)
		return op_parse_u64(text, &number) == -EINVAL
			       ? parse_um_names(p, text)
			       : parse_um_number(p, text);
	if (um->default_entry)
		add_mask_entry(p->out, um->default_entry);
	else
		p->out->um = um->default_value;
	return 0;
}

/* ---- the other fields ---- */

static int parse_event_name(const struct parser *p, const char *name)
{
	const struct op_events *events = p->events;
	char similar[256];

	p->out->event = op_events_find(events, name);
	if (p->out->event)
		return 0;
	op_events_similar(events, name, similar, sizeof(similar));
	return op_diag_set(p->diag, -EINVAL,
			   "%s: %s has no event of this name%s%s", name,
			   events->cpu->name,
			   *similar ? "; similar: " : "; ophelp lists them",
			   *similar ? similar + 2 : "");
}

static int parse_event_count(const struct parser *p, const char *text,
			     uint64_t factor)
{
	const struct op_event *event = p->out->event;
	uint64_t minimum = event->min_count * (factor ? factor : 1);

	if (!text || !*text)
		return op_diag_set(
			p->diag, -EINVAL,
			"%s: no count; give the number of events per "
			"sample, as in %s:%" PRIu64,
			p->spec, event->name, minimum);
	if (op_parse_u64(text, &p->out->count))
		return op_diag_set(p->diag, -EINVAL,
				   "%s: count %s is not a whole number; give "
				   "one, as in %s:%" PRIu64,
				   p->spec, text, event->name, minimum);
	if (p->out->count < minimum)
		return op_diag_set(p->diag, -EINVAL,
				   "%s: count %" PRIu64 " is below the minimum "
				   "of %s, %" PRIu64
				   "; a smaller one would flood the machine "
				   "with interrupts",
				   p->spec, p->out->count, event->name,
				   minimum);
	/* The counters are as wide; perf takes no more. */
	if (p->out->count > INT64_MAX)
		return op_diag_set(p->diag, -EINVAL,
				   "%s: count %" PRIu64 " is too large",
				   p->spec, p->out->count);
	return op_ibs_check_count(p->out, p->spec, p->diag);
}

static int parse_mode_flag(const struct parser *p, const char *text,
			   const char *what, bool *out)
{
	*out = true;
	if (!text || !*text)
		return 0;
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return op_diag_set(p->diag, -EINVAL,
				   "%s: \"%s\" for %s is neither 0 nor 1",
				   p->spec, text, what);
	*out = *text == '1';
	return 0;
}

/* ---- the whole ---- */

static char *next_field(char **at)
{
	return *at ? strsep(at, ":") : NULL;
}

static int parse_event_fields(const struct parser *p, char *at,
			      const struct op_parse_options *options)
{
	int err = parse_event_name(p, next_field(&at));

	if (!err && !options->no_count)
		err = parse_event_count(p, next_field(&at), options->factor);
	if (!err)
		err = parse_unit_mask(p, next_field(&at));
	if (!err)
		err = parse_mode_flag(p, next_field(&at), "kernel",
				      &p->out->kernel);
	if (!err)
		err = parse_mode_flag(p, next_field(&at), "user",
				      &p->out->user);
	if (err)
		return err;
	if (at)
		return op_diag_set(p->diag, -EINVAL,
				   "%s: \"%s\": too many fields; the form is "
				   "NAME:COUNT:UNITMASK:KERNEL:USER",
				   p->spec, at);
	if (p->out->kernel || p->out->user)
		return 0;
	return op_diag_set(p->diag, -EINVAL,
			   "%s: counts neither the kernel nor user programs; "
			   "one must be 1",
			   p->spec);
}

int op_parse_event(struct op_parsed_event *out, const struct op_events *events,
		   const char *spec, const struct op_parse_options *options,
		   struct op_diag *diag)
{
	static const struct op_parse_options none;
	struct parser parser = { .events = events, .spec = spec, .diag = diag };
	char *copy;
	int err;

	if (!strcmp(spec, "default"))
		parser.spec = spec = events->cpu->default_event;
	memset(out, 0, sizeof(*out));
	parser.out = out;
	copy = strdup(spec);
	if (!copy)
		return op_out_of_memory(diag);
	err = parse_event_fields(&parser, copy, options ? options : &none);
	free(copy);
	if (!err)
		out->config = op_event_config(events, out->event, out->um,
					      out->extra);
	return err;
}

/* ---- printing ---- */

/* The name of the unit mask, where it was given or tells more than its value.
 */
static const char *um_name(const struct op_parsed_event *event)
{
	const struct op_unit_mask *um = event->event->um;
	const struct op_unit_mask_entry *entry = um->default_entry;
	unsigned int same = 0;

	if (*event->um_name)
		return event->um_name;
	for (size_t i = 0; i < um->nr; i++)
		same += um->entries[i].value == event->um;
	if (same > 1 && entry && entry->value == event->um)
		return entry->name;
	return NULL;
}

void op_parsed_event_print(FILE *out, const struct op_parsed_event *event)
{
	const char *name = um_name(event);

	fprintf(out, "%s:%" PRIu64 ":", event->event->name, event->count);
	if (name)
		fputs(name, out);
	else
		fprintf(out, "%" PRIu64, event->um);
	fprintf(out, ":%d:%d", event->kernel, event->user);
}

/* ---- several events ---- */

/* Whether two events would count the same, or write to one sample file. */
static bool is_same_sampling(const struct op_parsed_event *a,
			     const struct op_parsed_event *b)
{
	if (a->event != b->event || a->um != b->um)
		return false;
	return a->count == b->count ||
	       (a->extra == b->extra && a->kernel == b->kernel &&
		a->user == b->user);
}

int op_check_events(int *counters, const struct op_events *events,
		    const struct op_parsed_event *parsed, size_t nr,
		    struct op_diag *diag)
{
	const struct op_event **list = calloc(nr ? nr : 1, sizeof(*list));
	int err = 0;

	if (!list)
		return op_out_of_memory(diag);
	for (size_t i = 0; i < nr; i++) {
		list[i] = parsed[i].event;
		for (size_t j = 0; j < i && !err; j++)
			if (is_same_sampling(&parsed[i], &parsed[j]))
				err = op_diag_set(
					diag, -EINVAL,
					"%s: given twice with the same unit "
					"mask; all events must be distinct",
					parsed[i].event->name);
	}
	if (!err)
		err = op_ibs_check(parsed, nr, diag);
	if (!err)
		err = op_alloc_counters(counters, events->cpu, list, nr, diag);
	free(list);
	return err;
}
