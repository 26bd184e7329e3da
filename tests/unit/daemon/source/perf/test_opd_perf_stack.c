// SPDX-License-Identifier: GPL-2.0-or-later
/* From samples with stacks, as perf_events tells them, to traces. */

#include "daemon/source/perf/opd_perf_regs.h"
#include "tests/unit/daemon/source/perf_records.h"
#include "tests/unit/daemon/source/perf_rig.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define APP UINT64_C(0x400000)
#define LIB UINT64_C(0x7f0000000000)
#define STACK UINT64_C(0x7ffd00001000)
#define DEPTH 12

/* Where each is among the words of a sample. */
#if defined(__x86_64__)
enum { CX = 2, FP = 6, SP = 7, PC = 8 };
#else
enum { CX = 0, FP = 29, SP = 31, PC = 32 };
#endif

/* A sample that is being made up. */
struct sample {
	uint64_t chain[64];
	size_t nr_chain;
	uint64_t regs[OPD_PERF_NR_REGS];
	uint64_t stack[64];
	struct opd_perf_rec rec;
};

static struct rig *new_stack_rig(void)
{
	struct rig *rig = new_rig();

	assert_int_equal(opd_perf_stacks_init(&rig->table, DEPTH, 6), 0);
	do_exec(rig, 7);
	do_map(rig, 7, APP, 0x10000, 0x1000, "/no/app");
	do_map(rig, 7, LIB, 0x10000, 0x2000, "/no/lib.so");
	do_map(rig, 7, LIB + 0x100000, 0x1000, 0, "//anon");
	return rig;
}

static int set_up(void **state)
{
	*state = new_stack_rig();
	return 0;
}

static int tear_down(void **state)
{
	free_rig(*state);
	return 0;
}

#define STACK_TEST(name) TEST_WITH(name, set_up, tear_down)

static struct sample *new_sample(struct rig *rig, uint16_t misc, uint64_t ip)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->rec = rec_of(rig, PERF_RECORD_SAMPLE, 7);
	s->rec.misc = misc;
	s->rec.sample.ip = ip;
	s->rec.sample.abi = PERF_SAMPLE_REGS_ABI_64;
	s->rec.sample.regs = s->regs;
	s->rec.sample.regs_mask = OPD_PERF_REGS;
	s->rec.sample.stack = s->stack;
	s->rec.sample.stack_len = sizeof(s->stack);
	s->regs[SP] = STACK;
	s->regs[PC] = ip;
	return s;
}

/* A frame's record at word @at: the next one's place and a return address. */
static void put_frame(struct sample *s, unsigned int at, unsigned int next,
		      uint64_t return_address)
{
	s->stack[at] = next ? STACK + 8 * next : 0;
	s->stack[at + 1] = return_address;
}

/* Library, called by the program, called by the program. */
static void put_frames(struct sample *s)
{
	s->regs[FP] = STACK + 8 * 2;
	put_frame(s, 2, 8, LIB + 0x101);
	put_frame(s, 8, 12, APP + 0x201);
	put_frame(s, 12, 0, APP + 0x301);
}

static void put_chain(struct sample *s, uint64_t word)
{
	s->chain[s->nr_chain++] = word;
	s->rec.sample.chain = s->chain;
	s->rec.sample.chain_len = s->nr_chain;
}

/* What came of it: all frames, and how the trace ended. */
struct result {
	struct seen frame[DEPTH + 1];
	unsigned int nr;
	uint64_t ending;
};

static struct result run(struct rig *rig, struct sample *s)
{
	const struct op_stream_words *words = &rig->table.writer->words;
	const uint64_t *end;
	struct result r = { .nr = 0 };
	unsigned int begins = 0;

	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_handle_sample(&rig->table, &s->rec, 3, 1);
	end = words->words + words->nr;
	for (const uint64_t *w = words->words + rig->taken; w + 1 < end; w++)
		begins +=
			w[0] == OP_ESCAPE && OP_CODE_OF(w[1]) == OP_TRACE_BEGIN;
	assert_int_equal(begins, 1);
	while (r.nr <= DEPTH && next_sample(rig, &r.frame[r.nr]))
		r.nr++;
	assert_true(r.nr <= DEPTH);
	rig->written -= r.nr - 1;
	/* The end is the last record there is. */
	assert_int_equal(end[-3], OP_ESCAPE);
	assert_int_equal(OP_CODE_OF(end[-2]), OP_TRACE_END);
	r.ending = end[-1];
	free(s);
	return r;
}

static void is_user(struct rig *rig, const struct seen *frame, const char *name,
		    uint64_t pc)
{
	assert_false(frame->kernel);
	expect_cookie(rig, frame->cookie, name);
	assert_int_equal(frame->pc, pc);
}

