/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_READER_H
#define PP_OPTOP_OPTOP_READER_H

/*
 * Reads the sample files in a thread of its own, so that keys are answered
 * however long that takes. It alone calls libpp while it runs, as libbfd keeps
 * state of its own. There is one query at a time: a new one takes the place of
 * one that has not begun.
 */

#include "pp/optop/optop_reading.h"

struct optop_reader;

/* The daemon of the session. */
enum optop_daemon {
	OPTOP_NO_DAEMON, /* none has been seen */
	OPTOP_ANSWERS, /* it has stored what was taken until the reading */
	OPTOP_REFUSES, /* this user may not ask it */
	OPTOP_SILENT, /* it does not answer */
	OPTOP_FAILS, /* it says why it cannot store what it has */
	OPTOP_ENDED, /* it was there, and has ended */
	OPTOP_KILLED, /* likewise, without a word */
	OPTOP_NR_DAEMONS
};

struct optop_result {
	uint64_t number; /* of the query */
	struct optop_reading *reading; /* the taker's; NULL after an error, or
					  if nothing has changed */
	bool is_unchanged;
	uint64_t folder; /* what tells one session from another; 0: not known */
	uint64_t
		files; /* what tells that they are as they were; 0: not known */
	int err; /* -errno, and why */
	struct op_diag diag;
	enum optop_daemon daemon;
	struct op_diag daemon_diag; /* of OPTOP_FAILS */
};

/*
 * Start a reader with all signals blocked that the caller has blocked. @base,
 * with its session, outlives it. The daemon is asked to store what it has
 * before each reading, if the session is the current one. Returns 0 or -errno
 * with the reason.
 */
int optop_reader_new(struct optop_reader **out, const struct pp_request *base,
		     struct op_diag *diag);

/*
 * End it. Returns false, and leaves everything as it is, while a reading is
 * under way, which cannot be broken off: the program has to end then.
 */
bool optop_reader_free(struct optop_reader *reader);

/* A descriptor that can be read when there is a result. */
int optop_reader_fd(const struct optop_reader *reader);

/*
 * Ask for a reading, of which a copy is made. Nothing is read if the files are
 * still as @known says. Returns its number, above 0; 0 if memory is short.
 */
uint64_t optop_reader_ask(struct optop_reader *reader,
			  const struct optop_query *query, uint64_t known);

/* Take the last result, if there is one that was not taken. */
bool optop_reader_take(struct optop_reader *reader,
		       struct optop_result *result);

/* Copies of all strings. Returns 0 or -ENOMEM; to be released either way. */
int optop_query_copy(struct optop_query *to, const struct optop_query *from);
void optop_query_release(struct optop_query *query);

/* Ask, read and wait: for a program without a screen. */
void optop_read_now(const struct pp_request *base,
		    const struct optop_query *query,
		    struct optop_result *result);

#endif /* PP_OPTOP_OPTOP_READER_H */
