// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every thing of a file gets a text that says all of it: of a function its
 * names and file, of a location the numbers of its functions, of a stack those
 * of its locations and labels. Things with the same text get the same number,
 * in whatever file they are, and are copied when they come up first.
 *
 * Ids in a file are looked up in arrays that are sorted by id, as nothing says
 * that they count from 1.
 */

#include "pp/oppush/oppush_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

/* Between the parts of a text; a name that holds it is taken for another. */
#define SEP "\x1f"

static const char *push_string(const struct push_reader *r, int64_t number)
{
	if (number < 0 || (uint64_t)number >= r->p->n_string_table)
		return "";
	return r->p->string_table[number];
}

/* The number of the thing that @text is all of; @is_new: it has none before.
 * The text is freed. */
static int push_number(struct op_strings *strings, char *text, uint32_t *number,
		       bool *is_new)
{
	size_t before = strings->nr;
	int err = text ? op_strings_number(strings, text, number) : -ENOMEM;

	free(text);
	*is_new = strings->nr > before;
	return err;
}

__attribute__((format(printf, 1, 2))) static char *push_text(const char *fmt,
							     ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	return len < 0 ? NULL : text;
}

/* ---- ids --------------------------------------------------------------------
 */

static int push_compare_ids(const void *pa, const void *pb)
{
	const struct push_id *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static int push_add_id(struct push_ids *ids, uint64_t id, uint32_t number)
{
	if (!id)
		return -EBADMSG;
	if (op_array_reserve(&ids->list, ids->nr, 1))
		return -ENOMEM;
	ids->list[ids->nr++] = (struct push_id){ id, number };
	return 0;
}

static void push_sort_ids(struct push_ids *ids)
{
	if (ids->nr)
		qsort(ids->list, ids->nr, sizeof(*ids->list), push_compare_ids);
}

static int push_find_id(const struct push_ids *ids, uint64_t id,
			uint32_t *number)
{
	const struct push_id wanted = { .id = id }, *found = NULL;

	if (ids->nr)
		found = bsearch(&wanted, ids->list, ids->nr, sizeof(wanted),
				push_compare_ids);
	if (!found)
		return -EBADMSG;
	*number = found->number;
	return 0;
}

/* ---- functions, images, locations -------------------------------------------
 */

/* A copy of a string of the file that lives as long as the sums. */
static const char *push_keep(struct push_reader *r, int64_t string)
{
	return op_arena_strdup(&r->sums->arena, push_string(r, string));
}

static int push_take_function(struct push_reader *r, const Pprof__Function *f)
{
	struct push_sums *sums = r->sums;
	struct push_function *to;
	uint32_t number = 0;
	bool is_new;
	int err = push_number(&sums->functions,
			      push_text("%s" SEP "%s" SEP "%s" SEP "%" PRId64,
					push_string(r, f->name),
					push_string(r, f->system_name),
					push_string(r, f->filename),
					f->start_line),
			      &number, &is_new);

	if (!err && is_new) {
		if (op_array_reserve(&sums->function, number, 1))
			return -ENOMEM;
		to = &sums->function[number];
		*to = (struct push_function){
			.name = push_keep(r, f->name),
			.system_name = push_keep(r, f->system_name),
			.file = push_keep(r, f->filename),
			.line = f->start_line,
		};
		if (!to->name || !to->system_name || !to->file)
			return -ENOMEM;
	}
	return err ?: push_add_id(&r->functions, f->id, number);
}

static int push_take_mapping(struct push_reader *r, const Pprof__Mapping *m)
{
	struct push_sums *sums = r->sums;
	struct push_mapping *to;
	uint32_t number = 0;
	bool is_new;
	int err = push_number(&sums->mappings,
			      push_text("%s" SEP "%s",
					push_string(r, m->filename),
					push_string(r, m->build_id)),
			      &number, &is_new);

	if (err)
		return err;
	if (is_new && op_array_reserve(&sums->mapping, number, 1))
		return -ENOMEM;
	to = &sums->mapping[number];
	if (is_new)
		*to = (struct push_mapping){
			.file = push_keep(r, m->filename),
			.build_id = push_keep(r, m->build_id),
			.start = m->memory_start,
			.offset = m->file_offset,
		};
	if (!to->file || !to->build_id)
		return -ENOMEM;
	/* The limit is after the last function that had samples. */
	if (m->memory_limit > to->limit)
		to->limit = m->memory_limit;
	to->has_functions |= m->has_functions;
	to->has_filenames |= m->has_filenames;
	to->has_line_numbers |= m->has_line_numbers;
	to->has_inline_frames |= m->has_inline_frames;
	return push_add_id(&r->mappings, m->id, number);
}

/* The functions of @l by their numbers, in @lines, and as a text. */
static int push_find_lines(struct push_reader *r, const Pprof__Location *l,
			   struct push_line *lines, FILE *text)
{
	int err = 0;

	for (size_t i = 0; !err && i < l->n_line; i++) {
		lines[i].line = l->line[i]->line;
		err = push_find_id(&r->functions, l->line[i]->function_id,
				   &lines[i].function);
		fprintf(text, " %" PRIu32 ":%" PRId64, lines[i].function,
			lines[i].line);
	}
	return err;
}

static int push_take_location(struct push_reader *r, const Pprof__Location *l)
{
	struct push_sums *sums = r->sums;
	struct push_line *lines =
		op_arena_alloc(&sums->arena, l->n_line + 1, sizeof(*lines));
	uint32_t number = 0, mapping = PUSH_NONE;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool is_new;
	int err = lines && out ? 0 : -ENOMEM;

	if (!err && l->mapping_id)
		err = push_find_id(&r->mappings, l->mapping_id, &mapping);
	if (!err) {
		fprintf(out, "%" PRIu32 " %" PRIx64 " %d", mapping, l->address,
			l->is_folded);
		err = push_find_lines(r, l, lines, out);
	}
	if (out && fclose(out))
		err = -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	err = push_number(&sums->locations, text, &number, &is_new);
	if (!err && is_new) {
		if (op_array_reserve(&sums->location, number, 1))
			return -ENOMEM;
		sums->location[number] = (struct push_location){
			.mapping = mapping,
			.address = l->address,
			.is_folded = l->is_folded,
			.lines = lines,
			.nr_lines = l->n_line,
		};
	}
	return err ?: push_add_id(&r->locations, l->id, number);
}

/* ---- samples ----------------------------------------------------------------
 */

static int push_take_labels(struct push_reader *r, const Pprof__Sample *sample,
			    uint32_t *number)
{
	struct push_sums *sums = r->sums;
	struct push_label *labels;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool is_new;
	int err;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *l = sample->label[i];

		fprintf(out, "%s=%s %" PRId64 "%s" SEP, push_string(r, l->key),
			push_string(r, l->str), l->num,
			push_string(r, l->num_unit));
	}
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	err = push_number(&sums->label_sets, text, number, &is_new);
	if (err || !is_new)
		return err;
	labels = op_arena_alloc(&sums->arena, sample->n_label + 1,
				sizeof(*labels));
	if (!labels || op_array_reserve(&sums->label_set, *number, 1))
		return -ENOMEM;
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *l = sample->label[i];

		labels[i] = (struct push_label){
			.key = push_keep(r, l->key),
			.text = push_keep(r, l->str),
			.unit = push_keep(r, l->num_unit),
			.number = l->num,
		};
		if (!labels[i].key || !labels[i].text || !labels[i].unit)
			return -ENOMEM;
	}
	sums->label_set[*number] =
		(struct push_label_set){ labels, sample->n_label };
	return 0;
}

