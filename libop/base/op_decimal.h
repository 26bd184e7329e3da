/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_DECIMAL_H
#define LIBOP_BASE_OP_DECIMAL_H

/* Numbers as text, byte for byte as printf(3) has them, in a tenth of its
 * instructions: a report of many rows is little else. */

#include <stddef.h>
#include <stdint.h>

/* Room for each of them, the null byte included. */
#define OP_DECIMAL_LEN 32

/* "%PRIu64". Returns the length. */
size_t op_decimal_u64(char buf[OP_DECIMAL_LEN], uint64_t number);

/* "%7.4f" of a @value of less than 10^20. Returns the length. */
size_t op_decimal_percent(char buf[OP_DECIMAL_LEN], double value);

/* "%.*PRIx64", that is with at least @digits (16 at most) digits. Returns the
 * length. */
size_t op_decimal_hex(char buf[OP_DECIMAL_LEN], uint64_t number, int digits);

#endif /* LIBOP_BASE_OP_DECIMAL_H */
