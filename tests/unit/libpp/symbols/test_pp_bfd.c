// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What libbfd is asked about binaries that the assembler makes: symbols, where
 * code lies, names for addresses; and which symbols an image has by that.
 */

#include "tests/unit/pp_fixture.h"

#include "libpp/images/image_symbols.h"
#include "libpp/symbols/op_bfd_internal.h"
#include "libpp/symbols/op_disasm.h"

static const struct op_debug_places places = { .dirs = { "debug" } };

static uint64_t text_offset(const struct op_bfd *bfd)
{
	const asection *text = bfd_get_section_by_name(bfd->main.abfd, ".text");

	return text ? (uint64_t)text->filepos : 0;
}

/* Make the binary "b" of assembler text, then run @command. */
static void build(const char *text, const char *flags, const char *command)
{
	char line[512];

	write_text("b.s", text);
	snprintf(line, sizeof(line), "${CC:-cc} -nostdlib %s -o b b.s", flags);
	assert_int_equal(system(line), 0);
	if (command)
		assert_int_equal(system(command), 0);
}

static struct op_bfd *open_b(void)
{
	struct op_bfd *bfd;

	assert_int_equal(op_bfd_open(&bfd, "b", &places), 0);
	return bfd;
}

#define STATIC "-static -Wl,-e,0 -Wl,--build-id=none"
#define ID "-static -Wl,-e,0 -Wl,--build-id=0xabcd0102"
#define UNWINDERS STATIC " -s -Wl,--no-eh-frame-hdr"
#define SHARED "-shared -Wl,--build-id=none -Wl,--hash-style=sysv"

/* Two sections of code, each of 16 bytes, with all sorts of symbols. */
#define SYMBOLS                                                                \
	".text\n.globl f\n.type f,@function\n.size f,4\n"                      \
	"f:.skip 4,0x90\n"                                                     \
	"label:.skip 2,0x90\n"                                                 \
	".weak w\n.type w,@function\nw:.skip 2,0x90\n"                         \
	".weak o\n.type o,@gnu_indirect_function\n.size o,3\no:.skip 3,0x90\n" \
	"$a:\n$d.1:\n$t:\n$x:.skip 1,0x90\n"                                   \
	"$b:\n$ax:\n.globl $\n$:.skip 4,0x90\n"                                \
	"end:\n"                                                               \
	".section two_code,\"ax\"\n"                                           \
	".type two,@object\n.size two,2\ntwo:.skip 16,0x90\n"                  \
	".data\n.globl data\ndata:.skip 8\n"                                   \
	".section .tdata,\"awT\"\n.type t,@tls_object\nt:.skip 4\n"            \
	".globl absolute\nabsolute = 0x10\n"

/* Functions with unwind tables: two of them are exported. */
#define UNWOUND                                                                \
	".text\n.globl a\n.type a,@function\n"                                 \
	"a: .cfi_startproc\n.skip 16,0x90\n.cfi_endproc\n.size a,16\n"         \
	"b: .cfi_startproc\n.skip 16,0x90\n.cfi_endproc\n"                     \
	"c: .cfi_startproc\n.skip 16,0x90\n.cfi_endproc\n"                     \
	".globl d\n.type d,@function\n"                                        \
	"d: .cfi_startproc\n.skip 8,0x90\n.cfi_endproc\n"                      \
	"e: .cfi_startproc\n.skip 8,0x90\n.cfi_endproc\n.size d,16\n"          \
	".globl x\nx: .cfi_startproc\n.skip 8,0x90\n.cfi_endproc\n"            \
	"y: .cfi_startproc\n.skip 8,0x90\n.cfi_endproc\n"

/* Three functions without names, and a search table for unwinders as linkers
 * make it, but that the @first numbers of its head are others. */
#define SEARCH_TABLE(first)                                                    \
	".text\n.skip 16,0x90\nb:.skip 16,0x90\nc:.skip 16,0x90\n"             \
	".section .eh_frame_hdr,\"a\"\nh: " first                              \
	"\n.long c - h, 0, b - h, 0, b - h, 0\n"

static int by_key_and_name(const void *a, const void *b)
{
	const struct pp_raw_symbol *x = a, *y = b;
	int order = (x->key > y->key) - (x->key < y->key);

	return order ? order : strcmp(x->name, y->name);
}

