/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_JIT_IMAGE_H
#define DAEMON_SOURCE_OPD_JIT_IMAGE_H

/*
 * The code that one process made at run time, as an image of its own, PID.jo:
 * an ELF file among the session's copies of binaries that holds each function
 * with samples, one behind the other. So an address that the program used again
 * is in several functions of the image, and reports treat the image as any
 * binary. doc/jit.md has the format.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/opd_jit_lines.h"
#include "libop/op_build_id.h"
#include "libop/op_diag.h"
#include "libop/op_hash.h"

#define OPD_JIT_NAME_MAX 1024 /* bytes with the zero byte */
#define OPD_JIT_KEPT_MAX 65535 /* functions of an image */
#define OPD_JIT_BYTES_MAX (64u << 20) /* of the code of an image */
#define OPD_JIT_LINES_MAX (16u << 20) /* bytes of its source lines */

/* A function of the image. */
struct opd_jit_kept {
	uint64_t key; /* offset in the image, bytes */
	uint32_t size; /* bytes */
	uint32_t name; /* offset in the names */
};

struct opd_jit_image {
	char path[4096 + 128]; /* of the file */
	char name[64]; /* "/PID.jo" */
	struct op_build_id build_id;
	uint64_t cookie; /* for the owner */
	struct opd_jit_kept *kept;
	size_t nr;
	struct op_hash by_name; /* of functions without bytes, from 1 */
	char *names;
	size_t names_len;
	uint8_t *code; /* that of all functions, from the first key on */
	size_t code_len; /* 0: no function has bytes */
	uint64_t end; /* the next key */
	struct opd_jit_lines lines;
	uint16_t machine; /* EM_ of elf(5) */
	bool is_changed; /* since it was saved */
};

/* What is to be kept of a function. */
struct opd_jit_function {
	char name[OPD_JIT_NAME_MAX];
	uint32_t size; /* bytes; not 0 */
	const uint8_t *bytes; /* @size of them; NULL: not known */
	const struct opd_jit_line *lines; /* in any order */
	size_t nr_lines;
	void *lines_record; /* where the names of files are */
};

/*
 * An image for process @tgid in @folder, which is made if it is not there. No
 * other image of the session has its name. Returns 0 or -errno; to be released
 * either way.
 */
int opd_jit_image_init(struct opd_jit_image *image, const char *folder,
		       uint32_t tgid);
void opd_jit_image_release(struct opd_jit_image *image);

/*
 * Keep @function; *@number is its place in @kept, from 1. One without bytes is
 * the same as an earlier one that has its name and is no shorter. Returns 0,
 * -ENOSPC when the image is full, or -ENOMEM.
 */
int opd_jit_image_keep(struct opd_jit_image *image,
		       const struct opd_jit_function *function,
		       uint32_t *number);

/* Write the file if it is behind. Returns 0 or -errno with the reason. */
int opd_jit_image_save(struct opd_jit_image *image, struct op_diag *diag);

#endif /* DAEMON_SOURCE_OPD_JIT_IMAGE_H */
