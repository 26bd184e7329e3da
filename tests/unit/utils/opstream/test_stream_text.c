// SPDX-License-Identifier: GPL-2.0-or-later

#include <inttypes.h>
#include <stdio.h>

/* It is in no library: two programs share the file. */
#include "tests/unit/test.h"
#include "utils/opstream/stream_text.c"

static void to_text(struct stream_buf *text, const void *data, size_t len)
{
	size_t nr = len / 8, at = 0;
	uint64_t *words = malloc(nr ? nr * 8 : 1);
	struct stream_unit unit;

	assert_non_null(words);
	memcpy(words, data, nr * 8);
	while (stream_unit_at(&unit, words + at, nr - at, true)) {
		assert_int_equal(stream_text_print(text, &unit, words + at), 0);
		at += unit.words;
	}
	assert_int_equal(at, nr);
	if (len % 8)
		assert_int_equal(stream_text_print_rest(
					 text, (const char *)data + nr * 8,
					 len % 8),
				 0);
	free(words);
}

static void to_bytes(struct stream_buf *bytes, const char *text)
{
	char line[65536];
	const char *why = "";

	while (*text) {
		size_t len = strcspn(text, "\n");

		assert_true(len < sizeof(line));
		memcpy(line, text, len);
		line[len] = '\0';
		if (stream_text_parse(bytes, line, &why))
			fail_msg("%s: %s", line, why);
		text += len + (text[len] == '\n');
	}
}

static const char normal[] =
	"stream 1 8\n"
	"stream 1 8 2400000 \"timer\"\n"
	"event 0 0x3e8 0 0x0 1 1 \"TIMER\"\n"
	"cookie 5 1 0x801 1234 1700000000 0123ab \"/bin/ls\"\n"
	"cookie 5 1 0x801 1234 1700000000 0123ab-0123456789abcdef \"/bin/ls\"\n"
	"cookie 6 0 0x0 0 0 - \"/a \\\"b\\\\\\x01\\xff\"\n"
	"kernel-range first 0xffffffff81000000 0xffffffff82000000 - \"vmlinux\"\n"
	"kernel-range 0x1 0x2 00 \"ext4\"\n"
	"kernel-range init 0x5 0x6 00 \"ext4\"\n"
	"cpu 3\n"
	"ctx 7424 18446744073709551615\n"
	"tgid 7423\n"
	"image 5\n"
	"user\n"
	"sample 0x1000 0\n"
	"kernel\n"
	"module-loaded\n"
	"module-loaded 0x5 0x6 \"ext4\"\n"
	"module-loaded 0x5 0x6 \"ext4\" 0x7 0x8\n"
	"trace\n"
	"anon 0x7f0000000000 0x7f0000001000 \"[heap]\"\n"
	"ibs-fetch 0x1 0x2\n"
	"ibs-op 0x1\n"
	"lost 4 \"event_lost_overflow\"\n"
	"weight 12\n"
	"record 99 3 0x1 0x2\n"
	"record 65535 65535\n"
	"raw 0xffffffffffffffff\n"
	"raw 0xffffffffffffffff\n"
	"user\n"
	"raw 0x5\n"
	"bytes 0102ff\n";

TEST(every_record_has_a_line)
{
	struct stream_buf bytes = { NULL, 0 }, text = { NULL, 0 };

	to_bytes(&bytes, normal);
	to_text(&text, bytes.data, bytes.len);
	assert_string_equal(text.data, normal);
	stream_buf_release(&bytes);
	stream_buf_release(&text);
}

