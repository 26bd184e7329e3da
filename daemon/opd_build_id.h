/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_BUILD_ID_H
#define DAEMON_OPD_BUILD_ID_H

/*
 * The build-id among ELF notes, as sysfs has them of the kernel and of its
 * modules. (Those of files come with their cookies.) All that is read is
 * checked and bounded.
 */

#include <stddef.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

struct opd_build_id {
	unsigned int len; /* bytes, 0: none */
	uint8_t bytes[OP_BUILD_ID_MAX];
};

/* Find it in the @len bytes of notes at @notes. Returns 0 or -ENOENT. */
int opd_build_id_in_notes(struct opd_build_id *id, const void *notes,
			  size_t len);

/* Find it in a file of bare notes. Returns 0, -ENOENT or -errno. */
int opd_build_id_of_notes_file(struct opd_build_id *id, const char *path);

#endif /* DAEMON_OPD_BUILD_ID_H */
