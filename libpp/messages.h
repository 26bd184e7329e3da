/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_MESSAGES_H
#define LIBPP_MESSAGES_H

/*
 * Messages of a report, besides its figures: warnings about samples or images
 * that are not as they should be, and remarks on how the report was made.
 * Libraries add messages, programs print them. Each is one line "thing: why;
 * what to try" without a program's name.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_diag.h"

enum pp_message_kind {
	PP_WARNING, /* always to be shown */
	PP_REMARK_SFILE, /* which sample files are used */
	PP_REMARK_BFD, /* which binaries are read for symbols */
	PP_REMARK_STATS, /* figures about the work done */
};

struct pp_message {
	enum pp_message_kind kind;
	const char *text;
	bool is_of_fault; /* pp_is_fault() */
};

struct pp_messages {
	struct op_arena *arena; /* where the texts live */
	struct pp_message *list; /* in the order they came */
	size_t nr;
	size_t nr_unread; /* sample files, or parts of them, left out */
	size_t nr_faults; /* times that the system failed to read something */
};

/* Add one message; control characters become '?'. When memory is short the
 * message is lost: what it is about goes on. */
void pp_message(struct pp_messages *messages, enum pp_message_kind kind,
		const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * The same for a warning that something is left out because of @err, a negative
 * errno. Where that is a fault of the system (a disk that fails, descriptors
 * that ran out) rather than what the file is like, the report is not what it
 * would be another time.
 */
void pp_message_of_error(struct pp_messages *messages, int err, const char *fmt,
			 ...) __attribute__((format(printf, 3, 4)));

/* Let @to have the faults of @from, which is about the same samples, with those
 * of their warnings that it has not yet. */
void pp_take_faults(struct pp_messages *to, const struct pp_messages *from);

/* Add all of @from to @to, with its faults. */
void pp_repeat_messages(struct pp_messages *to, const struct pp_messages *from);

/* Whether @err is such a fault. */
bool pp_is_fault(int err);

/* Returns 0, or -EIO with the reason in @diag after faults. */
int pp_check_complete(const struct pp_messages *messages, struct op_diag *diag);

#endif /* LIBPP_MESSAGES_H */
