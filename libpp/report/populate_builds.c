// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds of one path: the same program before and after an upgrade, or the
 * libraries of several containers. Each build is an image with symbols of its
 * own. People mostly ask about the path, so a report adds builds up, symbol by
 * symbol, and says so. Where they must be apart, because addresses are shown or
 * they were asked for, the build becomes part of the image's name.
 *
 * Symbols are the same when application, image and name are; several of one
 * name in a build (static functions) are taken in the order of their addresses.
 * A sum has its address from the build with most samples. Arcs and call trees
 * know symbols by number, so they get the new ones.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/report/populate_symbols.h"

#define SHOWN_DIGITS 12 /* of a build-id; no two are alike in practice */

static bool keeps_builds_apart(const struct pp_request *request)
{
	return request->select.by_build || request->symbols.details;
}

/* ---- which images have several ------------------------------------------- */

/* The files from @at on that are about one path, sorted by build. */
static size_t end_of_path(const struct pp_sample_list *list, size_t at,
			  size_t *nr_builds)
{
	const struct pp_sample_file *files = list->files;
	size_t end = at;

	*nr_builds = 0;
	for (; end < list->nr &&
	       !strcmp(files[end].image_name, files[at].image_name);
	     end++)
		*nr_builds +=
			end == at || files[end].image != files[end - 1].image;
	return end;
}

/* How many digits of the text @build are those of a build-id. */
static size_t build_id_digits(const char *build)
{
	return strspn(build, "0123456789abcdef") == strcspn(build, "-")
		       ? strcspn(build, "-")
		       : 0;
}

/* Whether another one of the images of those files has the build-id. */
static bool has_build_twin(const struct pp_sample_file *files, size_t nr,
			   const struct pp_image *image, size_t digits)
{
	for (size_t i = 0; i < nr; i++)
		if (files[i].image != image &&
		    build_id_digits(files[i].image->build) == digits &&
		    !strncmp(files[i].image->build, image->build, digits))
			return true;
	return false;
}

/* @image is one of those of the @nr files @files, which are about one path. */
static const char *name_of_build(struct op_arena *arena,
				 const struct pp_sample_file *files, size_t nr,
				 const struct pp_image *image)
{
	const char *build = image->build, *fingerprint = "";
	size_t digits = build_id_digits(build);

	if (!*build)
		return op_arena_printf(arena, "%s (build unknown)",
				       image->path);
	if (!digits)
		return op_arena_printf(arena, "%s (build %s)", image->path,
				       build);
	if (has_build_twin(files, nr, image, digits))
		fingerprint = build + digits;
	return op_arena_printf(arena, "%s (build %.*s%s)", image->path,
			       digits < SHOWN_DIGITS ? (int)digits
						     : SHOWN_DIGITS,
			       build, fingerprint);
}

static int put_builds_into_names(struct op_arena *arena,
				 struct pp_sample_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct pp_image *image = files[i].image;

		if (!i || image != files[i - 1].image)
			image->name = name_of_build(arena, files, nr, image);
		if (!image->name)
			return -ENOMEM;
		files[i].image_name = image->name;
	}
	return 0;
}

static int note_sum(struct pp_side *side, struct op_arena *arena,
		    const struct pp_image *image, size_t nr_builds)
{
	struct pp_sum_of_builds *more =
		op_arena_grow(arena, side->sums_of_builds,
			      side->nr_sums_of_builds, sizeof(*more));

	if (!more)
		return -ENOMEM;
	side->sums_of_builds = more;
	more[side->nr_sums_of_builds++] =
		(struct pp_sum_of_builds){ image->base, nr_builds };
	return 0;
}

/* Leave only the build with most samples of the @nr files at @first, which the
 * list has room for from @kept on. */
static int keep_one_build(struct pp_population *p, struct pp_sample_list *list,
			  size_t first, size_t nr, size_t *kept)
{
	const struct pp_sample_file *files = &list->files[first];
	const struct pp_image *most = files->image;
	uint64_t left_out = 0;
	const char *name;

	for (size_t i = 1; i < nr; i++)
		if (files[i].image->samples > most->samples)
			most = files[i].image;
	for (size_t i = 0; i < nr; i++) {
		if (files[i].image == most)
			list->files[(*kept)++] = files[i];
		else
			left_out = pp_add_counts(left_out, files[i].total);
	}
	name = name_of_build(&p->report->arena, files, nr, most);
	if (!name)
		return -ENOMEM;
	pp_message(
		&p->report->messages, PP_WARNING,
		"%s is shown; %llu samples of its other builds are left out, choose one with build-id: (opreport --by-build lists them)",
		name, (unsigned long long)left_out);
	return 0;
}

