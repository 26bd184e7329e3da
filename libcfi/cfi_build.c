// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the FDEs of an image to the rows of its table.
 *
 * 1. Functions are collected from .eh_frame and .debug_frame, with the entry
 *    point and the kernel's sigreturn trampoline, which have no FDE.
 * 2. They are sorted by where their code begins. Where two tell of the same
 *    code, the first in the order of enum kind is right. "floor" is how far
 *    code has its rows: a function that begins below it has rows from there on
 *    only.
 * 3. The instructions of each FDE are run (cfi_program.c). Each change of the
 *    rule is a row. Behind a function comes a row of rule 0, which says that
 *    nothing is known; the next function's row replaces it if it begins there.
 *    Of a table of functions alone each FDE gives one row, with the rule that
 *    holds where the function begins.
 * 4. An index by pages of code is made, for searches.
 *
 * Rows ascend: add_row drops those at or behind a new one. A row that would
 * repeat the rule of the row before is left out.
 *
 * The time is in proportion to the file, whatever is in it: each FDE is visited
 * once to be collected, and run once at most.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_build.h"
#include "libcfi/cfi_frames.h"
#include "libcfi/cfi_program.h"
#include "libop/base/op_array.h"
#include "libop/base/op_search.h"

#define PAGE_SHIFT 12

/*
 * The entry point of a program has no caller, and is written in assembler: that
 * of ld.so has no unwind data. Its code ends where the next function with data
 * starts, or after this many bytes.
 */
#define MAX_ENTRY_LEN 256

/* A function: the bytes of the file that hold its code. */
struct function {
	uint64_t start;
	uint64_t end;
	uint64_t place; /* of its FDE in the section */
	uint32_t kind; /* enum kind */
};

/* Where two tell of the same code, the one that comes first here is right. */
enum kind { IN_EH_FRAME, IN_DEBUG_FRAME, IS_ENTRY, IS_SIGRETURN };

struct build {
	struct cfi_table *table;
	const struct cfi_image *image;
	enum cfi_extent extent;
	struct function *functions;
	size_t nr_functions;
	uint64_t floor; /* offset: code below it has its rows */
	/* of the function at hand */
	uint64_t shift; /* address less offset */
	uint64_t start; /* the first offset that has its rows */
	bool is_mixed; /* it is several */
};

/* ---- functions --------------------------------------------------------------
 */

static int add_function(struct build *b, const struct function *f)
{
	int err = op_array_reserve(&b->functions, b->nr_functions, 1);

	if (!err)
		b->functions[b->nr_functions++] = *f;
	return err;
}

/* Data of code that the linker dropped is at address 0 or so: no code there. */
static bool place_function(const struct build *b, uint64_t start, uint64_t end,
			   struct function *f)
{
	const struct cfi_segment *s = cfi_image_segment(b->image, start);
	uint64_t most;

	if (!s || !s->is_code)
		return false;
	most = s->len - (start - s->addr);
	f->start = start - s->addr + s->offset;
	f->end = f->start + (end - start < most ? end - start : most);
	return true;
}

static int collect(struct build *b, const struct cfi_section *section)
{
	struct function f = {
		.kind = section->is_debug ? IN_DEBUG_FRAME : IN_EH_FRAME,
	};
	struct cfi_frames frames;
	struct cfi_fde fde;
	size_t at;
	int err = 0;

	if (!section->bytes)
		return 0;
	cfi_frames_init(&frames, section);
	while (!err && cfi_frames_next(&frames, &fde, &at)) {
		f.place = at;
		if (place_function(b, fde.start, fde.end, &f))
			err = add_function(b, &f);
	}
	return err;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return op_compare(f->start, g->start) ?: op_compare(f->kind, g->kind) ?:
	       op_compare(f->place, g->place);
}

