/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_DWARF_FIXTURE_H
#define TESTS_UNIT_DWARF_FIXTURE_H

/* Sections of DWARF, written byte by byte, little-endian. */

#include "libpp/symbols/dwarf/dwarf.h"
#include "tests/unit/op_fixture.h"

struct section {
	uint8_t bytes[4096];
	size_t len;
};

static inline void put(struct section *s, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		assert_true(s->len < sizeof(s->bytes));
		s->bytes[s->len++] = (uint8_t)(value >> 8 * i);
	}
}

static inline void put_text(struct section *s, const char *text)
{
	assert_true(s->len + strlen(text) + 1 <= sizeof(s->bytes));
	strcpy((char *)s->bytes + s->len, text);
	s->len += strlen(text) + 1;
}

/* Numbers below 128, which are their own LEB128. */
#define PUT(s, ...)                                                            \
	do {                                                                   \
		const uint8_t put_[] = { __VA_ARGS__ };                        \
		for (size_t put_i = 0; put_i < sizeof(put_); put_i++)          \
			put(s, put_[put_i], 1);                                \
	} while (0)

/* Write the length of what follows @at, where 4 bytes were left for it. */
static inline void put_len(struct section *s, size_t at)
{
	size_t len = s->len;

	s->len = at;
	put(s, len - at - 4, 4);
	s->len = len;
}

static inline struct pp_bytes bytes_of(const struct section *s)
{
	return (struct pp_bytes){ s->bytes, s->len };
}

/* Line programs: special opcodes are from 13 on, lines -5 to 8 each. */
enum { OPCODE_BASE = 13, LINE_BASE = -5, LINE_RANGE = 14 };

static inline uint8_t special(unsigned int address, int line)
{
	return (uint8_t)(OPCODE_BASE + (line - LINE_BASE) +
			 LINE_RANGE * address);
}

static inline void put_set_address(struct section *s, uint64_t address)
{
	PUT(s, 0, 9, 2);
	put(s, address, 8);
}

/* @len bytes more, then the end of the sequence. */
static inline void put_end(struct section *s, uint8_t len)
{
	PUT(s, 2, len, 0, 1, 1);
}

static inline void put_numbers(struct section *s, int version)
{
	PUT(s, 1); /* bytes of an instruction */
	if (version >= 4)
		PUT(s, 1); /* operations at an address */
	PUT(s, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE);
	PUT(s, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
}

/*
 * A header up to its program: of version 5 with folders /src and sub and files
 * 0 and 1 a.c in the first, 2 b.h in the second; of others without /src, from
 * file 1 on. Returns where its length is.
 */
static inline size_t put_header(struct section *s, int version)
{
	size_t start = s->len, tables;

	put(s, 0, 4);
	put(s, (uint64_t)version, 2);
	if (version == 5)
		PUT(s, 8, 0);
	tables = s->len;
	put(s, 0, 4);
	put_numbers(s, version);
	if (version == 5) {
		PUT(s, 1, 1, DW_FORM_string, 2);
		put_text(s, "/src");
		put_text(s, "sub");
		PUT(s, 2, 1, DW_FORM_string, 2, DW_FORM_udata, 3);
		put_text(s, "a.c");
		PUT(s, 0);
		put_text(s, "a.c");
		PUT(s, 0);
		put_text(s, "b.h");
		PUT(s, 1);
	} else {
		put_text(s, "sub");
		PUT(s, 0);
		put_text(s, "a.c");
		PUT(s, 0, 0, 0);
		put_text(s, "b.h");
		PUT(s, 1, 0, 0, 0);
	}
	put_len(s, tables);
	return start;
}

#endif /* TESTS_UNIT_DWARF_FIXTURE_H */
