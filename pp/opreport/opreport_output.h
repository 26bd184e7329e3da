/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_OUTPUT_H
#define PP_OPREPORT_OPREPORT_OUTPUT_H

/*
 * The file that a report is written to. One that was there stays as it was
 * until the new one is whole, so that whoever reads it meanwhile, such as a web
 * server, has no half of a report, and a disk that is full takes nothing away.
 * What is no regular file of this user's own is written to directly.
 */

#include <stdbool.h>
#include <stdio.h>

#include "libop/base/op_diag.h"
#include "libop/files/op_file.h"

struct opreport_output {
	FILE *file; /* write here; errors are found by opreport_output_close()
		     */
	const char *path; /* borrowed from the caller */
	bool is_replaced;
	struct op_replace replace;
};

/* Returns 0 or -errno with the reason in @diag; only after 0 the other one must
 * follow. */
int opreport_output_open(struct opreport_output *output, const char *path,
			 struct op_diag *diag);

/* After an error @err of what was written, a file that was there stays as it
 * was. Returns @err, or 0 or -errno with the reason in @diag. */
int opreport_output_close(struct opreport_output *output, int err,
			  struct op_diag *diag);

#endif /* PP_OPREPORT_OPREPORT_OUTPUT_H */
