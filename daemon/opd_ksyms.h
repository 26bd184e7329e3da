/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_KSYMS_H
#define DAEMON_OPD_KSYMS_H

/*
 * Snapshots of the symbols of the kernel and of modules
 * (libop/kernel/op_ksyms.h), kept for reports on other machines or after the
 * next boot. That of the kernel itself is taken before sampling starts, where
 * it is not in the profile, from the cache of sessions or from what the source
 * has read of /proc/kallsyms; that of a module when it gets its first sample,
 * between reads of the buffer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"
#include "libop/kernel/op_ksyms.h"

struct op_log;
struct op_session;
struct opd_image;
struct opd_images;
struct opd_options;

/* The kernel or a module of which this machine may have the symbols. */
struct opd_ksyms_range {
	char *name;
	struct op_build_id build_id;
	/* Where it is in the kernel that runs here; the same: only the cache
	 * of sessions may have it. */
	uint64_t start;
	uint64_t end;
	bool is_tried; /* the kernel: once its symbols were asked for */
	bool is_taken; /* the session has its snapshot */
};

struct opd_ksyms {
	const struct opd_images *images; /* borrowed, like all up to the log */
	const struct op_session *session; /* may be filled later */
	const struct opd_options *options; /* likewise */
	struct op_log *log;
	struct opd_ksyms_range *ranges;
	size_t nr;
	unsigned int nr_wanted; /* images with OPD_SYMBOLS_WANTED */
	struct op_kallsyms all; /* for these, once the first is taken */
};

/* No snapshot is wanted. */
void opd_ksyms_init(struct opd_ksyms *ksyms, const struct opd_images *images,
		    const struct op_session *session,
		    const struct opd_options *options, struct op_log *log);

/*
 * The kernel or a module, @name, is in the kernel that runs here at @start to
 * @end, or only the cache of sessions has it if these are the same. Of the
 * kernel itself (OP_KERNEL_NAME) a snapshot is taken at once: from the cache,
 * or from @all, which is read then if it has not been.
 */
void opd_ksyms_see(struct opd_ksyms *ksyms, const char *name, uint64_t start,
		   uint64_t end, const struct op_build_id *build_id,
		   struct op_kallsyms *all);

/*
 * Whether the session has a snapshot of that build of the kernel itself, or the
 * cache has one, which comes into the session then; *@size is that of the
 * kernel in bytes.
 */
bool opd_ksyms_has_kernel(struct opd_ksyms *ksyms,
			  const struct op_build_id *build_id, uint64_t *size);

/* @image has samples. Does nothing for what is not of the kernel that runs
 * here. */
void opd_ksyms_want(struct opd_ksyms *ksyms, struct opd_image *image);

/* Take one wanted snapshot. False when none is wanted any more. */
bool opd_ksyms_copy_next(struct opd_ksyms *ksyms);

void opd_ksyms_release(struct opd_ksyms *ksyms);

#endif /* DAEMON_OPD_KSYMS_H */
