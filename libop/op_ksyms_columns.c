// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols as columns. Bytes of a kind are beside each other, which zlib packs
 * better than lines, and names stay in the columns when these are read: the
 * end of a name is a name already. Columns come from files, so all lengths are
 * checked, and nothing behind their end is read but the zero byte that the
 * caller puts there.
 */

#include "libop/op_ksyms_form.h"

#include <stdlib.h>
#include <string.h>

#define OFFSET_MAX 10 /* bytes: 64 bits, seven in each */

/* ---- reading ------------------------------------------------------------- */

/* The number at *@at, which goes behind it. */
static bool get_column_number(const char **at, const char *end, uint64_t *out)
{
	*out = 0;
	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint64_t byte = (unsigned char)*(*at)++;

		if (shift == 63 && byte > 1)
			return false;
		*out |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool get_offset_column(struct op_ksyms *ksyms, size_t nr,
			      const char **at, const char *end)
{
	uint64_t offset = 0, more;

	for (size_t i = 0; i < nr; i++) {
		if (!get_column_number(at, end, &more) ||
		    __builtin_add_overflow(offset, more, &offset))
			return false;
		ksyms->syms[i].offset = offset;
	}
	return true;
}

/* Counts those that are whole in @ksyms->nr. A zero byte is at @end. */
static bool get_name_column(struct op_ksyms *ksyms, size_t nr,
			    const char *types, const char *at, const char *end)
{
	const unsigned char *drops = (const unsigned char *)types + nr;
	const char *name = NULL;
	size_t len = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!drops[i])
			name = at;
		else if (drops[i] < len)
			name += drops[i];
		else
			return false;
		if (!op_ksyms_is_fit(types[i], name, &len))
			return false;
		if (!drops[i])
			at += len + 1;
		if (at > end)
			return false;
		ksyms->syms[i].type = types[i];
		ksyms->syms[i].name = name;
		ksyms->nr++;
	}
	return at == end;
}

bool op_ksyms_from_columns(struct op_ksyms *ksyms, size_t nr,
			   const char *columns, size_t len)
{
	const char *at = columns + 2 * nr, *end = columns + len;

	return get_offset_column(ksyms, nr, &at, end) &&
	       get_name_column(ksyms, nr, columns, at, end);
}

/* ---- writing ------------------------------------------------------------- */

static char *put_column_number(char *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (char)(number | 0x80);
	*at++ = (char)number;
	return at;
}

/* How many bytes of @last are before @name; 0 if it does not end so. */
static unsigned char dropped_prefix_len(const char *last, const char *name)
{
	size_t last_len = strlen(last), len = strlen(name);

	if (last_len <= len || last_len - len > UINT8_MAX ||
	    strcmp(last + last_len - len, name))
		return 0;
	return (unsigned char)(last_len - len);
}

static size_t columns_size_at_most(const struct op_ksyms *ksyms)
{
	size_t len = 1;

	for (size_t i = 0; i < ksyms->nr; i++)
		len += 2 + OFFSET_MAX + strlen(ksyms->syms[i].name) + 1;
	return len;
}

char *op_ksyms_to_columns(const struct op_ksyms *ksyms, size_t *len)
{
	char *columns = malloc(columns_size_at_most(ksyms)), *at;
	const struct op_ksym *sym = ksyms->syms;
	size_t nr = ksyms->nr;
	uint64_t offset = 0;

	if (!columns)
		return NULL;
	at = columns + 2 * nr;
	for (size_t i = 0; i < nr; i++) {
		columns[i] = sym[i].type;
		columns[nr + i] = (char)(i ? dropped_prefix_len(sym[i - 1].name,
								sym[i].name)
					   : 0);
		at = put_column_number(at, sym[i].offset - offset);
		offset = sym[i].offset;
	}
	for (size_t i = 0; i < nr; i++)
		if (!columns[nr + i])
			at = stpcpy(at, sym[i].name) + 1;
	*len = (size_t)(at - columns);
	return columns;
}
