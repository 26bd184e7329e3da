// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The places of one function get keys one behind the other: first those with a
 * line, in the order in which they came up, as the first one is where reports
 * say that the function is. A function that is only called has one key, its
 * start, which no sample has.
 */

#include "pp/opimport/opimport_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

#define NO_FILE "???" /* valgrind's name for what it does not know */

void opimport_graph_init(struct opimport_graph *graph)
{
	memset(graph, 0, sizeof(*graph));
	op_arena_init(&graph->arena);
	op_strings_init(&graph->strings, &graph->arena);
}

void opimport_graph_release(struct opimport_graph *graph)
{
	op_strings_release(&graph->strings);
	op_arena_release(&graph->arena);
	op_hash_release(&graph->functions_by_name);
	op_hash_release(&graph->places_by_line);
	free(graph->functions);
	free(graph->places);
	free(graph->costs);
}

int opimport_graph_string(struct opimport_graph *graph, const char *text,
			  uint32_t *number)
{
	return op_strings_number(&graph->strings, text, number);
}

static uint64_t graph_hash(uint64_t seed, uint32_t a, uint32_t b, uint32_t c)
{
	return op_hash_mix(op_hash_mix(seed, (uint64_t)a << 32 | b), c);
}

int opimport_graph_function(struct opimport_graph *graph, uint32_t object,
			    uint32_t file, uint32_t name, uint32_t *number)
{
	struct op_hash *index = &graph->functions_by_name;
	uint32_t found;
	uint64_t hash;
	int err = op_hash_reserve(index, graph->nr_functions + 1)
			  ?: op_array_reserve(&graph->functions,
					      graph->nr_functions, 1);

	if (err)
		return err;
	hash = graph_hash(index->seed, object, file, name);
	op_hash_each(index, hash, found) {
		const struct graph_function *f = &graph->functions[found - 1];

		if (f->object == object && f->file == file && f->name == name)
			break;
	}
	if (!found) {
		graph->functions[graph->nr_functions++] =
			(struct graph_function){
				.object = object,
				.file = file,
				.name = name,
			};
		found = (uint32_t)graph->nr_functions;
		op_hash_add(index, hash, found);
	}
	*number = found - 1;
	return 0;
}

int opimport_graph_place(struct opimport_graph *graph, uint32_t function,
			 uint32_t file, uint32_t line, uint32_t *number)
{
	struct op_hash *index = &graph->places_by_line;
	uint32_t found;
	uint64_t hash;
	int err = op_hash_reserve(index, graph->nr_places + 1)
			  ?: op_array_reserve(&graph->places, graph->nr_places,
					      1);

	if (err)
		return err;
	hash = graph_hash(index->seed, function, file, line);
	op_hash_each(index, hash, found) {
		const struct graph_place *p = &graph->places[found - 1];

		if (p->function == function && p->file == file &&
		    p->line == line)
			break;
	}
	if (!found) {
		graph->places[graph->nr_places++] = (struct graph_place){
			.function = function,
			.file = file,
			.line = line,
		};
		graph->functions[function].nr_places++;
		found = (uint32_t)graph->nr_places;
		op_hash_add(index, hash, found);
	}
	*number = found - 1;
	return 0;
}

int opimport_graph_cost(struct opimport_graph *graph,
			const struct graph_cost *cost)
{
	if (!cost->count)
		return 0;
	if (op_array_reserve(&graph->costs, graph->nr_costs, 1))
		return -ENOMEM;
	graph->costs[graph->nr_costs++] = *cost;
	return 0;
}

/* ---- telling ----------------------------------------------------------------
 */

/* A graph that is being told. */
struct graph_writer {
	const struct opimport_graph *graph;
	struct opimport_profile *profile;
	uint32_t tgid;
	const char *app; /* NULL: the object of each sample */
	uint32_t *places; /* by function */
	struct opimport_frame *starts; /* of functions */
	struct opimport_frame *frames; /* of places */
	uint32_t *images; /* of functions */
};

static const char *graph_text(const struct graph_writer *t, uint32_t string)
{
	return t->graph->strings.list[string];
}

/* 0: it has none. */
static uint32_t line_of_place(const struct graph_writer *t,
			      const struct graph_place *place)
{
	const char *file = graph_text(t, place->file);

	return *file && strcmp(file, NO_FILE) != 0 ? place->line : 0;
}