/* "NAME KEY SIZE LIMIT FLAGS" from the start of .text. */
static void write_symbols(FILE *out, struct op_bfd *bfd, bool unnamed)
{
	static const char *const origins[] = {
		[OP_BFD_NONE] = "none",
		[OP_BFD_DYNAMIC] = "dynamic",
		[OP_BFD_DEBUG_FILE] = "debug file",
		[OP_BFD_OWN] = "own",
	};
	uint64_t text = text_offset(bfd), base = op_bfd_vma(bfd, text);
	struct pp_raw_symbol *syms;
	enum op_bfd_origin origin;
	size_t nr;

	assert_int_equal(op_bfd_symbols(bfd, unnamed, &syms, &nr, &origin), 0);
	qsort(syms, nr, sizeof(*syms), by_key_and_name);
	fprintf(out, "%s\n", origins[origin]);
	for (size_t i = 0; i < nr; i++) {
		const struct pp_raw_symbol *sym = &syms[i];

		assert_int_equal(sym->vma, op_bfd_vma(bfd, sym->key));
		if (*sym->name == '(') {
			unsigned long long vma;

			assert_int_equal(sscanf(sym->name, "(0x%llx)", &vma),
					 1);
			assert_int_equal(vma, sym->vma);
		}
		fprintf(out, "%s %llu %llu %llu%s%s%s\n",
			*sym->name == '(' ? "()" : sym->name,
			(unsigned long long)(sym->vma - base),
			(unsigned long long)sym->size,
			(unsigned long long)(sym->limit - text),
			sym->flags & PP_SYM_FUNCTION ? " function" : "",
			sym->flags & PP_SYM_GLOBAL ? " global" : "",
			sym->flags & PP_SYM_WEAK ? " weak" : "");
	}
	free(syms);
}

