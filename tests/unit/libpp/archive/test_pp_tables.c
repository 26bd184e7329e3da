// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables that a report looks up: which symbol an address is in, values of debug
 * information, where binaries and sources lie, what an archive tells. */

#include "tests/unit/pp_fixture.h"

#include "libpp/archive/archive.h"
#include "libpp/symbols/dwarf/dwarf.h"
#include "libpp/images/locate_images.h"
#include "libpp/symbols/symtab.h"
#include "tests/unit/libpp/dwarf_fixture.h"

/* ---- symbols ------------------------------------------------------------- */

#define F PP_SYM_FUNCTION
#define G PP_SYM_GLOBAL
#define W PP_SYM_WEAK

TEST(symbols_do_not_overlap)
{
	static const struct {
		const char *what;
		struct pp_raw_symbol raw[5];
		const char *table;
	} rows[] = {
		/* clang-format off */
		{ "none", { { 0 } }, "" },
		{ "to the end of the section", { { "a", 16, 0, 0, 32, 0, 0 } }, "a 16-32 " },
		{ "a size", { { "a", 16, 0, 4, 32, 0, 0 } }, "a 16-20 " },
		{ "up to the next", { { "a", 16, 0, 0, 32, 0, 0 }, { "b", 20, 0, 0, 32, 0, 0 } }, "a 16-20 b 20-32 " },
		{ "in any order", { { "b", 20, 0, 0, 32, 0, 0 }, { "a", 16, 0, 0, 32, 0, 0 } }, "a 16-20 b 20-32 " },
		{ "cut by the next", { { "a", 16, 0, 9, 32, 0, 0 }, { "b", 20, 0, 2, 32, 0, 0 } }, "a 16-20 b 20-25 " },
		{ "inside and longer", { { "a", 16, 0, 9, 32, 0, 0 }, { "b", 20, 0, 8, 32, 0, 0 } }, "a 16-20 b 20-28 " },
		{ "a size beyond its section", { { "a", 16, 0, 99, 32, 0, 0 } }, "a 16-115 " },
		{ "a size beyond all", { { "a", 16, 0, UINT64_MAX, 32, 0, 0 } }, "a 16-18446744073709551615 " },
		{ "at the section's end", { { "a", 32, 0, 0, 32, 0, 0 } }, "" },
		{ "one before it", { { "a", 31, 0, 0, 32, 0, 0 } }, "a 31-32 " },
		{ "no size inside one with size", { { "a", 16, 0, 9, 32, 0, 0 }, { "b", 20, 0, 0, 40, 0, 0 } }, "a 16-20 b 20-25 " },
		{ "just behind one with size", { { "a", 16, 0, 4, 32, 0, 0 }, { "b", 20, 0, 0, 40, 0, 0 } }, "a 16-20 b 20-40 " },
		/* Which of several names. */
		{ "the first", { { "a", 16, 0, 0, 32, 0, 0 }, { "b", 16, 0, 0, 32, 0, 0 } }, "a 16-32 " },
		{ "the longest size", { { "a", 16, 0, 2, 32, 0, 0 }, { "b", 16, 0, 4, 32, 0, 0 } }, "a 16-20 " },
		{ "a function", { { "a", 16, 0, 0, 32, G, 0 }, { "b", 16, 0, 0, 32, F, 0 } }, "b 16-32 " },
		{ "no Letext", { { "Letext", 16, 0, 0, 32, G, 0 }, { "_b", 16, 0, 0, 32, W, 0 } }, "_b 16-32 " },
		{ "no ??", { { "??x", 16, 0, 0, 32, G, 0 }, { "_b", 16, 0, 0, 32, W, 0 } }, "_b 16-32 " },
		{ "one ? is fine", { { "?x", 16, 0, 0, 32, G, 0 }, { "_b", 16, 0, 0, 32, W, 0 } }, "?x 16-32 " },
		{ "a global one", { { "a", 16, 0, 0, 32, 0, 0 }, { "_b", 16, 0, 0, 32, G, 0 } }, "_b 16-32 " },
		{ "without underscore", { { "_a", 16, 0, 0, 32, G, 0 }, { "b", 16, 0, 0, 32, G | W, 0 } }, "b 16-32 " },
		{ "no weak one", { { "a", 16, 0, 0, 32, G | W, 0 }, { "b", 16, 0, 0, 32, G, 0 } }, "b 16-32 " },
		{ "a weak one alone", { { "a", 16, 0, 0, 32, W, 0 } }, "a 16-32 " },
		/* clang-format on */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_raw_symbol raw[5];
		struct pp_symbol table[5];
		struct text t;
		FILE *out = text_begin(&t);
		size_t nr = 0;

		memcpy(raw, rows[i].raw, sizeof(raw));
		while (nr < 5 && raw[nr].name) {
			raw[nr].vma = raw[nr].key + 0x1000;
			nr++;
		}
		nr = pp_symtab_build(table, raw, nr);
		for (size_t k = 0; k < nr; k++) {
			fprintf(out, "%s %llu-%llu ", table[k].name,
				(unsigned long long)table[k].key,
				(unsigned long long)table[k].end);
			assert_int_equal(table[k].vma, table[k].key + 0x1000);
		}
		text_must_be(&t, rows[i].what, rows[i].table);
	}
}

