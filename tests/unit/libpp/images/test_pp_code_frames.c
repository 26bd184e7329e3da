// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is known of code by its key: the frames of inlined functions around it,
 * with the lines and discriminators that tell calls of one line apart, and the
 * places at which each is inlined.
 */

#include "tests/unit/pp_session.h"

#include "libpp/images/image_symbols.h"

/* ---- frames -------------------------------------------------------------- */

/*
 * The binary root/b. Offset 0x1000 is the function outer, which has middle
 * inlined at 0x1004 and 0x1008, and in that tiny at 0x1008; 0x1010 is plain,
 * which has tiny inlined at 0x1014, and nothing tells where; 0x1018 is bare,
 * which only the table of symbols knows.
 */
static void make_inlining_binary(void)
{
	static const char script[] =
		"set -e; mkdir -p root; cat >b.s <<'END'\n"
		"\t.file 1 \"src/x.c\"\n"
		"\t.file 2 \"src/x.h\"\n"
		"\t.text\n"
		"\t.globl outer, plain, bare, _start\n"
		"\t.type outer, @function\n"
		"_start:\n"
		"outer:\t.loc 1 3\n"
		"\tnop; .skip 3, 0x90\n"
		"4:\t.loc 1 10 discriminator 2\n"
		"\tnop; .skip 3, 0x90\n"
		"5:\t.loc 2 5 discriminator 3\n"
		"\tnop; .skip 3, 0x90\n"
		"6:\t.loc 1 4 discriminator 1\n"
		"\tnop; .skip 3, 0x90\n"
		"\t.size outer, . - outer\n"
		"\t.type plain, @function\n"
		"plain:\t.loc 1 20\n"
		"\tnop; .skip 3, 0x90\n"
		"7:\t.loc 2 5\n"
		"\tnop; .skip 3, 0x90\n"
		"\t.size plain, . - plain\n"
		"\t.type bare, @function\n"
		"bare:\t.loc 1 30 discriminator 4\n"
		"\tnop; .skip 7, 0x90\n"
		"\t.size bare, . - bare\n"
		"8:\t.section .debug_abbrev\n"
		"\t.uleb128 1, 0x11, 1, 0x10, 0x17, 3, 8, 0x1b, 8\n"
		"\t.uleb128 0x11, 1, 0x12, 7, 0, 0\n"
		"\t.uleb128 2, 0x2e, 0, 3, 8, 0x20, 0xb, 0x3a, 0xb\n"
		"\t.uleb128 0x3b, 0xb, 0, 0\n"
		"\t.uleb128 3, 0x2e, 1, 3, 8, 0x3a, 0xb, 0x3b, 0xb\n"
		"\t.uleb128 0x11, 1, 0x12, 7, 0, 0\n"
		"\t.uleb128 4, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 7\n"
		"\t.uleb128 0x58, 0xb, 0x59, 0xb, 0x2136, 0xb, 0, 0\n"
		"\t.uleb128 5, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 7, 0, 0\n"
		"\t.uleb128 0\n"
		"\t.section .debug_info\n"
		"1:\t.long 3f - 2f\n"
		"2:\t.value 4\n"
		"\t.long .debug_abbrev\n"
		"\t.byte 8, 1\n"
		"\t.long .debug_line\n"
		"\t.string \"src/x.c\", \"/work\"\n"
		"\t.quad outer, 0x20\n"
		"9:\t.byte 2\n"
		"\t.string \"tiny\"\n"
		"\t.byte 1, 2, 1\n"
		"10:\t.byte 2\n"
		"\t.string \"middle\"\n"
		"\t.byte 1, 1, 9\n"
		"\t.byte 3\n"
		"\t.string \"outer\"\n"
		"\t.byte 1, 2\n"
		"\t.quad outer, 0x10\n"
		"\t.byte 4\n"
		"\t.long 10b - 1b\n"
		"\t.quad 4b, 8\n"
		"\t.byte 1, 33, 7\n"
		"\t.byte 4\n"
		"\t.long 9b - 1b\n"
		"\t.quad 5b, 4\n"
		"\t.byte 2, 12, 6\n"
		"\t.byte 0, 0, 0\n"
		"\t.byte 3\n"
		"\t.string \"plain\"\n"
		"\t.byte 1, 19\n"
		"\t.quad plain, 8\n"
		"\t.byte 5\n"
		"\t.long 9b - 1b\n"
		"\t.quad 7b, 4\n"
		"\t.byte 0, 0\n"
		"3:\t.section .debug_line\n"
		"END\n"
		"${CC:-cc} -nostdlib -static -Wl,-Ttext=0x401000 "
		"-Wl,--build-id=none -o root/b b.s\n";

	assert_int_equal(system(script), 0);
}

