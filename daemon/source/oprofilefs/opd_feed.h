/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPROFILEFS_OPD_FEED_H
#define DAEMON_SOURCE_OPROFILEFS_OPD_FEED_H

/*
 * The stream of the kernel module, made whole. The module names images by
 * cookies and kernel code by addresses, and does not say what it samples nor
 * what it lost. The feed looks at each of its records and has the writer
 * (opd_writer.h) put before it what its reader has to know, so that the stream
 * needs no one else, now or later on another machine.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/jit/opd_jit_ranges.h"

struct opd_feed;
struct opd_source;
struct op_cookie_query;

/* For @source, whose read() hands out the module's words, and whose writer
 * outlives the feed. Returns 0 or -ENOMEM. */
int opd_feed_new(struct opd_feed **out, struct opd_source *source);
void opd_feed_free(struct opd_feed *feed);

/* The feed has made the image of @cookie, which is code that a program made. */
static inline bool opd_feed_has_made(uint64_t cookie)
{
	return cookie & OPD_JIT_RANGES_COOKIE;
}

/* The ops calls cookie() and detach_file() for such an image. */
int opd_feed_cookie(const struct opd_feed *feed, struct op_cookie_query *query);
int opd_feed_detach_file(const struct opd_feed *feed, uint64_t cookie);

/* The ops calls write() and finish() of a source that has a feed. */
ssize_t opd_feed_write(struct opd_source *source);
void opd_feed_finish(struct opd_source *source);

#endif /* DAEMON_SOURCE_OPROFILEFS_OPD_FEED_H */
