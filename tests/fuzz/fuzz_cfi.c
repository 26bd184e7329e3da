// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as call frame information, registers and a stack: a table is made
 * or refused with one line, every step ends, and a walk goes up.
 *
 * The first byte says what the input is: 'e' a whole ELF file; else an
 * .eh_frame, if it is odd a .debug_frame, of x86-64 or, if the bit above is
 * set, of AArch64. Its last quarter is the registers and the stack, too, so
 * that they may fit each other.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/unwinder.h"
#include "tests/unit/libcfi/cfi_elf.h"

#define STACK 0x7f0000000000u
#define MAX_STEPS 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct elf_file file;

static void check(bool claim)
{
	if (!claim)
		abort();
}

/* Registers that are in the stack, or what the input says. */
static void make_regs(struct cfi_regs *regs, const uint8_t *data, size_t size)
{
	*regs = (struct cfi_regs){ .known = 0x1ffffffff };
	for (size_t i = 0; i < CFI_MAX_REGS; i++) {
		uint8_t byte = size ? data[i % size] : 0;

		regs->reg[i] = byte & 1 ? STACK + (byte & 0xf8)
					: (uint64_t)byte << byte % 57;
	}
	regs->reg[CFI_X86_64_RSP] = STACK;
	regs->reg[CFI_AARCH64_SP] = STACK;
}

/* Each place in the code, and up from it. */
static void walk(const struct cfi_table *table, const uint8_t *data,
		 size_t size)
{
	const struct cfi_stack stack = { STACK, data, size };
	const bool is_x86 = cfi_table_arch(table) == CFI_X86_64;
	const unsigned int sp = is_x86 ? CFI_X86_64_RSP : CFI_AARCH64_SP;
	const unsigned int pc = is_x86 ? CFI_X86_64_RIP : CFI_AARCH64_PC;

	for (uint64_t at = CODE_OFFSET; at < CODE_OFFSET + 512; at += 3) {
		uint64_t offset = at;
		bool is_return_address = at % 2;
		struct cfi_regs regs;
		enum cfi_step step;

		make_regs(&regs, data, size);
		for (unsigned int i = 0; i < 8; i++) {
			const struct cfi_regs before = regs;

			step = cfi_unwind(table, offset, is_return_address,
					  &regs, &stack);
			if (step > CFI_INTERRUPTED) {
				check(!memcmp(&before, &regs, sizeof(regs)));
				break;
			}
			check(regs.known >> sp & regs.known >> pc & 1);
			check(step == CFI_INTERRUPTED || !is_return_address ||
			      regs.reg[sp] > before.reg[sp]);
			is_return_address = step == CFI_CALLER;
			offset = regs.reg[pc] % CODE_LEN + CODE_OFFSET;
		}
	}
}

static bool find_map(void *ctx, uint64_t addr, struct unwinder_map *map)
{
	(void)ctx;
	(void)addr;
	/* Everywhere is code that has no data. */
	*map = (struct unwinder_map){ .end = UINT64_MAX };
	return true;
}

static int open_image(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
	return -1;
}

/* By frame pointers alone: it ends, and goes up. */
static void walk_frame_pointers(const uint8_t *data, size_t size)
{
	static const struct unwinder_ops ops = {
		.find_map = find_map,
		.open_image = open_image,
	};
	const struct cfi_stack stack = { STACK, data, size };
	static struct unwinder_frame frames[MAX_STEPS];
	struct unwinder *unwinder;
	enum op_trace_ending ending;
	struct cfi_regs regs;
	size_t nr;

	make_regs(&regs, data, size);
	check(!unwinder_new(&unwinder, &ops, NULL));
	for (int arch = OP_STACK_X86_64; arch <= OP_STACK_AARCH64; arch++) {
		nr = unwinder_unwind(unwinder, arch, &regs, &stack, frames,
				     MAX_STEPS, &ending);
		check(nr <= size / 16 + 2);
		check(ending != OP_TRACE_DEPTH);
	}
	unwinder_free(unwinder);
}

static int make_table(struct cfi_table **table, const uint8_t *data,
		      size_t size, struct op_diag *diag)
{
	bool is_debug = data[0] & 1;

	if (data[0] == 'e')
		return cfi_table_new(table, data + 1, size - 1, diag);
	if (size > 32768)
		size = 32768;
	elf_init(&file, data[0] & 2 ? EM_AARCH64 : EM_X86_64);
	elf_section(&file, is_debug ? ".debug_frame" : ".eh_frame", EH_ADDR,
		    data + 1, size - 1);
	elf_finish(&file);
	return cfi_table_new(table, file.byte, file.len, diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;
	size_t quarter = size / 4;
	int err;

	if (!size)
		return 0;
	err = make_table(&table, data, size, &diag);
	check(!err == !*diag.text);
	if (!err) {
		check(cfi_table_nr_rows(table) <= 2 * size + 2);
		walk(table, data + size - quarter, quarter);
		cfi_table_free(table);
	}
	walk_frame_pointers(data + size - quarter, quarter);
	return 0;
}