/* ---- debug information --------------------------------------------------- */

/* Each form takes as many bytes as it should, and has its number or text. */
TEST(values_have_forms)
{
	static const uint8_t bytes[] = {
		0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
		0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14,
	};
	static const uint8_t block[] = { 2, 0, 0, 0, 9, 9, 9, 9, 9 };
	static const uint8_t texts[] = "xyz";
	/* clang-format off */
	static const struct {
		uint64_t form;
		uint8_t version, address_size;
		bool is_64;
		size_t len;
		uint64_t number;
	} rows[] = {
		{ DW_FORM_addr, 4, 8, false, 8, 0x0807060504030281 },
		{ DW_FORM_addr, 4, 4, false, 4, 0x04030281 },
		{ DW_FORM_data1, 4, 8, false, 1, 0x81 },
		{ DW_FORM_data2, 4, 8, false, 2, 0x0281 },
		{ DW_FORM_data4, 4, 8, false, 4, 0x04030281 },
		{ DW_FORM_data8, 4, 8, false, 8, 0x0807060504030281 },
		{ DW_FORM_data16, 4, 8, false, 16, 0 },
		{ DW_FORM_flag, 4, 8, false, 1, 0x81 },
		{ DW_FORM_flag_present, 4, 8, false, 0, 0 },
		{ DW_FORM_implicit_const, 4, 8, false, 0, 0 },
		{ DW_FORM_udata, 4, 8, false, 2, 0x101 },
		{ DW_FORM_sdata, 4, 8, false, 2, 0x101 },
		{ DW_FORM_ref1, 4, 8, false, 1, 0x81 },
		{ DW_FORM_ref2, 4, 8, false, 2, 0x0281 },
		{ DW_FORM_ref4, 4, 8, false, 4, 0x04030281 },
		{ DW_FORM_ref8, 4, 8, false, 8, 0x0807060504030281 },
		{ DW_FORM_ref_sig8, 4, 8, false, 8, 0x0807060504030281 },
		{ DW_FORM_ref_sup4, 4, 8, false, 4, 0x04030281 },
		{ DW_FORM_ref_sup8, 4, 8, false, 8, 0x0807060504030281 },
		{ DW_FORM_ref_udata, 4, 8, false, 2, 0x101 },
		{ DW_FORM_ref_addr, 2, 8, false, 8, 0x0807060504030281 },
		{ DW_FORM_ref_addr, 3, 8, false, 4, 0x04030281 },
		{ DW_FORM_ref_addr, 3, 8, true, 8, 0x0807060504030281 },
		{ DW_FORM_sec_offset, 4, 8, false, 4, 0x04030281 },
		{ DW_FORM_sec_offset, 4, 8, true, 8, 0x0807060504030281 },
		{ DW_FORM_GNU_ref_alt, 4, 8, false, 4, 0x04030281 },
		{ DW_FORM_strx, 5, 8, false, 2, 0x101 },
		{ DW_FORM_addrx, 5, 8, false, 2, 0x101 },
		{ DW_FORM_loclistx, 5, 8, false, 2, 0x101 },
		{ DW_FORM_rnglistx, 5, 8, false, 2, 0x101 },
		{ DW_FORM_strx1, 5, 8, false, 1, 0x81 },
		{ DW_FORM_strx2, 5, 8, false, 2, 0x0281 },
		{ DW_FORM_strx3, 5, 8, false, 3, 0x030281 },
		{ DW_FORM_strx4, 5, 8, false, 4, 0x04030281 },
		{ DW_FORM_addrx1, 5, 8, false, 1, 0x81 },
		{ DW_FORM_addrx2, 5, 8, false, 2, 0x0281 },
		{ DW_FORM_addrx3, 5, 8, false, 3, 0x030281 },
		{ DW_FORM_addrx4, 5, 8, false, 4, 0x04030281 },
	};
	static const struct {
		uint64_t form;
		size_t len;
	} blocks[] = {
		{ DW_FORM_block1, 3 }, { DW_FORM_block2, 4 },
		{ DW_FORM_block4, 6 }, { DW_FORM_block, 3 },
		{ DW_FORM_exprloc, 3 },
	};
	/* clang-format on */
	const struct pp_dwarf dwarf = {
		.line_str = { texts, sizeof(texts) },
		.str = { texts, sizeof(texts) },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct pp_dwarf_form form = { rows[i].form,
						    rows[i].version,
						    rows[i].address_size,
						    rows[i].is_64 };
		struct op_cursor c = op_cursor(bytes, sizeof(bytes));
		struct pp_dwarf_value value = pp_dwarf_read(&dwarf, &c, &form);

		if (c.failed ||
		    op_cursor_left(&c) != sizeof(bytes) - rows[i].len ||
		    value.text || value.number != rows[i].number)
			fail_msg("form %#llx of version %u: %#llx",
				 (unsigned long long)rows[i].form,
				 rows[i].version,
				 (unsigned long long)value.number);
	}
	for (size_t i = 0; i < NR(blocks); i++) {
		const struct pp_dwarf_form form = { blocks[i].form, 5, 8,
						    false };
		struct op_cursor c = op_cursor(block, sizeof(block));

		pp_dwarf_read(&dwarf, &c, &form);
		assert_false(c.failed);
		assert_int_equal(op_cursor_left(&c),
				 sizeof(block) - blocks[i].len);
	}
}

