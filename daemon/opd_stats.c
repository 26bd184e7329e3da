// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger must add up even after a kill. Sample files are mapped memory,
 * which survives the daemon; the ledger is written now and then and may be
 * older than they are. So opd_stats_init() counts what the files hold and
 * believes them: samples that the ledger does not know were pending, as far as
 * there were so many, the rest of the pending ones died with the daemon
 * (lost_daemon_killed), and what is missing was in files that are damaged or
 * gone (lost_damaged_file). The same recount is done before a ledger is
 * written, when a file became unreadable.
 *
 * Differences are computed in unsigned arithmetic. Single numbers may wrap on
 * the way; the sums are right.
 *
 * When the disk is full, the ledger uses a reserve that was made at the start.
 */

#include "daemon/opd_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/store/opd_reserve.h"
#include "daemon/store/opd_session.h"
#include "daemon/store/opd_store.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"

/* More samples than this were never taken: a LOST record is damaged. */
#define MAX_SAMPLES (UINT64_C(1) << 62)
#define MAX_NS (UINT64_C(1) << 62) /* likewise, of an OP_EVENT_TIME record */

static const char *const fate_names[] = {
#define X(name, text) [OPD_LOST_##name] = (text),
	OPD_CAUSES(X)
#undef X
		[OPD_STORED] = "stored",
	[OPD_DEFERRED] = "deferred",
};

const char *opd_fate_name(enum opd_fate fate)
{
	return fate_names[fate];
}

void opd_stats_set_source(struct opd_stats *stats, const char *name)
{
	snprintf(stats->source, sizeof(stats->source), "%s", name);
}

static uint64_t sum_seen(const struct opd_stats *stats)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < OPD_NR_MODES; i++)
		sum += stats->seen[i];
	return sum;
}

/* Add to a cause or, when there is no room for another, to the last one. */
static void lose(struct op_ledger *ledger, const char *name, uint64_t nr)
{
	if (nr && op_ledger_lose(ledger, name, nr))
		ledger->causes[OP_LEDGER_MAX_CAUSES - 1].nr += nr;
}

static struct op_ledger_cause *find_cause(struct op_ledger *ledger,
					  const char *name)
{
	for (unsigned int i = 0; i < ledger->nr_causes; i++)
		if (!strcmp(ledger->causes[i].name, name))
			return &ledger->causes[i];
	return NULL;
}

int opd_stats_stream_lost(struct opd_stats *stats, const char *cause,
			  uint64_t nr)
{
	struct op_ledger *stream = &stats->stream;

	if (nr > MAX_SAMPLES - stream->taken)
		return -EINVAL;
	/* Leave room for the daemon's own causes. */
	if (!find_cause(stream, cause) &&
	    stream->nr_causes >= OP_LEDGER_MAX_CAUSES / 2)
		cause = "lost_other";
	if (op_ledger_lose(stream, cause, nr))
		return -EINVAL;
	stream->taken += nr;
	return 0;
}

int opd_stats_stream_event(struct opd_stats *stats,
			   const struct op_ledger_event *event)
{
	if (event->enabled > MAX_NS || event->samples > MAX_SAMPLES ||
	    event->turns > MAX_SAMPLES || event->periods > MAX_SAMPLES ||
	    event->sum_of_periods > MAX_SAMPLES)
		return -EINVAL;
	return op_ledger_time_event(&stats->stream, event) ? -EINVAL : 0;
}

/* Samples that all streams up to now say were taken, but no less than the sum
 * of those that are known. */
static uint64_t taken_of_streams(const struct opd_stats *stats)
{
	uint64_t known = stats->stream.taken + sum_seen(stats);
	uint64_t told = stats->taken_before + stats->taken_told;

	return told > known ? told : known;
}

int opd_stats_stream_taken(struct opd_stats *stats, uint64_t nr)
{
	if (nr > MAX_SAMPLES - stats->taken_before || nr < stats->taken_told)
		return -EINVAL;
	stats->taken_told = nr;
	return 0;
}

