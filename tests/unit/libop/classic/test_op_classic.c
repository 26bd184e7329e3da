// SPDX-License-Identifier: GPL-2.0-or-later
/* Classic sample files: each layout, each number that could be wrong. */

#include "tests/unit/op_fixture.h"

#include "libop/classic/op_classic.h"
#include "tests/helper/writers/classic_file.h"

#define ROOM 65536 /* bytes; more than the files here have */

static struct classic_file sample(size_t layout, bool big_endian)
{
	return (struct classic_file){
		.layout = &classic_layouts[layout],
		.big_endian = big_endian,
		.cpu_type = 35,
		.event = 0x76,
		.unit_mask = 0x0f,
		.count = 100000,
		.is_kernel = 1,
		.cg_to_is_kernel = 1,
		.mhz = 2400.125,
		.mtime = 0x15e0d5da5,
		.anon_start = 0x7f1000000000,
		.cg_to_anon_start = 0x7f2000000000,
	};
}

static const struct classic_pair pairs[] = {
	{ 0, 1 },
	{ 0x1000, 7 },
	{ 0x1004, UINT32_MAX },
	{ UINT64_MAX, 3 },
	{ 0x0123456789abcdef, 70000 },
};

#define NR_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static void check_header(const struct op_classic *classic, uint32_t version)
{
	const struct op_classic_header *h = &classic->header;

	assert_int_equal(h->version, version);
	assert_int_equal(h->cpu_type, 35);
	assert_int_equal(h->event, 0x76);
	assert_int_equal(h->unit_mask, 0x0f);
	assert_int_equal(h->count, 100000);
	assert_int_equal(h->cpu_khz, 2400125);
	assert_true(h->is_kernel);
	assert_true(h->cg_to_is_kernel);
	assert_int_equal(h->mtime, 0x15e0d5da5);
	assert_int_equal(h->anon_start, 0x7f1000000000);
	assert_int_equal(h->cg_to_anon_start, 0x7f2000000000);
}

/* Each pair of @wanted comes once, and nothing else. */
static void check_pairs(const struct op_classic *classic,
			const struct classic_pair *wanted, size_t nr)
{
	uint64_t key, count, seen = 0;
	size_t found = 0;

	for (uint64_t at = 0; op_classic_next(classic, &at, &key, &count);) {
		for (size_t i = 0; i < nr; i++)
			found += wanted[i].key == key &&
				 wanted[i].count == count;
		seen++;
	}
	assert_int_equal(seen, nr);
	assert_int_equal(found, nr);
}

static void read_abi(struct op_classic_abi *abi,
		     const struct classic_file *file)
{
	FILE *out = fopen("abi", "w");

	assert_non_null(out);
	classic_write_abi(file, out);
	fclose(out);
	assert_int_equal(op_classic_abi_read(abi, "abi", NULL), 0);
}

/* ---- all layouts --------------------------------------------------------- */

static void each_layout(void (*test)(const struct classic_file *file))
{
	for (size_t i = 0; i < NR_CLASSIC_LAYOUTS; i++)
		for (int big = 0; big < 2; big++) {
			struct classic_file file = sample(i, big);

			test(&file);
		}
}

static void read_back(const struct classic_file *file)
{
	struct op_classic classic;
	struct op_classic_abi abi;
	struct op_diag diag = { "" };
	uint8_t bytes[ROOM];

	classic_build(file, bytes, pairs, NR_PAIRS);
	write_bytes("f", bytes, classic_len(file, NR_PAIRS));
	read_abi(&abi, file);
	for (int told = 0; told < 2; told++) {
		assert_int_equal(op_classic_open(&classic, "f",
						 told ? &abi : NULL, &diag),
				 0);
		assert_string_equal(diag.text, "");
		check_header(&classic, file->layout->version);
		check_pairs(&classic, pairs, NR_PAIRS);
		op_classic_close(&classic);
	}
}

