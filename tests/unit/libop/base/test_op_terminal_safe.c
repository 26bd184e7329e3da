// SPDX-License-Identifier: GPL-2.0-or-later
/* What others named comes without what would command a terminal. */

#include "tests/unit/op_fixture.h"

#include <stdbool.h>

#include "libop/base/op_terminal_safe.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

TEST(texts_are_one_line)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "", "" },
		{ "a b~", "a b~" },
		{ "a\nb\tc\r\f\001\037\177", "a?b?c?????" },
		{ "\033[2Jx", "?[2Jx" },
		/* U+0080, U+009F, U+00A0 and an e with an accent */
		{ "\xc2\x80 \xc2\x9f \xc2\xa0 \xc3\xa9",
		  "?? ?? \xc2\xa0 \xc3\xa9" },
		{ "\xc2", "\xc2" },
		/* U+061C, U+200E, U+2028, U+202E, U+2066, and their neighbours
		 */
		{ "\xd8\x9c\xe2\x80\x8e\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6",
		  "??????????????" },
		{ "\xd8\x9d\xe2\x80\x8d\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa",
		  "\xd8\x9d\xe2\x80\x8d\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa" },
		{ "\xe2\x80", "\xe2?" },
		/* CSI as one byte; letters of Latin-1; what is no character of
		 * UTF-8: cut, too long, a surrogate, beyond the last one */
		{ "\x9b"
		  "2J\xff\xe4\xa0",
		  "?2J\xff\xe4\xa0" },
		{ "\xe2\x9b"
		  "A\xc0\x9b\xed\xa0\x9b\xf4\x9b\x9b\x9b",
		  "\xe2?A\xc0?\xed\xa0?\xf4???" },
		{ "\xe4\xbd\x9b \xf0\x9f\x9b\x80 \xc3\x9b",
		  "\xe4\xbd\x9b \xf0\x9f\x9b\x80 \xc3\x9b" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		char text[64];

		strcpy(text, rows[i].text);
		op_terminal_safe(text);
		assert_string_equal(text, rows[i].wanted);
	}
}

/* Write @text in pieces of @piece bytes, each for itself. */
static void write_in_pieces(const char *text, size_t piece, const char *wanted)
{
	size_t len = strlen(text), got_len;
	char *got;
	FILE *out = open_memstream(&got, &got_len);
	FILE *plain = op_terminal_safe_open(out);

	assert_non_null(plain);
	for (size_t i = 0; i < len; i += piece) {
		fwrite(text + i, 1, len - i < piece ? len - i : piece, plain);
		assert_int_equal(fflush(plain), 0);
	}
	assert_int_equal(fclose(plain), 0);
	fputs(".", out); /* it is still open */
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strncmp(got, wanted, got_len - 1), 0);
	assert_int_equal(got_len - 1, strlen(wanted));
	free(got);
}

TEST(streams_are_text)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "", "" },
		{ "a\nb\tc\fd\r\ne", "a\nb\tc\fd\r\ne" },
		{ "a\rb\r\r\n\r", "a?b?\r\n?" },
		/* Beyond what is looked at in one step, at each place of it. */
		{ "0123456789abcdef\033[2J01234567\0010123456\177012345\xc2\x85"
		  "01234\r0123\n012\t01\b0123456789",
		  "0123456789abcdef?[2J01234567?0123456?012345??"
		  "01234?0123\n012\t01?0123456789" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbf\xbd\xc3\xa9 !~ \xf0\x9f\x98\x80",
		  "\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbf\xbd\xc3\xa9 !~ "
		  "\xf0\x9f\x98\x80" },
		{ "\001\037\177\033", "????" },
		{ "a\xe2\x80\xaeled\xe2\x80\x93x\xe2\x81\xa9\xe2\x88\x80\xd8\xa7\xd8\x9c\n",
		  "a???led\xe2\x80\x93x???\xe2\x88\x80\xd8\xa7??\n" },
		{ "\xe2\x80\033[2J\xe2\xe2\x80\xa9\xe2\x80",
		  "\xe2??[2J\xe2???\xe2?" },
		{ "01234\x9b"
		  "2J\xff\xe4\xa0 0123456789\x80",
		  "01234?2J\xff\xe4\xa0 0123456789?" },
		{ "\xe2\x9b"
		  "A\xc0\x9b\xed\xa0\x9b\xf4\x9b\x9b\x9b",
		  "\xe2?A\xc0?\xed\xa0?\xf4???" },
		{ "\xe4\xbd\x9b \xf0\x9f\x9b\x80 \xc3\x9b\xf0\x9f\x9b",
		  "\xe4\xbd\x9b \xf0\x9f\x9b\x80 \xc3\x9b\xf0??" },
		{ "\033[m\033[1m\033[4m\033[32m\033[33m\033[1;31mx",
		  "\033[m\033[1m\033[4m\033[32m\033[33m\033[1;31mx" },
		{ "\033[2J\033[8m\033[35m\033]0;x\a\033[1;32m",
		  "?[2J?[8m?[35m?]0;x??[1;32m" },
		/* What looked like something begins something else. */
		{ "\033\033[m\033[\033[1;\n\033[3\r\n",
		  "?\033[m?[?[1;\n?[3\r\n" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0\xc3\xa9\xc2\xc2\x85\xc2",
		  "????\xc2\xa0\xc3\xa9\xc2??\xc2" },
		{ "\xc2\n\xc2\033[m\xc2\001", "\xc2\n\xc2\033[m\xc2?" },
	};

	for (size_t i = 0; i < NR(rows); i++)
		for (size_t piece = 1; piece < 12; piece++)
			write_in_pieces(rows[i].text, piece, rows[i].wanted);
}

TEST(failures_are_seen)
{
	FILE *full = fopen("/dev/full", "w");
	FILE *plain = op_terminal_safe_open(full);

	setvbuf(full, NULL, _IONBF, 0);
	assert_non_null(plain);
	fputs("text", plain);
	assert_int_equal(fflush(plain), EOF);
	assert_true(ferror(plain));
	fclose(plain);
	assert_true(ferror(full));
	fclose(full);
}
