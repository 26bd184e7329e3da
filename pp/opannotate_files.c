// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opannotate_files.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpp/archive.h"

/* ---- where --------------------------------------------------------------- */

/* @dir/@name if it can be read there. */
static char *try_dir(const char *dir, const char *name)
{
	char *path, *real = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	if (!access(path, R_OK))
		real = realpath(path, NULL);
	free(path);
	return real;
}

/* @name behind @base, or NULL if it is not below it. */
static const char *strip_base(const char *name, const char *base)
{
	char *real = realpath(base, NULL);
	const char *dir = real ? real : base;
	size_t len = strlen(dir);
	bool is_below;

	while (len && dir[len - 1] == '/')
		len--;
	is_below = !strncmp(name, dir, len) && name[len] == '/';
	free(real);
	return is_below ? name + len : NULL;
}

static const char *strip_bases(const struct opannotate_options *o,
			       const char *name)
{
	const char *const *base = o->base_dirs;

	for (; *name == '/' && base && *base; base++) {
		const char *rest = strip_base(name, *base);

		if (rest)
			return rest;
	}
	return name;
}

char *opannotate_locate(const struct opannotate_options *o, const char *name)
{
	const struct pp_spec_list *archive =
		&o->spec.spec.lists[PP_SPEC_ARCHIVE];
	const char *const *dir = o->search_dirs;
	const char *rest = strip_bases(o, name);
	char *path = NULL;

	for (; dir && *dir && !path; dir++)
		path = try_dir(*dir, rest);
	if (!path && archive->nr)
		path = try_dir(archive->items[0].pattern, name);
	if (!path)
		path = realpath(name, NULL);
	return path ? path : strdup(name);
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

/* Lines may have moved since the code was made of them. */
static void check_age(const struct opannotate_text *text, const char *path,
		      const struct stat *st, const struct pp_image *image)
{
	if (image && image->mtime && st->st_mtime > 0 &&
	    (uint64_t)st->st_mtime > image->mtime)
		pp_message(
			text->messages, PP_WARNING,
			"%s: changed after %s was built; its lines may have moved",
			path, image->name);
}

/* Opening a pipe or a device would wait or do worse. */
static FILE *open_regular(const char *path, struct stat *st)
{
	if (stat(path, st))
		return NULL;
	if (S_ISREG(st->st_mode))
		return fopen(path, "re");
	errno = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
	return NULL;
}

FILE *opannotate_open_source(const struct opannotate_text *text,
			     const char *path, const struct pp_image *image)
{
	struct stat st;
	FILE *in;

	if (pp_archive_check(text->report->archive, path) == -EILSEQ) {
		pp_message(text->messages, PP_WARNING,
			   "%s: it is not what was archived; not used", path);
		return NULL;
	}
	in = open_regular(path, &st);
	if (in)
		check_age(text, path, &st, image);
	else
		pp_message(
			text->messages, PP_WARNING,
			"%s: cannot be read: %s; say with --search-dirs where it is",
			path, strerror(errno));
	return in;
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
