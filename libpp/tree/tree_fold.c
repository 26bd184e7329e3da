// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The language view of call trees. An interpreter runs the functions of its
 * language by C functions of its own, which are between these on stacks, and
 * have the samples:
 *
 *	main [7.jo] > eval > call > work [7.jo] > eval > add
 *	main [7.jo] > work [7.jo]
 *
 * The second line is the view: below a function of its language, the frames of
 * the interpreter are folded into what has called them. That is mostly such a
 * function, or else one of another library (an extension), so functions keep
 * their totals. Code with names (PID.jo) is of the language whose runtime is
 * next above it on the stack: several may be in one process.
 *
 * Flat files have the same samples without their stacks, by address, where
 * stacks have the function alone. So what stacks say of a function of the
 * interpreter is moved away from all its addresses in proportion, and to the
 * address at which the other function has called the interpreter.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libop/image/op_runtime.h"
#include "libop/session/op_code_image.h"
#include "libpp/tree/tree_input.h"

/* ---- nodes --------------------------------------------------------------- */

/* An image's part in languages, which are bits by their places in
 * the table of runtimes. */
struct language_image {
	bool has_functions; /* whose names were given at run time */
	const struct op_runtime *runtime; /* whose program it is, or NULL */
	uint32_t language; /* of that; 0 for none */
};

/* Functions below an incomplete part of a stack may be of any language. */
#define ANY_LANGUAGE UINT32_MAX

struct folding {
	struct pp_tree_inputs *in;
	struct pp_tree_input *input; /* the tree being folded ... */
	struct language_image *images; /* ... with its images from 1 ... */
	uint32_t *own; /* ... and for each node the language that it is a
			  function of ... */
	uint32_t *above; /* ... and those of all functions above it and its
			    own */
	struct moved *moved;
	size_t nr_moved;
	struct pp_sample_file *added; /* flat files that are new */
	size_t nr_added;
};

/* Samples of one tree at one place of a flat file. */
struct moved {
	const struct pp_sample_file *flat;
	uint64_t function; /* that they are in: its key */
	uint64_t count;
	const struct pp_sample_file *tree;
	struct pp_image *to; /* that they move to; NULL: they stay */
	uint64_t to_key;
};

static uint32_t language_of_runtime(const struct op_runtime *runtime)
{
	const struct op_runtime *at;

	for (uint32_t i = 0; i < 32 && (at = op_runtime_at(i)); i++)
		if (at == runtime)
			return 1u << i;
	return 0;
}

/* Tell what the images of the tree are. Returns whether any frame of it may be
 * folded. */
static bool look_at_images(struct folding *f)
{
	bool has_functions = false, has_interpreter = false;

	for (uint32_t i = 1; i <= ctree_nr_images(f->input->tree); i++) {
		const struct pp_tree_image *image = &f->input->images[i - 1];
		struct language_image *is = &f->images[i];

		if (image->gap || image->image->kind != OP_IMAGE_FILE)
			continue;
		is->has_functions =
			op_code_image_is_of_process(image->image->path);
		is->runtime = op_runtime_of_file(image->image->path);
		if (is->runtime)
			is->language = language_of_runtime(is->runtime);
		has_functions |= is->has_functions;
		has_interpreter |= is->runtime && is->runtime->names_all;
	}
	return has_functions && has_interpreter;
}

/* The language of the function @node, which is in code with names. */
static uint32_t language_of_node(const struct folding *f,
				 const struct ctree_node *node)
{
	struct ctree_node caller;

	if (node->parent == CTREE_ROOT)
		return ANY_LANGUAGE;
	ctree_node(f->input->tree, node->parent, &caller);
	if (f->input->images[caller.image - 1].gap)
		return ANY_LANGUAGE;
	return f->images[caller.image].has_functions
		       ? f->own[node->parent]
		       : f->images[caller.image].language;
}

