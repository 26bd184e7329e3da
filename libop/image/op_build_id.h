/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_BUILD_ID_H
#define LIBOP_IMAGE_OP_BUILD_ID_H

/*
 * The build-id among ELF notes: of the kernel and its modules as sysfs has
 * them, and of files that a source knows by path only. All that is read is
 * checked and bounded.
 *
 * Two files of one build-id may have other code; the fingerprint of the code
 * (libop/image/op_fingerprint.h) tells which of them it is. It travels in the
 * room for the longest build-id, which is OP_BUILD_ID_MAX bytes wherever a
 * build-id is stored: behind a build-id of at most OP_FINGERPRINT_AT bytes the
 * room is zero up to there, and has the fingerprint behind, the highest byte
 * first; all zero where it is not known. Behind a longer build-id there is
 * none. One that is not known agrees with all.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

#define OP_FINGERPRINT_AT (OP_BUILD_ID_MAX - 8) /* in the room, bytes */

struct op_build_id {
	unsigned int len; /* bytes, 0: none */
	uint8_t bytes[OP_BUILD_ID_MAX]; /* with the fingerprint */
};

/*
 * The build-id of @len bytes, OP_BUILD_ID_MAX at most, in the room @room of
 * OP_BUILD_ID_MAX bytes, with its fingerprint. What else is in the room is left
 * out. Without a length there is none.
 */
struct op_build_id op_build_id_of_room(const uint8_t *room, size_t len);

/* The fingerprint of @id, 0: not known. */
uint64_t op_build_id_fingerprint(const struct op_build_id *id);

/* Let @id have @fingerprint, if it has room for one. */
void op_build_id_set_fingerprint(struct op_build_id *id, uint64_t fingerprint);

/* Find it in the @len bytes of notes at @notes. Returns 0 or -ENOENT. */
int op_build_id_in_notes(struct op_build_id *id, const void *notes, size_t len);

/* Find it in a file of bare notes. Returns 0, -ENOENT or -errno. */
int op_build_id_of_notes_file(struct op_build_id *id, const char *path);

/*
 * Find it in the ELF file @fd, of any class but of this machine's byte order,
 * and the file's fingerprint. Returns 0, -ENOENT, -EBADMSG for what is no such
 * file, or -errno.
 */
int op_build_id_of_elf(struct op_build_id *id, int fd);

/* Whether @a and @b are one build-id, or both none; the fingerprints may
 * differ.
 */
bool op_build_id_same(const struct op_build_id *a, const struct op_build_id *b);

/* Whether both may be of one build: the build-id is the same, and fingerprints
 * that are known are. */
bool op_build_id_agrees(const struct op_build_id *a,
			const struct op_build_id *b);

/* The size of a text that tells a build, with its zero byte. */
#define OP_BUILD_TEXT_MAX (2 * OP_BUILD_ID_MAX + 2)

/* Write the @len bytes of the build-id @id to @text in lower-case hex, no more
 * than OP_BUILD_ID_MAX of them; "-" for none. Returns @text. */
const char *op_build_id_text(const uint8_t *id, size_t len, char *text);

#define OP_FINGERPRINT_TEXT_LEN 17 /* of "-" and the fingerprint */

/*
 * The name of a file's content: its build-id in lower-case hex and, where that
 * is known, "-" and its fingerprint in 16 hex digits; without a build-id
 * "file-DEVICE-INODE-MTIME", numbers in hex, 0 where one is not known. Empty
 * when nothing at all is known.
 */
void op_build_text(char *text, const struct op_build_id *id, uint64_t dev,
		   uint64_t ino, uint64_t mtime);

/* Whether @text is one that op_build_text() can have written. */
bool op_build_text_ok(const char *text);

/* Whether two builds of a file are known to differ: by build-id and
 * fingerprint, else by the time of the last change, seconds, 0 if not known. */
bool op_builds_differ(const struct op_build_id *a, uint64_t a_mtime,
		      const struct op_build_id *b, uint64_t b_mtime);

#endif /* LIBOP_IMAGE_OP_BUILD_ID_H */
