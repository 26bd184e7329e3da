/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_ASSEMBLY_H
#define PP_OPANNOTATE_ASSEMBLY_H

/* Instructions with the samples of each, image by image, symbol by symbol; with
 * --source the source lines stand before what was made of them. */

#include "pp/opannotate_text.h"

/*
 * Write the listing of the report, which has details. An image whose code is
 * not to be had is said on standard error. Returns 0; -ENOENT with the reason
 * in
 * @diag if no symbol is left to show; -ENOMEM.
 */
int opannotate_write_assembly(const struct opannotate_text *text,
			      struct op_diag *diag);

#endif /* PP_OPANNOTATE_ASSEMBLY_H */
