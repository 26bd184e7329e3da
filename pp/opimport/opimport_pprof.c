// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A place is a function in an image with a line; a location has one for each
 * function that was inlined there. Each place gets a key of its own, those of a
 * function one behind the other, so all are made before the first sample.
 *
 * Every number of the file is looked up before it is used: ids in sorted
 * tables, strings by their number.
 */

#include "pp/opimport/opimport_pprof.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_array.h"
#include "libop/events/op_counter_text.h"
#include "libop/image/op_code_lines.h"
#include "libop/base/op_search.h"
#include "libpp/format/profile.pb-c.h"
#include "module/uapi/oprofile.h"

#define NO_FUNCTION UINT32_MAX
#define DAMAGED "; the file is damaged: write it again"
#define NSEC_PER_SEC UINT64_C(1000000000)

/* The thing of an id. */
struct known_id {
	uint64_t id;
	uint32_t number;
};

struct id_table {
	struct known_id *ids; /* ascending */
	size_t nr;
};

struct place {
	uint32_t image;
	uint32_t function; /* NO_FUNCTION: @line is an address */
	uint64_t line;
	struct opimport_frame frame;
};

struct pprof_reader {
	struct opimport_profile *profile;
	const char *path;
	struct op_diag *diag;
	Pprof__Profile *p;
	struct op_arena arena;
	struct id_table functions, locations, mappings;
	uint32_t main; /* image of what is in no mapping */
	struct place *places; /* sorted, each once */
	size_t nr_places;
	size_t *first; /* of each location, its places in @frames */
	struct opimport_frame *frames;
	size_t nr_frames;
	int *event_of; /* of each type of values; -1: it is another's */
	struct opimport_frame *stack;
	size_t depth;
};

