// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks a user stack from frame to frame, through all images that it leads to.
 *
 * Each step is tried by the unwind data of the frame's image (cfi_unwind.c).
 * Where there is none, its instructions are followed to their return
 * (cfi_return.c). Where these tell nothing either, the frame record is tried
 * that the frame pointer leads to, and for the innermost frame a function that
 * saved nothing. Such a step is a guess: it is taken only if the return address
 * that it finds is in code. That a chain of records has ended is believed only
 * after a step along this chain. A stack with a guess is not whole, wherever it
 * ends.
 *
 * A return address belongs to the call before it, which may be the last
 * instruction of its function, with another function behind it. So a return
 * address is looked up less 1. The address that a signal interrupted is no
 * return address, and is looked up as it is.
 *
 * Where there is no memory for the table of an image, nothing is guessed: the
 * walk ends there, for this reason.
 *
 * A walk ends at the outermost frame, where no step is possible, or after as
 * many frames as were asked for; "ending" tells which. Only the first gives a
 * whole stack, if no step was a guess.
 */

#include <errno.h>
#include <stdlib.h>

#include "libcfi/cfi_table.h"
#include "libcfi/unwinder.h"
#include "libcfi/unwinder_tables.h"

_Static_assert((int)CFI_X86_64 == OP_STACK_X86_64 &&
		       (int)CFI_AARCH64 == OP_STACK_AARCH64,
	       "one numbering of machines");
_Static_assert(CFI_MAX_REGS == OP_STACK_MAX_REGS, "room for all registers");

struct unwinder {
	struct unwinder_tables tables;
};

/* Which registers a frame pointer's walk knows, and where Go has the stack
 * pointer while it calls the [vdso] on another stack. */
struct fp_abi {
	unsigned int fp;
	unsigned int sp;
	unsigned int pc;
	unsigned int go_kept_sp;
};

static const struct fp_abi fp_abis[] = {
	[CFI_X86_64] = { CFI_X86_64_RBP, CFI_X86_64_RSP, CFI_X86_64_RIP, 12 },
	[CFI_AARCH64] = { CFI_AARCH64_FP, CFI_AARCH64_SP, CFI_AARCH64_PC, 20 },
};

struct walk {
	struct unwinder *unwinder;
	const struct fp_abi *abi;
	enum cfi_arch arch;
	const struct cfi_stack *stack;
	struct cfi_regs regs;
	bool is_return_address; /* the pc in regs */
	bool came_by_fp; /* to the frame of regs */
	bool has_guessed; /* a step on the way to it */
	bool has_jumped; /* over frames that are on another stack */
	bool lacks_memory; /* for the table of the code at pc */
	bool is_in_go; /* the code that the last step has left */
	struct unwinder_map map; /* that holds its code; end 0: none does */
};

static bool walk_knows_register(const struct cfi_regs *regs, unsigned int reg)
{
	return regs->known >> reg & 1;
}

static bool find_walk_map(const struct walk *w, uint64_t addr,
			  struct unwinder_map *map)
{
	const struct unwinder_tables *t = &w->unwinder->tables;

	*map = (struct unwinder_map){ .start = 0 };
	return t->ops->find_map(t->ctx, addr, map);
}

/* ---- code without data ------------------------------------------------------
 */

static bool load(const struct walk *w, uint64_t addr, uint64_t *value)
{
	uint64_t at = addr - w->stack->start;

	if (addr < w->stack->start || addr % 8 || at > w->stack->len ||
	    w->stack->len - at < sizeof(*value))
		return false;
	__builtin_memcpy(value, w->stack->bytes + at, sizeof(*value));
	return true;
}

/* Signed by AArch64's pointer authentication, it has more bits than these. */
static uint64_t strip_pointer_signature(const struct walk *w, uint64_t addr)
{
	return w->arch == CFI_AARCH64 ? addr & (((uint64_t)1 << 48) - 1) : addr;
}

static bool follows_code(const struct walk *w, uint64_t return_address)
{
	struct unwinder_map map;

	return return_address && find_walk_map(w, return_address - 1, &map);
}

static void set_caller(struct walk *w, uint64_t pc, uint64_t sp)
{
	w->regs.reg[w->abi->pc] = pc;
	w->regs.reg[w->abi->sp] = sp;
}

/*
 * By the frame record that both machines have: the caller's frame pointer,
 * then the return address. What else the caller had in registers is unknown:
 * on AArch64 that is its stack pointer, too, as a record is at the bottom of a
 * frame and not at its top. What is left in its place is a lower bound.
 */
