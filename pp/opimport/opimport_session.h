/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_SESSION_H
#define PP_OPIMPORT_OPIMPORT_SESSION_H

/*
 * A whole classic session folder becomes one of ours: samples/ with all the
 * sessions in it. A file that cannot be converted does not keep the others
 * from it. The new session has a ledger where the original knew what was lost.
 */

#include <stdint.h>

#include "libop/base/op_diag.h"

struct opimport_options {
	const char *from; /* classic session folder */
	const char *to; /* new one, without samples yet */
	const char *abi; /* abi file; NULL: that of the session, if any */
	void (*complain)(const char *text); /* about one file; one line */
	void (*remark)(const char *text); /* NULL: not wanted */
};

struct opimport_counts {
	unsigned int sessions;
	unsigned int files; /* converted, those below included */
	unsigned int call_graphs;
	unsigned int failed;
	uint64_t cut_calls; /* to or from where 32 bits of an offset are few */
};

/* Returns 0, also when files failed, or -errno with the reason in @diag. */
int opimport_session(const struct opimport_options *options,
		     struct opimport_counts *counts, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_SESSION_H */
