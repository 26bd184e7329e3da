// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which source files are asked for, and where they lie
 * (libpp/images/source_file.h).
 */

#include "pp/opannotate/opannotate_files.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/images/source_file.h"

/* ---- where --------------------------------------------------------------- */

char *opannotate_locate(const struct opannotate_options *o, const char *name)
{
	const struct pp_spec_list *archive =
		&o->spec.spec.lists[PP_SPEC_ARCHIVE];

	return pp_source_locate(&o->request.lines.source_dirs,
				archive->nr ? archive->items[0].pattern : NULL,
				name);
}

const char *opannotate_home_path(const struct opannotate_options *o,
				 const char *path)
{
	const struct pp_spec_list *archive =
		&o->spec.spec.lists[PP_SPEC_ARCHIVE];
	const char *root = archive->nr ? archive->items[0].pattern : "";
	size_t len = strlen(root);

	return !strncmp(path, root, len) && path[len] == '/' ? path + len
							     : path;
}

FILE *opannotate_open_source(const struct opannotate_text *text,
			     const char *path, const struct pp_image *image)
{
	return pp_source_open(text->report->archive, text->messages, path,
			      image);
}

/* ---- which --------------------------------------------------------------- */

static bool matches_one(const char *const *patterns, const char *text)
{
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, text, 0))
			return true;
	return false;
}

static bool matches(const char *const *patterns, const char *path)
{
	char *copy, *save = NULL, *part;
	bool found = matches_one(patterns, path);

	if (found)
		return true;
	copy = strdup(path);
	for (part = copy ? strtok_r(copy, "/", &save) : NULL; part && !found;
	     part = strtok_r(NULL, "/", &save))
		found = matches_one(patterns, part);
	free(copy);
	return found;
}

bool opannotate_wants_file(const struct opannotate_options *o, const char *path)
{
	path = opannotate_home_path(o, path);
	if (o->exclude_files && matches(o->exclude_files, path))
		return false;
	return !o->include_files || matches(o->include_files, path);
}
