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
struct pp_tree_image; /* libpp/tree/tree_input.h */
struct pp_tree_input;

/*
 * A place in an image: a count of a sample file, with the column that it
 * belongs to; or an end of an arc or a node of a call tree, which count
 * nothing, with the place for the number of its symbol.
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

/* An image and a file with places in it. */
struct pp_use {
	struct pp_image *image;
	const char *app;
	const struct pp_sample_file *file;
	size_t nr_points;
	uint64_t (*key)(const struct pp_use *use, size_t i); /* of a point */
	void (*put)(struct pp_point *points, const struct pp_use *use);

	/* The rest is for parts of the report with places of their own. */
	bool is_of_user;
	uint32_t *ends; /* of arcs */
	unsigned int shift; /* of the keys of these ends */
	const struct pp_tree_input *tree;
	const struct pp_tree_image *tree_image; /* the image in it */
};

/* Note the runtimes whose functions have no names in report->missing. */
void pp_note_runtimes(struct pp_report *report, const struct pp_use *uses,
		      size_t nr);

/* The names of a symbol, in the report's arena. */
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

/*
 * A part of the report that needs more than the table of symbols: the symbols
 * of places of its own, or of all samples. The search for symbols knows no more
 * of it than this. Functions that may be NULL are marked; the others return 0
 * or -ENOMEM.
 */
struct pp_symbol_user {
	/* Add uses that the part makes of images, no more than nr_uses says,
	 * behind those that are there. Both may be NULL. */
	size_t (*nr_uses)(const struct pp_side *side);
	int (*add_uses)(struct pp_population *p, struct pp_side *side,
			struct pp_use *uses, size_t *nr);
	/* The next symbol has the number @nr. May be NULL. */
	int (*take_symbol)(const struct pp_batch *b, size_t nr);
	/* The entries of all owners of @point are known. @before is the point
	 * before it, in the order of keys within an owner, or NULL. */
	int (*take_point)(const struct pp_batch *b,
			  const struct pp_point *point,
			  const struct pp_point *before);
	/* Builds were added up: symbol number i of @nr has become part of
	 * symbol @into[i]. May be NULL. */
	int (*renumber)(struct pp_side *side, const uint32_t *into, size_t nr);
};

extern const struct pp_symbol_user pp_tree_user; /* tree_points.c */
extern const struct pp_symbol_user pp_totals_user; /* total_points.c */
extern const struct pp_symbol_user pp_calls_user; /* call_points.c */
extern const struct pp_symbol_user pp_lines_user; /* line_points.c */

/* Let a part know the symbols of @side. */
static inline void pp_side_add_user(struct pp_side *side,
				    const struct pp_symbol_user *user)
{
	side->users[side->nr_users++] = user;
}

/* The entry of owner @nr of @chain. */
static inline uint32_t pp_entry_in_chain(const struct pp_batch *b,
					 const struct pp_owner_chain *chain,
					 uint32_t nr)
{
	return b->entries[b->owners.chained[chain->first + nr]];
}

/* A part's numbers of symbols after builds were added up. */
static inline void pp_renumber(uint32_t *symbol, const uint32_t *into)
{
	if (*symbol != PP_NO_SYMBOL)
		*symbol = into[*symbol];
}

/* The places of the chain of @point: in each owner, where it has the one before
 * it inlined. NULL when memory is short. */
struct pp_place *pp_places_of_chain(const struct pp_batch *b,
				    const struct pp_point *point);

/* Add the symbols of @point to the side's frames, as number *@nr. Returns 0 or
 * -ENOMEM. */
int pp_add_frame(const struct pp_batch *b, const struct pp_point *point,
		 uint32_t *nr);

/* Set *@out to the *@nr uses that @side's files and users make of images, by
 * image and application; the caller frees them. Returns 0 or -ENOMEM. */
int pp_find_uses(struct pp_population *p, struct pp_side *side,
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

/* Add the entry for @nr points of owner @owner. Returns 0 or -ENOMEM. */
int pp_add_symbol_entry(const struct pp_batch *b, uint32_t owner,
			const struct pp_point *points, size_t nr);

#endif /* LIBPP_REPORT_POPULATE_SYMBOLS_H */