TEST(texts_are_in_sections)
{
	static const uint8_t lines[] = "ab\0cd", strings[] = "ef\0gh",
			     shared[] = "kl\0mn", own[] = "ij\0x",
			     offset[] = { 3, 0, 0, 0, 9 },
			     beyond[] = { 6, 0, 0, 0, 9 };
	static const struct {
		uint64_t form;
		const uint8_t *bytes;
		size_t left;
		const char *text; /* NULL: damaged */
	} rows[] = {
		{ DW_FORM_string, own, 2, "ij" },
		{ DW_FORM_line_strp, offset, 1, "cd" },
		{ DW_FORM_strp, offset, 1, "gh" },
		{ DW_FORM_strp_sup, offset, 1, "mn" },
		{ DW_FORM_GNU_strp_alt, offset, 1, "mn" },
		{ DW_FORM_strp, beyond, 1, NULL },
		{ DW_FORM_GNU_strp_alt, beyond, 1, NULL },
		{ DW_FORM_line_strp, beyond, 1, NULL },
		{ 0, offset, 5, NULL },
		{ 0x7f, offset, 5, NULL },
	};
	const struct pp_dwarf dwarf = {
		.line_str = { lines, sizeof(lines) },
		.str = { strings, sizeof(strings) },
		.shared_str = { shared, sizeof(shared) },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct pp_dwarf_form form = { rows[i].form, 5, 8, false };
		struct op_cursor c = op_cursor(rows[i].bytes, 5);
		struct pp_dwarf_value value = pp_dwarf_read(&dwarf, &c, &form);

		if (!rows[i].text) {
			assert_true(c.failed || !value.text);
			continue;
		}
		assert_string_equal(value.text, rows[i].text);
		assert_int_equal(op_cursor_left(&c), rows[i].left);
	}
}

/* ---- where files lie ----------------------------------------------------- */

static const char *outcome(int err, const char *path)
{
	return !err		  ? path
	       : err == -ENOENT	  ? "none"
	       : err == -ENOTUNIQ ? "several"
	       : err == -EACCES	  ? "denied"
				  : "error";
}

/* A root with /bin/x and the image path with x, y, two z, modules, kernels. */
static void make_files(void)
{
	assert_int_equal(
		system("mkdir -p root/bin root/src path/sub path/dir second &&"
		       "cd path && touch ../root/bin/x ../root/src/a.c x y "
		       "sub/z ../second/z ext-4.ko nf_x,y.ko a-b.ko sub/a_b.ko "
		       "c.ko.xz d-.ko.zst e.ko.gz f.ko.bz f.xz .ko.xz g.ko g.ko.xz "
		       "vmlinux sub/vmlinux-6.1 vmlinuz-6.1 xvmlinux && "
		       "ln -s y link"),
		0);
}

