// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A unit of the stream is a record, which changes the context (opd_codes.c), or
 * a sample, which is counted in it (opd_transient.c). Only whole units are
 * handled; the caller gives the rest again with more words behind it.
 */

#include "daemon/context/opd_trans.h"

#include "daemon/context/opd_codes.h"
#include "daemon/opd.h"
#include "daemon/source/opd_stream.h"

static void resync(struct opd *opd, struct opd_stream *stream)
{
	const uint64_t *from = stream->at;

	opd->trans.resyncing = !opd_stream_resync(stream);
	opd->stats.skipped_words += (uint64_t)(stream->at - from);
}

static void start_resync(struct opd *opd, struct opd_stream *stream)
{
	if (opd->stats.bad_lengths++ == 0)
		op_log(&opd->log,
		       "a record of impossible length: skipping to the next CPU switch");
	opd_transient_forget(opd);
	stream->at++;
	opd->stats.skipped_words++;
	resync(opd, stream);
}

/* False when what is at the cursor is not whole. */
static bool handle_record(struct opd *opd, struct opd_stream *stream)
{
	struct opd_rec rec;

	if (opd_code_switches(opd, stream))
		return true;
	switch (opd_stream_record(stream, &rec)) {
	case OPD_UNIT_RECORD:
		opd_code_handle(opd, &rec);
		return true;
	case OPD_UNIT_BAD:
		start_resync(opd, stream);
		return !opd->trans.resyncing;
	case OPD_UNIT_MORE:
		break;
	}
	return false;
}

size_t opd_trans_run(struct opd *opd, const uint64_t *words, size_t nr)
{
	struct opd_stream stream = { words, words + nr };
	bool more = true;

	if (opd->trans.resyncing) {
		resync(opd, &stream);
		more = !opd->trans.resyncing;
	}
	while (more && stream.at < stream.end)
		more = *stream.at == OP_ESCAPE
			       ? handle_record(opd, &stream)
			       : opd_transient_samples(opd, &stream);
	return (size_t)(stream.at - words);
}

void opd_trans_end(struct opd *opd, size_t nr)
{
	opd->stats.incomplete += nr;
	if (nr == 1 && !opd->trans.resyncing)
		op_log(&opd->log, "the stream ends in the middle of a sample");
	else if (nr)
		op_log(&opd->log, "the stream ends in the middle of a record");
	opd_transient_forget(opd);
	opd_defer_retry(&opd->defer, OP_NO_COOKIE, true);
}
