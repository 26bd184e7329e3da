// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session is known by its folder and by the number of samples that its
 * account says were taken, which goes down when the session is reset. The sum
 * in the spool is of what was put into profiles, not of the last report: what
 * could not be told then, as other stacks had to make up for it, is told later.
 *
 * The account is read before the report is made, so the report has at least the
 * samples that the account knows.
 */

#include "pp/oppush_take.h"

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
#include "libop/op_ledger.h"
#include "libop/op_session.h"
#include "libop/op_span.h"
#include "pp/oppush_sums.h"
#include "utils/process.h"

#define REPORT "report.pb.gz"
#define NSEC_PER_SEC INT64_C(1000000000)

/* A profile in the making. */
struct push_taking {
	const struct push_source *source;
	struct push_spool *spool;
	struct op_session session;
	struct push_state state; /* that it leads to */
	int64_t begin;
	bool is_same; /* the session of the last profile */
};

/* ---- the session ------------------------------------------------------------
 */

/* What was pushed can be told from what was not as long as sums only grow. */
static int refuse_history(const char *folder, struct op_diag *diag)
{
	struct op_span *spans;
	size_t nr;
	int err = op_spans_list(folder, &spans, &nr);

	if (err)
		return err == -ENOENT ? 0
				      : op_diag_set(diag, err, "%s: %s", folder,
						    strerror(-err));
	free(spans);
	if (!nr)
		return 0;
	return op_diag_set(
		diag, -ENOTSUP,
		"%s: has a history, which drops what is old; push from a session that is taken without --history",
		folder);
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
	return refuse_history(t->session.current, diag);
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
		t->source->say(
			"the session is a new one; what the one before took since its last profile is not pushed");
	if (last->end > t->begin)
		t->begin = last->end;
	if (t->begin <= 0 || t->begin >= now)
		t->begin = now - 1;
}

/* ---- the report -------------------------------------------------------------
 */

static int make_push_report(const struct push_taking *t, const char *path,
			    struct op_diag *diag)
{
	struct process_args args = { .nr = 0 };
	char folder[PATH_MAX], program[PATH_MAX], text[OP_DIAG_MAX] = "";
	int err = process_own_folder(folder, sizeof(folder), diag)
			  ?: process_find_own(program, sizeof(program),
					      "opreport", folder, diag);

	if (err)
		return err;
	process_args_add(&args, "opreport");
	process_args_add(&args, "--session-dir=%s", t->session.dir);
	process_args_add(&args, "--format=pprof");
	process_args_add(&args, "--merge=cpu,tid,tgid");
	process_args_add(&args, "--output-file=%s", path);
	for (const char *const *word = t->source->words; word && *word; word++)
		process_args_add(&args, "%s", *word);
	if (args.failed)
		err = op_diag_set(diag, -E2BIG,
				  "more than %d words; use fewer of them",
				  PROCESS_MAX_ARGS - args.nr);
	else
		err = process_run(program, args.argv, environ, text,
				  sizeof(text), diag);
	process_args_release(&args);
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
		" samples of earlier profiles are missing: no server took them",
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
			"%s: is missing, so nothing tells what was pushed; remove the spool, and all that is counted is pushed again",
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

int push_take(const struct push_source *source, struct push_spool *spool,
	      int64_t now, struct op_diag *diag)
{
	static struct push_taking t;
	char report[PATH_MAX];
	int err;

	t = (struct push_taking){
		.source = source,
		.spool = spool,
		.state = spool->state,
	};
	t.state.end = now;
	t.state.told_samples = spool->state.dropped_samples;
	err = op_session_init(&t.session, source->session_dir, diag)
		      ?: identify_session(&t, diag);
	if (err)
		return err;
	compare_session(&t, now);
	push_spool_path(spool, REPORT, report);
	err = make_push_report(&t, report, diag)
		      ?: compare_taking(&t, report, diag);
	unlink(report);
	return err;
}
