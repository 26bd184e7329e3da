/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_POPULATE_SYMBOLS_H
#define LIBPP_REPORT_POPULATE_SYMBOLS_H

/*
 * For the parts that find which symbols samples are in: who uses which image
 * and with which counts (populate_uses.c), the entries of symbols
 * (populate_entries.c), and which entry each count belongs to
 * (populate_symbols.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpp/images/owners.h"
#include "libpp/report/population.h"

struct op_arena;

/*
 * One count of one sample file, with the column it belongs to; or an end of an
 * arc or a node of a call tree, which count nothing, with the place for the
 * number of its symbol.
 */
struct pp_point {
	uint64_t key;
	uint64_t count;
	unsigned int class_nr;
	uint32_t *symbol_nr;
	bool is_function; /* the start of a function: nothing is inlined */
	bool is_node; /* of a call tree */
	uint64_t weight; /* samples or calls here */
	struct pp_owner_chain chain; /* the owners of the place */
	uint64_t owner; /* the innermost */
};

/* What a file says about one image. */
struct pp_use {
	struct pp_image *image;
	const char *app;
	const struct pp_sample_file *file;
	uint32_t *ends; /* of a call graph */
	unsigned int shift; /* of the keys of these ends */
	const struct pp_tree_input *tree; /* of a call tree */
	const struct pp_tree_image *tree_image; /* likewise: the image in it */
};

/* What a symbol is called, in the report's arena. */
struct pp_entry_names {
	const char *raw; /* NULL: nobody asked yet */
	const char *shown;
};

/* The samples of one image that were taken for one application. */
struct pp_batch {
	struct pp_population *p;
	struct pp_side *side;
	struct pp_image_symbols *symbols;
	struct op_arena *places; /* names of source files; lives as long as
				    @symbols, which may outlive the report */
	const struct pp_image *image;
	struct pp_entry_names *names; /* of all symbols, for all applications;
				       NULL where there is just one */
	const char *app;
	struct pp_owners owners;
	uint32_t *entries; /* for each owner the number of its symbol */
};

/* Set *@out to the *@nr uses that @side's files make of images, by image and
 * application; the caller frees them. Returns 0 or -ENOMEM. */
int pp_find_uses(struct pp_population *p, const struct pp_side *side,
		 struct pp_use **out, size_t *nr);

/* All points of @nr uses by key; the caller frees them. NULL where memory is
 * short. */
struct pp_point *pp_gather_points(const struct pp_use *uses, size_t nr,
				  size_t *nr_points);

/* The keys of all points of @nr uses, ascending; the caller frees them. NULL
 * where memory is short. */
uint64_t *pp_gather_keys(const struct pp_use *uses, size_t nr, size_t *nr_keys);

/* Tell each of @nr points, which are in ascending order, its owners. Returns 0
 * or -ENOMEM; -EFBIG for too many. */
int pp_find_owners(struct pp_owners *owners, struct pp_point *points,
		   size_t nr);

/* Add the entry for @nr points of owner @owner, and tell ends of arcs its
 * number. Returns 0 or -ENOMEM. */
int pp_add_symbol_entry(const struct pp_batch *b, uint32_t owner,
			const struct pp_point *points, size_t nr);

#endif /* LIBPP_REPORT_POPULATE_SYMBOLS_H */