__attribute__((format(printf, 2, 3))) static int
fail_pprof(const struct pprof_reader *r, const char *fmt, ...)
{
	char why[OP_DIAG_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return op_diag_set(r->diag, -EBADMSG, "%s: %s", r->path, why);
}

/* The string of that number; "" where there is none. */
static const char *string_of(const struct pprof_reader *r, int64_t number)
{
	if (number < 0 || (uint64_t)number >= r->p->n_string_table)
		return "";
	return r->p->string_table[number];
}

/* ---- ids --------------------------------------------------------------------
 */

static int pprof_compare_ids(const void *pa, const void *pb)
{
	const struct known_id *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static int pprof_sort_ids(struct id_table *table)
{
	qsort(table->ids, table->nr, sizeof(*table->ids), pprof_compare_ids);
	for (size_t i = 0; i < table->nr; i++)
		if (!table->ids[i].id ||
		    (i && table->ids[i].id == table->ids[i - 1].id))
			return -EBADMSG;
	return 0;
}

#define FILL_IDS(r, table, list, len)                                          \
	({                                                                     \
		(table)->nr = (len);                                           \
		(table)->ids = op_arena_alloc(&(r)->arena, (len) + 1,          \
					      sizeof(struct known_id));        \
		for (size_t i_ = 0; (table)->ids && i_ < (len); i_++)          \
			(table)->ids[i_] = (struct known_id){ (list)[i_]->id,  \
							      (uint32_t)i_ };  \
		(table)->ids ? pprof_sort_ids(table) : -ENOMEM;                \
	})

/* Returns false where no thing has this id. */
static bool pprof_find_id(const struct id_table *table, uint64_t id,
			  uint32_t *number)
{
	const struct known_id wanted = { .id = id }, *found;

	found = bsearch(&wanted, table->ids, table->nr, sizeof(wanted),
			pprof_compare_ids);
	if (found)
		*number = found->number;
	return found;
}

static int pprof_index_ids(struct pprof_reader *r)
{
	int err = FILL_IDS(r, &r->functions, r->p->function, r->p->n_function)
			  ?: FILL_IDS(r, &r->locations, r->p->location,
				      r->p->n_location)
			  ?: FILL_IDS(r, &r->mappings, r->p->mapping,
				      r->p->n_mapping);

	if (err != -EBADMSG)
		return err;
	return fail_pprof(
		r,
		"two of its functions, locations or mappings have one id" DAMAGED);
}

/* ---- events -----------------------------------------------------------------
 */

/* Returns the number by which all values of type @samples are multiplied in
 * those of type @of, or 0 if there is no such number. */
static uint64_t factor_between(const struct pprof_reader *r, size_t samples,
			       size_t of)
{
	uint64_t factor = 0;

	for (size_t i = 0; i < r->p->n_sample; i++) {
		const int64_t *value = r->p->sample[i]->value;

		if (!value[samples] && !value[of])
			continue;
		if (!value[samples] || value[of] % value[samples] || !value[of])
			return 0;
		if (!factor)
			factor = (uint64_t)(value[of] / value[samples]);
		if ((uint64_t)(value[of] / value[samples]) != factor)
			return 0;
	}
	return factor;
}

/* Values that are the samples of @samples, or -1. */
static int find_partner(const struct pprof_reader *r, size_t samples,
			uint64_t *count)
{
	const char *type = string_of(r, r->p->sample_type[samples]->type);

	if (strncmp(type, "samples", strlen("samples")) != 0)
		return -1;
	for (size_t t = samples + 1; t < r->p->n_sample_type; t++) {
		uint64_t factor = factor_between(r, samples, t);

		if (!factor)
			continue;
		*count = factor;
		return (int)t;
	}
	return -1;
}

/* Make a name of the characters that names of events have: "delay/nanoseconds"
 * is "delay_nanoseconds". */
static char *pprof_event_name(struct pprof_reader *r,
			      const Pprof__ValueType *type, bool with_unit)
{
	const char *text = string_of(r, type->type);
	const char *unit = string_of(r, type->unit);
	char *name;

	if (!*text)
		text = "values";
	name = with_unit && *unit && strcmp(unit, "count") != 0
		       ? op_arena_printf(&r->arena, "%.40s_%.40s", text, unit)
		       : op_arena_printf(&r->arena, "%.80s", text);
	for (char *c = name; c && *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_", *c))
			*c = '_';
	return name;
}

static int check_values(const struct pprof_reader *r)
{
	for (size_t i = 0; i < r->p->n_sample; i++) {
		const Pprof__Sample *sample = r->p->sample[i];

		if (sample->n_value != r->p->n_sample_type)
			return fail_pprof(
				r,
				"a sample has %zu values, but there are %zu types of them" DAMAGED,
				sample->n_value, r->p->n_sample_type);
		for (size_t t = 0; t < sample->n_value; t++)
			if (sample->value[t] < 0)
				return fail_pprof(
					r,
					"has negative values: it is a comparison; import the two profiles that it compares");
	}
	return 0;
}

static int add_pprof_events(struct pprof_reader *r)
{
	size_t nr = r->p->n_sample_type;
	bool *is_taken = op_arena_alloc(&r->arena, nr + 1, sizeof(bool));

	if (!nr || !r->p->n_sample)
		return fail_pprof(r, "has no samples; profile again");
	if (nr > OP_MAX_COUNTERS)
		return fail_pprof(
			r, "has %zu types of values; write %d of them at most",
			nr, OP_MAX_COUNTERS);
	r->event_of = op_arena_alloc(&r->arena, nr, sizeof(int));
	if (!is_taken || !r->event_of)
		return -ENOMEM;
	for (size_t t = 0; t < nr; t++) {
		const Pprof__ValueType *type = r->p->sample_type[t];
		uint64_t count = 1;
		int partner = is_taken[t] ? -1 : find_partner(r, t, &count);
		const char *name = pprof_event_name(
			r, partner < 0 ? type : r->p->sample_type[partner],
			partner < 0);

		if (!name)
			return -ENOMEM;
		if (partner >= 0) {
			type = r->p->sample_type[partner];
			is_taken[partner] = true;
			/* The count of the timer is a rate, samples a second;
			 * pprof has the time between them. */
			if (!strcmp(string_of(r, type->type), OP_TIMER_EVENT) &&
			    !strcmp(string_of(r, type->unit), "nanoseconds"))
				count = (NSEC_PER_SEC + count / 2) / count ?: 1;
		}
		r->event_of[t] = -1;
		if (is_taken[t])
			continue;
		r->event_of[t] =
			(int)opimport_profile_event(r->profile, name, count);
	}
	return 0;
}

/* ---- places -----------------------------------------------------------------
 */

static int pprof_compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	/* Places without a line come last: reports give the first place as that
	 * of the function. */
	return op_compare(a->line - 1, b->line - 1);
}

/* The image of @location; its mapping's file has a name in most profiles. */
static int image_of(struct pprof_reader *r, const Pprof__Location *location,
		    uint32_t *image)
{
	const char *name = "";
	uint32_t number;

	*image = r->main;
	if (location->mapping_id) {
		if (!pprof_find_id(&r->mappings, location->mapping_id, &number))
			return fail_pprof(r,
					  "location %" PRIu64
					  " is in mapping %" PRIu64
					  ", which is not there" DAMAGED,
					  location->id, location->mapping_id);
		name = string_of(r, r->p->mapping[number]->filename);
	}
	if (*name)
		*image = opimport_profile_image(r->profile, name);
	return 0;
}

/* Where the @line-th function of @location is. */
static int pprof_place_of(const struct pprof_reader *r,
			  const Pprof__Location *location, size_t line,
			  uint32_t image, struct place *place)
{
	*place = (struct place){ .image = image, .function = NO_FUNCTION };
	if (!location->n_line) {
		place->line = location->address;
		return 0;
	}
	if (!pprof_find_id(&r->functions, location->line[line]->function_id,
			   &place->function))
		return fail_pprof(r,
				  "location %" PRIu64 " is in function %" PRIu64
				  ", which is not there" DAMAGED,
				  location->id,
				  location->line[line]->function_id);
	if (location->line[line]->line > 0 &&
	    location->line[line]->line <= OP_CODE_LINE_MAX)
		place->line = (uint64_t)location->line[line]->line;
	return 0;
}

/* Add the places of @location to r->places, those that are there again. */
static int list_location(struct pprof_reader *r,
			 const Pprof__Location *location)
{
	size_t nr = location->n_line ? location->n_line : 1;
	uint32_t image;
	int err = image_of(r, location, &image);

	if (!err && op_array_reserve(&r->places, r->nr_places, nr))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++)
		err = pprof_place_of(r, location, i, image,
				     &r->places[r->nr_places++]);
	return err;
}

static void drop_doubles(struct pprof_reader *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nr_places; i++)
		if (!i ||
		    pprof_compare_places(&r->places[i], &r->places[kept - 1]))
			r->places[kept++] = r->places[i];
	r->nr_places = kept;
}

