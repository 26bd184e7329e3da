// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session is known by its folder and by the number of samples that its
 * account says were taken, which goes down when the session is reset. The sum
 * in the spool is of what was put into profiles, not of the last report: what
 * could not be told then, as other stacks had to make up for it, is told later.
 *
 * The account is read before the report is made, so the report has at least the
 * samples that the account knows.
 *
 * With a history the spans of time are there already: each that is closed is a
 * profile, whose sum in the spool is of no use then. A span from before and
 * after the last profile has samples that were pushed: where that profile was
 * made before there was a span, the sum tells which, else the daemon has put
 * spans together that were waited for too long.
 */

#include "pp/oppush/oppush_take.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "libop/files/op_process.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_session.h"
#include "libop/session/op_span.h"
#include "pp/oppush/oppush_sums.h"

#define REPORT "report.pb.gz"
#define NSEC_PER_SEC INT64_C(1000000000)
/* The first push of a history goes back this many seconds; servers refuse older
 * profiles. */
#define FIRST_SECONDS 3600
/* Before the name of a session that has one. */
#define HISTORY "history "
/* opreport's message if the part to push has no samples. */
#define NOTHING_MATCHES ": no sample files match"

/* A profile in the making. */
struct push_taking {
	const struct push_source *source;
	struct push_spool *spool;
	struct op_session session;
	struct push_state state; /* that it leads to */
	int64_t begin;
	bool is_same; /* the session of the last profile */
	struct op_span *spans; /* of its history, by time */
	size_t nr_spans; /* 0: it has none */
};

/* ---- the session ------------------------------------------------------------
 */

static int list_spans(struct push_taking *t, struct op_diag *diag)
{
	const char *folder = t->session.current;
	int err;

	free(t->spans);
	t->spans = NULL;
	t->nr_spans = 0;
	err = op_spans_list(folder, &t->spans, &t->nr_spans);
	if (!err || err == -ENOENT)
		return 0;
	return op_diag_set(diag, err, "%s: %s", folder, strerror(-err));
}

static bool is_closed(const struct op_span *span)
{
	return span->state == OP_SPAN_CLOSED && op_span_counts(span);
}

static bool has_span(const struct push_taking *t, const struct op_span *span)
{
	for (size_t i = 0; i < t->nr_spans; i++)
		if (is_closed(&t->spans[i]) &&
		    t->spans[i].begin == span->begin &&
		    t->spans[i].end == span->end)
			return true;
	return false;
}

