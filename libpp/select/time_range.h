/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_TIME_RANGE_H
#define LIBPP_SELECT_TIME_RANGE_H

/*
 * The times that people write in a profile specification:
 *
 *	range := point [ "-" point ]	without the second one: until now; of a
 *					day alone, that day
 *	point := "-" age	so long ago, or before the end of a session
 *	       | age		so long after the begin of a session
 *	       | day [ " " clock ] | clock		of today
 *	       | "@" number				seconds since the epoch
 *	       | "now"
 *	day   := "today" | "yesterday" | YYYY "-" MM "-" DD
 *	clock := HH ":" MM [ ":" SS ]
 *	age   := number unit { number unit }
 *	number := digits [ "." digits ]
 *	unit  := "ms" | "s" | "min" | "m" | "h" | "d" | "w"
 *
 * A clock in the second point is of the day of the first one: "yesterday
 * 14:00-15:00". A "T" may stand for the blank. Times are those of the local
 * clock.
 */

#include <stdint.h>
#include <time.h>

#include "libop/base/op_diag.h"

#define PP_TIME_NS INT64_C(1000000000) /* of a second */

/* Times before the year 2000 are no dates, ns since the epoch: they are of a
 * recording whose clock began at a boot. */
#define PP_FIRST_DATE (UINT64_C(946684800) * PP_TIME_NS)

enum pp_time_base {
	PP_TIME_DATE, /* ns since the epoch */
	PP_TIME_AGE, /* the same, of so long ago: of a session that has ended
			long before its end */
	PP_TIME_BEGIN, /* ns since the session's begin */
};

struct pp_time_range {
	int64_t from, to; /* from < to if they have the same base */
	enum pp_time_base from_base, to_base;
};

/*
 * Let @range have dates only, for what is from @begin to @end; times that are
 * ages are as of @now. All are ns since the epoch.
 */
void pp_time_range_resolve(struct pp_time_range *range, int64_t begin,
			   int64_t end, int64_t now);

#define PP_TIME_TEXT_LEN 48

/* "2026-03-31 14:00:00" of the local clock, as a range may have it. */
const char *pp_time_text(char text[PP_TIME_TEXT_LEN], time_t at);

/* "2.5s", so long after the begin of a session, likewise. */
const char *pp_time_since(char text[PP_TIME_TEXT_LEN], uint64_t ns);

/* @ns in seconds, with as many digits behind the point as matter. */
const char *pp_time_seconds(char text[PP_TIME_TEXT_LEN], uint64_t ns);

/* Returns 0, or -EINVAL with the reason, which quotes @text, in @diag. */
int pp_time_range_parse(struct pp_time_range *out, const char *text, time_t now,
			struct op_diag *diag);

#endif /* LIBPP_SELECT_TIME_RANGE_H */
