/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_PPROF_H
#define LIBPP_FORMAT_PPROF_H

/*
 * A report on its way into a file of pprof, for format_pprof.c and pprof_*.c
 * alone. The first error is in pprof.s.err, and nothing is written after it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"
#include "libpp/format/format.h"
#include "libpp/format/frame_images.h"
#include "libpp/format/pprof_stream.h"

/* An event that is counted: one or two values of each sample. */
struct pprof_event {
	const struct pp_class *class; /* the first one of it */
	uint64_t factor; /* what a sample stands for; 0 not known */
	const char *unit; /* of that */
	size_t value; /* number of its first value */
};

/* A frame and what it was inlined into. */
struct pprof_location {
	uint32_t frame;
	uint32_t outer; /* a location plus 1; 0: it was called */
};

/* An image, with all that its frames tell. */
struct pprof_mapping {
	const struct pp_image *binary; /* of some frame; NULL: of none */
	uint64_t end; /* behind its last function */
	bool many_builds, has_sources;
};

struct pprof {
	struct pprof_stream s;
	const struct pp_format_options *options;
	const struct pp_report *report;
	const struct pp_tree *tree;
	struct pp_frame_images images;
	struct pprof_mapping *mappings; /* for each of them */
	bool *has_function; /* for each frame: it was written */
	struct pprof_event *events;
	size_t nr_events, nr_values;
	size_t *event_of; /* for each class */
	struct pprof_location *locations; /* an op_array */
	uint32_t nr_locations;
	struct op_hash index; /* of them, numbers plus 1 */
	uint32_t *location_of; /* for each node: a number */
	uint64_t *stack; /* room for all nodes */
	int64_t *values;
};

/* ---- values -------------------------------------------------------------- */

/* Tell events apart; classes may differ in other ways. */
void pprof_find_events(struct pprof *w);

/* Write what values samples have: of one event "samples" and "EVENT", of
 * several "samples:EVENT" and "EVENT" for each. */
void pprof_put_types(struct pprof *w);

/* Fill w->values with the @counts of the classes from @first on that are of the
 * same session. Returns whether there is any sample. */
bool pprof_find_values(struct pprof *w, const uint64_t *counts, size_t first);

/* ---- places -------------------------------------------------------------- */

/* Write the images of all frames. */
void pprof_put_mappings(struct pprof *w);

/* The location of @frame, inlined into the location @outer less 1 (0: called);
 * a new one is written. */
uint32_t pprof_locate(struct pprof *w, uint32_t frame, uint32_t outer);

/* Find that of @node, whose parent has one, unless it is a root. */
void pprof_locate_node(struct pprof *w, uint32_t node);

static inline bool pprof_is_root(const struct pprof *w, uint32_t node)
{
	uint32_t frame = w->tree->nodes[node].frame;

	return w->tree->frames[frame].kind == PP_FRAME_ROOT;
}

#endif /* LIBPP_FORMAT_PPROF_H */
