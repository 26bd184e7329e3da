/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_BUILD_ID_H
#define LIBOP_OP_BUILD_ID_H

/*
 * The build-id among ELF notes: of the kernel and its modules as sysfs has
 * them, and of files that a source knows by path only. All that is read is
 * checked and bounded.
 */

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

#endif /* LIBOP_OP_BUILD_ID_H */
