/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_NUMBER_H
#define UTILS_OCOUNT_OCOUNT_NUMBER_H

#include <stdint.h>

/*
 * Numbers as people write and read them.
 */

#define OCOUNT_NUMBER_MAX 48 /* bytes; enough for any text below */

/*
 * The number that @text starts with, at most @max, in @base as strtoull(3)
 * knows it; no sign, no blanks. *@end is what follows it. Returns 0 or
 * -EINVAL.
 */
int ocount_number_parse(const char *text, const char **end, int base,
			uint64_t max, uint64_t *value);

/* These fill and return @buf, of OCOUNT_NUMBER_MAX bytes. */

/* 1,234,567 */
const char *ocount_number_group(char *buf, uint64_t value);

/* 1.235 M */
const char *ocount_number_unit(char *buf, double value);

/* 12.35 milliseconds, 1.235 seconds, 2 minutes 3.4 seconds */
const char *ocount_number_time(char *buf, uint64_t ns);

#endif /* UTILS_OCOUNT_OCOUNT_NUMBER_H */
