/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_JIT_H
#define PP_OPIMPORT_OPIMPORT_JIT_H

/*
 * JIT code of the original: beside the samples of a process in anonymous memory
 * there may be an ELF file TGID.jo, which opjitconv made of that code. It has
 * sections at the addresses where the code was, in whatever mappings. In the
 * new session it is a binary as any other, which the samples are in by their
 * file offset; a copy goes to images/.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/session/op_mangle.h"
#include "libop/session/op_session.h"

struct opimport_jit_code; /* a section */

struct opimport_jit {
	char path[PATH_MAX]; /* absolute, without links */
	uint64_t mtime; /* seconds */
	struct opimport_jit_code *code;
	size_t nr_code;
	uint64_t start; /* of the mapping that keys are offsets in */
};

/*
 * Open what belongs to the sample file @from, which is in @anon. Returns 0 or
 * -errno: -ENOENT where there is none, -ENOEXEC for no sound ELF file.
 */
int opimport_jit_open(struct opimport_jit *jit, const char *from,
		      const struct op_image_name *anon);

void opimport_jit_close(struct opimport_jit *jit);

/* The file offset of the code at the sample's @key; false if it is none. */
bool opimport_jit_find(const struct opimport_jit *jit, uint64_t key,
		       uint64_t *offset);

/* Put a copy of the file @path into @session. Returns 0 or -errno as above. */
int opimport_jit_keep(const char *path, const struct op_session *session);

#endif /* PP_OPIMPORT_OPIMPORT_JIT_H */
