/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_SUMS_H
#define LIBPP_ARCHIVE_SUMS_H

/*
 * The files of a folder with a hash of each, in a file as sha256sum(1) writes
 * it, so that `sha256sum -c` in that folder can check it, too: a line "HASH
 * NAME" with two blanks for each, in the order of the names' bytes. A name
 * with a backslash, newline or carriage return has them as "\\", "\n" and
 * "\r", and its line starts with a backslash.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/base/op_arena.h"
#include "libpp/symbols/sha256.h"

struct pp_sum {
	const char *name; /* relative to the folder */
	uint8_t hash[PP_SHA256_LEN];
};

struct pp_sums {
	struct pp_sum *list; /* ascending names, all different */
	size_t nr;
};

/*
 * Read the file @path, names into @arena. Returns 0; -ENOENT without one (no
 * reason in @diag); or -errno with the reason, -EINVAL "PATH:LINE: what" for a
 * file that is no whole list, whose names lead out of the folder, or do not
 * ascend.
 */
int pp_sums_read(struct pp_sums *sums, struct op_arena *arena, const char *path,
		 struct op_diag *diag);

/* Write them to the new file @path, which is on the disk then. Returns 0 or
 * -errno. */
int pp_sums_write(const struct pp_sums *sums, const char *path);

/* The one called @name; NULL if there is none. */
const struct pp_sum *pp_sums_find(const struct pp_sums *sums, const char *name);

/* The sums of files whose names begin with @start: the first, and *@nr of them;
 * NULL if there are none. */
const struct pp_sum *pp_sums_below(const struct pp_sums *sums,
				   const char *start, size_t *nr);

#endif /* LIBPP_ARCHIVE_SUMS_H */