/* The node that @node, which is of an interpreter of @language, is folded into;
 * 0 for none. Functions of other languages do not run in this interpreter. */
static uint32_t caller_to_fold_into(const struct folding *f,
				    const struct ctree_node *node,
				    uint32_t language)
{
	uint32_t at = f->input->folded_into[node->parent] ?: node->parent;
	const struct pp_tree_image *images = f->input->images;
	struct ctree_node caller;

	if (!(f->above[at] & language) ||
	    (f->own[at] && !(f->own[at] & language)))
		return 0;
	ctree_node(f->input->tree, at, &caller);
	/* A part of the samples may be asked for. */
	return images[caller.image - 1].is_chosen ==
			       images[node->image - 1].is_chosen
		       ? at
		       : 0;
}

static int note_folded(struct pp_report *report,
		       const struct op_runtime *runtime)
{
	struct pp_missing *missing = &report->missing;
	const struct op_runtime **all;

	for (size_t i = 0; i < missing->nr_folded; i++)
		if (missing->folded[i] == runtime)
			return 0;
	all = op_arena_grow(&report->arena, missing->folded, missing->nr_folded,
			    sizeof(const struct op_runtime *));
	if (!all)
		return -ENOMEM;
	missing->folded = all;
	all[missing->nr_folded++] = runtime;
	return 0;
}

/* Parents have lower numbers than their children. */
static int fold_nodes(struct folding *f)
{
	struct pp_tree_input *input = f->input;
	int err = 0;

	for (uint32_t i = 1; i <= ctree_nr_nodes(input->tree) && !err; i++) {
		const struct op_runtime *runtime;
		struct ctree_node node;

		ctree_node(input->tree, i, &node);
		runtime = f->images[node.image].runtime;
		if (f->images[node.image].has_functions)
			f->own[i] = language_of_node(f, &node);
		f->above[i] = f->above[node.parent] | f->own[i];
		if (runtime && runtime->names_all && !f->own[i])
			input->folded_into[i] = caller_to_fold_into(
				f, &node, f->images[node.image].language);
		if (input->folded_into[i])
			err = note_folded(f->in->p->report, runtime);
	}
	return err;
}

/* ---- samples that stacks say are in an interpreter ----------------------- */

/* Note the samples of the tree in images of interpreters, moved or not: these
 * tell where functions begin. */
static int note_samples(struct folding *f,
			const struct pp_sample_file *const *flat)
{
	const struct pp_tree_input *input = f->input;

	for (uint32_t i = 1; i <= ctree_nr_nodes(input->tree); i++) {
		uint32_t into = input->folded_into[i];
		struct ctree_node node, caller;
		struct moved moved = { .tree = input->file };

		ctree_node(input->tree, i, &node);
		if (!node.count || !flat[node.image])
			continue;
		moved.flat = flat[node.image];
		moved.function = node.offset;
		moved.count = node.count;
		if (into) {
			ctree_node(input->tree, into, &caller);
			moved.to = input->images[caller.image - 1].image;
			moved.to_key = caller.offset;
		}
		if (op_array_reserve(&f->moved, f->nr_moved, 1))
			return -ENOMEM;
		f->moved[f->nr_moved++] = moved;
	}
	return 0;
}

/* Find the flat files of interpreters, if the report reads flat files. */
static int note_samples_of_tree(struct folding *f)
{
	const struct pp_tree_input *input = f->input;
	uint32_t nr = ctree_nr_images(input->tree);
	const struct pp_sample_file **flat =
		calloc((size_t)nr + 1, sizeof(const struct pp_sample_file *));
	int err;

	if (!flat)
		return -ENOMEM;
	for (uint32_t i = 1; i <= nr; i++) {
		const struct op_runtime *runtime = f->images[i].runtime;

		if (!runtime || !runtime->names_all)
			continue;
		flat[i] = pp_tree_flat_file(&f->in->side->list,
					    input->images[i - 1].image,
					    input->file);
		if (flat[i] && !flat[i]->samples)
			flat[i] = NULL;
	}
	err = note_samples(f, flat);
	free(flat);
	return err;
}

