/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_FILE_H
#define PP_OPIMPORT_OPIMPORT_FILE_H

/* Import of a classic sample file into a session. */

#include <stdbool.h>

#include "libop/classic/op_classic.h"
#include "libop/base/op_diag.h"
#include "pp/opimport/opimport_jit.h"

struct opimport_result {
	uint64_t nr_keys;
	uint64_t samples; /* their sum; stays at UINT64_MAX */
	uint32_t unknown_cpu_type; /* number that has no name, plus 1; or 0 */
	bool unwritten; /* what failed is writing the new file */
};

/* Which samples are wanted. */
struct opimport_part {
	const struct opimport_jit *jit;
	bool inside; /* those in its code, counted there; else all others */
};

/*
 * Read @from, laid out as @abi says (NULL: found out), and write it to the new
 * file @to, in a folder that exists. @name is what the name of @from tells, or
 * NULL for a file that is not in a session. Of a @part, unless NULL, that may
 * have no samples, no file is made then; and those in JIT code are added to
 * what is at @to. Returns 0, or -errno with the reason in @diag: then nothing
 * is left at @to, unless it was there before (-EEXIST).
 */
int opimport_file(const char *from, const char *to,
		  const struct op_mangle *name,
		  const struct op_classic_abi *abi,
		  const struct opimport_part *part,
		  struct opimport_result *result, struct op_diag *diag);

/* Whether @text ends with @end. */
bool opimport_ends_with(const char *text, const char *end);

#endif /* PP_OPIMPORT_OPIMPORT_FILE_H */
