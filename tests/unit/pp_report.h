/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_REPORT_H
#define TESTS_UNIT_PP_REPORT_H

/*
 * A report made by hand, for tests of what is written of it: three symbols in
 * three images and two applications, in two classes. What is to be in it is
 * chosen with the flags below.
 */

#include <math.h>

#include "libpp/format/format.h"
#include "libpp/report/report.h"
#include "pp_fixture.h"

enum {
	TWO = 1, /* both classes, else the first one */
	SYMBOLS = 2,
	DETAILS = 4,
	LINES = 8,
	INTERVALS = 16,
	DIFF = 32,
	CALLS = 64,
	MANY_APPS = 128,
	BIG = 256, /* addresses of more than 32 bits */
	ACCOUNT = 512,
	CODE = 1024,
};

struct made_report {
	struct pp_report report;
	struct pp_class classes[2];
	struct pp_event_text texts[2];
	struct pp_symbol_entry symbols[3];
	struct pp_neighbours neighbours[3];
};

static const struct pp_image made_images[] = {
	{ .name = "/usr/bin/prog", .base = "prog", .binary = "/usr/bin/prog" },
	{ .name = "/lib/libc.so", .base = "libc.so" },
	{ .name = "/opt/other", .base = "other", .mtime = 1000 },
};

static const uint64_t made_totals[] = { 1000, 8 };
static const uint64_t made_old_totals[] = { 2000, 0 };

/* The samples of each symbol, now and before. */
static const uint64_t made_counts[3][2] = { { 600, 3 }, { 399, 5 }, { 1, 0 } };
static const uint64_t made_old_counts[3][2] = { { 1000, 0 },
						{ 0, 0 },
						{ 7, 0 } };

static const uint64_t made_detail_counts[3][2] = { { 100, 3 },
						   { 500, 0 },
						   { 399, 5 } };

static const struct pp_detail made_details[] = {
	{ .vma = 0x401000,
	  .counts = made_detail_counts[0],
	  .place = { "/src/dir/main.c", 12 } },
	{ .vma = 0x401008, .counts = made_detail_counts[1] },
	{ .vma = 0x1001,
	  .counts = made_detail_counts[2],
	  .place = { "file.c", 4000000000u } },
};

static const uint8_t made_code[] = { 0x55, 0x00, 0xff, 0x0a, 1, 2, 3, 4 };

#define CHANGE(percent_, low_, high_, p_, mark)                                \
	{                                                                      \
		.percent = (percent_), .low = (low_), .high = (high_),         \
		.p = (p_), .significant = (mark)                               \
	}
static const struct pp_change made_changes[3][2] = {
	{ CHANGE(20, 10.5, 30, 0.00001, true), CHANGE(0, -1, 1, 1, false) },
	{ CHANGE(INFINITY, 5, INFINITY, 0.03, false),
	  CHANGE(INFINITY, 1, INFINITY, 0.5, false) },
	{ CHANGE(-100, -100, -20, 0.04, true), CHANGE(0, 0, 0, 1, false) },
};
static const struct pp_measure made_measures[2];

/* main calls itself and f, f calls main; nothing is known of the third. */
static const uint64_t made_arc_counts[3][2] = { { 40, 0 },
						{ 60, 1 },
						{ 10, 0 } };
static const uint64_t made_sums[6][2] = {
	{ 50, 0 }, { 700, 4 }, { 660, 4 }, { 60, 1 }, { 409, 5 }, { 0, 0 },
};

static inline struct op_ledger made_account(void)
{
	struct op_ledger account = {
		.source = "file",
		.taken = 1010,
		.stored = 1000,
		.pending = 0,
	};

	assert_int_equal(op_ledger_lose(&account, "buffer_full", 8), 0);
	assert_int_equal(op_ledger_lose(&account, "nothing", 0), 0);
	assert_int_equal(op_ledger_lose(&account, "no_mm", 2), 0);
	return account;
}

static inline void make_symbols(struct made_report *m, unsigned int flags)
{
	m->symbols[0] = (struct pp_symbol_entry){
		.app = "/usr/bin/prog",
		.image = &made_images[0],
		.raw_name = "main",
		.name = "main",
		.vma = 0x401000,
		.size = 0x20,
		.place = { "/src/dir/main.c", 12 },
		.details = made_details,
		.nr_details = 2,
	};
	m->symbols[1] = (struct pp_symbol_entry){
		.app = "/usr/bin/prog",
		.image = &made_images[1],
		.raw_name = "_Z1f",
		.name = "f<a&, \"b\">",
		.vma = flags & BIG ? 0x7f0000001000 : 0x1000,
		.size = 8,
		.code = flags & CODE ? made_code : NULL,
		.details = made_details + 2,
		.nr_details = 1,
	};
	m->symbols[2] = (struct pp_symbol_entry){
		.app = "/opt/other",
		.image = &made_images[2],
		.raw_name = "/opt/other",
		.name = "/opt/other",
		.presence = flags & DIFF ? PP_GONE : PP_BOTH,
	};
	m->symbols[1].presence = flags & DIFF ? PP_NEW : PP_BOTH;
	for (size_t i = 0; i < 3; i++) {
		struct pp_symbol_entry *entry = &m->symbols[i];

		entry->nr = i;
		entry->counts = made_counts[i];
		if (!(flags & DETAILS))
			entry->nr_details = 0;
		if (!(flags & LINES))
			entry->place = (struct pp_place){ NULL, 0 };
		if (flags & DIFF) {
			entry->old_counts = made_old_counts[i];
			entry->changes = made_changes[i];
		}
		if (flags & CALLS)
			entry->neighbours = &m->neighbours[i];
	}
}

