// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads call-tree files and tells which images are in them. Each file has its
 * own table of images, by name and build; equal images of several files become
 * one struct pp_image, and images are numbered in the order of their names, so
 * that tree_names.c can open each once. A file that cannot be used is said in
 * a message and left out. Nothing of a node is looked at here but their
 * number.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_search.h"
#include "libop/session/op_tree_image.h"
#include "libpp/select/slices.h"
#include "libpp/tree/tree_input.h"

/* ---- images -------------------------------------------------------------- */

static struct pp_image *new_tree_image(struct pp_tree_inputs *in,
				       const struct op_tree_image *found)
{
	struct op_arena *arena = &in->p->report->arena;
	struct pp_image *image = op_arena_alloc(arena, 1, sizeof(*image));

	if (!image)
		return NULL;
	image->recorded = found->name;
	image->recorded.name = op_arena_strdup(arena, found->name.name);
	if (!image->recorded.name)
		return NULL;
	image->name = pp_image_name(arena, &image->recorded);
	if (!image->name ||
	    pp_side_name_module(in->side, &image->recorded, &image->name))
		return NULL;
	image->path = image->name;
	image->base = pp_base_name(image->name);
	image->kind = found->kind;
	image->build = ""; /* the two below tell it */
	image->mtime = found->mtime;
	image->anon_start = found->anon_start;
	image->build_id = found->build_id;
	return image;
}

bool pp_tree_input_matches(const struct pp_tree_inputs *in,
			   const struct pp_tree_input *input,
			   const struct pp_image *image, const char *app)
{
	struct pp_spec_subject subject = { .app = app,
					   .image = image->name,
					   .name = &input->file->name };
	char build[OP_BUILD_TEXT_MAX];

	op_build_text(build, &image->build_id, 0, 0, 0);
	subject.build = build;
	if (app == input->file->app && input->file->app_file)
		app = input->file->app_file;
	return pp_spec_matches(in->side->spec, &subject) &&
	       (!in->p->request->select.exclude_dependent ||
		!strcmp(app, image->name));
}

static int decode_tree_image(struct pp_tree_inputs *in,
			     struct pp_tree_input *input, uint32_t number,
			     struct op_diag *why)
{
	struct pp_tree_image *out = &input->images[number - 1];
	char name[OP_TREE_IMAGE_MAX];
	struct op_tree_image found;
	struct op_diag reason = { 0 };
	size_t len;
	const void *bytes = ctree_image_bytes(input->tree, number, &len);
	int err = op_tree_image_decode(&found, bytes, len, name, sizeof(name),
				       &reason);

	if (err)
		return op_diag_set(why, err, "%s: %s", input->part->label,
				   reason.text);
	out->image = new_tree_image(in, &found);
	if (!out->image)
		return -ENOMEM;
	out->gap = op_tree_image_class(&found);
	out->is_chosen =
		pp_tree_input_matches(in, input, out->image, input->file->app);
	return 0;
}

/* ---- files --------------------------------------------------------------- */

static int decode_tree(struct pp_tree_inputs *in, struct pp_tree_input *input,
		       struct op_diag *why)
{
	struct op_arena *arena = &in->p->report->arena;
	uint32_t nr_images = ctree_nr_images(input->tree);
	uint32_t nr_nodes = ctree_nr_nodes(input->tree);
	int err = op_sample_header_check(ctree_user(input->tree),
					 input->part->label, why);

	if (err)
		return err;
	input->images =
		op_arena_alloc(arena, nr_images, sizeof(*input->images));
	input->frames = op_arena_alloc(arena, nr_nodes, sizeof(*input->frames));
	input->places =
		op_arena_alloc(arena, nr_nodes, sizeof(struct pp_tree_place *));
	input->is_chosen =
		op_arena_alloc(arena, nr_nodes, sizeof(*input->is_chosen));
	if (!input->images || !input->frames || !input->places ||
	    !input->is_chosen)
		return -ENOMEM;
	for (uint32_t i = 1; i <= nr_images && !err; i++)
		err = decode_tree_image(in, input, i, why);
	return err;
}

/* Let the nodes of @input have what came in the column of its session. */
static int keep_counts_of_time(struct pp_tree_input *input)
{
	const struct pp_session *column = input->file->session;
	struct pp_slices *slices = column->slices;
	uint64_t seed = slices->timeline.head.seed;
	uint64_t file = timeline_file(seed, input->file->parts->member.name);
	uint64_t *out = calloc(slices->nr_columns, sizeof(*out)), *ids = NULL;
	int err = out ? timeline_tree_ids(input->tree, seed, file, &ids)
		      : -ENOMEM;

	for (uint32_t i = 1; !err && i <= ctree_nr_nodes(input->tree); i++) {
		struct ctree_node node;

		ctree_node(input->tree, i, &node);
		if (!node.count)
			continue;
		pp_slices_split(slices, ids[i], node.count, out);
		ctree_set_count(input->tree, i, out[column->slice_column]);
	}
	free(ids);
	free(out);
	return err;
}

