// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Failures are told when they begin and when their number in a row has doubled,
 * so that a server that is away for a day leaves some lines in a log and not a
 * thousand.
 */

#include "pp/oppush/oppush_run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pp/oppush/oppush_pace.h"

__attribute__((format(printf, 2, 3))) static void
say_push(const struct push_run *run, const char *fmt, ...)
{
	char text[OP_DIAG_MAX];
	struct op_diag diag = { "" };
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* A server's text may contain anything, a % too. */
	op_diag_set(&diag, 0, "%s", text);
	run->work->say(run->work->ctx, diag.text);
}

/* ---- making profiles --------------------------------------------------------
 */

static void say_spool_is_full(struct push_run *run)
{
	if (run->is_full)
		return;
	run->is_full = true;
	say_push(
		run,
		"%s: has %" PRIu64
		" MiB of profiles, as many as it may; until some are sent, what is counted waits in the session and will be in one profile",
		run->spool->dir, run->spool->bytes >> 20);
}

static int64_t run_now(const struct push_run *run)
{
	return run->work->now_ms(run->work->ctx);
}

static int make_next_profile(struct push_run *run)
{
	struct op_diag diag = { "" };
	int err = run->work->take(run->work->ctx, run->spool, run_now(run),
				  &diag);

	if (!err) {
		run->told[0] = '\0';
		run->is_full = false;
		return 0;
	}
	if (err == -ENOSPC && !*diag.text && run->spool->nr) {
		say_spool_is_full(run);
		return err;
	}
	if (err == -ENOSPC && !*diag.text)
		op_diag_set(
			&diag, err,
			"%s: one profile has more bytes than --spool-max; allow more, or push a part of the session",
			run->spool->dir);
	if (strcmp(run->told, op_diag_text(&diag, err)) != 0)
		say_push(run, "%s", op_diag_text(&diag, err));
	snprintf(run->told, sizeof(run->told), "%s", op_diag_text(&diag, err));
	return err;
}

/* ---- sending them -----------------------------------------------------------
 */

static bool is_power_of_two(uint64_t nr)
{
	return !(nr & (nr - 1));
}

/* A profile that nobody took yet; it is dropped when that is for good. */
static int put_off(struct push_run *run, enum push_outcome outcome,
		   const struct push_answer *answer, struct op_diag *diag)
{
	struct push_state *state = &run->spool->state;
	const struct push_spooled *first = run->spool->list;
	uint64_t wait;

	state->failures++;
	state->refusals = outcome == PUSH_REFUSED ? state->refusals + 1 : 0;
	if (state->refusals >= PUSH_MAX_REFUSALS) {
		say_push(run,
			 "%s; profile %" PRIu64 " with %" PRIu64
			 " samples is dropped, as it was refused %d times",
			 answer->text, first->number, first->samples,
			 PUSH_MAX_REFUSALS);
		return push_spool_remove(run->spool, true, diag);
	}
	wait = push_wait_ms(state->failures, run->work->random(run->work->ctx),
			    answer->retry_after_s);
	state->retry_at = run_now(run) + (int64_t)wait;
	if (!run->interval_ms || is_power_of_two(state->failures))
		say_push(
			run,
			"%s; %zu profiles wait, the next attempt is in %" PRIu64
			" s (failure %" PRIu64 ")",
			answer->text, run->spool->nr, (wait + 999) / 1000,
			state->failures);
	return push_spool_save(run->spool, diag) ?: -EAGAIN;
}

/* Somebody has removed it, so nothing newer would ever be sent. */
static bool is_oldest_gone(const struct push_run *run)
{
	char path[PATH_MAX];

	push_spool_path(run->spool, run->spool->list->name, path);
	return access(path, F_OK) && errno == ENOENT;
}

static int drop_oldest(struct push_run *run, struct op_diag *diag)
{
	const struct push_spooled *first = run->spool->list;

	say_push(run,
		 "%s: profile %" PRIu64 " with %" PRIu64
		 " samples is dropped, as its file is gone",
		 run->spool->dir, first->number, first->samples);
	return push_spool_remove(run->spool, true, diag);
}

static int send_oldest(struct push_run *run)
{
	struct push_answer answer = { .status = 0 };
	struct op_diag diag = { "" };
	uint64_t failures = run->spool->state.failures;
	enum push_outcome outcome;
	int err = run->work->send(run->work->ctx, run->spool, &answer, &diag);

	if (err && is_oldest_gone(run)) {
		diag.text[0] = '\0';
		err = drop_oldest(run, &diag);
		if (*diag.text)
			say_push(run, "%s", diag.text);
		return err;
	}
	/* A local error will happen again, so wait as after a refusal. */
	if (err) {
		snprintf(answer.text, sizeof(answer.text), "%.255s",
			 op_diag_text(&diag, err));
		diag.text[0] = '\0';
	}
	if (run->work->is_over(run->work->ctx) && !answer.status)
		return -EINTR;
	outcome = err ? PUSH_AGAIN : push_outcome(answer.status);
	if (outcome != PUSH_DELIVERED) {
		err = put_off(run, outcome, &answer, &diag);
	} else {
		err = push_spool_remove(run->spool, false, &diag);
		run->nr_sent += !err;
		if (failures)
			say_push(run,
				 "the server accepts profiles again; %zu wait",
				 run->spool->nr);
	}
	if (*diag.text)
		say_push(run, "%s", diag.text);
	return err;
}

static bool may_send(const struct push_run *run)
{
	int64_t at = run->spool->state.retry_at, now_ms = run_now(run);

	/* A clock that was put back keeps nobody waiting. */
	return run->spool->nr &&
	       (at <= now_ms || at > now_ms + PUSH_LONGEST_MS);
}

static int send_profiles(struct push_run *run)
{
	int err = 0;

	while (!err && may_send(run) && !run->work->is_over(run->work->ctx))
		err = send_oldest(run);
	return err;
}

/* ---- both -------------------------------------------------------------------
 */

int64_t push_run_step(struct push_run *run)
{
	int64_t next = run->take_at, now_ms = run_now(run);
	int err;

	if (!next || now_ms >= next || next > now_ms + run->interval_ms) {
		make_next_profile(run);
		/* In step, but for intervals that were missed. */
		if (!next || next + run->interval_ms <= now_ms || next > now_ms)
			next = now_ms;
		run->take_at = next + run->interval_ms;
	}
	err = send_profiles(run);
	next = run->take_at;
	now_ms = run_now(run);
	/* Where not even the state could be written, at the next profile. */
	if ((!err || err == -EAGAIN) && run->spool->nr &&
	    run->spool->state.retry_at < next)
		next = run->spool->state.retry_at;
	return next > now_ms ? next : now_ms + 1;
}

int push_run_once(struct push_run *run)
{
	int err = make_next_profile(run);
	int sent = send_profiles(run);

	/* With more room there may be a profile now. */
	if (err == -ENOSPC && run->nr_sent) {
		err = make_next_profile(run);
		sent = sent ?: send_profiles(run);
	}
	if (!sent && run->spool->nr) {
		sent = -EAGAIN;
		say_push(run,
			 "%zu profiles wait, for %" PRId64
			 " s more, as the server rejected the last one",
			 run->spool->nr,
			 (run->spool->state.retry_at - run_now(run) + 999) /
				 1000);
	}
	return err ?: sent;
}
