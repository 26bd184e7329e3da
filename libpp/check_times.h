/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_CHECK_TIMES_H
#define LIBPP_CHECK_TIMES_H

/*
 * Whether the slices of a session's time line add up to its sample files: no
 * count has more in them, and, where the time line says that it is whole, none
 * has less.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/timeline.h"

struct ctree;
struct odb;

struct pp_check_times {
	struct timeline timeline;
	bool is_open; /* else there is none, and all do nothing */
	struct timeline_count *counts; /* that sample files have */
	size_t nr_counts;
	uint64_t more, less; /* that slices have */
};

/* Read the time line of the folder @dir, before its sample files. Returns 0,
 * also if there is none, or -errno as timeline_read(). */
int pp_check_times_open(struct pp_check_times *times, const char *dir);
void pp_check_times_close(struct pp_check_times *times);

/* Take up a sample file or call tree @name. Returns 0 or -ENOMEM. */
int pp_check_times_table(struct pp_check_times *times, const char *name,
			 const struct odb *odb);
int pp_check_times_tree(struct pp_check_times *times, const char *name,
			const struct ctree *tree);

/* Fill @times->more and less, once all files are taken up. Returns 0 or
 * -ENOMEM. */
int pp_check_times_compare(struct pp_check_times *times);

#endif /* LIBPP_CHECK_TIMES_H */
