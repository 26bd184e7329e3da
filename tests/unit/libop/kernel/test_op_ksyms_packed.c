// SPDX-License-Identifier: GPL-2.0-or-later
/* Packed snapshots of kernel symbols: what is in them, and what is refused. */

#include "tests/unit/op_fixture.h"

#include <zlib.h>

#include "libop/kernel/op_ksyms.h"

#define DAMAGED "s: it is damaged; profile again"

static const struct op_build_id no_id = { .len = 0 };

/* A snapshot "s" whose first line says @head and then packs @columns. */
static void write_packed(const char *head, const void *columns, size_t len)
{
	uLongf packed_len = compressBound(len);
	Bytef *packed = malloc(packed_len);
	FILE *file = fopen("s", "w");

	assert_non_null(file);
	assert_int_equal(compress(packed, &packed_len, columns, len), Z_OK);
	fprintf(file, "%s\n", head);
	assert_int_equal(fwrite(packed, 1, packed_len, file), packed_len);
	assert_int_equal(fclose(file), 0);
	free(packed);
}

static void write_columns(size_t nr, const void *columns, size_t len)
{
	char head[100];

	snprintf(head, sizeof(head), "oprofile symbols 2 vmlinux 01ab %zu %zu",
		 nr, len);
	write_packed(head, columns, len);
}

static struct op_ksyms read_back(void)
{
	struct op_diag diag = { "" };
	struct op_ksyms k;

	if (op_ksyms_read(&k, "s", &diag))
		fail_msg("%s", diag.text);
	return k;
}

static void refused(const char *reason)
{
	struct op_diag diag = { "" };
	struct op_ksyms k;

	assert_int_equal(op_ksyms_read(&k, "s", &diag), -EINVAL);
	assert_string_equal(diag.text, reason);
	assert_null(k.syms);
	assert_null(k.strings);
	assert_int_equal(k.nr, 0);
}

static void are_equal(const struct op_ksyms *a, const struct op_ksyms *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_int_equal(a->syms[i].offset, b->syms[i].offset);
		assert_int_equal(a->syms[i].type, b->syms[i].type);
		assert_string_equal(a->syms[i].name, b->syms[i].name);
	}
}

static void round_trip(struct op_ksym *syms, size_t nr)
{
	struct op_ksyms k = { .syms = syms, .nr = nr }, back;

	assert_int_equal(op_ksyms_write(&k, "s", "vmlinux", &no_id, NULL), 0);
	back = read_back();
	are_equal(&back, &k);
	op_ksyms_release(&back);
}

/* ---- what comes back -------------------------------------------------------
 */

/* Also where bytes of an offset or of a name are at their limits. */
FOLDER_TEST(test_names_and_offsets)
{
	char longest[300], end[300];
	struct op_ksym syms[] = {
		{ 0x7f, "__pfx_f", 't' },
		{ 0x7f, "f", 't' },
		{ 0xff, "f", 'W' },
		{ 0x4000, "ff", 't' },
		{ 0x4000, longest, 'T' },
		{ 1ULL << 63, longest + 1, 'T' },
		{ 1ULL << 63, longest + 256, 'T' },
		{ (1ULL << 63) + 1, longest, 'T' },
		{ UINT64_MAX - 1, end, 'z' },
		{ UINT64_MAX, "a", 'A' },
	};

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	strcpy(end, longest + 255);
	round_trip(syms, sizeof(syms) / sizeof(syms[0]));
	for (size_t i = 0; i < sizeof(syms) / sizeof(syms[0]); i++)
		round_trip(&syms[i], 1);
	syms[0].offset = UINT64_MAX;
	round_trip(syms, 1);
}

/* The format does not depend on who wrote it, nor on the machine. */
FOLDER_TEST(test_format)
{
	static const char columns[] = "ttTW"
				      "\0\6\0\3"
				      "\x10\x10\x80\x01\0"
				      "__pfx_do_it\0other";
	struct op_ksym syms[] = { { 0x10, "__pfx_do_it", 't' },
				  { 0x20, "do_it", 't' },
				  { 0xa0, "other", 'T' },
				  { 0xa0, "er", 'W' } };
	const struct op_ksyms k = { .syms = syms, .nr = 4 };
	struct op_ksyms back;

	write_columns(4, columns, sizeof(columns));
	back = read_back();
	are_equal(&back, &k);
	op_ksyms_release(&back);
}

static struct op_ksyms many(struct op_ksym *syms, char (*names)[32], size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		snprintf(names[i], sizeof(*names), "%sfunction_%zu",
			 i % 2 ? "" : "__pfx_", i / 2 * 2654435761 % 100000);
		syms[i] = (struct op_ksym){ i * 16, names[i], 't' };
	}
	return (struct op_ksyms){ .syms = syms, .nr = nr };
}

