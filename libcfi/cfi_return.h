/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_RETURN_H
#define LIBCFI_CFI_RETURN_H

/*
 * A frame's caller, found by reading the frame's code: for code that has no
 * unwind data. Each way from a program counter to a return instruction brings
 * the stack pointer to the return address, and gives the caller its registers
 * back. So the code that is yet to run says where these are.
 *
 * The rule depends on the code, and on whether the program counter is a return
 * address: callers may keep it by these two. The rule may be wrong where a call
 * never returns, so callers check that the return address that it leads to
 * follows a call (cfi_is_after_call()). Where code ends,
 * as the reader has it, is where a search ends: a reader that knows where the
 * function ends makes the answer better.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcfi/cfi.h"
#include "libcfi/cfi_rules.h"

/*
 * Code, wherever it is kept. read() copies bytes from @addr on to @buf, at
 * most @len, and returns how many it has; 0 if there is no code at @addr.
 */
struct cfi_code_reader {
	size_t (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	void *ctx;
	/*
	 * The code may overwrite any register without giving it back, and have
	 * any stack pointer at a call: that of runtimes which compile while
	 * they run. That of Go is recognized.
	 */
	bool has_own_abi;
};

/* The return address, and the registers that functions give back. */
#define CFI_MAX_RETURN_PLACES 13

/* A rule with its places, which follow it without a gap. */
union cfi_return {
	struct cfi_rule rule;
	uint8_t room[sizeof(struct cfi_rule) +
		     CFI_MAX_RETURN_PLACES * sizeof(struct cfi_place)];
};

/*
 * Find out how the code at @pc returns. @is_return_address says that the call
 * before @pc has returned. Returns false if no return is found within 2,000
 * instructions, or none that can be believed. A rule with the flag
 * CFI_RULE_UNCONFIRMED calls functions with a stack pointer that the ABI does
 * not allow: that of a function whose compiler knew all its callers, or of
 * another function. Needs 72 KiB of stack; threads may search at once.
 */
bool cfi_find_return(enum cfi_arch arch, const struct cfi_code_reader *reader,
		     uint64_t pc, bool is_return_address,
		     union cfi_return *out);

/*
 * Go one frame up by such a rule, like cfi_unwind(). Never returns
 * CFI_INTERRUPTED. CFI_NO_DATA: a register that is needed is not known.
 */
enum cfi_step cfi_follow_return(enum cfi_arch arch,
				const union cfi_return *found,
				bool is_return_address, struct cfi_regs *regs,
				const struct cfi_stack *stack);

/*
 * Whether the call before @from calls a function that comes to @pc with the
 * frame that cfi_find_return() tells of it: with the caller's stack pointer and
 * registers where that rule has them. False if the call does not name its
 * function. Needs 72 KiB of stack.
 */
bool cfi_is_entered_from(enum cfi_arch arch,
			 const struct cfi_code_reader *reader, uint64_t from,
			 uint64_t pc, bool is_return_address);

/* Whether the code before @return_address can be a call. */
bool cfi_is_after_call(enum cfi_arch arch, const struct cfi_code_reader *reader,
		       uint64_t return_address);

/*
 * Whether no way leads from @return_address to a return: each ends at an
 * instruction that stops, runs in a circle, or comes to the end of a function
 * behind a call. False if that is not known.
 */
bool cfi_never_returns(enum cfi_arch arch, const struct cfi_code_reader *reader,
		       uint64_t return_address);

/*
 * Whether @return_address is in the first function of a thread or a context:
 * the code there ends the thread, or is exit(f(...)) with a pointer f and no
 * more, as where main() is called, or it is where functions return to that Go
 * or makecontext(3) began.
 */
bool cfi_is_root(enum cfi_arch arch, const struct cfi_code_reader *reader,
		 uint64_t return_address);

/*
 * Whether the stack pointer at @pc is that of another stack than the caller's,
 * as in runtimes which run C, or their scheduler, on stacks of their own.
 * Behind a return address, the code goes on with a stack pointer from memory,
 * up to the next call; elsewhere it returns with one, before any call: within
 * 32 instructions. Or the code before @pc, or before the call that returns
 * there, has loaded the stack pointer from memory, within 48 bytes.
 */
bool cfi_switches_stack(enum cfi_arch arch,
			const struct cfi_code_reader *reader, uint64_t pc,
			bool is_return_address);

/*
 * Whether the code at @pc, which is Go's, runs on another stack, and keeps the
 * stack pointer of its frame in a register, as Go does while it calls the
 * [vdso]: then the code goes on with that stack pointer. Looks up to 64
 * instructions ahead, behind calls, too.
 */
bool cfi_keeps_sp_in_go(enum cfi_arch arch,
			const struct cfi_code_reader *reader, uint64_t pc);

#endif /* LIBCFI_CFI_RETURN_H */
