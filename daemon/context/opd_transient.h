/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_TRANSIENT_H
#define DAEMON_CONTEXT_OPD_TRANSIENT_H

/*
 * The state of the stream at its present word, and the samples that come next:
 * each is counted in the sample file that the context says, deferred
 * (opd_defer.h), or lost by a named cause.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/context/opd_context.h"

struct opd;
struct opd_sfile;
struct opd_stream;

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

void opd_transient_init(struct opd *opd);

/* Handle the samples at the cursor. False when the first one is not whole. */
bool opd_transient_samples(struct opd *opd, struct opd_stream *stream);

/* A record of a feature is a sample at @pc: context.ext has its data. */
void opd_transient_ext_sample(struct opd *opd, uint64_t pc);

/* A sample that has no address is lost by @fate. */
void opd_transient_lose(struct opd *opd, enum opd_fate fate);

/* Nothing is known of the samples that follow; a trace ends. */
void opd_transient_forget(struct opd *opd);

/* Images or kernel ranges changed: look everything up again. */
static inline void opd_transient_forget_images(struct transient *trans)
{
	trans->sfile = NULL;
	trans->span = 0;
}

/* @sfile goes away. */
void opd_transient_forget_sfile(struct transient *trans,
				const struct opd_sfile *sfile);

#endif /* DAEMON_CONTEXT_OPD_TRANSIENT_H */
