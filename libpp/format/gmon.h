/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_GMON_H
#define LIBPP_FORMAT_GMON_H

/*
 * gmon.out version 1, what gprof(1) reads: counts of equal pieces of code
 * ("bins") and calls between addresses, in words of the profiled machine.
 *
 * A count has 16 bits in the file, and gprof adds up what it finds for one
 * piece. So code that was hit more often has as many records as it takes, and
 * nothing is cut off. gprof adds in 31 bits: above that all counts are
 * divided by one number.
 */

#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_diag.h"
#include "libpp/report/report.h"

/* The scale of the counts that were written, which have few bits. */
struct pp_gmon_result {
	unsigned int bin_size; /* bytes */
	uint64_t divisor; /* of all sample counts; 1 if they are as they were */
};

/*
 * Write the samples of @report's first class in @image, and the calls in it,
 * to @out. The report has details and addresses of calls; image->binary is set.
 * Returns 0 or -errno with the reason in @diag; errors of @out are left in its
 * error flag.
 */
int pp_gmon_write(FILE *out, const struct pp_report *report,
		  const struct pp_image *image, struct pp_gmon_result *result,
		  struct op_diag *diag);

#endif /* LIBPP_FORMAT_GMON_H */