/* The name, and room for the source lines of @nr places. */
static int pprof_describe_function(struct pprof_reader *r,
				   const struct place *place, size_t nr,
				   struct op_code_function *function)
{
	const Pprof__Function *of = r->p->function[place->function];
	const char *file = string_of(r, of->filename);
	struct op_code_line *lines;

	function->name = string_of(r, of->name);
	if (!*function->name)
		function->name = string_of(r, of->system_name);
	if (!*function->name)
		function->name = "(no name)";
	lines = op_arena_alloc(&r->arena, nr, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < nr && *file; i++)
		lines[function->nr_lines++] = (struct op_code_line){
			.offset = (uint32_t)i,
			.line = (uint32_t)place[i].line,
			.file = file,
		};
	function->lines = lines;
	return 0;
}

/* Give the @nr places of one function their keys. */
static int make_function(struct pprof_reader *r, struct place *place, size_t nr)
{
	struct op_code_function function = { .size = (uint32_t)nr,
					     .is_own = true };
	struct opimport_frame start;
	int err = 0;

	if (nr > UINT32_MAX)
		return fail_pprof(r,
				  "has too many lines of one function" DAMAGED);
	if (place->function == NO_FUNCTION) {
		snprintf(function.room, sizeof(function.room), "0x%" PRIx64,
			 place->line);
	} else {
		err = pprof_describe_function(r, place, nr, &function);
	}
	if (err)
		return err;
	start = opimport_profile_function(r->profile, place->image, &function);
	for (size_t i = 0; i < nr; i++) {
		place[i].frame = start;
		place[i].frame.key += i;
	}
	return opimport_profile_error(r->profile);
}

static int make_functions(struct pprof_reader *r)
{
	int err = 0;

	for (size_t i = 0, nr; !err && i < r->nr_places; i += nr) {
		struct place *place = &r->places[i];

		for (nr = 1; i + nr < r->nr_places &&
			     place->function != NO_FUNCTION &&
			     place[nr].image == place->image &&
			     place[nr].function == place->function;)
			nr++;
		err = make_function(r, place, nr);
	}
	return err;
}

/* List the frames of the places of each location. */
static int list_frames(struct pprof_reader *r)
{
	for (size_t l = 0; l < r->p->n_location; l++) {
		const Pprof__Location *location = r->p->location[l];
		size_t nr = location->n_line ? location->n_line : 1;
		uint32_t image;

		r->first[l] = r->nr_frames;
		if (image_of(r, location, &image) ||
		    op_array_reserve(&r->frames, r->nr_frames, nr))
			return -ENOMEM;
		for (size_t i = 0; i < nr; i++) {
			struct place wanted;
			const struct place *found;

			pprof_place_of(r, location, i, image, &wanted);
			found = bsearch(&wanted, r->places, r->nr_places,
					sizeof(wanted), pprof_compare_places);
			r->frames[r->nr_frames++] = found->frame;
		}
	}
	r->first[r->p->n_location] = r->nr_frames;
	return 0;
}

