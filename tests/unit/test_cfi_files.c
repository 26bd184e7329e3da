// SPDX-License-Identifier: GPL-2.0-or-later
/* Files with call frame information, laid out in all ways, and damaged ones. */

#include <zlib.h>

#include "tests/unit/cfi_fixture.h"

/* The caller's stack pointer above SP at an offset in the code; 0: no data. */
static uint64_t cfa_at(const struct cfi_table *table, uint64_t at)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);
	enum cfi_step got =
		cfi_unwind(table, CODE_OFFSET + at, false, &regs, &stack);

	if (got == CFI_NO_DATA)
		return 0;
	assert_int_equal(got, CFI_CALLER);
	return regs.reg[CFI_X86_64_RSP] - SP;
}

static const struct cie x86_cie = { .ra = 16, .insns = PLAIN_CIE };

/* Functions in any order, overlapping, and outside of code. */
static void many_functions(void **state)
{
	struct cfi_table *table;
	size_t cie, other;

	(void)state;
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x10", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x18", 0);
	other = put_cie(&eh,
			&(struct cie){ .augmentation = "zPLR",
				       .ra = 16,
				       .insns = PLAIN_CIE "\xe\x20" },
			false);
	put_fde(&eh, other, false, CODE_ADDR + 0x110, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + CODE_LEN - 8, 0x200, "\xe\x28", 0);
	put_fde(&eh, cie, false, 0, 0x200, "\xe\x30", 0);
	put_fde(&eh, other, false, CODE_ADDR + 0x220, 0x20, "", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0xff), 0);
	assert_int_equal(cfa_at(table, 0x100), 0x18);
	assert_int_equal(cfa_at(table, 0x11f), 0x18);
	assert_int_equal(cfa_at(table, 0x120), 0x20);
	assert_int_equal(cfa_at(table, 0x12f), 0x20);
	assert_int_equal(cfa_at(table, 0x130), 0);
	assert_int_equal(cfa_at(table, 0x21f), 0x10);
	assert_int_equal(cfa_at(table, 0x220), 0x20);
	assert_int_equal(cfa_at(table, CODE_LEN - 1), 0x28);
	assert_int_equal(cfa_at(table, CODE_LEN), 0);
	assert_true(cfi_table_nr_rules(table) <= 5);
	assert_true(cfi_table_bytes(table) < 4096);
	cfi_table_free(table);
}

/* The function that holds the code, UINT64_MAX if it is not known. */
static uint64_t function_at(const struct cfi_table *table, uint64_t at)
{
	uint64_t start;

	return cfi_function(table, CODE_OFFSET + at, &start)
		       ? start - CODE_OFFSET
		       : UINT64_MAX;
}

/* One behind the other, with the rule of the one before; some overlap. */
static void function_starts(void **state)
{
	const struct cie signal = { .augmentation = "zRS",
				    .ra = 16,
				    .insns = PLAIN_CIE };
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	file.header.e_entry = CODE_ADDR + 0x800;
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x120, 0x20,
		"\x44\xe\x10\x44\xe\x18\x44\xe\x8", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x140, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x170, 0x10, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x178, 0x10, "", 0);
	/* damaged in the middle of it */
	put_fde(&eh, cie, false, CODE_ADDR + 0x188, 0x10, "\x44\x3f", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x220, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x240, 0x20, "", 0);
	put_fde(&eh, put_cie(&eh, &signal, false), false, CODE_ADDR + 0x300,
		0x10, "", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	elf_section(&file, ".plt", CODE_ADDR + 0x200, "", 0)->sh_size = 0x20;
	elf_section(&file, ".plt.got", CODE_ADDR + 0x220, "", 0)->sh_size =
		0x20;
	table = make();
	assert_int_equal(function_at(table, 0), UINT64_MAX);
	assert_int_equal(function_at(table, 0xff), UINT64_MAX);
	for (uint64_t at = 0x100; at < 0x160; at++)
		assert_int_equal(function_at(table, at), at & ~UINT64_C(0x1f));
	assert_int_equal(function_at(table, 0x160), UINT64_MAX);
	assert_int_equal(function_at(table, 0x17f), 0x170);
	/* What of the second one has rows is in its symbol, too. */
	assert_int_equal(function_at(table, 0x187), 0x180);
	assert_int_equal(function_at(table, 0x18b), 0x188);
	assert_int_equal(function_at(table, 0x18c), UINT64_MAX);
	for (uint64_t at = 0x200; at < 0x240; at++)
		assert_int_equal(function_at(table, at), UINT64_MAX);
	assert_int_equal(function_at(table, 0x25f), 0x240);
	assert_int_equal(function_at(table, 0x300), UINT64_MAX);
	assert_int_equal(function_at(table, 0x30f), UINT64_MAX);
	assert_int_equal(function_at(table, 0x800), UINT64_MAX);
	assert_int_equal(function_at(table, 0x810), UINT64_MAX);
	/* They are no less there. */
	assert_int_equal(cfa_at(table, 0x210), 8);
	assert_int_equal(cfa_at(table, 0x128), 0x18);
	cfi_table_free(table);
}

