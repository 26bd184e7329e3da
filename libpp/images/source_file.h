/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_SOURCE_FILE_H
#define LIBPP_IMAGES_SOURCE_FILE_H

/*
 * Source files: where they lie, and their lines. Debug information has the path
 * that a file had when it was compiled, which may be on another machine: it is
 * looked for in the folders that the user names, without what is to be dropped
 * from its front, then in the archive, then where it says.
 */

#include <stddef.h>
#include <stdio.h>

#include "libop/base/op_arena.h"
#include "libpp/archive/archive.h"
#include "libpp/messages.h"
#include "libpp/report/report.h"

/*
 * Where the file lies that debug information calls @name; @archive is the
 * folder of an archive, or NULL. Returns a path to free, canonical if the file
 * is there; NULL when memory is short.
 */
char *pp_source_locate(const struct pp_source_dirs *dirs, const char *archive,
		       const char *name);

/*
 * Open the source file @path. That it cannot be read, is not what was put into
 * @archive (which may be NULL), or is newer than @image (likewise), becomes a
 * message. NULL where there is nothing to read.
 */
FILE *pp_source_open(const struct pp_archive *archive,
		     struct pp_messages *messages, const char *path,
		     const struct pp_image *image);

struct pp_source_text {
	const char *const *lines; /* without their newlines */
	size_t nr;
};

/*
 * Read @in, which is @path or NULL for a file without lines, into @arena; what
 * memory has no room for is missing. That reading fails becomes a message.
 */
void pp_source_read(struct pp_source_text *text, struct op_arena *arena,
		    struct pp_messages *messages, const char *path, FILE *in);

/* To be called behind the last line of @in, which is @path, by others that read
 * it: that reading it has failed becomes a message. */
void pp_source_check(struct pp_messages *messages, const char *path, FILE *in);

/* Line @line, counted from 1; NULL if there is none. */
const char *pp_source_text_line(const struct pp_source_text *text, size_t line);

#endif /* LIBPP_IMAGES_SOURCE_FILE_H */