static void is_kernel(const struct seen *frame, uint64_t pc)
{
	assert_true(frame->kernel);
	assert_int_equal(frame->pc, pc);
}

/* The library and the program, from frame @at of @r on. */
static void are_frames(struct rig *rig, const struct result *r, unsigned int at)
{
	assert_int_equal(r->nr, at + 3);
	is_user(rig, &r->frame[at], "/no/lib.so", 0x2101);
	is_user(rig, &r->frame[at + 1], "/no/app", 0x1201);
	is_user(rig, &r->frame[at + 2], "/no/app", 0x1301);
}

STACK_TEST(in_user_mode)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, LIB + 0x800);
	struct result r;

	put_frames(s);
	r = run(rig, s);
	assert_int_equal(r.frame[0].counter, 1);
	is_user(rig, &r.frame[0], "/no/lib.so", 0x2800);
	are_frames(rig, &r, 1);
}

/* All frames of the next trace that rig has in its words. */
static struct result next_trace(struct rig *rig)
{
	struct result r = { .nr = 0 };

	while (r.nr < 4 && next_sample(rig, &r.frame[r.nr]))
		r.nr++;
	return r;
}

STACK_TEST(two_events_have_one_stack)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, LIB + 0x800);
	struct result r;

	put_frames(s);
	rig->table.times = 4;
	rig->table.other_times = 3;
	rig->table.other_counter = 2;
	/* There is room for both. */
	assert_true(rig->table.writer->words.spare >=
		    2 * (OPD_PERF_SAMPLE_WORDS + OPD_PERF_TRACE_WORDS +
			 DEPTH * OPD_PERF_CALLER_WORDS));
	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_handle_sample(&rig->table, &s->rec, 3, 1);
	for (uint64_t counter = 1; counter <= 2; counter++) {
		r = next_trace(rig);
		assert_int_equal(r.frame[0].counter, counter);
		assert_int_equal(r.frame[0].times, counter == 1 ? 4 : 3);
		is_user(rig, &r.frame[0], "/no/lib.so", 0x2800);
		are_frames(rig, &r, 1);
	}
	assert_int_equal(rig->table.stats[OPD_PERF_RECEIVED], 7);
	rig->table.times = 1;
	rig->table.other_times = 0;
	rig->written = 7;
	free(s);
}

STACK_TEST(kernel_and_user)
{
	struct rig *rig = *state;
	struct sample *s =
		new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	struct result r;

	s->regs[PC] = LIB + 0x500;
	put_frames(s);
	put_chain(s, PERF_CONTEXT_KERNEL);
	put_chain(s, KERNEL + 0x10);
	put_chain(s, KERNEL + 0x20);
	put_chain(s, KERNEL + 0x30);
	r = run(rig, s);
	is_kernel(&r.frame[0], KERNEL + 0x10);
	is_kernel(&r.frame[1], KERNEL + 0x20);
	is_kernel(&r.frame[2], KERNEL + 0x30);
	/* It was about to do what is there: no return address. */
	is_user(rig, &r.frame[3], "/no/lib.so", 0x2501);
	are_frames(rig, &r, 4);
}

#if defined(__x86_64__)
/* A system call returns to its pc, which was in the call. */
STACK_TEST(system_calls)
{
	struct rig *rig = *state;
	struct sample *s =
		new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	struct result r;

	s->regs[PC] = s->regs[CX] = LIB + 0x500;
	put_frames(s);
	put_chain(s, PERF_CONTEXT_KERNEL);
	put_chain(s, KERNEL + 0x10);
	r = run(rig, s);
	is_user(rig, &r.frame[1], "/no/lib.so", 0x2500);
	are_frames(rig, &r, 2);
}

STACK_TEST(tasks_of_32_bits)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, APP + 0x10);
	uint32_t *stack = (uint32_t *)s->stack;
	struct result r;

	s->rec.sample.abi = PERF_SAMPLE_REGS_ABI_32;
	s->regs[SP] = 0xffff0000;
	s->regs[FP] = 0xffff0000 + 4 * 3;
	stack[3] = 0xffff0000 + 4 * 9;
	stack[4] = (uint32_t)APP + 0x201;
	stack[10] = (uint32_t)APP + 0x301;
	r = run(rig, s);
	assert_int_equal(r.nr, 3);
	is_user(rig, &r.frame[0], "/no/app", 0x1010);
	is_user(rig, &r.frame[1], "/no/app", 0x1201);
	is_user(rig, &r.frame[2], "/no/app", 0x1301);
	assert_int_equal(r.ending, OP_TRACE_GUESSED);

	/* no chain: a register that something else is in */
	s = new_sample(rig, PERF_RECORD_MISC_USER, APP + 0x10);
	s->rec.sample.abi = PERF_SAMPLE_REGS_ABI_32;
	s->regs[SP] = 0xffff0000;
	s->regs[FP] = 0;
	r = run(rig, s);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.ending, OP_TRACE_NO_UNWIND);
}

