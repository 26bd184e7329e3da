// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of this very process, whose true callers libgcc's backtrace(3) tells;
 * and the tables of images, by how often an image is asked for.
 */

#include <signal.h>

#include <search.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "tests/unit/test.h"
#include "libcfi/unwinder_tables.h"
#include "tests/unit/unwind_self.h"

#define CHAIN 64

static struct self self;
static struct snapshot snap;
static struct unwinder_frame frames[SELF_MAX_FRAMES];
static enum op_trace_ending ending;

/* Keeps a call from being the last thing that a function does. */
static volatile int after;

static int setup(void **state)
{
	(void)state;
	memset(&self, 0, sizeof(self));
	self_maps(&self);
	return unwinder_new(&self.unwinder, &self_ops, &self);
}

static int teardown(void **state)
{
	(void)state;
	unwinder_free(self.unwinder);
	return 0;
}

#define UNWINDER_TEST(name) TEST_WITH(name, setup, teardown)

static size_t unwind(size_t max)
{
	return unwinder_unwind(self.unwinder, SELF_ARCH, &snap.regs,
			       &snap.stack, frames, max, &ending);
}

/* Sanitizers put frames of their own before that of @caller. */
static void take_model(void *caller)
{
	size_t nr = (size_t)backtrace(snap.model, SELF_MAX_FRAMES), i = 0;

	while (i < nr && snap.model[i] != caller)
		i++;
	memmove(snap.model, snap.model + i, (nr - i) * sizeof(caller));
	snap.nr_model = nr - i;
}

__attribute__((noinline)) static void take(void)
{
	ucontext_t u;

	getcontext(&u);
	self_regs(&snap.regs, &u);
	self_stack(&snap, UINT64_MAX);
	take_model(__builtin_return_address(0));
	after++;
}

/*
 * What was taken is whole, and its frames are those of the model. That has the
 * addresses themselves of so many frames that made no call.
 */
static size_t check_model(unsigned int nr_without_call)
{
	size_t nr = unwind(SELF_MAX_FRAMES);
	unsigned int nr_plus_1 = 0;

	assert_int_equal(ending, OP_TRACE_WHOLE);
	assert_int_equal(nr, snap.nr_model);
	for (size_t i = 0; i < nr; i++) {
		uint64_t model = (uintptr_t)snap.model[i];

		if (frames[i].pc == model + 1)
			nr_plus_1++;
		else
			assert_int_equal(frames[i].pc, model);
		assert_true(frames[i].pc - 1 >= frames[i].map.start &&
			    frames[i].pc - 1 < frames[i].map.end);
	}
	assert_int_equal(nr_plus_1, nr_without_call);
	return nr;
}

/* ---- shapes of stacks -------------------------------------------------------
 */

__attribute__((noinline)) static void chain(unsigned int depth)
{
	if (depth)
		chain(depth - 1);
	else
		take();
	after++;
}

UNWINDER_TEST(deep_chain)
{
	chain(CHAIN);
	assert_true(check_model(0) > CHAIN);
	/* frame 0 is in chain(0), all others up to chain(CHAIN) call from the
	 * same place */
	for (size_t i = 2; i <= CHAIN; i++)
		assert_int_equal(frames[i].pc, frames[1].pc);
	assert_int_not_equal(frames[CHAIN + 1].pc, frames[1].pc);
}

static int compare(const void *a, const void *b)
{
	if (!snap.nr_model)
		take();
	return *(const int *)a - *(const int *)b;
}

UNWINDER_TEST(callback)
{
	int numbers[100], last = 63;
	size_t nr = 100;

	snap.nr_model = 0;
	for (int i = 0; i < 100; i++)
		numbers[i] = i * 37 % 100;
	/* qsort() and bsearch() may be in the program itself. */
	assert_ptr_equal(lfind(&last, numbers, &nr, sizeof(last), compare),
			 numbers + 99);
	check_model(0);
	assert_int_not_equal(frames[1].map.start, frames[0].map.start);
}

