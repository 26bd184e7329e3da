/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_LOSS_H
#define PP_OPIMPORT_OPIMPORT_LOSS_H

/*
 * Samples that the original profiler lost: the kernel's counters in a session's
 * folder stats/, which operf 1.x wrote itself, and the last statistics in the
 * log of the daemon or of operf, which are of the session "current". They
 * become the ledger of the imported session.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

struct opimport_loss {
	const char *from; /* folder samples/ of the original */
	const char *to; /* that of the new session folder */
	const char *name; /* of the session */
	uint64_t stored; /* samples in its sample files */
	void (*complain)(const char *text); /* one line */
};

/* Write the ledger, where anything is known. Returns 0, or -errno with the
 * reason in @diag. */
int opimport_loss_write(const struct opimport_loss *loss, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_LOSS_H */