static int fold_tree(struct folding *f, struct pp_tree_input *input)
{
	uint32_t nr = ctree_nr_nodes(input->tree);
	int err = 0;

	f->input = input;
	f->images = calloc((size_t)ctree_nr_images(input->tree) + 1,
			   sizeof(*f->images));
	if (!f->images)
		return -ENOMEM;
	if (look_at_images(f)) {
		f->own = calloc((size_t)nr + 1, sizeof(*f->own));
		f->above = calloc((size_t)nr + 1, sizeof(*f->above));
		input->folded_into =
			op_arena_alloc(&f->in->p->report->arena, (size_t)nr + 1,
				       sizeof(*input->folded_into));
		err = f->own && f->above && input->folded_into
			      ? fold_nodes(f) ?: note_samples_of_tree(f)
			      : -ENOMEM;
		free(f->own);
		free(f->above);
	}
	free(f->images);
	return err;
}

/* ---- flat files: away from interpreters ---------------------------------- */

static int compare_moved_from(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	return op_compare((uintptr_t)x->flat, (uintptr_t)y->flat)
		       ?: op_compare(x->function, y->function);
}

static int compare_keys(const void *a, const void *b)
{
	const struct pp_sample *x = a, *y = b;

	return op_compare(x->key, y->key);
}

/* Take @count samples, no more than there are, from all of @samples in
 * proportion. */
static void take_in_proportion(struct pp_sample *samples, size_t nr,
			       uint64_t count)
{
	uint64_t all = 0, taken = 0;
	double before = 0;

	for (size_t i = 0; i < nr; i++)
		all = pp_add_counts(all, samples[i].count);
	for (size_t i = 0; i < nr; i++) {
		uint64_t until, part;

		before += (double)samples[i].count;
		until = before < (double)all
				? (uint64_t)nearbyint((double)count *
						      (before / (double)all))
				: count;
		if (until > count)
			until = count;
		part = until > taken ? until - taken : 0;
		if (part > samples[i].count)
			part = samples[i].count;
		samples[i].count -= part;
		taken += part;
	}
	/* Rounding may ask a place for more than it has. */
	for (size_t i = 0; i < nr && taken < count; i++) {
		uint64_t part = count - taken;

		if (part > samples[i].count)
			part = samples[i].count;
		samples[i].count -= part;
		taken += part;
	}
}

/* Samples of @file, sorted by key, from @key to before @end. */
static uint64_t take_from_function(const struct pp_sample_file *file,
				   uint64_t key, uint64_t end, uint64_t count)
{
	struct pp_sample *samples = file->samples;
	size_t first = OP_BISECT(i, file->nr_samples, samples[i].key < key);
	size_t last = OP_BISECT(i, file->nr_samples, samples[i].key < end);
	uint64_t all = 0;

	for (size_t i = first; i < last; i++)
		all = pp_add_counts(all, samples[i].count);
	if (count > all)
		count = all;
	take_in_proportion(samples + first, last - first, count);
	return count;
}

/* Let the moved samples be @count fewer. */
static void move_fewer(struct moved *moved, size_t nr, uint64_t count)
{
	while (nr-- && count) {
		uint64_t part = moved[nr].to ? moved[nr].count : 0;

		if (part > count)
			part = count;
		moved[nr].count -= part;
		count -= part;
	}
}

/* Count the samples that are left. */
static void count_samples_left(struct pp_sample_file *file)
{
	size_t kept = 0;
	uint64_t total = 0;

	for (size_t i = 0; i < file->nr_samples; i++) {
		if (!file->samples[i].count)
			continue;
		total = pp_add_counts(total, file->samples[i].count);
		file->samples[kept++] = file->samples[i];
	}
	file->nr_samples = kept;
	file->image->samples -= file->total - total;
	file->total = total;
}

