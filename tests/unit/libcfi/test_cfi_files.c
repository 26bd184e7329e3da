// SPDX-License-Identifier: GPL-2.0-or-later
/* Files with call frame information, laid out in all ways, and damaged ones. */

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "libcfi/cfi_frames.h"
#include "cfi_fixture.h"

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
TEST(many_functions)
{
	struct cfi_table *table;
	size_t cie, other;

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
	/* inside of another one */
	put_fde(&eh, cie, false, CODE_ADDR + 0x300, 0x40, "\xe\x10", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x310, 0x10, "\xe\x18", 0);
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
	for (uint64_t at = 0x300; at < 0x340; at++)
		assert_int_equal(cfa_at(table, at), 0x10);
	assert_int_equal(cfa_at(table, 0x340), 0);
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
TEST(function_starts)
{
	const struct cie signal = { .augmentation = "zRS",
				    .ra = 16,
				    .insns = PLAIN_CIE };
	struct cfi_table *table;
	size_t cie;

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

/* Starts are listed by the section alone, in its order, whatever is there. */
TEST(starts_of_a_section)
{
	static const uint64_t wanted[] = { CODE_ADDR + 0x200, CODE_ADDR + 0x300,
					   0 };
	const struct cie relative = { .encoding = 0x1b,
				      .ra = 16,
				      .insns = PLAIN_CIE };
	uint64_t *starts;
	size_t cie, at, nr;

	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x10", 0);
	/* its end is its start */
	put_fde(&eh, cie, false, CODE_ADDR + 0x240, 0, "", 0);
	cie = put_cie(&eh, &relative, false);
	at = begin_entry(&eh);
	put_int(&eh, eh.len - cie, 4);
	put_int(&eh, CODE_ADDR + 0x300 - (EH_ADDR + eh.len), 4);
	put_int(&eh, 0x20, 4);
	put_int(&eh, 0, 1);
	end_entry(&eh, at);
	/* its CIE is none */
	put_fde(&eh, at, false, CODE_ADDR + 0x400, 0x20, "", 0);
	/* the linker dropped its code */
	put_fde(&eh, put_cie(&eh, &x86_cie, false), false, 0, 0x20, "", 0);
	for (size_t len = 0; len <= eh.len; len++) {
		uint8_t *exact = malloc(len + !len);

		assert_non_null(exact);
		memcpy(exact, eh.byte, len);
		assert_int_equal(cfi_function_starts(&starts, &nr, exact, len,
						     EH_ADDR),
				 0);
		assert_true(nr <= sizeof(wanted) / sizeof(wanted[0]));
		if (nr)
			assert_memory_equal(starts, wanted,
					    nr * sizeof(wanted[0]));
		free(starts);
		free(exact);
	}
	assert_int_equal(nr, sizeof(wanted) / sizeof(wanted[0]));
	assert_int_equal(cfi_function_starts(&starts, &nr, NULL, 0, 0), 0);
	assert_int_equal(nr, 0);
	free(starts);
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

TEST(debug_frames)
{
	debug_frame(".debug_frame", 1, 0);
	debug_frame(".debug_frame", 3, 0);
	debug_frame(".debug_frame", 4, 0);
	debug_frame(".debug_frame", 4, SHF_COMPRESSED);
	debug_frame(".zdebug_frame", 3, 0);
}

/*
 * A file without section headers: its .eh_frame has a function at 0x100, its
 * end, and what is no part of it. The index is the last segment.
 */
static void init_without_sections(void)
{
	uint8_t index[12] = { 1, 0x1b, 3, 0x3b };
	int32_t to_eh = EH_ADDR - (EH_ADDR + 0x1000 + 4);
	size_t cie;

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
		.p_offset = file.len - 0x20, /* the section is within it */
		.p_vaddr = EH_ADDR - 0x20,
		.p_filesz = 0x1020 + sizeof(index),
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
}

/* The CFA at 0x110 in the file, 0 if nothing is known of it. */
static uint64_t cfa_in_file(void)
{
	struct cfi_table *table = make();
	uint64_t cfa = cfa_at(table, 0x110);

	assert_int_equal(cfa_at(table, 0x210), 0);
	cfi_table_free(table);
	return cfa;
}

/* As some strip it, or with section headers that are damaged. */
TEST(only_segments)
{
	uint8_t *index;

	init_without_sections();
	assert_int_equal(cfa_in_file(), 0x10);
	file.header.e_shnum = 4; /* behind the end of the file */
	file.header.e_shstrndx = 1;
	file.header.e_shoff = file.len;
	assert_int_equal(cfa_in_file(), 0x10);
	file.header.e_shoff = UINT64_MAX - 3 * sizeof(Elf64_Shdr);
	assert_int_equal(cfa_in_file(), 0x10);
	file.header.e_shoff = 0; /* garbage */
	assert_int_equal(cfa_in_file(), 0x10);
	file.header.e_shstrndx = 4;
	assert_int_equal(cfa_in_file(), 0x10);
	file.header.e_shentsize--;
	assert_int_equal(cfa_in_file(), 0x10);
	/* Without a sound index there is nothing. */
	index = file.byte + file.segment[2].p_offset;
	index[0] = 2;
	assert_int_equal(cfa_in_file(), 0);
	index[0] = 1;
	index[1] = 0xff;
	assert_int_equal(cfa_in_file(), 0);
	index[1] = 0x1b;
	index[7] ^= 0x40; /* to an address of no segment */
	assert_int_equal(cfa_in_file(), 0);
	index[7] ^= 0x40;
	assert_int_equal(cfa_in_file(), 0x10);
	file.segment[2].p_offset = file.len - 11;
	assert_int_equal(cfa_in_file(), 0);
	init_without_sections();
	file.segment[2].p_type = PT_NOTE;
	assert_int_equal(cfa_in_file(), 0);
	init_without_sections();
	file.segment[0].p_flags = PF_R; /* of data there is no unwinding */
	assert_int_equal(cfa_in_file(), 0);
}

/* Numbers of a segment that cannot be, with the largest ones that can. */
TEST(segments_that_cannot_be)
{
	static const struct {
		uint64_t offset, len, addr;
		bool is_taken;
	} cases[] = {
		{ 0, INT64_MAX, CODE_ADDR, true },
		{ 0, (uint64_t)INT64_MAX + 1, CODE_ADDR, false },
		{ 0, UINT64_MAX, 0, false },
		{ INT64_MAX - 0x1000, 0x1000, CODE_ADDR, true },
		{ INT64_MAX - 0xfff, 0x1000, CODE_ADDR, false },
		{ INT64_MAX, 0x1000, CODE_ADDR, false },
		{ UINT64_MAX, 0x1000, CODE_ADDR, false },
		{ 0, 0x1000, UINT64_MAX - 0x1000, true },
		{ 0, 0x1000, UINT64_MAX - 0xfff, false },
		{ 0, 0x20, CODE_ADDR, true },
		{ 0, 0x10, CODE_ADDR, false }, /* ends before the function */
		{ 0, 0x11, CODE_ADDR, true },
		{ 0, 0x1000, CODE_ADDR + 0x10, true },
		{ 0, 0x1000, CODE_ADDR + 0x11, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t start = cases[i].addr + 0x10;
		struct cfi_table *table;

		elf_init(&file, EM_X86_64);
		if (i >= sizeof(cases) / sizeof(cases[0]) - 2)
			start = CODE_ADDR + 0x10;
		file.segment[0].p_offset = cases[i].offset;
		file.segment[0].p_filesz = cases[i].len;
		file.segment[0].p_vaddr = cases[i].addr;
		eh.len = 0;
		put_fde(&eh, put_cie(&eh, &x86_cie, false), false, start, 8, "",
			0);
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		table = make();
		if ((cfi_table_nr_rows(table) > 0) != cases[i].is_taken)
			fail_msg("segment %zu", i);
		cfi_table_free(table);
	}
}

/* Of the many segments of a file the first 64 count. */
TEST(nr_segments)
{
	static uint8_t many[sizeof(Elf64_Phdr) * 66];
	struct cfi_table *table;
	Elf64_Phdr segment;

	for (unsigned int at = 63; at <= 64; at++) {
		elf_init(&file, EM_X86_64);
		eh.len = 0;
		put_fde(&eh, put_cie(&eh, &x86_cie, false), false,
			CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		segment = file.segment[0];
		for (unsigned int i = 0; i < 66; i++) {
			segment.p_vaddr =
				i == at ? CODE_ADDR : 0x10000000u * (i + 1);
			memcpy(many + i * sizeof(segment), &segment,
			       sizeof(segment));
		}
		memcpy(file.byte + file.len, many, sizeof(many));
		file.header.e_phoff = file.len;
		file.len += sizeof(many);
		elf_finish(&file);
		file.header.e_phnum = 66;
		memcpy(file.byte, &file.header, sizeof(file.header));
		assert_int_equal(
			cfi_table_new(&table, file.byte, file.len, NULL), 0);
		assert_int_equal(cfa_at(table, 0x110), at < 64 ? 0x10 : 0);
		cfi_table_free(table);
	}
}

/* A zero word between entries of a section is padding. */
TEST(padded_section)
{
	struct cfi_table *table;
	size_t cie;

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

/* What a CIE may say, from its version to the data before its instructions. */
TEST(cie_heads)
{
#define TAIL "\xc\7\x8\x90\1" /* PLAIN_CIE, without octal behind octal */
	static const struct {
		const char *head;
		size_t len;
		bool is_read;
	} heads[] = {
		{ INSNS("\1\0\1\x78\x10" TAIL), true },
		{ INSNS("\3\0\1\x78\x10" TAIL), true },
		{ INSNS("\4\0\x8\0\1\x78\x10" TAIL), true },
		{ INSNS("\0\0\1\x78\x10" TAIL), false },
		{ INSNS("\2\0\1\x78\x10" TAIL), false },
		{ INSNS("\5\0\1\x78\x10" TAIL), false },
		/* addresses of 8 bytes, no segments */
		{ INSNS("\4\0\4\0\1\x78\x10" TAIL), false },
		{ INSNS("\4\0\x8\1\1\x78\x10" TAIL), false },
		/* the column of the return address: LEB128 since version 3 */
		{ INSNS("\3\0\1\x78\x90\0" TAIL), true },
		{ INSNS("\1\0\1\x78\x90\0" TAIL), false },
		{ INSNS("\1eh\0\1\x78\x10" TAIL), false },
		{ INSNS("\1R\0\1\x78\x10" TAIL), false },
		{ INSNS("\1z\0\1\x78\x10\0" TAIL), true },
		{ INSNS("\1zR\0\1\x78\x10\1\0" TAIL), true },
		{ INSNS("\1zR\0\1\x78\x10\0" TAIL), false },
		{ INSNS("\1zLR\0\1\x78\x10\2\x1b\0" TAIL), true },
		{ INSNS("\1zLR\0\1\x78\x10\1\0" TAIL), false },
		{ INSNS("\1zPR\0\1\x78\x10\6\3\1\1\1\1\0" TAIL), true },
		{ INSNS("\1zPR\0\1\x78\x10\5\3\1\1\1\1" TAIL), false },
		{ INSNS("\1zPR\0\1\x78\x10\2\xff\0" TAIL), true },
		{ INSNS("\1zBGR\0\1\x78\x10\1\0" TAIL), true },
		/* what is unknown ends it, and is skipped with the rest */
		{ INSNS("\1zXR\0\1\x78\x10\2\x1b\x1b" TAIL), true },
		{ INSNS("\1zR\0\1\x78\x10\3\0\x3f\x3f" TAIL), true },
		{ INSNS("\1zR\0\1\x78\x10\x7f\0" TAIL), false },
		{ INSNS("\1zBBBBBBBBBBBBBBB\0\1\x78\x10\0" TAIL), true },
		{ INSNS("\1zBBBBBBBBBBBBBBBB\0\1\x78\x10\0" TAIL), false },
		{ INSNS("\1zR"), false },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct cfi_table *table;
		size_t cie;

		elf_init(&file, EM_X86_64);
		eh.len = 0;
		cie = begin_entry(&eh);
		put_int(&eh, 0, 4);
		put_bytes(&eh, heads[i].head, heads[i].len);
		if (heads[i].len > 3)
			end_entry(&eh, cie);
		else /* a text without an end, then nothing */
			eh.byte[cie] = (uint8_t)(eh.len - cie - 4);
		put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		table = make();
		if (cfa_at(table, 0x11f) != (heads[i].is_read ? 0x10 : 0))
			fail_msg("CIE %zu", i);
		cfi_table_free(table);
	}
#undef TAIL
}

/* The instructions of a CIE are run for each function: 256 bytes, no more. */
TEST(long_cies)
{
	for (size_t len = 256; len <= 257; len++) {
		const char *letters = len == 256 ? "zBBBBB" : "zBBBB";
		struct cfi_table *table;
		size_t cie;

		elf_init(&file, EM_X86_64);
		eh.len = 0;
		cie = begin_entry(&eh);
		put_int(&eh, 0, 4);
		put_int(&eh, 1, 1);
		put_bytes(&eh, letters, strlen(letters) + 1);
		put_bytes(&eh, "\1\x78\x10\0" PLAIN_CIE, 9);
		memset(eh.byte + eh.len, 0, len - 5);
		eh.len += len - 5;
		end_entry(&eh, cie);
		assert_int_equal(eh.len,
				 4 + 4 + 1 + strlen(letters) + 1 + 4 + len);
		put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		table = make();
		assert_int_equal(cfa_at(table, 0x110), len == 256 ? 0x10 : 0);
		cfi_table_free(table);
	}
}

/* An FDE whose CIE is elsewhere than it says, and one of no code. */
TEST(fdes_that_are_none)
{
	struct cfi_table *table;
	size_t cie, fde;
	uint32_t to_cie;

	for (int way = 0; way < 6; way++) {
		elf_init(&file, EM_X86_64);
		eh.len = 0;
		cie = put_cie(&eh, &x86_cie, false);
		fde = eh.len;
		put_fde(&eh, cie, false, CODE_ADDR + 0x100, way == 5 ? 0 : 0x20,
			"\xe\x10", 0);
		put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
		to_cie = way == 1   ? (uint32_t)(fde + 5) /* before all */
			 : way == 2 ? (uint32_t)(fde + 4 - eh.len) /* behind */
			 : way == 3 ? 4 /* itself */
			 : way == 4 ? (uint32_t)(fde - cie) /* within */
				    : (uint32_t)(fde + 4 - cie);
		memcpy(eh.byte + fde + 4, &to_cie, sizeof(to_cie));
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		table = make();
		assert_int_equal(cfa_at(table, 0x110), way ? 0 : 0x10);
		/* It is left out; what follows is not. */
		assert_int_equal(cfa_at(table, 0x210), 0x20);
		cfi_table_free(table);
	}
}

/* Entries of the 64-bit format, whose ids are of 8 bytes in .debug_frame. */
static void long_entries(bool is_debug)
{
	static struct bytes b;
	const unsigned int id_len = is_debug ? 8 : 4;
	struct cfi_table *table;
	uint64_t len;
	size_t at, fde;

	elf_init(&file, EM_X86_64);
	b.len = 0;
	put_int(&b, 0xffffffff, 4);
	put_int(&b, 0, 8);
	put_int(&b, is_debug ? UINT64_MAX : 0, id_len);
	put_bytes(&b, "\1\0\1\x78\x10" PLAIN_CIE, 10);
	len = b.len - 12;
	memcpy(b.byte + 4, &len, sizeof(len));
	fde = b.len;
	put_int(&b, 0xffffffff, 4);
	put_int(&b, 0, 8);
	at = b.len;
	put_int(&b, is_debug ? 0 : at, id_len);
	put_int(&b, CODE_ADDR + 0x100, 8);
	put_int(&b, 0x20, 8);
	put_bytes(&b, "\xe\x10", 2);
	len = b.len - at;
	memcpy(b.byte + fde + 4, &len, sizeof(len));
	elf_section(&file, is_debug ? ".debug_frame" : ".eh_frame", EH_ADDR,
		    b.byte, b.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x11f), 0x10);
	assert_int_equal(cfa_at(table, 0x120), 0);
	cfi_table_free(table);
}

TEST(entries_of_64_bits)
{
	long_entries(true);
	long_entries(false);
}

/* What a section lacks, or says of its packed bytes. */
TEST(sections_that_are_none)
{
	static const uint8_t bomb[sizeof(Elf64_Chdr) + 20];
	const struct {
		uint32_t type;
		uint64_t size, offset_more;
	} cases[] = {
		{ SHT_PROGBITS, 0, 0 },
		{ SHT_NOBITS, 0, 0 },
		{ SHT_PROGBITS, UINT64_MAX, 0 },
		{ SHT_PROGBITS, 0, 1 << 20 },
		{ SHT_PROGBITS, 0, INT64_MAX },
		{ SHT_PROGBITS, 0, UINT64_MAX - (1 << 20) },
		{ SHT_PROGBITS, ((uint64_t)128 << 20) + 1, 0 },
	};
	struct cfi_table *table;
	Elf64_Shdr *sh;
	Elf64_Chdr packed;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		elf_init(&file, EM_X86_64);
		eh.len = 0;
		put_fde(&eh, put_cie(&eh, &x86_cie, false), false,
			CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
		sh = elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		sh->sh_type = cases[i].type;
		sh->sh_offset += cases[i].offset_more;
		if (cases[i].size)
			sh->sh_size = cases[i].size;
		table = make();
		assert_int_equal(cfa_at(table, 0x110), i ? 0 : 0x10);
		cfi_table_free(table);
	}
	for (unsigned int way = 0; way < 4; way++) {
		elf_init(&file, EM_X86_64);
		memset(&packed, 0, sizeof(packed));
		packed.ch_type = way == 0 ? 99 : ELFCOMPRESS_ZLIB;
		packed.ch_size = way == 1   ? 0
				 : way == 2 ? UINT64_MAX
					    : (uint64_t)20 * 1041;
		sh = elf_section(&file, ".debug_frame", 0, bomb, sizeof(bomb));
		memcpy(file.byte + sh->sh_offset, &packed, sizeof(packed));
		sh->sh_flags = SHF_COMPRESSED;
		table = make();
		assert_int_equal(cfi_table_nr_rows(table), 0);
		cfi_table_free(table);
	}
}

/* Rows begin with a page of the code, in the middle of one, and pages on. */
TEST(rows_and_pages)
{
	struct cfi_table *table;
	size_t cie;

	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR, 0x1000, "\xe\x10", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x1000, 0x800, "\xe\x18", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x1800, 0x2800, "\xe\x20", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfi_table_nr_rows(table), 4);
	assert_int_equal(cfa_at(table, 0), 0x10);
	assert_int_equal(cfa_at(table, 0xfff), 0x10);
	assert_int_equal(cfa_at(table, 0x1000), 0x18);
	assert_int_equal(cfa_at(table, 0x17ff), 0x18);
	assert_int_equal(cfa_at(table, 0x1800), 0x20);
	assert_int_equal(cfa_at(table, 0x2000), 0x20);
	assert_int_equal(cfa_at(table, 0x3fff), 0x20);
	assert_int_equal(cfa_at(table, 0x4000), 0);
	assert_int_equal(cfa_at(table, 0x4fff), 0);
	assert_int_equal(cfa_at(table, 0x5000), 0);
	assert_int_equal(function_at(table, 0x1000), 0x1000);
	assert_int_equal(function_at(table, 0x3fff), 0x1800);
	assert_int_equal(function_at(table, 0x4000), UINT64_MAX);
	cfi_table_free(table);
	/* No rule is kept for what is behind the end of the segment. */
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + CODE_LEN - 8, 0x200,
		"\x44\xe\x10\x50\xe\x28", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfi_table_nr_rows(table), 3);
	assert_int_equal(cfi_table_nr_rules(table), 2);
	assert_int_equal(cfa_at(table, CODE_LEN - 1), 0x10);
	cfi_table_free(table);
}

/* Addresses, written in all ways. */
TEST(encodings)
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
TEST(entry_point)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);
	struct cfi_table *table;
	size_t cie;

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

TEST(other_files)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;

	assert_int_equal(cfi_table_new(&table, NULL, 0, &diag), -EBADMSG);
	assert_string_equal(diag.text, "not an ELF file");
	assert_int_equal(cfi_table_read(&table, -1, CFI_ALL, NULL), -EBADF);
	elf_init(&file, EM_X86_64);
	file.header.e_ident[EI_CLASS] = ELFCLASS32;
	refused("not a 64-bit little-endian ELF file");
	elf_init(&file, EM_X86_64);
	file.header.e_ident[EI_DATA] = ELFDATA2MSB;
	refused("not a 64-bit little-endian ELF file");
	for (size_t i = 0; i < SELFMAG; i++) {
		elf_init(&file, EM_X86_64);
		file.header.e_ident[i] ^= 1;
		refused("not an ELF file");
	}
	elf_init(&file, EM_X86_64);
	file.header.e_phentsize++;
	refused("program headers: Bad message");
	elf_init(&file, EM_X86_64);
	file.header.e_phoff = file.len - sizeof(Elf64_Phdr) + 1;
	refused("program headers: Bad message");
	elf_init(&file, EM_X86_64);
	file.header.e_phoff = UINT64_MAX;
	refused("program headers: Bad message");
	elf_init(&file, EM_S390);
	refused("an ELF file for machine 22, which is not supported");
	/* Nothing to unwind with is no error. */
	elf_init(&file, EM_X86_64);
	table = make();
	assert_int_equal(cfi_table_nr_rows(table), 0);
	assert_int_equal(cfa_at(table, 0x110), 0);
	cfi_table_free(table);
}

/* Cut anywhere, and with any byte of the data changed. */
TEST(damage)
{
	struct cfi_table *table = x86(INSNS("\x42\xe\x10\x83\2\x42\xa\xf\2\x77"
					    "\x18\x42\xb"));
	uint8_t *whole, *copy;
	size_t at = file.section[1].sh_offset;
	struct cfi_regs regs;

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

/* The end of the letters of a CIE is looked for where it may be, not in all of
 * the entry: what is behind the seventeenth is no memory here. */
TEST(letters_are_near)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct cfi_section section = { .bytes = map,
					     .len = 2 * page,
					     .is_debug = true };
	const uint32_t cie_at = (uint32_t)(page - 17 - 9);
	const uint32_t cie_len = (uint32_t)(2 * page) - cie_at - 4;
	const uint32_t fde_len = cie_at - 4;
	struct cfi_frames frames;
	struct cfi_fde fde;
	size_t at;

	assert_true(map != MAP_FAILED);
	memcpy(map, &fde_len, 4);
	memcpy(map + 4, &cie_at, 4);
	memcpy(map + cie_at, &cie_len, 4);
	memset(map + cie_at + 4, 0xff, 4);
	map[cie_at + 8] = 1;
	memset(map + cie_at + 9, 'B', 17);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	cfi_frames_init(&frames, &section);
	assert_false(cfi_frames_next(&frames, &fde, &at));
	munmap(map, 2 * page);
}
