/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_LIVE_H
#define PP_OPTOP_OPTOP_LIVE_H

/* optop on a terminal, and as a table on standard output. */

#include "pp/optop/optop_state.h"

/*
 * Show @state until a key or a signal ends it. Returns 0; -errno with the
 * reason. Where a signal ended it, or a reading is under way that cannot be
 * broken off, it ends the program itself, with the terminal set back.
 */
int optop_show_live(struct optop_state *state, const struct pp_request *base,
		    struct op_diag *diag);

/* Print one reading, with at most @nr_rows rows (0: all). Returns likewise. */
int optop_print_once(struct optop_state *state, const struct pp_request *base,
		     size_t nr_rows, struct op_diag *diag);

#endif /* PP_OPTOP_OPTOP_LIVE_H */