void opd_stats_stream_begins(struct opd_stats *stats)
{
	stats->taken_before = taken_of_streams(stats);
	stats->taken_told = 0;
}

/* ---- the ledger -------------------------------------------------------------
 */

/* Since this daemon started. */
static void count_all(const struct opd_stats *stats, struct op_ledger *out)
{
	*out = stats->stream;
	out->taken = taken_of_streams(stats);
	out->pending = out->taken - stats->stream.taken - sum_seen(stats) +
		       *stats->nr_deferred;
	out->stored = stats->stored;
	memcpy(out->stacks, stats->stacks, sizeof(out->stacks));
	if (stats->costs)
		memcpy(out->costs, stats->costs, sizeof(out->costs));
	out->costs[OP_COST_SPREAD] = stats->spread;
	for (unsigned int i = 0; i < OPD_NR_CAUSES; i++)
		lose(out, fate_names[i], stats->lost[i]);
}

/* Subtract the times of events. Each event of @less is in @ledger with as much
 * or more. */
static void subtract_events(struct op_ledger *ledger,
			    const struct op_ledger *less)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < ledger->nr_events; i++) {
		struct op_ledger_event *event = &ledger->events[i];

		/* Events are never taken out of a stream's, so both lists
		 * begin with the same ones. */
		if (i < less->nr_events) {
			event->enabled -= less->events[i].enabled;
			event->running -= less->events[i].running;
			event->samples -= less->events[i].samples;
			event->turns -= less->events[i].turns;
			event->periods -= less->events[i].periods;
			event->sum_of_periods -= less->events[i].sum_of_periods;
			event->squares_of_periods -=
				less->events[i].squares_of_periods;
		}
		if (event->enabled || event->periods)
			ledger->events[kept++] = *event;
	}
	ledger->nr_events = kept;
}

static void subtract(struct op_ledger *ledger, const struct op_ledger *less)
{
	subtract_events(ledger, less);
	ledger->taken -= less->taken;
	ledger->stored -= less->stored;
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		ledger->stacks[i] -= less->stacks[i];
	for (unsigned int i = 0; i < OP_COST_BUDGET; i++)
		ledger->costs[i] -= less->costs[i];
	for (unsigned int i = 0; i < less->nr_causes; i++) {
		struct op_ledger_cause *cause =
			find_cause(ledger, less->causes[i].name);

		if (cause)
			cause->nr -= less->causes[i].nr;
	}
}

void opd_stats_ledger(const struct opd_stats *stats, struct op_ledger *out)
{
	const struct op_ledger *base = &stats->base;
	struct op_ledger now = { .taken = 0 };
	unsigned int kept = 0;

	count_all(stats, out);
	subtract(out, &stats->origin);
	for (unsigned int i = 0; i < out->nr_causes; i++)
		if (out->causes[i].nr)
			out->causes[kept++] = out->causes[i];
	out->nr_causes = kept;
	out->taken += base->taken;
	out->stored += base->stored;
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		out->stacks[i] += base->stacks[i];
	op_ledger_add_costs(out->costs, base->costs);
	for (unsigned int i = 0; i < base->nr_causes; i++)
		lose(out, base->causes[i].name, base->causes[i].nr);
	for (unsigned int i = 0; i < base->nr_events; i++)
		op_ledger_time_event(out, &base->events[i]);
	/* The samples may be from several sources by now. */
	now.pending = out->pending;
	memcpy(out->source, base->source, sizeof(out->source));
	out->run = base->run;
	now.run = stats->run;
	snprintf(now.source, sizeof(now.source), "%s", stats->source);
	op_ledger_merge(out, &now);
}

