/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_WRITER_H
#define DAEMON_SOURCE_OPD_WRITER_H

/*
 * The records of a stream that a source does not write itself: its beginning,
 * the names of images, the ranges of the kernel, and the account. The writer
 * remembers what the stream has by now, so each comes once, before the first
 * record that needs it. Whoever writes the stream puts out @words where they
 * are.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/opd_live_kernel.h"
#include "libop/base/op_hash.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_stream_words.h"
#include "module/uapi/oprofile.h"

struct opd_jit_ranges;
struct opd_source;

#define OPD_WRITER_MAX_PENDING 4096

struct opd_writer {
	struct opd_source *source; /* borrowed */
	struct opd_jit_ranges
		*jit_ranges; /* answers for its cookies; NULL: there are none */
	struct op_stream_words words; /* to be put out next */
	/* cookies that have a record or are pending, and where each is */
	uint64_t *told;
	size_t nr_told;
	struct op_hash told_index;
	struct opd_pending_name {
		uint64_t cookie;
		uint32_t tgid;
		unsigned int tries;
	} pending[OPD_WRITER_MAX_PENDING];
	size_t nr_pending;
	struct opd_live_kernel kernel;
	bool kernel_stale; /* the table in the stream is */
	bool account_wanted; /* names that are late are not waited for */
	struct op_ledger accounted;
	struct op_event_time timed[OP_MAX_COUNTERS]; /* what the stream has */
};

/* For @source, which is open and outlives it. */
void opd_writer_init(struct opd_writer *w, struct opd_source *source);
void opd_writer_release(struct opd_writer *w);

/* The records that a stream begins with. */
void opd_writer_begin(struct opd_writer *w);

/* The stream is about to name image @cookie, which process @tgid has; 0: not
 * known. */
void opd_writer_need_name(struct opd_writer *w, uint64_t cookie, uint32_t tgid);

/* Ask again for the names that had not come; @last: for the last time. */
void opd_writer_retry_names(struct opd_writer *w, bool last);

/* The stream is about to have a sample at @pc in the kernel. */
void opd_writer_need_place(struct opd_writer *w, uint64_t pc);

/* Code that the kernel has made up to now, before samples in it. */
void opd_writer_put_new_code(struct opd_writer *w);

/* Samples that were taken and lost up to now, as far as the stream does not
 * have them. */
void opd_writer_put_account(struct opd_writer *w);

#endif /* DAEMON_SOURCE_OPD_WRITER_H */
