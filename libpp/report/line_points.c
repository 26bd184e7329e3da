// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places with samples, for the totals of lines (line_totals.c). A place is kept
 * as a frame is, and tree_points.c renumbers the symbols of both.
 */

#include <errno.h>

#include "libpp/report/populate_symbols.h"

/* Points of one place are one after the other, but for nodes between them. */
static int note_flat_place(const struct pp_batch *b,
			   const struct pp_point *point,
			   const struct pp_point *before)
{
	struct pp_side *side = b->side;
	struct pp_flat_place *all;
	int err = 0;

	if (!point->count)
		return 0;
	all = op_arena_grow(&b->p->report->arena, side->flat_places,
			    side->nr_flat_places, sizeof(*all));
	if (!all)
		return -ENOMEM;
	side->flat_places = all;
	all += side->nr_flat_places++;
	*all = (struct pp_flat_place){
		.class_nr = point->class_nr,
		.count = point->count,
	};
	if (before && before->count && before->key == point->key &&
	    before->chain.first == point->chain.first)
		all->frame = all[-1].frame;
	else
		err = pp_add_frame(b, point, &all->frame);
	return err;
}

const struct pp_symbol_user pp_lines_user = {
	.take_point = note_flat_place,
};
