// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Source lines between instructions. All files of an image are kept in memory,
 * the one used last first in the list, because neighbouring instructions
 * mostly come from the same few files, and inlining makes them alternate.
 */

#include "pp/opannotate_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "pp/opannotate_files.h"

#define LINES_BEFORE 5

struct opannotate_excerpt_file {
	struct opannotate_excerpt_file *next;
	const char *name; /* one pointer per name */
	const char **lines; /* NULL when it cannot be read */
	size_t nr_lines;
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

static void read_excerpt_lines(struct opannotate_excerpts *e,
			       struct opannotate_excerpt_file *file,
			       const char *path, FILE *in)
{
	size_t room = 0;
	char *buf = NULL;
	ssize_t len;

	while ((len = getline(&buf, &room, in)) >= 0) {
		const char **lines = op_arena_grow(
			&e->arena, file->lines, file->nr_lines, sizeof(*lines));

		if (!lines)
			break;
		if (len && buf[len - 1] == '\n')
			buf[len - 1] = '\0';
		lines[file->nr_lines] = op_arena_strdup(&e->arena, buf);
		file->lines = lines;
		if (!lines[file->nr_lines])
			break;
		file->nr_lines++;
	}
	opannotate_check_source(e->text, path, in);
	free(buf);
}

static struct opannotate_excerpt_file *
open_excerpt_file(struct opannotate_excerpts *e, const char *name,
		  const struct pp_image *image)
{
	struct opannotate_excerpt_file *file =
		op_arena_alloc(&e->arena, 1, sizeof(*file));
	char *path = opannotate_locate(e->text->options, name);
	FILE *in = path ? opannotate_open_source(e->text, path, image) : NULL;

	if (in && file)
		read_excerpt_lines(e, file, path, in);
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
	for (; at <= line && at <= file->nr_lines; at++) {
		opannotate_margin(excerpts->text, NULL);
		fprintf(excerpts->text->out, "%s\n", file->lines[at - 1]);
	}
	file->last = line;
	if (file->highest < line)
		file->highest = line;
}