FOLDER_TEST(test_layouts)
{
	each_layout(read_back);
}

static void read_sizes(const struct classic_file *file)
{
	static struct classic_pair many[1000];
	static const size_t sizes[] = { 0, 1, 127, 128, 1000 };
	uint8_t bytes[ROOM];
	struct op_classic classic;

	for (uint32_t i = 0; i < 1000; i++)
		many[i] = (struct classic_pair){ 16 * i, i + 1 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		classic_build(file, bytes, many, sizes[i]);
		assert_int_equal(op_classic_parse(&classic, bytes,
						  classic_len(file, sizes[i]),
						  NULL, "f", NULL),
				 0);
		assert_int_equal(classic.nr_nodes, sizes[i]);
		check_pairs(&classic, many, sizes[i]);
	}
}

TEST(test_sizes)
{
	each_layout(read_sizes);
}

/* A count of zero is none; a key may come twice. */
TEST(test_odd_pairs)
{
	static const struct classic_pair odd[] = {
		{ 1, 0 }, { 2, 5 }, { 2, 6 }, { 3, 0 }
	};
	struct classic_file file = sample(0, false);
	uint64_t key, count, total = 0;
	struct op_classic classic;
	uint8_t bytes[ROOM];

	classic_build(&file, bytes, odd, 4);
	assert_int_equal(op_classic_parse(&classic, bytes,
					  classic_len(&file, 4), NULL, "f",
					  NULL),
			 0);
	for (uint64_t at = 0; op_classic_next(&classic, &at, &key, &count);) {
		assert_int_equal(key, 2);
		total += count;
	}
	assert_int_equal(total, 11);
}

/* Keys of 32 bits, and more room in the structures than is needed. */
FOLDER_TEST(test_told_layout)
{
	struct classic_file file = sample(0, true);
	uint8_t bytes[100 + 8 + 2 * 15] = { 0 };
	uint64_t at = 0, key, count;
	struct op_classic classic;
	struct op_classic_abi abi;

	read_abi(&abi, &file);
	abi.header_size = 100;
	abi.descr_size = 8;
	abi.key_size = 4;
	abi.node_size = 11;
	abi.node_key = 7;
	abi.node_value = 0;
	abi.node_next = 3;
	abi.value_size = 4;
	classic_put_header(&file, bytes);
	classic_put(&file, bytes + 100, 4, 2);
	classic_put(&file, bytes + 104, 4, 2);
	/* The chain's last byte is the only one that overlaps nothing. */
	classic_put(&file, bytes + 108 + 11, 4, 0x500);
	classic_put(&file, bytes + 108 + 11 + 7, 4, 0xfedcba98);
	assert_int_equal(op_classic_parse(&classic, bytes, sizeof(bytes), &abi,
					  "f", NULL),
			 0);
	assert_true(op_classic_next(&classic, &at, &key, &count));
	assert_int_equal(key, 0xfedcba98);
	assert_int_equal(count, 0x500);
	assert_false(op_classic_next(&classic, &at, &key, &count));
}

/* ---- what is refused ----------------------------------------------------- */

static uint8_t sound[ROOM];
static size_t sound_len;
static struct classic_file sound_file;

static int make_sound(void **state)
{
	(void)state;
	sound_file = sample(0, false);
	classic_build(&sound_file, sound, pairs, NR_PAIRS);
	sound_len = classic_len(&sound_file, NR_PAIRS);
	return 0;
}

static void refuse(const uint8_t *bytes, size_t len, int err,
		   const char *reason)
{
	struct op_diag diag = { "" };
	struct op_classic classic;

	assert_int_equal(op_classic_parse(&classic, bytes, len, NULL, "s/f",
					  &diag),
			 err);
	assert_reason(&diag, "s/f: ");
	assert_reason(&diag, reason);
}

