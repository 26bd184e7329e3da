// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where samples are, as pprof has it: images are mappings, frames are
 * functions, and a frame with what was inlined there is a location. Each is
 * written when it is come to first.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/image/op_build_id.h"
#include "libpp/format/pprof.h"

#define PAGE_SIZE 4096

/* ---- mappings ------------------------------------------------------------ */

static void pprof_note_frame(struct pprof_mapping *mapping,
			     const struct pp_frame *frame)
{
	const struct pp_image *is = frame->binary, *was = mapping->binary;

	mapping->many_builds |= frame->many_builds ||
				(was && memcmp(&was->build_id, &is->build_id,
					       sizeof(is->build_id)) != 0);
	mapping->binary = is;
	mapping->has_sources |= frame->source != NULL;
	if (frame->vma + frame->size > mapping->end)
		mapping->end = frame->vma + frame->size;
}

/* Functions have names, also those of images without symbols: nobody is to look
 * for better ones in the binaries. */
static void pprof_put_mapping(struct pprof *w, uint32_t number)
{
	const struct pprof_mapping *of = &w->mappings[number];
	const struct pp_image *binary = of->binary;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	char text[OP_BUILD_TEXT_MAX];

	mapping.id = number + 1;
	mapping.memory_limit = of->end > UINT64_MAX - PAGE_SIZE
				       ? UINT64_MAX
				       : (of->end / PAGE_SIZE + 1) * PAGE_SIZE;
	mapping.has_functions = true;
	mapping.has_filenames = of->has_sources;
	mapping.has_inline_frames = true;
	mapping.filename = pprof_stream_string(&w->s, binary->path);
	if (!of->many_builds && binary->build_id.len)
		mapping.build_id = pprof_stream_string(
			&w->s,
			op_arena_strdup(&w->s.arena,
					op_build_id_text(binary->build_id.bytes,
							 binary->build_id.len,
							 text)));
	piece.n_mapping = 1;
	piece.mapping = &mappings;
	pprof_stream_put(&w->s, &piece);
}

/* Readers take the first mapping for the program: that with most samples. */
void pprof_put_mappings(struct pprof *w)
{
	const struct pp_report *report = w->report;
	const char *program =
		report->summary.nr_apps ? report->summary.apps[0].name : "";
	const struct pp_tree *tree = w->tree;

	for (uint32_t i = 0; i < tree->nr_frames; i++)
		if (tree->frames[i].binary)
			pprof_note_frame(&w->mappings[w->images.of_frame[i]],
					 &tree->frames[i]);
	for (int others = 0; others < 2; others++)
		for (uint32_t i = 0; i < w->images.nr; i++)
			if (w->mappings[i].binary &&
			    !strcmp(w->images.names[i], program) == !others)
				pprof_put_mapping(w, i);
}

/* ---- locations ----------------------------------------------------------- */

static void pprof_put_function(struct pprof *w, uint32_t number)
{
	const struct pp_frame *frame = &w->tree->frames[number];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Function *functions = &function;

	if (w->has_function[number])
		return;
	w->has_function[number] = true;
	function.id = (uint64_t)number + 1;
	function.name = pprof_stream_string(&w->s, frame->name);
	function.system_name =
		pprof_stream_string(&w->s, frame->raw_name ?: frame->name);
	function.filename = pprof_stream_string(&w->s, frame->source);
	function.start_line = frame->source ? frame->line : 0;
	piece.n_function = 1;
	piece.function = &functions;
	pprof_stream_put(&w->s, &piece);
}

/* A line for each function, from the innermost out to the one with an address.
 */
static void pprof_put_location(struct pprof *w, uint32_t number)
{
	const struct pprof_location *at = &w->locations[number];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations;
	Pprof__Line *lines = NULL, **pointers = NULL;
	const struct pp_frame *frame;
	size_t nr = 1;

	for (; at->outer; nr++)
		at = &w->locations[at->outer - 1];
	frame = &w->tree->frames[at->frame];
	lines = calloc(nr, sizeof(*lines));
	pointers = calloc(nr, sizeof(Pprof__Line *));
	if (!lines || !pointers)
		w->s.err = -ENOMEM;
	at = &w->locations[number];
	for (size_t i = 0; i < nr && !w->s.err; i++) {
		pprof__line__init(&lines[i]);
		lines[i].function_id = (uint64_t)at->frame + 1;
		pointers[i] = &lines[i];
		pprof_put_function(w, at->frame);
		at = at->outer ? &w->locations[at->outer - 1] : at;
	}
	location.id = (uint64_t)number + 1;
	location.address = frame->vma;
	if (frame->binary)
		location.mapping_id =
			(uint64_t)w->images.of_frame[frame - w->tree->frames] +
			1;
	location.n_line = nr;
	location.line = pointers;
	locations = &location;
	piece.n_location = 1;
	piece.location = &locations;
	if (!w->s.err)
		pprof_stream_put(&w->s, &piece);
	free(lines);
	free(pointers);
}

uint32_t pprof_locate(struct pprof *w, uint32_t frame, uint32_t outer)
{
	uint32_t number;
	uint64_t hash;

	w->s.err = w->s.err
			   ?: op_hash_reserve(&w->index, w->nr_locations + 1) ?:
			      op_array_reserve(&w->locations, w->nr_locations, 1);
	if (w->s.err)
		return 0;
	hash = op_hash_mix(w->index.seed, (uint64_t)outer << 32 | frame);
	op_hash_each(&w->index, hash, number)
		if (w->locations[number - 1].frame == frame &&
		    w->locations[number - 1].outer == outer)
			return number - 1;
	w->locations[w->nr_locations++] = (struct pprof_location){
		.frame = frame,
		.outer = outer,
	};
	op_hash_add(&w->index, hash, w->nr_locations);
	pprof_put_location(w, w->nr_locations - 1);
	return w->nr_locations - 1;
}

void pprof_locate_node(struct pprof *w, uint32_t node)
{
	const struct pp_tree_node *is = &w->tree->nodes[node];
	bool is_part = is->is_inlined && !pprof_is_root(w, is->parent);

	if (!pprof_is_root(w, node))
		w->location_of[node] = pprof_locate(
			w, is->frame,
			is_part ? w->location_of[is->parent] + 1 : 0);
}
