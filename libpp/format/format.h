/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_FORMAT_H
#define LIBPP_FORMAT_FORMAT_H

/*
 * Output formats. Each has one line in PP_FORMATS and one file, which sees a
 * finished report and changes nothing in it. A program asks for what a format
 * can show by its flags, never by its name. doc/reports.md describes what the
 * formats write.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libpp/report/interval.h"
#include "libpp/report/report.h"

struct pp_code; /* libpp/images/code.h */

struct pp_format_options {
	bool no_header; /* rows alone */
	bool long_names; /* paths instead of their last component */
	bool show_address; /* the vma column */
	bool accumulated; /* cumulative columns */
	bool global_percent; /* of all samples, not of the enclosing row */
	size_t width; /* columns that rows may take; 0: any number */

	bool over_time; /* columns are times, to be drawn */
	bool unicode; /* with characters that not all terminals have */
	bool xml_classic; /* XML with nothing but what the original's schema
			     has */

	/* What was asked for, to be repeated; each may be NULL. */
	const char *command; /* the command line */
	const char *words; /* the specification, joined by commas */
	const char *exclude_symbols, *include_symbols;
	const char *image_path, *merge;
	bool exclude_dependent;

	/* Of a format that PP_SHOWS_ALL; each may be NULL. */
	const struct pp_report
		*stacks; /* the same profile with its call tree */
	const struct pp_code *code;
};

/* Parts of a report that a format can show, and parts that it needs. A program
 * makes the request of these. */
enum pp_format_flags {
	PP_SHOWS_SYMBOLS = 1 << 0, /* tables of images or of symbols */
	PP_SHOWS_DETAILS = 1 << 1, /* the addresses in each symbol */
	PP_SHOWS_CODE = 1 << 2, /* with these, the bytes of each symbol */
	PP_SHOWS_CALLS = 1 << 3, /* the call graph */
	PP_SHOWS_TOTALS = 1 << 4, /* of symbols, with what they called */
	PP_SHOWS_SHARES = 1 << 5, /* percentages and their intervals */
	PP_SHOWS_DIFF = 1 << 6, /* comparisons */
	PP_SHOWS_AXES = 1 << 7, /* classes that differ in several ways */
	PP_SHOWS_LOSS = 1 << 8, /* how many samples were lost */
	PP_SHOWS_INLINES = 1 << 9, /* inlined functions as symbols */
	PP_SHOWS_TREE = 1 << 10, /* the call tree, in place of tables */
	PP_DRAWS_TREE = 1 << 11, /* the call tree, where it is asked for */
	PP_SHOWS_FLAT = 1 << 12, /* in the call tree all samples, those without
				    a stack, too; another program shows it, and
				    turns it round itself */
	PP_SHOWS_ORIGINS = 1 << 13, /* in it cgroups, tasks, source files */
	PP_SHOWS_ALL = 1 << 14, /* symbols, the call tree and code, always */
	PP_NEEDS_SYMBOLS = 1 << 15, /* by application and image, always */
	PP_NEEDS_LINES = 1 << 16, /* symbols with addresses and lines, always */
	PP_NEEDS_CALLS = 1 << 17, /* totals of symbols, and stack calls */
	PP_NEEDS_FRAMES = 1 << 18, /* with lines, what functions they are of;
				      tasks and CPUs added up */
	PP_NEEDS_NAMES = 1 << 19, /* functions of one name are one frame */
	PP_NEEDS_ONE_CLASS = 1 << 20,
	PP_NEEDS_FILE = 1 << 21, /* nobody reads it on a terminal */
	PP_SHORTENS_NAMES = 1 << 22, /* people read it: names of C++ are short
					unless --demangle says otherwise */

	PP_SHOWS_THREADS = 1 << 23, /* the table of threads */
	PP_IS_PICTURE = 1 << 24, /* of the machine without the profiler */

	PP_SHOWS_TABLES = PP_SHOWS_SYMBOLS | PP_SHOWS_DETAILS | PP_SHOWS_CALLS |
			  PP_SHOWS_LOSS,
};

