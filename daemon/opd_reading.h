/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_READING_H
#define DAEMON_OPD_READING_H

/*
 * Reading the source: words go through the context machine into sample files,
 * and from there to the disk.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"

struct opd;

/* Reading has ended with @err, which the log says; 0 at the end of the stream.
 */
void opd_reading_end(struct opd *opd, int err);

/*
 * Read once, and handle all whole records. The second reads a few times, and
 * the budget's account has the time that this takes. Returns whether there may
 * be more to read without waiting.
 */
bool opd_reading_once(struct opd *opd);
bool opd_reading_in_budget(struct opd *opd);

/* Read and handle all that can be read without waiting. */
void opd_reading_drain(struct opd *opd);

/*
 * Have the source give out all samples that it has, handle them, and bring
 * sample files, symbols and ledger up to date. Returns 0 or -errno with the
 * reason.
 */
int opd_reading_dump(struct opd *opd, struct op_diag *diag);

#endif /* DAEMON_OPD_READING_H */
