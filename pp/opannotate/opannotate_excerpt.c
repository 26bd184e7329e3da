// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Source lines between instructions. All files of an image are kept in memory,
 * the one used last first in the list, because neighbouring instructions
 * mostly come from the same few files, and inlining makes them alternate.
 */

#include "pp/opannotate/opannotate_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "libpp/images/source_file.h"
#include "pp/opannotate/opannotate_files.h"

#define LINES_BEFORE 5

struct opannotate_excerpt_file {
	struct opannotate_excerpt_file *next;
	const char *name; /* one pointer per name */
	struct pp_source_text source; /* empty when it cannot be read */
	unsigned int last; /* line that was written last; 0: none */
	unsigned int highest; /* of those that were written */
};

void opannotate_excerpts_init(struct opannotate_excerpts *e,
			      const struct opannotate_text *text)
{
	*e = (struct opannotate_excerpts){ .text = text };
	op_arena_init(&e->arena);
	op_strings_init(&e->names, &e->arena);
}

void opannotate_excerpts_release(struct opannotate_excerpts *e)
{
	op_strings_release(&e->names);
	op_arena_release(&e->arena);
}

void opannotate_excerpts_restart(struct opannotate_excerpts *e)
{
	struct opannotate_excerpt_file *file;

	for (file = e->files; file; file = file->next)
		file->last = file->highest = 0;
}

static struct opannotate_excerpt_file *
open_excerpt_file(struct opannotate_excerpts *e, const char *name,
		  const struct pp_image *image)
{
	struct opannotate_excerpt_file *file =
		op_arena_alloc(&e->arena, 1, sizeof(*file));
	char *path = opannotate_locate(e->text->options, name);
	FILE *in = path ? opannotate_open_source(e->text, path, image) : NULL;

	if (file)
		pp_source_read(&file->source, &e->arena, e->text->messages,
			       path, in);
	if (in)
		fclose(in);
	free(path);
	if (!file)
		return NULL;
	file->name = name;
	file->next = e->files;
	e->files = file;
	return file;
}

/* The files used last come first. */
static struct opannotate_excerpt_file *
find_excerpt_file(struct opannotate_excerpts *e, const char *name,
		  const struct pp_image *image)
{
	struct opannotate_excerpt_file **at, *file;

	name = op_strings_add(&e->names, name);
	if (!name)
		return NULL;
	for (at = &e->files; *at && (*at)->name != name;)
		at = &(*at)->next;
	file = *at;
	if (!file)
		return open_excerpt_file(e, name, image);
	*at = file->next;
	file->next = e->files;
	e->files = file;
	return file;
}

void opannotate_excerpt(struct opannotate_excerpts *excerpts, const char *name,
			unsigned int line, const struct pp_image *image)
{
	struct opannotate_excerpt_file *file =
		find_excerpt_file(excerpts, name, image);
	unsigned int at = line > LINES_BEFORE ? line - LINES_BEFORE : 1;

	if (!file || !line || line == file->last)
		return;
	if (file->highest >= at)
		at = file->highest < line ? file->highest + 1 : line;
	for (; at <= line && at <= file->source.nr; at++) {
		opannotate_margin(excerpts->text, NULL, NULL);
		fprintf(excerpts->text->out, "%s\n",
			pp_source_text_line(&file->source, at));
	}
	file->last = line;
	if (file->highest < line)
		file->highest = line;
}
