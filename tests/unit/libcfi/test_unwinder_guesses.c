// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps through code without unwind data, on either machine: each row is a
 * stack and registers, and the frames that they lead to. And what becomes of
 * images of which no table or no build-id can be read.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "libcfi/cfi_table.h"
#include "libcfi/unwinder.h"

#define CODE 0x10000u
#define CODE_END 0x20000u
#define STACK 0x7000u
#define NR_WORDS 16
#define STACK_END (STACK + 8 * NR_WORDS)
#define MAX_FRAMES 8
/* What AArch64 signs a return address with. */
#define SIGNED (UINT64_C(0xab25) << 48)

static bool find_guessed_map(void *ctx, uint64_t addr, struct unwinder_map *map)
{
	(void)ctx;
	if (addr < CODE || addr >= CODE_END)
		return false;
	*map = (struct unwinder_map){ .start = CODE,
				      .end = CODE_END,
				      .cookie = 1 };
	return true;
}

static int open_no_image(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
	return -ENOENT;
}

static const struct unwinder_ops no_data = { .find_map = find_guessed_map,
					     .open_image = open_no_image };

/* A frame pointer that is 0, and known to be. */
#define FP_IS_0 1

/* A stack of words, and registers; 0 of @fp or @lr: not known. */
struct guess_row {
	const char *what;
	uint64_t sp, fp, lr;
	uint64_t words[NR_WORDS];
	const char *wanted; /* addresses of frames, hexadecimal, and why there
			       are no more */
};

static const char *text_of_ending(enum op_trace_ending ending)
{
	return ending == OP_TRACE_WHOLE		? "whole"
	       : ending == OP_TRACE_GUESSED	? "guessed"
	       : ending == OP_TRACE_NO_UNWIND	? "no data"
	       : ending == OP_TRACE_SHORT_STACK ? "short"
	       : ending == OP_TRACE_BAD_STACK	? "bad"
	       : ending == OP_TRACE_OTHER_STACK ? "other"
	       : ending == OP_TRACE_NO_MEMORY	? "no memory"
						: "depth";
}

static struct cfi_regs regs_of_guess(const struct guess_row *row,
				     enum op_stack_arch arch)
{
	bool is_arm = arch == OP_STACK_AARCH64;
	unsigned int fp = is_arm ? CFI_AARCH64_FP : CFI_X86_64_RBP;
	unsigned int sp = is_arm ? CFI_AARCH64_SP : CFI_X86_64_RSP;
	unsigned int pc = is_arm ? CFI_AARCH64_PC : CFI_X86_64_RIP;
	struct cfi_regs regs = {
		.known = UINT64_C(1) << sp | UINT64_C(1) << pc,
	};

	regs.reg[sp] = row->sp;
	regs.reg[pc] = CODE + 0x10;
	/* What is not known may be anything, such as what would be right. */
	if (row->fp)
		regs.known |= UINT64_C(1) << fp;
	regs.reg[fp] = row->fp == FP_IS_0 ? 0 : row->fp ?: STACK;
	if (is_arm && row->lr)
		regs.known |= UINT64_C(1) << CFI_AARCH64_LR;
	if (is_arm)
		regs.reg[CFI_AARCH64_LR] = row->lr ?: CODE + 0xf00;
	return regs;
}

static void check_guess(const struct guess_row *row,
			const struct unwinder_ops *ops, enum op_stack_arch arch)
{
	const struct cfi_stack stack = { STACK, (const uint8_t *)row->words,
					 sizeof(row->words) };
	const struct cfi_regs regs = regs_of_guess(row, arch);
	struct unwinder_frame frames[MAX_FRAMES];
	enum op_trace_ending ending;
	struct unwinder *unwinder;
	char text[256];
	int len = 0;
	size_t nr;

	assert_int_equal(unwinder_new(&unwinder, ops, NULL), 0);
	nr = unwinder_unwind(unwinder, arch, &regs, &stack, frames, MAX_FRAMES,
			     &ending);
	unwinder_free(unwinder);
	for (size_t i = 0; i < nr; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"%" PRIx64 " ", frames[i].pc);
	snprintf(text + len, sizeof(text) - (size_t)len, "%s",
		 text_of_ending(ending));
	if (strcmp(text, row->wanted) != 0)
		fail_msg("%s: %s, not %s", row->what, text, row->wanted);
}