/* .eh_frame is right where both tell; each entry of each layout is read. */
static void debug_frame(const char *name, uint8_t version,
			uint64_t flags_of_section)
{
	static struct bytes debug;
	uint8_t packed[4096];
	uLongf len = sizeof(packed) - 64;
	struct cfi_table *table;
	size_t cie, at = 0;

	elf_init(&file, EM_X86_64);
	eh.len = debug.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	cie = put_cie(&debug,
		      &(struct cie){ .augmentation = "",
				     .version = version,
				     .ra = 16,
				     .insns = PLAIN_CIE },
		      true);
	put_fde(&debug, cie, true, CODE_ADDR + 0x100, 0x20, "\xe\x18", 0);
	put_fde(&debug, cie, true, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
	if (flags_of_section) {
		const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
					  .ch_size = debug.len };

		memcpy(packed, &head, at = sizeof(head));
	} else if (name[1] == 'z') {
		const uint64_t big = __builtin_bswap64(debug.len);

		memcpy(packed, "ZLIB", 4);
		memcpy(packed + 4, &big, sizeof(big));
		at = 12;
	}
	assert_int_equal(compress(packed + at, &len, debug.byte, debug.len),
			 Z_OK);
	if (at)
		elf_section(&file, name, 0, packed, at + len)->sh_flags =
			flags_of_section;
	else
		elf_section(&file, name, 0, debug.byte, debug.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x110), 0x10);
	assert_int_equal(cfa_at(table, 0x210), 0x20);
	cfi_table_free(table);
}

static void debug_frames(void **state)
{
	(void)state;
	debug_frame(".debug_frame", 1, 0);
	debug_frame(".debug_frame", 3, 0);
	debug_frame(".debug_frame", 4, 0);
	debug_frame(".debug_frame", 4, SHF_COMPRESSED);
	debug_frame(".zdebug_frame", 3, 0);
}

/* A file without section headers, as some strip it. */
static void only_segments(void **state)
{
	uint8_t index[12] = { 1, 0x1b, 3, 0x3b };
	int32_t to_eh = EH_ADDR - (EH_ADDR + 0x1000 + 4);
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
	put_int(&eh, 0, 4); /* the end; what comes then is none of it */
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
	memcpy(index + 4, &to_eh, sizeof(to_eh));
	file.segment[file.nr_segments++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_offset = file.len,
		.p_vaddr = EH_ADDR,
		.p_filesz = 0x1000 + sizeof(index),
	};
	file.segment[file.nr_segments++] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = file.len + 0x1000,
		.p_vaddr = EH_ADDR + 0x1000,
		.p_filesz = sizeof(index),
	};
	memcpy(file.byte + file.len, eh.byte, eh.len);
	memcpy(file.byte + file.len + 0x1000, index, sizeof(index));
	file.len += 0x1000 + sizeof(index);
	table = make();
	assert_int_equal(cfa_at(table, 0x110), 0x10);
	assert_int_equal(cfa_at(table, 0x210), 0);
	cfi_table_free(table);
}

/* A zero word between entries of a section is padding. */
static void padded_section(void **state)
{
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_int(&eh, 0, 4);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x210), 0x20);
	cfi_table_free(table);
}