static enum cfi_step step_by_fp(struct walk *w)
{
	uint64_t fp = w->regs.reg[w->abi->fp], sp = w->regs.reg[w->abi->sp];
	uint64_t up, pc;

	if (!walk_knows_register(&w->regs, w->abi->fp))
		return CFI_NO_DATA;
	/* Records are a chain: where it led to 0 or beyond the piece of the
	 * stack, that can be believed. */
	if (w->came_by_fp && !fp)
		return CFI_OUTERMOST;
	if (w->came_by_fp && fp % 8 == 0 && fp >= sp &&
	    fp + 16 > w->stack->start + w->stack->len)
		return CFI_SHORT_STACK;
	if (fp < sp || !load(w, fp, &up) || !load(w, fp + 8, &pc))
		return CFI_NO_DATA;
	pc = strip_pointer_signature(w, pc);
	if (w->came_by_fp && !pc)
		return CFI_OUTERMOST;
	if (!follows_code(w, pc))
		return CFI_NO_DATA;
	set_caller(w, pc, fp + 16);
	w->regs.reg[w->abi->fp] = up;
	w->regs.known = (uint64_t)1 << w->abi->pc | (uint64_t)1 << w->abi->fp;
	if (w->arch == CFI_X86_64)
		w->regs.known |= (uint64_t)1 << w->abi->sp;
	return CFI_CALLER;
}

/* An assembler's function that calls none and saves nothing. */
static enum cfi_step step_from_leaf(struct walk *w)
{
	uint64_t sp = w->regs.reg[w->abi->sp], pc = 0;

	if (w->is_return_address)
		return CFI_NO_DATA;
	if (w->arch == CFI_AARCH64) {
		if (!walk_knows_register(&w->regs, CFI_AARCH64_LR))
			return CFI_NO_DATA;
		pc = strip_pointer_signature(w, w->regs.reg[CFI_AARCH64_LR]);
	} else if (load(w, sp, &pc)) {
		sp += 8;
	}
	if (!follows_code(w, pc))
		return CFI_NO_DATA;
	set_caller(w, pc, sp);
	w->regs.known &= ~((uint64_t)1 << CFI_AARCH64_LR);
	return CFI_CALLER;
}

/* Ask the code at @addr, a return address or not; false if it has no answer. */
static bool ask_walk_code(const struct walk *w, enum unwinder_ask ask,
			  uint64_t addr, bool is_return_address,
			  union cfi_return *found)
{
	const struct unwinder_tables *t = &w->unwinder->tables;
	struct unwinder_code code = {
		.ask = ask,
		.arch = w->arch,
		.addr = addr,
		.is_return_address = is_return_address,
	};

	return t->ops->ask_code &&
	       find_walk_map(w, addr - is_return_address, &code.map) &&
	       !t->ops->ask_code(t->ctx, &code, found);
}

static bool code_says(const struct walk *w, enum unwinder_ask ask,
		      uint64_t return_address)
{
	union cfi_return unused;

	return return_address &&
	       ask_walk_code(w, ask, return_address, true, &unused);
}

/*
 * Whether the frame of @w has the caller whose registers are @up, of which the
 * frame's own code makes doubtful that it is the right one.
 */
static bool is_entered_from(const struct walk *w, const struct cfi_regs *up)
{
	const struct unwinder_tables *t = &w->unwinder->tables;
	uint64_t pc = w->regs.reg[w->abi->pc], from = up->reg[w->abi->pc];
	union cfi_return unused;
	struct unwinder_code code = {
		.ask = UNWINDER_ENTERED,
		.arch = w->arch,
		.addr = pc,
		.is_return_address = w->is_return_address,
		.from = from,
	};

	return find_walk_map(w, pc - w->is_return_address, &code.map) &&
	       from > code.map.start && from < code.map.end &&
	       !t->ops->ask_code(t->ctx, &code, &unused);
}

/*
 * By the instructions between the pc and the return. They may have been
 * followed behind a call that does not return: what is found so counts if a
 * call led here, or nobody did as it is where a context begins.
 */
static enum cfi_step step_by_code(struct walk *w)
{
	struct cfi_regs regs = w->regs;
	union cfi_return found;
	enum cfi_step step;