/* @moved are the samples of @file, by function. Files have all samples of
 * stacks unless they are damaged; what they lack is not moved. */
static void take_from_file(struct pp_sample_file *file, struct moved *moved,
			   size_t nr)
{
	qsort(file->samples, file->nr_samples, sizeof(*file->samples),
	      compare_keys);
	for (size_t i = 0, end; i < nr; i = end) {
		uint64_t count = 0, taken;

		for (end = i;
		     end < nr && moved[end].function == moved[i].function;
		     end++)
			if (moved[end].to)
				count = pp_add_counts(count, moved[end].count);
		taken = take_from_function(
			file, moved[i].function,
			end < nr ? moved[end].function : UINT64_MAX, count);
		move_fewer(moved + i, end - i, count - taken);
	}
	count_samples_left(file);
}

/* ---- flat files: to callers ------------------------------------------------
 */

static int compare_moved_to(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	return op_compare((uintptr_t)x->to, (uintptr_t)y->to) ?:
	       op_compare((uintptr_t)x->tree, (uintptr_t)y->tree) ?:
	       op_compare((uintptr_t)x->flat, (uintptr_t)y->flat) ?:
	       op_compare(x->to_key, y->to_key);
}

/* The image of the samples that @moved has, as flat files have it. */
static struct pp_image *flat_image(struct folding *f, const struct moved *moved)
{
	struct op_arena *arena = &f->in->p->report->arena;
	const struct pp_sample_file *file;
	char build[OP_BUILD_TEXT_MAX] = "";
	struct pp_image *image;
	size_t at = 0;

	file = pp_tree_next_flat_file(&f->in->side->list, moved->to, &at);
	if (file)
		return file->image;
	for (size_t i = 0; i < f->nr_added; i++)
		if (f->added[i].image->path == moved->to->path)
			return f->added[i].image;
	image = op_arena_alloc(arena, 1, sizeof(*image));
	if (!image)
		return NULL;
	*image = *moved->to;
	if (image->build_id.len || image->mtime)
		op_build_text(build, &image->build_id, 0, 0, image->mtime);
	image->build = op_arena_strdup(arena, build);
	return image->build ? image : NULL;
}

/* Whether samples in @flat, which are of stacks of @tree, are kept under their
 * image rather than under the application. */
static bool is_under_image(const struct pp_sample_file *flat,
			   const struct pp_sample_file *tree)
{
	return !strcmp(flat->name.app.name, flat->name.dep.name) &&
	       strcmp(flat->name.app.name, tree->name.app.name) != 0;
}

/* A flat file without samples, beside moved->flat, for the image that those
 * move to. */
static int make_flat_file(struct folding *f, const struct moved *moved,
			  struct pp_sample_file *out)
{
	const struct pp_sample_file *tree = moved->tree;
	struct pp_image *image = flat_image(f, moved);
	struct op_build_id id;

	if (!image)
		return -ENOMEM;
	id = image->build_id;
	*out = *moved->flat;
	out->image = image;
	out->image_name = image->name;
	out->build = image->build;
	out->name.dep = image->recorded;
	out->app = tree->app;
	out->app_file = tree->app_file;
	if (is_under_image(moved->flat, tree)) {
		out->name.app = image->recorded;
		out->app = image->name;
		out->app_file = NULL;
	}
	if (f->in->p->request->select.merge & PP_MERGE_LIB)
		out->app = image->name;
	out->path = op_arena_printf(&f->in->p->report->arena, "%s for %s",
				    image->path, moved->flat->path);
	out->header.kind = image->kind;
	out->header.mtime = image->mtime;
	out->header.anon_start = image->anon_start;
	out->header.build_id_len = id.len;
	memcpy(out->header.build_id, id.bytes, sizeof(out->header.build_id));
	out->samples = NULL;
	out->nr_samples = 0;
	out->total = 0;
	return out->path ? 0 : -ENOMEM;
}

