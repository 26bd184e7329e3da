/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_OPANNOTATE_EXCERPT_H
#define PP_OPANNOTATE_OPANNOTATE_EXCERPT_H

/*
 * Source lines between instructions, as objdump -S has them: a line that was
 * not shown yet comes with up to five before it that were not shown either,
 * one that was shown comes alone.
 */

#include <stdio.h>

#include "libop/base/op_strings.h"
#include "pp/opannotate/opannotate_text.h"

struct opannotate_excerpt_file;

struct opannotate_excerpts {
	const struct opannotate_text *text;
	struct op_arena arena;
	struct op_strings names;
	struct opannotate_excerpt_file *files; /* a list */
};

void opannotate_excerpts_init(struct opannotate_excerpts *excerpts,
			      const struct opannotate_text *text);
void opannotate_excerpts_release(struct opannotate_excerpts *excerpts);

/* Nothing was shown yet. */
void opannotate_excerpts_restart(struct opannotate_excerpts *excerpts);

/*
 * Write what is to come before an instruction of @line of file @name, if the
 * one before was of another; that a file cannot be read, or is newer than
 * @image, is said once.
 */
void opannotate_excerpt(struct opannotate_excerpts *excerpts, const char *name,
			unsigned int line, const struct pp_image *image);

#endif /* PP_OPANNOTATE_OPANNOTATE_EXCERPT_H */