/* Refused when the 32-bit number at @at is @value. */
static void refuse_number(size_t at, uint32_t value, int err,
			  const char *reason)
{
	uint8_t bytes[ROOM];

	memcpy(bytes, sound, sound_len);
	classic_put(&sound_file, bytes + at, 4, value);
	refuse(bytes, sound_len, err, reason);
}

TEST(test_not_classic)
{
	refuse(sound, 0, -EBADMSG, "empty");
	refuse(sound, 3, -EBADMSG, "not a sample file");
	refuse((const uint8_t *)"DAE\r\0\0\0\0", 8, -EBADMSG,
	       "not a sample file");
	refuse((const uint8_t *)"\211ODB\r\n\032\n", 8, -EPROTO,
	       "needs no import");
	refuse_number(4, 0x11, -EPROTO, "version 0x11;");
	refuse_number(4, 0, -EPROTO, "version 0x0;");
	for (size_t len = 8; len < sound_len; len++)
		refuse(sound, len, -EBADMSG, "truncated");
}

TEST(test_damaged_numbers)
{
	size_t descr = 88, node = descr + 32, hash = node + 128 * 16;

	refuse_number(descr, 0, -EBADMSG, "truncated");
	refuse_number(descr, 64, -EBADMSG, "truncated");
	refuse_number(descr, UINT32_MAX, -EBADMSG, "truncated");
	refuse_number(descr + 4, 0, -EBADMSG, "in use");
	refuse_number(descr + 4, 129, -EBADMSG, "in use");
	refuse_number(descr + 4, UINT32_MAX, -EBADMSG, "in use");
	refuse_number(node + 16 + 12, 6, -EBADMSG, "chain");
	refuse_number(node + 5 * 16 + 12, UINT32_MAX, -EBADMSG, "chain");
	refuse_number(hash, 6, -EBADMSG, "index");
	refuse_number(hash + 4 * 127, UINT32_MAX, -EBADMSG, "index");
	/* One node fewer in use: what points to it leads nowhere. */
	refuse_number(descr + 4, 5, -EBADMSG, "damaged");
}

/* A length that fits and a number of nodes that no file has. */
TEST(test_odd_number_of_nodes)
{
	uint8_t bytes[88 + 32 + 3 * 20] = { 0 };

	classic_put_header(&sound_file, bytes);
	classic_put(&sound_file, bytes + 88, 4, 3);
	classic_put(&sound_file, bytes + 92, 4, 1);
	refuse(bytes, sizeof(bytes), -EBADMSG, "that many nodes");
	classic_put(&sound_file, bytes + 88, 4, 0);
	refuse(bytes, 88 + 32, -EBADMSG, "truncated");
}

/* What the ABI says is no reason to read more than there is. */
FOLDER_TEST(test_cut_short_with_an_abi)
{
	struct op_classic classic;
	struct op_classic_abi abi;

	read_abi(&abi, &sound_file);
	assert_int_equal(op_classic_parse(&classic, sound, sound_len, &abi,
					  "s/f", NULL),
			 0);
	for (size_t len = 8; len < sound_len; len++) {
		uint8_t *exact = malloc(len);
		struct op_diag diag = { "" };

		assert_non_null(exact);
		memcpy(exact, sound, len);
		assert_int_equal(op_classic_parse(&classic, exact, len, &abi,
						  "s/f", &diag),
				 -EBADMSG);
		assert_reason(&diag, "s/f: truncated");
		free(exact);
	}
}

FOLDER_TEST(test_wrong_abi)
{
	struct classic_file other = sample(0, true);
	struct op_classic classic;
	struct op_classic_abi abi;
	struct op_diag diag = { "" };

	read_abi(&abi, &other);
	assert_int_equal(op_classic_parse(&classic, sound, sound_len, &abi, "f",
					  &diag),
			 -EPROTO);
	assert_reason(&diag, "byte order");
	other = sample(1, false);
	read_abi(&abi, &other);
	diag.text[0] = '\0';
	assert_int_equal(op_classic_parse(&classic, sound, sound_len, &abi, "f",
					  &diag),
			 -EBADMSG);
	assert_reason(&diag, "not of the given ABI");
}