static int take_path(void *data, const char *path)
{
	*(const char **)data = path;
	return 0;
}

FOLDER_TEST(images_are_located)
{
	static const char *const path[] = { "path", "second", NULL };
	static const struct {
		const char *root;
		bool has_path;
		const char *name, *at;
	} rows[] = {
		{ NULL, false, "$/root/bin/x", "$/root/bin/x" },
		{ NULL, false, "/none/such", "none" },
		{ NULL, false, "$/path/x/y", "none" },
		{ "root", false, "/bin/x", "root/bin/x" },
		{ "root", false, "/bin/y", "none" },
		{ "root", true, "/bin/y", "path/y" },
		{ NULL, true, "/none/y", "path/y" },
		{ NULL, true, "/none/z", "several" },
		{ NULL, true, "/none/none", "none" },
		{ NULL, true, "/none/dir", "none" },
		{ NULL, true, "/none/link", "none" },
		{ NULL, true, "y", "none" },
		{ "root", true, "/bin/x", "root/bin/x" },
	};
	static const struct {
		const char *name, *at;
	} modules[] = {
		{ "/ext_4", "path/ext-4.ko" },
		{ "ext_4", "path/ext-4.ko" },
		{ "/ext-4", "path/ext-4.ko" },
		{ "/ext", "none" },
		{ "/ext_44", "none" },
		{ "/nf_x_y", "path/nf_x,y.ko" },
		{ "/a_b", "several" },
		{ "/a-b", "path/a-b.ko" },
		{ "/none", "none" },
		{ "/c", "path/c.ko.xz" },
		{ "/d_", "path/d-.ko.zst" },
		{ "/e", "path/e.ko.gz" },
		{ "/f", "none" },
		{ "/g", "several" },
	};

	make_files();
	for (size_t i = 0; i < NR(rows) + NR(modules); i++) {
		bool is_module = i >= NR(rows);
		struct op_arena arena;
		struct pp_locator locator;
		const char *at = NULL, *name, *wanted;
		char full[4200];
		int err;

		op_arena_init(&arena);
		if (is_module) {
			name = modules[i - NR(rows)].name;
			wanted = modules[i - NR(rows)].at;
		} else {
			name = rows[i].name;
			wanted = rows[i].at;
		}
		assert_int_equal(
			pp_locator_init(&locator, &arena, NULL,
					is_module ? NULL : rows[i].root,
					is_module || rows[i].has_path ? path
								      : NULL,
					NULL),
			0);
		snprintf(full, sizeof(full), "%s%s",
			 *name == '$' ? (const char *)*state : "",
			 name + (*name == '$'));
		err = is_module ? pp_locate_module(&locator, name, true,
						   take_path, &at)
				: pp_locate(&locator, full, &at);
		if (*wanted == '$')
			wanted = full;
		if (strcmp(outcome(err, at), wanted))
			fail_msg("%s: %s, not %s", name, outcome(err, at),
				 wanted);
		op_arena_release(&arena);
	}
}

FOLDER_TEST(folders_must_be_there)
{
	static const struct {
		const char *root, *path, *reason;
	} rows[] = {
		{ "root", "path", "" },
		{ "none", NULL,
		  "none: No such file or directory; give --root a folder that "
		  "exists" },
		{ "root/bin/x", NULL,
		  "root/bin/x: not a folder; give --root a folder" },
		{ NULL, "none",
		  "none: No such file or directory; give --image-path a folder "
		  "that exists" },
		{ "root", "path/x",
		  "path/x: not a folder; give --image-path a folder" },
	};

	make_files();
	for (size_t i = 0; i < NR(rows); i++) {
		const char *const path[] = { rows[i].path, NULL };
		struct op_diag diag = { "" };
		struct op_arena arena;
		struct pp_locator locator;
		int err;

		op_arena_init(&arena);
		err = pp_locator_init(&locator, &arena, NULL, rows[i].root,
				      rows[i].path ? path : NULL, &diag);
		assert_int_equal(err, *rows[i].reason ? -ENOTDIR : 0);
		assert_string_equal(diag.text, rows[i].reason);
		op_arena_release(&arena);
	}
}

