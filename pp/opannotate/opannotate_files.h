/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_OPANNOTATE_FILES_H
#define PP_OPANNOTATE_OPANNOTATE_FILES_H

/* Where source files lie, and which of them are asked for. */

#include <stdio.h>

#include "pp/opannotate/opannotate_options.h"
#include "pp/opannotate/opannotate_text.h"

/*
 * Where the file lies that debug information calls @name: in an archive, in
 * --search-dirs, else where it says. Returns a path to free, canonical if the
 * file is there; NULL when memory is short.
 */
char *opannotate_locate(const struct opannotate_options *options,
			const char *name);

/* The path that the file @path had where it was archived, as a part of @path. A
 * file that is in no archive keeps its @path. */
const char *opannotate_home_path(const struct opannotate_options *options,
				 const char *path);

/* Open source file @path for @text. That it cannot be read, is not what was
 * archived, or is newer than @image (which may be NULL), becomes a message. */
FILE *opannotate_open_source(const struct opannotate_text *text,
			     const char *path, const struct pp_image *image);

/* Whether --include-file and --exclude-file let @path through: a pattern may
 * match all of it or one of its components. */
bool opannotate_wants_file(const struct opannotate_options *options,
			   const char *path);

#endif /* PP_OPANNOTATE_OPANNOTATE_FILES_H */