/* Open what is to be read. An empty file is new, its header may not be there
 * yet. */
static int read_tree_part(struct pp_tree_inputs *in,
			  struct pp_tree_input *input)
{
	struct op_diag why = { 0 };
	int err = pp_sample_part_tree(&in->side->list, input->file, input->part,
				      &input->tree, &why);
	bool is_open = !err;

	if (!err && ctree_is_torn(input->tree))
		pp_message_of_torn(&in->p->report->messages,
				   input->part->label);
	if (!err && ctree_nr_nodes(input->tree)) {
		err = decode_tree(in, input, &why);
		if (!err && input->file->session->slices)
			err = keep_counts_of_time(input);
		if (!err) {
			in->list[in->nr++] = *input;
			return 0;
		}
	}
	if (is_open)
		ctree_close(input->tree);
	if (err && err != -ENOMEM)
		pp_message_of_error(&in->p->report->messages, err,
				    "%s; left out",
				    *why.text ? why.text : input->part->label);
	return err == -ENOMEM ? err : 0;
}

static int read_tree_file(struct pp_tree_inputs *in,
			  const struct pp_sample_file *file)
{
	int class = pp_class_find(&in->side->classes, file,
				  pp_class_merge(in->p->request));
	int err = 0;

	if (class < 0)
		return 0;
	if (file->session->slices)
		err = pp_slices_begin_round(file->session->slices);
	for (const struct pp_sample_part *part = file->parts; part && !err;
	     part = part->next) {
		struct pp_tree_input input = { .file = file,
					       .part = part,
					       .class_nr = (size_t) class };

		err = read_tree_part(in, &input);
	}
	return err;
}

/* ---- one for all files --------------------------------------------------- */

static int compare_image_builds(const struct pp_image *a,
				const struct pp_image *b)
{
	return strcmp(a->name, b->name) ?: (int)a->kind - (int)b->kind ?:
	       memcmp(a->build_id.bytes, b->build_id.bytes,
		      sizeof(a->build_id.bytes)) ?:
	       (a->build_id.len ? 0 : op_compare(a->mtime, b->mtime));
}

static int compare_tree_images(const void *a, const void *b)
{
	const struct pp_tree_image *const *x = a, *const *y = b;

	return compare_image_builds((*x)->image, (*y)->image);
}

/* Let equal images of several files be the same, and order them. */
static int unite_tree_images(struct pp_tree_inputs *in)
{
	struct pp_tree_image **all;
	size_t nr = 0;

	for (size_t i = 0; i < in->nr; i++)
		nr += ctree_nr_images(in->list[i].tree);
	all = calloc(nr + 1, sizeof(struct pp_tree_image *));
	if (!all)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < in->nr; i++)
		for (uint32_t j = 0; j < ctree_nr_images(in->list[i].tree); j++)
			all[nr++] = &in->list[i].images[j];
	qsort(all, nr, sizeof(struct pp_tree_image *), compare_tree_images);
	for (size_t i = 1; i < nr; i++) {
		bool same =
			!compare_image_builds(all[i]->image, all[i - 1]->image);

		all[i]->order = all[i - 1]->order + !same;
		if (same)
			all[i]->image = all[i - 1]->image;
	}
	free(all);
	return 0;
}

int pp_tree_inputs_read(struct pp_tree_inputs *in, struct pp_population *p,
			struct pp_side *side)
{
	const struct pp_sample_list *list = &side->list;
	size_t room = 0;
	int err = 0;

	*in = (struct pp_tree_inputs){ .p = p, .side = side };
	for (size_t i = 0; i < list->nr_trees; i++)
		for (const struct pp_sample_part *part = list->trees[i].parts;
		     part; part = part->next)
			room++;
	in->list = op_arena_alloc(&p->report->arena, room, sizeof(*in->list));
	if (!in->list)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr_trees && !err; i++)
		err = read_tree_file(in, &list->trees[i]);
	return err ?: unite_tree_images(in) ?: pp_tree_inputs_fold(in);
}

void pp_tree_inputs_release(struct pp_tree_inputs *in)
{
	for (size_t i = 0; i < in->nr; i++)
		ctree_close(in->list[i].tree);
	free(in->stackless);
}
