// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is kept of inlined functions comes back as it was, and nothing else is
 * believed: another build, a file that was cut off or changed, and numbers that
 * lead out of the file even where the checksum is right.
 */

#include "tests/unit/op_fixture.h"

#include <zlib.h>

#include "libpp/symbols/inline_answers.h"

static const uint8_t id[20] = { 1, 2, 3 };

static const struct op_bfd_inlined two[] = {
	{ .name = "inner",
	  .file = "/src/a.h",
	  .line = 3,
	  .call_file = "/src/a.c",
	  .call_line = 30,
	  .call_discriminator = 7 },
	{ .name = "outer", .line = 4 },
};
static const struct op_bfd_inlined one[] = {
	{ .name = "inner", .file = "/src/b.h", .line = 3 },
};

static const char *text_or_dash(const char *text)
{
	return text ? text : "-";
}

/* What is known of @key, in one line. */
static const char *answer(const struct pp_inline_answers *answers, uint64_t key)
{
	static char line[256];
	struct op_bfd_inlined out[OP_BFD_MAX_INLINED];
	size_t nr, len = 0;

	if (!pp_inline_answers_find(answers, key, out, &nr))
		return "unknown";
	*line = '\0';
	for (size_t i = 0; i < nr; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len,
					"%s %s:%u < %s:%u.%u;", out[i].name,
					text_or_dash(out[i].file), out[i].line,
					text_or_dash(out[i].call_file),
					out[i].call_line,
					out[i].call_discriminator);
	return line;
}

#define TWO "inner /src/a.h:3 < /src/a.c:30.7;outer -:4 < -:0.0;"
#define ONE "inner /src/b.h:3 < -:0.0;"

static void write_answers_to(const char *path,
			     struct pp_inline_answers *answers)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(pp_inline_answers_write(answers, file, id, sizeof(id)),
			 0);
	fclose(file);
}

/* Some of them, in no order, one twice. */
static void write_some(const char *path)
{
	struct pp_inline_answers answers = { 0 };

	assert_int_equal(pp_inline_answers_add(&answers, 0x300, one, 1), 0);
	assert_int_equal(pp_inline_answers_add(&answers, 0x100, two, 2), 0);
	assert_int_equal(pp_inline_answers_add(&answers, 0x200, NULL, 0), 0);
	assert_int_equal(pp_inline_answers_add(&answers, 0x104, two, 2), 0);
	assert_int_equal(pp_inline_answers_add(&answers, 0x108, two, 2), 0);
	assert_int_equal(pp_inline_answers_add(&answers, 0x104, two, 2), 0);
	assert_string_equal(answer(&answers, 0x100), "unknown");
	write_answers_to(path, &answers);
	pp_inline_answers_release(&answers);
}

static int read_them(struct pp_inline_answers *answers, const char *path)
{
	return pp_inline_answers_read(answers, path, id, sizeof(id));
}

