/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_TABLE_H
#define LIBCFI_CFI_TABLE_H

/*
 * The rows of an image: from start[i], an offset in the file less base, up to
 * start[i + 1] rule[i] holds; behind the last row is nothing. Two arrays, so
 * that a search touches the one it needs; page[] says with which row each 4 KB
 * of code begin, so that it is short.
 *
 * With the number of a rule go bits that tell of functions, which takes no more
 * room: a row of its own begins each, though the rule may be that of the row
 * before.
 */

#include <stdbool.h>

#include "libcfi/cfi.h"
#include "libcfi/cfi_rules.h"

enum {
	CFI_ROW_RULE = (1 << 28) - 1, /* its number; there are fewer rules */
	CFI_ROW_MIXED =
		1 << 28, /* not of one function, or of which is unsure */
	CFI_ROW_STARTS = 1 << 29, /* a function starts here */
};

struct cfi_table {
	enum cfi_arch arch;
	bool has_go; /* code of Go, whose runtime has stacks of its own */
	uint64_t base;
	size_t nr;
	uint32_t *start;
	uint32_t *rule; /* with the bits above */
	size_t nr_pages;
	uint32_t
		*page; /* the last row that starts at or before the page does */
	struct cfi_rules rules;
};

/* The rule for the code at @offset of the file, 0 if there is none. */
uint32_t cfi_table_find(const struct cfi_table *table, uint64_t offset);

#endif /* LIBCFI_CFI_TABLE_H */
