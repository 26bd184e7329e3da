/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_TRANS_H
#define DAEMON_CONTEXT_OPD_TRANS_H

/*
 * The context machine, the only consumer of the stream: context records
 * change struct transient, and each sample is counted in the sample file that
 * the context says. Whatever a stream holds, every sample in it is stored,
 * deferred (opd_defer.h) or lost by a named cause, and the daemon goes on:
 *
 * - an unknown code is skipped by its length and counted;
 * - a context record that makes no sense makes the context unknown;
 * - behind an impossible length, all is skipped up to the next OP_CPU_SWITCH.
 */

#include <stddef.h>
#include <stdint.h>

struct opd;

/*
 * Handle all whole records and samples of the @nr words at @words. Returns
 * how many words were used; the rest is to be given again with more behind.
 */
size_t opd_trans_run(struct opd *opd, const uint64_t *words, size_t nr);

/* The stream ends with @nr words that make no whole record. */
void opd_trans_end(struct opd *opd, size_t nr);

#endif /* DAEMON_CONTEXT_OPD_TRANS_H */