/* Chains that lead down, nowhere, into data, or out of what was copied. */
TEST(bad_chains_of_32_bits)
{
	static const struct {
		uint32_t fp, next, pc;
		uint64_t ending;
		unsigned int nr;
	} all[] = {
		{ 12, 4, 0x201, OP_TRACE_NO_UNWIND, 2 },
		{ 12, 12, 0x201, OP_TRACE_NO_UNWIND, 2 },
		{ 13, 0, 0x201, OP_TRACE_NO_UNWIND, 1 },
		{ 12, 40, 0xf0000000, OP_TRACE_NO_UNWIND, 1 },
		{ 12, 40, -(uint32_t)APP, OP_TRACE_NO_UNWIND, 1 },
		{ 512, 40, 0x201, OP_TRACE_SHORT_STACK, 1 },
		{ 508, 40, 0x201, OP_TRACE_SHORT_STACK, 1 },
		{ 12, 4000, 0x201, OP_TRACE_SHORT_STACK, 2 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct rig *rig = new_stack_rig();
		struct sample *s =
			new_sample(rig, PERF_RECORD_MISC_USER, APP + 0x10);
		struct result r;

		s->rec.sample.abi = PERF_SAMPLE_REGS_ABI_32;
		s->regs[SP] = 0xffff0000;
		s->regs[FP] = 0xffff0000 + all[i].fp;
		((uint32_t *)s->stack)[3] = 0xffff0000 + all[i].next;
		((uint32_t *)s->stack)[4] = (uint32_t)APP + all[i].pc;
		r = run(rig, s);
		assert_int_equal(r.ending, all[i].ending);
		assert_int_equal(r.nr, all[i].nr);
		free_rig(rig);
	}
}
#endif

STACK_TEST(kernel_threads)
{
	struct rig *rig = *state;
	struct sample *s =
		new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	struct result r;

	s->rec.pid = s->rec.tid = 2;
	s->rec.sample.abi = PERF_SAMPLE_REGS_ABI_NONE;
	s->rec.sample.regs = NULL;
	put_chain(s, PERF_CONTEXT_KERNEL);
	put_chain(s, KERNEL + 0x10);
	put_chain(s, KERNEL + 0x20);
	r = run(rig, s);
	assert_int_equal(r.nr, 2);
	is_kernel(&r.frame[1], KERNEL + 0x20);
	assert_int_equal(r.ending, OP_TRACE_WHOLE);
}

/* What the kernel has cut is not continued by what called it. */
STACK_TEST(deep_in_the_kernel)
{
	struct rig *rig = *state;
	struct sample *s =
		new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	struct result r;

	s->regs[PC] = LIB + 0x500;
	put_frames(s);
	put_chain(s, PERF_CONTEXT_KERNEL);
	for (uint64_t i = 1; i <= 6; i++)
		put_chain(s, KERNEL + 0x10 * i);
	r = run(rig, s);
	assert_int_equal(r.nr, 6);
	is_kernel(&r.frame[5], KERNEL + 0x60);
	assert_int_equal(r.ending, OP_TRACE_DEPTH);
}

/* No more frames than were asked for, wherever they are. */
STACK_TEST(deep_in_the_program)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, APP + 0x10);
	struct result r;

	s->regs[FP] = STACK + 8 * 2;
	for (unsigned int i = 2; i < 62; i += 2)
		put_frame(s, i, i + 2, APP + 0x100 + i);
	r = run(rig, s);
	assert_int_equal(r.nr, DEPTH);
	assert_int_equal(r.ending, OP_TRACE_DEPTH);
}

/* Frames of the kernel alone may be as many as were asked for. */
TEST(no_room_for_the_program)
{
	struct rig *rig = new_rig();
	struct sample *s;
	struct result r;

	assert_int_equal(opd_perf_stacks_init(&rig->table, 2, 6), 0);
	do_exec(rig, 7);
	do_map(rig, 7, LIB, 0x10000, 0x2000, "/no/lib.so");
	s = new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	s->regs[PC] = LIB + 0x500;
	put_chain(s, PERF_CONTEXT_KERNEL);
	put_chain(s, KERNEL + 0x10);
	put_chain(s, KERNEL + 0x20);
	r = run(rig, s);
	assert_int_equal(r.nr, 2);
	is_kernel(&r.frame[1], KERNEL + 0x20);
	assert_int_equal(r.ending, OP_TRACE_DEPTH);
	free_rig(rig);
}