FOLDER_TEST(binaries_have_symbols)
{
	/* clang-format off */
	static const struct {
		const char *name;
		const char *text, *flags, *command;
		bool unnamed;
		const char *symbols;
	} rows[] = {
		{ "linked", SYMBOLS, STATIC, NULL, false,
		  EXPECTED_ROW },
		{ "not linked", SYMBOLS, "-c", NULL, false,
		  EXPECTED_ROW },
		{ "no names are wanted", SYMBOLS, STATIC, NULL, true,
		  EXPECTED_ROW },
		{ "stripped", SYMBOLS, STATIC " -s", NULL, false, "none\n" },
		{ "stripped without a table", SYMBOLS, STATIC " -s", NULL, true, "none\n" },
		{ "its debug file", SYMBOLS, STATIC, "objcopy --only-keep-debug b d && strip b && objcopy --add-gnu-debuglink=d b", false,
		  EXPECTED_ROW },
		{ "not linked, its debug file", SYMBOLS, "-c", "objcopy --only-keep-debug b d && strip -g b && objcopy --strip-all --add-gnu-debuglink=d b", false,
		  EXPECTED_ROW },
		{ "a debug file of its own name, beside it", SYMBOLS, ID, "mkdir -p .debug && objcopy --only-keep-debug b .debug/b && strip b && objcopy --add-gnu-debuglink=.debug/b b", false,
		  EXPECTED_ROW },
		{ "a debug file of its own name, elsewhere", SYMBOLS, ID, "rm -r .debug; mkdir -p debug && objcopy --only-keep-debug b debug/b && strip b && objcopy --add-gnu-debuglink=debug/b b", false,
		  EXPECTED_ROW },
		{ "a debug file that is none", SYMBOLS, STATIC, "echo >d && strip b && objcopy --add-gnu-debuglink=d b", false, "none\n" },
		{ "a library", UNWOUND, SHARED, NULL, true, EXPECTED_ROW },
		{ "a stripped library", UNWOUND, SHARED " -s", NULL, false, EXPECTED_ROW },
		{ "its functions without names", UNWOUND, SHARED " -s", NULL, true, EXPECTED_ROW },
		{ "all its functions", UNWOUND, SHARED " -s -Wl,--version-script=none", NULL, true,
		  EXPECTED_ROW },
		{ "versions", UNWOUND, SHARED " -s -Wl,--version-script=version", NULL, false,
		  EXPECTED_ROW },
		{ "no table for unwinders, but what it is made of", UNWOUND, SHARED " -s -Wl,--no-eh-frame-hdr", NULL, true,
		  EXPECTED_ROW },
		{ "that of a static program", UNWOUND, UNWINDERS, NULL, true, EXPECTED_ROW },
		{ "where names are wanted alone", UNWOUND, UNWINDERS, NULL, false, "none\n" },
		{ "with a table that is damaged", UNWOUND "\n.section .eh_frame_hdr,\"a\"\n.byte 2, 0x1b, 3, 0x3b\n.long 0, 3\n", UNWINDERS, NULL, true, "none\n" },
		{ "neither", UNWOUND, UNWINDERS, "objcopy --remove-section=.eh_frame b", true, "none\n" },
		{ "not linked, without symbols", UNWOUND, "-c", "objcopy --strip-all b", true, "none\n" },
		{ "a table with numbers of other sizes", SEARCH_TABLE(".byte 1, 0x1c, 3, 0x3b\n.quad 0\n.long 3"), UNWINDERS, NULL, true,
		  "none\n() 16 0 48\n() 32 0 48\n" },
		{ "of 2 bytes", SEARCH_TABLE(".byte 1, 0x1a, 3, 0x3b\n.value 0\n.long 3"), UNWINDERS, NULL, true,
		  "none\n() 16 0 48\n() 32 0 48\n" },
		{ "of addresses", SEARCH_TABLE(".byte 1, 0, 3, 0x3b\n.quad 0\n.long 3"), UNWINDERS, NULL, true,
		  "none\n() 16 0 48\n() 32 0 48\n" },
		{ "a table that is shorter than it says", SEARCH_TABLE(".byte 1, 0x1b, 3, 0x3b\n.long 0, 99"), UNWINDERS, NULL, true,
		  "none\n() 16 0 48\n() 32 0 48\n" },
		{ "a table of one", SEARCH_TABLE(".byte 1, 0x1b, 3, 0x3b\n.long 0, 1"), UNWINDERS, NULL, true,
		  "none\n() 32 0 48\n" },
		{ "an empty one", SEARCH_TABLE(".byte 1, 0x1b, 3, 0x3b\n.long 0, 0"), UNWINDERS, NULL, true, "none\n" },
		{ "of another version", SEARCH_TABLE(".byte 2, 0x1b, 3, 0x3b\n.long 0, 3"), UNWINDERS, NULL, true, "none\n" },
		{ "with another count", SEARCH_TABLE(".byte 1, 0x1b, 4, 0x3b\n.long 0, 3"), UNWINDERS, NULL, true, "none\n" },
		{ "with other rows", SEARCH_TABLE(".byte 1, 0x1b, 3, 0x3c\n.long 0, 3"), UNWINDERS, NULL, true, "none\n" },
		{ "with numbers of any length", SEARCH_TABLE(".byte 1, 1, 3, 0x3b\n.long 3"), UNWINDERS, NULL, true, "none\n" },
		{ "of a head alone", ".text\n.skip 48,0x90\n.section .eh_frame_hdr,\"a\"\n.byte 1, 0x1b, 3, 0x3b\n.long 0\n", UNWINDERS, NULL, true, "none\n" },
		{ "of less than that", ".text\n.skip 48,0x90\n.section .eh_frame_hdr,\"a\"\n.byte 1, 0x1b, 3\n", UNWINDERS, NULL, true, "none\n" },
		{ "no code", ".data\n.skip 8\n", STATIC, NULL, true, "none\n" },
	};
	/* clang-format on */

	write_text("none", "{ local: *; };\n");
	write_text("version", "V1 { global: a; d; local: *; };\n");
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;
		struct op_bfd *bfd;

		build(rows[i].text, rows[i].flags, rows[i].command);
		bfd = open_b();
		write_symbols(text_begin(&t), bfd, rows[i].unnamed);
		op_bfd_close(bfd);
		text_must_be(&t, rows[i].name, rows[i].symbols);
	}
}

/* In a file that is not linked all sections begin at 0, and relocations tell
 * which lines are of which. */
FOLDER_TEST(code_has_lines)
{
	static const char two_sections[] =
		".file 1 \"/src/a.c\"\n.text\n"
		".type f,@function\n.size f,3\n"
		"f: .loc 1 5\nnop\n.loc 1 6\nnop\n.loc 1 5\nnop\n"
		".section .two,\"ax\"\n"
		".type g,@function\n.size g,2\n"
		"g: .loc 1 9\nnop\n.loc 1 10\nnop\n";
	static const struct {
		const char *flags, *command;
	} rows[] = {
		{ STATIC, NULL },
		{ "-c", NULL },
		{ "-c",
		  "objcopy --only-keep-debug b d && strip -g b && objcopy --add-gnu-debuglink=d b" },
		{ "-c -Wa,--compress-debug-sections=zlib", NULL },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_raw_symbol *syms;
		enum op_bfd_origin origin;
		struct op_bfd *bfd;
		struct text t;
		FILE *out = text_begin(&t);
		size_t nr;

		build(two_sections, rows[i].flags, rows[i].command);
		bfd = open_b();
		assert_int_equal(
			op_bfd_symbols(bfd, false, &syms, &nr, &origin), 0);
		qsort(syms, nr, sizeof(*syms), by_key_and_name);
		for (size_t k = 0; k < nr; k++) {
			const char *file;
			unsigned int line;

			fprintf(out, "%s:", syms[k].name);
			for (uint64_t at = 0; at < syms[k].size; at++)
				if (op_bfd_line(bfd, syms[k].vma + at, &file,
						&line))
					fprintf(out, " %s:%u", file, line);
			fputc('\n', out);
		}
		assert_int_equal(op_bfd_lines_damaged(bfd), 0);
		free(syms);
		op_bfd_close(bfd);
		text_must_be(&t, rows[i].flags, EXPECTED_ROW);
	}
}

