/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_DRAW_H
#define PP_OPTOP_OPTOP_DRAW_H

/*
 * The state as a screen: four lines of header, rows, a line for what is to be
 * said. What does not fit is left out, the least important columns first, so
 * that 40 columns and 10 lines suffice.
 */

#include "pp/optop/optop_grid.h"
#include "pp/optop/optop_state.h"

#define OPTOP_OTHER_LINES 5 /* that are no rows */

/* Draw @state on @grid, which is blank. */
void optop_draw(struct optop_grid *grid, struct optop_state *state);

#endif /* PP_OPTOP_OPTOP_DRAW_H */
