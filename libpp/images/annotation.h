/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_ANNOTATION_H
#define LIBPP_IMAGES_ANNOTATION_H

/*
 * The samples of a report by source file and line, over all its images. Every
 * sample of the report's symbols is in exactly one line of one file, or is
 * told as one without line.
 */

#include <stddef.h>
#include <stdint.h>

#include "libpp/report/report.h"

struct pp_annotated_line {
	unsigned int line; /* 0: code of the file that is of no line */
	const uint64_t *counts; /* may be zeros */
	const struct pp_symbol_entry **symbols; /* that start in the line, by
						   image and address */
	size_t nr_symbols;
};

struct pp_annotated_file {
	const char *name; /* as debug information has it; of several the first
			     in the order of strcmp(3) */
	const uint64_t *counts; /* all zeros only where a function of the file
				   has totals of lines */
	const struct pp_annotated_line *lines; /* ascending */
	size_t nr_lines;
	const struct pp_image *oldest; /* of the images with its code, by
					  mtime; NULL when none is known */
};

/* The samples of an image that have no source line. */
struct pp_unplaced {
	const struct pp_image *image;
	const uint64_t *counts;
	const struct pp_symbol_entry **symbols; /* by samples, descending */
	size_t nr_symbols;
};

struct pp_annotation {
	const struct pp_annotated_file *files; /* by the first column,
						  descending */
	size_t nr_files;
	const struct pp_unplaced *unplaced; /* by image */
	size_t nr_unplaced;
};

/* Where the source called @name lies, in a new string, as pp_source_locate()
 * has it (libpp/images/source_file.h). Returns NULL when memory is short. */
typedef char *pp_locate_fn(const void *ctx, const char *name);

/*
 * Annotate @report, which has details and lines; all memory is of its arena.
 * Names of sources that @locate finds at one place are one file; @locate may be
 * NULL. Returns 0 or -ENOMEM.
 */
int pp_annotate(struct pp_annotation *annotation, struct pp_report *report,
		pp_locate_fn *locate, const void *ctx);

/* Line @line of @file; NULL if nothing is known of it. */
const struct pp_annotated_line *
pp_annotated_line_find(const struct pp_annotated_file *file, unsigned int line);

#endif /* LIBPP_IMAGES_ANNOTATION_H */