	if (!ask_walk_code(w, UNWINDER_RETURN, regs.reg[w->abi->pc],
			   w->is_return_address, &found))
		return CFI_NO_DATA;
	step = cfi_follow_return(w->arch, &found, w->is_return_address, &regs,
				 w->stack);
	if (found.rule.flags & CFI_RULE_UNCONFIRMED) {
		if (step != CFI_CALLER || !is_entered_from(w, &regs))
			return CFI_NO_DATA;
		w->regs = regs;
		return CFI_CALLER;
	}
	if (step == CFI_SHORT_STACK || step == CFI_OTHER_STACK)
		return step;
	if (step != CFI_CALLER ||
	    (!code_says(w, UNWINDER_AFTER_CALL, regs.reg[w->abi->pc]) &&
	     !code_says(w, UNWINDER_ROOT, regs.reg[w->abi->pc])))
		return CFI_NO_DATA;
	w->regs = regs;
	return CFI_CALLER;
}

/*
 * A thread's first function returns to nobody, and has the frame pointer that
 * it began with: 0, where the ABI has its way (psABI for x86-64, section
 * 3.4.1).
 */
static bool is_at_root(const struct walk *w)
{
	uint64_t pc = w->regs.reg[w->abi->pc];

	if (!w->is_return_address)
		return false;
	return code_says(w, UNWINDER_ROOT, pc) ||
	       (walk_knows_register(&w->regs, w->abi->fp) &&
		!w->regs.reg[w->abi->fp] &&
		code_says(w, UNWINDER_NEVER_RETURNS, pc));
}

/*
 * By a frame pointer, which is a guess: unless it leads from a function that
 * never returns to a thread's first, as there is nothing in between then.
 */
static enum cfi_step guess_step(struct walk *w)
{
	uint64_t pc = w->regs.reg[w->abi->pc];
	enum cfi_step step = step_by_fp(w);
	bool is_certain = false;

	w->came_by_fp = step == CFI_CALLER;
	if (step == CFI_CALLER && w->is_return_address)
		is_certain =
			code_says(w, UNWINDER_ROOT, w->regs.reg[w->abi->pc]) &&
			code_says(w, UNWINDER_NEVER_RETURNS, pc);
	if (step == CFI_NO_DATA)
		step = step_from_leaf(w);
	w->has_guessed |= step == CFI_CALLER && !is_certain;
	return step;
}

static enum cfi_step step_without_data(struct walk *w)
{
	enum cfi_step step = step_by_code(w);

	if (step == CFI_NO_DATA && is_at_root(w))
		step = CFI_OUTERMOST;
	if (step == CFI_NO_DATA && w->is_return_address &&
	    code_says(w, UNWINDER_SWITCHES, w->regs.reg[w->abi->pc]))
		step = CFI_OTHER_STACK;
	/* Tables that there is no memory to read exist: no reason to guess. */
	if (step == CFI_NO_DATA && !w->lacks_memory)
		return guess_step(w);
	w->came_by_fp = false;
	return step;
}

/*
 * From an address that is no code, which a signal interrupted: whatever was
 * there has done nothing, so it is left as a function that saved nothing is.
 */
static enum cfi_step step_from_nowhere(struct walk *w)
{
	enum cfi_step step;
	uint64_t top;

	w->is_return_address = false;
	if (w->arch == CFI_X86_64 && !load(w, w->regs.reg[w->abi->sp], &top))
		return CFI_OTHER_STACK;
	step = step_from_leaf(w);
	w->is_return_address = step == CFI_CALLER;
	w->has_guessed = true;
	return step;
}

/* ---- the walk ---------------------------------------------------------------
 */

/*
 * From code of Go that runs on another stack, by the stack pointer that this
 * code has kept. Unwind data say nothing of all that, but are right for it.
 */
static enum cfi_step step_to_kept_stack(struct walk *w,
					const struct cfi_table *table,
					uint64_t offset)
{
	enum cfi_step step;

	if (!walk_knows_register(&w->regs, w->abi->go_kept_sp))
		return CFI_OTHER_STACK;
	w->regs.reg[w->abi->sp] = w->regs.reg[w->abi->go_kept_sp];
	step = cfi_unwind(table, offset, w->is_return_address, &w->regs,
			  w->stack);
	w->is_in_go = false; /* that has been looked at */
	return step == CFI_CALLER ? step : CFI_OTHER_STACK;
}