/* Add a stack without samples. */
static int push_new_stack(struct push_sums *sums,
			  const struct push_stack *stack)
{
	size_t nr = sums->stacks.nr - 1, at = nr * sums->nr_types;
	size_t bytes = sums->nr_types * sizeof(*sums->old);

	if (op_array_reserve(&sums->stack, nr, 1) ||
	    op_array_reserve(&sums->old, at, sums->nr_types) ||
	    op_array_reserve(&sums->now, at, sums->nr_types))
		return -ENOMEM;
	sums->stack[nr] = *stack;
	/* Without types there are no sums. */
	if (bytes) {
		memset(sums->old + at, 0, bytes);
		memset(sums->now + at, 0, bytes);
	}
	return 0;
}

/* The number of the stack of @sample. */
static int push_take_stack(struct push_reader *r, const Pprof__Sample *sample,
			   uint32_t *number)
{
	struct push_sums *sums = r->sums;
	uint32_t *locations = op_arena_alloc(
		&sums->arena, sample->n_location_id + 1, sizeof(*locations));
	struct push_stack stack = { .locations = locations,
				    .depth = sample->n_location_id };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool is_new;
	int err = locations && out
			  ? push_take_labels(r, sample, &stack.label_set)
			  : -ENOMEM;

	for (size_t i = 0; !err && i < sample->n_location_id; i++) {
		err = push_find_id(&r->locations, sample->location_id[i],
				   &locations[i]);
		fprintf(out, "%" PRIu32 " ", locations[i]);
	}
	if (!err)
		fprintf(out, "; %" PRIu32, stack.label_set);
	if (out && fclose(out))
		err = -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	err = push_number(&sums->stacks, text, number, &is_new);
	return err || !is_new ? err : push_new_stack(sums, &stack);
}