FOLDER_TEST(sources_are_located)
{
	static const struct {
		const char *root, *name, *at;
	} rows[] = {
		{ "root", "/src/a.c", "root/src/a.c" },
		{ "root", "/src/b.c", "none" },
		{ "root", "src/a.c", "none" },
		{ NULL, "$/root/src/a.c", "$" },
		{ "root", "$/root/src/a.c", "$" },
	};

	make_files();
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_locator locator;
		const char *at = NULL;
		char full[4200];
		int err;

		op_arena_init(&arena);
		assert_int_equal(pp_locator_init(&locator, &arena, NULL,
						 rows[i].root, NULL, NULL),
				 0);
		snprintf(full, sizeof(full), "%s%s",
			 *rows[i].name == '$' ? (const char *)*state : "",
			 rows[i].name + (*rows[i].name == '$'));
		err = pp_locate_source(&locator, full, &at);
		assert_string_equal(outcome(err, at),
				    *rows[i].at == '$' ? full : rows[i].at);
		op_arena_release(&arena);
	}
}

struct tried {
	FILE *out;
	const char *taken; /* the end of the one that will do */
};

static int try_kernel(void *data, const char *path)
{
	const struct tried *tried = data;
	size_t len = strlen(path), end = strlen(tried->taken);

	fprintf(tried->out, "%s ", path);
	return end && len >= end && !strcmp(path + len - end, tried->taken)
		       ? 0
		       : -ESTALE;
}

FOLDER_TEST(kernels_are_tried_in_order)
{
	struct op_build_id id = { 0, { 0xab, 0xcd, 0x01 } };
	static const char *const path[] = { "path/sub", "path", NULL };
	static const struct {
		const char *taken;
		unsigned int id_len;
		bool has_path;
		const char *tried;
		int err;
	} rows[] = {
#define IN_PATH "path/sub/vmlinux-6.1 "
#define INSTALLED                                                              \
	"root/usr/lib/debug/.build-id/ab/cd01.debug "                          \
	"root/usr/lib/debug/boot/vmlinux-1 "                                   \
	"root/usr/lib/debug/lib/modules/1/vmlinux "
		{ "1/vmlinux", 3, false, INSTALLED, 0 },
		{ "cd01.debug", 3, false,
		  "root/usr/lib/debug/.build-id/ab/cd01.debug ", 0 },
		{ "1/vmlinux", 2, false, EXPECTED_AS("1/vmlinux, 1"), 0 },
		{ "1/vmlinux", 0, false, "", -ENOENT },
		{ "vmlinux-6.1", 3, true, IN_PATH, 0 },
	};

	make_files();
	assert_int_equal(
		system("rm path/vmlinux && cd root && mkdir -p usr/lib/debug && "
		       "cd usr/lib/debug && "
		       "mkdir -p .build-id/ab boot lib/modules/1 && touch "
		       ".build-id/ab/cd01.debug boot/vmlinux-1 "
		       "lib/modules/1/vmlinux"),
		0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_locator locator;
		struct text t;
		struct tried tried = { text_begin(&t), rows[i].taken };

		op_arena_init(&arena);
		assert_int_equal(pp_locator_init(&locator, &arena, NULL, "root",
						 rows[i].has_path ? path : NULL,
						 NULL),
				 0);
		id.len = rows[i].id_len;
		assert_int_equal(pp_locate_kernel(&locator, &id, try_kernel,
						  &tried),
				 rows[i].err);
		text_must_be(&t, rows[i].taken, rows[i].tried);
		op_arena_release(&arena);
	}
}

/* ---- archives ------------------------------------------------------------ */

#define FACTS "format = 1\nsession = /s\n"