FOLDER_TEST(only_binaries_are_opened)
{
	static const struct {
		const char *command;
		int err;
	} rows[] = {
		{ "rm -rf b", -ENOENT },
		{ "echo text >b", -ENOEXEC },
		{ ": >b", -ENOEXEC },
		{ "echo '.text;nop;.section .table;.skip 4194304' | as -o b -",
		  0 },
		/* Some kB on the disk, and any amount of memory. */
		{ "fallocate --dig-holes b", -ENOEXEC },
		{ "rm b; mkdir b", -ENOEXEC },
		{ "rmdir b; mkfifo b", -ENOEXEC },
		{ "rm b; ln -s b b", -ELOOP },
		{ "rm b; touch f; ln -s f/b b", -ENOTDIR },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_bfd *bfd = NULL;
		int err;

		assert_int_equal(system(rows[i].command), 0);
		err = op_bfd_open(&bfd, "b", &places);
		if (err != rows[i].err || !bfd != !!err)
			fail_msg("%s: %d", rows[i].command, err);
		op_bfd_close(bfd);
	}
}

FOLDER_TEST(code_has_edges)
{
	static const struct {
		const char *flags;
		bool is_linked;
	} rows[] = { { STATIC, true }, { "-c", false } };

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_bfd *bfd;
		uint64_t text, vma;
		uint8_t code[33];
		size_t len = 1;

		build(SYMBOLS, rows[i].flags, "touch -d @1234567 b");
		bfd = open_b();
		text = text_offset(bfd);
		vma = op_bfd_vma(bfd, text);
		assert_true(text > 0);
		assert_int_equal(vma != text, rows[i].is_linked);
		for (uint64_t at = 0; at < 16; at++)
			assert_int_equal(op_bfd_vma(bfd, text + at), vma + at);
		assert_int_equal(op_bfd_vma(bfd, text - 1), text - 1);
		assert_int_equal(op_bfd_vma(bfd, text + 1000), text + 1000);
		memset(code, 0, sizeof(code));
		assert_true(op_bfd_code(bfd, vma, 16, code));
		for (size_t k = 0; k < 16; k++)
			assert_int_equal(code[k], 0x90);
		assert_int_equal(code[16], 0);
		assert_true(op_bfd_code(bfd, vma + 15, 1, code));
		assert_false(op_bfd_code(bfd, vma + 15, 33, code));
		assert_false(op_bfd_code(bfd, vma - 1, 1, code));
		assert_false(op_bfd_code(bfd, UINT64_MAX, 1, code));
		assert_int_equal(op_bfd_mtime(bfd), 1234567);
		assert_string_equal(op_bfd_path(bfd), "b");
		assert_null(op_bfd_build_id(bfd, &len));
		assert_int_equal(len, 0);
		assert_null(op_bfd_debug_path(bfd));
		assert_null(op_bfd_debug_name(bfd, NULL));
		assert_int_equal(op_bfd_lines_damaged(bfd), 0);
		op_bfd_close(bfd);
	}
	build(SYMBOLS, STATIC,
	      "objcopy --only-keep-debug b d && strip b && "
	      "objcopy --add-gnu-debuglink=d b");
	for (size_t i = 0; i < 2; i++) {
		struct op_bfd *bfd = open_b();
		char *name = op_bfd_debug_name(bfd, NULL);
		struct pp_raw_symbol *syms;
		enum op_bfd_origin origin;
		size_t nr;

		assert_string_equal(name, "d");
		free(name);
		if (i)
			assert_string_equal(op_bfd_debug_path(bfd), "d");
		op_bfd_drop_debug(bfd);
		assert_null(op_bfd_debug_path(bfd));
		assert_int_equal(
			op_bfd_symbols(bfd, false, &syms, &nr, &origin), 0);
		assert_int_equal(nr, 0);
		assert_int_equal(origin, OP_BFD_NONE);
		free(syms);
		op_bfd_close(bfd);
	}
}