int pp_side_tell_builds(struct pp_population *p, struct pp_side *side)
{
	const struct pp_request *request = p->request;
	struct op_arena *arena = &p->report->arena;
	struct pp_sample_list *list = &side->list;
	size_t nr_builds, kept = 0;
	int err = 0;

	for (size_t i = 0, end; i < list->nr && !err; i = end) {
		end = end_of_path(list, i, &nr_builds);
		if (nr_builds > 1 && request->select.one_build) {
			err = keep_one_build(p, list, i, end - i, &kept);
			continue;
		}
		if (nr_builds > 1 && keeps_builds_apart(request))
			err = put_builds_into_names(arena, &list->files[i],
						    end - i);
		else if (nr_builds > 1)
			err = note_sum(side, arena, list->files[i].image,
				       nr_builds);
		for (size_t j = i; j < end; j++)
			list->files[kept++] = list->files[j];
	}
	list->nr = err ? list->nr : kept;
	return err;
}

/* ---- their sum ----------------------------------------------------------- */

static int compare_builds_of_symbols(const void *a, const void *b)
{
	const struct pp_symbol_entry *const *x = a, *const *y = b;

	return pp_compare_entry_names(*x, *y) ?:
	       op_compare((*y)->image->samples, (*x)->image->samples) ?:
	       strcmp((*x)->image->build, (*y)->image->build) ?:
	       op_compare((*x)->vma, (*y)->vma);
}

/*
 * The @nr symbols of @group have one name: the first ones of all builds are
 * added up, then the second ones, and so on. @into tells for each number of a
 * symbol that of the sum that it is in.
 */
static void add_up_group(const struct pp_side *side,
			 struct pp_symbol_entry **group, size_t nr,
			 uint32_t *into)
{
	const struct pp_image *image = NULL;
	size_t nr_sums = 0, at = 0;

	for (size_t i = 0; i < nr; i++) {
		struct pp_symbol_entry *entry = group[i];

		at = entry->image == image ? at + 1 : 0;
		image = entry->image;
		if (at == nr_sums)
			group[nr_sums++] = entry;
		else
			/* What it counted alone is not needed any more. */
			pp_add_all_counts((uint64_t *)group[at]->counts,
					  entry->counts, side->classes.nr);
		into[entry->nr] = (uint32_t)group[at]->nr;
	}
}

/* Drop what became a part of another symbol; @into then has new numbers. */
static void drop_added_symbols(struct pp_side *side, uint32_t *into,
			       uint32_t *renumbered)
{
	struct pp_symbol_entry *symbols = side->symbols;
	size_t kept = 0;

	for (size_t i = 0; i < side->nr_symbols; i++) {
		if (into[i] != i)
			continue;
		renumbered[i] = (uint32_t)kept;
		symbols[kept] = symbols[i];
		symbols[kept].nr = kept;
		kept++;
	}
	for (size_t i = 0; i < side->nr_symbols; i++)
		into[i] = renumbered[into[i]];
	side->nr_symbols = kept;
}

static size_t end_of_group(struct pp_symbol_entry *const *order, size_t nr,
			   size_t at)
{
	size_t end = at + 1;

	while (end < nr && !pp_compare_entry_names(order[at], order[end]))
		end++;
	return end;
}

/* @order, @into and @renumbered have room for all symbols. */
static int add_up_symbols(struct pp_side *side, struct pp_symbol_entry **order,
			  uint32_t *into, uint32_t *renumbered)
{
	size_t nr = side->nr_symbols;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		order[i] = &side->symbols[i];
	qsort(order, nr, sizeof(struct pp_symbol_entry *),
	      compare_builds_of_symbols);
	for (size_t i = 0, end; i < nr; i = end) {
		end = end_of_group(order, nr, i);
		add_up_group(side, order + i, end - i, into);
	}
	drop_added_symbols(side, into, renumbered);
	for (size_t i = 0; i < side->nr_users && !err; i++)
		if (side->users[i]->renumber)
			err = side->users[i]->renumber(side, into, nr);
	return err;
}

int pp_side_add_up_builds(struct pp_side *side)
{
	size_t room = side->nr_symbols + 1;
	struct pp_symbol_entry **order;
	uint32_t *into, *renumbered;
	int err = -ENOMEM;

	if (!side->nr_sums_of_builds)
		return 0;
	order = calloc(room, sizeof(struct pp_symbol_entry *));
	into = calloc(room, sizeof(*into));
	renumbered = calloc(room, sizeof(*renumbered));
	if (order && into && renumbered)
		err = add_up_symbols(side, order, into, renumbered);
	free(renumbered);
	free(into);
	free(order);
	return err;
}
