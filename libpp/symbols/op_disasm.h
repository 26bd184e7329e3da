/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_OP_DISASM_H
#define LIBPP_SYMBOLS_OP_DISASM_H

/*
 * Machine code as text, by libopcodes, as objdump would write it. Addresses
 * are those that op_bfd.h calls a vma.
 */

#include "libpp/symbols/op_bfd.h"

struct op_disasm;

struct op_disasm_options {
	const char *machine; /* as objdump -M; NULL for none */
	bool demangle; /* names of symbols */
	bool brief; /* with demangle: without parameters and arguments */
};

/*
 * A disassembler for @bfd, which must outlive it, and @options. Returns 0;
 * -ENOTSUP when libopcodes does not know the machine; -ENOMEM.
 */
int op_disasm_new(struct op_disasm **out, struct op_bfd *bfd,
		  const struct op_disasm_options *options);
void op_disasm_free(struct op_disasm *disasm);

/* The format as objdump calls it, such as "elf64-x86-64". */
const char *op_disasm_format(const struct op_disasm *disasm);

/*
 * The name that instructions which call the address @vma are shown with, of all
 * the names that it may have; NULL if no symbol is there. The string lives as
 * long as @disasm.
 */
const char *op_disasm_name(struct op_disasm *disasm, uint64_t vma);

/* A stretch of code in one section. */
struct op_disasm_code {
	uint64_t start; /* address of the first byte */
	uint64_t len;
	uint64_t shown; /* what is written for @start: in a file that is not
			   linked, counted from the section's start */
	uint64_t section_end; /* likewise, of the first behind the section */
	const char *section; /* its name */
};

/*
 * Load the code from @start on, @len bytes or as many as the section has.
 * Returns 0; -ENOENT when there is no code at @start; -ENOMEM.
 */
int op_disasm_load(struct op_disasm *disasm, uint64_t start, uint64_t len,
		   struct op_disasm_code *code);

/*
 * *@text = the instruction at @vma, inside of what was loaded; it lives until
 * the next call. Returns its length in bytes, at least 1.
 */
uint64_t op_disasm_insn(struct op_disasm *disasm, uint64_t vma,
			const char **text);

/* How many bytes of code a line has, where they are written. What libopcodes
 * knows of that it tells with the first instruction. */
uint64_t op_disasm_row(const struct op_disasm *disasm);

/*
 * The @len bytes from @vma on, inside of what was loaded, as text with room
 * for @room of them. It lives until the next call.
 */
const char *op_disasm_bytes(struct op_disasm *disasm, uint64_t vma,
			    uint64_t len, uint64_t room);

#endif /* LIBPP_SYMBOLS_OP_DISASM_H */
