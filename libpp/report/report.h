/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_REPORT_H
#define LIBPP_REPORT_REPORT_H

/*
 * The report model: all that an output format shows, finished. A program
 * fills a request, pp_report_new() does the work, formats read the model and
 * change nothing. Everything in it lives in the report's arena and dies with
 * it at once.
 *
 * Counts are samples, one per class in the order of the classes. For every
 * class the samples of all symbols add up to those of all applications,
 * unless symbols were asked for or excluded by name: samples in no symbol
 * have an entry of their own.
 *
 * A report with a call tree has no symbols beside it. Its classes are not kept
 * apart by thread and CPU: the roots of stacks tell threads.
 *
 * Where the event of a class had a hardware counter for a part of the time,
 * counts are samples that were taken times its scale (struct pp_class).
 *
 * A differential report compares symbols. All in it is of the later profile
 * but for what is called old.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_ledger.h"
#include "libop/image/op_build_id.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_session.h"
#include "libop/base/op_arena.h"
#include "libpp/select/arrange_profiles.h"
#include "libpp/symbols/op_bfd.h"
#include "libpp/counts.h"
#include "libpp/messages.h"
#include "libpp/select/profile_spec.h"
#include "libpp/select/sessions.h"
#include "libpp/report/request.h"
#include "libpp/tree/tree.h"

struct pp_archive; /* libpp/archive/archive.h */

/* ---- the model ----------------------------------------------------------- */

/*
 * An image that samples are in. Files of one path but of two builds are two
 * images, whose symbols are added up unless they are to be kept apart, when
 * their names tell the build.
 */
struct pp_image {
	const char *name; /* to be shown: its path, with the build where builds
			     are kept apart */
	const char *path; /* or what stands for one */
	const char *base; /* its last component */
	struct op_image_name recorded; /* as the sample files have it */
	enum op_image_kind kind;
	const char *build; /* op_build_text(); empty if not known */
	uint64_t samples; /* in it, of all classes */
	uint64_t mtime; /* when it was profiled; 0 unknown */
	uint64_t anon_start;
	const char *binary; /* the file that told its symbols; NULL if none
			       did */
	uint64_t binary_bias; /* from an address that is shown to a vma of
				 libpp/symbols/op_bfd.h */
	struct op_build_id build_id;
};

/* An image of which several builds were added up. */
struct pp_sum_of_builds {
	const char *name; /* last component of its path */
	size_t nr_builds;
};

/* A row of the image summary: an image in an application. */
struct pp_summary_image {
	const char *name;
	const uint64_t *counts;
};

struct pp_summary_app {
	const char *name;
	const uint64_t *counts;
	const struct pp_summary_image *images; /* those with samples */
	size_t nr_images;
};

struct pp_place {
	const char *file; /* NULL when not known */
	unsigned int line;
};

/* A function that the code at an address was written in. */
struct pp_code_frame {
	const char *name; /* as linkers have it where that is known */
	unsigned int declared; /* the line; 0 when not known, as below */
	unsigned int line; /* in it, of the address or of the call that was
			      replaced by the next function */
	unsigned int discriminator; /* of several blocks of code on that line */
};

struct pp_detail {
	uint64_t vma;
	const uint64_t *counts;
	/* Samples whose stacks pass the address, its own ones included; NULL
	 * unless totals of lines were made. Addresses of calls are there, too,
	 * with counts of zeros. */
	const uint64_t *all_counts;
	struct pp_place place;
	struct pp_place inlined_at; /* where its function was inlined; without
				       file where that is not known or not
				       so */
	const struct pp_code_frame *frames; /* the outermost first; if asked
					       for */
	size_t nr_frames;
};

/* On which sides of a comparison a symbol has samples. */
enum pp_presence {
	PP_BOTH,
	PP_NEW, /* only in the later one */
	PP_GONE, /* only in the old one: counts are zeros */
};

/* How a share changed. See libpp/report/interval.h for what is computed. */
struct pp_change {
	double percent; /* of the old share; infinite if that is 0 */
	double low, high; /* 95 % interval of @percent, if asked for */
	double p; /* chance of such a difference if there is none */
	bool significant; /* even among so many comparisons */
	/* Where counts of both profiles stand for time or events (see struct
	 * pp_measure), by how many samples they differ: else 0. */
	double difference;
	double least, most; /* 95 % interval of @difference */
	bool differs; /* beyond chance, even among so many comparisons */
};

/*
 * The meaning of a sample, where that is the same in both profiles of a
 * comparison: their counts can then be compared, and not only their shares.
 */
struct pp_measure {
	double per_sample; /* seconds of CPU, or events; 0: not the same, or not
			      known */
	bool is_time;
};

/*
 * The samples that pass a line of a symbol: they are in it, in what it calls,
 * or in what was inlined there. A stack counts once, however often it passes.
 */
struct pp_line_total {
	struct pp_place place;
	const uint64_t *counts;
};

struct pp_symbol_entry;

