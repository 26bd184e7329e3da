// SPDX-License-Identifier: GPL-2.0-or-later
/* Files for gprof: bins, records of bins, calls, in words of any machine. */

#include "tests/unit/pp_fixture.h"

#include <elf.h>

#include "libpp/format/gmon.h"

/* ---- a report ------------------------------------------------------------ */

#define MAX_SYMBOLS 3
#define MAX_HITS 8

struct made {
	const char *name;
	struct {
		uint64_t vma, size;
		bool elsewhere; /* in another image */
		struct {
			uint64_t vma, count;
		} hits[MAX_HITS];
	} symbols[MAX_SYMBOLS];
	struct pp_address_call calls[3]; /* caller and callee as numbers */
	const char *text;
};

/* ---- reading a file back ------------------------------------------------- */

struct reader {
	const unsigned char *at, *end;
	bool big_endian;
	unsigned int word;
};

static uint64_t take(struct reader *r, unsigned int bytes)
{
	uint64_t value = 0;

	assert_true((size_t)(r->end - r->at) >= bytes);
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)r->at[i]
			 << 8 * (r->big_endian ? bytes - 1 - i : i);
	r->at += bytes;
	return value;
}

static void take_text(struct reader *r, const char *text, size_t len)
{
	assert_memory_equal(r->at, text, len);
	r->at += len;
}

/* "START-END: COUNT COUNT" of a record; a row of zeros as "xN". */
static void write_record(FILE *out, struct reader *r)
{
	uint64_t start = take(r, r->word), end = take(r, r->word);
	uint64_t nr = take(r, 4), zeros = 0;

	assert_int_equal(take(r, 4), 1);
	take_text(r, "samples\0\0\0\0\0\0\0\0001", 16);
	fprintf(out, "%llx-%llx:", (unsigned long long)start,
		(unsigned long long)end);
	for (; nr; nr--) {
		uint64_t count = take(r, 2);

		if (!count) {
			zeros++;
			continue;
		}
		if (zeros)
			fprintf(out, " x%llu", (unsigned long long)zeros);
		zeros = 0;
		fprintf(out, " %llu", (unsigned long long)count);
	}
	fprintf(out, zeros ? " and %llu zeros\n" : "\n",
		(unsigned long long)zeros);
}

static void write_call(FILE *out, struct reader *r)
{
	uint64_t caller = take(r, r->word), callee = take(r, r->word);

	fprintf(out, "%llx>%llx %llu\n", (unsigned long long)caller,
		(unsigned long long)callee, (unsigned long long)take(r, 4));
}

static void write_gmon(FILE *out, struct reader *r)
{
	take_text(r, "gmon", 4);
	assert_int_equal(take(r, 4), 1);
	for (int i = 0; i < 12; i++)
		assert_int_equal(take(r, 1), 0);
	while (r->at < r->end)
		if (take(r, 1))
			write_call(out, r);
		else
			write_record(out, r);
}

/* ---- writing one --------------------------------------------------------- */

static void write_ident(unsigned char class, unsigned char data)
{
	unsigned char ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', class, data };

	write_bytes("binary", ident, sizeof(ident));
}

static const struct pp_image image = { .binary = "binary" }, other;

static void write_made(FILE *out, const struct made *made, struct reader *r)
{
	struct pp_symbol_entry symbols[MAX_SYMBOLS] = { { 0 } };
	struct pp_detail details[MAX_SYMBOLS][MAX_HITS] = { { { 0 } } };
	struct pp_report report = { .symbols.list = symbols };
	struct pp_address_call calls[NR(made->calls)];
	struct pp_gmon_result result;
	struct text t;

	for (size_t i = 0; i < MAX_SYMBOLS && made->symbols[i].vma; i++) {
		struct pp_symbol_entry *s = &symbols[i];

		s->vma = made->symbols[i].vma;
		s->size = made->symbols[i].size;
		s->image = made->symbols[i].elsewhere ? &other : &image;
		s->details = details[i];
		for (; s->nr_details < MAX_HITS &&
		       made->symbols[i].hits[s->nr_details].vma;
		     s->nr_details++) {
			size_t k = s->nr_details;

			details[i][k].vma = made->symbols[i].hits[k].vma;
			details[i][k].counts = &made->symbols[i].hits[k].count;
		}
		report.symbols.nr++;
	}
	memcpy(calls, made->calls, sizeof(calls));
	for (size_t i = 0; i < NR(calls) && calls[i].count; i++) {
		calls[i].caller = &symbols[(uintptr_t)calls[i].caller];
		calls[i].callee = &symbols[(uintptr_t)calls[i].callee];
		report.calls.nr++;
	}
	report.calls.list = calls;
	assert_int_equal(pp_gmon_write(text_begin(&t), &report, &image, &result,
				       NULL),
			 0);
	fclose(t.out);
	r->at = (unsigned char *)t.all;
	r->end = r->at + t.len;
	fprintf(out, "%u /%llu\n", result.bin_size,
		(unsigned long long)result.divisor);
	write_gmon(out, r);
	free(t.all);
}

