/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_RETURNS_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_RETURNS_H

/*
 * How code that has no unwind data is left, by its instructions
 * (libcfi/cfi_return.h). They are read by the process that reads foreign files
 * (opd_untrusted.h): from the file of the code's image or, where there is none
 * (code made at run time, a memfd, a file that is gone), from the memory of the
 * process that ran it, if that still runs. Answers are kept: of a file as long
 * as others do not need their room, of memory for the rest of the second, as
 * other code may be there then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "libcfi/cfi_return.h"
#include "libcfi/unwinder.h"

struct opd_return;

struct opd_returns {
	struct opd_untrusted *untrusted; /* borrowed */
	const char *proc; /* "/proc"; NULL: of another machine or time */
	const struct op_clock *clock; /* the kernel's but for tests */
	struct opd_return *slots; /* made when it is first needed */
	/* The file that was asked last, which costs much to find, as it is
	 * compared with what was sampled: for the rest of the second. */
	uint64_t cookie; /* OP_NO_COOKIE: none */
	int fd;
	time_t second; /* of the clock, and how many were asked in it */
	unsigned int nr_asked;
};

void opd_returns_init(struct opd_returns *returns,
		      struct opd_untrusted *untrusted, const char *proc);
void opd_returns_release(struct opd_returns *returns);

/* Forget what is known of files: cookies start anew. */
void opd_returns_forget(struct opd_returns *returns);

/* Open the file of the image @cookie: a descriptor, or negative. */
typedef int opd_returns_open(void *ctx, uint64_t cookie);

/*
 * Answer the unwinder's ask_code for @code of process @tgid in *@out: by an
 * answer that is kept or, read now, by the image's file or, if @open (with
 * @ctx) has none, the memory of the process.
 */
int opd_returns_ask(struct opd_returns *returns, uint32_t tgid,
		    const struct unwinder_code *code, opd_returns_open *open,
		    void *ctx, union cfi_return *out);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_RETURNS_H */