FOLDER_TEST(test_small)
{
	enum { NR = 10000 };
	static char names[NR][32];
	static struct op_ksym syms[NR];
	struct op_ksyms k = many(syms, names, NR), back;
	struct stat st;

	assert_int_equal(op_ksyms_write(&k, "s", "vmlinux", &no_id, NULL), 0);
	assert_int_equal(stat("s", &st), 0);
	/* As text it would be 270,000 bytes. */
	assert_true(st.st_size < 30000);
	back = read_back();
	are_equal(&back, &k);
	op_ksyms_release(&back);
}

/* Symbols at 10, 20 (two), 30, 40 and 50 (two), of which @wanted offsets are
 * looked up: the names that are read, by their letters. */
static const struct {
	const char *what, *names;
	uint64_t wanted[3];
	size_t nr;
} wanted_cases[] = {
	{ "nothing: the first", "a", { 0 }, 0 },
	{ "before all", "a", { 5 }, 1 },
	{ "in the first", "ab", { 10 }, 1 },
	{ "in two names for one place", "abcd", { 20 }, 1 },
	{ "at its last byte", "abcd", { 29 }, 1 },
	{ "in the middle", "ade", { 35 }, 1 },
	{ "the one behind has two names", "aef", { 40 }, 1 },
	{ "the last", "afg", { 50 }, 1 },
	{ "far behind", "afg", { UINT64_MAX - 1 }, 1 },
	{ "several in one", "ade", { 30, 30, 39 }, 3 },
	{ "neighbours", "adef", { 30, 40, 41 }, 3 },
	{ "far from each other", "abfg", { 10, 11, 99 }, 3 },
};

FOLDER_TEST(test_wanted)
{
	struct op_ksym syms[] = { { 10, "a", 't' }, { 20, "b", 't' },
				  { 20, "c", 't' }, { 30, "d", 't' },
				  { 40, "e", 't' }, { 50, "f", 't' },
				  { 50, "g", 't' } };
	const struct op_ksyms k = { .syms = syms, .nr = 7, .size = 60 };

	assert_int_equal(op_ksyms_write(&k, "s", "vmlinux", &no_id, NULL), 0);
	for (size_t i = 0; i < sizeof(wanted_cases) / sizeof(*wanted_cases);
	     i++) {
		const struct op_ksyms_wanted wanted = { wanted_cases[i].wanted,
							wanted_cases[i].nr };
		char names[8] = "";
		struct op_ksyms got;

		assert_int_equal(op_ksyms_read_wanted(&got, "s", &wanted, NULL),
				 0);
		assert_int_equal(got.size, 60);
		for (size_t j = 0; j < got.nr; j++) {
			const struct op_ksym *sym = &got.syms[j];

			names[j] = *sym->name;
			assert_int_equal(sym->offset,
					 syms[*sym->name - 'a'].offset);
		}
		if (strcmp(names, wanted_cases[i].names))
			fail_msg("%s: read %s, wanted %s", wanted_cases[i].what,
				 names, wanted_cases[i].names);
		op_ksyms_release(&got);
	}
}

/* Each name is that of the whole snapshot, also of what is a part of one that
 * is not read. */
FOLDER_TEST(test_wanted_of_many)
{
	enum { NR = 10000 };
	static char names[NR][32];
	static struct op_ksym syms[NR];
	struct op_ksyms k = many(syms, names, NR), got;
	uint64_t offset;
	const struct op_ksyms_wanted wanted = { &offset, 1 };

	assert_int_equal(op_ksyms_write(&k, "s", "vmlinux", &no_id, NULL), 0);
	for (size_t i = 1; i + 1 < NR; i += 97) {
		offset = syms[i].offset + i % 16;
		assert_int_equal(op_ksyms_read_wanted(&got, "s", &wanted, NULL),
				 0);
		assert_int_equal(got.nr, 3);
		for (size_t j = 0; j < 2; j++) {
			assert_int_equal(got.syms[j + 1].offset,
					 syms[i + j].offset);
			assert_string_equal(got.syms[j + 1].name,
					    syms[i + j].name);
		}
		op_ksyms_release(&got);
	}
}

/* ---- what does not ---------------------------------------------------------
 */

static void refuse_columns(size_t nr, const void *columns, size_t len)
{
	write_columns(nr, columns, len);
	refused(DAMAGED);
}

#define REFUSE_COLUMNS(nr, text) refuse_columns(nr, text, sizeof(text) - 1)

