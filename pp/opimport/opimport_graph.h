/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_GRAPH_H
#define PP_OPIMPORT_OPIMPORT_GRAPH_H

/*
 * A profile whose stacks nobody kept: functions with their lines, the samples
 * of each line, and the calls from a line to a function with the samples below
 * them. All of it is collected first and then told to a profile
 * (pp/opimport/opimport_profile.h), which has to know the lines of a function
 * before it is told of one of them.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_strings.h"
#include "pp/opimport/opimport_profile.h"

/* Strings are numbers in @strings of the graph. */
struct graph_function {
	uint32_t object; /* name of the image; "": that of the application */
	uint32_t file; /* its source file */
	uint32_t name;
	uint32_t nr_places;
	uint32_t first; /* of its places in the order of functions */
};

struct graph_place {
	uint32_t function;
	uint32_t file;
	uint32_t line; /* 0: not known */
};

/* Samples, or a call. */
struct graph_cost {
	uint32_t place;
	uint32_t callee; /* a function; GRAPH_NO_CALLEE: samples */
	uint32_t event;
	uint64_t count;
};

#define GRAPH_NO_CALLEE UINT32_MAX

struct opimport_graph {
	struct op_arena arena; /* of the strings */
	struct op_strings strings;
	struct graph_function *functions;
	size_t nr_functions;
	struct op_hash functions_by_name; /* from 1 */
	struct graph_place *places;
	size_t nr_places;
	struct op_hash places_by_line; /* from 1 */
	struct graph_cost *costs;
	size_t nr_costs;
};

void opimport_graph_init(struct opimport_graph *graph);
void opimport_graph_release(struct opimport_graph *graph);

/* The number of a string, of a function, or of a place in it. Each returns 0,
 * -ENOMEM, or -EFBIG where there are too many. */
int opimport_graph_string(struct opimport_graph *graph, const char *text,
			  uint32_t *number);
int opimport_graph_function(struct opimport_graph *graph, uint32_t object,
			    uint32_t file, uint32_t name, uint32_t *number);
int opimport_graph_place(struct opimport_graph *graph, uint32_t function,
			 uint32_t file, uint32_t line, uint32_t *number);

/* Add @cost, unless its count is 0. Returns 0 or -ENOMEM. */
int opimport_graph_cost(struct opimport_graph *graph,
			const struct graph_cost *cost);

/*
 * Tell @profile all of it; its events are there. The application is image @app;
 * NULL: that which a sample is in. So is the image of functions without object.
 * The process is @tgid, 0: not known.
 * Returns 0 or -errno.
 */
int opimport_graph_tell(const struct opimport_graph *graph,
			struct opimport_profile *profile, uint32_t tgid,
			const char *app);

#endif /* PP_OPIMPORT_OPIMPORT_GRAPH_H */
