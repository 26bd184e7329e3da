// SPDX-License-Identifier: GPL-2.0-or-later
#include "utils/ocount/ocount_number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_plural.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

int ocount_number_parse(const char *text, const char **end, int base,
			uint64_t max, uint64_t *value)
{
	char *rest;

	/* strtoull() takes blanks and signs */
	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &rest, base);
	if (errno || rest == text || *value > max)
		return -EINVAL;
	*end = rest;
	return 0;
}

const char *ocount_number_group(char *buf, uint64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *at = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return buf;
}

const char *ocount_number_unit(char *buf, double value)
{
	static const char units[][3] = { "", " K", " M", " G", " T" };
	size_t i = 0;

	while (value >= 999.9995 && i + 1 < sizeof(units) / sizeof(*units)) {
		value /= 1000;
		i++;
	}
	snprintf(buf, OCOUNT_NUMBER_MAX, "%.3f%s", value, units[i]);
	return buf;
}

const char *ocount_number_time(char *buf, uint64_t ns)
{
	uint64_t minutes = ns / NSEC_PER_SEC / 60;
	double seconds = (double)ns / NSEC_PER_SEC;

	if (ns < NSEC_PER_SEC)
		snprintf(buf, OCOUNT_NUMBER_MAX, "%.2f milliseconds",
			 (double)ns / NSEC_PER_MSEC);
	else if (!minutes)
		snprintf(buf, OCOUNT_NUMBER_MAX, "%.3f seconds", seconds);
	else
		snprintf(buf, OCOUNT_NUMBER_MAX,
			 "%" PRIu64 " minute%s %.1f seconds", minutes,
			 op_plural(minutes),
			 (double)(ns % (UINT64_C(60) * NSEC_PER_SEC)) /
				 NSEC_PER_SEC);
	return buf;
}
