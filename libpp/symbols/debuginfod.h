/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DEBUGINFOD_H
#define LIBPP_SYMBOLS_DEBUGINFOD_H

/*
 * Debug files from debuginfod servers, by the build-id of the binary. A server
 * is asked only by a program that made a handle, and never again with that
 * handle after something went wrong: a report that waits for a server once for
 * each of a thousand images is of no use.
 *
 * The library libdebuginfod is loaded when the first file is asked for, because
 * it brings thirty others. Where it was not there when this was built, there is
 * no handle.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

struct pp_debuginfod;

/* Whether this was built with libdebuginfod. */
bool pp_debuginfod_is_built(void);

/*
 * Called when a file for binary @name is asked for, with 0 bytes; while it
 * comes, with @done of @total bytes, where @total is 0 if it is not known; and
 * with NULL for @name when the waiting is over.
 */
typedef void pp_debuginfod_progress(void *data, const char *name, uint64_t done,
				    uint64_t total);

/*
 * Prepare to ask the servers that the environment variable DEBUGINFOD_URLS
 * names. Nothing is asked yet. @progress may be NULL. Returns 0; -ENOTSUP, with
 * the reason in @diag, when this was built without libdebuginfod; -ENOMEM.
 */
int pp_debuginfod_new(struct pp_debuginfod **out,
		      pp_debuginfod_progress *progress, void *data,
		      struct op_diag *diag);
void pp_debuginfod_free(struct pp_debuginfod *server);

/*
 * The path of the debug file for the build-id of binary @name, in the cache of
 * libdebuginfod; the caller's to free. NULL where the servers have none, and
 * for what went wrong now or before. A server that sends nothing for
 * DEBUGINFOD_TIMEOUT seconds (an environment variable, default 30), and an
 * interrupt (SIGINT), end the waiting. @server may be NULL.
 */
char *pp_debuginfod_fetch(struct pp_debuginfod *server, const char *name,
			  const uint8_t *build_id, size_t len);

/* The file at @path, which was fetched, is no debug file of that build: remove
 * it from the cache, so that it is asked for again one day. */
void pp_debuginfod_refuse(struct pp_debuginfod *server, const char *path);

/* Returns the text of the first failure, once: NULL before a failure and after
 * the first call that returned the text. @server may be NULL. */
const char *pp_debuginfod_failure(struct pp_debuginfod *server);

#endif /* LIBPP_SYMBOLS_DEBUGINFOD_H */