/*
 * A line of a symbol's call graph: calls between it and another symbol (or
 * itself, when it is recursive), or the samples that it has of its own.
 */
struct pp_arc {
	const struct pp_symbol_entry *other;
	const uint64_t *counts;
	bool self; /* its own samples */
	bool recursive;
};

/*
 * The neighbours of a symbol in all stacks: a stack counts once for each pair.
 * Neighbours below the threshold are in the totals only.
 */
struct pp_neighbours {
	const struct pp_arc *callers; /* ascending */
	const struct pp_arc *callees; /* descending; one of them is self */
	size_t nr_callers, nr_callees;
	const uint64_t *caller_totals;
	const uint64_t *callee_totals; /* with its own samples */
	/* Samples in it and in what it called: callee_totals without direct
	 * recursion. In a longer cycle, a stack counts each time it passes. */
	const uint64_t *cumulative;
};

/*
 * A call that stacks show, with the samples below it. A stack counts for the
 * call by which a symbol is in it for the first time, so the calls of a symbol
 * add up to its all_counts however often it calls itself, and no symbol calls
 * itself here.
 */
struct pp_stack_call {
	const struct pp_symbol_entry *callee;
	struct pp_place place; /* in the caller */
	uint64_t vma; /* likewise, the last byte of the call or, where the
			 callee was inlined, the first of it that is known; 0
			 when not known */
	const uint64_t *counts;
};

struct pp_symbol_entry {
	const char *app;
	const struct pp_image *image;
	const char *raw_name; /* as the binary has it */
	const char *name; /* demangled as asked */
	bool is_inlined; /* it has no symbol, but is in others */
	bool is_line; /* it is one source line of the symbol: @place */
	const char *source; /* the text of that line; NULL when not known */
	const char *brief; /* of a line: @name without parameters and template
			      arguments */
	uint64_t vma; /* 0 for an entry that stands for no symbol */
	uint64_t key; /* the same place in sample files */
	uint64_t size; /* bytes, likewise */
	const uint64_t *counts;
	/* Samples in it and in all that it called, a recursive call counted
	 * once; NULL unless stack_totals were made. Shares are of
	 * pp_report.totals. */
	const uint64_t *all_counts;
	const struct pp_stack_call *stack_calls; /* by it, if asked for */
	size_t nr_stack_calls;
	const uint8_t *code; /* @size bytes; NULL when not known */
	struct pp_place place;
	struct pp_place declared; /* where an inlined function is, whether lines
				     are asked for or not */
	const struct pp_detail *details; /* ascending vma */
	size_t nr_details;
	/* By file and line; if totals of lines were made. */
	const struct pp_line_total *line_totals;
	size_t nr_line_totals;
	size_t nr; /* its own: report->symbols.known[nr] is the same symbol */
	const struct pp_neighbours *neighbours; /* of a call graph */
	const char *wait; /* the class of waits that began in it; NULL: none,
			     or not known */

	/* Of a differential report. */
	enum pp_presence presence;
	const uint64_t *old_counts; /* zeros for what is new */
	const struct pp_change *changes; /* one per class */
};

/* Calls from one address to another. */
struct pp_address_call {
	const struct pp_symbol_entry *caller, *callee;
	uint64_t caller_vma, callee_vma;
	uint64_t count;
	unsigned int class_nr;
};

/* The event and the unit mask of a class, in words. */
struct pp_event_text {
	const char *event; /* NULL when not known, as below */
	const char *unit_mask;
};

/* The CPU and the events, in words. */
struct pp_cpu {
	char type[48]; /* "timer" for the timer */
	const char *title; /* for people; the type where it has none */
	uint32_t khz; /* 0 unknown */
	uint32_t timer_hz; /* samples per second and CPU; 0 unknown */
	const struct pp_event_text *event_texts; /* one per class */
};

/* Waits of one class, of all threads: "lock", "disk". */
struct pp_wait_sum {
	const char *name;
	uint64_t ns;
	uint64_t *counts; /* samples, of columns of waits alone */
};

/*
 * The time of one thread, of a process where threads were not separated, or of
 * a pool: threads of a process that have one name but for numbers in it.
 */
struct pp_thread {
	const struct pp_class *class; /* one of its classes; of a pool that of
					 the thread with most time */
	size_t nr; /* threads */
	const char *name; /* "process/thread"; of a pool with '*' for numbers */
	/* ns, as in struct pp_times */
	uint64_t ran, waited;
	uint64_t *waits; /* one per symbols.waits */
	uint64_t *counts; /* one per threads.events, and 0 at the end */
};

/* Threads with most time first; with most samples where there are no times. */
struct pp_thread_table {
	bool made;
	bool has_ran, has_waited; /* which times are known */
	const struct pp_thread *list;
	size_t nr;
	const struct pp_class **events; /* that stand for no time: a class of
					   each */
	size_t nr_events;
};

/* The summary: applications and images, in the order to show them, and
 * threads. */
