// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger without pending samples is written into the folder before that is
 * renamed, so the span is complete when it gets its name. Closing waits for the
 * disk for two to four small files, ledgers and names of tasks: else a power
 * cut could leave an empty ledger in the span, so that it had no account and
 * could not be part of a coarser span. Sample files wait for the next dump.
 */

#include "daemon/opd_span.h"

#include <errno.h>

#include "daemon/opd.h"
#include "daemon/opd_reading.h"
#include "daemon/store/opd_history.h"

int opd_span_write_ledger(struct opd *opd, struct op_diag *diag)
{
	int err = opd_stats_write(&opd->stats);

	return err ? op_diag_set(diag, err, "the ledger cannot be written") : 0;
}

void opd_span_forget_names(struct opd *opd)
{
	const struct opd_context *context = &opd->trans.context;
	struct op_tasks old;

	if (!opd_source_repeat_names(&opd->source))
		return;
	opd_tasks_begin_anew(&opd->tasks, &old);
	opd_tasks_learn_old(&opd->tasks, &old, context->tgid, context->tid);
	for (size_t i = 0; i < opd->defer.nr; i++) {
		context = &opd->defer.samples[i].context;
		opd_tasks_learn_old(&opd->tasks, &old, context->tgid,
				    context->tid);
	}
	op_tasks_release(&old);
}

static int close_span_at(struct opd *opd, time_t end, unsigned int wait_ms,
			 struct op_diag *diag)
{
	struct op_ledger ledger;
	int err;

	opd_stats_ledger(&opd->stats, &ledger);
	if (!ledger.stored && ledger.taken == ledger.pending) {
		opd_history_skip(&opd->store);
		return 0;
	}
	opd_tasks_write(&opd->tasks, false);
	if (opd_stats_write_saved(&opd->stats))
		return op_diag_set(diag, -EIO, "the ledger cannot be written");
	err = opd_history_close(&opd->store, end, wait_ms, diag);
	if (err)
		return err;
	opd_stats_restart(&opd->stats);
	opd_span_forget_names(opd);
	opd_tasks_write(&opd->tasks, true);
	return opd_span_write_ledger(opd, diag);
}

int opd_span_close(struct opd *opd, struct op_diag *diag)
{
	int err = opd_source_dump(&opd->source, diag);

	if (err)
		return err;
	opd_reading_drain(opd);
	return close_span_at(opd, opd->store.clock->date(), 0, diag);
}

int opd_span_close_last(struct opd *opd, unsigned int wait_ms,
			struct op_diag *diag)
{
	return close_span_at(opd, opd->store.clock->date(), wait_ms, diag);
}

int opd_span_close_left(struct opd *opd, unsigned int wait_ms,
			struct op_diag *diag)
{
	return close_span_at(opd, opd_history_left_at(&opd->store), wait_ms,
			     diag);
}