/* Count what unreadable sample files held as lost. */
static void recount(struct opd_stats *stats, struct op_ledger *ledger)
{
	struct op_ledger *base = &stats->base;
	uint64_t there, missing;

	/* If counting fails, leave the ledger as it is and try again later. */
	if (opd_session_count(stats->store, &there, NULL))
		return;
	opd_store_counted(stats->store);
	if (there >= ledger->stored)
		return;
	missing = ledger->stored - there;
	base->stored -= missing;
	lose(base, OPD_LOST_DAMAGED, missing);
	ledger->stored -= missing;
	lose(ledger, OPD_LOST_DAMAGED, missing);
}

static int write_ledger(const struct opd_stats *stats,
			const struct op_ledger *ledger)
{
	const struct op_session *session = stats->store->session;
	struct op_diag diag = { "" };
	char path[sizeof(session->current) + 16];
	int err;

	snprintf(path, sizeof(path), "%s/ledger", session->current);
	err = op_ledger_write(ledger, path, NULL, &diag);
	if ((err == -ENOSPC || err == -EDQUOT) &&
	    !opd_reserve_write(session, ledger, path))
		err = 0;
	if (err)
		op_log(stats->store->log, "%s", diag.text);
	return err;
}

/* The ledger as it is, after what has to be done before it is written. */
static void settle(struct opd_stats *stats, struct op_ledger *ledger)
{
	opd_stats_ledger(stats, ledger);
	if (stats->store->recount)
		recount(stats, ledger);
}

int opd_stats_write(struct opd_stats *stats)
{
	struct op_ledger ledger;

	settle(stats, &ledger);
	return write_ledger(stats, &ledger);
}

int opd_stats_write_last(struct opd_stats *stats)
{
	struct op_ledger ledger;

	settle(stats, &ledger);
	if (ledger.pending)
		op_log(stats->store->log,
		       "%" PRIu64 " samples never arrived from the kernel",
		       ledger.pending);
	lose(&ledger, OPD_LOST_AT_EXIT, ledger.pending);
	ledger.pending = 0;
	return write_ledger(stats, &ledger);
}

int opd_stats_write_saved(struct opd_stats *stats)
{
	struct op_ledger ledger;

	settle(stats, &ledger);
	ledger.taken -= ledger.pending;
	ledger.pending = 0;
	return write_ledger(stats, &ledger);
}

void opd_stats_restart(struct opd_stats *stats)
{
	memset(&stats->base, 0, sizeof(stats->base));
	count_all(stats, &stats->origin);
	stats->origin.taken -= stats->origin.pending;
	stats->origin.pending = 0;
	if (stats->run.start)
		stats->run.start = (uint64_t)stats->store->clock->date();
}

/* ---- starting from what is there --------------------------------------------
 */

/* A ledger that is damaged makes way for a new one. One that the system fails
 * to read may tell of losses that nothing else knows. */
static int read_base(struct opd_stats *stats, struct op_diag *diag)
{
	const char *dir = stats->store->session->current;
	struct op_ledger *base = &stats->base;
	char path[sizeof(stats->store->session->current) + 16];
	char bad[sizeof(path) + 8];
	struct op_diag why = { "" };
	int err;

	snprintf(path, sizeof(path), "%s/ledger", dir);
	err = op_ledger_read(base, path, &why);
	if (!err)
		return 0;
	memset(base, 0, sizeof(*base));
	if (err == -ENOENT)
		return 0;
	if (err != -EINVAL && err != -EFBIG && err != -ENOSPC)
		return op_diag_set(diag, err, "%s", why.text);
	snprintf(bad, sizeof(bad), "%s.bad", path);
	op_log(stats->store->log, "%s; renamed to ledger.bad", why.text);
	if (rename(path, bad))
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	return 0;
}

/*
 * A daemon that was killed stored more than it wrote down, and took the
 * samples that were pending with it.
 */
