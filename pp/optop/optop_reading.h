/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_READING_H
#define PP_OPTOP_OPTOP_READING_H

/*
 * A reading of the sample files, as rows to show. A query selects the rows: a
 * view of the whole session, or facts about one function. libpp makes the
 * report; nothing is counted here.
 */

#include "libop/base/op_arena.h"
#include "libpp/report/report.h"
#include "pp/optop/optop_counts.h"

/* Views are a table in optop_views.c: a new one is a row there. */
enum optop_kind {
	OPTOP_IMAGES,
	OPTOP_SYMBOLS,
	OPTOP_LINES,
	OPTOP_PROCESSES,
	OPTOP_THREADS,
	OPTOP_CGROUPS,
	OPTOP_NR_VIEWS,
	/* of one function, or of one source file */
	OPTOP_ASSEMBLY = OPTOP_NR_VIEWS,
	OPTOP_SOURCE,
	OPTOP_CALLS,
	OPTOP_NR_KINDS
};

/* Subject of a query; the strings are its owner's. For the whole session all
 * are NULL, and the numbers OP_MANGLE_ALL. */
struct optop_target {
	const char *image; /* its name */
	const char *symbol; /* a function, as the binary has it */
	const char *title; /* what it is called */
	uint64_t vma; /* of the function; 0 where it has none */
	bool is_inlined; /* it has no code of its own */
	const char *file; /* a source file, in place of a function */
	unsigned int line;
	int64_t tgid, tid;
	const char *cgroup; /* its path; empty: those that nobody could tell */
};

struct optop_query {
	enum optop_kind kind;
	struct optop_target target;
};

/* Texts of a row, beside its counts. */
struct optop_row {
	const char *name; /* in the last column */
	const char *beside; /* in the column before that; or NULL */
	const struct optop_target *opens; /* what Enter shows; or NULL */
	bool is_title; /* it has no counts */
};

struct optop_reading {
	struct op_arena arena; /* of rows */
	struct pp_report *report; /* that they are of; with its messages */
	struct optop_counts *counts;
	struct optop_row *rows; /* as many as counts->nr */
	bool keeps_order; /* rows are in the order to show them */
	bool has_beside; /* some row has a text there */
	size_t first; /* of such: the row to begin with */
	const char *note; /* why something is not there; or NULL */
};

/*
 * Make the reading that @query asks for. @base is the request that all readings
 * have in common: session, specification, symbols that are kept. *@out is NULL
 * on failure, else the caller's to free. Returns 0, or -errno with the reason,
 * as pp_report_new() does.
 */
int optop_reading_new(struct optop_reading **out,
		      const struct optop_query *query,
		      const struct pp_request *base, struct op_diag *diag);
void optop_reading_free(struct optop_reading *reading);

/* ---- the files that fill readings ---------------------------------------- */

/* Fill a view of the session, or rows about one function. Each returns 0 or
 * -errno with the reason. */
int optop_fill_view(struct optop_reading *reading,
		    const struct optop_query *query,
		    const struct pp_request *base, struct op_diag *diag);
int optop_fill_assembly(struct optop_reading *reading,
			const struct optop_query *query,
			const struct pp_request *base, struct op_diag *diag);
int optop_fill_source(struct optop_reading *reading,
		      const struct optop_query *query,
		      const struct pp_request *base, struct op_diag *diag);
int optop_fill_calls(struct optop_reading *reading,
		     const struct optop_query *query,
		     const struct pp_request *base, struct op_diag *diag);

/* ---- views --------------------------------------------------------------- */

/* "symbol"; the heads of the two columns of text. */
const char *optop_kind_name(enum optop_kind kind);
const char *optop_kind_beside(enum optop_kind kind);
const char *optop_kind_title(enum optop_kind kind);

/* The view called @name; OPTOP_NR_VIEWS if there is none. */
enum optop_kind optop_view_find(const char *name);

/* The kind of query that Enter on a row of @kind opens. */
enum optop_kind optop_kind_below(enum optop_kind kind);

#endif /* PP_OPTOP_OPTOP_READING_H */
