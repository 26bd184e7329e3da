/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_LIVE_KERNEL_H
#define DAEMON_SOURCE_OPD_LIVE_KERNEL_H

/*
 * Where the running kernel and its modules lie, as records of the stream.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/opd_record_words.h"

struct opd_source;

struct opd_live_kernel {
	bool tried; /* the rest is as good as it can be known */
	uint64_t start; /* 0: not known */
	uint64_t end;
	struct op_build_id build_id;
};

/*
 * Add the records of a new table to @words, and tell the client of @source of
 * each range. What cannot be known is said in the client's log.
 */
void opd_live_kernel_record(struct opd_live_kernel *kernel,
			    const struct opd_source *source,
			    struct opd_record_words *words);

#endif /* DAEMON_SOURCE_OPD_LIVE_KERNEL_H */
