/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CODE_PATH_H
#define LIBCFI_CODE_PATH_H

/*
 * A path through code, from a program counter to an instruction: what the path
 * has made of the registers, in terms of their values at its start.
 *
 * The stack pointer is a register like the others. Memory is what the stack
 * held at the start, and the registers that the path itself has saved there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_MAX_REGS 32
#define CODE_NO_REG CODE_MAX_REGS
#define CODE_MAX_SAVED 12
#define CODE_MAX_STORES 14

enum code_value_how {
	CODE_LOST, /* not known */
	CODE_IN_REG, /* reg + offset */
	CODE_IN_MEMORY, /* the word at reg + offset */
};

/* Frames are smaller; a sum of two such numbers fits, too. */
#define CODE_MAX_OFFSET (1 << 23)

/* A value; reg is the register of that number at the start of the path. */
struct code_value {
	int offset : 25; /* bytes */
	unsigned int how : 2; /* enum code_value_how */
	unsigned int reg : 5;
};

/* A word of the stack that the path has overwritten. */
struct code_store {
	struct code_value place; /* its address; CODE_LOST: there is none */
	struct code_value value;
};

struct code_path {
	uint64_t pc; /* of the next instruction */
	const struct code_machine *machine;
	struct code_value reg[CODE_MAX_REGS];
	struct code_store store[CODE_MAX_STORES];
	uint8_t next_store; /* the one that is to be overwritten next */
	/* The stack pointer at the last call that returned; CODE_LOST: none. */
	struct code_value sp_at_call;
	bool is_popped; /* the last move of the stack pointer was upward */
	/* At two calls it was not a multiple of 16 both times. */
	bool is_misaligned;
	bool is_signed; /* the path has signed the link register */
	/* The path has checked a signature that is older than the path. */
	bool is_authenticated;
};

/* The way on from an instruction. */
enum code_flow {
	CODE_NEXT, /* the next one */
	CODE_BRANCH, /* the next one, or the target */
	CODE_JUMP, /* the target */
	CODE_CALL, /* the next one, if the function that is called returns */
	CODE_RETURN, /* the caller */
	CODE_LEAVE, /* an address in a register: a tail call, or a switch */
	CODE_END, /* something that is not known */
	CODE_STOP, /* nothing: this instruction is the last */
};

struct code_step {
	uint64_t target;
	uint32_t len; /* bytes of the instruction */
	/* Bytes above the return address that a return pops, too. */
	uint32_t popped;
	uint8_t link; /* of a return: the register that leads to the caller */
	bool is_jump; /* of a return: to a function that returns in its place */
	/* It moves the stack pointer by a number that is not known. */
	bool adjusts_sp;
};

#define CODE_ROOT_BEFORE 3 /* bytes before an address that is_root() gets */

/* A machine. Registers have the numbers that instructions have for them. */
/* The code behind a call. */
enum code_behind {
	CODE_GOES_ON, /* the function goes on, as far as is known */
	CODE_PADDED, /* filling up to an alignment: of a loop, or of another
		      * function, before which there is a call that does not
		      * return */
	CODE_BEGINS, /* another function, or nothing */
};

struct code_machine {
	uint8_t nr_regs;
	uint8_t sp;
	/* The register that a call puts the return address in; CODE_NO_REG: it
	 * is pushed. */
	uint8_t link;
	/* Registers that a function gives back as it got them, and on AArch64
	 * the link register. */
	uint8_t nr_saved;
	uint8_t saved[CODE_MAX_SAVED];
	uint8_t max_call; /* bytes */
	uint8_t pushed; /* bytes of the return address that a call pushes */
	uint8_t ra; /* DWARF number of what holds the return address */
	uint8_t dwarf[CODE_MAX_REGS]; /* DWARF numbers of registers */
	/* Go keeps the stack pointer in it while it calls the [vdso] on another
	 * stack (runtime/sys_linux_*.s). */
	uint8_t go_kept_sp;
	/*
	 * Run the instruction at @bytes, of which @len bytes are there, on
	 * @path, whose pc does not move.
	 */
	enum code_flow (*step)(struct code_path *path, const uint8_t *bytes,
			       size_t len, struct code_step *step);
	/* The relation of the code at @addr to a call before it. */
	enum code_behind (*behind_call)(uint64_t addr, const uint8_t *bytes,
					size_t len);
	/* Whether the @len bytes before @end can end in a call. */
	bool (*ends_in_call)(const uint8_t *end, size_t len);
	/* Which function that call before the address @end_at calls, if it says
	 * so itself. NULL: that is never known. */
	bool (*find_callee)(uint64_t end_at, const uint8_t *end, size_t len,
			    uint64_t *callee);
	/* Whether they are how the first entry of a procedure linkage table
	 * begins, up to its jump. */
	bool (*ends_in_linkage)(const uint8_t *end, size_t len);
	/* Whether a function of Go begins among the bytes. */
	bool (*has_go)(const uint8_t *bytes, size_t len);
	/* Whether the bytes begin with Go's check for room on the stack. */
	bool (*checks_stack)(const uint8_t *bytes, size_t len);
	/* Whether the return address @addr is in a thread's first function.
	 * @before are CODE_ROOT_BEFORE bytes before it and @len from it on.
	 * NULL where that is never known. */
	bool (*is_root)(uint64_t addr, const uint8_t *before, size_t len);
};

extern const struct code_machine x86_machine;
extern const struct code_machine aarch64_machine;

void code_path_init(struct code_path *path, const struct code_machine *machine,
		    uint64_t pc);

/* Register @reg holds another value: a sum, a word of memory, or any. */
void code_path_set_sum(struct code_path *path, unsigned int reg,
		       unsigned int from, int64_t offset);
void code_path_load(struct code_path *path, unsigned int reg, unsigned int base,
		    int64_t offset);
void code_path_lose(struct code_path *path, unsigned int reg);

/* The word at register @base + @offset is overwritten with register @reg, or
 * with something else if that is CODE_NO_REG. */
void code_path_store(struct code_path *path, unsigned int reg,
		     unsigned int base, int64_t offset);

/* A function was called and has returned. */
void code_path_call(struct code_path *path);

/*
 * The path is at its end. A prologue pushes registers by the stack pointer, and
 * an epilogue may take them back by the frame pointer: where both fit each
 * other, these registers have their values at the start of the path.
 */
void code_path_settle(struct code_path *path);

/* Whether @a and @b, addresses in the stack, can both be multiples of 16. */
static inline bool code_value_aligned(struct code_value a, struct code_value b)
{
	return a.how != CODE_IN_REG || b.how != CODE_IN_REG || a.reg != b.reg ||
	       (a.offset - b.offset) % 16 == 0;
}

static inline bool code_value_equal(struct code_value a, struct code_value b)
{
	return a.how == b.how && a.reg == b.reg && a.offset == b.offset;
}

#endif /* LIBCFI_CODE_PATH_H */
