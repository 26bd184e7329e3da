// SPDX-License-Identifier: GPL-2.0-or-later
/* Which files of an archive names of images are taken from, and what is said of
 * those that are not what was archived. */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/libpp/pp_made_archive.h"

#include "libpp/images/image_symbols.h"

/*
 * The archive "ar": the binaries x, and y whose symbols are in a debug file
 * beside it, w of which the session has a copy; the kernel's symbols and its
 * binary, and a map of names of process 7.
 */
static void make_archive_of_images(void)
{
	static const char script[] =
		"set -e; mkdir -p ar/bin/.debug ar/s/images ar/s/symbols "
		"ar/usr/lib/debug/boot\n"
		"printf '.text\\n.globl f, _stext\\n.type f, @function\\n"
		"_stext:\\nf: .skip 8, 0x90\\n.size f, 8\\n"
		".type g, @function\\ng: .skip 8, 0x90\\n' >x.s\n"
		"${CC:-cc} -nostdlib -static -Wl,-e,f -Wl,--build-id=0x01 "
		"-Wl,-Ttext=0x401000 -o ar/bin/x x.s\n"
		"cp ar/bin/x ar/usr/lib/debug/boot/vmlinux-1; cd ar/bin\n"
		"objcopy --only-keep-debug x .debug/y.debug; strip -o y x\n"
		"objcopy --add-gnu-debuglink=.debug/y.debug y\n"
		"cd ../s; cp ../bin/x images/w-01\n"
		"echo '1000 10 made' >images/perf-7.map\n"
		"printf 'oprofile symbols 1 vmlinux 01\\n0 T _stext\\n"
		"10 T one\\n' >symbols/vmlinux-01\n";

	assert_int_equal(system("rm -rf ar v"), 0);
	assert_int_equal(system(script), 0);
	make_archive("ar", NULL);
}

static void write_archived_image(FILE *out, const struct pp_image *image,
				 unsigned int wants)
{
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	struct op_session asked;
	struct pp_archive *archive;
	struct pp_image_symbols symbols;
	struct pp_locator locator;
	char *root = realpath("ar", NULL);

	op_arena_init(&arena);
	assert_int_equal(op_session_init(&asked, "/s", NULL), 0);
	assert_int_equal(pp_archive_open(&archive, &arena, root, &asked, NULL),
			 0);
	assert_int_equal(pp_locator_init(&locator, &arena, archive, NULL, NULL,
					 NULL),
			 0);
	assert_int_equal(pp_image_symbols_open(&symbols, image,
					       &archive->session, &locator,
					       wants, &messages),
			 0);
	for (size_t i = 0; i < symbols.nr; i++)
		fprintf(out, "%s %llx-%llx\n", symbols.table[i].name,
			(unsigned long long)symbols.table[i].key,
			(unsigned long long)symbols.table[i].end);
	if (symbols.whole)
		fprintf(out, "all is %s\n", symbols.whole);
	if (symbols.path)
		fprintf(out, "from %s\n", symbols.path);
	for (size_t i = 0; i < messages.nr; i++)
		if (messages.list[i].kind == PP_WARNING)
			fprintf(out, "%s\n", messages.list[i].text);
	pp_image_symbols_release(&symbols);
	op_arena_release(&arena);
	free(root);
}

#define FILE_CALLED(called)                                                    \
	{                                                                      \
		.kind = OP_IMAGE_FILE,                                         \
		.recorded = { .space = OP_SPACE_ROOT, .name = called },        \
		.name = called, .path = called, .base = called,                \
		.build_id = { 1, { 1 } },                                      \
	}
#define KERNEL                                                                 \
	{                                                                      \
		.kind = OP_IMAGE_KERNEL,                                       \
		.recorded = { .space = OP_SPACE_KERN, .name = "vmlinux" },     \
		.name = "/vmlinux", .path = "/vmlinux", .base = "vmlinux",     \
		.build_id = { 1, { 1 } },                                      \
	}
#define MEMORY                                                                 \
	{                                                                      \
		.kind = OP_IMAGE_ANON,                                         \
		.recorded = { .space = OP_SPACE_ANON,                          \
			      .name = "anon",                                  \
			      .tgid = 7,                                       \
			      .start = 0x1000,                                 \
			      .end = 0x2000 },                                 \
		.name = "anon", .path = "anon", .base = "anon",                \
		.anon_start = 0x1000                                           \
	}