#define GUESSES(rows, arch)                                                    \
	check_guesses(rows, sizeof(rows) / sizeof(*(rows)), arch)

static void check_guesses(const struct guess_row *rows, size_t nr,
			  enum op_stack_arch arch)
{
	for (size_t i = 0; i < nr; i++)
		check_guess(&rows[i], &no_data, arch);
}

/* A function that saved nothing: its return address is where the stack ends. */
TEST(leaves_of_x86_64)
{
	static const struct guess_row rows[] = {
		{ "a leaf", STACK, 0, 0, { 0x10100 }, "10100 no data" },
		{ "the first byte",
		  STACK,
		  0,
		  0,
		  { CODE + 1 },
		  "10001 no data" },
		{ "before it", STACK, 0, 0, { CODE }, "no data" },
		{ "the last byte", STACK, 0, 0, { CODE_END }, "20000 no data" },
		{ "behind it", STACK, 0, 0, { CODE_END + 1 }, "no data" },
		{ "no address", STACK, 0, 0, { 0 }, "no data" },
		{ "with high bits",
		  STACK,
		  0,
		  0,
		  { SIGNED | 0x10100 },
		  "no data" },
		{ "the last word",
		  STACK_END - 8,
		  0,
		  0,
		  { [15] = 0x10200 },
		  "10200 no data" },
		{ "behind the stack", STACK_END, 0, 0, { 0x10100 }, "no data" },
		{ "before the stack", STACK - 8, 0, 0, { 0x10100 }, "no data" },
		{ "between words",
		  STACK + 1,
		  0,
		  0,
		  { 0x1010000, 0 },
		  "no data" },
		{ "a leaf with a link register",
		  STACK,
		  0,
		  0x10300,
		  { 0 },
		  "no data" },
		{ "a leaf in a frame",
		  STACK,
		  STACK + 8,
		  0,
		  { 0x10100, 0, 0 },
		  "10100 no data" },
	};

	GUESSES(rows, OP_STACK_X86_64);
}

/* On both machines: the caller's frame pointer, then the return address. */
TEST(records_of_frames)
{
#define SP STACK
	static const struct guess_row rows[] = {
		{ "a chain that ends with no frame pointer",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK + 32, 0x10100, 0, 0x10200 },
		  "10100 10200 guessed" },
		{ "a chain that ends with no return address",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK + 32, 0x10100, STACK + 48, 0 },
		  "10100 guessed" },
		{ "no chain, and no return address",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK + 32, 0 },
		  "no data" },
		{ "a record at the stack pointer",
		  SP,
		  STACK,
		  0,
		  { 0, 0x10100 },
		  "10100 guessed" },
		{ "a record below the stack pointer",
		  SP + 16,
		  STACK,
		  0,
		  { 0, 0x10100 },
		  "no data" },
		{ "a chain that leads below the stack pointer",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK + 24, 0x10100, 0x10200 },
		  "10100 no data" },
		{ "a record behind the one before",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK + 32, 0x10100, 0, 0x10200 },
		  "10100 10200 guessed" },
		{ "a return address to no code",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK + 32, 0x20001 },
		  "no data" },
		{ "the last record",
		  SP,
		  STACK_END - 16,
		  0,
		  { [14] = 0, 0x10100 },
		  "10100 guessed" },
		{ "a first record that is not whole",
		  SP,
		  STACK_END - 8,
		  0,
		  { [15] = 0 },
		  "no data" },
		{ "a chain up to the last record",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK_END - 16, 0x10100, [15] = 0x10200 },
		  "10100 10200 guessed" },
		{ "a chain to a record that is cut",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK_END - 8, 0x10100 },
		  "10100 short" },
		{ "a chain that leads out of the stack",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK_END + 8000, 0x10100 },
		  "10100 short" },
		{ "a chain to what is no record",
		  SP,
		  STACK + 16,
		  0,
		  { [2] = STACK_END + 1, 0x10100 },
		  "10100 no data" },
		{ "a record between words",
		  SP,
		  STACK + 20,
		  0,
		  { [2] = 0, 0, 0x1010000000000, 0 },
		  "no data" },
		{ "an unknown frame pointer",
		  SP,
		  0,
		  0,
		  { 0, 0x10100 },
		  "no data" },
	};

	GUESSES(rows, OP_STACK_X86_64);
	GUESSES(rows, OP_STACK_AARCH64);
}

