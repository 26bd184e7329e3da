/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_H
#define LIBPP_REPORT_H

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
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/op_diag.h"
#include "libop/op_mangle.h"
#include "libop/op_sample_file.h"
#include "libop/op_session.h"
#include "libpp/arena.h"
#include "libpp/arrange_profiles.h"
#include "libpp/demangle.h"
#include "libpp/messages.h"
#include "libpp/profile_spec.h"
#include "libpp/sort.h"

/* ---- what is asked for --------------------------------------------------- */

struct pp_request {
	const struct op_session *session;
	const struct pp_spec *spec;
	unsigned int merge; /* PP_MERGE_ bits */
	bool exclude_dependent; /* leave out images that are not their
				   application */
	bool symbols; /* else the summary alone */
	bool details; /* the addresses in each symbol */
	bool lines; /* source files and lines */
	const char *root; /* see pp_locator_init() */
	const char *const *image_path;
	enum pp_demangle demangle;
	const char *const *include_symbols; /* ended by NULL; or NULL */
	const char *const *exclude_symbols;
	double threshold; /* percent */
	struct pp_sort sort;
};

/* ---- the model ----------------------------------------------------------- */

/*
 * An image that samples are in. Files of one name but of two builds are two
 * images.
 */
struct pp_image {
	const char *name; /* a path, or what stands for one */
	const char *base; /* its last component */
	struct op_image_name recorded; /* as the sample files have it */
	enum op_image_kind kind;
	uint64_t mtime; /* when it was profiled; 0 unknown */
	uint64_t anon_start;
	size_t build_id_len; /* bytes, 0 unknown */
	uint8_t build_id[32];
};

/* One row of the image summary: an image in an application. */
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

struct pp_detail {
	uint64_t vma;
	const uint64_t *counts;
	struct pp_place place;
};

struct pp_symbol_entry {
	const char *app;
	const struct pp_image *image;
	const char *raw_name; /* as the binary has it */
	const char *name; /* demangled as asked */
	uint64_t vma; /* 0 for an entry that stands for no symbol */
	uint64_t size; /* bytes, likewise */
	const uint64_t *counts;
	struct pp_place place;
	const struct pp_detail *details; /* ascending vma */
	size_t nr_details;
};

struct pp_report {
	struct pp_arena arena;
	struct pp_classes classes;
	char cpu_type[48]; /* "timer" for the timer */
	uint32_t cpu_khz; /* 0 unknown */
	uint32_t timer_hz; /* samples per second and CPU; 0 unknown */
	const uint64_t *totals; /* of all that was chosen */
	const struct pp_summary_app *apps;
	size_t nr_apps;
	bool has_symbols;
	const uint64_t *symbol_totals; /* before the threshold */
	const struct pp_symbol_entry *symbols;
	size_t nr_symbols;
	struct pp_messages messages; /* for the program to print */
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

#endif /* LIBPP_REPORT_H */
