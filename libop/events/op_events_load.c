// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of one CPU type: reading them, looking for one by name, and what
 * perf_events takes for it.
 *
 * Unit masks are read first, as events refer to them by name, and each is
 * checked as a whole once its entries are known. Both files may include those
 * of another type, up to a depth. All names are parts of the files' texts,
 * which live as long as the events; paths are kept for messages about a line.
 */

#include "libop/events/op_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"
#include "libop/events/op_events_read.h"

static int keep_text(struct op_events *events, char *text)
{
	if (!text || op_array_reserve(&events->texts, events->nr_texts, 1)) {
		free(text);
		return -ENOMEM;
	}
	events->texts[events->nr_texts++] = text;
	return 0;
}

static int keep_path(struct op_events *events, const char *path)
{
	int err = op_array_reserve(&events->paths, events->nr_paths, 1);

	if (!err)
		events->paths[events->nr_paths++] = path;
	return err;
}

int op_events_read_open(struct op_events_reader *r, struct op_events_text *text,
			const char *cpu, const char *file, const char **path)
{
	int err, memory = 0;
	char *copy;

	if (r->depth > OP_EVENTS_MAX_DEPTH)
		return op_diag_set(r->diag, -EINVAL,
				   "%s/%s/%s: include: too deep; does it "
				   "include itself?",
				   r->dir, cpu, file);
	if (!op_cpu_name_is_valid(cpu))
		return op_diag_set(r->diag, -EINVAL,
				   "include:%s: no name of a CPU type", cpu);
	err = op_events_text_open(text, r->dir, cpu, file, r->diag);
	if (text->text)
		memory = keep_text(r->events, text->text);
	copy = strdup(text->path);
	if (!memory)
		memory = keep_text(r->events, copy);
	else
		free(copy);
	if (!memory)
		memory = keep_path(r->events, copy);
	if (memory)
		return op_diag_set(r->diag, memory, "out of memory");
	*path = copy;
	return err;
}

bool op_events_is_include(const struct op_events_text *text, const char **cpu)
{
	if (strncmp(text->line, "include:", 8) != 0)
		return false;
	*cpu = text->line + 8;
	return true;
}

/* ---- checks of unit masks ---- */

static int um_file_error(const struct op_unit_mask *um, struct op_diag *diag,
			 const char *what)
{
	return op_diag_set(diag, -EINVAL, "%s:%u: unit mask %s: %s",
			   um->place.path, um->place.line, um->name, what);
}

/* The default is a number, or the name of an entry. */
static int find_um_default(struct op_unit_mask *um, struct op_diag *diag)
{
	unsigned int fit = 0;

	um->default_entry = op_unit_mask_find(um, um->default_text);
	if (um->default_entry) {
		um->default_value = um->default_entry->value;
		return 0;
	}
	if (op_parse_u64(um->default_text, &um->default_value))
		return um_file_error(um, diag,
				     "default: neither a number nor an entry");
	for (size_t i = 0; i < um->nr; i++)
		if (um->entries[i].value == um->default_value) {
			um->default_entry = &um->entries[i];
			fit++;
		}
	if (fit > 1)
		return um_file_error(
			um, diag,
			"default: several entries have this value; "
			"give the name of one");
	return 0;
}

static uint64_t plain_bits(const struct op_unit_mask *um)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < um->nr; i++)
		if (!um->entries[i].extra)
			bits |= um->entries[i].value;
	return bits;
}

int op_unit_mask_check(struct op_unit_mask *um, struct op_diag *diag)
{
	int err;

	if (!um->nr)
		return um_file_error(um, diag, "no entries");
	if (um->type == OP_UM_MANDATORY && um->nr != 1)
		return um_file_error(um, diag,
				     "mandatory, but with several "
				     "entries");
	err = find_um_default(um, diag);
	if (err || um->default_entry)
		return err;
	if (um->type != OP_UM_BITMASK)
		return um_file_error(um, diag,
				     "default: no entry has this value");
	if (um->default_value & ~plain_bits(um))
		return um_file_error(um, diag,
				     "default: has bits that no entry has");
	return 0;
}

static int check_used(const struct op_events *events, struct op_diag *diag)
{
	for (size_t i = 0; i < events->nr_ums; i++)
		if (events->um[i]->own && !events->um[i]->used)
			return um_file_error(events->um[i], diag,
					     "no event uses it");
	return 0;
}

/* ---- the whole ---- */

static int read_cpu_events(struct op_events *events, const char *dir,
			   struct op_diag *diag)
{
	struct op_events_reader r = { .events = events,
				      .dir = dir,
				      .diag = diag };
	int err = op_events_read_unit_masks(&r, events->cpu->name);

