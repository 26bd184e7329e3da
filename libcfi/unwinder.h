/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_UNWINDER_H
#define LIBCFI_UNWINDER_H

/*
 * From user registers and a piece of the user stack to the frames of a call
 * chain. Each image's unwind data is read when a stack first leads into it and
 * kept as a table (libcfi/), by cookie; equal ones of one build-id are one.
 * All tables together are bounded, those not used for longest are dropped.
 *
 * Code that has no data (made at run time without telling any, or an
 * assembler's) is read as far as it returns. Where that is not possible, it is
 * walked by its frame pointer if what that leads to is plausible: in the stack,
 * above the frame, with a return address in code. What is found so is a guess:
 * OP_TRACE_GUESSED and not OP_TRACE_WHOLE.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcfi/cfi.h"
#include "libcfi/cfi_return.h"
#include "libop/image/op_build_id.h"
#include "module/uapi/oprofile.h"

/* Bytes of all tables, unless unwinder_set_limit() says otherwise. */
#define UNWINDER_BYTES (256u << 20)

/* A mapping of code. */
struct unwinder_map {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file, of start, bytes */
	uint64_t cookie; /* of the image; OP_NO_COOKIE: anonymous memory */
	const char *anon; /* its name, or NULL; only handed through, and
			   * "[vdso]" is known by it */
};

struct unwinder_frame {
	/*
	 * The return address: pc - 1 lies in the call. Of code that made no
	 * call it is the address plus 1, so that pc - 1 is right for every
	 * frame: what a signal interrupted, and what its handler returns to.
	 */
	uint64_t pc;
	struct unwinder_map map; /* holds pc - 1 */
};

/* A question to the instructions of code. */
enum unwinder_ask {
	UNWINDER_RETURN, /* how the function returns to its caller from here */
	UNWINDER_AFTER_CALL, /* whether there is a call just before this */
	UNWINDER_NEVER_RETURNS, /* whether no way leads from here to a return */
	UNWINDER_ROOT, /* whether this is in a thread's first function */
	UNWINDER_SWITCHES, /* whether the stack is another one from here on, or
			    * since just before */
	UNWINDER_KEEPS_SP, /* whether the code, of Go, runs on another stack and
			    * has its stack pointer in a register */
	UNWINDER_ENTERED, /* whether the call before "from" leads to here, with
			   * the frame that UNWINDER_RETURN tells of */
};

struct unwinder_code {
	enum unwinder_ask ask;
	enum cfi_arch arch;
	struct unwinder_map map; /* that the code is in */
	uint64_t addr; /* of the code */
	bool is_return_address; /* @addr */
	uint64_t from; /* of UNWINDER_ENTERED, in @map; else 0 */
};

/* From open_image: the image is the kernel's [vdso], as this process has it. */
#define UNWINDER_VDSO (-4096)

struct unwinder_ops {
	/* The mapping of code that holds @addr; false if none does. */
	bool (*find_map)(void *ctx, uint64_t addr, struct unwinder_map *map);
	/*
	 * O_RDONLY descriptor of the image's file, which the unwinder closes;
	 * UNWINDER_VDSO; else -errno, -ENOMEM if that may be otherwise later.
	 * Called once per cookie, the outcome is
	 * kept; again only when the table had to be dropped for room, or tells
	 * of functions alone where a stack is to be unwound.
	 */
	int (*open_image)(void *ctx, uint64_t cookie);
	/*
	 * The table of code without a file, made at run time, at @addr; it
	 * holds until the next call. *@start is the address of the table's
	 * offset 0. NULL if there is none. The member is NULL where that is
	 * never known.
	 */
	const struct cfi_table *(*find_code)(void *ctx, uint64_t addr,
					     uint64_t *start);
	/*
	 * Read the instructions at @code (cfi_return.h). Returns 0 for yes,
	 * with *@out the rule of UNWINDER_RETURN, or -errno. The member is NULL
	 * where code cannot be read.
	 */
	int (*ask_code)(void *ctx, const struct unwinder_code *code,
			union cfi_return *out);
	/*
	 * Read the build-id of the image's file @fd, and make its table, which
	 * the unwinder frees. Both return 0 or -errno. The members are NULL
	 * where the unwinder is to do that itself.
	 */
	int (*read_id)(void *ctx, int fd, struct op_build_id *id);
	int (*read_table)(void *ctx, int fd, enum cfi_extent extent,
			  struct cfi_table **out);
};

struct unwinder;

/* *@ops must live as long as the unwinder. Returns 0 or -ENOMEM. */
int unwinder_new(struct unwinder **out, const struct unwinder_ops *ops,
		 void *ctx);
void unwinder_free(struct unwinder *unwinder);

/* Forget all images: cookies start anew. */
void unwinder_forget(struct unwinder *unwinder);

/*
 * The callers of the code at the pc in @regs: frame 0 is its caller. Returns
 * the number of frames, at most @max; *@ending says why there is no more.
 * Every frame is in a mapping: a return address that is in none ends the
 * trace as OP_TRACE_BAD_STACK. Takes no longer than @max allows.
 */
size_t unwinder_unwind(struct unwinder *unwinder, enum op_stack_arch arch,
		       const struct cfi_regs *regs,
		       const struct cfi_stack *stack,
		       struct unwinder_frame *frames, size_t max,
		       enum op_trace_ending *ending);

/*
 * The function at @offset of an image, as its table has it (cfi_function());
 * for this the table is made if it is not there. False if it is not known.
 */
bool unwinder_function(struct unwinder *unwinder, uint64_t cookie,
		       uint64_t offset, uint64_t *start);

void unwinder_set_limit(struct unwinder *unwinder, size_t bytes);

struct unwinder_stats {
	uint64_t nr_tables; /* now */
	uint64_t bytes; /* that they take now */
	uint64_t nr_made; /* ever */
	uint64_t nr_dropped; /* for room */
	uint64_t nr_failed; /* images that gave none */
};

void unwinder_stats(const struct unwinder *unwinder,
		    struct unwinder_stats *stats);

#endif /* LIBCFI_UNWINDER_H */
