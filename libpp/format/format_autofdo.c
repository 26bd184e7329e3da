// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sample profile as text, which clang reads (-fprofile-sample-use) and
 * llvm-profdata converts; the format is in LLVM's documentation of clang
 * ("Using Sampling Profilers") and in its llvm/ProfileData/SampleProfReader.h.
 * A line is a function, or how many samples some line of it has, counted from
 * that of its declaration, so that the profile outlives changes elsewhere in
 * the file:
 *
 *	FUNCTION:TOTAL:HEAD
 *	 OFFSET[.DISCRIMINATOR]: SAMPLES
 *	 OFFSET[.DISCRIMINATOR]: INLINED:TOTAL
 *	  OFFSET[.DISCRIMINATOR]: SAMPLES
 *
 * Addresses are sorted by the functions that their code was written in, from
 * the outermost to the innermost. Then what a function, an inlined one in it,
 * and so on have is a run of them, and writing is a walk over runs in runs. The
 * compiler knows functions by their names alone, so equal ones of several
 * images are one.
 *
 * The head is how often a function was entered. It is not counted; samples of
 * its first address stand for it.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/format/format.h"
#include "libpp/select/sample_list.h"

#define OFFSET_MASK 0xffff /* the compiler counts lines in 16 bits, too */

/* The samples of an address. */
struct fdo_hit {
	const struct pp_code_frame *frames;
	size_t nr_frames;
	uint64_t count;
	bool is_head; /* of a function of the symbol table */
};

/* ---- places -------------------------------------------------------------- */

/* Lines of the compiler's own, and of functions that it tells nothing of, have
 * no place; their samples are in totals alone. */
static bool has_fdo_place(const struct pp_code_frame *frame)
{
	return frame->declared && frame->line;
}

static uint32_t fdo_offset(const struct pp_code_frame *frame)
{
	return (frame->line - frame->declared) & OFFSET_MASK;
}

/*
 * clang puts three numbers into a discriminator: the first tells blocks of code
 * apart, the others copies of one block, which are added up. A number of 0 is
 * one bit that is set; others follow a bit that is not, in 6 or, where the
 * highest of these is set, 13 bits.
 */
static uint32_t fdo_discriminator(const struct pp_code_frame *frame)
{
	uint32_t bits = frame->discriminator;

	if (bits & 1)
		return 0;
	bits >>= 1;
	return bits & 0x20 ? (bits >> 1 & 0xfe0) | (bits & 0x1f) : bits & 0x1f;
}

/* Code without a place comes first. */
static int compare_fdo_places(const struct pp_code_frame *a,
			      const struct pp_code_frame *b)
{
	bool x = has_fdo_place(a), y = has_fdo_place(b);

	if (!x || !y)
		return x - y;
	return op_compare(fdo_offset(a), fdo_offset(b))
		       ?: op_compare(fdo_discriminator(a),
				     fdo_discriminator(b));
}

static int compare_fdo_hits(const void *pa, const void *pb)
{
	const struct fdo_hit *a = pa, *b = pb;
	int order = 0;

	for (size_t i = 0; !order; i++) {
		if (i == a->nr_frames || i == b->nr_frames)
			return op_compare(a->nr_frames, b->nr_frames);
		order = strcmp(a->frames[i].name, b->frames[i].name)
				?: compare_fdo_places(&a->frames[i],
						      &b->frames[i]);
	}
	return order;
}

/* ---- hits ---------------------------------------------------------------- */

/* Names end at a colon and a line; what stands for no symbol is no function,
 * and has blanks, as have inlined functions in "(anonymous namespace)". */
static bool is_fdo_function(const struct pp_symbol_entry *entry)
{
	return entry->size && !strpbrk(entry->raw_name, "\n\r\t#") &&
	       (entry->is_inlined || !strchr(entry->raw_name, ' '));
}

/* Addresses with samples in functions; the caller frees them. */
static struct fdo_hit *gather_fdo_hits(const struct pp_report *report,
				       size_t *nr)
{
	struct fdo_hit *hits;
	size_t room = 1;

	*nr = 0;
	for (size_t i = 0; i < report->symbols.nr; i++)
		room += report->symbols.list[i].nr_details;
	hits = calloc(room, sizeof(*hits));
	for (size_t i = 0; hits && i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		for (size_t d = 0;
		     is_fdo_function(entry) && d < entry->nr_details; d++) {
			const struct pp_detail *detail = &entry->details[d];

			if (detail->counts[0])
				hits[(*nr)++] = (struct fdo_hit){
					.frames = detail->frames,
					.nr_frames = detail->nr_frames,
					.count = detail->counts[0],
					.is_head = detail->vma == entry->vma,
				};
		}
	}
	if (hits)
		qsort(hits, *nr, sizeof(*hits), compare_fdo_hits);
	return hits;
}

/* Add up @nr hits, all or those of heads. */
static uint64_t sum_fdo_hits(const struct fdo_hit *hits, size_t nr, bool heads)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		if (!heads || hits[i].is_head)
			sum = pp_add_counts(sum, hits[i].count);
	return sum;
}

/* ---- runs ---------------------------------------------------------------- */

/* Whether two hits are on one line of the function at @level and in the same
 * function that was inlined there, if any. */
static bool is_same_fdo_line(const struct fdo_hit *a, const struct fdo_hit *b,
			     size_t level)
{
	bool deeper = a->nr_frames > level + 1;

	return !compare_fdo_places(&a->frames[level], &b->frames[level]) &&
	       deeper == (b->nr_frames > level + 1) &&
	       (!deeper ||
		!strcmp(a->frames[level + 1].name, b->frames[level + 1].name));
}

/* Lines of the function at @level that all @nr hits are in. */
static void write_fdo_lines(FILE *out, const struct fdo_hit *hits, size_t nr,
			    size_t level)
{
	for (size_t i = 0, end; i < nr; i = end) {
		const struct pp_code_frame *frame = &hits[i].frames[level];
		bool deeper = hits[i].nr_frames > level + 1;
		uint64_t sum;

		for (end = i + 1;
		     end < nr && is_same_fdo_line(&hits[i], &hits[end], level);)
			end++;
		if (!has_fdo_place(frame))
			continue;
		sum = sum_fdo_hits(hits + i, end - i, false);
		fprintf(out, "%*s%" PRIu32, (int)level + 1, "",
			fdo_offset(frame));
		if (fdo_discriminator(frame))
			fprintf(out, ".%" PRIu32, fdo_discriminator(frame));
		fputs(": ", out);
		if (deeper)
			fprintf(out, "%s:", frame[1].name);
		fprintf(out, "%" PRIu64 "\n", sum);
		if (deeper)
			write_fdo_lines(out, hits + i, end - i, level + 1);
	}
}

int pp_format_autofdo(FILE *out, const struct pp_report *report,
		      const struct pp_format_options *options)
{
	size_t nr;
	struct fdo_hit *hits = gather_fdo_hits(report, &nr);

	(void)options;
	for (size_t i = 0, end; hits && i < nr; i = end) {
		const char *name = hits[i].frames->name;

		for (end = i + 1;
		     end < nr && !strcmp(hits[end].frames->name, name);)
			end++;
		fprintf(out, "%s:%" PRIu64 ":%" PRIu64 "\n", name,
			sum_fdo_hits(hits + i, end - i, false),
			sum_fdo_hits(hits + i, end - i, true));
		write_fdo_lines(out, hits + i, end - i, 0);
	}
	free(hits);
	return hits ? 0 : -ENOMEM;
}
