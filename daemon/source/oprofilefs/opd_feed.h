/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPROFILEFS_OPD_FEED_H
#define DAEMON_SOURCE_OPROFILEFS_OPD_FEED_H

/*
 * The whole stream of a live source. What such a source hands out names images
 * by cookies and kernel code by addresses, and does not say what it samples nor
 * what it lost. The feed asks the source and the running kernel for all that
 * and puts it between the source's own records, so that its reader needs no
 * one else, now or later on another machine.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct opd_feed;
struct opd_source;

/* For @source, which is open and outlives it. Returns 0 or -ENOMEM. */
int opd_feed_new(struct opd_feed **out, struct opd_source *source);
void opd_feed_free(struct opd_feed *feed);

/*
 * Read at most @nr words to @words; a record may be cut there, and goes on with
 * the next call. Returns the number of words, 0 at the end, -EAGAIN or -errno.
 */
ssize_t opd_feed_read(struct opd_feed *feed, uint64_t *words, size_t nr);

/* Kernel modules may have come and gone unseen. */
void opd_feed_kernel_changed(struct opd_feed *feed);

/* The reader has forgotten names of tasks that the feed looks up. */
void opd_feed_repeat_names(struct opd_feed *feed);

/*
 * Once all that is there has been read, say what was taken and lost until then,
 * before -EAGAIN.
 */
void opd_feed_ask_account(struct opd_feed *feed);

#endif /* DAEMON_SOURCE_OPROFILEFS_OPD_FEED_H */
