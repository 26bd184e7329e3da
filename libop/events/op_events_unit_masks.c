// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file "unit_masks": a line "name:NAME type:TYPE default:VALUE" for each
 * unit mask, and an indented line for each of its entries.
 *
 * An entry belongs to the last unit mask of the same file, so an include
 * between them ends it. A default may be a name or a value and is looked up
 * once all entries are there (op_events_load.c).
 */

#include "libop/events/op_events_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

static struct op_unit_mask *last_um(struct op_events_reader *r,
				    const char *path)
{
	struct op_events *events = r->events;
	struct op_unit_mask *um;

	um = events->nr_ums ? events->um[events->nr_ums - 1] : NULL;
	return um && um->place.path == path ? um : NULL;
}

/* ---- "name:NAME type:TYPE default:VALUE" ---- */

int op_events_take_um_type(const struct op_events_text *text,
			   enum op_unit_mask_type *type, const char *value)
{
	static const char *const names[] = { [OP_UM_MANDATORY] = "mandatory",
					     [OP_UM_EXCLUSIVE] = "exclusive",
					     [OP_UM_BITMASK] = "bitmask" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i])) {
			*type = i;
			return 0;
		}
	return op_events_text_error(text,
				    "type:%s: not mandatory, exclusive or "
				    "bitmask",
				    value);
}

static int parse_um_tag(const struct op_events_text *text,
			struct op_unit_mask *um, const char **type, char *word)
{
	char *value = strchr(word, ':');
	const char **field;

	if (!value)
		return op_events_text_error(text, "%s: no tag, \"KEY:VALUE\"",
					    word);
	*value++ = '\0';
	field = !strcmp(word, "name")	   ? &um->name
		: !strcmp(word, "type")	   ? type
		: !strcmp(word, "default") ? &um->default_text
					   : NULL;
	if (!field)
		return op_events_text_error(text, "%s: unknown tag", word);
	if (*field)
		return op_events_text_error(text, "%s: given twice", word);
	if (!*value)
		return op_events_text_error(text, "%s: no value", word);
	*field = value;
	return 0;
}

static int parse_um_head(const struct op_events_text *text,
			 struct op_unit_mask *um)
{
	const char *type = NULL;
	char *at = text->line, *word;
	int err;

	while ((word = op_events_word(&at))) {
		err = parse_um_tag(text, um, &type, word);
		if (err)
			return err;
	}
	if (!um->name || !type || !um->default_text)
		return op_events_text_error(text, "%s: not given",
					    !um->name ? "name"
					    : !type   ? "type"
						      : "default");
	return op_events_take_um_type(text, &um->type, type);
}

static int add_um_head(struct op_events_reader *r, struct op_events_text *text,
		       const char *path)
{
	struct op_unit_mask *um = calloc(1, sizeof(*um));
	struct op_events *events = r->events;
	int err;

	if (!um || op_array_reserve(&events->um, events->nr_ums, 1)) {
		free(um);
		return op_out_of_memory(r->diag);
	}
	events->um[events->nr_ums++] = um;
	um->own = !r->depth;
	um->place = (struct op_events_place){ path, text->number };
	err = parse_um_head(text, um);
	if (err)
		return err;
	for (size_t i = 0; i + 1 < events->nr_ums; i++)
		if (!strcmp(events->um[i]->name, um->name))
			return op_events_text_error(text,
						    "unit mask %s: there is "
						    "one already",
						    um->name);
	return 0;
}

/* ---- "<tab>VALUE [extra:FLAG,...] [NAME] TEXT" ---- */

static int parse_extra_flag(const struct op_events_text *text, uint64_t *extra,
			    const char *flag)
{
	uint64_t cmask;

	if (!strcmp(flag, "edge"))
		*extra |= OP_EXTRA_EDGE;
	else if (!strcmp(flag, "pebs"))
		*extra |= OP_EXTRA_PEBS;
	else if (!strcmp(flag, "any"))
		*extra |= OP_EXTRA_ANY;
	else if (!strcmp(flag, "inv"))
		*extra |= OP_EXTRA_INV;
	else if (strncmp(flag, "cmask=", 6) != 0)
		return op_events_text_error(
			text,
			"extra:%s: none of edge, pebs, any, inv, cmask=", flag);
	else if (op_parse_u64(flag + 6, &cmask) || cmask > OP_EXTRA_CMASK_MAX)
		return op_events_text_error(text,
					    "extra:%s: not a number up to %u",
					    flag, OP_EXTRA_CMASK_MAX);
	else
		*extra |= cmask << OP_EXTRA_CMASK_SHIFT;
	return 0;
}

int op_events_take_extra(const struct op_events_text *text,
			 struct op_unit_mask_entry *entry, char *flags)
{
	int err = 0;
	char *comma;