__attribute__((noinline)) static void with_alloca(size_t len)
{
	volatile char *room = __builtin_alloca(len);

	room[0] = room[len - 1] = 1;
	take();
	after += room[0];
}

UNWINDER_TEST(variable_frames)
{
	for (size_t len = 1; len < 5000; len += 333) {
		with_alloca(len);
		check_model(0);
	}
}

static void on_signal(int sig)
{
	(void)sig;
	take();
	after++;
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = flags };

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

UNWINDER_TEST(signal_handler)
{
	handle(0);
	raise(SIGUSR1);
	check_model(2);
}

/* The slice has what was on the handler's stack, not the interrupted one. */
UNWINDER_TEST(signal_stack)
{
	const size_t len = 65536;
	stack_t stack = { .ss_sp = malloc(len), .ss_size = len };
	size_t nr;

	assert_non_null(stack.ss_sp);
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	handle(SA_ONSTACK);
	raise(SIGUSR1);
	snap.stack.len = 0;
	self_stack(&snap, (uintptr_t)stack.ss_sp + len);
	nr = unwind(SELF_MAX_FRAMES);
	assert_int_equal(ending, OP_TRACE_OTHER_STACK);
	/* the handler, the trampoline, where raise() was interrupted */
	assert_true(nr >= 3 && nr < snap.nr_model);
	assert_int_equal(frames[0].pc, (uintptr_t)snap.model[0]);
	assert_int_equal(frames[nr - 1].pc, (uintptr_t)snap.model[nr - 1] + 1);
	stack.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	free(stack.ss_sp);
}

static jmp_buf before_call;

static void on_null_call(int sig)
{
	(void)sig;
	take();
	siglongjmp(before_call, 1);
}

static void (*volatile nowhere)(void);

/*
 * A function that calls a null pointer: where that returns to. It has a section
 * of its own, whose ends the linker names: elsewhere other functions of this
 * file can lie next to it.
 */
extern const char __start_null_call[], __stop_null_call[];

static __attribute__((noinline, section("null_call"))) void call_null(void)
{
	nowhere();
	after++;
}

static void snap_null_call(int flags)
{
	struct sigaction action = { .sa_handler = on_null_call,
				    .sa_flags = flags },
			 old;

	assert_int_equal(sigaction(SIGSEGV, &action, &old), 0);
	if (!sigsetjmp(before_call, 1))
		call_null();
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
}

/* The interrupted address is no code: who called it is found all the same. */
UNWINDER_TEST(call_of_a_null_pointer)
{
	size_t nr, found = 0;

	snap_null_call(0);
	nr = unwind(SELF_MAX_FRAMES);
	assert_int_equal(ending, OP_TRACE_GUESSED);
	for (size_t i = 0; i < nr; i++)
		found += frames[i].pc > (uintptr_t)__start_null_call &&
			 frames[i].pc <= (uintptr_t)__stop_null_call;
	assert_int_equal(found, 1);
	assert_true(nr > 5);
}

/* Unless that is on the stack that the handler is not on. */
UNWINDER_TEST(call_of_a_null_pointer_on_another_stack)
{
	const size_t len = 65536;
	stack_t stack = { .ss_sp = malloc(len), .ss_size = len };

	assert_non_null(stack.ss_sp);
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	snap_null_call(SA_ONSTACK);
	snap.stack.len = 0;
	self_stack(&snap, (uintptr_t)stack.ss_sp + len);
	assert_true(unwind(SELF_MAX_FRAMES) >= 1);
	assert_int_equal(ending, OP_TRACE_OTHER_STACK);
	stack.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	free(stack.ss_sp);
}

/* A function without unwind data, with a frame pointer, that calls its first
 * argument; where that returns to is offset CALLED. */
