/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_HISTORY_H
#define DAEMON_STORE_OPD_HISTORY_H

/*
 * The history of samples/current (libop/session/op_span.h), for --history. When
 * a grain of the local clock ends, what is in the folder becomes a span, by
 * renames. The child that packs (opd_pack.h) then packs that span, puts spans
 * that have reached their age together to coarser ones, and drops the oldest
 * ones that are too old or too much.
 *
 * All of samples/current stays within the bytes of --history. Sample files that
 * are counted in may take one part of these (opd_disk.h): when half of that is
 * used, the span ends early.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "daemon/store/opd_history_state.h"
#include "libop/base/op_diag.h"

struct opd_store;

/* How many parts of the bytes are not for spans that the child has tended. */
#define OPD_HISTORY_RESERVE 3

/* How many bytes of @limits the spans may take. */
uint64_t opd_history_most(const struct op_history *limits);

/*
 * Complete a span that an earlier daemon was closing, and keep spans by
 * @limits from now on. Before samples are counted, and before opd_pack_init().
 */
void opd_history_init(struct opd_store *store, const struct op_history *limits);

/* Whether it is time for opd_history_close(), or what is counted takes too much
 * of the disk. */
bool opd_history_is_due(struct opd_store *store);

/* Whether to look after the history at once, as disk space seems to get short:
 * true at most once a second, and never while the child is at work. */
bool opd_history_is_pressed(struct opd_store *store);

/*
 * When what is in samples/current was counted last, as far as its files tell:
 * the end of a span that a former daemon had no time to close.
 */
time_t opd_history_left_at(const struct opd_store *store);

/*
 * Make a span up to @end of all that is in samples/current, where the ledger
 * without pending samples has just been written; what comes now is of the next
 * one. Waits for readers at most @wait_ms. Returns 0; -EBUSY while a child or a
 * reader is at work, or there is no room for one more span: then nothing has
 * changed, and a later call will do; -errno with the reason. Nothing has
 * changed either where the folder of the span cannot be made.
 */
int opd_history_close(struct opd_store *store, time_t end, unsigned int wait_ms,
		      struct op_diag *diag);

/* Nothing has been counted since the last span: the next one begins now. */
void opd_history_skip(struct opd_store *store);

/* samples/current was emptied or saved, with its history. */
void opd_history_begin_anew(struct opd_store *store);

/* The child has changed the spans, with result @err. */
void opd_history_tended(struct opd_store *store, int err);

/* Whether spans take more than opd_history_most(). */
bool opd_history_is_over(struct opd_store *store);

/*
 * The work of the child: pack, put together and drop spans of the session
 * folder @dir, waiting for readers at most @wait_ms each time. The process may
 * be killed at any instant. Goes on with the next span after an error. Returns
 * 0 or the first -errno with the reason.
 */
int opd_history_tend(struct opd_store *store, const char *dir,
		     unsigned int wait_ms, struct op_diag *diag);

#endif /* DAEMON_STORE_OPD_HISTORY_H */