	while (!err && flags && *flags) {
		comma = strchr(flags, ',');
		if (comma)
			*comma++ = '\0';
		err = parse_extra_flag(text, &entry->extra, flags);
		flags = comma;
	}
	return err;
}

static int parse_um_entry(const struct op_events_text *text,
			  struct op_unit_mask_entry *entry)
{
	char *at = text->line, *value = op_events_word(&at);
	uint64_t number;
	int err;

	entry->line = text->number;
	if (strncmp(value, "0x", 2) != 0 || op_parse_u64(value, &entry->value))
		return op_events_text_error(text, "%s: not a hex number, 0x...",
					    value);
	if (!strncmp(at, "extra:", 6)) {
		err = op_events_take_extra(text, entry,
					   op_events_word(&at) + 6);
		if (err)
			return err;
		entry->name = op_events_word(&at);
		if (!entry->name ||
		    op_parse_u64(entry->name, &number) != -EINVAL ||
		    strpbrk(entry->name, ":+,"))
			return op_events_text_error(text,
						    "no name behind extra:");
	}
	entry->desc = *at ? at : entry->name;
	if (!entry->desc)
		return op_events_text_error(text, "no description");
	return 0;
}

static int check_um_entry(const struct op_events_text *text,
			  const struct op_unit_mask *um,
			  const struct op_unit_mask_entry *entry)
{
	for (size_t i = 0; i < um->nr; i++) {
		const struct op_unit_mask_entry *other = &um->entries[i];

		if (other->value == entry->value &&
		    other->extra == entry->extra)
			return op_events_text_error(text,
						    "0x%02" PRIx64 ": "
						    "already used in line %u",
						    entry->value, other->line);
		if (entry->name && other->name &&
		    !strcmp(entry->name, other->name))
			return op_events_text_error(
				text, "%s: already used in line %u",
				entry->name, other->line);
	}
	return 0;
}

static int add_um_entry(struct op_events_reader *r, struct op_events_text *text,
			const char *path)
{
	struct op_unit_mask *um = last_um(r, path);
	struct op_unit_mask_entry entry = { 0 };
	int err;

	if (!um)
		return op_events_text_error(text, "no unit mask before it");
	err = parse_um_entry(text, &entry);
	if (!err)
		err = check_um_entry(text, um, &entry);
	if (err)
		return err;
	if (op_array_reserve(&um->entries, um->nr, 1))
		return op_out_of_memory(r->diag);
	um->entries[um->nr++] = entry;
	return 0;
}

/* ---- the file ---- */

int op_events_read_unit_masks(struct op_events_reader *r, const char *cpu)
{
	struct op_events_text text;
	const char *path, *included;
	int err = op_events_read_open(r, &text, cpu, "unit_masks", &path);

	while (!err && op_events_text_next(&text)) {
		if (op_events_is_include(&text, &included)) {
			r->depth++;
			err = op_events_read_unit_masks(r, included);
			r->depth--;
		} else if (*text.line == '\t' || *text.line == ' ') {
			err = add_um_entry(r, &text, path);
		} else {
			err = add_um_head(r, &text, path);
		}
	}
	return err;
}

/* ---- entries of a unit mask ---- */

static uint64_t plain_bits(const struct op_unit_mask *um)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < um->nr; i++)
		if (!um->entries[i].extra)
			bits |= um->entries[i].value;
	return bits;
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

/* ---- the check of a whole unit mask ---- */

int op_unit_mask_error(const struct op_unit_mask *um, struct op_diag *diag,
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
		return op_unit_mask_error(
			um, diag, "default: neither a number nor an entry");
	for (size_t i = 0; i < um->nr; i++)
		if (um->entries[i].value == um->default_value) {
			um->default_entry = &um->entries[i];
			fit++;
		}
	if (fit > 1)
		return op_unit_mask_error(
			um, diag,
			"default: several entries have this value; "
			"give the name of one");
	return 0;
}

int op_unit_mask_check(struct op_unit_mask *um, struct op_diag *diag)
{
	int err;

	if (!um->nr)
		return op_unit_mask_error(um, diag, "no entries");
	if (um->type == OP_UM_MANDATORY && um->nr != 1)
		return op_unit_mask_error(um, diag,
					  "mandatory, but with several "
					  "entries");
	err = find_um_default(um, diag);
	if (err || um->default_entry)
		return err;
	if (um->type != OP_UM_BITMASK)
		return op_unit_mask_error(um, diag,
					  "default: no entry has this value");
	if (um->default_value & ~plain_bits(um))
		return op_unit_mask_error(
			um, diag, "default: has bits that no entry has");
	return 0;
}
