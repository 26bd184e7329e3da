// SPDX-License-Identifier: GPL-2.0-or-later

#include "libcfi/cfi_cursor.h"

#define PE_FORMAT 0x0f
#define PE_RELATIVE 0x70

uint64_t cfi_uleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cfi_get(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

int64_t cfi_sleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cfi_get(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

/* DW_EH_PE_udata2 to 8 are 2 to 4, the signed ones 10 to 12. */
static uint64_t get_formatted(struct cfi_cursor *c, uint8_t format)
{
	switch (format) {
	case 0x00: /* absptr */
	case 0x04:
	case 0x0c:
		return cfi_get(c, 8);
	case 0x01:
		return cfi_uleb(c);
	case 0x09:
		return (uint64_t)cfi_sleb(c);
	case 0x02:
		return cfi_get(c, 2);
	case 0x03:
		return cfi_get(c, 4);
	case 0x0a:
		return (uint64_t)cfi_signed(cfi_get(c, 2), 2);
	case 0x0b:
		return (uint64_t)cfi_signed(cfi_get(c, 4), 4);
	}
	c->bad = true;
	return 0;
}

bool cfi_address(struct cfi_cursor *c, uint8_t encoding, const uint8_t *bytes,
		 uint64_t base, uint64_t *out)
{
	uint64_t at = base + (uint64_t)(c->at - bytes);
	uint8_t relative = encoding & PE_RELATIVE;

	*out = 0;
	if (encoding == CFI_PE_OMIT)
		return false;
	if (relative == CFI_PE_ALIGNED) {
		cfi_take(c, -at % 8);
		*out = cfi_get(c, 8);
		return !c->bad;
	}
	*out = get_formatted(c, encoding & PE_FORMAT);
	if (relative == CFI_PE_PCREL)
		*out += at;
	else if (relative)
		return false;
	return !c->bad && !(encoding & CFI_PE_INDIRECT);
}