static int identify_session(struct push_taking *t, struct op_diag *diag)
{
	struct statx st;
	struct op_ledger ledger = { .taken = 0 };
	char path[sizeof(t->session.current) + 16];
	int err;

	if (statx(AT_FDCWD, t->session.current, 0, STATX_INO | STATX_BTIME,
		  &st))
		return op_diag_set(
			diag, -errno,
			"%s: %s; profile first, or name the session with --session-dir",
			t->session.current, strerror(errno));
	if (!(st.stx_mask & STATX_BTIME))
		memset(&st.stx_btime, 0, sizeof(st.stx_btime));
	snprintf(t->state.session, sizeof(t->state.session),
		 "%u:%u:%" PRIu64 " %" PRId64 ".%09u", st.stx_dev_major,
		 st.stx_dev_minor, (uint64_t)st.stx_ino,
		 (int64_t)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
	t->begin = st.stx_btime.tv_sec * NSEC_PER_SEC + st.stx_btime.tv_nsec;
	snprintf(path, sizeof(path), "%s/ledger", t->session.current);
	err = op_ledger_read(&ledger, path, diag);
	t->state.taken = ledger.taken;
	if (err && err != -ENOENT)
		return err;
	return list_spans(t, diag);
}

static void say_session_is_new(const struct push_taking *t)
{
	t->source->say(
		"the session is new; samples that the previous session recorded after its last profile are not pushed");
}

/* Compare it with the one that the last profile is of. */
static void compare_session(struct push_taking *t, int64_t now)
{
	const struct push_state *last = &t->spool->state;

	t->is_same = last->number && !strcmp(last->session, t->state.session) &&
		     t->state.taken >= last->taken;
	if (t->is_same)
		t->begin = last->end;
	else if (last->number)
		say_session_is_new(t);
	if (last->end > t->begin)
		t->begin = last->end;
	if (t->begin <= 0 || t->begin >= now)
		t->begin = now - 1;
}

/* ---- the report -------------------------------------------------------------
 */

/* Let opreport write a report of @span, or of the whole session if it is NULL,
 * to @path. */
static int make_push_report(const struct push_taking *t,
			    const struct op_span *span, const char *path,
			    struct op_diag *diag)
{
	struct op_process_args args = { .nr = 0 };
	char folder[PATH_MAX], program[PATH_MAX], text[OP_DIAG_MAX] = "";
	int room;
	int err = op_process_own_folder(folder, sizeof(folder), diag)
			  ?: op_process_find_own(program, sizeof(program),
						 "opreport", folder, diag);

	if (err)
		return err;
	op_process_args_add(&args, "opreport");
	op_process_args_add(&args, "--session-dir=%s", t->session.dir);
	op_process_args_add(&args, "--format=pprof");
	op_process_args_add(&args, "--merge=cpu,tid,tgid");
	op_process_args_add(&args, "--output-file=%s", path);
	if (span)
		op_process_args_add(&args, "time:@%" PRIu64 "-@%" PRIu64,
				    span->begin, span->end);
	room = OP_PROCESS_MAX_ARGS - args.nr;
	for (const char *const *word = t->source->words; word && *word; word++)
		op_process_args_add(&args, "%s", *word);
	if (args.failed)
		err = op_diag_set(diag, -E2BIG,
				  "more than %d words; use fewer of them",
				  room);
	else
		err = op_process_run(program, args.argv, environ, text,
				     sizeof(text), diag);
	op_process_args_release(&args);
	if (err <= 0)
		return err;
	text[strcspn(text, "\n")] = '\0';
	return op_diag_set(diag, -ENODATA, "%s",
			   *text ? text : "opreport failed");
}

/* ---- the profile ------------------------------------------------------------
 */

static int write_taking(const struct push_taking *t,
			const struct push_sums *sums, uint64_t samples,
			struct op_diag *diag)
{
	const struct push_state *last = &t->spool->state;
	char told[160];
	const char *const comments[] = {
		"oprofile " PACKAGE_VERSION,
		told,
	};
	struct push_profile_info info = {
		.begin = t->begin,
		.end = t->state.end,
		.comments = comments,
		.nr_comments = 1,
		.as_servers = true,
	};
	uint8_t *profile = NULL, *sum = NULL;
	size_t profile_len = 0, sum_len = 0;
	int err;

	if (last->dropped_samples > last->told_samples)
		info.nr_comments++;
	snprintf(
		told, sizeof(told),
		"%" PRIu64
		" samples of earlier profiles are missing: no server accepted them",
		last->dropped_samples - last->told_samples);
	err = push_sums_write(sums, false, &info, &profile, &profile_len);
	info.as_servers = false;
	if (!err)
		err = push_sums_write(sums, true, &info, &sum, &sum_len);
	if (!err)
		err = push_spool_add(
			t->spool, &t->state, t->begin, samples,
			&(struct push_bytes){ profile, profile_len },
			&(struct push_bytes){ sum, sum_len }, diag);
	free(profile);
	free(sum);
	return err;
}

static int compare_taking(struct push_taking *t, const char *report,
			  struct op_diag *diag)
{
	Pprof__Profile *now = NULL, *old = NULL;
	struct push_sums sums;
	char path[PATH_MAX];
	uint64_t samples;
	int err = push_read_profile(report, &now, diag);

	push_spool_sum_path(t->spool, path);
	if (!err && t->is_same)
		err = push_read_profile(path, &old, diag);
	if (err == -ENOENT)
		err = op_diag_set(
			diag, err,
			"%s: is missing, so it is unknown which samples were pushed; remove the spool to push all samples again",
			path);
	if (!err) {
		err = push_sums_init(&sums, old, now);
		samples = err ? 0 : push_sums_more(&sums);
		if (samples)
			err = write_taking(t, &sums, samples, diag);
		push_sums_release(&sums);
	}
	if (now)
		pprof__profile__free_unpacked(now, NULL);
	if (old)
		pprof__profile__free_unpacked(old, NULL);
	if (err == -EBADMSG)
		op_diag_set(diag, err, "%s: is no sound file of pprof", report);
	return err;
}

/* A report of @span, NULL for all of the session, and what is new in it.
 * Returns -EAGAIN, without a reason, if the span is no more. */
static int push_report(struct push_taking *t, const struct op_span *span,
		       struct op_diag *diag)
{
	char report[PATH_MAX];
	int err;

	push_spool_path(t->spool, REPORT, report);
	err = make_push_report(t, span, report, diag);
	/* If it is still there, the report is of that and of nothing else. */
	if (!err && span)
		err = list_spans(t, diag) ?: (has_span(t, span) ? 0 : -EAGAIN);
	if (!err)
		err = compare_taking(t, report, diag);
	unlink(report);
	return err;
}

/* ---- a history --------------------------------------------------------------
 */

static int64_t ns_of(uint64_t seconds)
{
	return seconds < (uint64_t)(INT64_MAX / NSEC_PER_SEC)
		       ? (int64_t)seconds * NSEC_PER_SEC
		       : INT64_MAX;
}

/* The first span that has something new; NULL if there is none. */
static const struct op_span *next_span(const struct push_taking *t,
				       int64_t from)
{
	for (size_t i = 0; i < t->nr_spans; i++)
		if (is_closed(&t->spans[i]) && ns_of(t->spans[i].end) > from)
			return &t->spans[i];
	return NULL;
}

/* Nothing of @span is to be pushed. */
static int skip_span(const struct push_taking *t, const struct op_span *span,
		     struct op_diag *diag)
{
	struct push_state *state = &t->spool->state;

	memcpy(state->session, t->state.session, sizeof(state->session));
	state->end = ns_of(span->end);
	return push_spool_save(t->spool, diag);
}

/* Push @span, of which nothing was pushed but what is in the sum. */
static int push_span(struct push_taking *t, const struct op_span *span,
		     struct op_diag *diag)
{
	int err;

	if (!t->is_same)
		t->begin = ns_of(span->begin);
	t->state.end = ns_of(span->end);
	err = push_report(t, span, diag);
	if (err == -ENODATA && strstr(diag->text, NOTHING_MATCHES)) {
		diag->text[0] = '\0';
		err = 0;
	}
	/* A span without samples makes no profile. */
	if (!err && t->spool->state.end != t->state.end)
		err = skip_span(t, span, diag);
	return err;
}

/* The daemon has put @span together of some that were pushed and others. */
static int pass_over_span(const struct push_taking *t,
			  const struct op_span *span, int64_t from,
			  struct op_diag *diag)
{
	char text[128];

	snprintf(
		text, sizeof(text),
		"%" PRId64
		" s of the history are not pushed, as they are in one span with what was",
		(ns_of(span->end) - from) / NSEC_PER_SEC);
	t->source->say(text);
	return skip_span(t, span, diag);
}

/* All spans that are new after @from, the oldest first; of the first one the
 * sum tells what was pushed, if there is a sum of this session. */
static int push_spans(struct push_taking *t, int64_t from, bool is_known,
		      struct op_diag *diag)
{
	const struct op_span *next;
	int err = 0;

	while (!err && (next = next_span(t, from))) {
		const struct op_span span = *next;

		if (is_known && !t->is_same && ns_of(span.begin) < from)
			err = pass_over_span(t, &span, from, diag);
		else
			err = push_span(t, &span, diag);
		if (!err) {
			from = ns_of(span.end);
			is_known = true;
			t->is_same = false;
		} else if (err == -EAGAIN && !*diag->text) {
			err = 0;
		}
	}
	return err;
}

static int push_history(struct push_taking *t, int64_t now,
			struct op_diag *diag)
{
	const struct push_state *last = &t->spool->state;
	char plain[sizeof(t->state.session)];
	bool is_known;
	int64_t from;

	memcpy(plain, t->state.session, sizeof(plain));
	/* Its samples were pushed before the daemon closed the first span. */
	t->is_same = last->number && !strcmp(last->session, plain);
	if (t->is_same)
		t->begin = last->end;
	snprintf(t->state.session, sizeof(t->state.session), HISTORY "%.*s",
		 (int)(sizeof(plain) - sizeof(HISTORY)), plain);
	t->state.taken = 0;
	is_known = t->is_same || !strcmp(last->session, t->state.session);
	if (is_known)
		return push_spans(t, last->end, true, diag);
	if (last->number)
		say_session_is_new(t);
	from = now - FIRST_SECONDS * NSEC_PER_SEC;
	if (is_closed(t->spans) && ns_of(t->spans->end) <= from)
		t->source->say(
			"the history before the last hour is not pushed");
	return push_spans(t, from, false, diag);
}

/* ---- all of it --------------------------------------------------------------
 */

int push_take(const struct push_source *source, struct push_spool *spool,
	      int64_t now, struct op_diag *diag)
{
	struct push_taking *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct push_taking){
		.source = source,
		.spool = spool,
		.state = spool->state,
	};
	t->state.end = now;
	t->state.told_samples = spool->state.dropped_samples;
	err = op_session_init(&t->session, source->session_dir, diag)
		      ?: identify_session(t, diag);
	if (!err && t->nr_spans) {
		err = push_history(t, now, diag);
	} else if (!err) {
		compare_session(t, now);
		err = push_report(t, NULL, diag);
	}
	free(t->spans);
	free(t);
	return err;
}