/* Of several names for an address that which objdump takes. */
FOLDER_TEST(addresses_have_names)
{
	static const char text[] =
		".text\n"
		"b1:\na1:.skip 1,0x90\n" /* 0: the alphabet */
		".globl b2\na2:\nb2:.skip 1,0x90\n" /* 1: global */
		".globl a3\n.type b3,@function\na3:\nb3:.skip 1,0x90\n"
		".type a4,@function\n.type b4,@object\na4:\nb4:.skip 1,0x90\n"
		".text\n.globl .a5\n.globl b5\n.a5:\nb5:.skip 1,0x90\n"
		"$d:\n.type s6,@tls_object\n.skip 1,0x90\n" /* 5: none */
		"c7:\nb7:\na7:\nd7:.skip 3,0x90\n" /* 6 */
		"z:\n.skip 4,0x90\n";
	static const char *const names[] = { "a1", "b2", "b3", "b4", "b5", NULL,
					     "a7", NULL, NULL, "z",  NULL };
	const struct op_disasm_options options = { 0 };
	struct op_disasm *disasm;
	struct op_bfd *bfd;
	uint64_t start;

	build(text, STATIC, NULL);
	bfd = open_b();
	start = op_bfd_vma(bfd, text_offset(bfd));
	assert_int_equal(op_disasm_new(&disasm, bfd, &options), 0);
	for (size_t i = 0; i < NR(names); i++) {
		const char *name = op_disasm_name(disasm, start + i);

		if (!names[i])
			assert_null(name);
		else
			assert_string_equal(name, names[i]);
	}
	assert_null(op_disasm_name(disasm, start - 1));
	op_disasm_free(disasm);
	op_bfd_close(bfd);
}

#ifdef __x86_64__
/* Instructions that refer to what is here and elsewhere. */
#define REFERENCES                                                             \
	".text\n.globl f\n.type f,@function\nf:\n"                             \
	"mov outer@GOTPCREL(%rip),%rax\nmov data@GOTPCREL(%rip),%rax\n"        \
	"mov 8+before(%rip),%rax\nmov 16+before(%rip),%rax\n"                  \
	"call outer@PLT\ncall g@PLT\njmp f\n"                                  \
	"lea local(%rip),%rax\nlea 4+local(%rip),%rax\nlea -9(%rip),%rax\n"    \
	".globl g\n.type g,@function\ng: ret\n"                                \
	".data\n.globl data\n.type data,@object\ndata: .quad local\n"          \
	"local: .quad 0\nbefore: .quad 0\n.quad outer\n.quad local\n"

/* What the instructions of .text say of the addresses in them. */
static void write_references(FILE *out, struct op_bfd *bfd)
{
	const struct op_disasm_options options = { 0 };
	uint64_t at = op_bfd_vma(bfd, text_offset(bfd)), end;
	struct op_disasm_code code;
	struct op_disasm *disasm;

	assert_int_equal(op_disasm_new(&disasm, bfd, &options), 0);
	assert_int_equal(op_disasm_load(disasm, at, 1000, &code), 0);
	for (end = at + code.len; at < end;) {
		const char *text;

		at += op_disasm_insn(disasm, at, &text);
		text = strchr(text, '<');
		if (text)
			fprintf(out, "%s\n", text);
	}
	op_disasm_free(disasm);
}

/* The code @from the start of .text on, @len bytes of it. */
static void write_listing(FILE *out, struct op_bfd *bfd, uint64_t from,
			  uint64_t len, bool demangle)
{
	const struct op_disasm_options options = { .demangle = demangle };
	uint64_t start = op_bfd_vma(bfd, text_offset(bfd));
	struct op_disasm_code code;
	struct op_disasm *disasm;
	int err;

	assert_int_equal(op_disasm_new(&disasm, bfd, &options), 0);
	assert_string_equal(op_disasm_format(disasm), "elf64-x86-64");
	err = op_disasm_load(disasm, start + from, len, &code);
	if (err) {
		fprintf(out, "%d\n", err);
		op_disasm_free(disasm);
		return;
	}
	fprintf(out, "%s+%llx %llu bytes, shown %llx, ends %llx\n",
		code.section, (unsigned long long)(code.start - start),
		(unsigned long long)code.len, (unsigned long long)code.shown,
		(unsigned long long)code.section_end);
	for (uint64_t at = code.start; at < code.start + code.len;) {
		const char *text;
		uint64_t insn = op_disasm_insn(disasm, at, &text);
		uint64_t row = op_disasm_row(disasm);

		assert_int_equal(row, 7);
		fprintf(out, "%s|%s\n",
			op_disasm_bytes(disasm, at, insn < row ? insn : row,
					row),
			text);
		at += insn;
	}
	op_disasm_free(disasm);
}