static inline void make_calls(struct made_report *m)
{
	static struct pp_arc arcs[8];
	const struct pp_symbol_entry *s = m->symbols;

	arcs[0] = (struct pp_arc){ &s[1], made_arc_counts[2], false, false };
	arcs[1] = (struct pp_arc){ &s[0], made_arc_counts[0], false, true };
	arcs[2] = (struct pp_arc){ &s[0], made_counts[0], true, false };
	arcs[3] = (struct pp_arc){ &s[1], made_arc_counts[1], false, false };
	arcs[4] = (struct pp_arc){ &s[0], made_arc_counts[0], false, true };
	arcs[5] = (struct pp_arc){ &s[0], made_arc_counts[1], false, false };
	arcs[6] = (struct pp_arc){ &s[1], made_counts[1], true, false };
	arcs[7] = (struct pp_arc){ &s[0], made_arc_counts[2], false, false };
	m->neighbours[0] = (struct pp_neighbours){
		arcs, arcs + 2, 2, 3, made_sums[0], made_sums[1], made_sums[2],
	};
	m->neighbours[1] = (struct pp_neighbours){
		arcs + 5,     arcs + 6,	    1, 2, made_sums[3],
		made_sums[4], made_sums[4],
	};
	m->neighbours[2] = (struct pp_neighbours){
		.caller_totals = made_sums[5],
		.callee_totals = made_counts[2],
		.cumulative = made_counts[2],
	};
}

static const struct pp_summary_image made_summary_images[] = {
	{ "/usr/bin/prog", made_counts[0] },
	{ "/lib/libc.so", made_counts[1] },
	{ "/opt/other", made_counts[2] },
};

static const uint64_t made_app_counts[] = { 999, 8 };

static const struct pp_summary_app made_apps[] = {
	{ "/usr/bin/prog", made_app_counts, made_summary_images, 2 },
	{ "/opt/other", made_counts[2], made_summary_images + 2, 1 },
};

static inline void make_report(struct made_report *m, unsigned int flags)
{
	static struct op_ledger account;

	*m = (struct made_report){ 0 };
	m->classes[0] = (struct pp_class){
		.name = "cpu:0",
		.event = "CYCLES",
		.count = 100000,
		.unit_mask = 1,
		.counted_unit_mask = 1,
		.tgid = OP_MANGLE_ALL,
		.tid = OP_MANGLE_ALL,
		.cpu = 0,
		.scale = 1,
		.grain = 1,
	};
	m->classes[1] = m->classes[0];
	m->classes[1].name = "cpu:12 and a long name";
	m->classes[1].cpu = 12;
	make_symbols(m, flags);
	make_calls(m);
	account = made_account();
	m->report = (struct pp_report){
		.old.classes = { .classes = m->classes,
				 .nr = flags & TWO ? 2 : 1 },
		.classes = { .classes = m->classes,
			     .nr = flags & TWO ? 2 : 1,
			     .axis = flags & TWO ? PP_AXIS_CPU
						 : PP_AXIS_EVENT },
		.cpu.type = "x86-64/family10",
		.cpu.title = "AMD64 family10",
		.cpu.event_texts = m->texts,
		.totals = made_totals,
		.summary.apps = made_apps,
		.summary.nr_apps = 2,
		.symbols.made = flags & (SYMBOLS | CALLS),
		.symbols.many_apps = flags & MANY_APPS,
		.lines.made = flags & LINES,
		.symbols.has_details = flags & DETAILS,
		.intervals = flags & INTERVALS,
		.old.made = flags & DIFF,
		.old.measures = made_measures,
		.old.totals = flags & DIFF ? made_old_totals : NULL,
		.old.symbol_totals = flags & DIFF ? made_old_totals : NULL,
		.symbols.totals = made_totals,
		.symbols.list = m->symbols,
		.symbols.nr = flags & (SYMBOLS | CALLS) ? 3 : 0,
		.calls.made = flags & CALLS,
		.symbols.known = m->symbols,
		.symbols.nr_known = flags & (SYMBOLS | CALLS) ? 3 : 0,
		.account = flags & ACCOUNT ? &account : NULL,
	};
}

/* What @format writes of @report from @from to before @to; @row says which row
 * of a table it is. */
static inline void written_must_be(const char *row, const char *format,
				   const struct pp_report *report,
				   const struct pp_format_options *options,
				   const char *from, const char *to,
				   const char *wanted)
{
	const char *start, *end;
	struct text all, part;

	assert_int_equal(pp_format_find(format)->write(text_begin(&all), report,
						       options),
			 0);
	fputs("END", all.out);
	fclose(all.out);
	start = strstr(all.all, from);
	end = start ? strstr(start, to) : NULL;
	if (!end)
		fail_msg("%s: from \"%s\" to \"%s\" there is nothing", row,
			 from, to);
	fwrite(start, (size_t)(end - start), 1, text_begin(&part));
	free(all.all);
	text_must_be(&part, row, wanted);
}

#endif /* TESTS_UNIT_PP_REPORT_H */
