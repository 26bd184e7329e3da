/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TREE_INPUT_H
#define LIBPP_TREE_INPUT_H

/*
 * The call-tree files of one side of a report, for libpp alone: read, their
 * images told apart, their nodes turned into frames.
 */

#include "libdb/ctree.h"
#include "libpp/population.h"
#include "libpp/tree_builder.h"

#define PP_NO_SYMBOL UINT32_MAX

/* An image in one input. */
struct pp_tree_image {
	struct pp_image *image; /* one for all files of the side */
	uint32_t order; /* of that, by name */
	bool is_gap;
	bool is_chosen; /* samples in it are asked for */

	/* For totals of symbols. */
	const char *app; /* that has samples in it, as flat files have it */
	bool is_counted; /* flat files of its samples were chosen */
	const uint32_t *nodes; /* in it, from 0 */
	uint32_t nr_nodes;
};

/* Those samples of a function that are in the same functions inlined there. */
struct pp_tree_split {
	const uint32_t *frames; /* of these, the outermost first */
	uint32_t nr;
	bool is_wanted; /* the innermost, by its name */
	double share; /* of the samples of the function */
	double owed; /* samples that were not given to it yet, for rounding */
	uint64_t samples; /* of the stacks that are being added */
};

/* The frames of a place, the outermost first. */
struct pp_tree_place {
	const uint32_t *frames; /* in the builder */
	uint32_t nr;
	bool is_wanted; /* the innermost, by its name */
	struct pp_tree_split *splits; /* of a sampled function */
	uint32_t nr_splits; /* 0: all its samples are its own */
};

/* A part of a call-tree file. */
struct pp_tree_input {
	const struct pp_sample_file *file;
	const struct pp_sample_part *part;
	size_t class_nr;
	struct ctree *tree;
	struct pp_tree_image *images; /* by number, from 0 */
	uint32_t *frames; /* for totals, for each node from 0: a number of
			     pp_side.frame_symbols */
	struct pp_tree_place **places; /* for trees, likewise: its frames */
	bool *is_chosen; /* likewise: samples in its image are asked for */
};

struct pp_tree_inputs {
	struct pp_population *p;
	struct pp_side *side;
	struct pp_tree_input *list;
	size_t nr;
};

/*
 * Read the files that hold something of the report's classes; those that
 * cannot be used are said in a message. Returns 0 or -ENOMEM. To be released
 * either way.
 */
int pp_tree_inputs_read(struct pp_tree_inputs *in, struct pp_population *p,
			struct pp_side *side);
void pp_tree_inputs_release(struct pp_tree_inputs *in);

/*
 * The next flat file of @list with samples in @image, which is that of a tree;
 * NULL behind the last. *@at is 0 at first. The list is sorted by image, as
 * pp_side_find() leaves it.
 */
const struct pp_sample_file *
pp_tree_next_flat_file(const struct pp_sample_list *list,
		       const struct pp_image *image, size_t *at);

/* Find the frames of all nodes; each image is opened once. Returns 0 or
 * -errno. */
int pp_tree_inputs_name(struct pp_tree_inputs *in, struct pp_tree_builder *b);

#endif /* LIBPP_TREE_INPUT_H */
