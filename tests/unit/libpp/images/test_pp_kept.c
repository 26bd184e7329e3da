// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which symbols of images are kept from one report to the next: a binary is
 * looked at, something happens, and it is looked at again.
 */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/pp_fixture.h"

#include "libpp/archive/archive.h"
#include "libpp/images/kept_symbols.h"

struct look {
	const char *file; /* in "root" */
	const char *build; /* NULL: not known */
	unsigned int wants;
	bool in_archive;
};

/* root/b has the functions "one" and "two", root/c "one" alone, root/s none. */
static void make_kept_binaries(void)
{
	static const char script[] =
		"set -e; mkdir -p root keep\n"
		"printf '.text\\n.globl one\\n.type one,@function\\none: .skip "
		"16,0x90\\n' >c.s; cp c.s b.s\n"
		"printf '.globl two\\n.type two,@function\\ntwo: .skip "
		"16,0x90\\n' >>b.s\n"
		"for n in b c; do ${CC:-cc} -nostdlib -static -Wl,-e,0 "
		"-Wl,--build-id=0xabcd0102 -o keep/$n $n.s; done\n"
		"strip -o keep/s keep/b; cp keep/* root\n"
		"printf '1000 10 made\\n' >perf.map\n";

	assert_int_equal(system(script), 0);
}

/* Its symbols, whether they are kept, and what is said. */
static void write_look(FILE *out, struct pp_kept_symbols *kept,
		       const struct look *look)
{
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	const struct pp_archive archive = { .root = "root" };
	struct pp_image image = {
		.recorded = { .space = OP_SPACE_ROOT, .name = look->file },
		.kind = OP_IMAGE_FILE,
		.name = look->file,
		.path = look->file,
		.base = look->file + 1,
		.build = look->build ?: "",
		.build_id = { look->build ? 4 : 0, { 0xab, 0xcd, 1, 2 } },
	};
	struct pp_image_symbols *symbols;
	struct pp_locator locator;
	struct op_session session;

	op_arena_init(&arena);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	assert_int_equal(pp_locator_init(&locator, &arena,
					 look->in_archive ? &archive : NULL,
					 look->in_archive ? NULL : "root", NULL,
					 NULL),
			 0);
	assert_int_equal(pp_kept_symbols_get(kept, &symbols, &image, &session,
					     &locator, look->wants, &messages),
			 0);
	for (size_t i = 0; i < symbols->nr; i++)
		fprintf(out, "%s%s", i ? " " : "", symbols->table[i].name);
	if (symbols->whole)
		fprintf(out, "all is %s", symbols->whole);
	fputs(pp_kept_symbols_arena(kept, symbols) ? ", kept\n" : "\n", out);
	pp_kept_symbols_put(kept, symbols, &messages);
	write_messages(out, &messages);
	op_arena_release(&arena);
}

TEST(symbols_of_builds_are_kept)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct look first;
		const char *command;
		struct look second;
		const char *wanted;
	} rows[] = {
		{ "a build stays what it was", { "/b", "abcd0102" }, "cp keep/c root/b", { "/b", "abcd0102" },
		  EXPECTED_ROW },
		{ "also when it is gone", { "/b", "abcd0102" }, "rm root/b", { "/b", "abcd0102" },
		  EXPECTED_ROW },
		{ "other wishes are another look", { "/b", "abcd0102" }, "cp keep/c root/b", { "/b", "abcd0102", PP_WANT_LINES },
		  EXPECTED_ROW },
		{ "as is another file", { "/b", "abcd0102" }, "true", { "/c", "abcd0102" },
		  EXPECTED_ROW },
		{ "and the same file of no build", { "/b", "abcd0102" }, "cp keep/c root/b", { "/b" },
		  EXPECTED_ROW },
		{ "what is of no build may change", { "/b" }, "cp keep/c root/b", { "/b" },
		  EXPECTED_ROW },
		{ "a file without symbols may get some", { "/s", "abcd0102" }, "cp keep/b root/s", { "/s", "abcd0102" },
		  EXPECTED_ROW },
		{ "one that is gone may come back", { "/x", "abcd0102" }, "cp keep/b root/x", { "/x", "abcd0102" },
		  EXPECTED_ROW },
		{ "archives are of the report", { "/b", "abcd0102", 0, true }, "cp keep/c root/b", { "/b", "abcd0102", 0, true },
		  EXPECTED_ROW },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_kept_symbols *kept = pp_kept_symbols_new();
		void *folder = NULL;
		struct text t;
		FILE *out = text_begin(&t);

		assert_non_null(kept);
		assert_int_equal(enter_folder(&folder), 0);
		make_kept_binaries();
		write_look(out, kept, &rows[i].first);
		assert_int_equal(system(rows[i].command), 0);
		write_look(out, kept, &rows[i].second);
		text_must_be(&t, rows[i].name, rows[i].wanted);
		pp_kept_symbols_free(kept);
		assert_int_equal(leave_folder(&folder), 0);
	}
}