TEST(test_speed)
{
	static const struct {
		double mhz;
		uint32_t khz;
	} speeds[] = { { 0, 0 },
		       { -1, 0 },
		       { 0.0004, 0 },
		       { 1, 1000 },
		       { 3999999, 3999999000 },
		       { 1e30, 0 },
		       { __builtin_nan(""), 0 },
		       { __builtin_inf(), 0 } };
	struct op_classic classic;
	uint8_t bytes[ROOM];

	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		struct classic_file file = sample(2, i % 2);

		file.mhz = speeds[i].mhz;
		classic_build(&file, bytes, pairs, NR_PAIRS);
		assert_int_equal(op_classic_parse(&classic, bytes,
						  classic_len(&file, NR_PAIRS),
						  NULL, "f", NULL),
				 0);
		assert_int_equal(classic.header.cpu_khz, speeds[i].khz);
	}
}

FOLDER_TEST(test_no_file)
{
	struct op_diag diag = { "" };
	struct op_classic classic;

	assert_int_equal(op_classic_open(&classic, "none", NULL, &diag),
			 -ENOENT);
	assert_reason(&diag, "none: no such file");
	diag.text[0] = '\0';
	assert_int_equal(op_classic_open(&classic, ".", NULL, &diag), -EINVAL);
	assert_reason(&diag, ".: not a regular file");
}

/* ---- abi files ----------------------------------------------------------- */

static const char *abi_text(void)
{
	struct classic_file file = sample(0, false);
	FILE *out = fopen("abi", "w");

	assert_non_null(out);
	classic_write_abi(&file, out);
	fclose(out);
	return text_of("abi");
}

/* The abi file with @from replaced by @to is refused. */
static void refuse_abi(const char *from, const char *to, const char *reason)
{
	struct op_diag diag = { "" };
	struct op_classic_abi abi;
	char text[8192];
	const char *good = abi_text(), *at = strstr(good, from);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, to,
		 at + strlen(from));
	write_text("abi", text);
	assert_int_equal(op_classic_abi_read(&abi, "abi", &diag), -EINVAL);
	assert_reason(&diag, "abi");
	assert_reason(&diag, reason);
}

FOLDER_TEST(test_bad_abi)
{
	struct op_diag diag = { "" };
	struct op_classic_abi abi;

	refuse_abi("sizeof_double 8", "sizeof_double", ":1: ");
	refuse_abi("sizeof_u8 1", "sizeof_u8 x", ":3: ");
	refuse_abi("sizeof_u8 1", "sizeof_u8 -1", ":3: ");
	refuse_abi("sizeof_u8 1", "sizeof_u8 1 1", ":3: ");
	refuse_abi("sizeof_u8 1", "sizeof_u8 99999999999999999999", ":3: ");
	refuse_abi("sizeof_u64 8", "sizeof_u64 4", "sizeof_u64");
	refuse_abi("odb_key_t 8", "odb_key_t 0", "sizeof_odb_key_t");
	refuse_abi("odb_key_t 8", "odb_key_t 16", "sizeof_odb_key_t");
	refuse_abi("odb_value_t 4", "odb_value_t 3", "sizeof_odb_value_t");
	refuse_abi("odb_node_t 16", "odb_node_t 0", "sizeof_odb_node_t");
	refuse_abi("odb_node_t 16", "odb_node_t 15", "offsetof_node_next");
	refuse_abi("odb_descr_t 32", "odb_descr_t 7", "current_size");
	refuse_abi("opd_header 88", "opd_header 79", "cg_to_anon_start");
	refuse_abi("header_mtime 40", "header_mtime 81", "header_mtime");
	refuse_abi("header_magic 0", "header_magic 4096", "header_magic");
	refuse_abi("little_endian 1", "", "little_endian is missing");
	refuse_abi("offsetof_node_key 0\n", "", "offsetof_node_key is missing");
	write_text("abi", "");
	assert_int_equal(op_classic_abi_read(&abi, "abi", &diag), -EINVAL);
	write_bytes("abi", "little_endian 1\0\n", 17);
	assert_int_equal(op_classic_abi_read(&abi, "abi", &diag), -EINVAL);
	assert_int_equal(op_classic_abi_read(&abi, "none", &diag), -ENOENT);
}

