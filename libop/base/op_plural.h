/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_PLURAL_H
#define LIBOP_BASE_OP_PLURAL_H

#include <stdint.h>

/* The ending of a noun after the number @nr: "1 sample", "2 samples". */
static inline const char *op_plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

#endif /* LIBOP_BASE_OP_PLURAL_H */
