// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pieces of user stacks in the stream: this program's own, which the daemon
 * unwinds as the C library does.
 */

#include <elf.h>
#include <limits.h>
#include <unwind.h>

#include "libdb/ctree.h"
#include <inttypes.h>

#include "tests/unit/opd_fixture.h"
#include "tests/unit/unwind_self.h"

#define EVENT "TIMER.0.0.all.all.all"
#define KERNEL UINT64_C(0xffffffff81000000)
#define MAX_OWN 4

static struct self self;
static struct snapshot snap;
static char app[PATH_MAX];
static uint64_t app_cookie;

__attribute__((noinline)) static void take_snapshot(void)
{
	ucontext_t context;

	getcontext(&context);
	snap.nr_model = backtrace(snap.model, SELF_MAX_FRAMES);
	self_regs(&snap.regs, &context);
	self_stack(&snap, UINT64_MAX);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		take_snapshot();
	__asm__ volatile("" ::: "memory");
}

static uint64_t mtime_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_mtime;
}

/* All images that this program has, and who it is. */
static void put_start(struct words *w, uint64_t later)
{
	put_begin(w);
	put_range(w, true, KERNEL, KERNEL + 0x100000, "vmlinux");
	for (size_t i = 0; i < self.nr_maps; i++) {
		size_t start = w->nr;

		if (!self.map[i].cookie)
			continue;
		put_record(w, OP_COOKIE_NAME, 10, self.map[i].cookie, U(0),
			   U(0), U(0), mtime_of(self.path[i]) + later, U(0),
			   U(0), U(0), U(0), U(0));
		put_string(w, start, self.path[i]);
		if (!strcmp(self.path[i], app))
			app_cookie = self.map[i].cookie;
	}
	put_cpu(w, 0);
	put_task(w, 12, 12, app_cookie);
}

static void put_user_stack(struct words *w)
{
	size_t start = w->nr, nr_words = (snap.stack.len + 7) / 8;

	put_record(w, OP_USER_STACK, 4, U(SELF_ARCH), U(SELF_NR_REGS),
		   U(self.nr_maps), snap.stack.len);
	for (unsigned int i = 0; i < SELF_NR_REGS; i++)
		put(w, snap.regs.reg[i]);
	for (size_t i = 0; i < self.nr_maps; i++) {
		put(w, self.map[i].start);
		put(w, self.map[i].end);
		put(w, self.map[i].offset);
		put(w, self.map[i].cookie);
	}
	assert_true(w->nr + nr_words < sizeof(w->word) / sizeof(w->word[0]));
	memcpy(w->word + w->nr, snap.stack.bytes, snap.stack.len);
	w->nr += nr_words;
	w->word[start + 1] = OP_CODE_WORD(OP_USER_STACK, 0, w->nr - start - 2);
}

static uint64_t offset_of(uint64_t addr)
{
	struct unwinder_map map = { .start = 0 };

	assert_true(self_find_map(&self, addr, &map));
	return addr - map.start + (map.cookie ? map.offset : 0);
}

/* A sample of this program, or of the kernel that it called. */
static void put_trace(struct words *w, bool in_kernel)
{
	if (in_kernel) {
		put_kernel(w);
	} else {
		put_user(w);
		put_image(w, app_cookie);
	}
	put_record(w, OP_TRACE_BEGIN, 0);
	put_sample(w,
		   in_kernel ? KERNEL + 0x10
			     : offset_of(snap.regs.reg[SELF_PC]),
		   0);
	if (in_kernel)
		put_sample(w, KERNEL + 0x21, 0);
	put_user_stack(w);
	/* This says nothing of what was to be unwound. */
	put_record(w, OP_TRACE_END, 1, U(OP_TRACE_NO_UNWIND));
}

static struct fixture *start(void)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));

	f->opd.options.separate_lib = true;
	put_start(w, 0);
	opd_trans_run(&f->opd, w->word, w->nr);
	free(w);
	return f;
}

static struct ctree *open_tree(struct fixture *f)
{
	char path[8192], name[8192];
	struct ctree *tree;

	snprintf(name, sizeof(name), "{root}%s/{tree}/" EVENT, app);
	sample_path(f, name, path, sizeof(path));
	assert_int_equal(ctree_open(&tree, path, ODB_RDONLY), 0);
	return tree;
}

/* The start of the function at @pc, as libgcc knows it, which asks for the
 * address that a function in it returns to. */
static uint64_t function_at(uint64_t pc)
{
	void *start = _Unwind_FindEnclosingFunction((void *)(pc + 1));

	assert_non_null(start);
	return offset_of((uint64_t)(uintptr_t)start);
}

/* Where frame @i called the one below it. */
static uint64_t call_at(uint32_t i)
{
	assert_true(i < (uint32_t)snap.nr_model);
	return offset_of((uint64_t)(uintptr_t)snap.model[i] - 1);
}

