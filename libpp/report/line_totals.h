/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_LINE_TOTALS_H
#define LIBPP_REPORT_LINE_TOTALS_H

/*
 * How many samples have a source line, or an address, on their stacks, for
 * populate_totals.c alone, which walks the trees and says here what is on the
 * way to the root.
 *
 * Lines are those of functions: one that is in several functions is one line of
 * each. A frame is in a line of each function that is inlined there, too. A
 * stack counts once for a line however often it passes, as for functions.
 */

#include <stddef.h>
#include <stdint.h>

#include "libpp/report/population.h"

struct pp_line_totals;

/* Number the lines and addresses of all frames of @side, and count the samples
 * that are in them. *@out is to be released, also on failure. Returns 0 or
 * -ENOMEM. */
int pp_line_totals_new(struct pp_line_totals **out, struct pp_side *side,
		       struct op_arena *arena);
void pp_line_totals_free(struct pp_line_totals *totals);

/* A walk comes to a frame with @samples in it and below it, all of column
 * @class_nr; and leaves it. */
void pp_line_totals_enter(struct pp_line_totals *totals,
			  const struct pp_frame_symbols *frame, size_t class_nr,
			  uint64_t samples);
void pp_line_totals_leave(struct pp_line_totals *totals,
			  const struct pp_frame_symbols *frame);

/* A walk is at the end of stacks: @samples of column @class_nr are somewhere in
 * @function. */
void pp_line_totals_end_stacks(struct pp_line_totals *totals, uint32_t function,
			       size_t class_nr, uint64_t samples);

/* All trees were walked: fill the lines of @side's symbols, and the totals of
 * their addresses. Returns 0 or -ENOMEM. */
int pp_line_totals_fill(struct pp_line_totals *totals);

#endif /* LIBPP_REPORT_LINE_TOTALS_H */