/* Older versions had neither anonymous memory nor call graphs. */
FOLDER_TEST(test_short_abi)
{
	struct op_classic classic;
	struct op_classic_abi abi;
	char text[8192];
	const char *good = abi_text();
	const char *cut = strstr(good, "offsetof_header_cg_to_is_kernel");

	assert_non_null(cut);
	snprintf(text, sizeof(text), "%.*sunknown 17\nlittle_endian 1\n",
		 (int)(cut - good), good);
	write_text("abi", text);
	assert_int_equal(op_classic_abi_read(&abi, "abi", NULL), 0);
	assert_int_equal(op_classic_parse(&classic, sound, sound_len, &abi, "f",
					  NULL),
			 0);
	assert_int_equal(classic.header.mtime, sound_file.mtime);
	assert_int_equal(classic.header.anon_start, 0);
	assert_false(classic.header.cg_to_is_kernel);
	check_pairs(&classic, pairs, NR_PAIRS);
}

/* ---- names --------------------------------------------------------------- */

/* @classic is, in our own way to write names, @ours. */
static void is_named(const char *classic, const char *ours)
{
	char buf[OP_MANGLE_MAX], name[OP_MANGLE_MAX];
	struct op_diag diag = { "" };
	struct op_mangle m;

	assert_int_equal(
		op_classic_name_parse(classic, &m, buf, sizeof(buf), &diag), 0);
	assert_true(op_mangle_build(&m, name, sizeof(name)) > 0);
	assert_string_equal(name, ours);
}

#define E "CPU_CLK_UNHALTED.100000.0.all.all.all"