/* Instructions as they are listed: bytes, what is cut off, long names. */
FOLDER_TEST(code_is_listed)
{
#define X20(c) c c c c c c c c c c c c c c c c c c c c
#define LONG X20("name") X20("name")
	static const char text[] =
		".text\n.globl _Z1fi\n.type _Z1fi,@function\n_Z1fi:\n"
		"nop\nret\nmovabs $0x1122334455667788,%rax\njmp _Z1fi\n"
		"jmp " LONG "\n" LONG ":.byte 0xe8\n"
		".section other,\"ax\"\nnop\njmp _Z1fi+2\n"
		".data\n.quad 1\n.bss\n.skip 8\n";
	/* clang-format off */
	static const struct {
		const char *name, *flags;
		uint64_t at, len; /* of what is loaded; the first from .text */
		bool mangled;
		const char *wanted;
	} rows[] = {
		{ "all of it", STATIC, 0, 1000, false, EXPECTED_ROW },
		{ "mangled", STATIC, 12, 2, true, EXPECTED_ROW },
		{ "cut off", STATIC, 12, 1, false, EXPECTED_ROW },
		{ "the last byte", STATIC, 16, 1, false, EXPECTED_ROW },
		{ "nothing", STATIC, 0, 0, false, "-2\n" },
		{ "before all code", STATIC, UINT64_MAX, 1, false, "-2\n" },
		{ "another section", STATIC, 17, 100, false, EXPECTED_ROW },
		{ "behind all code", STATIC, 23, 1, false, "-2\n" },
		{ "data", STATIC " -Wl,-Tdata=0x402000", 0x1000, 8, false, "-2\n" },
				{ "not linked", "-c", 0, 2, false, EXPECTED_AS("not linked, 1") },
		{ "not linked, another section", "-c", 17, 1, false, EXPECTED_ROW },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;
		struct op_bfd *bfd;

		build(text, rows[i].flags, NULL);
		bfd = open_b();
		write_listing(text_begin(&t), bfd, rows[i].at, rows[i].len,
			      !rows[i].mangled);
		op_bfd_close(bfd);
		text_must_be(&t, rows[i].name, rows[i].wanted);
	}
}

/* The names of slots are those of what is in them, with its version. */
FOLDER_TEST(references_have_names)
{
	/* clang-format off */
	static const struct {
		const char *name, *flags, *names;
	} rows[] = {
		{ "a library", SHARED " -Wl,-z,lazy",
		  EXPECTED("a-library") },
		{ "stripped", SHARED " -Wl,-z,lazy -s",
		  EXPECTED("stripped") },
		{ "its own version", SHARED " -Wl,-z,lazy -Wl,--version-script=version",
		  EXPECTED("its-own-version") },
	};
	/* clang-format on */

	write_text("version", "V1 { global: data; g; f; };\n");
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_bfd *bfd;
		struct text t;

		build(REFERENCES, rows[i].flags, NULL);
		bfd = open_b();
		write_references(text_begin(&t), bfd);
		op_bfd_close(bfd);
		text_must_be(&t, rows[i].name, rows[i].names);
	}
}
#endif

/* ---- images -------------------------------------------------------------- */

#define KERNEL                                                                 \
	".text\n.globl early\n.type early,@function\nearly:.skip 16,0x90\n"    \
	".globl _stext\n_stext:\n.type one,@function\none:.skip 16,0x90\n"     \
	".type two,@function\n.size two,4\ntwo:.skip 16,0x90\n"
#define MODULE                                                                 \
	".section .init.text,\"ax\"\n.type first,@function\n"                  \
	"first:.skip 16,0x90\n.text\n.type one,@function\none:.skip 16,0x90\n" \
	".type two,@function\ntwo:.skip 8,0x90\n"

