/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_SOURCE_H
#define PP_OPANNOTATE_SOURCE_H

/* Source files with the samples of each line, one behind the other or each in
 * a file of its own. */

#include "libpp/annotation.h"
#include "pp/opannotate_text.h"

/*
 * Write the files of @annotation that are asked for. What is wrong with one
 * becomes a message, and the others are written. Returns 0; -errno with
 * the reason in @diag.
 */
int opannotate_write_source(const struct opannotate_text *text,
			    const struct pp_annotation *annotation,
			    struct op_diag *diag);

#endif /* PP_OPANNOTATE_SOURCE_H */
