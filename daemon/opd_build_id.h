/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_BUILD_ID_H
#define DAEMON_OPD_BUILD_ID_H

/*
 * The build-id in the GNU notes of an ELF file of this machine's byte order,
 * or in a bare file of notes as sysfs has them. Any file may be given: all
 * that is read is checked and bounded.
 */

#include <stddef.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

struct opd_build_id {
	unsigned int len; /* bytes, 0: none */
	uint8_t bytes[OP_BUILD_ID_MAX];
};

/*
 * Find it in the @len bytes of notes at @notes, of which each starts at a
 * multiple of @align (4 or 8) bytes. Returns 0 or -ENOENT.
 */
int opd_build_id_in_notes(struct opd_build_id *id, const void *notes,
			  size_t len, size_t align);

/* Find it in the ELF file open at @fd. Returns 0, -ENOENT, -ENOEXEC for no
 * such ELF file, or -errno. */
int opd_build_id_of_elf(struct opd_build_id *id, int fd);

/* Find it in a file of bare notes. Returns 0, -ENOENT or -errno. */
int opd_build_id_of_notes_file(struct opd_build_id *id, const char *path);

#endif /* DAEMON_OPD_BUILD_ID_H */
