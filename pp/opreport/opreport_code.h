/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_CODE_H
#define PP_OPREPORT_OPREPORT_CODE_H

/* The code of the hottest functions, for formats that show it. */

#include "libpp/images/code.h"
#include "pp/opannotate/opannotate_options.h"

/*
 * Find the code of the hottest functions of @report, which has details. Its
 * memory is of the report's arena. @places says where sources are looked for
 * (its spec and request.source_dirs); what is wrong with them becomes a
 * message of the report. Returns 0 or -ENOMEM.
 */
int opreport_find_code(struct pp_code *code, struct pp_report *report,
		       const struct opannotate_options *places);

#endif /* PP_OPREPORT_OPREPORT_CODE_H */