static enum cfi_step step_by_data(struct walk *w)
{
	const struct unwinder_tables *t = &w->unwinder->tables;
	uint64_t pc = w->regs.reg[w->abi->pc], start;
	const struct cfi_table *table;
	bool was_in_go = w->is_in_go;
	union cfi_return unused;
	uint64_t offset;

	w->lacks_memory = false;
	w->is_in_go = false;
	if (!w->map.end || !walk_knows_register(&w->regs, w->abi->sp))
		return CFI_NO_DATA;
	table = unwinder_tables_find(&w->unwinder->tables, &w->map, CFI_ALL);
	offset = pc - w->map.start + w->map.offset;
	if (!table)
		w->lacks_memory = t->lacks_memory;
	if (!table && t->ops->find_code) {
		table = t->ops->find_code(t->ctx, pc - w->is_return_address,
					  &start);
		offset = table ? pc - start : 0;
		w->lacks_memory &= !table;
	}
	if (!table || table->arch != w->arch)
		return CFI_NO_DATA;
	w->is_in_go = table->has_go;
	/* No code of Go is called there. */
	if (table->has_go && (!w->is_return_address || !was_in_go) &&
	    ask_walk_code(w, UNWINDER_KEEPS_SP, pc, w->is_return_address,
			  &unused))
		return step_to_kept_stack(w, table, offset);
	return cfi_unwind(table, offset, w->is_return_address, &w->regs,
			  w->stack);
}

static bool is_in_code(const struct walk *w)
{
	struct unwinder_map map;

	return find_walk_map(w, w->regs.reg[w->abi->pc], &map);
}

static enum cfi_step walk_step(struct walk *w)
{
	enum cfi_step step = step_by_data(w);

	if (step == CFI_NO_DATA)
		step = step_without_data(w);
	else
		w->came_by_fp = false;
	w->is_return_address = step == CFI_CALLER;
	return step;
}

static enum op_trace_ending ending_of(const struct walk *w, enum cfi_step step)
{
	switch (step) {
	case CFI_OUTERMOST:
		if (w->has_jumped)
			return OP_TRACE_OTHER_STACK;
		return w->has_guessed ? OP_TRACE_GUESSED : OP_TRACE_WHOLE;
	case CFI_NO_DATA:
		return w->lacks_memory ? OP_TRACE_NO_MEMORY
				       : OP_TRACE_NO_UNWIND;
	case CFI_SHORT_STACK:
		return OP_TRACE_SHORT_STACK;
	case CFI_OTHER_STACK:
		return OP_TRACE_OTHER_STACK;
	case CFI_CALLER:
	case CFI_INTERRUPTED:
	case CFI_BAD_STACK:
		break;
	}
	return OP_TRACE_BAD_STACK;
}

static bool walk_begin(struct walk *w, struct unwinder *unwinder,
		       enum op_stack_arch arch, const struct cfi_regs *regs,
		       const struct cfi_stack *stack)
{
	if (arch != OP_STACK_X86_64 && arch != OP_STACK_AARCH64)
		return false;
	*w = (struct walk){
		.unwinder = unwinder,
		.abi = &fp_abis[arch],
		.arch = (enum cfi_arch)arch,
		.stack = stack,
		.regs = *regs,
	};
	if (!walk_knows_register(regs, w->abi->pc) ||
	    !walk_knows_register(regs, w->abi->sp))
		return false;
	find_walk_map(w, regs->reg[w->abi->pc], &w->map);
	return true;
}

/*
 * Whether @w has come, from the return address @from, to an address that no
 * call put there: code that leaves a stack for another one stores the beginning
 * of a function as the place to go on, as Go's asmcgocall and systemstack do.
 * Such an address is a multiple of 8, which most return addresses are not, so
 * the code is asked rarely.
 */
static bool is_at_jump(const struct walk *w, uint64_t from)
{
	uint64_t pc = w->regs.reg[w->abi->pc];

	return w->is_return_address && from && pc % 8 == 0 &&
	       !code_says(w, UNWINDER_AFTER_CALL, pc) &&
	       code_says(w, UNWINDER_SWITCHES, from);
}

/*
 * The step @step of @w, which is in Go, from the address @pc: or the end of the
 * stack, which unwind data say nothing of. Go's runtime runs much on a stack of
 * its own, at whose end there may be any words, as above the first function of
 * a goroutine, whose stack was another's before.
 */