/* A chain is the kernel's to write: it may say anything. */
STACK_TEST(odd_chains)
{
	struct rig *rig = *state;
	struct sample *s =
		new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	struct result r;

	s->rec.sample.abi = PERF_SAMPLE_REGS_ABI_NONE;
	s->rec.sample.regs = NULL;
	put_chain(s, KERNEL + 0x70); /* of nobody knows what */
	put_chain(s, PERF_CONTEXT_GUEST_KERNEL);
	put_chain(s, KERNEL + 0x80);
	put_chain(s, PERF_CONTEXT_KERNEL);
	put_chain(s, KERNEL + 0x20); /* not the sample itself: a caller */
	put_chain(s, UINT64_MAX);
	put_chain(s, PERF_CONTEXT_USER);
	put_chain(s, APP);
	r = run(rig, s);
	assert_int_equal(r.nr, 3);
	is_kernel(&r.frame[1], KERNEL + 0x20);
	is_user(rig, &r.frame[2], "/no/app", 0x1001);
}

/* In a recording the kernel may have followed frame pointers. */
STACK_TEST(user_chains)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, LIB + 0x10);
	struct result r;

	s->rec.sample.regs = NULL;
	put_chain(s, PERF_CONTEXT_USER);
	put_chain(s, LIB + 0x10);
	put_chain(s, LIB + 0x101);
	put_chain(s, APP + 0x201);
	r = run(rig, s);
	assert_int_equal(r.nr, 3);
	is_user(rig, &r.frame[0], "/no/lib.so", 0x2010);
	is_user(rig, &r.frame[1], "/no/lib.so", 0x2101);
	is_user(rig, &r.frame[2], "/no/app", 0x1201);
	assert_int_equal(r.ending, OP_TRACE_GUESSED);

	s = new_sample(rig, PERF_RECORD_MISC_USER, LIB + 0x10);
	s->rec.sample.regs = NULL;
	put_chain(s, PERF_CONTEXT_USER);
	put_chain(s, LIB + 0x10);
	put_chain(s, 0x1000); /* nothing is there */
	put_chain(s, APP + 0x201);
	r = run(rig, s);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.ending, OP_TRACE_NO_UNWIND);

	s = new_sample(rig, PERF_RECORD_MISC_USER, LIB + 0x10);
	s->rec.sample.regs = NULL;
	put_chain(s, PERF_CONTEXT_USER);
	for (int i = 0; i < DEPTH + 1; i++)
		put_chain(s, APP + 0x201);
	r = run(rig, s);
	assert_int_equal(r.nr, DEPTH);
	assert_int_equal(r.ending, OP_TRACE_DEPTH);
}

/* In execve(2) the registers are of a program that is gone. */
STACK_TEST(in_execve)
{
	struct rig *rig = *state;
	uint64_t endings[3];
	struct result r;

	for (int i = 0; i < 3; i++) {
		struct sample *s =
			new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);

		s->regs[PC] = i == 1 ? APP : 0x123456789000;
		put_chain(s, PERF_CONTEXT_KERNEL);
		put_chain(s, KERNEL + 0x10);
		r = run(rig, s);
		endings[i] = r.ending;
		assert_int_equal(r.nr, i == 1 ? 2 : 1);
	}
	assert_int_equal(endings[0], OP_TRACE_WHOLE);
	assert_int_equal(endings[2], OP_TRACE_BAD_STACK);
}

STACK_TEST(never_in_user_mode)
{
	struct rig *rig = *state;
	struct sample *s =
		new_sample(rig, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	struct result r;

	s->regs[PC] = 0;
	r = run(rig, s);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.ending, OP_TRACE_WHOLE);
}

/* Memory of no file is told from its start. */
STACK_TEST(code_made_at_run_time)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, APP + 0x10);
	struct result r;

	s->regs[FP] = STACK + 8 * 2;
	put_frame(s, 2, 8, LIB + 0x100101);
	put_frame(s, 8, 0, APP + 0x201);
	r = run(rig, s);
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.frame[1].cookie, OP_NO_COOKIE);
	assert_int_equal(r.frame[1].pc, 0x101);
	is_user(rig, &r.frame[2], "/no/app", 0x1201);
}

/* A sample that is lost has no trace. */
STACK_TEST(lost_samples)
{
	struct rig *rig = *state;
	struct sample *s = new_sample(rig, PERF_RECORD_MISC_USER, 0x10);

	opd_perf_handle_sample(&rig->table, &s->rec, 3, 1);
	assert_int_equal(rig->table.writer->words.nr, 0);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 1);
	free(s);
}