FOLDER_TEST(archived_images_are_as_they_were)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct pp_image image;
		unsigned int wants;
		const char *command, *wanted; /* the first one may be NULL */
	} rows[] = {
		{ "a binary", FILE_CALLED("/bin/x"), 0, NULL, .wanted = EXPECTED_ROW },
		{ "a binary that was changed", FILE_CALLED("/bin/x"), 0, "echo >>ar/bin/x", .wanted = EXPECTED_ROW },
		{ "a binary that is missing", FILE_CALLED("/bin/x"), 0, "rm ar/bin/x", .wanted = EXPECTED_ROW },
		{ "its debug file", FILE_CALLED("/bin/y"), 0, NULL, .wanted = EXPECTED_ROW },
		{ "a debug file that was changed", FILE_CALLED("/bin/y"), 0, "echo >>ar/bin/.debug/y.debug", .wanted = EXPECTED_ROW },
		{ "a debug file that is missing", FILE_CALLED("/bin/y"), 0, "rm ar/bin/.debug/y.debug", .wanted = EXPECTED_ROW },
		{ "a binary that is a link within the archive", FILE_CALLED("/bin/x"), 0, "mv ar/bin/x ar/bin/v; ln -s ../bin/v ar/bin/x", .wanted = EXPECTED_ROW },
		{ "a binary that is a link out of the archive", FILE_CALLED("/bin/x"), 0, "mv ar/bin/x v; ln -s ../../v ar/bin/x", .wanted = EXPECTED_ROW },
		{ "a folder that is a link out of the archive", FILE_CALLED("/bin/x"), 0, "mv ar/bin v; ln -s $PWD/v ar/bin", .wanted = EXPECTED_ROW },
		{ "a debug file that is a link out of the archive", FILE_CALLED("/bin/y"), 0, "mv ar/bin/.debug/y.debug v; ln -s ../../../v ar/bin/.debug/y.debug", .wanted = EXPECTED_ROW },
		{ "a debug file of no hash that is one", FILE_CALLED("/bin/y"), 0, "sed -i '/y.debug$/d' ar/.oparchive/SHA256SUMS; mv ar/bin/.debug/y.debug v; ln -s ../../../v ar/bin/.debug/y.debug", .wanted = EXPECTED_ROW },
		{ "a map of names that is a link out of the archive", MEMORY, 0, "mv ar/s/images/perf-7.map v; ln -s ../../../v ar/s/images/perf-7.map", .wanted = EXPECTED_ROW },
		{ "the copy of the session", FILE_CALLED("/bin/w"), 0, NULL, .wanted = EXPECTED_ROW },
		{ "a copy that was changed", FILE_CALLED("/bin/w"), 0, "echo >>ar/s/images/w-01", .wanted = EXPECTED_ROW },
		{ "the symbols of a kernel", KERNEL, 0, NULL, .wanted = EXPECTED_ROW },
		{ "symbols of a kernel that were changed", KERNEL, 0, "echo >>ar/s/symbols/vmlinux-01", .wanted = EXPECTED_ROW },
		{ "symbols of a kernel that are missing", KERNEL, 0, "rm ar/s/symbols/vmlinux-01", .wanted = EXPECTED_ROW },
		{ "the binary of a kernel", KERNEL, PP_WANT_LINES, NULL, .wanted = EXPECTED_ROW },
		{ "the binary of a kernel that was changed", KERNEL, PP_WANT_LINES, "echo >>ar/usr/lib/debug/boot/vmlinux-1", .wanted = EXPECTED_ROW },
		{ "a map of names", MEMORY, 0, NULL, .wanted = EXPECTED_ROW },
		{ "a map of names that was changed", MEMORY, 0, "echo >>ar/s/images/perf-7.map", .wanted = EXPECTED_ROW },
		{ "a map of names that is missing", MEMORY, 0, "rm ar/s/images/perf-7.map", .wanted =
		  "all is anon\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text all;

		make_archive_of_images();
		if (rows[i].command)
			assert_int_equal(system(rows[i].command), 0);
		write_archived_image(text_begin(&all), &rows[i].image,
				     rows[i].wants);
		text_below_must_be(&all, *state, rows[i].name, rows[i].wanted);
	}
}

/* ---- places -------------------------------------------------------------- */

static void write_place(FILE *out, int err, const char *path)
{
	fprintf(out, "%s\n", err ? strerror(-err) : path);
}

/* Where files of an archive are looked for: in it, then below --root, then
 * binaries in --image-path, and sources at their own place. */
FOLDER_TEST(files_of_archives_have_places)
{
	/* clang-format off */
	static const struct {
		const char *name;
		bool has_root, has_path;
		const char *wanted; /* of a binary, and of a source */
	} rows[] = {
		{ "/d/all", true, true, .wanted = EXPECTED_ROW },
		{ "/d/root", true, true, .wanted = EXPECTED_AS("/d/root, 1") },
		{ "/d/root", false, false, .wanted = EXPECTED_ROW },
		{ "/d/path", true, true, .wanted = EXPECTED_AS("/d/path, 1") },
		{ "/d/path", true, false, .wanted = EXPECTED_ROW },
		{ "/d/two", true, true, .wanted = EXPECTED_ROW },
		{ "/d/all/file", true, true, .wanted = EXPECTED_ROW },
		{ "/own", false, false, .wanted = EXPECTED_ROW },
		{ "all", true, true, .wanted = EXPECTED_ROW },
	};
	/* clang-format on */
	static const char script[] =
		"mkdir -p ar/d root/d path/1 path/2; touch own ar/d/all "
		"root/d/all root/d/root path/all path/path path/1/two "
		"path/2/two";
	const char *const paths[] = { "path", NULL };

	assert_int_equal(system(script), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *folder = strcmp(rows[i].name, "/own") ? "" : *state;
		const struct pp_archive archive = { .root = "ar" };
		const char *path = NULL;
		struct pp_locator locator;
		struct op_arena arena;
		struct text all;
		char name[256];
		int err;

		snprintf(name, sizeof(name), "%s%s", folder, rows[i].name);
		op_arena_init(&arena);
		assert_int_equal(
			pp_locator_init(&locator, &arena, &archive,
					rows[i].has_root ? "root" : NULL,
					rows[i].has_path ? paths : NULL, NULL),
			0);
		text_begin(&all);
		err = pp_locate(&locator, name, &path);
		write_place(all.out, err, path);
		err = pp_locate_source(&locator, name, &path);
		write_place(all.out, err, path);
		text_below_must_be(&all, *state, rows[i].name, rows[i].wanted);
		op_arena_release(&arena);
	}
}