TEST(what_a_line_stands_for)
{
	static const struct {
		const char *line;
		size_t nr;
		uint64_t words[12];
	} cases[] = {
		{ "", 0, { 0 } },
		{ "  # nothing", 0, { 0 } },
		{ "sample 16 3", 2, { 16, 3 } },
		{ "\tsample\t0x10  3 x2 # twice", 4, { 16, 3, 16, 3 } },
		{ "sample 1 1 x0", 0, { 0 } },
		{ "raw 1 2 3", 3, { 1, 2, 3 } },
		{ "user", 2, { OP_ESCAPE, 5 } },
		{ "cpu 7\r\n", 3, { OP_ESCAPE, 1ull << 32 | 2, 7 } },
		{ "ctx 1 2", 4, { OP_ESCAPE, 2ull << 32 | 1, 1, 2 } },
		{ "record 300 2 9",
		  3,
		  { OP_ESCAPE, 1ull << 32 | 2 << 16 | 300, 9 } },
		{ "lost 2 abc",
		  5,
		  { OP_ESCAPE, 3ull << 32 | 21, 2, 3, 0x636261 } },
		{ "anon 1 2 \"12345678\"",
		  6,
		  { OP_ESCAPE, 4ull << 32 | 16, 1, 2, 8, 0x3837363534333231 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream_buf bytes = { NULL, 0 };
		const char *why;

		assert_int_equal(stream_text_parse(&bytes, cases[i].line, &why),
				 0);
		if (bytes.len != cases[i].nr * 8 ||
		    (bytes.len &&
		     memcmp(bytes.data, cases[i].words, bytes.len)))
			fail_msg("%s", cases[i].line);
		stream_buf_release(&bytes);
	}
}

TEST(errors_have_a_reason)
{
	static const struct {
		const char *line;
		const char *why;
	} cases[] = {
		{ "dance", "no such record" },
		{ "cpu", "ends too early" },
		{ "cpu x", "number" },
		{ "cpu -1", "number" },
		{ "cpu 12a", "number" },
		{ "cpu 0x", "number" },
		{ "cpu 18446744073709551616", "64 bits" },
		{ "cpu 1 2", "more fields" },
		{ "user now", "more fields" },
		{ "sample 0xffffffffffffffff 0", "escape" },
		{ "sample 1 0xffffffffffffffff", "escape" },
		{ "sample 1 1 x99999999", "too many" },
		{ "record 65536 0", "16 bits" },
		{ "lost 1 \"abc", "quote" },
		{ "lost 1 \"\\n\"", "may follow" },
		{ "lost 1 \"\\x1\"", "hex" },
		{ "cookie 1 0 0 0 0 abc /x", "hex digits" },
		{ "cookie 1 0 0 0 0 zz /x", "hex digits" },
		{ "cookie 1 0 0 0 0 ab-0123456789abcde /x", "16 hex digits" },
		{ "cookie 1 0 0 0 0 ab-0123456789abcdef0 /x", "16 hex digits" },
		{ "cookie 1 0 0 0 0 ab-0123456789abcdeg /x", "hex digits" },
		{ "cookie 1 0 0 0 0 "
		  "00112233445566778899aabbccddeeff00112233445566778899"
		  "-0123456789abcdef /x",
		  "too many" },
		{ "bytes 1", "hex digits" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream_buf bytes = { NULL, 0 };
		const char *why = "";

		assert_int_equal(stream_text_parse(&bytes, cases[i].line, &why),
				 -EINVAL);
		assert_int_equal(bytes.len, 0);
		if (!strstr(why, cases[i].why))
			fail_msg("%s: %s", cases[i].line, why);
		stream_buf_release(&bytes);
	}
}

static void expect_round_trip(const void *data, size_t len)
{
	struct stream_buf bytes = { NULL, 0 }, text = { NULL, 0 };

	to_text(&text, data, len);
	if (text.len)
		to_bytes(&bytes, text.data);
	assert_int_equal(bytes.len, len);
	if (len)
		assert_memory_equal(bytes.data, data, len);
	stream_buf_release(&bytes);
	stream_buf_release(&text);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 24;
}

/* A word that is likely to look like something. */
static uint64_t likely_word(uint64_t *random)
{
	uint64_t r = next_random(random);

	switch (r % 6) {
	case 0:
	case 1:
		return OP_ESCAPE;
	case 2:
		return OP_CODE_WORD(r >> 8 & 31, r >> 16 & 1, r >> 20 & 15);
	case 3:
		return r >> 8 & 7;
	case 4:
		return OP_STREAM_MAGIC;
	default:
		return next_random(random) << 20 ^ next_random(random);
	}
}

TEST(any_bytes_come_back)
{
	uint64_t words[256], random = 42;

	for (int round = 0; round < 3000; round++) {
		size_t nr = next_random(&random) % 256;

		for (size_t i = 0; i < nr; i++)
			words[i] = likely_word(&random);
		expect_round_trip(words, nr * 8);
		expect_round_trip(words, nr ? nr * 8 - round % 8 : 0);
	}
}

TEST(every_truncation_comes_back)
{
	struct stream_buf bytes = { NULL, 0 };

	to_bytes(&bytes, normal);
	for (size_t len = 0; len <= bytes.len; len++)
		expect_round_trip(bytes.data, len);
	stream_buf_release(&bytes);
}

TEST(more_words_may_be_needed)
{
	const uint64_t words[] = { OP_ESCAPE, OP_CODE_WORD(2, 0, 1), 7 };
	struct stream_unit unit;

	for (size_t nr = 0; nr < 3; nr++)
		assert_false(stream_unit_at(&unit, words, nr, false));
	assert_true(stream_unit_at(&unit, words, 3, false));
	assert_int_equal(unit.kind, STREAM_RECORD);
	assert_int_equal(unit.words, 3);
	assert_true(stream_unit_at(&unit, words, 2, true));
	assert_int_equal(unit.kind, STREAM_RAW);
	assert_false(stream_unit_at(&unit, words, 0, true));
}