/* ---- code that can be read -------------------------------------------------
 */

/* Functions of x86-64, by where they are returned to, but for the first. */
/* clang-format off */
static const uint8_t code_bytes[0x1e0] = {
	[0x10] = 0xc3, /* the sampled one: ret */
	/* call; add $8,%rsp; ret */
	[0x1b] = 0xe8, [0x20] = 0x48, 0x83, 0xc4, 0x08, 0xc3,
	/* call; jmp to itself */
	[0x3b] = 0xe8, [0x40] = 0xeb, 0xfe,
	/* nothing is called before: ret */
	[0x60] = 0xc3,
	/* goexit() of Go: nop; call; nop */
	[0x7f] = 0x90, 0xe8, 0, 0, 0, 0, 0x90, 0xcc,
	/* call; mov %eax,%edi; mov $60,%eax; syscall; jmp to itself */
	[0x9b] = 0xe8, [0xa0] = 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05,
	0xeb, 0xfe,
	/* call; jmp by a table */
	[0xbb] = 0xe8, [0xc0] = 0xff, 0xe0,
	/* call *%rbx; mov %eax,%edi; call; padding */
	[0xde] = 0xff, 0xd3, [0xe0] = 0x89, 0xc7, 0xe8, 0, 0, 0, 0,
	0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0,
	/* of makecontext(): mov %rbx,%rsp; mov (%rsp),%rdi */
	[0x120] = 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24,
	/* call *%rbx; mov %eax,%edi; call; add $8,%rsp; ret */
	[0x13e] = 0xff, 0xd3, [0x140] = 0x89, 0xc7, 0xe8, 0, 0, 0, 0,
	0x48, 0x83, 0xc4, 0x08, 0xc3,
	/* call; mov 8(%rdi),%rsi; mov %rsi,%rsp; ret */
	[0x17b] = 0xe8, [0x180] = 0x48, 0x8b, 0x77, 0x08, 0x48, 0x89, 0xf4, 0xc3,
	/* call; ret: with a stack that is not aligned */
	[0x1a0] = 0xe8, [0x1a5] = 0xc3,
	/* sub $8,%rsp; call of 0x1a0; add $8,%rsp; ret */
	[0x1b0] = 0x48, 0x83, 0xec, 0x08, 0xe8, 0xe7, 0xff, 0xff, 0xff,
	0x48, 0x83, 0xc4, 0x08, 0xc3,
	/* mov 0x38(%r14),%rsp; call; add $8,%rsp; ret */
	[0x1c3] = 0x49, 0x8b, 0x66, 0x38, 0xe8, [0x1cc] = 0x48, 0x83, 0xc4, 0x08,
	0xc3,
};
/* clang-format on */

static size_t read_code_bytes(void *ctx, uint64_t addr, void *buf, size_t len)
{
	(void)ctx;
	if (addr < CODE || addr >= CODE + sizeof(code_bytes))
		return 0;
	if (len > CODE + sizeof(code_bytes) - addr)
		len = CODE + sizeof(code_bytes) - addr;
	memcpy(buf, code_bytes + (addr - CODE), len);
	return len;
}

static int ask_code_bytes(void *ctx, const struct unwinder_code *code,
			  union cfi_return *out)
{
	const struct cfi_code_reader reader = { .read = read_code_bytes };
	bool is_told = false;

