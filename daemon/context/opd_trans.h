/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_TRANS_H
#define DAEMON_CONTEXT_OPD_TRANS_H

/*
 * The context machine, the only consumer of the stream: context records
 * change struct transient, and each sample is counted in the sample file that
 * the context says. Whatever a stream holds, every sample in it is stored,
 * deferred (opd_defer.h) or lost by a named cause, and the daemon goes on:
 *
 * - an unknown code is skipped by its length and counted (opd_codes.h);
 * - a context record that makes no sense makes the context unknown;
 * - behind an impossible length, all is skipped up to the next OP_CPU_SWITCH.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/context/opd_context.h"

struct opd;
struct opd_sfile;

enum opd_tracing {
	OPD_TRACE_OFF,
	OPD_TRACE_START, /* the next sample is the innermost frame */
	OPD_TRACE_ON, /* what follows are callers (opd_trace.h), no samples */
};

struct transient {
	struct opd_context context;
	enum opd_tracing tracing;
	bool resyncing; /* skipping to the next OP_CPU_SWITCH */
	bool stream_events; /* OP_EVENT records have replaced the events */
	/*
	 * Where the next sample goes if pc - base < span and nothing changes
	 * in between. The sfile is borrowed, NULL when span is 0.
	 */
	struct opd_sfile *sfile;
	uint64_t base;
	uint64_t span;
};

void opd_trans_init(struct opd *opd);

/*
 * Handle all whole records and samples of the @nr words at @words. Returns
 * how many words were used; the rest is to be given again with more behind.
 */
size_t opd_trans_run(struct opd *opd, const uint64_t *words, size_t nr);

/* The stream ends with @nr words that make no whole record. */
void opd_trans_end(struct opd *opd, size_t nr);

/* A sample that a record of a feature is: context.ext has its data. */
void opd_trans_ext_sample(struct opd *opd, uint64_t pc);

/* A sample is lost, by @fate, that has no place to be looked for. */
void opd_trans_lose(struct opd *opd, enum opd_fate fate);

/* Nothing is known of the samples that follow; a trace ends. */
void opd_trans_forget(struct opd *opd);

/* Images or kernel ranges changed: look everything up again. */
static inline void opd_trans_forget_images(struct transient *trans)
{
	trans->sfile = NULL;
	trans->span = 0;
}

/* @sfile goes away. */
void opd_trans_forget_sfile(struct transient *trans,
			    const struct opd_sfile *sfile);

#endif /* DAEMON_CONTEXT_OPD_TRANS_H */
