/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_TAKE_H
#define PP_OPPUSH_OPPUSH_TAKE_H

/*
 * The choice of the samples to push: those that a session has counted since the
 * last profile was made of it. They are the difference between the last
 * profile's report of the whole session and one that opreport makes now; with a
 * history, each span that has ended since. The daemon is not asked.
 */

#include "libop/base/op_diag.h"
#include "pp/oppush/oppush_spool.h"

struct push_source {
	const char *session_dir; /* NULL: where opreport looks */
	const char *const *words; /* the part of it, ended by NULL; or NULL */
	void (*say)(const char *text); /* what is no error */
};

/*
 * Put a profile of what is new at @now (ns since 1970) into @spool, or one for
 * each new span. Nothing new gives none. Returns 0; -ENOSPC, without a reason,
 * where the spool is full: then what is new waits in the session; or -errno
 * with the reason in @diag.
 */
int push_take(const struct push_source *source, struct push_spool *spool,
	      int64_t now, struct op_diag *diag);

#endif /* PP_OPPUSH_OPPUSH_TAKE_H */