static enum cfi_step end_step_in_go(const struct walk *w, enum cfi_step step,
				    uint64_t pc, bool is_return_address)
{
	union cfi_return unused;

	if (step == CFI_INTERRUPTED || step == CFI_SHORT_STACK ||
	    step == CFI_OTHER_STACK)
		return step;
	/* It is said to be called at its first instruction. */
	if (is_return_address && step != CFI_OUTERMOST &&
	    (w->arch != CFI_X86_64 || pc % 16 == 1) &&
	    code_says(w, UNWINDER_ROOT, pc))
		return CFI_OUTERMOST;
	if (step == CFI_CALLER && is_return_address && is_at_jump(w, pc))
		return step;
	return ask_walk_code(w, UNWINDER_SWITCHES, pc, is_return_address,
			     &unused)
		       ? CFI_OTHER_STACK
		       : step;
}

/*
 * The frame that @w has come to from the return address @from, if that is not
 * 0; false if its code is none.
 */
static bool take_frame(struct walk *w, uint64_t from,
		       struct unwinder_frame *frame)
{
	if (is_at_jump(w, from)) {
		w->has_jumped = true;
		w->is_return_address = false;
	}
	frame->pc = w->regs.reg[w->abi->pc] + !w->is_return_address;
	if (!frame->pc || !find_walk_map(w, frame->pc - 1, &w->map))
		return false;
	frame->map = w->map;
	return true;
}

/*
 * The ending of a walk whose last step, from the return address @from if that
 * is not 0, has led to no code. Unwind data say nothing of an assembly function
 * that goes on with another stack, as Go's do after a call of C.
 */
static enum op_trace_ending end_walk(const struct walk *w, enum cfi_step step,
				     uint64_t from)
{
	if ((step == CFI_CALLER || step == CFI_BAD_STACK) &&
	    code_says(w, UNWINDER_SWITCHES, from))
		step = CFI_OTHER_STACK;
	return ending_of(w, step);
}

size_t unwinder_unwind(struct unwinder *unwinder, enum op_stack_arch arch,
		       const struct cfi_regs *regs,
		       const struct cfi_stack *stack,
		       struct unwinder_frame *frames, size_t max,
		       enum op_trace_ending *ending)
{
	struct unwinder_frame frame;
	struct walk w;
	size_t nr = 0;

	*ending = OP_TRACE_NO_UNWIND;
	if (!walk_begin(&w, unwinder, arch, regs, stack))
		return 0;
	for (;;) {
		uint64_t pc = w.regs.reg[w.abi->pc];
		uint64_t from = w.is_return_address ? pc : 0;
		enum cfi_step step = walk_step(&w);

		if (step == CFI_INTERRUPTED) {
			/* The handler returns to it, but it never called it. */
			if (from)
				frames[nr - 1].pc++;
			from = 0;
			if (!is_in_code(&w))
				step = step_from_nowhere(&w);
		}
		if (w.is_in_go)
			step = end_step_in_go(&w, step, pc, from != 0);
		if (step > CFI_INTERRUPTED || !take_frame(&w, from, &frame)) {
			*ending = end_walk(&w, step, from);
			return nr;
		}
		/* Only now it is known that there is one more. */
		*ending = OP_TRACE_DEPTH;
		if (nr == max)
			return nr;
		frames[nr++] = frame;
	}
}

bool unwinder_function(struct unwinder *unwinder, uint64_t cookie,
		       uint64_t offset, uint64_t *start)
{
	const struct unwinder_map map = { .cookie = cookie };
	const struct cfi_table *table =
		unwinder_tables_find(&unwinder->tables, &map, CFI_FUNCTIONS);

	return table && cfi_function(table, offset, start);
}

/* ---- life ------------------------------------------------------------------
 */

int unwinder_new(struct unwinder **out, const struct unwinder_ops *ops,
		 void *ctx)
{
	struct unwinder *unwinder = malloc(sizeof(*unwinder));

	if (!unwinder)
		return -ENOMEM;
	unwinder_tables_init(&unwinder->tables, ops, ctx);
	*out = unwinder;
	return 0;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (unwinder)
		unwinder_forget(unwinder);
	free(unwinder);
}

void unwinder_forget(struct unwinder *unwinder)
{
	unwinder_tables_forget(&unwinder->tables);
}

void unwinder_set_limit(struct unwinder *unwinder, size_t bytes)
{
	unwinder->tables.limit = bytes;
	unwinder_tables_trim(&unwinder->tables);
}

void unwinder_stats(const struct unwinder *unwinder,
		    struct unwinder_stats *stats)
{
	*stats = unwinder->tables.stats;
}