static void reconcile(struct opd_stats *stats, uint64_t there)
{
	struct op_ledger *base = &stats->base;

	if (there > base->stored) {
		uint64_t more = there - base->stored;
		uint64_t came = more < base->pending ? more : base->pending;

		op_log(stats->store->log,
		       "%" PRIu64 " stored samples were missing in the ledger",
		       more);
		base->pending -= came;
		base->taken += more - came;
	} else if (there < base->stored) {
		op_log(stats->store->log,
		       "%" PRIu64
		       " samples in the ledger are missing or unreadable",
		       base->stored - there);
		lose(base, OPD_LOST_DAMAGED, base->stored - there);
	}
	base->stored = there;
	lose(base, OPD_LOST_KILLED, base->pending);
	base->pending = 0;
}

int opd_stats_init(struct opd_stats *stats, struct opd_store *store,
		   const uint64_t *nr_deferred, struct op_diag *diag)
{
	const struct op_session *session = store->session;
	uint64_t *stacks = stats->base.stacks;
	uint64_t there;
	int err;

	stats->store = store;
	stats->nr_deferred = nr_deferred;
	err = read_base(stats, diag);
	if (err)
		return err;
	/* The call trees know better than a ledger that may be older. */
	memset(stacks, 0, sizeof(*stacks) * OP_STACKS_NOT_STORED);
	err = opd_session_count(stats->store, &there, stacks);
	if (!err)
		reconcile(stats, there);
	opd_store_counted(stats->store);
	opd_reserve_make(session);
	return err ? op_diag_set(diag, err,
				 "%s: its samples cannot be counted: %s",
				 session->current, strerror(-err))
		   : 0;
}

/* ---- the log ----------------------------------------------------------------
 */

static void log_number(struct op_log *log, const char *what, uint64_t nr)
{
	op_log_plain(log, "Nr. %s: %" PRIu64, what, nr);
}

static void log_causes(struct op_log *log, const struct op_ledger *ledger)
{
	static const struct {
		const char *text;
		const char *cause;
	} lines[] = {
		{ "samples lost due to sample file open failure",
		  "lost_sample_file" },
		{ "samples lost due to no permanent mapping", "lost_no_image" },
		{ "samples lost due to no image name", "lost_no_image_name" },
		{ "samples lost due to buffer overflow",
		  "event_lost_overflow" },
		{ "samples lost due to no mapping", "sample_lost_no_mapping" },
		{ "samples lost due to no mm", "sample_lost_no_mm" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		log_number(log, lines[i].text,
			   op_ledger_lost_by(ledger, lines[i].cause));
}

static void log_stacks(struct op_log *log, const struct op_ledger *ledger)
{
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		op_log_plain(log, "Nr. stacks.%s: %" PRIu64,
			     op_ledger_stacks_name(i), ledger->stacks[i]);
}

void opd_stats_log(const struct opd_stats *stats)
{
	struct op_log *log = stats->store->log;
	struct op_ledger ledger;

	opd_stats_ledger(stats, &ledger);
	op_log_plain(log, "-- OProfile Statistics --");
	log_number(log, "sample dumps", stats->nr_reads);
	log_number(log, "non-backtrace samples", sum_seen(stats));
	log_number(log, "kernel samples", stats->seen[OPD_MODE_KERNEL]);
	log_number(log, "lost samples (no kernel/user)",
		   stats->lost[OPD_LOST_NO_CONTEXT]);
	log_number(log, "incomplete code structs",
		   stats->incomplete + stats->bad_records);
	log_causes(log, &ledger);
	log_number(log, "callers in backtraces", stats->frames);
	if (stats->frames)
		log_stacks(log, &ledger);
	log_number(log, "unknown codes", stats->unknown_codes);
	log_number(log, "impossible lengths", stats->bad_lengths);
	log_number(log, "words skipped after them", stats->skipped_words);
	if (stats->store->pack.nr_made)
		log_number(log, "packs made", stats->store->pack.nr_made);
	op_log_plain(log,
		     "Ledger: taken %" PRIu64 ", stored %" PRIu64
		     ", lost %" PRIu64 ", pending %" PRIu64,
		     ledger.taken, ledger.stored, op_ledger_lost(&ledger),
		     ledger.pending);
}
