/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_USER_SAMPLES_OPD_USER_STREAM_H
#define DAEMON_USER_SAMPLES_OPD_USER_STREAM_H

/*
 * The samples of one user in a session that keeps users apart, as a stream
 * (module/uapi/oprofile.h) that a daemon of theirs counts again: what is in
 * sample files, with how often each sample was taken, the names of images and
 * threads, and the events. Call graphs are not in it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_stream_words.h"

/* Words of such a stream: 64 MiB. */
#define OPD_USER_STREAM_MAX_WORDS ((size_t)8 << 20)

struct opd_user_stream_request {
	const char *folder; /* of the sample files */
	const char *source; /* what took the samples */
	uid_t user;
	bool kernel; /* tell what is in the kernel, else only how much */
};

/* How it has to be kept apart to be what it is in the session. */
struct opd_user_stream_separate {
	bool lib, kernel, thread, cpu, cgroup;
};

/*
 * Add the stream to the empty @words, whose last record is OP_TAKEN, and fill
 * @separate. Returns 0;
 * -ENODATA without samples of the user; -EFBIG when they are too many; -errno;
 * all with the reason.
 */
int opd_user_stream(struct op_stream_words *words,
		    struct opd_user_stream_separate *separate,
		    const struct opd_user_stream_request *request,
		    struct op_diag *diag);

#endif /* DAEMON_USER_SAMPLES_OPD_USER_STREAM_H */