/* The flat file that the samples of @moved go to. */
static struct pp_sample_file *find_target(struct folding *f,
					  const struct moved *moved)
{
	const struct pp_sample_list *list = &f->in->side->list;
	const struct pp_sample_file *file =
		pp_tree_flat_file(list, moved->to, moved->tree);
	struct pp_sample_file new;

	if (file)
		return &list->files[file - list->files];
	if (make_flat_file(f, moved, &new) ||
	    op_array_reserve(&f->added, f->nr_added, 1))
		return NULL;
	for (size_t i = 0; i < f->nr_added; i++) {
		file = &f->added[i];
		if (file->image == new.image && !strcmp(file->app, new.app) &&
		    file->class_nr == new.class_nr &&
		    file->session == new.session &&
		    file->name.tgid == new.name.tgid &&
		    file->name.tid == new.name.tid &&
		    file->name.cpu == new.name.cpu)
			return &f->added[i];
	}
	f->added[f->nr_added] = new;
	return &f->added[f->nr_added++];
}

/* Add @nr places with samples to @file, those of one key each after the other.
 */
static int add_to_file(struct folding *f, struct pp_sample_file *file,
		       const struct moved *moved, size_t nr)
{
	struct pp_sample *all = op_arena_alloc(
		&f->in->p->report->arena, file->nr_samples + nr, sizeof(*all));
	size_t first = file->nr_samples, at = first;

	if (!all)
		return -ENOMEM;
	if (first)
		memcpy(all, file->samples, first * sizeof(*all));
	for (size_t i = 0; i < nr; i++) {
		uint64_t count = moved[i].count;

		if (!count)
			continue;
		if (at == first || all[at - 1].key != moved[i].to_key)
			all[at++] = (struct pp_sample){ moved[i].to_key, 0 };
		all[at - 1].count = pp_add_counts(all[at - 1].count, count);
		file->total = pp_add_counts(file->total, count);
		file->image->samples =
			pp_add_counts(file->image->samples, count);
	}
	file->samples = all;
	file->nr_samples = at;
	return 0;
}

static int move_samples(struct folding *f)
{
	struct pp_side *side = f->in->side;
	struct moved *moved = f->moved;
	size_t nr = 0;
	int err = 0;

	if (f->nr_moved)
		qsort(moved, f->nr_moved, sizeof(*moved), compare_moved_from);
	for (size_t i = 0, end; i < f->nr_moved; i = end) {
		for (end = i;
		     end < f->nr_moved && moved[end].flat == moved[i].flat;)
			end++;
		take_from_file(
			&side->list.files[moved[i].flat - side->list.files],
			moved + i, end - i);
	}
	for (size_t i = 0; i < f->nr_moved; i++)
		if (moved[i].to && moved[i].count)
			moved[nr++] = moved[i];
	if (nr)
		qsort(moved, nr, sizeof(*moved), compare_moved_to);
	for (size_t i = 0, end; i < nr && !err; i = end) {
		struct pp_sample_file *file = find_target(f, &moved[i]);

		for (end = i; end < nr && moved[end].to == moved[i].to &&
			      moved[end].tree == moved[i].tree &&
			      moved[end].flat == moved[i].flat;)
			end++;
		err = file ? add_to_file(f, file, moved + i, end - i) : -ENOMEM;
	}
	if (!err && f->nr_added)
		err = pp_side_add_files(side, f->added, f->nr_added);
	return err;
}

int pp_tree_inputs_fold(struct pp_tree_inputs *in)
{
	struct folding f = { .in = in };
	int err = 0;

	if (!in->p->request->names.fold_interpreters)
		return 0;
	for (size_t i = 0; i < in->nr && !err; i++)
		err = fold_tree(&f, &in->list[i]);
	err = err ?: move_samples(&f);
	free(f.moved);
	free(f.added);
	return err;
}
