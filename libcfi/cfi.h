/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_H
#define LIBCFI_CFI_H

/*
 * Call frame information: from the registers of a frame and a piece of its
 * stack to the registers of its caller, for code without frame pointers.
 *
 * A table is made once of an image's .eh_frame and .debug_frame: rows sorted
 * by the offset of code in the file, each with the number of a rule that many
 * rows share. It owns its memory and keeps no file open; nothing changes it,
 * so threads may share one. What an image or a stack holds may be hostile:
 * it is checked, costs bounded time, and gives a wrong stack at worst.
 *
 * 64-bit little-endian ELF of x86-64 and AArch64. Facts: DWARF 5 section 6.4;
 * LSB Core, chapter 10.6 (.eh_frame); the psABIs of the two machines.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/* Numbers as in enum op_stack_arch. */
enum cfi_arch { CFI_X86_64 = 1, CFI_AARCH64 = 2 };

#define CFI_MAX_REGS 33

/* Registers that matter everywhere, by their DWARF numbers. */
enum cfi_reg {
	CFI_X86_64_RBP = 6,
	CFI_X86_64_RSP = 7,
	CFI_X86_64_RIP = 16,
	CFI_AARCH64_FP = 29,
	CFI_AARCH64_LR = 30,
	CFI_AARCH64_SP = 31,
	CFI_AARCH64_PC = 32,
};

/*
 * By DWARF numbers; on AArch64 the pc takes 32. Bit n of @known tells that
 * reg[n] is the frame's; others are not looked at.
 */
struct cfi_regs {
	uint64_t reg[CFI_MAX_REGS];
	uint64_t known;
};

/* A piece of a stack: from the innermost frame's stack pointer up. */
struct cfi_stack {
	uint64_t start; /* address of bytes[0] */
	const uint8_t *bytes;
	size_t len;
};

struct cfi_table;

/* A table's content: the first addresses of functions for cfi_function(), or
 * all rules. The former takes a part of the time and memory. */
enum cfi_extent { CFI_FUNCTIONS, CFI_ALL };

/*
 * Make a table of the @len bytes of a whole ELF file. An image without unwind
 * data gives an empty table. Returns 0 and sets *@out; -EBADMSG if that is no
 * ELF file of a machine we know, -ENOMEM.
 */
int cfi_table_new(struct cfi_table **out, const void *elf, size_t len,
		  struct op_diag *diag);

/*
 * Likewise of an open file, of which only what is needed is read. It is not
 * mapped: a file that is cut meanwhile is an error, not a signal. @fd stays
 * the caller's. With CFI_FUNCTIONS nothing can be unwound with the table.
 * Returns -errno if the file cannot be read, too.
 */
int cfi_table_read(struct cfi_table **out, int fd, enum cfi_extent extent,
		   struct op_diag *diag);

/* A piece of code that is in no file, and what unwinds it. */
struct cfi_code {
	enum cfi_arch arch;
	uint64_t addr; /* of the code, as its frames have it */
	uint64_t len; /* bytes of code */
	uint64_t frames_addr; /* of frames[0] */
	const uint8_t *frames; /* an .eh_frame */
	size_t frames_len;
};

/*
 * Make a table of @code, which takes offsets from the start of the code in
 * place of those in a file. Frames without sense give an empty table. Returns 0
 * and sets *@out, or -ENOMEM.
 */
int cfi_table_of_code(struct cfi_table **out, const struct cfi_code *code);

void cfi_table_free(struct cfi_table *table);

/*
 * A table in one piece of so many bytes, for another process; and back, where
 * nothing in the @len bytes at @from is believed: -EBADMSG for what is no
 * table, -ENOMEM, else 0 with *@out set.
 */
size_t cfi_table_flat_len(const struct cfi_table *table);
void cfi_table_flatten(const struct cfi_table *table, void *to);
int cfi_table_unflatten(struct cfi_table **out, const void *from, size_t len);

/* Whether both tell the same of all code, with the same rows. */
bool cfi_table_equal(const struct cfi_table *a, const struct cfi_table *b);

enum cfi_arch cfi_table_arch(const struct cfi_table *table);

/* All memory that @table owns, bytes; its rows; the rules that they share. */
size_t cfi_table_bytes(const struct cfi_table *table);
size_t cfi_table_nr_rows(const struct cfi_table *table);
size_t cfi_table_nr_rules(const struct cfi_table *table);

/*
 * *@start = the offset of the function that holds the code at @offset of the
 * file: where the description begins that tells of it. False if none does, or
 * one that is not of a single function, or not known to start where that does:
 * procedure linkage tables, the entry of ld.so, what signal handlers return to.
 */
bool cfi_function(const struct cfi_table *table, uint64_t offset,
		  uint64_t *start);

/*
 * List where the functions begin that the @len bytes of .eh_frame at @frames
 * describe, for an image that need not be whole. @addr is the address of
 * frames[0]. *@starts gets *@nr addresses in the order of the section, which
 * the caller frees and looks up before use: linkers leave descriptions of code
 * that they dropped. Damaged descriptions are left out. Returns 0 or -ENOMEM.
 */
int cfi_function_starts(uint64_t **starts, size_t *nr, const uint8_t *frames,
			size_t len, uint64_t addr);

enum cfi_step {
	CFI_CALLER, /* the registers are the caller's; its pc returned to */
	CFI_INTERRUPTED, /* likewise, but by a signal: its pc was under way */
	CFI_OUTERMOST, /* this frame has no caller */
	CFI_NO_DATA, /* nothing is known about this code */
	CFI_SHORT_STACK, /* what tells is not in the piece of the stack */
	CFI_OTHER_STACK, /* ... but on one of which there is no piece */
	CFI_BAD_STACK, /* what tells cannot be */
};

/*
 * Go one frame up. @offset is that of the frame's pc in the FILE;
 * @is_return_address says that this pc is one, which belongs to the
 * instruction before it. @regs changes with CFI_CALLER and CFI_INTERRUPTED
 * only. The caller's stack pointer is above this frame's then, except for
 * CFI_INTERRUPTED and, where @is_return_address is false, on AArch64.
 */
enum cfi_step cfi_unwind(const struct cfi_table *table, uint64_t offset,
			 bool is_return_address, struct cfi_regs *regs,
			 const struct cfi_stack *stack);

#endif /* LIBCFI_CFI_H */
