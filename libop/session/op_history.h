/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_HISTORY_H
#define LIBOP_SESSION_OP_HISTORY_H

/*
 * How much of the past a session keeps, and how finely: the value of --history.
 *
 *	history := "none" | size { "," grain ":" age }
 *	size    := number [ "K" | "M" | "G" ]		of the disk; M if none
 *	grain   := "minute" | "hour" | "day"		ascending, each once
 *	age     := number ( "m" | "h" | "d" )
 *
 * Spans of the first grain are kept until they are of its age, then put
 * together to spans of the next grain; those of the last grain are removed at
 * its age. Without grains they are OP_HISTORY_DEFAULT.
 */

#include <stdint.h>
#include <time.h>

#include "libop/base/op_diag.h"

/* Bytes: less is no room to work. */
#define OP_HISTORY_MIN ((uint64_t)8 << 20)
#define OP_HISTORY_DEFAULT "minute:2h,hour:7d,day:90d"

enum op_grain { OP_GRAIN_MINUTE, OP_GRAIN_HOUR, OP_GRAIN_DAY, OP_NR_GRAINS };

struct op_history_level {
	enum op_grain grain;
	uint64_t keep; /* seconds */
};

struct op_history {
	uint64_t bytes; /* of all samples on the disk; 0: no history is kept */
	unsigned int nr; /* levels, from the finest */
	struct op_history_level levels[OP_NR_GRAINS];
};

/* Returns 0, or -EINVAL with the reason, what is wrong and an example. */
int op_history_parse(struct op_history *out, const char *text,
		     struct op_diag *diag);

/* The size of one of the parts in which the daemon divides the bytes: a
 * sixteenth, but enough for a small machine. */
uint64_t op_history_part(const struct op_history *history);

/*
 * When the minute, hour or day in local time begins that @at is in, and when
 * the next one does. Seconds since the epoch.
 */
time_t op_grain_begin(enum op_grain grain, time_t at);
time_t op_grain_end(enum op_grain grain, time_t at);

#endif /* LIBOP_SESSION_OP_HISTORY_H */
