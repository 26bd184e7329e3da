/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_OPANNOTATE_OBJDUMP_H
#define PP_OPANNOTATE_OPANNOTATE_OBJDUMP_H

/* The words of opannotate's --objdump-params. */

#include "pp/opannotate/opannotate_options.h"

/*
 * Take the words of @o->args.objdump_params into @o->listing, @o->params and
 * @o->args.source; none are fine. Returns 0, -ENOMEM, or -EINVAL with the
 * reason why a word has no effect here.
 */
int opannotate_take_objdump_params(struct opannotate_options *o,
				   struct op_diag *diag);

#endif /* PP_OPANNOTATE_OPANNOTATE_OBJDUMP_H */
