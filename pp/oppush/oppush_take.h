/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_TAKE_H
#define PP_OPPUSH_OPPUSH_TAKE_H

/*
 * What is pushed: here alone it is chosen. It is what a session has counted
 * since the last profile was made of it, by two reports of all of it, the last
 * one and one that opreport makes now; with a history, each span that has ended
 * since. Nobody who takes samples is asked.
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