	(void)ctx;
	assert_int_equal(code->map.start, CODE);
	switch (code->ask) {
	case UNWINDER_RETURN:
		is_told = cfi_find_return(code->arch, &reader, code->addr,
					  code->is_return_address, out);
		break;
	case UNWINDER_AFTER_CALL:
		is_told = cfi_is_after_call(code->arch, &reader, code->addr);
		break;
	case UNWINDER_NEVER_RETURNS:
		is_told = cfi_never_returns(code->arch, &reader, code->addr);
		break;
	case UNWINDER_ROOT:
		is_told = cfi_is_root(code->arch, &reader, code->addr);
		break;
	case UNWINDER_SWITCHES:
		is_told = cfi_switches_stack(code->arch, &reader, code->addr,
					     code->is_return_address);
		break;
	case UNWINDER_KEEPS_SP:
		is_told = cfi_keeps_sp_in_go(code->arch, &reader, code->addr);
		break;
	case UNWINDER_ENTERED:
		is_told = cfi_is_entered_from(code->arch, &reader, code->from,
					      code->addr,
					      code->is_return_address);
		break;
	}
	return is_told ? 0 : -ENODATA;
}

static const struct unwinder_ops readable = { .find_map = find_guessed_map,
					      .open_image = open_no_image,
					      .ask_code = ask_code_bytes };