#ifdef __x86_64__
static const uint8_t machine_code[] = {
	0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0xff, 0xd7, /* call *%rdi */
	0x5d, 0xc3, /* pop %rbp; ret */
};
#define CALLED 6
#else
static const uint32_t machine_code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, -16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0000, /* blr x0 */
	0xa8c17bfd, /* ldp x29, x30, [sp], 16 */
	0xd65f03c0, /* ret */
};
#define CALLED 12
#endif

static uint8_t *make_code(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(code, MAP_FAILED);
	memcpy(code, machine_code, sizeof(machine_code));
	assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	self_maps(&self);
	return code;
}

UNWINDER_TEST(code_made_at_run_time)
{
	uint8_t *code = make_code();
	void (*call)(void (*)(void));
	size_t nr;

	memcpy(&call, &code, sizeof(call));
	call(take);
	nr = unwind(SELF_MAX_FRAMES);
	assert_int_equal(ending, OP_TRACE_GUESSED);
	assert_int_equal(frames[0].pc, (uintptr_t)code + CALLED);
	assert_int_equal(frames[0].map.cookie, OP_NO_COOKIE);
	/* this function and those that all tests have in common */
	assert_true(nr > 4);
	chain(0);
	assert_int_equal(unwind(0), 0);
	munmap(code, 4096);
}

#ifdef __x86_64__
/* In code that has no data, neither is %rbp of use: the leaf guess. */
UNWINDER_TEST(leaf_without_data)
{
	uint8_t *code = make_code();
	uint64_t pc;

	take();
	pc = snap.regs.reg[SELF_PC];
	/* as if take() had called the code, which has done nothing yet */
	memmove(snap.bytes + 8, snap.bytes, sizeof(snap.bytes) - 8);
	memcpy(snap.bytes, &pc, 8);
	snap.stack.start -= 8;
	snap.regs.reg[SELF_SP] -= 8;
	snap.regs.reg[SELF_PC] = (uintptr_t)code;
	snap.regs.known &= ~((uint64_t)1 << CFI_X86_64_RBP);
	unwind(SELF_MAX_FRAMES);
	assert_int_equal(frames[0].pc, pc);
	/* with nothing that looks like a return address there is no guess */
	memset(snap.bytes, 0x11, 8);
	assert_int_equal(unwind(SELF_MAX_FRAMES), 0);
	assert_int_equal(ending, OP_TRACE_NO_UNWIND);
	munmap(code, 4096);
}
#endif

/* Frame records by hand, for code of either machine that has no data. */
static bool some_code(void *ctx, uint64_t addr, struct unwinder_map *map)
{
	(void)ctx;
	*map = (struct unwinder_map){ .start = 0x400000, .end = 0x500000 };
	return addr >= map->start && addr < map->end;
}

static size_t walk_records(enum op_stack_arch arch, const uint64_t *words,
			   size_t nr)
{
	static const struct unwinder_ops ops = {
		.find_map = some_code,
		.open_image = self_open_image,
	};
	const bool is_x86 = arch == OP_STACK_X86_64;
	const struct cfi_stack stack = { 0x7000, (const uint8_t *)words,
					 nr * sizeof(words[0]) };
	struct cfi_regs regs = { .known = 0x1ffffffff };
	struct unwinder *unwinder;
	size_t nr_frames;

	regs.reg[is_x86 ? CFI_X86_64_RSP : CFI_AARCH64_SP] = 0x7000;
	regs.reg[is_x86 ? CFI_X86_64_RIP : CFI_AARCH64_PC] = 0x400100;
	regs.reg[is_x86 ? CFI_X86_64_RBP : CFI_AARCH64_FP] = 0x7010;
	assert_int_equal(unwinder_new(&unwinder, &ops, &self), 0);
	nr_frames = unwinder_unwind(unwinder, arch, &regs, &stack, frames,
				    SELF_MAX_FRAMES, &ending);
	unwinder_free(unwinder);
	return nr_frames;
}

