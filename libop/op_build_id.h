/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_BUILD_ID_H
#define LIBOP_OP_BUILD_ID_H

/*
 * The build-id among ELF notes: of the kernel and its modules as sysfs has
 * them, and of files that a source knows by path only. All that is read is
 * checked and bounded.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

struct op_build_id {
	unsigned int len; /* bytes, 0: none */
	uint8_t bytes[OP_BUILD_ID_MAX];
};

/* Find it in the @len bytes of notes at @notes. Returns 0 or -ENOENT. */
int op_build_id_in_notes(struct op_build_id *id, const void *notes, size_t len);

/* Find it in a file of bare notes. Returns 0, -ENOENT or -errno. */
int op_build_id_of_notes_file(struct op_build_id *id, const char *path);

/*
 * Find it in the ELF file @fd, of any class but of this machine's byte order.
 * Returns 0, -ENOENT, -EBADMSG for what is no such file, or -errno.
 */
int op_build_id_of_elf(struct op_build_id *id, int fd);

/* Whether both are the same build-id, or both are none. */
bool op_build_id_same(const struct op_build_id *a, const struct op_build_id *b);

/* The size of a text that tells a build, with its zero byte. */
#define OP_BUILD_TEXT_MAX (2 * OP_BUILD_ID_MAX + 1)

/* Write the @len bytes of the build-id @id to @text in lower-case hex, no more
 * than OP_BUILD_ID_MAX of them; "-" for none. Returns @text. */
const char *op_build_id_text(const uint8_t *id, size_t len, char *text);

/*
 * The name of a file's content: its build-id in lower-case hex; without one
 * "file-DEVICE-INODE-MTIME", numbers in hex, 0 where one is not known. Empty
 * when nothing at all is known.
 */
void op_build_text(char *text, const struct op_build_id *id, uint64_t dev,
		   uint64_t ino, uint64_t mtime);

/* Whether @text is one that op_build_text() can have written. */
bool op_build_text_ok(const char *text);

/* Whether two builds of a file are known to differ: by build-id, else by the
 * time of the last change, seconds, 0 if not known. */
bool op_builds_differ(const struct op_build_id *a, uint64_t a_mtime,
		      const struct op_build_id *b, uint64_t b_mtime);

#endif /* LIBOP_OP_BUILD_ID_H */