#define CALL(from, to, from_vma, to_vma, nr)                                   \
	{                                                                      \
		(const void *)(from), (const void *)(to), from_vma, to_vma,    \
			nr, 0                                                  \
	}

/* The size of bins, what counts are divided by, records and calls. */
FOLDER_TEST(samples_go_into_bins)
{
	/* clang-format off */
	static const struct made rows[] = {
		{ "nothing", { { 0 } }, { { 0 } }, "8 /1\n" },
		{ "large bins", { { 0x1000, 0x20, false, { { 0x1000, 1 }, { 0x1004, 2 }, { 0x1018, 3 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "no instructions of 4 bytes", { { 0x1000, 0x20, false, { { 0x1000, 1 }, { 0x1005, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "bytes of one bin", { { 0x1000, 0x20, false, { { 0x1002, 1 }, { 0x1003, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "no sample at an address", { { 0x1000, 0x20, false, { { 0x1000, 1 }, { 0x1001, 0 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "another image", { { 0x1000, 0x20, false, { { 0x1000, 1 } } }, { 0x1020, 0x20, true, { { 0x1021, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "two symbols in a large bin", { { 0x1000, 0x14, false, { { 0x1010, 1 } } }, { 0x1014, 0x20, false, { { 0x1014, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a symbol that ends in a bin with samples", { { 0x1000, 0x14, false, { { 0x1010, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a symbol that starts in a bin with samples", { { 0x100c, 0x14, false, { { 0x100c, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a symbol that ends in a bin without", { { 0x1000, 0x14, false, { { 0x1000, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "no symbol cuts a bin", { { 0x1004, 0, false, { { 0x1000, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a bin cut in another image", { { 0x1000, 8, false, { { 0x1000, 1 } } }, { 0x1004, 4, true, { { 0 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "the last byte of an odd end", { { 0x1000, 5, false, { { 0x1004, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "the last byte of an even end", { { 0x1001, 5, false, { { 0x1005, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a byte before an odd end", { { 0x1000, 5, false, { { 0x1002, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a symbol of one byte", { { 0x1000, 1, false, { { 0x1000, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a symbol of two bytes", { { 0x1001, 2, false, { { 0x1002, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "the fullest bin", { { 0x1000, 0x20, false, { { 0x1000, 65535 }, { 0x1008, 1 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a bin too full", { { 0x1000, 0x20, false, { { 0x1000, 1 }, { 0x1008, 65536 }, { 0x1010, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a bin of three records", { { 0x1000, 0x20, false, { { 0x1000, 131071 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a gap as long as may be", { { 0x10000, 0x100000, false, { { 0x10000, 1 }, { 0x50000, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "a gap too long", { { 0x10000, 0x100000, false, { { 0x10000, 1 }, { 0x50008, 2 } } } }, { { 0 } },
		  EXPECTED_ROW },
		{ "calls", { { 0x1000, 8, false, { { 0 } } }, { 0x2000, 8, false, { { 0 } } } },
		  { CALL(0, 1, 0x1004, 0x2000, 5), CALL(1, 1, 0x2006, 0x2000, 4294967295), CALL(1, 0, 1, 2, 4294967296) },
		  EXPECTED_ROW },
		{ "calls elsewhere", { { 0x1000, 8, false, { { 0 } } }, { 0x2000, 8, true, { { 0 } } } },
		  { CALL(0, 1, 0x1004, 0x2000, 5), CALL(1, 0, 0x2006, 0x1000, 6), CALL(0, 0, 0x1001, 0x1000, 7) },
		  EXPECTED_ROW },
		{ "symbols that overlap", { { 0x1000, 8, false, { { 0x1000, 3 } } }, { 0x1000, 8, false, { { 0x1000, 4 } } } }, { { 0 } },
		  EXPECTED_ROW },
	};
	/* clang-format on */

	write_ident(ELFCLASS64, ELFDATA2LSB);
	for (size_t i = 0; i < NR(rows); i++) {
		struct reader r = { .word = 8 };
		struct text t;

		write_made(text_begin(&t), &rows[i], &r);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

FOLDER_TEST(words_are_of_the_machine)
{
	static const struct {
		unsigned char class, data;
	} rows[] = {
		{ ELFCLASS64, ELFDATA2MSB },
		{ ELFCLASS32, ELFDATA2LSB },
		{ ELFCLASS32, ELFDATA2MSB },
	};
	static const struct made made = {
		.symbols = { { 0x1000, 0x20, false, { { 0x1010, 0x1234 } } } },
		.calls = { CALL(0, 0, 0x1012, 0x1000, 0x12345678) },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct reader r = {
			.word = rows[i].class == ELFCLASS32 ? 4 : 8,
			.big_endian = rows[i].data == ELFDATA2MSB,
		};
		struct text t;

		write_ident(rows[i].class, rows[i].data);
		write_made(text_begin(&t), &made, &r);
		text_must_be(&t, "machine",
			     "8 /1\n1010-1018: 4660\n1012>1000 305419896\n");
	}
}

/* What gprof cannot add up is divided by the least number that will do. */
FOLDER_TEST(large_counts_are_divided)
{
	static const struct {
		uint64_t max, small, divisor, max_out, small_out;
	} rows[] = {
		{ INT32_MAX - 1, 1, 1, INT32_MAX - 1, 1 },
		{ INT32_MAX, 1, 2, 1073741824, 1 },
		{ 2ull * INT32_MAX - 1, 3, 2, INT32_MAX, 2 },
		{ 2ull * INT32_MAX, 1, 3, 1431655765, 0 },
		{ 2ull * INT32_MAX, 2, 3, 1431655765, 1 },
		{ 9ull * INT32_MAX, 4, 10, 1932735282, 0 },
		{ 9ull * INT32_MAX, 5, 10, 1932735282, 1 },
	};

	write_ident(ELFCLASS64, ELFDATA2LSB);
	for (size_t i = 0; i < NR(rows); i++) {
		struct made made = {
			.symbols = { { 0x1000,
				       0x20,
				       false,
				       { { 0x1000, rows[i].small },
					 { 0x1010, rows[i].max } } } },
		};
		struct reader r = { .word = 8 };
		struct text t;
		uint64_t sum = 0, small = 0;
		char *at;

		write_made(text_begin(&t), &made, &r);
		fclose(t.out);
		assert_int_equal(strtoull(strchr(t.all, '/') + 1, NULL, 10),
				 rows[i].divisor);
		for (at = strchr(t.all, '\n') + 1; *at;
		     at = strchr(at, '\n') + 1) {
			uint64_t count =
				strtoull(strchr(at, ':') + 1, NULL, 10);

			*(strncmp(at, "1000", 4) ? &sum : &small) += count;
		}
		assert_int_equal(sum, rows[i].max_out);
		assert_int_equal(small, rows[i].small_out);
		free(t.all);
	}
}

FOLDER_TEST(only_elf_files_have_words)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ "", 0 },
		{ "\x7f"
		  "ELF\1\1\1\0\0\0\0\0\0\0\0",
		  15 },
		{ "\x7f"
		  "ELG\1\1\1\0\0\0\0\0\0\0\0\0",
		  16 },
	};
	static const struct pp_report report;
	struct pp_gmon_result result;
	struct op_diag diag;

	for (size_t i = 0; i <= NR(rows); i++) {
		bool is_there = i < NR(rows);
		struct text t;

		diag = (struct op_diag){ "" };
		if (is_there)
			write_bytes("binary", rows[i].bytes, rows[i].len);
		else
			unlink("binary");
		assert_int_equal(pp_gmon_write(text_begin(&t), &report, &image,
					       &result, &diag),
				 is_there ? -ENOEXEC : -ENOENT);
		assert_string_equal(
			diag.text,
			is_there
				? "binary: not an ELF file, so gprof cannot read it"
				: "binary: cannot be read: No such file or directory");
		text_must_be(&t, "no file", "");
	}
}
