/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_ADDRESS_H
#define LIBCFI_CFI_ADDRESS_H

/* The addresses of call frame information. */

#include "libop/base/op_cursor.h"

/* How they are written: DW_EH_PE_* of the LSB, chapter 10.5.1. */
enum cfi_encoding {
	CFI_PE_ABSPTR = 0x00,
	CFI_PE_PCREL = 0x10,
	CFI_PE_ALIGNED = 0x50,
	CFI_PE_INDIRECT = 0x80,
	CFI_PE_OMIT = 0xff,
};

/*
 * An address written as @encoding. @base is the address of the byte at
 * @bytes, which the cursor is on or behind. Returns false, with the address
 * skipped, if it is relative to something we don't know or is to be looked up
 * in memory.
 */
bool cfi_address(struct op_cursor *c, uint8_t encoding, const uint8_t *bytes,
		 uint64_t base, uint64_t *out);

#endif /* LIBCFI_CFI_ADDRESS_H */
