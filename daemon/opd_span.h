/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_SPAN_H
#define DAEMON_OPD_SPAN_H

/*
 * The end of what is counted: in a span of the history (opd_history.h), and in
 * a session that is saved or reset.
 */

#include "libop/base/op_diag.h"

struct opd;

/*
 * Make a span of what was counted up to now. Returns 0, also where nothing was;
 * -EBUSY when it is to be tried again; -errno with the reason.
 */
int opd_span_close(struct opd *opd, struct op_diag *diag);

/* The same when no more samples will come, and when nothing was counted but by
 * a former daemon. Each waits for readers at most @wait_ms. */
int opd_span_close_last(struct opd *opd, unsigned int wait_ms,
			struct op_diag *diag);
int opd_span_close_left(struct opd *opd, unsigned int wait_ms,
			struct op_diag *diag);

/*
 * Names of threads belong to what was counted, in a session or a span that has
 * ended: they would fill the file of names with those of threads that ended
 * long ago. A live source tells each again before the next sample that needs
 * it; those of samples that are here already, and wait, stay.
 */
void opd_span_forget_names(struct opd *opd);

/* Write the ledger of what is counted from now on. Returns 0 or -errno with the
 * reason. */
int opd_span_write_ledger(struct opd *opd, struct op_diag *diag);

#endif /* DAEMON_OPD_SPAN_H */