/* The one stack that there is is the model, below @inner other frames. */
static void is_model(struct fixture *f, uint32_t inner)
{
	struct ctree *tree = open_tree(f);
	uint32_t nr = ctree_nr_nodes(tree);
	struct ctree_node node;
	uint32_t from = 1;

	assert_int_equal(ledger_of(f).stacks[OP_STACKS_WHOLE], 1);
	assert_true(nr >= inner + 20);
	ctree_node(tree, nr, &node);
	assert_int_equal(node.count, 1);
	ctree_node(tree, nr - inner, &node);
	/* The model's frames of its own: a sanitizer adds one. */
	while (from < MAX_OWN && call_at(from) != node.offset)
		from++;
	for (uint32_t i = 0; i + inner < nr; i++) {
		ctree_node(tree, nr - inner - i, &node);
		assert_int_equal(node.offset, call_at(from + i));
	}
	ctree_close(tree);
}

TEST(in_user_mode)
{
	struct fixture *f = start();
	struct words *w = calloc(1, sizeof(*w));
	struct ctree *tree;
	struct ctree_node node;

	put_trace(w, false);
	run_words(f, w);
	is_model(f, 1);
	tree = open_tree(f);
	ctree_node(tree, ctree_nr_nodes(tree), &node);
	assert_int_equal(node.offset, function_at(snap.regs.reg[SELF_PC]));
	ctree_close(tree);
	free(w);
	free_fixture(f);
}

TEST(in_the_kernel)
{
	struct fixture *f = start();
	struct words *w = calloc(1, sizeof(*w));
	struct ctree *tree;
	struct ctree_node node;

	put_trace(w, true);
	run_words(f, w);
	is_model(f, 3);
	tree = open_tree(f);
	ctree_node(tree, ctree_nr_nodes(tree) - 2, &node);
	/* Where the kernel was entered, no return address. */
	assert_int_equal(node.offset, offset_of(snap.regs.reg[SELF_PC]));
	ctree_close(tree);
	free(w);
	free_fixture(f);
}

/* A file that is not the one that ran tells nothing. */
TEST(other_build)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));

	put_start(w, 1);
	put_trace(w, false);
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(ledger_of(f).stacks[OP_STACKS_WHOLE], 0);
	free(w);
	free_fixture(f);
}

TEST(short_stack)
{
	struct fixture *f = start();
	struct words *w = calloc(1, sizeof(*w));
	size_t len = snap.stack.len;

	snap.stack.len = 200;
	put_trace(w, false);
	snap.stack.len = len;
	run_words(f, w);
	assert_int_equal(ledger_of(f).stacks[OP_STACKS_TRUNCATED], 1);
	assert_int_equal(ledger_of(f).stored, 1);
	free(w);
	free_fixture(f);
}

/* As much of it as a record may have. */
TEST(largest_stack)
{
	struct fixture *f = start();
	struct words *w = calloc(1, sizeof(*w));
	size_t len = snap.stack.len;

	_Static_assert(sizeof(snap.bytes) >= OP_STACK_MAX_BYTES, "room for it");
	snap.stack.len = OP_STACK_MAX_BYTES;
	put_trace(w, false);
	snap.stack.len = len;
	run_words(f, w);
	assert_int_equal(f->opd.stats.bad_records, 0);
	assert_int_equal(ledger_of(f).stacks[OP_STACKS_WHOLE], 1);
	free(w);
	free_fixture(f);
}

/* Each of its numbers says something that cannot be; the sample is stored. */
TEST(damaged)
{
	const struct {
		size_t word;
		uint64_t value;
	} all[] = {
		{ 0, 0 },
		{ 0, 3 },
		{ 1, 16 },
		{ 1, UINT64_MAX },
		{ 2, OP_STACK_MAX_MAPS + 1 },
		{ 2, UINT64_MAX },
		{ 2, 200 },
		{ 3, OP_STACK_MAX_BYTES + 1 },
		{ 3, UINT64_MAX },
		{ 4 + SELF_NR_REGS, UINT64_MAX },
		{ 4 + SELF_NR_REGS + 1, 0 },
		{ 4 + SELF_NR_REGS + 4, 0 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct fixture *f = start();
		struct words *w = calloc(1, sizeof(*w));
		size_t at = 0;

		put_trace(w, false);
		while (w->word[at] != OP_ESCAPE ||
		       OP_CODE_OF(w->word[at + 1]) != OP_USER_STACK)
			at++;
		w->word[at + 2 + all[i].word] = all[i].value;
		run_words(f, w);
		assert_int_equal(ledger_of(f).stored, 1);
		assert_int_equal(f->opd.stats.bad_records, 1);
		assert_int_equal(ledger_of(f).stacks[OP_STACKS_WHOLE], 0);
		free(w);
		free_fixture(f);
	}
}

/* Behind a lost sample nothing is unwound. */
TEST(without_trace)
{
	struct fixture *f = start();
	struct words *w = calloc(1, sizeof(*w));

	put_user_stack(w);
	run_words(f, w);
	assert_int_equal(ledger_of(f).stacks[OP_STACKS_FRAMES], 0);
	assert_int_equal(f->opd.stats.bad_records, 0);
	free(w);
	free_fixture(f);
}

BEFORE_TESTS()
{
	if (!realpath("/proc/self/exe", app))
		abort();
	/* So that the library that unwinds the model is there. */
	snap.nr_model = backtrace(snap.model, SELF_MAX_FRAMES);
	self_maps(&self);
	recurse(20);
}