/* Put the places that have a line, or those that have none, behind the others
 * of their functions. */
static void append_places(const struct graph_writer *t, bool has_line)
{
	const struct opimport_graph *graph = t->graph;

	for (size_t i = 0; i < graph->nr_places; i++) {
		const struct graph_place *place = &graph->places[i];
		struct graph_function *f = &graph->functions[place->function];

		if ((line_of_place(t, place) != 0) == has_line)
			t->places[f->first + f->nr_places++] = (uint32_t)i;
	}
}

static void sort_places(const struct graph_writer *t)
{
	const struct opimport_graph *graph = t->graph;
	uint32_t first = 0;

	for (size_t f = 0; f < graph->nr_functions; f++) {
		graph->functions[f].first = first;
		first += graph->functions[f].nr_places;
		graph->functions[f].nr_places = 0;
	}
	append_places(t, true);
	append_places(t, false);
}

static int add_graph_function(const struct graph_writer *t, size_t number,
			      struct op_code_line *lines)
{
	const struct graph_function *f = &t->graph->functions[number];
	const uint32_t *places = t->places + f->first;
	const char *object = graph_text(t, f->object);
	struct op_code_function function = {
		.name = graph_text(t, f->name),
		.size = f->nr_places ?: 1,
		.is_own = true,
		.lines = lines,
	};

	for (uint32_t i = 0; i < f->nr_places; i++) {
		const struct graph_place *place = &t->graph->places[places[i]];

		lines[function.nr_lines++] = (struct op_code_line){
			.offset = i,
			.line = line_of_place(t, place),
			.file = graph_text(t, place->file),
		};
	}
	t->images[number] = opimport_profile_image(
		t->profile, *object || !t->app ? object : t->app);
	t->starts[number] = opimport_profile_function(
		t->profile, t->images[number], &function);
	for (uint32_t i = 0; i < f->nr_places; i++) {
		t->frames[places[i]] = t->starts[number];
		t->frames[places[i]].key += i;
	}
	return opimport_profile_error(t->profile);
}

static int add_graph_functions(const struct graph_writer *t)
{
	const struct opimport_graph *graph = t->graph;
	struct op_code_line *lines =
		calloc(graph->nr_places + 1, sizeof(*lines));
	int err = lines ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < graph->nr_functions; i++)
		err = add_graph_function(t, i, lines);
	free(lines);
	return err;
}

static void add_graph_cost(const struct graph_writer *t,
			   const struct graph_cost *cost)
{
	struct opimport_frame frames[2];
	struct opimport_stack stack = {
		.app = t->images[t->graph->places[cost->place].function],
		.tgid = t->tgid,
		.tid = t->tgid,
		.event = cost->event,
		.times = cost->count,
		.frames = frames,
	};

	if (t->app)
		stack.app = opimport_profile_image(t->profile, t->app);
	if (cost->callee != GRAPH_NO_CALLEE)
		frames[stack.nr++] = t->starts[cost->callee];
	frames[stack.nr++] = t->frames[cost->place];
	if (stack.nr == 1)
		opimport_profile_sample(t->profile, &stack);
	else
		opimport_profile_call(t->profile, &stack);
}

int opimport_graph_tell(const struct opimport_graph *graph,
			struct opimport_profile *profile, uint32_t tgid,
			const char *app)
{
	struct graph_writer t = {
		.graph = graph,
		.profile = profile,
		.tgid = tgid,
		.app = app,
		.places = calloc(graph->nr_places + 1, sizeof(*t.places)),
		.starts = calloc(graph->nr_functions + 1, sizeof(*t.starts)),
		.frames = calloc(graph->nr_places + 1, sizeof(*t.frames)),
		.images = calloc(graph->nr_functions + 1, sizeof(*t.images)),
	};
	int err = t.places && t.starts && t.frames && t.images ? 0 : -ENOMEM;

	if (!err) {
		sort_places(&t);
		err = add_graph_functions(&t);
	}
	for (size_t i = 0; !err && i < graph->nr_costs; i++) {
		const struct graph_cost *cost = &graph->costs[i];

		add_graph_cost(&t, cost);
		err = opimport_profile_error(profile);
	}
	free(t.places);
	free(t.starts);
	free(t.frames);
	free(t.images);
	return err;
}
