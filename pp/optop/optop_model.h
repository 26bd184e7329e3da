/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_MODEL_H
#define PP_OPTOP_OPTOP_MODEL_H

/*
 * The lines that are shown of a reading: the counts of one event, less those of
 * an earlier reading, of rows that a filter accepts, in order.
 */

#include "pp/optop/optop_reading.h"

struct optop_choice {
	const char *event; /* one that the reading does not have has no
			      samples; NULL is its first */
	const struct optop_counts *base; /* to subtract; or NULL */
	const char *filter; /* part of a row's text; "" lets all through */
	bool by_total; /* the order; else by self */
};

struct optop_line {
	size_t row; /* of the reading */
	uint64_t self, all; /* samples; all is 0 where it is not known */
};

struct optop_shown {
	struct optop_line *lines;
	size_t nr;
	uint64_t self_sum, all_sum; /* what shares are of */
	bool has_all;
};

/*
 * Fill @shown, which is all zeros or was filled before. Rows without samples
 * are left out, and so is what a filter does not let through, unless the
 * reading keeps its order. Returns 0 or -ENOMEM with @shown as it was.
 */
int optop_show(struct optop_shown *shown, const struct optop_reading *reading,
	       const struct optop_choice *choice);
void optop_shown_release(struct optop_shown *shown);

/* Whether @text has @part in it; case matters only where @part has capital
 * letters. */
bool optop_text_has(const char *text, const char *part);

/* Whether @now has fewer samples than @before: it is of another session, or of
 * one that was reset. */
bool optop_is_reset(const struct optop_counts *now,
		    const struct optop_counts *before);

#endif /* PP_OPTOP_OPTOP_MODEL_H */