/* Steps by code are certain, if a call led to what they lead to. */
TEST(code_is_read)
{
	static const struct guess_row rows[] = {
		{ .what = "to a function that never returns",
		  .sp = STACK,
		  .words = { 0x10020, 1, 0x10040 },
		  .wanted = "10020 10040 no data" },
		{ .what = "which is a thread's first, as its frame pointer says",
		  .sp = STACK,
		  .fp = FP_IS_0,
		  .words = { 0x10020, 1, 0x10040 },
		  .wanted = "10020 10040 whole" },
		{ .what = "to the sampled function, which may never return",
		  .sp = STACK,
		  .fp = FP_IS_0,
		  .words = { 0x10020, 1, 0x10060 },
		  .wanted = "10020 no data" },
		{ .what = "to one that ends its thread",
		  .sp = STACK,
		  .fp = 12345,
		  .words = { 0x10020, 1, 0x100a0 },
		  .wanted = "10020 100a0 whole" },
		{ .what = "to where main() is called",
		  .sp = STACK,
		  .fp = 12345,
		  .words = { 0x10020, 1, 0x100e0 },
		  .wanted = "10020 100e0 whole" },
		{ .what = "to what a function of makecontext() returns to",
		  .sp = STACK,
		  .fp = 12345,
		  .words = { 0x10020, 1, 0x10120 },
		  .wanted = "10020 10120 whole" },
		{ .what = "to one that gives a result to another",
		  .sp = STACK,
		  .fp = FP_IS_0,
		  .words = { 0x10020, 1, 0x10140, 1, 0x10040 },
		  .wanted = "10020 10140 10040 whole" },
		{ .what = "to goexit(), by a frame pointer",
		  .sp = STACK,
		  .fp = STACK + 32,
		  .words = { 0x10020, 1, 0x10040, 0, 0, 0x10080 },
		  .wanted = "10020 10040 10080 whole" },
		{ .what = "to one that goes on with another stack",
		  .sp = STACK,
		  .fp = STACK + 32,
		  .words = { 0x10020, 1, 0x10180, 0, 0, 0x10080 },
		  .wanted = "10020 10180 other" },
		{ .what = "from one whose caller does not align the stack",
		  .sp = STACK,
		  .words = { 0x101a5, 0x101b9, 1, 0x100a0 },
		  .wanted = "101a5 101b9 100a0 whole" },
		{ .what = "from such a one, to a call of another function",
		  .sp = STACK,
		  .words = { 0x101a5, 0x10020, 1, 0x100a0 },
		  .wanted = "101a5 no data" },
		{ .what = "by a frame pointer of one that does return",
		  .sp = STACK,
		  .fp = STACK + 32,
		  .words = { 0x10020, 1, 0x100c0, 0, 0, 0x10080 },
		  .wanted = "10020 100c0 10080 guessed" },
		{ .what = "by a frame pointer to what is no thread's first",
		  .sp = STACK,
		  .fp = STACK + 32,
		  .words = { 0x10020, 1, 0x10040, 0, 0, 0x100c0 },
		  .wanted = "10020 10040 100c0 guessed" },
		{ .what = "beyond the piece of stack",
		  .sp = STACK_END - 8,
		  .words = { [15] = 0x10020 },
		  .wanted = "10020 short" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_guess(&rows[i], &readable, OP_STACK_X86_64);
}

static int read_go_table(void *ctx, int fd, enum cfi_extent extent,
			 struct cfi_table **out)
{
	const struct cfi_code nothing = { .arch = CFI_X86_64, .len = 1 };
	int err = cfi_table_of_code(out, &nothing);

	(void)ctx;
	(void)fd;
	(void)extent;
	if (!err)
		(*out)->has_go = true;
	return err;
}

static int open_any_image(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The stack of Go's scheduler ends where it begins, whatever is above. */
TEST(go_has_other_stacks)
{
	static const struct unwinder_ops go = { .find_map = find_guessed_map,
						.open_image = open_any_image,
						.read_table = read_go_table,
						.ask_code = ask_code_bytes };
	static const struct {
		struct guess_row row;
		const char *wanted_in_go;
	} rows[] = {
		{ { .what = "an old frame is above",
		    .sp = STACK,
		    .words = { 0x101cc, 1, 0x100a0 },
		    .wanted = "101cc 100a0 whole" },
		  "101cc other" },
		{ { .what = "a function that returns",
		    .sp = STACK,
		    .words = { 0x10020, 1, 0x100a0 },
		    .wanted = "10020 100a0 whole" },
		  "10020 100a0 whole" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct guess_row in_go = rows[i].row;

		check_guess(&rows[i].row, &readable, OP_STACK_X86_64);
		in_go.wanted = rows[i].wanted_in_go;
		check_guess(&in_go, &go, OP_STACK_X86_64);
	}
}

TEST(leaves_of_aarch64)
{
	static const struct guess_row rows[] = {
		{ "a leaf", STACK, 0, 0x10100, { 0x10200 }, "10100 no data" },
		{ "a signed address",
		  STACK,
		  0,
		  SIGNED | 0x10100,
		  { 0 },
		  "10100 no data" },
		{ "47 bits are of the address",
		  STACK,
		  0,
		  UINT64_C(1) << 47 | 0x10100,
		  { 0 },
		  "no data" },
		{ "no link register", STACK, 0, 0, { 0x10200 }, "no data" },
		{ "a link to no code", STACK, 0, CODE, { 0x10200 }, "no data" },
		/* A record is believed before the link register is. */
		{ "a record and a link",
		  STACK,
		  STACK + 16,
		  0x10300,
		  { [2] = 0, SIGNED | 0x10200 },
		  "10200 guessed" },
		{ "a link behind a record is not believed",
		  STACK,
		  STACK + 16,
		  0x10300,
		  { [2] = STACK + 1, 0x10200 },
		  "10200 no data" },
		{ "a leaf, and then no leaf again",
		  STACK,
		  STACK + 16,
		  0x10300,
		  { [2] = 0, 0x20001 },
		  "10300 no data" },
	};

	GUESSES(rows, OP_STACK_AARCH64);
}

TEST(other_machines_have_no_frames)
{
	static const struct guess_row row = {
		"another machine", STACK,	   STACK,
		0x10100,	   { 0, 0x10200 }, "no data"
	};

	check_guess(&row, &no_data, (enum op_stack_arch)0);
	check_guess(&row, &no_data, (enum op_stack_arch)(OP_STACK_AARCH64 + 1));
}

/* ---- images
 * ------------------------------------------------------------------
 */

/* What the functions below return, and how often they were called. */
struct image_source {
	int id_err, table_err;
	bool are_unlike;
	unsigned int nr_opened, nr_tables;
};

static int open_null_image(void *ctx, uint64_t cookie)
{
	struct image_source *source = ctx;

	(void)cookie;
	source->nr_opened++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* All images have one build-id. */
static int read_one_id(void *ctx, int fd, struct op_build_id *id)
{
	struct image_source *source = ctx;

	(void)fd;
	*id = (struct op_build_id){ .len = 1, .bytes = { 7 } };
	return source->id_err;
}

static int read_empty_table(void *ctx, int fd, enum cfi_extent extent,
			    struct cfi_table **out)
{
	struct image_source *source = ctx;
	const struct cfi_code nothing = {
		.arch = source->are_unlike && source->nr_tables % 2
				? CFI_AARCH64
				: CFI_X86_64,
		.len = 1,
	};

	(void)fd;
	(void)extent;
	source->nr_tables++;
	return source->table_err ?: cfi_table_of_code(out, &nothing);
}

TEST(images_may_have_no_table_or_id)
{
	static const struct unwinder_ops ops = {
		.find_map = find_guessed_map,
		.open_image = open_null_image,
		.read_id = read_one_id,
		.read_table = read_empty_table,
	};
	static const struct {
		int id_err, table_err;
		bool are_unlike; /* the tables of two files with one id */
		uint64_t nr_made, nr_failed;
	} rows[] = {
		{ 0, 0, false, 1, 0 },
		/* Whoever makes a file gives it any id. */
		{ 0, 0, true, 2, 0 },
		/* Of an id that cannot be read nothing is believed. */
		{ -EIO, 0, false, 2, 0 },
		{ 0, -EBADMSG, false, 0, 2 },
		{ -EIO, -EBADMSG, false, 0, 2 },
		{ 0, -ENOMEM, false, 0, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct image_source source = {
			.id_err = rows[i].id_err,
			.table_err = rows[i].table_err,
			.are_unlike = rows[i].are_unlike,
		};
		struct unwinder_stats stats;
		struct unwinder *unwinder;
		uint64_t start;

		assert_int_equal(unwinder_new(&unwinder, &ops, &source), 0);
		for (uint64_t k = 0; k < 6; k++)
			assert_false(unwinder_function(unwinder, 5 + k % 2, 0,
						       &start));
		unwinder_stats(unwinder, &stats);
		unwinder_free(unwinder);
		assert_int_equal(source.nr_opened, 2);
		assert_int_equal(source.nr_tables, 2);
		assert_int_equal(stats.nr_made, rows[i].nr_made);
		assert_int_equal(stats.nr_tables, rows[i].nr_made);
		assert_int_equal(stats.nr_failed, rows[i].nr_failed);
		assert_int_equal(stats.bytes > 0, rows[i].nr_made > 0);
	}
}

/* Nothing is guessed where a table may be that there is no memory for. */
TEST(tables_may_lack_memory)
{
	static const struct unwinder_ops ops = {
		.find_map = find_guessed_map,
		.open_image = open_null_image,
		.read_id = read_one_id,
		.read_table = read_empty_table,
	};
	static const struct guess_row row = {
		.sp = STACK,
		.fp = STACK + 16,
		.words = { [2] = 0, 0x10100 },
	};
	static const struct {
		int table_err;
		enum op_trace_ending ending;
		size_t nr_frames;
	} rows[] = {
		{ -EBADMSG, OP_TRACE_GUESSED, 1 },
		{ -ENOMEM, OP_TRACE_NO_MEMORY, 0 },
		{ -EFBIG, OP_TRACE_NO_MEMORY, 0 },
	};
	const struct cfi_stack stack = { STACK, (const uint8_t *)row.words,
					 sizeof(row.words) };
	const struct cfi_regs regs = regs_of_guess(&row, OP_STACK_X86_64);
	struct unwinder_frame frames[MAX_FRAMES];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct image_source source = { .table_err = rows[i].table_err };
		enum op_trace_ending ending;
		struct unwinder *unwinder;
		size_t nr;

		assert_int_equal(unwinder_new(&unwinder, &ops, &source), 0);
		nr = unwinder_unwind(unwinder, OP_STACK_X86_64, &regs, &stack,
				     frames, MAX_FRAMES, &ending);
		assert_int_equal(ending, rows[i].ending);
		assert_int_equal(nr, rows[i].nr_frames);
		assert_int_equal(source.nr_tables, 1);
		/* Memory may come: it is tried again, but not each time. */
		source.table_err = 0;
		for (int k = 0; k < 20000; k++)
			unwinder_unwind(unwinder, OP_STACK_X86_64, &regs,
					&stack, frames, MAX_FRAMES, &ending);
		assert_int_equal(source.nr_tables,
				 rows[i].table_err == -EBADMSG ? 1 : 2);
		assert_int_equal(ending, OP_TRACE_GUESSED);
		unwinder_free(unwinder);
	}
}