static int push_take_sample(struct push_reader *r, const Pprof__Sample *sample)
{
	uint32_t stack = 0;
	int err = sample->n_value == r->p->n_sample_type
			  ? push_take_stack(r, sample, &stack)
			  : -EBADMSG;

	for (size_t t = 0; !err && t < sample->n_value; t++) {
		int64_t *to =
			*r->values + stack * r->sums->nr_types + r->type_of[t];

		if (r->is_again[t])
			continue;
		if (sample->value[t] < 0 ||
		    __builtin_add_overflow(*to, sample->value[t], to))
			err = -EBADMSG;
	}
	return err;
}

/* ---- files ------------------------------------------------------------------
 */

/* Whether an earlier type of the file is called like the one of number @t. */
static bool is_type_again(const struct push_reader *r, size_t t)
{
	for (size_t i = 0; i < t; i++)
		if (r->type_of[i] == r->type_of[t])
			return true;
	return false;
}

int push_take_types(struct push_reader *r)
{
	struct push_sums *sums = r->sums;

	if (r->p->n_sample_type > PUSH_MAX_TYPES)
		return -EBADMSG;
	for (size_t t = 0; t < r->p->n_sample_type; t++) {
		const Pprof__ValueType *type = r->p->sample_type[t];
		const char *name = push_string(r, type->type);
		const char *unit = push_string(r, type->unit);
		size_t i = 0;

		while (i < sums->nr_types &&
		       (strcmp(sums->types[i].type, name) ||
			strcmp(sums->types[i].unit, unit)))
			i++;
		r->type_of[t] = i;
		if (i == PUSH_MAX_TYPES)
			return -EBADMSG;
		/* An event may be called "samples". */
		r->is_again[t] = is_type_again(r, t);
		if (i < sums->nr_types)
			continue;
		sums->types[i].type = push_keep(r, type->type);
		sums->types[i].unit = push_keep(r, type->unit);
		if (!sums->types[i].type || !sums->types[i].unit)
			return -ENOMEM;
		sums->nr_types++;
	}
	return 0;
}

int push_take_period(struct push_reader *r)
{
	struct push_sums *sums = r->sums;
	const Pprof__ValueType *type = r->p->period_type;

	if (!type)
		return 0;
	sums->period_type.type = push_keep(r, type->type);
	sums->period_type.unit = push_keep(r, type->unit);
	sums->period = r->p->period;
	return sums->period_type.type && sums->period_type.unit ? 0 : -ENOMEM;
}

int push_take_file(struct push_reader *r)
{
	const Pprof__Profile *p = r->p;
	int err = 0;

	for (size_t i = 0; !err && i < p->n_function; i++)
		err = push_take_function(r, p->function[i]);
	push_sort_ids(&r->functions);
	for (size_t i = 0; !err && i < p->n_mapping; i++)
		err = push_take_mapping(r, p->mapping[i]);
	push_sort_ids(&r->mappings);
	for (size_t i = 0; !err && i < p->n_location; i++)
		err = push_take_location(r, p->location[i]);
	push_sort_ids(&r->locations);
	for (size_t i = 0; !err && i < p->n_sample; i++)
		err = push_take_sample(r, p->sample[i]);
	free(r->functions.list);
	free(r->mappings.list);
	free(r->locations.list);
	return err;
}