static const struct pp_image made_image = {
	.kind = OP_IMAGE_FILE,
	.recorded = { .space = OP_SPACE_ROOT, .name = "/b" },
	.name = "/b",
	.path = "/b",
	.base = "b",
};

/* "FILE:LINE", without the folder of the file. */
static void write_place(FILE *out, const struct pp_place *place)
{
	if (place->file)
		fprintf(out, " %s:%u", strrchr(place->file, '/') + 1,
			place->line);
	else
		fputs(" -", out);
}

static void write_what_is_known(FILE *out, struct pp_image_symbols *symbols,
				struct op_arena *arena, uint64_t key)
{
	const struct pp_code_frame *frames;
	struct pp_place places[4] = { { 0 } };
	struct pp_place at = { 0 }, declared = { 0 };
	size_t nr;

	assert_int_equal(pp_image_symbols_frames(symbols, key, "name", arena,
						 &frames, &nr),
			 0);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s(%u):%u.%u", i ? " > " : "", frames[i].name,
			frames[i].declared, frames[i].line,
			frames[i].discriminator);
	fputs("\nplaces", out);
	pp_image_symbols_chain(symbols, key, arena, places, NR(places));
	for (size_t i = 0; i < NR(places); i++)
		write_place(out, &places[i]);
	pp_image_symbols_inlined_at(symbols, key, arena, &at);
	pp_image_symbols_declared(symbols, key, arena, &declared);
	fputs(", at", out);
	write_place(out, &at);
	fputs(", of", out);
	write_place(out, &declared);
	fputc('\n', out);
}

FOLDER_TEST(code_has_frames)
{
	enum {
		ALL = PP_WANT_LINES | PP_WANT_INLINES | PP_WANT_DECLARATIONS,
	};
	/* clang-format off */
	static const struct {
		const char *name;
		unsigned int wants;
		uint64_t key;
		const char *wanted;
	} rows[] = {
		{ "its own", ALL, 0x1000,  EXPECTED_ROW },
		{ "the last byte before what is inlined", ALL, 0x1003,  EXPECTED_ROW },
		{ "inlined", ALL, 0x1004,  EXPECTED_ROW },
		{ "inlined twice", ALL, 0x1008,  EXPECTED_ROW },
		{ "the last byte of that", ALL, 0x100b,  EXPECTED_ROW },
		{ "behind what is inlined", ALL, 0x100c,  EXPECTED_ROW },
		{ "another function", ALL, 0x1010,  EXPECTED_ROW },
		{ "inlined nobody knows where", ALL, 0x1014,  EXPECTED_ROW },
		{ "a function without declaration", ALL, 0x1018,  EXPECTED_ROW },
		{ "behind all code", ALL, 0x1020,  EXPECTED_ROW },
		{ "no functions are wanted", PP_WANT_LINES, 0x1008,  EXPECTED_ROW },
		{ "no declarations are wanted", PP_WANT_LINES | PP_WANT_INLINES, 0x1008, 
		  EXPECTED_ROW },
	};
	/* clang-format on */
	struct op_session session;

	make_inlining_binary();
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct pp_image_symbols symbols;
		struct pp_locator locator;
		struct text text;

		op_arena_init(&arena);
		assert_int_equal(pp_locator_init(&locator, &arena, NULL, "root",
						 NULL, NULL),
				 0);
		assert_int_equal(pp_image_symbols_open(
					 &symbols, &made_image, &session,
					 &locator, rows[i].wants, &messages),
				 0);
		write_what_is_known(text_begin(&text), &symbols, &arena,
				    rows[i].key);
		text_must_be(&text, rows[i].name, rows[i].wanted);
		pp_image_symbols_release(&symbols);
		op_arena_release(&arena);
	}
}
