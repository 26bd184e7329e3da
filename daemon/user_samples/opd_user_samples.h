/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_USER_SAMPLES_OPD_USER_SAMPLES_H
#define DAEMON_USER_SAMPLES_OPD_USER_SAMPLES_H

/*
 * Hands ordinary users the samples of their own processes, as far as root's
 * policy lets them (libop/session/op_policy.h): by a socket that anybody may
 * connect to. To connect is the only request there is. The daemon takes nothing
 * from a client but what the kernel says of it, who it is, and answers
 *
 *	{ " separate-WHAT = 0|1\n" } "ok\n" STREAM | "error " TEXT "\n"
 *
 * where the stream (opd_user_stream.h) ends with the connection. A child makes
 * and sends it, which ends by itself however slow the client is. At most one
 * child a user, and OPD_USER_SAMPLES_CHILDREN in all, run at a time.
 */

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_policy.h"

struct op_clock;
struct op_log;
struct op_session;
struct opd_options;

#define OPD_USER_SAMPLES_CHILDREN 4
#define OPD_USER_SAMPLES_SECONDS                                               \
	60 /* that a client has for all of its answer */
#define OPD_USER_SAMPLES_PAUSE                                                 \
	2 /* seconds from one answer to a user to the next */
#define OPD_USER_SAMPLES_USERS                                                 \
	64 /* of whom it is known when they had their last */

struct opd_user_samples_user {
	uid_t user;
	pid_t child; /* that answers now, 0: none */
	time_t since; /* it began, in the daemon's clock */
	bool is_used;
};

struct opd_user_samples {
	struct opd_options *options; /* borrowed, like all up to the socket */
	const struct op_session *session;
	const struct op_clock *clock;
	struct op_log *log;
	int fd; /* the socket, to be polled; -1: nothing listens */
	struct op_policy policy;
	struct opd_user_samples_user users[OPD_USER_SAMPLES_USERS];
	unsigned int nr_children;
	/* who has been let in, and is to be answered */
	int client; /* -1: nobody */
	struct opd_user_samples_user *next;
	uid_t next_user;
};

/* Nobody may have anything. */
void opd_user_samples_init(struct opd_user_samples *samples,
			   struct opd_options *options,
			   const struct op_session *session,
			   const struct op_clock *clock, struct op_log *log);

/*
 * Read the policy, if samples are taken here for root, or if the options name
 * one; then the options keep samples apart by user where anybody may have
 * theirs. Returns 0 or -errno with the reason.
 */
int opd_user_samples_read_policy(struct opd_user_samples *samples,
				 struct op_diag *diag);

/* Read it again: who may. What cannot be used is said in the log, and lets
 * nobody have anything. */
void opd_user_samples_read_policy_again(struct opd_user_samples *samples);

/* Listen, if anybody may have theirs. Returns 0 or -errno with the reason. */
int opd_user_samples_open(struct opd_user_samples *samples,
			  struct op_diag *diag);

/* Stop listening, remove the socket, end the children. */
void opd_user_samples_close(struct opd_user_samples *samples);

/*
 * A client came. True if it is to be answered: by opd_user_samples_answer(),
 * once what was taken up to now is in sample files; @source is what took it.
 */
bool opd_user_samples_accept(struct opd_user_samples *samples);
void opd_user_samples_answer(struct opd_user_samples *samples,
			     const char *source);

/* Some child has ended. */
void opd_user_samples_reap(struct opd_user_samples *samples);

/* The policy in a word for people: "none", "all" ... */
const char *opd_user_samples_text(const struct opd_user_samples *samples);

#endif /* DAEMON_USER_SAMPLES_OPD_USER_SAMPLES_H */
