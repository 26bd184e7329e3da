/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_KERNEL_H
#define DAEMON_OPD_KERNEL_H

/*
 * Which kernel image an address is in. The table is sorted by address and its
 * ranges do not overlap: where /proc/modules gives a module more than its
 * code, the module above takes its own part. In a replay the table comes from
 * the stream's OP_KERNEL_RANGE records alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/op_build_id.h"

struct opd;
struct opd_image;

#define OPD_KERNEL_NAME "vmlinux"
#define OPD_MAX_RANGES 65536

struct opd_range {
	uint64_t start;
	uint64_t end; /* first address behind it */
	struct opd_image *image;
};

struct opd_kernel {
	struct opd_range *ranges;
	size_t nr;
	size_t room;
	bool sorted;
	bool stale; /* to be read again from /proc before the next look */
	uint64_t start; /* the running kernel, 0 if not known */
	uint64_t end;
	struct op_build_id build_id;
};

/* Find the running kernel if it is to be sampled; what cannot be known is said
 * in the log. */
void opd_kernel_init(struct opd *opd);
void opd_kernel_release(struct opd_kernel *kernel);

/* A module came: the table is read again at the next look. */
void opd_kernel_changed(struct opd *opd);

/* Start a new table. */
void opd_kernel_clear(struct opd *opd);

/*
 * Add the range of @name (OPD_KERNEL_NAME for the kernel itself). Returns 0,
 * -EINVAL for an empty range, -ENOSPC, -ENOMEM, -EEXIST when a file image has
 * the name.
 */
int opd_kernel_add(struct opd *opd, const char *name, uint64_t start,
		   uint64_t end, const struct op_build_id *build_id);

/*
 * Add code that was made at run time, one function. It takes the place of
 * such code that was there before. Errors as above.
 */
int opd_kernel_add_code(struct opd *opd, const char *name, uint64_t start,
			uint64_t end);

/* Bring the table up to date now, which the next look would do. */
void opd_kernel_refresh(struct opd *opd);

/* The range that holds @pc, NULL if none; valid until the table changes. */
const struct opd_range *opd_kernel_find(struct opd *opd, uint64_t pc);

#endif /* DAEMON_OPD_KERNEL_H */
