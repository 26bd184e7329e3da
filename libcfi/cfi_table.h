/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_TABLE_H
#define LIBCFI_CFI_TABLE_H

/*
 * The rows of an image: from start[i], an offset in the file less base, up to
 * start[i + 1] rule[i] holds; behind the last row is nothing. Two arrays, so
 * that a search touches the one it needs; page[] says with which row each 4 KB
 * of code begin, so that it is short.
 */

#include "libcfi/cfi.h"
#include "libcfi/cfi_rules.h"

struct cfi_table {
	enum cfi_arch arch;
	uint64_t base;
	size_t nr;
	uint32_t *start;
	uint32_t *rule;
	size_t nr_pages;
	uint32_t
		*page; /* the last row that starts at or before the page does */
	struct cfi_rules rules;
};

/* The rule for the code at @offset of the file, 0 if there is none. */
uint32_t cfi_table_find(const struct cfi_table *table, uint64_t offset);

#endif /* LIBCFI_CFI_TABLE_H */
