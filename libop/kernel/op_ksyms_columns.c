// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols as columns. Bytes of a kind are beside each other, which zlib packs
 * better than lines, and names stay in the columns when these are read: the
 * end of a name is a name already. Columns come from files, so all lengths are
 * checked, and nothing behind their end is read but the zero byte that the
 * caller puts there.
 */

#include "libop/kernel/op_ksyms_form.h"

#include <errno.h>
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

/* Columns on the way from the first symbol to the last. A zero byte is at
 * @end. */
struct column_walk {
	const char *types;
	const unsigned char *drops;
	const char *offset_at, *name_at, *end;
	uint64_t offset; /* of the last symbol */
	const char *name; /* likewise */
	size_t name_len;
};

static bool next_offset(struct column_walk *walk)
{
	uint64_t more;

	return get_column_number(&walk->offset_at, walk->end, &more) &&
	       !__builtin_add_overflow(walk->offset, more, &walk->offset);
}

/* The name of symbol @i, the next one. */
static bool next_name(struct column_walk *walk, size_t i)
{
	size_t drop = walk->drops[i];

	if (drop) {
		if (drop >= walk->name_len)
			return false;
		walk->name += drop;
		walk->name_len -= drop;
		return true;
	}
	if (walk->name_at > walk->end)
		return false;
	walk->name = walk->name_at;
	walk->name_len = strlen(walk->name);
	walk->name_at += walk->name_len + 1;
	return true;
}

/* Whether one of them is from @from up to @to. What is before is passed over.
 */
static bool has_wanted_offset(struct op_ksyms_wanted *wanted, uint64_t from,
			      uint64_t to)
{
	while (wanted->nr && *wanted->offsets < from) {
		wanted->offsets++;
		wanted->nr--;
	}
	return wanted->nr && *wanted->offsets < to;
}

/*
 * Set @is_taken for each symbol with a wanted offset, whatever the number of
 * its names, for the one behind it, and for the first. The names begin where
 * the offsets end, at *@names.
 */
static bool choose_symbols(struct column_walk walk, size_t nr,
			   struct op_ksyms_wanted wanted, bool *is_taken,
			   const char **names)
{
	size_t first = 0; /* at the offset of the last symbol */
	uint64_t last = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!next_offset(&walk))
			return false;
		is_taken[i] |= !i;
		if (walk.offset == last)
			continue;
		if (has_wanted_offset(&wanted, last, walk.offset))
			memset(&is_taken[first], true, i - first + 1);
		first = i;
		last = walk.offset;
	}
	if (has_wanted_offset(&wanted, last, UINT64_MAX))
		memset(&is_taken[first], true, nr - first);
	*names = walk.offset_at;
	return true;
}

/* Counts those that are whole in @ksyms->nr. */
static bool add_chosen_symbols(struct op_ksyms *ksyms, struct column_walk walk,
			       size_t nr, const bool *is_taken)
{
	for (size_t i = 0; i < nr; i++) {
		if (!next_offset(&walk) || !next_name(&walk, i))
			return false;
		if (!is_taken[i])
			continue;
		if (!op_ksyms_is_fit(walk.types[i], walk.name, &walk.name_len))
			return false;
		ksyms->syms[ksyms->nr++] = (struct op_ksym){
			.offset = walk.offset,
			.type = walk.types[i],
			.name = walk.name,
		};
	}
	return walk.name_at == walk.end;
}

int op_ksyms_from_columns(struct op_ksyms *ksyms, size_t nr,
			  const char *columns, size_t len,
			  const struct op_ksyms_wanted *wanted)
{
	struct column_walk walk = {
		.types = columns,
		.drops = (const unsigned char *)columns + nr,
		.offset_at = columns + 2 * nr,
		.end = columns + len,
	};
	const struct op_ksyms_wanted none = { NULL, 0 };
	bool *is_taken = malloc(nr + 1);
	size_t nr_taken = 0;
	int err = -EINVAL;

	if (!is_taken)
		return -ENOMEM;
	memset(is_taken, !wanted, nr);
	if (choose_symbols(walk, nr, wanted ? *wanted : none, is_taken,
			   &walk.name_at)) {
		for (size_t i = 0; i < nr; i++)
			nr_taken += is_taken[i];
		ksyms->syms = calloc(nr_taken + 1, sizeof(*ksyms->syms));
		if (!ksyms->syms)
			err = -ENOMEM;
		else if (add_chosen_symbols(ksyms, walk, nr, is_taken))
			err = 0;
	}
	free(is_taken);
	return err;
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