static void sort_functions(struct build *b)
{
	for (size_t i = 1; i < b->nr_functions; i++)
		if (compare_functions(&b->functions[i - 1], &b->functions[i]) >
		    0) {
			qsort(b->functions, b->nr_functions,
			      sizeof(b->functions[0]), compare_functions);
			return;
		}
}

/* Unless some function holds the entry point. */
static int add_entry_function(struct build *b)
{
	struct function entry = { .kind = IS_ENTRY };

	if (!place_function(b, b->image->entry, b->image->entry + MAX_ENTRY_LEN,
			    &entry))
		return 0;
	for (size_t i = 0; i < b->nr_functions; i++) {
		const struct function *f = &b->functions[i];

		if (f->start <= entry.start && f->end > entry.start)
			return 0;
		if (f->start > entry.start && f->start < entry.end)
			entry.end = f->start;
	}
	return add_function(b, &entry);
}

/* With the instruction before, which is there to hold the return address - 1.
 */
static int add_sigreturn(struct build *b)
{
	const uint64_t at = b->image->sigreturn;
	struct function f = { .kind = IS_SIGRETURN };

	if (!at || !place_function(b, at - 4, at + 8, &f))
		return 0;
	return add_function(b, &f);
}

/* ---- rows -------------------------------------------------------------------
 */

static int push_row(struct build *b, uint32_t start, uint32_t rule)
{
	struct cfi_table *t = b->table;

	if (op_array_reserve(&t->start, t->nr, 1) ||
	    op_array_reserve(&t->rule, t->nr, 1))
		return -ENOMEM;
	t->start[t->nr] = start;
	t->rule[t->nr] = rule;
	t->nr++;
	return 0;
}

/* From @offset on @rule, with its bits, holds. Offsets come in order. */
static int add_table_row(struct build *b, uint64_t offset, uint32_t rule)
{
	struct cfi_table *t = b->table;
	uint64_t start = offset - t->base;

	/* A file of more than 4 GB of code has no data for the rest of it. */
	if (start > UINT32_MAX)
		return 0;
	while (t->nr && t->start[t->nr - 1] >= start)
		t->nr--;
	if (t->nr ? (t->rule[t->nr - 1] & ~(uint32_t)CFI_ROW_STARTS) == rule
		  : !rule)
		return 0;
	return push_row(b, (uint32_t)start, rule);
}

static int add_row_of_function(void *ctx, uint64_t addr, uint32_t rule)
{
	struct build *b = ctx;
	uint64_t offset = addr - b->shift;

	if (offset < b->start)
		offset = b->start;
	if (rule && b->is_mixed)
		rule |= CFI_ROW_MIXED;
	else if (rule && offset == b->start)
		rule |= CFI_ROW_STARTS;
	return add_table_row(b, offset, rule);
}

static int add_entry_row(struct build *b, const struct function *f)
{
	union {
		struct cfi_rule rule;
		uint8_t room[sizeof(struct cfi_rule) +
			     sizeof(struct cfi_place)];
	} outermost = { .rule = { .nr_places = 1 } };
	uint32_t rule;
	int err;

	outermost.rule.place[0] = (struct cfi_place){ .how = CFI_UNDEFINED };
	err = cfi_rules_add(&b->table->rules, &outermost.rule, &rule);
	/* The end of this function is a guess, so its rows are mixed. */
	return err ? err : add_table_row(b, f->start, rule | CFI_ROW_MIXED);
}

/*
 * The stack pointer is at the siginfo of struct rt_sigframe; in its ucontext
 * are x0 to x30, sp and pc (arch/arm64/include/uapi/asm/sigcontext.h).
 */
