/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_PERFDATA_KERNEL_H
#define DAEMON_SOURCE_OPD_PERFDATA_KERNEL_H

/*
 * Where the kernel and its modules were when perf recorded, as the mappings in
 * its file tell. If it is the kernel that runs here, as it has run since, its
 * symbols are those of this machine.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/op_build_id.h"
#include "libop/op_ksyms.h"

struct opd_perf_rec;
struct opd_perfdata;
struct op_stream_words;
struct opd_source;

struct opd_perfdata_range {
	char *name; /* OP_KERNEL_NAME, or of a module */
	uint64_t start;
	uint64_t end;
	struct op_build_id build_id;
	bool is_here; /* the same is on this machine, at the same place */
};

struct opd_perfdata_kernel {
	struct opd_perfdata_range *ranges; /* each name once */
	size_t nr;
	bool is_here; /* the kernel itself */
	struct op_kallsyms kallsyms; /* then, until the table is told */
};

void opd_perfdata_kernel_release(struct opd_perfdata_kernel *kernel);

/* Take a mapping of the kernel, of a file that tells @data. Returns whether
 * anything is new. */
bool opd_perfdata_kernel_map(struct opd_perfdata_kernel *kernel,
			     const struct opd_perfdata *data,
			     const struct opd_perf_rec *rec);

/* Add the records of a new table to @words, and tell the client of @source of
 * what is here. */
void opd_perfdata_kernel_record(struct opd_perfdata_kernel *kernel,
				const struct opd_source *source,
				struct op_stream_words *words);

#endif /* DAEMON_SOURCE_OPD_PERFDATA_KERNEL_H */