	for (size_t i = 0; !err && i < events->nr_ums; i++)
		err = op_unit_mask_check(events->um[i], diag);
	if (!err)
		err = op_events_read_events(&r, events->cpu->name);
	if (!err && !events->nr)
		err = op_diag_set(diag, -EINVAL, "%s/%s/events: no events", dir,
				  events->cpu->name);
	if (!err)
		err = check_used(events, diag)
			      ?: op_events_read_original(&r, events->cpu->name);
	return err;
}

int op_events_load(struct op_events **out, const char *dir, const char *cpu,
		   struct op_diag *diag)
{
	struct op_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return op_diag_set(diag, -ENOMEM, "out of memory");
	err = op_cpu_type_read(&events->cpu, dir, cpu, diag);
	if (!err)
		err = read_cpu_events(events, dir, diag);
	if (err) {
		op_events_free(events);
		return err;
	}
	*out = events;
	return 0;
}

void op_events_free(struct op_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->nr_ums; i++) {
		free(events->um[i]->entries);
		free(events->um[i]);
	}
	for (size_t i = 0; i < events->nr_texts; i++)
		free(events->texts[i]);
	op_cpu_type_free(events->cpu);
	free(events->um);
	free(events->texts);
	free(events->paths);
	free(events->event);
	free(events->original);
	free(events);
}

static const struct op_event *
find_event(const struct op_event *event, size_t nr, const char *name,
	   int (*compare)(const char *, const char *))
{
	for (size_t i = 0; i < nr; i++)
		if (!compare(event[i].name, name))
			return &event[i];
	return NULL;
}

static const struct op_event *
find_event_in_lists(const struct op_events *events, const char *name)
{
	const struct op_event *ours = events->event;
	const struct op_event *original = events->original;
	size_t nr = events->nr, nr_original = events->nr_original;

	return find_event(ours, nr, name, strcmp)
		       ?: find_event(original, nr_original, name, strcmp)
		       ?: find_event(ours, nr, name, strcasecmp)
		       ?: find_event(original, nr_original, name, strcasecmp);
}

const struct op_event *op_events_find(const struct op_events *events,
				      const char *name)
{
	const struct op_event *event = find_event_in_lists(events, name);
	const char *group = strcasestr(name, "_GRP");
	char stem[128];

	/* POWER's events once had the group of counters in their names. */
	if (event || !group || !group[4] ||
	    group[4 + strspn(group + 4, "0123456789")] ||
	    (size_t)(group - name) >= sizeof(stem))
		return event;
	memcpy(stem, name, (size_t)(group - name));
	stem[group - name] = '\0';
	return find_event_in_lists(events, stem);
}

static const struct op_unit_mask_entry *
find_um_entry(const struct op_unit_mask *um, const char *name,
	      int (*compare)(const char *, const char *))
{
	const struct op_unit_mask_entry *found = NULL;

	for (size_t i = 0; i < um->nr; i++) {
		if (!um->entries[i].name || compare(um->entries[i].name, name))
			continue;
		if (found)
			return NULL;
		found = &um->entries[i];
	}
	return found;
}

const struct op_unit_mask_entry *
op_unit_mask_find(const struct op_unit_mask *um, const char *name)
{
	return find_um_entry(um, name, strcmp)
		       ?: find_um_entry(um, name, strcasecmp);
}

int op_unit_mask_take(const struct op_unit_mask *um, uint64_t value,
		      uint64_t *extra)
{
	unsigned int fit = 0;

	*extra = 0;
	for (size_t i = 0; i < um->nr; i++)
		if (um->entries[i].value == value) {
			*extra = um->entries[i].extra;
			fit++;
		}
	if (fit > 1)
		return -EEXIST;
	if (fit)
		return 0;
	return um->type == OP_UM_BITMASK && value && !(value & ~plain_bits(um))
		       ? 0
		       : -EINVAL;
}

/* ---- perf's config ---- */

/* Bits 8 to 11 of AMD's event select stand in bits 32 to 35. */
static uint64_t x86_config(uint64_t code, uint64_t value, uint64_t extra)
{
	return (code & 0xff) | (value & 0xff) << 8 | (extra & ~OP_EXTRA_PEBS) |
	       (code & 0xf00) << 24;
}

/*
 * The upper half is the ESCR with Linux' own number in place of the event
 * select, the lower one the CCCR; an event's code is the event select with
 * the CCCR's ESCR select below it, in one byte each. See
 * arch/x86/include/asm/perf_event_p4.h.
 */
static uint64_t netburst_config(const struct op_event *event, uint64_t value)
{
	return (event->perf & 0x3f) << (32 + 25) |
	       (value & 0xffff) << (32 + 9) | (event->code & 7) << 13;
}

uint64_t op_event_config(const struct op_events *events,
			 const struct op_event *event, uint64_t value,
			 uint64_t extra)
{
	switch (events->cpu->encoding) {
	case OP_ENCODING_X86:
		return x86_config(event->code, value, extra);
	case OP_ENCODING_NETBURST:
		return netburst_config(event, value);
	case OP_ENCODING_RAW:
		break;
	}
	return event->code | value;
}
