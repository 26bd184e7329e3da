/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_JIT_OPD_JIT_CODES_H
#define DAEMON_SOURCE_JIT_OPD_JIT_CODES_H

/*
 * Which functions a program has made at run time, by address. Whatever is added
 * takes the place of all older code that it overlaps: the program has freed
 * that. Names stay in the file that told of the code until they are needed.
 */

#include <stddef.h>
#include <stdint.h>

struct opd_jit_code {
	uint64_t start; /* address */
	uint64_t where; /* offset of what tells of it in its file, bytes */
	uint64_t lines; /* likewise of its source lines; 0: there are none */
	uint64_t frames; /* likewise of what unwinds it */
	uint32_t size; /* bytes; not 0 */
	uint32_t number; /* for the owner: of the name that it keeps; 0 */
};

/* All zeros: empty. */
struct opd_jit_codes {
	struct opd_jit_code *list; /* sorted, none overlapping */
	size_t nr;
	struct opd_jit_code *more; /* the newest, in the order of coming */
	size_t nr_more;
};

void opd_jit_codes_release(struct opd_jit_codes *codes);

/*
 * Add @code; start + size does not wrap. Returns 0, -ENOMEM, or -ENOSPC when
 * there are @max already. opd_jit_codes_find() sees it from its next call on.
 */
int opd_jit_codes_add(struct opd_jit_codes *codes,
		      const struct opd_jit_code *code, size_t max);

/* The code that @addr is in, or NULL. It stays until the next call. */
struct opd_jit_code *opd_jit_codes_find(struct opd_jit_codes *codes,
					uint64_t addr);

#endif /* DAEMON_SOURCE_JIT_OPD_JIT_CODES_H */
