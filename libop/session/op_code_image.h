/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_CODE_IMAGE_H
#define LIBOP_SESSION_OP_CODE_IMAGE_H

/*
 * An image made of functions of which more is known than what any file tells:
 * an ELF file among the session's copies of binaries that holds each function
 * with samples, one behind the other, so that reports treat it as any binary.
 * doc/jit.md has the format.
 *
 * The code that one process made at run time is such an image, PID.jo; an
 * address that the program used again is in several functions of it. So are the
 * images of a profile that another program wrote
 * (pp/opimport/opimport_profile.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_code_lines.h"
#include "libop/image/op_build_id.h"
#include "libop/base/op_diag.h"
#include "libop/base/op_hash.h"

#define OP_CODE_NAME_MAX 1024 /* bytes with the zero byte, of JIT code */
#define OP_CODE_KEPT_MAX 65535 /* functions of an image */
#define OP_CODE_BYTES_MAX (64u << 20) /* of the code of an image */
#define OP_CODE_LINES_MAX (16u << 20) /* bytes of its source lines */

/* A function of the image. */
struct op_code_kept {
	uint64_t key; /* offset in the image, bytes */
	uint32_t size; /* bytes */
	uint32_t name; /* offset in the names */
};

struct op_code_image {
	char path[4096 + 128]; /* of the file */
	char *name; /* a path, "/PID.jo" */
	struct op_build_id build_id;
	uint64_t cookie; /* for the owner */
	struct op_code_kept *kept;
	size_t nr;
	struct op_hash by_name; /* of functions without bytes, from 1 */
	char *names;
	size_t names_len;
	uint8_t *code; /* that of all functions, from the first key on */
	size_t code_len; /* 0: no function has bytes */
	uint64_t end; /* the next key */
	struct op_code_lines lines;
	uint16_t machine; /* EM_ of elf(5) */
	bool is_changed; /* since it was saved */
};

/* A function whose code is to be kept. */
struct op_code_function {
	const char *name; /* NULL: it is in @room */
	char room[OP_CODE_NAME_MAX];
	uint32_t size; /* bytes; not 0 */
	const uint8_t *bytes; /* @size of them; NULL: not known */
	bool is_own; /* it may have the name of another, without bytes */
	const struct op_code_line *lines; /* in any order */
	size_t nr_lines;
	void *lines_record; /* where the names of files are */
};

static inline const char *
op_code_function_name(const struct op_code_function *function)
{
	return function->name ? function->name : function->room;
}

/*
 * The image of path @name, which begins with a slash, of a build of its own,
 * that is saved in @folder. Returns 0 or -errno; to be released either way.
 */
int op_code_image_init(struct op_code_image *image, const char *folder,
		       const char *name);

/* The same for what process @tgid made; @folder is made if it is not there, and
 * no other image in it has its name. */
int op_code_image_init_jit(struct op_code_image *image, const char *folder,
			   uint32_t tgid);
void op_code_image_release(struct op_code_image *image);

/* Whether an image of the name @path, in whatever folder, is what a process
 * made. */
bool op_code_image_is_of_process(const char *path);

/*
 * Keep @function; *@number is its place in @kept, from 1. One without bytes
 * that is not @is_own is the same as an earlier one that has its name and is no
 * shorter. Returns 0,
 * -ENOSPC when the image is full, or -ENOMEM.
 */
int op_code_image_keep(struct op_code_image *image,
		       const struct op_code_function *function,
		       uint32_t *number);

/* Write the file if it is behind. Returns 0 or -errno with the reason. */
int op_code_image_save(struct op_code_image *image, struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_CODE_IMAGE_H */
