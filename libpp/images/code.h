/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_CODE_H
#define LIBPP_IMAGES_CODE_H

/*
 * The code of the hottest functions of a report with details: instructions with
 * their samples, the source line of each, and the lines of the sources around
 * those. Bounded: PP_CODE_MAX_SYMBOLS functions above a threshold, and of each
 * the instructions near samples if it has more than PP_CODE_MAX_INSNS.
 * Everything belongs to the report's arena.
 */

#include <stddef.h>
#include <stdint.h>

#include "libpp/report/report.h"

#define PP_CODE_THRESHOLD 0.1 /* percent of the samples of an event */
#define PP_CODE_MAX_SYMBOLS 100
#define PP_CODE_MAX_INSNS 2000

/* A source file. */
struct pp_code_file {
	const char *name; /* as debug information has it */
	const char **lines; /* from line 1 on; NULL for those that are not near
			       code that is shown */
	unsigned int nr_lines;
	bool is_missing; /* it cannot be read */
};

struct pp_code_insn {
	uint64_t vma; /* as shown */
	const char *text;
	size_t file; /* its number; only with a line */
	unsigned int line; /* 0: of none */
	const uint64_t *counts; /* one per class; NULL for none */
	const uint64_t *totals; /* likewise: samples that pass it; NULL for
				   none, and without totals of lines */
};

/* A source line of a function, with the samples that pass it. */
struct pp_code_line {
	size_t file;
	unsigned int line;
	uint64_t *totals; /* one per class */
};

/* A function with its samples in all applications. */
struct pp_code_symbol {
	const struct pp_symbol_entry *entry; /* of one of them */
	const char *problem; /* why there are no instructions; or NULL */
	struct pp_code_insn *insns; /* ascending; not all of them, if it is
				       inlined or large */
	size_t nr_insns;
	bool is_cut; /* it is large */
	struct pp_code_line *lines; /* with totals of lines */
	size_t nr_lines;
};

struct pp_code {
	const struct pp_report *report;
	struct pp_code_symbol *symbols; /* by image, hottest first in each */
	size_t nr_symbols;
	size_t nr_more; /* symbols above the threshold beyond the limit */
	struct pp_code_file *files;
	size_t nr_files;
};

#endif /* LIBPP_IMAGES_CODE_H */