/* A call may be the last instruction of its mapping, never behind it. */
UNWINDER_TEST(return_addresses)
{
	static const struct {
		uint64_t pc;
		size_t nr;
		enum op_trace_ending ending;
	} rows[] = {
		{ 0x400001, 2, OP_TRACE_GUESSED },
		{ 0x500000, 2, OP_TRACE_GUESSED },
		{ 0x400000, 1, OP_TRACE_NO_UNWIND },
		{ 0x500001, 1, OP_TRACE_NO_UNWIND },
		{ 0, 1, OP_TRACE_GUESSED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const uint64_t words[] = { 1, 2, 0x7030, 0x400200,
					   3, 4, 0x7050, rows[i].pc,
					   5, 6, 0,	 0 };

		for (int arch = OP_STACK_X86_64; arch <= OP_STACK_AARCH64;
		     arch++) {
			assert_int_equal(walk_records(arch, words, 12),
					 rows[i].nr);
			assert_int_equal(ending, rows[i].ending);
			assert_int_equal(frames[rows[i].nr - 1].pc,
					 rows[i].nr == 2 ? rows[i].pc
							 : 0x400200);
		}
	}
}

UNWINDER_TEST(frame_records)
{
	uint64_t words[] = { 1,	     2,	       0x7030, 0x400200, 3, 4,
			     0x7050, 0x400300, 5,      6,	 0, 0 };

	for (int arch = OP_STACK_X86_64; arch <= OP_STACK_AARCH64; arch++) {
		assert_int_equal(walk_records(arch, words, 12), 2);
		assert_int_equal(frames[0].pc, 0x400200);
		assert_int_equal(frames[1].pc, 0x400300);
		assert_int_equal(ending, OP_TRACE_GUESSED);
		assert_int_equal(walk_records(arch, words, 8), 2);
		assert_int_equal(ending, OP_TRACE_SHORT_STACK);
		words[7] = 0x600000; /* no code */
		assert_int_equal(walk_records(arch, words, 12), 1);
		assert_int_equal(ending, OP_TRACE_NO_UNWIND);
		words[7] = 0x400300;
		words[6] = 0x7010; /* back */
		assert_int_equal(walk_records(arch, words, 12), 2);
		assert_int_equal(ending, OP_TRACE_NO_UNWIND);
		words[6] = 0x7050;
	}
	/* signed */
	words[7] |= 0x00ab000000000000;
	assert_int_equal(walk_records(OP_STACK_AARCH64, words, 12), 2);
	assert_int_equal(frames[1].pc, 0x400300);
	assert_int_equal(walk_records(OP_STACK_X86_64, words, 12), 1);
}

/* ---- endings ----------------------------------------------------------------
 */

UNWINDER_TEST(depth)
{
	size_t all;

	chain(CHAIN);
	all = check_model(0);
	for (size_t max = 0; max <= all + 1; max++) {
		size_t nr = unwind(max);

		assert_int_equal(nr, max < all ? max : all);
		assert_int_equal(ending,
				 max < all ? OP_TRACE_DEPTH : OP_TRACE_WHOLE);
	}
}

UNWINDER_TEST(short_stack)
{
	size_t all, nr = 0;

	chain(CHAIN);
	all = check_model(0);
	for (size_t len = 0; len < snap.stack.len && nr < all; len += 8) {
		struct cfi_stack part = snap.stack;
		size_t more;

		part.len = len;
		more = unwinder_unwind(self.unwinder, SELF_ARCH, &snap.regs,
				       &part, frames, SELF_MAX_FRAMES, &ending);
		assert_true(more >= nr && more <= nr + 1);
		nr = more;
		assert_int_equal(ending, !len	    ? OP_TRACE_OTHER_STACK
					 : nr < all ? OP_TRACE_SHORT_STACK
						    : OP_TRACE_WHOLE);
	}
	assert_int_equal(nr, all);
}

UNWINDER_TEST(bad_stack)
{
	const uint8_t fills[] = { 0x00, 0x01, 0x7f, 0xff };
	size_t nr;

	for (size_t i = 0; i < sizeof(fills); i++) {
		chain(2);
		memset(snap.bytes, fills[i], snap.stack.len);
		nr = unwind(SELF_MAX_FRAMES);
		assert_int_equal(nr, 0);
		/* a return address of 0 is how a stack ends */
		assert_int_equal(ending, fills[i] ? OP_TRACE_BAD_STACK
						  : OP_TRACE_WHOLE);
	}
}

/* What a stack pointer that is nowhere leads to. */
UNWINDER_TEST(bad_registers)
{
	const uint64_t bad[] = {
		0, 1, 7, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		chain(2);
		snap.regs.reg[SELF_SP] = bad[i];
		for (unsigned int reg = 0; reg < SELF_PC; reg++)
			snap.regs.reg[reg] = bad[i];
		assert_int_equal(unwind(SELF_MAX_FRAMES), 0);
		assert_int_not_equal(ending, OP_TRACE_WHOLE);
		assert_int_not_equal(ending, OP_TRACE_DEPTH);
	}
	/* Neither where the code is nor where the stack is will do. */
	for (uint64_t known = 0; known < 3; known++) {
		chain(2);
		snap.regs.known = (known & 1) << SELF_PC | (known >> 1)
								   << SELF_SP;
		assert_int_equal(unwind(SELF_MAX_FRAMES), 0);
		assert_int_equal(ending, OP_TRACE_NO_UNWIND);
	}
}

UNWINDER_TEST(deep_recursion)
{
	chain(10000);
	/* 65536 bytes of stack hold a part of it */
	assert_int_equal(unwind(100), 100);
	assert_int_equal(ending, OP_TRACE_DEPTH);
	snap.stack.len = 1024;
	assert_true(unwind(SELF_MAX_FRAMES) < 1024 / 8);
	assert_int_equal(ending, OP_TRACE_SHORT_STACK);
}

/* ---- images -----------------------------------------------------------------
 */

static struct unwinder_stats stats(void)
{
	struct unwinder_stats s;

	unwinder_stats(self.unwinder, &s);
	return s;
}

UNWINDER_TEST(images_are_opened_once)
{
	unsigned int nr;

	chain(3);
	check_model(0);
	nr = self.nr_opened;
	assert_true(nr >= 2); /* this program and libc at least */
	assert_int_equal(stats().nr_tables, nr);
	assert_int_equal(stats().nr_made, nr);
	assert_int_equal(stats().nr_failed, 0);
	assert_true(stats().bytes > 100000);
	check_model(0);
	assert_int_equal(self.nr_opened, nr);
	unwinder_forget(self.unwinder);
	assert_int_equal(stats().nr_tables, 0);
	assert_int_equal(stats().bytes, 0);
	check_model(0);
	assert_int_equal(self.nr_opened, 2 * nr);
}

/* A table of functions alone is in the way of no stack. */
UNWINDER_TEST(functions_before_a_stack)
{
	const uint64_t in_chain = (uint64_t)(uintptr_t)chain + 1;
	struct unwinder_map map = { 0 };
	uint64_t start = 0, again = 0, bytes;
	unsigned int nr;

	assert_true(self_find_map(&self, in_chain, &map));
	assert_true(unwinder_function(self.unwinder, map.cookie,
				      in_chain - map.start + map.offset,
				      &start));
	assert_int_equal(start, in_chain - 1 - map.start + map.offset);
	assert_int_equal(self.nr_opened, 1);
	bytes = stats().bytes;
	chain(3);
	check_model(0);
	assert_true(stats().bytes > 2 * bytes);
	nr = self.nr_opened;
	assert_int_equal(stats().nr_made, nr);
	/* The table of all tells of functions, too. */
	assert_true(unwinder_function(self.unwinder, map.cookie,
				      in_chain - map.start + map.offset,
				      &again));
	assert_int_equal(again, start);
	check_model(0);
	assert_int_equal(self.nr_opened, nr);
}

UNWINDER_TEST(images_that_cannot_be_had)
{
	chain(3);
	self.refuse = -EACCES;
	snap.regs.reg[CFI_X86_64_RBP] = 0;
	unwind(SELF_MAX_FRAMES);
	assert_int_equal(ending, OP_TRACE_NO_UNWIND);
	assert_int_equal(stats().nr_failed, self.nr_opened);
	assert_int_equal(self.nr_opened, 1);
	unwind(SELF_MAX_FRAMES);
	assert_int_equal(self.nr_opened, 1);
	/* The kernel's image is no file, which is no failure. */
	unwinder_forget(self.unwinder);
	self.refuse = UNWINDER_VDSO;
	unwind(SELF_MAX_FRAMES);
	assert_true(self.nr_opened > 1);
	assert_int_equal(stats().nr_failed, 1);
}

UNWINDER_TEST(tables_are_bounded)
{
	unsigned int nr;

	chain(3);
	check_model(0);
	nr = self.nr_opened;
	unwinder_set_limit(self.unwinder, 1);
	assert_int_equal(stats().nr_tables, 1);
	assert_int_equal(stats().nr_dropped, nr - 1);
	/* All is found as before, by making tables again and again. */
	check_model(0);
	assert_int_equal(stats().nr_tables, 1);
	assert_true(self.nr_opened >= 2 * nr - 1);
	unwinder_set_limit(self.unwinder, UNWINDER_BYTES);
	check_model(0);
	assert_int_equal(stats().nr_tables, nr);
}

/* Copies of an image in several containers have cookies of their own. */
UNWINDER_TEST(images_of_one_build_id_share)
{
	uint64_t nr_tables;

	chain(3);
	check_model(0);
	nr_tables = stats().nr_tables;
	for (size_t i = self.nr_maps; i > 0; i--) {
		strcpy(self.path[i - 1 + SELF_MAX_MAPS / 2], self.path[i - 1]);
		if (self.map[i - 1].cookie)
			self.map[i - 1].cookie += SELF_MAX_MAPS / 2;
	}
	assert_true(self.nr_maps < SELF_MAX_MAPS / 2);
	self.nr_maps += SELF_MAX_MAPS / 2;
	memset(self.map + SELF_MAX_MAPS / 2, 0,
	       sizeof(self.map[0]) * SELF_MAX_MAPS / 2);
	check_model(0);
	assert_int_equal(self.nr_opened, 2 * nr_tables);
	assert_int_equal(stats().nr_tables, nr_tables);
}

#ifdef __x86_64__
/* Somewhere in it is a function that has pushed a register. */
UNWINDER_TEST(vdso)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct unwinder_map map = { .start = 0 };
	unsigned int found = 0;
	uint64_t ra;

	assert_true(self_find_map(&self, start, &map));
	assert_string_equal(map.anon, "[vdso]");
	take();
	ra = snap.regs.reg[SELF_PC];
	memset(snap.bytes, 0x11, 8);
	memcpy(snap.bytes + 8, &ra, sizeof(ra));
	/* so that neither frame pointer nor a guess finds it */
	snap.regs.known &= ~((uint64_t)1 << CFI_X86_64_RBP);
	for (uint64_t pc = start; pc < map.end; pc++) {
		snap.regs.reg[SELF_PC] = pc;
		found += unwind(1) == 1 && frames[0].pc == ra;
	}
	assert_true(found > 1);
}

/* It is read once, and again after all was forgotten. */
UNWINDER_TEST(vdso_is_read_once)
{
	const struct unwinder_map map = { .cookie = OP_NO_COOKIE,
					  .anon = "[vdso]" };
	const struct cfi_table *table;
	struct unwinder_tables tables;

	unwinder_tables_init(&tables, &self_ops, &self);
	for (int i = 0; i < 2; i++) {
		table = unwinder_tables_find(&tables, &map, CFI_ALL);
		assert_non_null(table);
		assert_ptr_equal(unwinder_tables_find(&tables, &map, CFI_ALL),
				 table);
		unwinder_tables_forget(&tables);
	}
}
#endif