/* Addresses, written in all ways. */
static void encodings(void **state)
{
	static const struct {
		uint8_t encoding;
		unsigned int size;
		bool is_relative;
		bool is_read;
	} ways[] = {
		{ 0x00, 8, false, true },  { 0x03, 4, false, true },
		{ 0x04, 8, false, true },  { 0x0b, 4, false, true },
		{ 0x0c, 8, false, true },  { 0x1b, 4, true, true },
		{ 0x1c, 8, true, true },   { 0x10, 8, true, true },
		{ 0x2b, 4, false, false }, { 0x3b, 4, false, false },
		{ 0x9b, 4, true, false },  { 0x0f, 8, false, false },
		{ 0xff, 8, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct cie cie = x86_cie;
		struct cfi_table *table;
		size_t cie_at, at;
		uint64_t start;

		elf_init(&file, EM_X86_64);
		eh.len = 0;
		cie.encoding = ways[i].encoding;
		cie_at = put_cie(&eh, &cie, false);
		at = begin_entry(&eh);
		put_int(&eh, eh.len - cie_at, 4);
		start = CODE_ADDR + 0x100;
		if (ways[i].is_relative)
			start -= EH_ADDR + eh.len;
		put_int(&eh, start, ways[i].size);
		put_int(&eh, 0x20, ways[i].size);
		put_int(&eh, 0, 1);
		put_insns(&eh, "\xe\x10", 0);
		end_entry(&eh, at);
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		table = make();
		if (cfa_at(table, 0x11f) != (ways[i].is_read ? 0x10 : 0))
			fail_msg("encoding %#x", ways[i].encoding);
		assert_int_equal(cfa_at(table, 0x120), 0);
		cfi_table_free(table);
	}
}

/* The entry point of a program, which in ld.so has no data. */
static void entry_point(void **state)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	file.header.e_entry = CODE_ADDR + 0x180;
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x80, "\xe\x10", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x1a0, 0x80, "\xe\x18", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x17f), 0x10);
	assert_int_equal(cfi_unwind(table, CODE_OFFSET + 0x180, false, &regs,
				    &stack),
			 CFI_OUTERMOST);
	assert_int_equal(cfi_unwind(table, CODE_OFFSET + 0x1a0, true, &regs,
				    &stack),
			 CFI_OUTERMOST);
	assert_int_equal(cfa_at(table, 0x1a0), 0x18);
	cfi_table_free(table);
	/* That which has data is not touched. */
	elf_init(&file, EM_X86_64);
	file.header.e_entry = CODE_ADDR + 0x110;
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x110), 0x10);
	assert_int_equal(cfa_at(table, 0x190), 0);
	cfi_table_free(table);
}

static void refused(const char *why)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;

	elf_finish(&file);
	assert_int_equal(cfi_table_new(&table, file.byte, file.len, &diag),
			 -EBADMSG);
	assert_string_equal(diag.text, why);
}

static void other_files(void **state)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;

	(void)state;
	assert_int_equal(cfi_table_new(&table, NULL, 0, &diag), -EBADMSG);
	assert_string_equal(diag.text, "not an ELF file");
	assert_int_equal(cfi_table_read(&table, -1, NULL), -EBADF);
	elf_init(&file, EM_X86_64);
	file.header.e_ident[EI_CLASS] = ELFCLASS32;
	refused("not a 64-bit little-endian ELF file");
	elf_init(&file, EM_X86_64);
	file.header.e_ident[EI_DATA] = ELFDATA2MSB;
	refused("not a 64-bit little-endian ELF file");
	elf_init(&file, EM_S390);
	refused("an ELF file of machine 22, not of a known one");
	/* Nothing to unwind with is no error. */
	elf_init(&file, EM_X86_64);
	table = make();
	assert_int_equal(cfi_table_nr_rows(table), 0);
	assert_int_equal(cfa_at(table, 0x110), 0);
	cfi_table_free(table);
}

/* Cut anywhere, and with any byte of the data changed. */
static void damage(void **state)
{
	struct cfi_table *table = x86(INSNS("\x42\xe\x10\x83\2\x42\xa\xf\2\x77"
					    "\x18\x42\xb"));
	uint8_t *whole, *copy;
	size_t at = file.section[1].sh_offset;
	struct cfi_regs regs;

	(void)state;
	cfi_table_free(table);
	whole = malloc(file.len);
	assert_non_null(whole);
	memcpy(whole, file.byte, file.len);
	for (size_t len = 0; len < file.len;
	     len += len < 256 || len >= at ? 1 : 1000) {
		copy = malloc(len + 1);
		assert_non_null(copy);
		memcpy(copy, whole, len);
		if (!cfi_table_new(&table, copy, len, NULL))
			cfi_table_free(table);
		free(copy);
	}
	for (size_t i = 0; i < (file.len - at) * 8; i++) {
		whole[at + i / 8] ^= (uint8_t)(1 << i % 8);
		if (!cfi_table_new(&table, whole, file.len, NULL))
			step(table, i % 8, &regs);
		whole[at + i / 8] ^= (uint8_t)(1 << i % 8);
	}
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_functions),
		cmocka_unit_test(function_starts),
		cmocka_unit_test(debug_frames),
		cmocka_unit_test(only_segments),
		cmocka_unit_test(padded_section),
		cmocka_unit_test(encodings),
		cmocka_unit_test(entry_point),
		cmocka_unit_test(other_files),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
