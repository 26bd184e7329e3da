// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Most samples fall where the last one fell. The context therefore remembers
 * the sample file of the last sample with a range of addresses, and
 * run_counter() counts all following samples of that range and counter without
 * looking at the context. Every change of the context, the images or the files
 * clears that (opd_transient_forget_images()), so it cannot be stale. Traces,
 * deferred samples and verbose logging take the long way.
 */

#include "daemon/context/opd_transient.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/opd.h"
#include "daemon/source/opd_stream.h"
#include "libdb/odb.h"

void opd_transient_forget(struct opd *opd)
{
	struct transient *trans = &opd->trans;

	opd_trace_end(&opd->trace, OP_TRACE_DEPTH);
	trans->context = (struct opd_context){
		.cpu = OPD_UNKNOWN,
		.tid = OPD_UNKNOWN,
		.tgid = OPD_UNKNOWN,
		.owner = OPD_UNKNOWN,
	};
	trans->tracing = OPD_TRACE_OFF;
	opd_transient_forget_images(trans);
}

void opd_transient_init(struct opd *opd)
{
	memset(&opd->trans, 0, sizeof(opd->trans));
	opd_transient_forget(opd);
}

void opd_transient_forget_sfile(struct transient *trans,
				const struct opd_sfile *sfile)
{
	if (trans->sfile == sfile)
		opd_transient_forget_images(trans);
}

/* ---- samples ----------------------------------------------------------------
 */

/* The next samples go to @place, too, unless they have to be looked at. */
static void remember(struct opd *opd, const struct opd_place *place)
{
	struct transient *trans = &opd->trans;

	if (trans->tracing != OPD_TRACE_OFF ||
	    opd->log.verbose & OP_V_SAMPLES || !place->span)
		return;
	trans->sfile = place->sfile;
	trans->base = place->base;
	trans->span = place->span;
}

/* False when the queue is full. */
static __attribute__((noinline)) bool
defer(struct opd *opd, uint64_t pc, unsigned int counter, uint64_t waits_for)
{
	struct opd_deferred sample = {
		.context = opd->trans.context,
		.pc = pc,
		.waits_for = waits_for,
		.counter = counter,
	};

	return opd_defer_add(&opd->defer, &sample);
}

/* Store, defer or lose a sample. */
static enum opd_fate decide(struct opd *opd, uint64_t pc, unsigned int counter)
{
	struct opd_place place;
	uint64_t waits_for;
	enum opd_fate fate;

	fate = opd_place_store(&opd->places, &opd->trans.context, pc, counter,
			       false, &place, &waits_for);
	if (fate == OPD_STORED)
		remember(opd, &place);
	if (fate == OPD_DEFERRED && !defer(opd, pc, counter, waits_for))
		return OPD_LOST_NO_NAME;
	return fate;
}

/* Count what became of a sample. */
static enum opd_fate settle(struct opd *opd, uint64_t pc, uint64_t counter,
			    enum opd_fate fate)
{
	const struct opd_context *context = &opd->trans.context;

	opd->stats.seen[context->mode] += 1 + context->more;
	if (fate != OPD_DEFERRED)
		opd_stats_count(&opd->stats, fate, 1 + context->more);
	op_verbose(&opd->log, OP_V_SAMPLES,
		   "sample 0x%" PRIx64 " counter %" PRIu64 " cpu %" PRId64
		   " tgid %" PRId64 " tid %" PRId64 ": %s",
		   pc, counter, context->cpu, context->tgid, context->tid,
		   opd_fate_name(fate));
	return fate;
}

static enum opd_fate handle_sample(struct opd *opd, uint64_t pc,
				   uint64_t counter)
{
	enum opd_fate fate = OPD_LOST_BAD_COUNTER;

	if (counter < opd->events.nr && opd->events.counter[counter].set)
		fate = decide(opd, pc, (unsigned int)counter);
	return settle(opd, pc, counter, fate);
}

/* Forget the data and the times that were given for one sample. */
static void end_sample(struct transient *trans)
{
	trans->context.ext.ext = NULL;
	trans->context.more = 0;
}

/* A sample is the innermost frame of the trace that begins with it. */
static void start_trace(struct opd *opd, uint64_t pc, uint64_t counter)
{
	enum opd_fate fate = handle_sample(opd, pc, counter);

	if (fate == OPD_STORED || fate == OPD_DEFERRED)
		opd_trace_begin(&opd->trace, &opd->trans.context, pc,
				(unsigned int)counter);
	opd->trans.tracing = OPD_TRACE_ON;
	opd_transient_forget_images(&opd->trans);
}

void opd_transient_ext_sample(struct opd *opd, uint64_t pc)
{
	settle(opd, pc, OPD_NO_COUNTER, decide(opd, pc, OPD_NO_COUNTER));
	end_sample(&opd->trans);
}

void opd_transient_lose(struct opd *opd, enum opd_fate fate)
{
	uint64_t nr = 1 + opd->trans.context.more;

	opd->stats.seen[opd->trans.context.mode] += nr;
	opd_stats_count(&opd->stats, fate, nr);
	end_sample(&opd->trans);
}

/*
 * The hot loop: samples of one counter that go where the last one went.
 * Returns the first word that it did not use. No span reaches up to
 * OP_ESCAPE, and nothing that is called here changes the context.
 */
static const uint64_t *run_counter(struct opd_store *store,
				   const struct transient *trans,
				   const uint64_t *at, const uint64_t *end)
{
	uint64_t counter = at[1];
	uint64_t base = trans->base;
	uint64_t span = trans->span;
	struct odb *odb;

	if (counter >= trans->sfile->nr_odbs || !trans->sfile->odbs[counter])
		return at;
	odb = trans->sfile->odbs[counter];
	for (; end - at >= 2; at += 2) {
		uint64_t offset = at[0] - base;

		if (offset >= span || at[1] != counter ||
		    odb_add(odb, offset, 1))
			break;
		opd_sfile_time(store, trans->sfile, (unsigned int)counter,
			       offset, 1);
	}
	return at;
}

static const uint64_t *run_samples(struct opd *opd, const uint64_t *at,
				   const uint64_t *end)
{
	const uint64_t *start, *next = at;
	uint64_t done;

	for (start = at; end - at >= 2; at = next) {
		next = run_counter(&opd->store, &opd->trans, at, end);
		if (next == at)
			break;
	}
	done = (uint64_t)(at - start) / 2;
	opd->stats.stored += done;
	opd->stats.seen[opd->trans.context.mode] += done;
	return at;
}

bool opd_transient_samples(struct opd *opd, struct opd_stream *stream)
{
	if (opd->trans.span) {
		stream->at = run_samples(opd, stream->at, stream->end);
		if (stream->at == stream->end || *stream->at == OP_ESCAPE)
			return true;
	}
	if (opd->trans.tracing == OPD_TRACE_ON) {
		stream->at = opd_trace_add(&opd->trace, &opd->trans.context,
					   stream->at, stream->end);
		if (stream->at == stream->end || *stream->at == OP_ESCAPE)
			return true;
	}
	if (stream->end - stream->at < 2)
		return false;
	if (stream->at[1] == OP_ESCAPE) {
		opd_transient_lose(opd, OPD_LOST_BAD_RECORD);
		stream->at++;
		return true;
	}
	if (opd->trans.tracing == OPD_TRACE_START)
		start_trace(opd, stream->at[0], stream->at[1]);
	else
		handle_sample(opd, stream->at[0], stream->at[1]);
	end_sample(&opd->trans);
	stream->at += 2;
	return true;
}
