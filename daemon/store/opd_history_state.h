/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_HISTORY_STATE_H
#define DAEMON_STORE_OPD_HISTORY_STATE_H

/* The state of the history of a store (opd_history.h). */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_history.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_span.h"

struct opd_store;

struct opd_history {
	struct op_history limits; /* bytes 0: no span is made */
	uint64_t begin; /* of what is in the folder now, since the epoch */
	time_t due; /* date at which that becomes a span */
	time_t pressed; /* date of the last look before it was due */
	bool is_untended; /* there is work for the child */
	time_t sums_after; /* date until which the child makes no sums */
	struct op_ledger past; /* the sum of the spans' ledgers */
	struct op_span dropped; /* the time of all that was; end 0: nothing */
	struct op_ledger dropped_account;
	/* The child's part, opd_history_tend() and opd_history_tended(): set by
	 * opd_history_init(), as packing knows nothing of what it is. */
	int (*tend)(struct opd_store *store, const char *dir,
		    unsigned int wait_ms, struct op_diag *diag);
	void (*tended)(struct opd_store *store, int err);
};

#endif /* DAEMON_STORE_OPD_HISTORY_STATE_H */
