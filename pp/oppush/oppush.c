// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oppush sends what a session counts to a server of profiles, span by span. It
 * reads sample files as any report does: no daemon, and nothing that is
 * profiled, ever waits for it or for the server.
 *
 * SIGTERM and SIGINT are taken between two pieces of work, and while a server
 * is waited for. Whatever is on its way then is in the spool.
 */

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "libop/base/op_plural.h"
#include "config.h"
#include "pp/oppush/oppush_options.h"
#include "pp/oppush/oppush_run.h"
#include "pp/oppush/oppush_take.h"

#define EXIT_USAGE 2
#define MSEC_PER_SEC 1000
#define NSEC_PER_MSEC 1000000

/* Context of the work of a run. */
struct pusher {
	const struct push_options *options;
	struct push_source source;
};

static int64_t now_in_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * MSEC_PER_SEC + now.tv_nsec / NSEC_PER_MSEC;
}

static void say_to_stderr(const char *text)
{
	fprintf(stderr, "oppush: %s\n", text);
}

/* ---- signals ----------------------------------------------------------------
 */

static void ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
}

/* Whether there was one of those that end the program. */
static bool is_over(void)
{
	sigset_t pending;

	return !sigpending(&pending) && (sigismember(&pending, SIGTERM) ||
					 sigismember(&pending, SIGINT));
}

/* Wait for one until @until_ms at most. */
static void wait_for_ending(int64_t until_ms)
{
	int64_t left = until_ms - now_in_ms();
	struct timespec timeout = {
		.tv_sec = left / MSEC_PER_SEC,
		.tv_nsec = left % MSEC_PER_SEC * NSEC_PER_MSEC,
	};
	sigset_t set;

	ending_signals(&set);
	if (left > 0 && !is_over() && sigtimedwait(&set, NULL, &timeout) > 0)
		raise(SIGTERM); /* it stays pending, for is_over() */
}

/* ---- the work of a run ------------------------------------------------------
 */

static int64_t work_now(void *ctx)
{
	(void)ctx;
	return now_in_ms();
}

static int work_take(void *ctx, struct push_spool *spool, int64_t now_ms,
		     struct op_diag *diag)
{
	const struct pusher *pusher = ctx;

	return push_take(&pusher->source, spool, now_ms * NSEC_PER_MSEC, diag);
}

static int work_send(void *ctx, const struct push_spool *spool,
		     struct push_answer *answer, struct op_diag *diag)
{
	const struct pusher *pusher = ctx;

	return push_send(&pusher->options->target, spool, spool->list, answer,
			 diag);
}

static void work_say(void *ctx, const char *text)
{
	(void)ctx;
	say_to_stderr(text);
}

static uint64_t work_random(void *ctx)
{
	uint64_t random = 0;

	(void)ctx;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint64_t)now_in_ms();
	return random;
}

static bool work_is_over(void *ctx)
{
	(void)ctx;
	return is_over();
}

/* ---- what is asked for ------------------------------------------------------
 */

static void show_span(const char *what, int64_t ns)
{
	time_t at = (time_t)(ns / NSEC_PER_MSEC / MSEC_PER_SEC);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%F %T", &tm);
	printf("%s%s", what, text);
}

static int show_status(const struct push_spool *spool, struct op_diag *diag)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < spool->nr; i++)
		samples += spool->list[i].samples;
	printf("%s: waiting: %zu profile%s with %" PRIu64 " sample%s, %" PRIu64
	       " of %" PRIu64 " MiB",
	       spool->dir, spool->nr, op_plural(spool->nr), samples,
	       op_plural(samples), (spool->bytes + 1048575) >> 20,
	       spool->max >> 20);
	if (spool->nr)
		show_span("; the oldest begins ", spool->list->begin);
	printf("\n%" PRIu64 " profiles made", spool->state.number);
	if (spool->state.number)
		show_span(", the last one ends ", spool->state.end);
	printf("; %" PRIu64 " with %" PRIu64 " samples refused and dropped\n",
	       spool->state.dropped_profiles, spool->state.dropped_samples);
	return fflush(stdout)
		       ? op_diag_set(diag, -errno,
				     "standard output: cannot be written: %s",
				     strerror(errno))
		       : 0;
}

static int push_profiles(struct push_options *options, const char *const *words,
			 struct push_spool *spool)
{
	struct pusher pusher = {
		.options = options,
		.source = {
			.session_dir = options->args.session_dir,
			.words = words,
			.say = say_to_stderr,
		},
	};
	const struct push_work work = {
		.ctx = &pusher,
		.now_ms = work_now,
		.take = work_take,
		.send = work_send,
		.say = work_say,
		.random = work_random,
		.is_over = work_is_over,
	};
	struct push_run run = {
		.work = &work,
		.spool = spool,
		.interval_ms =
			options->args.once
				? 0
				: (int64_t)options->interval_s * MSEC_PER_SEC,
	};
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	options->target.is_over = is_over;
	if (options->args.once)
		return push_run_once(&run);
	while (!is_over())
		wait_for_ending(push_run_step(&run));
	return 0;
}

static int run_oppush(struct push_options *options, const char *const *words,
		      struct op_diag *diag)
{
	struct push_spool spool;
	int err = push_spool_open(&spool, options->spool, options->spool_max,
				  diag);

	if (!err && curl_global_init(CURL_GLOBAL_DEFAULT))
		err = op_diag_set(diag, -ENOMEM, "libcurl does not start");
	if (!err)
		err = options->args.status
			      ? show_status(&spool, diag)
			      : push_profiles(options, words, &spool);
	push_spool_close(&spool);
	return err;
}

int main(int argc, char **argv)
{
	static struct push_options options; /* popt allocates what is in it */
	struct op_diag diag = { "" };
	poptContext context =
		push_parse_options(&options.args, argc, (const char **)argv);
	int status = 0;

	if (options.args.version)
		puts("oppush: oprofile " PACKAGE_VERSION);
	else if (push_take_options(&options, &diag))
		status = EXIT_USAGE;
	else if (run_oppush(&options, poptGetArgs(context), &diag))
		status = 1;
	/* Errors of single profiles were printed when they happened. */
	if (*diag.text)
		fprintf(stderr, "oppush: %s\n", diag.text);
	poptFreeContext(context);
	return status;
}
