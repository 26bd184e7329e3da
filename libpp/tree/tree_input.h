/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TREE_TREE_INPUT_H
#define LIBPP_TREE_TREE_INPUT_H

/*
 * The call-tree files of one side of a report, for libpp alone: read, their
 * images told apart, their nodes turned into frames.
 */

#include "libdb/ctree.h"
#include "libpp/report/population.h"
#include "libpp/tree/tree_builder.h"

/* An image in one input. */
struct pp_tree_image {
	struct pp_image *image; /* one for all files of the side */
	uint32_t order; /* of that, by name */
	enum op_ledger_stacks gap; /* OP_STACKS_WHOLE: it is none */
	bool is_chosen; /* samples in it are asked for */
	const struct pp_sample_file *flat; /* for trees of all samples: where
					      the samples of the tree in it
					      are, too; or NULL */

	/* For totals of symbols and for calls. */
	const char *app; /* that has samples in it, as flat files have it */
	bool is_counted; /* flat files of its samples were chosen */
	bool has_calls; /* calls from it are asked for */
	uint32_t *nodes; /* in it, from 0, whose symbols are needed */
	uint32_t nr_nodes;
};

/* A part of the samples of a function: those that are in the same functions
 * inlined there. */
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

/* Needs of a frame: the symbol of the function that was called, and those of
 * the functions that were inlined where it calls others. */
enum {
	PP_NEEDS_FUNCTION = 1,
	PP_NEEDS_PLACE = 2,
};

/* A part of a call-tree file. */
struct pp_tree_input {
	const struct pp_sample_file *file;
	const struct pp_sample_part *part;
	size_t class_nr;
	struct ctree *tree;
	struct pp_tree_image *images; /* by number, from 0 */
	uint32_t *frames; /* for totals and calls, for each node from 0: a
			     number of pp_side.frame_symbols */
	uint8_t *needs; /* likewise: PP_NEEDS_ bits, 0 for no symbol at all */
	struct pp_tree_place **places; /* for trees, likewise: its frames */
	bool *is_chosen; /* likewise: samples in its image are asked for */
	uint32_t *folded_into; /* for each node from 1: the node that stands for
				  it, 0 for itself; NULL: none is folded */
};

/* Samples without a stack that are in the same functions. */
struct pp_stackless {
	const struct pp_sample_file *file;
	const uint32_t *frames; /* in the builder, the outermost first */
	uint32_t nr;
	uint64_t count;
};

struct pp_tree_inputs {
	struct pp_population *p;
	struct pp_side *side;
	struct pp_tree_input *list;
	size_t nr;
	struct pp_stackless *stackless; /* for trees of all samples */
	size_t nr_stackless;
	bool *is_named; /* for each file of the side: its samples were looked
			   at; likewise */
};

/*
 * Read the files that hold something of the report's classes; those that
 * cannot be used are said in a message. Returns 0 or -ENOMEM. To be released
 * either way.
 */
int pp_tree_inputs_read(struct pp_tree_inputs *in, struct pp_population *p,
			struct pp_side *side);
void pp_tree_inputs_release(struct pp_tree_inputs *in);

/* Set the report's stack_end, but by the earlier side of a comparison: it is
 * shown with the account of the later one. Returns 0 or -ENOMEM. */
int pp_tree_inputs_find_ends(const struct pp_tree_inputs *in);

/* Whether the specification asks for @image in @input, where what is in it is
 * kept under the application @app. */
bool pp_tree_input_matches(const struct pp_tree_inputs *in,
			   const struct pp_tree_input *input,
			   const struct pp_image *image, const char *app);

/*
 * Fold the frames of interpreters into what has called them, and the samples of
 * flat files with them, as names.fold_interpreters has it: the files of the
 * side may be others then. Returns 0 or -ENOMEM.
 */
int pp_tree_inputs_fold(struct pp_tree_inputs *in);

/*
 * Node @number of @input, from 1, as the report has it. Samples in a frame that
 * was folded are in a node beside that of the caller, at the same place; what
 * the frame called was called by that caller. Several nodes may be equal.
 */
static inline void pp_tree_input_node(const struct pp_tree_input *input,
				      uint32_t number, struct ctree_node *out)
{
	const uint32_t *into = input->folded_into;
	uint64_t count;

	ctree_node(input->tree, number, out);
	if (!into)
		return;
	if (into[number]) {
		count = out->count;
		ctree_node(input->tree, into[number], out);
		out->count = count;
	}
	if (into[out->parent])
		out->parent = into[out->parent];
}

/* The symbols that node @node of @input, from 1, is in; NULL if no symbol was
 * needed. */
static inline const struct pp_frame_symbols *
pp_tree_input_symbols(const struct pp_side *side,
		      const struct pp_tree_input *input, uint32_t node)
{
	uint32_t number = input->frames[node - 1];

	return number == PP_NO_SYMBOL ? NULL : &side->frame_symbols[number];
}

/* Whether calls from image @caller to image @callee of @tree, which are their
 * numbers, are asked for: with their application alone, if both ends are in it.
 */
bool pp_tree_input_has_call(const struct pp_tree_inputs *in,
			    const struct pp_tree_input *tree, uint32_t caller,
			    uint32_t callee);

/*
 * The next flat file of @list with samples in @image, which is that of a tree;
 * NULL behind the last. *@at is 0 at first. The list is sorted by image, as
 * pp_side_find() leaves it.
 */
const struct pp_sample_file *
pp_tree_next_flat_file(const struct pp_sample_list *list,
		       const struct pp_image *image, size_t *at);

/*
 * Samples of one flat file in one function, and samples of stacks that end
 * there, which are in that file, too.
 */
struct pp_flat_part {
	const struct pp_sample_file *file;
	uint64_t function; /* its key; UINT64_MAX for code in none */
	uint64_t key; /* of the samples; of stacks that of the function */
	uint64_t count;
	bool has_stack;
};

/* Leave in the counts of @parts, in any order, what has no stack: of stacks
 * nothing. Of each file that sums up to what its stacks do not have. Returns 0
 * or -ENOMEM. */
int pp_flat_parts_settle(struct pp_flat_part *parts, size_t nr);

/* The flat file of @list with the samples of @tree in @image; NULL if there is
 * none. */
const struct pp_sample_file *
pp_tree_flat_file(const struct pp_sample_list *list,
		  const struct pp_image *image,
		  const struct pp_sample_file *tree);

/* For trees of all samples: tell the images of all trees their flat files; a
 * stack that is in none was not chosen. */
void pp_tree_inputs_find_flat(struct pp_tree_inputs *in);

/* Find the frames of all nodes; each image is opened once. Returns 0 or
 * -errno. */
int pp_tree_inputs_name(struct pp_tree_inputs *in, struct pp_tree_builder *b);

#endif /* LIBPP_TREE_TREE_INPUT_H */