/*
 * All formats: name, title in messages, most nodes of its call tree (0: any
 * number), flags. A browser draws 500,000 nodes before anybody gets impatient.
 */
/* clang-format off */
#define PP_FORMATS(X)                                                          \
	X(text, "text", 0, PP_SHOWS_TABLES | PP_SHOWS_SHARES |                 \
			   PP_SHOWS_DIFF | PP_SHOWS_TOTALS | PP_DRAWS_TREE |   \
			   PP_SHOWS_INLINES | PP_SHORTENS_NAMES |              \
			   PP_SHOWS_THREADS)                                   \
	X(xml, "XML", 0, PP_SHOWS_TABLES | PP_SHOWS_CODE | PP_SHOWS_AXES |     \
			 PP_NEEDS_SYMBOLS)                                     \
	X(json, "JSON", 0, PP_SHOWS_TABLES | PP_SHOWS_SHARES | PP_SHOWS_DIFF | \
			   PP_SHOWS_AXES | PP_SHOWS_TOTALS |                   \
			   PP_SHOWS_INLINES | PP_SHOWS_THREADS)                \
	X(csv, "CSV", 0, PP_SHOWS_TABLES | PP_SHOWS_SHARES | PP_SHOWS_DIFF |   \
			 PP_SHOWS_AXES | PP_SHOWS_TOTALS | PP_SHOWS_INLINES |  \
			 PP_SHOWS_THREADS)                                     \
	X(folded, "folded stacks", 0, PP_SHOWS_TREE | PP_SHOWS_DIFF |          \
			 PP_SHOWS_AXES | PP_NEEDS_NAMES | PP_NEEDS_ONE_CLASS | \
			 PP_SHOWS_INLINES)                                     \
	X(flamegraph, "flame graph", 500000, PP_SHOWS_TREE | PP_SHOWS_DIFF |   \
			 PP_SHOWS_AXES | PP_SHOWS_LOSS | PP_NEEDS_FILE |       \
			 PP_SHOWS_INLINES | PP_SHORTENS_NAMES | PP_IS_PICTURE) \
	X(pprof, "pprof", 0, PP_SHOWS_TREE | PP_SHOWS_AXES | PP_SHOWS_LOSS |   \
			 PP_SHOWS_INLINES | PP_SHOWS_FLAT | PP_SHOWS_ORIGINS | \
			 PP_NEEDS_FILE)                                        \
	X(speedscope, "speedscope", 0, PP_SHOWS_TREE | PP_SHOWS_AXES |         \
			 PP_SHOWS_INLINES | PP_SHOWS_FLAT)                     \
	X(html, "HTML", 500000, PP_SHOWS_ALL | PP_SHOWS_SHARES |               \
			 PP_SHOWS_DIFF | PP_SHOWS_AXES | PP_SHOWS_LOSS |       \
			 PP_NEEDS_FILE | PP_SHOWS_INLINES |                    \
			 PP_SHORTENS_NAMES | PP_IS_PICTURE)                    \
	X(callgrind, "callgrind", 0, PP_SHOWS_SYMBOLS | PP_SHOWS_DETAILS |     \
			 PP_SHOWS_AXES | PP_SHOWS_INLINES | PP_NEEDS_SYMBOLS | \
			 PP_NEEDS_LINES | PP_NEEDS_CALLS | PP_SHOWS_LOSS)      \
	X(firefox, "Firefox Profiler", 0, PP_SHOWS_TREE | PP_SHOWS_AXES |      \
			 PP_SHOWS_FLAT | PP_SHOWS_LOSS | PP_SHOWS_INLINES)     \
	X(autofdo, "AutoFDO", 0, PP_SHOWS_SYMBOLS | PP_SHOWS_AXES |            \
			 PP_NEEDS_SYMBOLS | PP_NEEDS_LINES | PP_NEEDS_FRAMES | \
			 PP_NEEDS_ONE_CLASS)
/* clang-format on */