static int add_sigreturn_row(struct build *b, const struct function *f)
{
	union {
		struct cfi_rule rule;
		uint8_t room[sizeof(struct cfi_rule) +
			     CFI_MAX_REGS * sizeof(struct cfi_place)];
	} all = { .rule = { .nr_places = CFI_MAX_REGS,
			    .cfa_reg = CFI_AARCH64_SP,
			    .ra = CFI_AARCH64_PC,
			    .flags = CFI_RULE_SIGNAL } };
	const int32_t regs = 128 + 176 + 8;
	uint32_t rule;
	int err;

	for (unsigned int i = 0; i < CFI_MAX_REGS; i++)
		all.rule.place[i] = (struct cfi_place){
			.how = CFI_AT_CFA,
			.reg = (uint8_t)i,
			.value = regs + 8 * (int32_t)i,
		};
	err = cfi_rules_add(&b->table->rules, &all.rule, &rule);
	return err ? err : add_table_row(b, f->start, rule);
}

static int add_fde_rows(struct build *b, const struct function *f,
			struct cfi_frames *frames)
{
	const struct cfi_row_sink sink = { add_row_of_function, b };
	struct cfi_fde fde;

	/* The entry was found at this place before. */
	if (!cfi_frames_at(frames, f->place, &fde))
		return 0;
	b->shift = fde.start - f->start;
	b->start = f->start < b->floor ? b->floor : f->start;
	b->is_mixed = cfi_image_is_plt(b->image, fde.start);
	if (fde.end - fde.start > f->end - f->start)
		fde.end = fde.start + (f->end - f->start);
	/* For functions one rule is enough: a row says where each begins. */
	if (b->extent == CFI_FUNCTIONS)
		fde.insns_len = 0;
	return cfi_program_run(&fde, b->table->arch, &b->table->rules, &sink);
}

static int add_rows(struct build *b)
{
	struct cfi_frames frames[2];
	int err = 0;

	cfi_frames_init(&frames[IN_EH_FRAME], &b->image->eh_frame);
	cfi_frames_init(&frames[IN_DEBUG_FRAME], &b->image->debug_frame);
	for (size_t i = 0; i < b->nr_functions && !err; i++) {
		const struct function *f = &b->functions[i];

		if (f->end <= b->floor)
			continue;
		if (f->kind == IS_ENTRY)
			err = add_entry_row(b, f);
		else if (f->kind == IS_SIGRETURN)
			err = add_sigreturn_row(b, f);
		else
			err = add_fde_rows(b, f, &frames[f->kind]);
		b->floor = f->end;
		if (!err)
			err = add_table_row(b, f->end, 0);
	}
	return err;
}

/* ---- the table --------------------------------------------------------------
 */

static int index_pages(struct cfi_table *t)
{
	size_t row = 0;

	if (!t->nr)
		return 0;
	t->nr_pages = (t->start[t->nr - 1] >> PAGE_SHIFT) + 1;
	t->page = calloc(t->nr_pages, sizeof(*t->page));
	if (!t->page)
		return -ENOMEM;
	for (size_t page = 0; page < t->nr_pages; page++) {
		while (row + 1 < t->nr &&
		       t->start[row + 1] <= (uint64_t)page << PAGE_SHIFT)
			row++;
		t->page[page] = (uint32_t)row;
	}
	return 0;
}

static int build_cfi_table(struct build *b)
{
	struct cfi_table *t = b->table;
	int err = collect(b, &b->image->eh_frame);

	if (!err)
		err = collect(b, &b->image->debug_frame);
	if (!err)
		err = add_entry_function(b);
	if (!err)
		err = add_sigreturn(b);
	if (err || !b->nr_functions)
		return err;
	sort_functions(b);
	t->base = b->functions[0].start;
	err = add_rows(b);
	op_array_trim(&t->start, t->nr);
	op_array_trim(&t->rule, t->nr);
	return err ? err : index_pages(t);
}

int cfi_build(struct cfi_table *table, const struct cfi_image *image,
	      enum cfi_extent extent)
{
	struct build b = { .table = table, .image = image, .extent = extent };
	int err = cfi_rules_init(&table->rules);

	if (err)
		return err;
	table->arch = image->arch;
	err = build_cfi_table(&b);
	free(b.functions);
	cfi_rules_close(&table->rules);
	return err;
}