struct pp_summary {
	const struct pp_summary_app *apps;
	size_t nr_apps;
	struct pp_thread_table threads; /* if asked for */
};

/* Images of which several builds were added up; in a comparison those of the
 * later profile. */
struct pp_builds {
	const struct pp_sum_of_builds *sums;
	size_t nr_sums;
};

/* Names and stacks that could not be found, and frames that are not shown, for
 * advice. */
struct pp_missing {
	uint64_t hidden_own; /* samples of the profiler itself, left out */
	const char *nameless; /* of the stripped binaries whose debug files are
				 missing, the one with the most samples; or
				 NULL */
	uint64_t nameless_samples;
	const char *stack_end; /* of the images that stacks end in as they have
				  no unwind data, the one with the most samples
				  below it; NULL where no trees were read */
	uint64_t stack_end_samples;
	const char *nameless_maker; /* of the applications with code that they
				       made at run time and that has no names,
				       the one with the most samples in a
				       mapping; or NULL */
	uint64_t nameless_made_samples;
	/* the runtime that this application has mapped, or NULL */
	const struct op_runtime *maker;
	/* of the runtimes that interpret functions, and of which no application
	 * has named any, the one with the most samples in the interpreter; or
	 * NULL */
	const struct op_runtime *interpreter;
	const char *interpreted_app;
	uint64_t interpreted_samples;
	/* the runtimes whose interpreters' frames were folded into callers */
	const struct op_runtime **folded;
	size_t nr_folded;
};

/* The old profile of a comparison. */
struct pp_old_profile {
	bool made;
	struct pp_classes classes;
	const uint64_t *totals; /* of all that was chosen */
	const uint64_t *symbol_totals;
	const struct op_ledger *account; /* likewise, as that of the report */
	uint64_t account_written;
	struct pp_history history;
	const struct pp_measure *measures; /* one per class */
	/* The change of the number of all samples that were chosen, one per
	 * class, where that has a measure. */
	const struct pp_change *total_changes;
};

/* The table of symbols. */
struct pp_symbol_table {
	bool made;
	const struct pp_symbol_entry *list; /* to be shown, in that order */
	size_t nr;
	const uint64_t *totals; /* of all symbols, before the threshold */
	const struct pp_symbol_entry *known; /* by number; symbols of the list
						and their neighbours are there
						*/
	size_t nr_known;
	bool by_samples; /* they are in descending order of samples */
	bool many_apps; /* some class has samples of several applications */
	bool has_details;
	/* Where threads that wait were sampled: how long for what, longest
	 * first. */
	const struct pp_wait_sum *waits;
	size_t nr_waits;
};

/* Source lines. */
struct pp_lines {
	bool made;
	bool split; /* symbols are source lines of symbols */
	bool totals; /* lines and addresses have totals */
};

/* The call graph, which symbols have as neighbours. */
struct pp_calls {
	bool made;
	const struct pp_address_call *list; /* of which both symbols are known;
					       if addresses were asked for */
	size_t nr;
};

/* Samples in symbols and in all that they called, which symbols have as
 * all_counts. Symbols without samples of their own are there, too. */
struct pp_stack_totals {
	bool made; /* call trees were found */
	const struct pp_stack_call *outer; /* where stacks begin, and all
					      samples that have none, by
					      application; if stack calls were
					      asked for */
	size_t nr_outer;
};

struct pp_report {
	struct op_arena arena;
	struct pp_messages messages; /* for the program to print */
	struct pp_classes classes;
	const uint64_t *totals; /* of all that was chosen */
	struct pp_cpu cpu;
	struct pp_summary summary;
	struct pp_builds builds;
	const struct op_ledger *account; /* of all sessions used together; NULL
					    when some session has none */
	uint64_t account_written; /* when samples were stored last, as the times
				     of the accounts' files have it: seconds
				     since 1970, 0 unknown */
	struct pp_history history; /* libpp/select/sessions.h */
	const struct pp_archive *archive; /* it is about; or NULL */
	struct op_debug_places debug; /* for op_bfd_open() */
	struct pp_missing missing;
	bool intervals; /* are to be shown */
	struct pp_old_profile old;

	/* Parts, as far as they were wanted. */
	struct pp_symbol_table symbols;
	struct pp_lines lines;
	struct pp_calls calls;
	struct pp_stack_totals stack_totals;
	const struct pp_tree *tree; /* or NULL */
};

/*
 * Make the report that @request asks for. *@out is set even on failure, so
 * that its messages can be shown; it is the caller's to free. Returns 0 or
 * -errno with the reason in @diag: -ENOENT nothing to report about, -EINVAL
 * the columns would differ in two ways.
 */
int pp_report_new(struct pp_report **out, const struct pp_request *request,
		  struct op_diag *diag);
void pp_report_free(struct pp_report *report);

/* The counts to show for @entry: the old ones of what is gone. */
const uint64_t *pp_shown_counts(const struct pp_symbol_entry *entry);

#endif /* LIBPP_REPORT_REPORT_H */
