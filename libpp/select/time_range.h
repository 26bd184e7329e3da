/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_TIME_RANGE_H
#define LIBPP_SELECT_TIME_RANGE_H

/*
 * The times that people write in a profile specification:
 *
 *	range := point [ "-" point ]	without the second one: until now; of a
 *					day alone, that day
 *	point := "-" number unit { number unit }	so long ago
 *	       | day [ " " clock ] | clock		of today
 *	       | "@" number				seconds since the epoch
 *	       | "now"
 *	day   := "today" | "yesterday" | YYYY "-" MM "-" DD
 *	clock := HH ":" MM [ ":" SS ]
 *	unit  := "s" | "min" | "m" | "h" | "d" | "w"
 *
 * A clock in the second point is of the day of the first one: "yesterday
 * 14:00-15:00". A "T" may stand for the blank. Times are those of the local
 * clock.
 */

#include <time.h>

#include "libop/base/op_diag.h"

struct pp_time_range {
	time_t from, to; /* seconds since the epoch; from < to */
};

#define PP_TIME_TEXT_LEN 48

/* "2026-03-31 14:00:00" of the local clock, as a range may have it. */
const char *pp_time_text(char text[PP_TIME_TEXT_LEN], time_t at);

/* Returns 0, or -EINVAL with the reason, which quotes @text, in @diag. */
int pp_time_range_parse(struct pp_time_range *out, const char *text, time_t now,
			struct op_diag *diag);

#endif /* LIBPP_SELECT_TIME_RANGE_H */