/* What the facts of an archive tell, or what is wrong with them. */
FOLDER_TEST(facts_are_checked)
{
	static const struct {
		const char *facts, *outcome;
	} rows[] = {
		{ FACTS, "$/a/s;" },
		{ FACTS "image-path = /bin\n", "$/a/s; $/a/bin" },
		{ FACTS "image-path = /bin\nimage-path = /none\nimage-path = "
			"/s\n",
		  "$/a/s; $/a/bin $/a/s" },
		{ FACTS "image-path = /bin/..\nimage-path = bin\nimage-path = "
			"/../bin\n",
		  "$/a/s;" },
		{ "format = 2\nsession = /s\n",
		  "$/a/.oparchive/facts: the archive is of format 2, this program reads 1; use the release of oprofile that made it, or a later one" },
		{ "session = /s\n", EXPECTED_AS("session = /s, 1") },
		{ "format = 1\n", "$/a/.oparchive/facts: session: no path of a "
				  "session; archive the session again" },
		{ "format = 1\nsession = s\n", EXPECTED_AS("format = 1, 1") },
		{ "format = 1\nsession = /x/../s\n",
		  EXPECTED_AS("format = 1, 1") },
		{ "format = 1\nsession = /s/..\n",
		  EXPECTED_AS("format = 1, 1") },
		{ "format = 1\nsession = /s/..x\n", "$/a/s/..x;" },
	};
	struct op_session asked;
	char root[4200];

	assert_int_equal(op_session_init(&asked, "/asked", NULL), 0);
	snprintf(root, sizeof(root), "%s/a", (const char *)*state);
	assert_int_equal(system("mkdir -p a/.oparchive a/s a/bin"), 0);
	write_text("a/.oparchive/SHA256SUMS", "");
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		struct pp_archive *archive;
		struct op_arena arena;
		int err;
		struct text all;
		FILE *out = text_begin(&all);

		op_arena_init(&arena);
		write_text("a/.oparchive/facts", rows[i].facts);
		err = pp_archive_open(&archive, &arena, root, &asked, &diag);
		assert_true(err <= 0);
		if (err) {
			fputs(diag.text, out);
		} else {
			fprintf(out, "%s;", archive->session.dir);
			for (const char *const *at = archive->image_path;
			     at && *at; at++)
				fprintf(out, " %s", *at);
		}
		text_below_must_be(&all, *state, rows[i].facts,
				   rows[i].outcome);
		op_arena_release(&arena);
	}
}

/* What is held against its hash, and under which name. */
FOLDER_TEST(archived_files_are_checked)
{
	static const struct {
		const char *path;
		int err;
		const char *name;
	} rows[] = {
		{ "$/a/good", 0, "good" },
		{ "$/a//good", 0, "good" },
		{ "$/a/bad", -EILSEQ, "bad" },
		{ "$/a/gone", -ENOENT, "gone" },
		{ "$/a/unknown", 0, "unknown" },
		{ "$/ab/bad", 0, NULL },
		{ "$/b", 0, NULL },
		{ "$/a", 0, NULL },
	};
	struct op_session asked;
	struct pp_archive *archive;
	struct pp_messages messages;
	struct op_arena arena;
	char root[4200], folder[4200];

	assert_int_equal(op_session_init(&asked, "/asked", NULL), 0);
	snprintf(root, sizeof(root), "%s/a", (const char *)*state);
	assert_int_equal(
		system("mkdir -p a/.oparchive a/asked/samples a/dir && cd a && "
		       "for f in good bad gone dir/x dir/y .oparchive/facts; do "
		       "echo $f >$f; done && printf '%b' '" FACTS
		       "' >.oparchive/facts && "
		       "sha256sum .oparchive/facts bad dir/x dir/y gone good "
		       ">.oparchive/SHA256SUMS && rm gone dir/x && echo >bad"),
		0);
	op_arena_init(&arena);
	assert_int_equal(pp_archive_open(&archive, &arena, root, &asked, NULL),
			 0);
	for (size_t i = 0; i < NR(rows); i++) {
		char path[4200];
		const char *name;

		snprintf(path, sizeof(path), "%s%s", (const char *)*state,
			 rows[i].path + 1);
		name = pp_archive_name(archive, path);
		if (pp_archive_check(archive, path) != rows[i].err)
			fail_msg("%s", rows[i].path);
		assert_int_equal(name != NULL, rows[i].name != NULL);
		if (name)
			assert_string_equal(name, rows[i].name);
	}
	assert_int_equal(pp_archive_check(NULL, "/none"), 0);
	messages = (struct pp_messages){ .arena = &arena };
	snprintf(folder, sizeof(folder), "%s/a/dir", (const char *)*state);
	pp_archive_check_folder(archive, folder, &messages);
	assert_int_equal(messages.nr, 1);
	assert_non_null(strstr(messages.list[0].text,
			       "/a/dir/x: missing in the archive"));
	pp_archive_check_folder(archive, "/none", &messages);
	assert_int_equal(messages.nr, 1);
	op_arena_release(&arena);
}