FOLDER_TEST(test_hostile_columns)
{
	struct op_ksyms k;

	write_columns(1, "t\0\5f", 5);
	k = read_back();
	op_ksyms_release(&k);
	REFUSE_COLUMNS(0, "x");
	REFUSE_COLUMNS(1, "");
	REFUSE_COLUMNS(1, "t\0\5");
	REFUSE_COLUMNS(1, "t\0\5f");
	REFUSE_COLUMNS(1, "t\0\5\0");
	REFUSE_COLUMNS(1, "t\0\5f\0g\0");
	REFUSE_COLUMNS(1, "t\0\5f\0\0");
	REFUSE_COLUMNS(1, "t\0\5f g\0");
	REFUSE_COLUMNS(1, "t\0\5\033[2J\0");
	REFUSE_COLUMNS(1, "t\1\5f\0");
	REFUSE_COLUMNS(1, "1\0\5f\0");
	REFUSE_COLUMNS(1, "\0\0\5f\0");
	REFUSE_COLUMNS(1, "t\0\x80");
	REFUSE_COLUMNS(1, "t\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\2f\0");
	REFUSE_COLUMNS(1, "t\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0f\0");
	REFUSE_COLUMNS(2, "tt\0\0\1\1f\0");
	REFUSE_COLUMNS(2, "tt\0\1\1\1f\0");
	REFUSE_COLUMNS(2, "tt\0\2\1\1f\0");
	REFUSE_COLUMNS(2, "tt\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"
			  "f\0g\0");
	REFUSE_COLUMNS(1000, "tt\0\0\1\1f\0g\0");
}

static void refuse_head(const char *head, const char *reason)
{
	write_packed(head, "t\0\5f", 5);
	refused(reason);
}

FOLDER_TEST(test_first_line)
{
	refuse_head("oprofile symbols 2 m - 1", "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 2 m - 1 5 ",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 2 m - 1 -5",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 2 m - 1 18446744073709551616",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 2 m x 1 5",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 2 m - 1 5 6",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 3 m - 1 5",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 3 m - 1 5 6 7",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 3 m - 1 5 x",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 4 m - 1 5 6",
		    "s:1: no snapshot of symbols");
	refuse_head("oprofile symbols 2 m - 1 4", DAMAGED);
	refuse_head("oprofile symbols 2 m - 1 6", DAMAGED);
	refuse_head("oprofile symbols 2 m - 0 5", DAMAGED);
	refuse_head("oprofile symbols 2 m - 2 5", DAMAGED);
	refuse_head("oprofile symbols 2 m - 18446744073709551615 5", DAMAGED);
	refuse_head("oprofile symbols 2 m - 1 18446744073709551615", DAMAGED);
	refuse_head("oprofile symbols 2 m - 1 67108864", DAMAGED);
	refuse_head("oprofile symbols 2 m - 1 67108865", DAMAGED);
}

/* What unpacks to more than the first line says is never all unpacked. */
FOLDER_TEST(test_bomb)
{
	size_t len = 65 << 20;
	char *zeros = calloc(1, len);

	assert_non_null(zeros);
	write_packed("oprofile symbols 2 m - 1 5", zeros, len);
	refused(DAMAGED);
	write_columns(1, zeros, len);
	refused(DAMAGED);
	free(zeros);
}

static char *whole_file(size_t *len)
{
	struct stat st;
	char *bytes;
	FILE *file = fopen("s", "r");

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	*len = (size_t)st.st_size;
	bytes = malloc(*len + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *len + 1, file), *len);
	assert_int_equal(fclose(file), 0);
	return bytes;
}

/* A bit that says nothing of symbols may go by: the image's name, its build-id,
 * what fills the last byte before zlib's checksum. */
static void check_damaged(const struct op_ksyms *k)
{
	struct op_diag diag = { "" };
	struct op_ksyms back;

	if (op_ksyms_read(&back, "s", &diag)) {
		assert_true(!strncmp(diag.text, "s:", 2));
		assert_null(back.syms);
		return;
	}
	are_equal(&back, k);
	op_ksyms_release(&back);
}

FOLDER_TEST(test_damage)
{
	enum { NR = 40 };
	static char names[NR][32];
	static struct op_ksym syms[NR];
	struct op_ksyms k = many(syms, names, NR);
	struct op_ksyms back;
	size_t len;
	char *bytes;

	assert_int_equal(op_ksyms_write(&k, "s", "vmlinux", &no_id, NULL), 0);
	bytes = whole_file(&len);
	for (size_t i = 0; i < len * 8; i++) {
		bytes[i / 8] ^= (char)(1 << i % 8);
		write_bytes("s", bytes, len);
		check_damaged(&k);
		bytes[i / 8] ^= (char)(1 << i % 8);
	}
	for (size_t i = 0; i < len; i++) {
		write_bytes("s", bytes, i);
		assert_int_equal(op_ksyms_read(&back, "s", NULL), -EINVAL);
	}
	bytes[len] = '\0';
	write_bytes("s", bytes, len + 1);
	refused(DAMAGED);
	free(bytes);
}
