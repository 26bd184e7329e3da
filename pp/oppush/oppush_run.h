/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_RUN_H
#define PP_OPPUSH_OPPUSH_RUN_H

/*
 * When profiles are made and sent: one each interval, and each at once, the
 * oldest first; after a failure the wait of oppush_pace.h. No clock is looked
 * at here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "pp/oppush/oppush_send.h"
#include "pp/oppush/oppush_spool.h"

/* Functions that do the work of a run; each gets @ctx. */
struct push_work {
	void *ctx;
	int64_t (*now_ms)(void *ctx); /* since 1970 */
	/* Like push_take() at @now_ms, and push_send() of the oldest profile.
	 */
	int (*take)(void *ctx, struct push_spool *spool, int64_t now_ms,
		    struct op_diag *diag);
	int (*send)(void *ctx, const struct push_spool *spool,
		    struct push_answer *answer, struct op_diag *diag);
	/* Tell a person. */
	void (*say)(void *ctx, const char *text);
	uint64_t (*random)(void *ctx);
	bool (*is_over)(void *ctx); /* whether to end as soon as possible */
};

struct push_run {
	const struct push_work *work;
	struct push_spool *spool;
	int64_t interval_ms; /* 0: once */
	int64_t take_at; /* ms since 1970; 0: at once */
	char told[OP_DIAG_MAX]; /* last, of taking */
	bool is_full; /* the spool, as was told */
	uint64_t nr_sent;
};

/* Do what is due. Returns when there is something to do again, in ms since
 * 1970. */
int64_t push_run_step(struct push_run *run);

/* Make a profile, and send all that may be sent. Returns 0 if the spool is
 * empty then and nothing failed. */
int push_run_once(struct push_run *run);

#endif /* PP_OPPUSH_OPPUSH_RUN_H */