#define IMAGE(type, where, called)                                             \
	.kind = OP_IMAGE_##type,                                               \
	.recorded = { .space = OP_SPACE_##where, .name = called },             \
	.name = OP_SPACE_##where == OP_SPACE_ROOT ? "/b" : (called),           \
	.path = OP_SPACE_##where == OP_SPACE_ROOT ? "/b" : (called),           \
	.base = called

/* The table, what is said, and where the symbols are from. */
static void write_image(FILE *out, const struct pp_image *image,
			const char *path, unsigned int wants)
{
	const char *const paths[] = { path, NULL };
	struct op_session session;
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	struct pp_locator locator;
	struct pp_image_symbols symbols;
	uint8_t code;

	op_arena_init(&arena);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	assert_int_equal(pp_locator_init(&locator, &arena, NULL, "root",
					 path ? paths : NULL, NULL),
			 0);
	assert_int_equal(pp_image_symbols_open(&symbols, image, &session,
					       &locator, wants, &messages),
			 0);
	for (size_t i = 0; i < symbols.nr; i++) {
		const struct pp_symbol *sym = &symbols.table[i];
		const uint8_t *bytes =
			pp_image_symbols_code(&symbols, sym, &arena);

		fprintf(out, "%s %llx-%llx", sym->name,
			(unsigned long long)sym->key,
			(unsigned long long)sym->end);
		code = bytes ? *bytes : 0;
		if (code)
			fprintf(out, " %x", code);
		if (pp_image_symbols_vma(&symbols, image, sym->key) != sym->vma)
			fprintf(out, " shown at another address");
		fputc('\n', out);
	}
	if (symbols.whole)
		fprintf(out, "all is %s\n", symbols.whole);
	if (symbols.path)
		fprintf(out, "from %s\n", symbols.path);
	write_messages(out, &messages);
	pp_image_symbols_release(&symbols);
	op_arena_release(&arena);
}

FOLDER_TEST(images_have_symbols)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct pp_image image;
		const char *text, *flags; /* of the binary "b" */
		const char *command; /* where it goes */
		const char *path; /* the image path */
		unsigned int wants;
		const char *symbols;
	} rows[] = {
		{ "a file", { IMAGE(FILE, ROOT, "b") }, KERNEL, STATIC, "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "lines that are damaged", { IMAGE(FILE, ROOT, "b") }, KERNEL ".section .debug_line\n.long 99\n.byte 1\n", STATIC, "mv b root/b", NULL, PP_WANT_LINES,
		  EXPECTED_ROW },
		{ "damaged lines that nobody asks for", { IMAGE(FILE, ROOT, "b") }, KERNEL ".section .debug_line\n.long 99\n.byte 1\n", STATIC, "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "of its time", { IMAGE(FILE, ROOT, "b"), .mtime = 1000 }, KERNEL, STATIC, "mv b root/b; touch -d @1000 root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "of another time", { IMAGE(FILE, ROOT, "b"), .mtime = 1001 }, KERNEL, STATIC, "mv b root/b; touch -d @1000 root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "of its build", { IMAGE(FILE, ROOT, "b"), .mtime = 1, .build_id = { 4, { 0xab, 0xcd, 1, 2 } } }, KERNEL, ID, "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "of another build", { IMAGE(FILE, ROOT, "b"), .build_id = { 4, { 0xab, 0xcd, 1, 3 } } }, KERNEL, ID, "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "of a longer build-id", { IMAGE(FILE, ROOT, "b"), .build_id = { 5, { 0xab, 0xcd, 1, 2 } } }, KERNEL, ID, "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "of no build-id", { IMAGE(FILE, ROOT, "b"), .mtime = 1001 }, KERNEL, ID, "mv b root/b; touch -d @1000 root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "its copy", { IMAGE(FILE, ROOT, "b"), .build_id = { 4, { 0xab, 0xcd, 1, 2 } } }, KERNEL, ID, "mkdir images; mv b images/b-abcd0102; echo >root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "a copy that is another", { IMAGE(FILE, ROOT, "b"), .build_id = { 4, { 0xab, 0xcd, 1, 3 } } }, KERNEL, ID, "mkdir images; mv b images/b-abcd0103; echo >root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "no binary", { IMAGE(FILE, ROOT, "b") }, KERNEL, STATIC, "echo >root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "a loop", { IMAGE(FILE, ROOT, "b") }, KERNEL, STATIC, "ln -s b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "nowhere", { IMAGE(FILE, ROOT, "b") }, KERNEL, STATIC, NULL, NULL, 0,
		  EXPECTED_ROW },
		{ "several", { IMAGE(FILE, ROOT, "b") }, KERNEL, STATIC, "mkdir path/1 path/2; cp b path/1; cp b path/2", "path", 0,
		  EXPECTED_ROW },
		{ "a stripped file", { IMAGE(FILE, ROOT, "b") }, KERNEL, STATIC " -s", "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "exports only", { IMAGE(FILE, ROOT, "b") }, UNWOUND, SHARED " -s", "mv b root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "exports and functions without names", { IMAGE(FILE, ROOT, "b") }, UNWOUND, SHARED " -s -Wl,-Ttext=0x1230", "mv b root/b", NULL, PP_WANT_UNNAMED,
		  EXPECTED_ROW },
		{ "a kernel", { IMAGE(KERNEL, KERN, "vmlinux") }, KERNEL, STATIC, "mv b path/vmlinux", "path", 0,
		  EXPECTED_ROW },
		{ "a kernel of operf 1.4", { IMAGE(KERNEL, ROOT, "/proc/kallsyms") }, ".globl _text\n_text:.skip 4\n" KERNEL, STATIC, "mv b path/vmlinux", "path", 0,
		  EXPECTED_ROW },
		{ "no kernel of operf 1.4", { IMAGE(KERNEL, ROOT, "/proc/kallsyms") }, KERNEL, STATIC, NULL, NULL, 0,
		  EXPECTED_ROW },
		{ "a kernel with lines", { IMAGE(KERNEL, KERN, "vmlinux"), .build_id = { 4, { 0xab, 0xcd, 1, 2 } } }, KERNEL, ID, "mv b root/usr/lib/debug/boot/vmlinux-2", NULL, PP_WANT_LINES,
		  EXPECTED_ROW },
		{ "no kernel", { IMAGE(KERNEL, KERN, "vmlinux") }, UNWOUND, STATIC, "mv b path/vmlinux", "path", 0,
		  EXPECTED_ROW },
		{ "a kernel of another build", { IMAGE(KERNEL, KERN, "vmlinux"), .build_id = { 4, { 1 } } }, KERNEL, ID, "mv b path/vmlinux", "path", 0,
		  EXPECTED_ROW },
		{ "a kernel's snapshot", { IMAGE(KERNEL, KERN, "vmlinux"), .build_id = { 1, { 1 } } }, KERNEL, ID, "mv b path/vmlinux; printf 'oprofile symbols 1 vmlinux 01\\n0 T _stext\\n10 T one\\n' >symbols/vmlinux-01", NULL, 0,
		  EXPECTED_ROW },
		{ "a module", { IMAGE(MODULE, KERN, "mod") }, MODULE, "-c", "mv b path/mod.ko", "path", 0,
		  EXPECTED_ROW },
		{ "a module that is not looked for", { IMAGE(MODULE, KERN, "mod") }, MODULE, "-c", "mv b path/mod.ko", NULL, 0,
		  EXPECTED_ROW },
		{ "a file of the kernel's", { IMAGE(FILE, KERN, "mod") }, MODULE, "-c", "mv b path/mod.ko", "path", 0, "all is mod\n" },
		{ "memory", { IMAGE(ANON, ANON, "anon"), .anon_start = 0x1000 }, MODULE, "-c", NULL, "path", 0, "all is anon\n" },
		{ "memory with a map of names", { IMAGE(ANON, ANON, "anon"), .recorded.tgid = 7, .recorded.start = 0x1000, .recorded.end = 0x2000, .anon_start = 0x1000 }, MODULE, "-c",
		  "mkdir images; printf '1800 10 late\\n1010 20 f\\n1000 10 e\\n2000 8 outside\\n' >images/perf-7.map", NULL, 0,
		  EXPECTED_ROW },
		{ "memory with an empty map", { IMAGE(ANON, ANON, "anon"), .recorded.tgid = 7, .recorded.start = 0x1000, .recorded.end = 0x2000, .anon_start = 0x1000 }, MODULE, "-c",
		  "mkdir images; echo 2000 8 outside >images/perf-7.map", NULL, 0, "all is anon\n" },
		{ "stored symbols of what has changed", { IMAGE(FILE, ROOT, "b"), .build_id = { 4, { 0xab, 0xcd, 1, 2 } } }, KERNEL, ID, "mkdir -p store/.build-id/ab; mv b store/.build-id/ab/cd0102; echo >root/b", NULL, 0,
		  EXPECTED_ROW },
		{ "stored symbols of what is gone", { IMAGE(FILE, ROOT, "b"), .build_id = { 4, { 0xab, 0xcd, 1, 2 } } }, KERNEL, ID, "mkdir -p store/.build-id/ab; mv b store/.build-id/ab/cd0102", NULL, 0,
		  EXPECTED_ROW },
		{ "nothing", { IMAGE(PSEUDO, KERN, "[x]") }, MODULE, "-c", NULL, "path", 0, "all is [x]\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text whole;

		assert_int_equal(
			system("rm -rf root path symbols images store; mkdir -p path "
			       "symbols root/usr/lib/debug/boot"),
			0);
		build(rows[i].text, rows[i].flags, rows[i].command);
		write_image(text_begin(&whole), &rows[i].image, rows[i].path,
			    rows[i].wants);
		text_below_must_be(&whole, *state, rows[i].name,
				   rows[i].symbols);
	}
}
