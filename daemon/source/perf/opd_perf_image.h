/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_IMAGE_H
#define DAEMON_SOURCE_PERF_OPD_PERF_IMAGE_H

/*
 * The images that perf_events and /proc name, by cookie: what the module's
 * registry is for its stream. A cookie stands for one build of one path, as
 * far as the kernel tells: by build-id, else by device, inode and generation.
 *
 * When an image is first seen its file is looked at, while it is likely to be
 * there still, for what the kernel did not tell, and held open for a moment.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/perf/opd_perf_files.h"
#include "daemon/source/perf/opd_perf_folders.h"
#include "libop/image/op_build_id.h"
#include "libop/base/op_hash.h"
#include "libop/files/op_shares.h"
#include "module/uapi/oprofile.h"

/* Bytes of the name of anonymous memory, with the zero byte. */
#define OPD_PERF_ANON_MAX 128

/* The identity of an image, as far as a mapping says it. */
struct opd_perf_image_id {
	const char *name; /* as the kernel writes it, "... (deleted)" too */
	struct op_build_id build_id; /* .len 0: unknown */
	uint64_t dev; /* these are 0 where there is a build-id */
	uint64_t ino;
	uint64_t generation;
	/* where it can be found: a mapping of it */
	uint32_t pid;
	uint64_t start;
	uint64_t end;
	bool is_made; /* by the profiler, of code that is in no file */
};

/* Any user may map files under new names without end, so these are kept and no
 * more; and a user gets no more than a share of them. */
#define OPD_PERF_IMAGES_MAX ((size_t)1 << 18)
#define OPD_PERF_IMAGE_NAMES_MAX ((size_t)128 << 20) /* bytes of all names */

/* The cookie of all further images: it has neither name nor file. */
#define OPD_PERF_NAMELESS ((uint64_t)OPD_PERF_IMAGES_MAX + 1)

struct opd_perf_image;

struct opd_perf_images {
	struct opd_perf_image **images; /* an op_array, by cookie - 1 */
	size_t nr;
	size_t names_len; /* bytes of all names */
	const char *proc; /* "/proc", where processes have users; NULL: these
			   * are not known, and have no shares */
	struct op_shares number_shares; /* of the images */
	struct op_shares name_shares; /* of the bytes of names */
	struct op_hash index; /* cookies, by what the kernel said */
	char *anon[512]; /* names of anonymous memory */
	size_t nr_anon;
	struct opd_perf_files files; /* that were seen just now */
	struct opd_perf_folders folders; /* with programs that will be */
};

/* @proc is borrowed. */
void opd_perf_images_init(struct opd_perf_images *images, const char *proc);
void opd_perf_images_release(struct opd_perf_images *images);

/* The cookie of an image; OPD_PERF_NAMELESS when there are too many, of all or
 * of the user who has it mapped; OP_NO_COOKIE when memory is short. */
uint64_t opd_perf_image_cookie(struct opd_perf_images *images,
			       const struct opd_perf_image_id *id);

/* The path of an image, as the kernel writes it; NULL for no cookie. */
const char *opd_perf_image_path(const struct opd_perf_images *images,
				uint64_t cookie);

/* Whether an image is memory with the name of a file, such as a memfd, in which
 * a program may make code. */
bool opd_perf_image_is_memory(const struct opd_perf_images *images,
			      uint64_t cookie);

/* Whether the file of an image was found, and gives whoever runs it no other
 * user, group or capability. */
bool opd_perf_image_gives_no_rights(const struct opd_perf_images *images,
				    uint64_t cookie);

/*
 * A copy of the name of anonymous memory that lives as long as @images;
 * "anon" for memory without one, or when there are too many names.
 */
const char *opd_perf_image_anon(struct opd_perf_images *images,
				const char *name);

/*
 * Open the file of an image, if it is still to be found. Returns a descriptor,
 * which is the caller's, UNWINDER_VDSO (libcfi/unwinder.h), or -ENOENT.
 */
int opd_perf_image_open(const struct opd_perf_images *images, uint64_t cookie);

/* The same of a file that is held open since it was seen, which it is not any
 * more then; else -ENOENT. */
int opd_perf_image_take(struct opd_perf_images *images, uint64_t cookie);

/* Answer @query as OP_IOC_COOKIE would. Returns 0 or -ENOENT. */
int opd_perf_image_query(const struct opd_perf_images *images,
			 struct op_cookie_query *query);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_IMAGE_H */
