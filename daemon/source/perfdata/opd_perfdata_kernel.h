/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_KERNEL_H
#define DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_KERNEL_H

/*
 * Where the kernel and its modules were when perf recorded, as the mappings in
 * its file tell. If the kernel that runs here is the same, its symbols are
 * those of this machine; else another session may have had them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"
#include "libop/kernel/op_ksyms.h"

struct opd_perf_rec;
struct opd_perfdata;
struct op_stream_words;
struct opd_source_client;

struct opd_perfdata_range {
	char *name; /* OP_KERNEL_NAME, or of a module */
	uint64_t start;
	uint64_t end;
	struct op_build_id build_id;
	/* Where the same is on this machine now; the same: nowhere. */
	uint64_t here_start;
	uint64_t here_end;
};

struct opd_perfdata_kernel {
	const struct opd_source_client *client; /* borrowed */
	struct opd_perfdata_range *ranges; /* each name once */
	size_t nr;
	bool is_here; /* the kernel itself runs, as it ran then */
	struct op_kallsyms kallsyms; /* until the table is told */
};

void opd_perfdata_kernel_release(struct opd_perfdata_kernel *kernel);

/* Take a mapping of the kernel, of a file that tells @data. Returns whether
 * anything is new. */
bool opd_perfdata_kernel_map(struct opd_perfdata_kernel *kernel,
			     const struct opd_perfdata *data,
			     const struct opd_perf_rec *rec);

/* Add the records of a new table to @words, and tell the client of what is
 * here. */
void opd_perfdata_kernel_record(struct opd_perfdata_kernel *kernel,
				struct op_stream_words *words);

#endif /* DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_KERNEL_H */
