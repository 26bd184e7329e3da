// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code with the prologues and epilogues of HotSpot is unwound at each of its
 * instructions by the data that the agent writes for it.
 */

#include <string.h>

#include "libagent/jvmti_frames.h"
#include "libcfi/cfi.h"
#include "tests/unit/test.h"

#define CODE_AT 0x10000u
#define SP 0x7000u /* at the entry, where the return address is */
#define RETURN_TO 0x4711u
#define CALLER_RBP 0x8888u

/* A check of the class, and of the stack: mov %eax,-0x14000(%rsp). */
#define BEFORE 0x90, 0x90, 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff

/* The frame at an instruction: how far the stack pointer is below that of the
 * entry, and where rbp is: below the entry, too; -1: in the register. */
struct place {
	size_t at;
	uint64_t depth;
	int64_t saved;
};

static void must_unwind(const uint8_t *code, size_t size, struct place place)
{
	uint8_t frames[JAVA_FRAMES_BYTES];
	uint64_t words[64] = { 0 };
	const struct cfi_stack stack = {
		.start = SP + 8 - sizeof(words),
		.bytes = (const uint8_t *)words,
		.len = sizeof(words),
	};
	struct cfi_code told = {
		.arch = CFI_X86_64,
		.addr = CODE_AT,
		.len = size,
		.frames_addr = CODE_AT + ((size + 7) & ~(size_t)7),
		.frames = frames,
		.frames_len = java_frames(code, size, frames),
	};
	struct cfi_regs regs = { .known = UINT64_MAX };
	struct cfi_table *table;

	words[63] = RETURN_TO;
	regs.reg[CFI_X86_64_RSP] = SP - place.depth;
	regs.reg[CFI_X86_64_RBP] = place.saved < 0 ? CALLER_RBP : 1;
	if (place.saved >= 0)
		words[63 - place.saved / 8] = CALLER_RBP;
	assert_int_equal(cfi_table_of_code(&table, &told), 0);
	assert_int_equal(cfi_unwind(table, place.at, false, &regs, &stack),
			 CFI_CALLER);
	assert_int_equal(regs.reg[CFI_X86_64_RIP], RETURN_TO);
	assert_int_equal(regs.reg[CFI_X86_64_RSP], SP + 8);
	assert_int_equal(regs.reg[CFI_X86_64_RBP], CALLER_RBP);
	cfi_table_free(table);
}

/* push %rbp; sub $0x20,%rsp; call; add $0x20,%rsp; pop %rbp; a poll; ret; then
 * a stub that is in the frame. */
TEST(frame_of_the_first_compiler)
{
	static const uint8_t code[] = { BEFORE, 0x55, 0x48, 0x83, 0xec, 0x20,
					0xe8,	0,    0,    0,	  0,	0x48,
					0x83,	0xc4, 0x20, 0x5d, 0x49, 0x3b,
					0x67,	0x08, 0xc3, 0xe8, 0,	0,
					0,	0 };
	static const struct place places[] = {
		{ 0, 0, -1 },  { 9, 0, -1 },  { 10, 8, 8 },
		{ 14, 40, 8 }, { 19, 40, 8 }, { 23, 8, 8 },
		{ 24, 0, -1 }, { 28, 0, -1 }, { 29, 40, 8 },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		must_unwind(code, sizeof(code), places[i]);
}

/* sub $0x98,%rsp; mov %rbp,0x90(%rsp); add $0x90,%rsp; pop %rbp; ret */
TEST(frame_of_the_second_compiler)
{
	static const uint8_t code[] = { BEFORE, 0x48, 0x81, 0xec, 0x98, 0,    0,
					0,	0x48, 0x89, 0xac, 0x24, 0x90, 0,
					0,	0,    0x48, 0x81, 0xc4, 0x90, 0,
					0,	0,    0x5d, 0xc3 };
	static const struct place places[] = {
		{ 9, 0, -1 }, { 16, 0x98, -1 }, { 24, 0x98, 8 },
		{ 31, 8, 8 }, { 32, 0, -1 },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		must_unwind(code, sizeof(code), places[i]);
}

/* push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; ret */
TEST(frame_with_a_frame_pointer)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x8b, 0xec, 0x48,
					0x83, 0xec, 0x10, 0xc3 };

	must_unwind(code, sizeof(code), (struct place){ 1, 8, 8 });
	must_unwind(code, sizeof(code), (struct place){ 8, 24, 8 });
}

TEST(code_without_such_a_frame)
{
	static const uint8_t ret[] = { 0xc3 };
	/* sub $0x18,%rsp without rbp; with another offset; of -8; cut. */
	static const uint8_t no_save[] = { 0x48, 0x83, 0xec, 0x18, 0xc3 };
	static const uint8_t other[] = { 0x48, 0x83, 0xec, 0x18, 0x48, 0x89,
					 0x6c, 0x24, 0x08, 0xc3, 0xc3, 0xc3 };
	static const uint8_t negative[] = { 0x55, 0x48, 0x83, 0xec, 0xf8 };
	static const uint8_t cut[] = { 0x55, 0x48, 0x81, 0xec, 0x10, 0 };
	uint8_t late[200], frames[JAVA_FRAMES_BYTES];

	assert_int_equal(java_frames(ret, 0, frames), 0);
	assert_int_equal(java_frames(ret, sizeof(ret), frames), 0);
	assert_int_equal(java_frames(no_save, sizeof(no_save), frames), 0);
	assert_int_equal(java_frames(other, sizeof(other), frames), 0);
	assert_int_equal(java_frames(negative, sizeof(negative), frames), 0);
	assert_int_equal(java_frames(cut, sizeof(cut), frames), 0);
	memset(late, 0x90, sizeof(late));
	memcpy(late + 120, "\x55\x48\x83\xec\x10", 5);
	assert_int_equal(java_frames(late, sizeof(late), frames), 0);
	memcpy(late + 80, "\x55\x48\x83\xec\x10", 5);
	assert_true(java_frames(late, sizeof(late), frames) > 0);
}

/* As many epilogues as there is room for. */
TEST(very_many_epilogues)
{
	static const uint8_t epilogue[] = {
		0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3
	};
	static uint8_t code[6 * 1000 + 5];
	uint8_t frames[JAVA_FRAMES_BYTES];
	size_t len;

	memcpy(code, "\x55\x48\x83\xec\x10", 5);
	for (size_t i = 5; i < sizeof(code); i += sizeof(epilogue))
		memcpy(code + i, epilogue, sizeof(epilogue));
	len = java_frames(code, sizeof(code), frames);
	assert_in_range(len, JAVA_FRAMES_BYTES - 100, JAVA_FRAMES_BYTES);
	must_unwind(code, sizeof(code), (struct place){ 5, 24, 8 });
	must_unwind(code, sizeof(code), (struct place){ 9, 8, 8 });
}