TEST(test_names)
{
	static const char *const same[] = {
		"{root}/bin/ls/{dep}/{root}/lib/libc.so.6/" E,
		"{kern}/snd/{dep}/{kern}/snd/TIMER.0.0.4300.4301.7",
		"{root}/b/{dep}/{anon:[heap]}/51.0x1000.0x2000/A.B.1.15.1.2.3",
		"{root}/b/{dep}/{anon:x}/51.0x7fabcdef0.0xfedcba9876543210/" E,
		"{root}/b/{dep}/{root}/b/{cg}/{kern}/snd/" E,
		"{root}/b/{dep}/{kern}/s/A.18446744073709551615.0.1.1.1",
		"{root}/b/{dep}/{kern}/s/A.1.0.9223372036854775807.1.1",
		"{root}/b/{dep}/{anon:anon}/5.0x1.0x2/{cg}/{root}/c/" E,
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		is_named(same[i], same[i]);
	is_named("/{root}//bin/ls/{dep}/{root}//bin/ls/" E,
		 "{root}/bin/ls/{dep}/{root}/bin/ls/" E);
	is_named("{root}/a%b/\xc3\xa9/{dep}/{root}/{x/" E,
		 "{root}/a%25b/%c3%a9/{dep}/{root}/%7bx/" E);
}

TEST(test_bad_names)
{
	static const char *const bad[] = {
		"",
		"/",
		E,
		"{root}/bin/ls/" E,
		"{root}/bin/ls/{dep}/" E,
		"{dep}/{root}/bin/ls/" E,
		"bin/ls/{dep}/{root}/bin/ls/" E,
		"{root}/ls/{dep}/{root}/ls/{cg}/ls/" E,
		"{root}/ls/{dep}/{root}/" E,
		"{root}/ls/{dep}/{root}/ls/A.1.0.all.all",
		"{root}/ls/{dep}/{root}/ls/.1.0.all.all.all",
		"{root}/ls/{dep}/{root}/ls/A.x.0.all.all.all",
		"{root}/ls/{dep}/{root}/ls/A.1.-1.all.all.all",
		"{root}/ls/{dep}/{root}/ls/A.1.0.all.all.some",
		"{root}/ls/{dep}/{root}/ls/A.1.0.9223372036854775808.all.all",
		"{root}/ls/{dep}/{root}/ls/A.99999999999999999999.0.1.1.1",
		"{root}/ls/{dep}/{anon:}/1.0x1.0x2/" E,
		"{root}/ls/{dep}/{anon:x/1.0x1.0x2/" E,
		"{root}/ls/{dep}/{anon:x}/1.1.2/" E,
		"{root}/ls/{dep}/{anon:x}/0x1.0x2/" E,
		"{root}/ls/{dep}/{anon:x}/1.0x.0x2/" E,
		"{root}/ls/{dep}/{anon:x}/1.0x1.0x11111111111111111/" E,
		"{root}/ls/{dep}/{anon:x}/1.0x1g.0x2/" E,
		"{root}/ls/{dep}/{anon:x}/f.0x1.0x2/" E,
		"{root}/ls/{dep}/{anon:x}/1.0x1.2/" E,
		"{root}/ls/{dep}/{anon:x}/9223372036854775808.0x1.0x2/" E,
		"{root}/ls/{dep}/{anon:x}/5100.jo",
		"{root}/ls/{dep}/{root}/ls/A.a.0.all.all.all",
		"{root}/ls/{dep}/{root}/ls/A.18446744073709551616.0.1.1.1",
		"{root}//{dep}/{root}/ls/" E,
		"{root}/ls/{dep}/{kern}/" E,
	};
	char buf[OP_MANGLE_MAX];
	struct op_mangle m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct op_diag diag = { "" };

		assert_int_equal(op_classic_name_parse(bad[i], &m, buf,
						       sizeof(buf), &diag),
				 -EINVAL);
		assert_reason(&diag, "not the name of a classic sample file");
	}
	assert_int_equal(op_classic_name_parse("{root}/a/{dep}/{root}/a/" E, &m,
					       buf, 10, NULL),
			 -ENAMETOOLONG);
	assert_int_equal(op_classic_name_parse("", &m, buf, 0, NULL),
			 -ENAMETOOLONG);
}

/* ---- CPU types ----------------------------------------------------------- */

TEST(test_cpu_types)
{
	/* Version 1.0 numbered them anew. */
	assert_string_equal(op_classic_cpu_name(0x12, 44), "x86-64/family10");
	assert_string_equal(op_classic_cpu_name(0x13, 35), "x86-64/family10");
	assert_string_equal(op_classic_cpu_name(0x12, 0), "i386/ppro");
	assert_string_equal(op_classic_cpu_name(0x13, 0), "i386/ppro");
	assert_string_equal(op_classic_cpu_name(0x12, 4), "timer");
	assert_string_equal(op_classic_cpu_name(0x13, 4), "timer");
	assert_string_equal(op_classic_cpu_name(0x12, 5), "rtc");
	assert_string_equal(op_classic_cpu_name(0x13, 5), "i386/p4");
	assert_string_equal(op_classic_cpu_name(0x12, 83), "ppc64/power8");
	assert_string_equal(op_classic_cpu_name(0x13, 71), "ppc64/power8");
	assert_string_equal(op_classic_cpu_name(0x13, 87),
			    "arm/armv8-thunderx2");
	assert_null(op_classic_cpu_name(0x12, 84));
	assert_null(op_classic_cpu_name(0x13, 88));
	assert_null(op_classic_cpu_name(0x13, UINT32_MAX));
}

TEST_GROUP(make_sound, NULL)