/* Readers and writers of pprof have the program in the first mapping. */
static void find_main_image(struct pprof_reader *r)
{
	const char *name = "", *slash = strrchr(r->path, '/');

	if (r->p->n_mapping)
		name = string_of(r, r->p->mapping[0]->filename);
	if (!*name)
		name = slash ? slash + 1 : r->path;
	r->main = opimport_profile_image(r->profile, name);
}

static int make_places(struct pprof_reader *r)
{
	int err = 0;

	find_main_image(r);
	r->first = op_arena_alloc(&r->arena, r->p->n_location + 1,
				  sizeof(*r->first));
	if (!r->first)
		return -ENOMEM;
	for (size_t l = 0; !err && l < r->p->n_location; l++)
		err = list_location(r, r->p->location[l]);
	if (err)
		return err;
	if (r->nr_places)
		qsort(r->places, r->nr_places, sizeof(*r->places),
		      pprof_compare_places);
	drop_doubles(r);
	return make_functions(r) ?: list_frames(r);
}

/* ---- samples ----------------------------------------------------------------
 */

static uint32_t task_number(const Pprof__Label *label)
{
	return label->num > 0 && label->num <= INT32_MAX ? (uint32_t)label->num
							 : 0;
}

static void read_pprof_labels(struct pprof_reader *r,
			      const Pprof__Sample *sample,
			      struct opimport_stack *stack)
{
	const char *process = NULL, *thread = NULL;

	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *key = string_of(r, label->key);
		const char *text = string_of(r, label->str);

		if (!strcmp(key, "application") && *text)
			stack->app = opimport_profile_image(r->profile, text);
		else if (!strcmp(key, "tgid") || !strcmp(key, "pid"))
			stack->tgid = task_number(label);
		else if (!strcmp(key, "tid") || !strcmp(key, "thread_id"))
			stack->tid = task_number(label);
		else if (!strcmp(key, "process") && *text)
			process = text;
		else if (!strcmp(key, "thread") && *text)
			thread = text;
	}
	if (!stack->tgid)
		stack->tgid = stack->tid;
	if (!stack->tid)
		stack->tid = stack->tgid;
	if (process && stack->tgid)
		opimport_profile_thread(r->profile, stack->tgid, stack->tgid,
					process);
	if (thread && stack->tid)
		opimport_profile_thread(r->profile, stack->tgid, stack->tid,
					thread);
}

static int add_location(struct pprof_reader *r, uint64_t id)
{
	uint32_t number;
	size_t nr;

	if (!pprof_find_id(&r->locations, id, &number))
		return fail_pprof(r,
				  "a sample is at location %" PRIu64
				  ", which is not there" DAMAGED,
				  id);
	nr = r->first[number + 1] - r->first[number];
	if (op_array_reserve(&r->stack, r->depth, nr))
		return -ENOMEM;
	memcpy(r->stack + r->depth, r->frames + r->first[number],
	       nr * sizeof(*r->stack));
	r->depth += nr;
	return 0;
}

static int add_pprof_sample(struct pprof_reader *r, const Pprof__Sample *sample)
{
	struct opimport_stack stack = { .app = r->main };
	int err = 0;

	r->depth = 0;
	for (size_t i = 0; !err && i < sample->n_location_id; i++)
		err = add_location(r, sample->location_id[i]);
	if (err)
		return err;
	read_pprof_labels(r, sample, &stack);
	stack.frames = r->stack;
	stack.nr = r->depth;
	for (size_t t = 0; t < sample->n_value; t++) {
		if (r->event_of[t] < 0)
			continue;
		stack.event = (unsigned int)r->event_of[t];
		stack.times = (uint64_t)sample->value[t];
		opimport_profile_stack(r->profile, &stack);
	}
	return opimport_profile_error(r->profile);
}

int opimport_pprof(struct opimport_profile *profile, const char *path,
		   const uint8_t *data, size_t len, struct op_diag *diag)
{
	struct pprof_reader r = { .profile = profile,
				  .path = path,
				  .diag = diag };
	int err;

	r.p = pprof__profile__unpack(NULL, len, data);
	if (!r.p)
		return fail_pprof(
			&r,
			"is damaged, or neither of pprof nor folded stacks; " OPIMPORT_CURE);
	op_arena_init(&r.arena);
	err = check_values(&r)
		      ?: add_pprof_events(&r)
		      ?: pprof_index_ids(&r)
		      ?: make_places(&r);
	for (size_t i = 0; !err && i < r.p->n_sample; i++)
		err = add_pprof_sample(&r, r.p->sample[i]);
	op_arena_release(&r.arena);
	free(r.places);
	free(r.frames);
	free(r.stack);
	pprof__profile__free_unpacked(r.p, NULL);
	return err;
}