FOLDER_TEST(answers_come_back)
{
	static const struct {
		uint64_t key;
		const char *wanted;
	} rows[] = {
		{ 0, "unknown" },
		{ 0x100, TWO },
		{ 0x101, "unknown" },
		{ 0x104, TWO },
		{ 0x108, TWO },
		{ 0x200, "" },
		{ 0x300, ONE },
		{ 0x301, "unknown" },
		{ UINT64_MAX, "unknown" },
	};
	struct pp_inline_answers answers;

	write_some("kept");
	assert_int_equal(read_them(&answers, "kept"), 0);
	assert_int_equal(answers.nr_addresses, 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(answer(&answers, rows[i].key),
				    rows[i].wanted);
	/* Neighbours share frames, and equal texts are there once. */
	assert_true(answers.nr_frames <= 5);
	assert_int_equal(answers.texts_len,
			 sizeof("") + sizeof("inner") + sizeof("outer") +
				 sizeof("/src/a.h") + sizeof("/src/a.c") +
				 sizeof("/src/b.h"));
	pp_inline_answers_release(&answers);
}

/* As in most libraries. */
FOLDER_TEST(nothing_was_inlined_comes_back)
{
	struct pp_inline_answers answers = { 0 };

	assert_int_equal(pp_inline_answers_add(&answers, 0x100, NULL, 0), 0);
	write_answers_to("none", &answers);
	pp_inline_answers_release(&answers);
	assert_int_equal(read_them(&answers, "none"), 0);
	assert_string_equal(answer(&answers, 0x100), "");
	assert_string_equal(answer(&answers, 0x104), "unknown");
	pp_inline_answers_release(&answers);
}

/* A later session has other addresses. */
FOLDER_TEST(answers_are_added_to_a_file)
{
	struct pp_inline_answers old, more = { 0 };

	write_some("kept");
	assert_int_equal(read_them(&old, "kept"), 0);
	assert_int_equal(pp_inline_answers_add(&more, 0x50, one, 1), 0);
	assert_int_equal(pp_inline_answers_add_all(&more, &old), 0);
	pp_inline_answers_release(&old);
	write_answers_to("kept", &more);
	pp_inline_answers_release(&more);
	assert_int_equal(read_them(&old, "kept"), 0);
	assert_int_equal(old.nr_addresses, 6);
	assert_string_equal(answer(&old, 0x50), ONE);
	assert_string_equal(answer(&old, 0x108), TWO);
	assert_string_equal(answer(&old, 0x200), "");
	assert_int_equal(pp_inline_answers_add(&old, 0x60, one, 1), 0);
	pp_inline_answers_release(&old);
}

/* The bytes of what write_some() wrote to "kept". */
static size_t read_kept(uint8_t *file, size_t room)
{
	FILE *in = fopen("kept", "r");
	size_t len;

	assert_non_null(in);
	len = fread(file, 1, room, in);
	fclose(in);
	return len;
}

FOLDER_TEST(others_are_not_believed)
{
	static const uint8_t other[20] = { 1, 2, 4 };
	struct pp_inline_answers answers;
	uint8_t file[1024];
	size_t len;

	assert_int_equal(read_them(&answers, "none"), -ENOENT);
	write_some("kept");
	assert_int_equal(pp_inline_answers_read(&answers, "kept", other,
						sizeof(other)),
			 -EBADMSG);
	assert_int_equal(pp_inline_answers_read(&answers, "kept", id, 19),
			 -EBADMSG);
	assert_int_equal(pp_inline_answers_read(&answers, "kept", id, 0),
			 -EBADMSG);
	len = read_kept(file, sizeof(file));
	for (size_t i = 0; i < len; i++) {
		write_bytes("cut", file, i);
		assert_int_equal(read_them(&answers, "cut"), -EBADMSG);
		assert_null(answers.addresses);
		file[i] ^= 0x40;
		write_bytes("cut", file, len);
		file[i] ^= 0x40;
		/* What is behind the id in the head means nothing. */
		if (i < 32 + sizeof(id) || i >= 64)
			assert_int_equal(read_them(&answers, "cut"), -EBADMSG);
		pp_inline_answers_release(&answers);
	}
}

/* Where the texts begin: the first one is empty, "inner" is the next. */
static size_t text_start(const uint8_t *file, size_t len)
{
	const uint8_t *inner = memmem(file, len, "inner", sizeof("inner"));

	assert_non_null(inner);
	assert_int_equal(inner[-1], 0);
	return (size_t)(inner - file) - 1;
}

/* Damage with the right checksum. */
FOLDER_TEST(numbers_are_checked)
{
	enum { ADDRESS = 64, FRAME = ADDRESS + 5 * 16, TEXTS = 0, LAST = 1 };
	static const struct {
		const char *what;
		size_t at;
		uint32_t value;
	} rows[] = {
		{ "a descending key", ADDRESS + 16, 0x10 },
		{ "a key twice", ADDRESS + 16, 0x100 },
		{ "first frame behind all", ADDRESS + 8, 100 },
		{ "too many frames", ADDRESS + 12, 100 },
		{ "frames behind all", ADDRESS + 4 * 16 + 12, 6 },
		{ "a name behind all", FRAME, 1000 },
		{ "a file behind all", FRAME + 4, 1000 },
		{ "texts that begin with none", TEXTS, 0 },
		{ "texts without an end", LAST, 0 },
		{ "a caller's file behind all", FRAME + 12, UINT32_MAX },
	};

	write_some("kept");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pp_inline_answers answers;
		uint8_t file[1024];
		size_t len = read_kept(file, sizeof(file));
		uint32_t crc;

		if (rows[i].at == TEXTS)
			file[text_start(file, len)] = 'x';
		else if (rows[i].at == LAST)
			file[len - 1] = 'x';
		else
			memcpy(file + rows[i].at, &rows[i].value, 4);
		crc = (uint32_t)crc32(0, file + 64, (uInt)(len - 64));
		memcpy(file + 12, &crc, 4);
		write_bytes("bent", file, len);
		if (read_them(&answers, "bent") != -EBADMSG)
			fail_msg("%s", rows[i].what);
	}
}

/* Files of earlier versions are as good as none, but not damaged. */
FOLDER_TEST(earlier_versions_are_told)
{
	static const struct {
		uint32_t version;
		int err;
	} rows[] = {
		{ 0, -EBADMSG }, { 1, -ESTALE },	  { 2, 0 },
		{ 3, -EBADMSG }, { 0x1000000, -EBADMSG },
	};

	write_some("kept");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pp_inline_answers answers;
		uint8_t file[1024];
		size_t len = read_kept(file, sizeof(file));

		memcpy(file + 8, &rows[i].version, 4);
		write_bytes("aged", file, len);
		assert_int_equal(read_them(&answers, "aged"), rows[i].err);
		pp_inline_answers_release(&answers);
	}
}

FOLDER_TEST(files_may_be_out_of_reach)
{
	struct pp_inline_answers answers = { 0 };
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_int_equal(pp_inline_answers_write(&answers, full, id, 0),
			 -EINVAL);
	assert_int_equal(pp_inline_answers_write(&answers, full, id,
						 sizeof(id)),
			 -ENOSPC);
	fclose(full);
	mkdir("folder", 0755);
	assert_int_equal(read_them(&answers, "folder"), -EINVAL);
}
