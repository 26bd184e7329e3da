// SPDX-License-Identifier: GPL-2.0-or-later

#include "libcfi/cfi_address.h"

#define PE_FORMAT 0x0f
#define PE_RELATIVE 0x70

/* DW_EH_PE_udata2 to 8 are 2 to 4, the signed ones 10 to 12. */
static uint64_t get_formatted(struct op_cursor *c, uint8_t format)
{
	switch (format) {
	case 0x00: /* absptr */
	case 0x04:
	case 0x0c:
		return op_cursor_number(c, 8);
	case 0x01:
		return op_cursor_uleb(c);
	case 0x09:
		return (uint64_t)op_cursor_sleb(c);
	case 0x02:
		return op_cursor_number(c, 2);
	case 0x03:
		return op_cursor_number(c, 4);
	case 0x0a:
		return (uint64_t)op_cursor_signed(c, 2);
	case 0x0b:
		return (uint64_t)op_cursor_signed(c, 4);
	}
	op_cursor_fail(c);
	return 0;
}

bool cfi_address(struct op_cursor *c, uint8_t encoding, const uint8_t *bytes,
		 uint64_t base, uint64_t *out)
{
	uint64_t at = base + (uint64_t)(c->at - bytes);
	uint8_t relative = encoding & PE_RELATIVE;

	*out = 0;
	if (encoding == CFI_PE_OMIT)
		return false;
	if (relative == CFI_PE_ALIGNED) {
		op_cursor_skip(c, -at % 8);
		*out = op_cursor_number(c, 8);
		return !c->failed;
	}
	*out = get_formatted(c, encoding & PE_FORMAT);
	if (relative == CFI_PE_PCREL)
		*out += at;
	else if (relative)
		return false;
	return !c->failed && !(encoding & CFI_PE_INDIRECT);
}
