// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The images of callees. A call-graph file is about the callers' image, like a
 * file of samples; it names the callees' image and its build, but which image
 * of the report that is has to be found among those that other files are
 * about: one of the same application if there is any, because a program may
 * run an old and a new build of a library at once. Where no chosen file is
 * about it, files that were not chosen are asked, and else the image is made
 * of the little that the call-graph file says. Files about one build get one
 * image.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_search.h"
#include "libpp/report/population.h"

/* The build of @file's callees, in the members of a header where a file about
 * these callees has its own build. */
static struct op_sample_header callee_header(const struct pp_sample_file *file)
{
	struct op_sample_header header = {
		.mtime = file->header.cg_mtime,
		.build_id_len = file->header.cg_build_id_len,
	};

	memcpy(header.build_id, file->header.cg_build_id,
	       sizeof(header.build_id));
	return header;
}

/* Whether samples of build @have may be the callees of build @want; files that
 * were imported do not tell. */
static bool may_be_build(const char *want, const char *have)
{
	return !*want || !strcmp(want, have);
}

/*
 * A file about the image of @file's callees, one of the same application if
 * there is any; NULL if there is none. The files are sorted by image.
 */
static const struct pp_sample_file *
find_file_of_callees(const struct pp_sample_list *list,
		     const struct pp_sample_file *file)
{
	const struct pp_sample_file *best = NULL;

	for (size_t i = OP_BISECT(at, list->nr,
				  strcmp(list->files[at].image_name,
					 file->callee_name) < 0);
	     i < list->nr; i++) {
		const struct pp_sample_file *other = &list->files[i];

		if (strcmp(other->image_name, file->callee_name))
			break;
		if (!may_be_build(file->callee_build, other->build))
			continue;
		if (!strcmp(other->app, file->app))
			return other;
		if (!best)
			best = other;
	}
	return best;
}

static enum op_image_kind kind_of_image_name(const struct op_image_name *name)
{
	if (name->space == OP_SPACE_ROOT)
		return OP_IMAGE_FILE;
	if (name->space == OP_SPACE_ANON)
		return OP_IMAGE_ANON;
	if (*name->name == '[')
		return OP_IMAGE_PSEUDO;
	return strcmp(name->name, "vmlinux") ? OP_IMAGE_MODULE
					     : OP_IMAGE_KERNEL;
}

/* Whether @other, of which only @header was read, is about @file's callees. */
static bool is_about_callees(const struct pp_sample_file *file,
			     const struct pp_sample_file *other,
			     const struct op_sample_header *header)
{
	struct op_build_id want, have;

	if (other->name.dep.build)
		return may_be_build(file->callee_build, other->name.dep.build);
	want = op_build_id_of_room(file->header.cg_build_id,
				   file->header.cg_build_id_len);
	have = op_build_id_of_room(header->build_id, header->build_id_len);
	return !op_builds_differ(&want, file->header.cg_mtime, &have,
				 header->mtime);
}

/* An image without samples that were chosen: what another file says of it, or
 * else what is known from afar. */
static struct pp_image *image_from_afar(struct op_arena *arena,
					const struct pp_sample_list *list,
					const struct pp_sample_file *file)
{
	struct op_sample_header afar = callee_header(file), header;

	afar.kind = kind_of_image_name(&file->name.cg);
	afar.anon_start = file->name.cg.start;
	for (size_t i = 0; i < list->nr_found; i++) {
		const struct pp_sample_file *other = &list->found[i];

		if (!strcmp(other->image_name, file->callee_name) &&
		    !pp_sample_file_header(list, other, &header) &&
		    is_about_callees(file, other, &header))
			return pp_image_new(arena, file->callee_name,
					    &file->name.cg, file->callee_build,
					    &header);
	}
	return pp_image_new(arena, file->callee_name, &file->name.cg,
			    file->callee_build, &afar);
}

static int compare_callees(const void *a, const void *b)
{
	const struct pp_sample_file *const *x = a, *const *y = b;

	return strcmp((*x)->callee_name, (*y)->callee_name)
		       ?: strcmp((*x)->callee_build, (*y)->callee_build);
}

/* Images that only callees are in; files about one build get one image. */
static int make_callee_images(struct op_arena *arena,
			      const struct pp_sample_list *list,
			      struct pp_sample_file **files, size_t nr)
{
	if (nr)
		qsort(files, nr, sizeof(struct pp_sample_file *),
		      compare_callees);
	for (size_t i = 0; i < nr; i++) {
		if (i && !compare_callees(&files[i - 1], &files[i]))
			files[i]->callee = files[i - 1]->callee;
		else
			files[i]->callee =
				image_from_afar(arena, list, files[i]);
		if (!files[i]->callee)
			return -ENOMEM;
	}
	return 0;
}

int pp_side_find_callees(struct pp_population *p, struct pp_side *side)
{
	struct pp_sample_list *list = &side->list;
	struct pp_sample_file **strange = op_arena_alloc(
		&p->report->arena, list->nr, sizeof(struct pp_sample_file *));
	size_t nr_strange = 0, nr_graphs = 0;

	if (!strange)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		struct pp_sample_file *file = &list->files[i];
		const struct pp_sample_file *known;

		if (!pp_is_call_graph(file))
			continue;
		nr_graphs++;
		known = find_file_of_callees(list, file);
		if (known)
			file->callee = known->image;
		else
			strange[nr_strange++] = file;
	}
	if (!nr_graphs && !list->nr_trees && p->request->symbols.wanted &&
	    !p->request->calls.addresses)
		pp_message(
			&p->report->messages, PP_WARNING,
			"the samples have no call graphs; profile with opcontrol --callgraph=DEPTH or operf --callgraph");
	return make_callee_images(&p->report->arena, list, strange, nr_strange);
}