struct pp_format {
	const char *name, *title;
	uint32_t tree_max_nodes;
	unsigned int flags; /* enum pp_format_flags */
	/* Returns 0 or -ENOMEM; errors of @out are left in its error flag. */
	int (*write)(FILE *out, const struct pp_report *report,
		     const struct pp_format_options *options);
};

#define PP_DECLARE_FORMAT(name, title, max_nodes, flags)                       \
	int pp_format_##name(FILE *out, const struct pp_report *report,        \
			     const struct pp_format_options *options);
PP_FORMATS(PP_DECLARE_FORMAT)

/* The format called @name; NULL if there is none. */
const struct pp_format *pp_format_find(const char *name);

/* "text, xml ... or html": the names of all formats. */
#define PP_FORMAT_NAMES_LEN 256
const char *pp_format_names(char buf[PP_FORMAT_NAMES_LEN]);

/* The run, as far as the account knows it, in words: "./words 5000: 3.7 s, 2.9
 * s of CPU; host by user, Linux 6.1.0, 2026-11-30 13:05; cost 0.02 s of CPU,
 * 0.25 %". The cost is left out where pp_write_lowered() has it. A command that
 * is longer than @most bytes is cut; 0: it is not. */
bool pp_has_run(const struct op_ledger *account);
void pp_write_run(FILE *out, const struct op_ledger *account, size_t most);

/* The samples of an account in words, "108 taken = 100 stored + 8 lost"; and
 * the account with those of its events that had a counter for a part of the
 * time, "...; scaled: CYCLES:100000 was counted 49.8 % of the time". */
void pp_write_samples(FILE *out, const struct op_ledger *account);
void pp_write_account(FILE *out, const struct op_ledger *account);

/* Whether an account tells of stacks, and what became of them in words, "108
 * stored = 100 whole + 8 truncated". */
bool pp_has_stacks(const struct op_ledger *account);
void pp_write_stacks(FILE *out, const struct op_ledger *account);

/* Where most of the stacks without unwind data end, "; 93 end in
 * /lib/ld-musl-x86_64.so.1, which has no unwind data"; nothing if there are
 * none. */
void pp_write_stack_end(FILE *out, const struct pp_report *report);

/* The frames of @runtime, one of report->missing.folded, that are not shown. */
void pp_write_folded(FILE *out, const struct op_runtime *runtime);

/* Whether the rate was lowered to stay within a budget; then "to 250/s for 12 s
 * of 60 s ...". */
bool pp_rate_was_lowered(const struct op_ledger *account);
void pp_write_lowered(FILE *out, const struct op_ledger *account);
/* Whether the report has times of threads that ran and waited; then "Threads
 * ran 0.8 s of 6.5 s; waited 5.7 s". Whether it is known what for; then "Waited
 * for: lock 3.5 s, cpu 2.2 s". */
bool pp_has_times(const struct pp_report *report);
void pp_write_times(FILE *out, const struct pp_report *report);
bool pp_has_waits(const struct pp_report *report);
void pp_write_waits(FILE *out, const struct pp_report *report);

/* The time of the samples in words, "2026-03-31 14:00:07 to ..."; only if
 * @history has any. */
void pp_write_history(FILE *out, const struct pp_history *history);

/* Whether the counts of @class are scaled; then how far, in words. */
bool pp_is_scaled(const struct pp_class *class);
void pp_write_scale(FILE *out, const struct pp_class *class);

/* 95 % interval of the count of samples of @class that all add up to @total. */
struct pp_interval pp_class_total_interval(const struct pp_class *class,
					   uint64_t total);

/* How many columns of times a text of @width columns, 0 for any number, has
 * room for. */
size_t pp_text_drawing_len(size_t width);

/* @part in percent of @whole; 0 if that is 0. */
double pp_percent(uint64_t part, uint64_t whole);

/* Hex digits that all addresses of the report fit in: 8 or 16. */
int pp_vma_digits(const struct pp_report *report);

#endif /* LIBPP_FORMAT_FORMAT_H */
