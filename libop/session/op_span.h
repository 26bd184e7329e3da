/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_SPAN_H
#define LIBOP_SESSION_OP_SPAN_H

/*
 * The history of a session: the samples of each span of time in a folder of
 * their own, in the session's folder.
 *
 *	samples/NAME/.span-BEGIN-END/	a session folder like any other: a pack,
 *					a ledger, names of tasks
 *	samples/NAME/.closing-BEGIN-END/ the same, while the daemon moves what
 *					it is made of into it; it counts
 *	samples/NAME/.making-BEGIN-END/	what will become one of the others, or
 *					is being removed; it does not count
 *	samples/NAME/.dropped-BEGIN-END/ a ledger alone: the account of all
 *					spans that were dropped so far
 *
 * BEGIN and END are seconds since the epoch, decimal. What a session counts is
 * the sum of its spans and of what is in its folder beside them.
 *
 * Spans do not overlap, but for one that is the sum of others, or their account
 * after they were dropped: it contains them, so they do not count from the
 * instant when it gets its name, and wait to be removed. doc/sample-files.md
 * describes all of this.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_ledger.h"

#define OP_SPAN_NAME_MAX 64 /* bytes with the zero byte */

enum op_span_state {
	OP_SPAN_CLOSED,
	OP_SPAN_CLOSING,
	OP_SPAN_MAKING,
	OP_SPAN_DROPPED,
};

struct op_span {
	uint64_t begin, end; /* seconds since the epoch; begin < end */
	enum op_span_state state;
	bool is_replaced; /* another span contains it */
};

/* Whether a folder called @name is a span; then what it is, in *@out. */
bool op_span_parse(const char *name, struct op_span *out);

/* Write the name of the folder of @span to @name. */
void op_span_name(const struct op_span *span, char name[OP_SPAN_NAME_MAX]);

/* Whether @span has samples that count. */
bool op_span_counts(const struct op_span *span);

/*
 * The spans in the session folder @dir, by the time at which they begin; free()
 * *@out. Returns 0, -ENOMEM or -errno of the folder.
 */
int op_spans_list(const char *dir, struct op_span **out, size_t *nr);

/*
 * Add the ledgers of the spans of session folder @dir that count to @sum.
 * Returns 0, also where there are none; -ENOMEM or -errno with the reason.
 */
int op_spans_account(const char *dir, struct op_ledger *sum,
		     struct op_diag *diag);

/*
 * Read the record of the spans that the history in session folder @dir has
 * dropped: their account into @ledger and their time into @span, whose end is 0
 * if nothing was dropped. Each may be NULL. Returns 0, -ENOMEM or -errno with
 * the reason.
 */
int op_spans_dropped(const char *dir, struct op_span *span,
		     struct op_ledger *ledger, struct op_diag *diag);

/*
 * Read the ledger of the session in folder @dir with all its spans. Returns as
 * op_ledger_read(); -ENOENT when neither has one.
 */
int op_session_account(const char *dir, struct op_ledger *out,
		       struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_SPAN_H */
