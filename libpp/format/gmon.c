// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes gmon.out. Counts are first gathered in bins of one byte, sorted by
 * address; then the size of bins is chosen, and bins that fall together are
 * added up. The histogram is a row of records, ascending. Bins that one record
 * can hold lie together in one; a fuller bin has records of its own, which
 * gprof adds up; and long pieces of code without samples have none.
 */

#include "libop/base/op_search.h"
#include "libpp/format/gmon.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAG_HISTOGRAM 0
#define TAG_ARC 1
#define BIN_MAX UINT16_MAX
#define GPROF_MAX INT32_MAX /* where gprof's own sums end */
#define SMALL_BIN 2 /* bytes; gprof fails with less */
#define LARGE_BIN 8 /* where instructions have 4 bytes */
#define LONG_GAP 32768 /* bins; a record costs no more than that many */

/* A bin with samples. */
struct bin {
	uint64_t nr; /* its address divided by the size of bins */
	uint64_t count;
};

struct gmon {
	FILE *out;
	const struct pp_report *report;
	const struct pp_image *image;
	bool big_endian;
	unsigned int word_size; /* bytes */
	unsigned int bin_size; /* bytes, a power of two */
	struct bin *bins; /* ascending */
	size_t nr_bins;
};

/* ---- numbers ------------------------------------------------------------- */

static void put_gmon_number(const struct gmon *g, uint64_t value,
			    unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int at = g->big_endian ? bytes - 1 - i : i;

		fputc((int)(value >> (8 * at) & 0xff), g->out);
	}
}

static void put_gmon_address(const struct gmon *g, uint64_t address)
{
	put_gmon_number(g, address, g->word_size);
}

/* Read from the binary which machine it is for. */
static int find_target(struct gmon *g, struct op_diag *diag)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	FILE *file = fopen(g->image->binary, "re");
	size_t nr = 0;
	int err = file ? 0 : -errno;

	if (file) {
		errno = 0;
		nr = fread(ident, 1, sizeof(ident), file);
		err = ferror(file) ? -errno : 0;
		fclose(file);
	}
	if (err)
		return op_diag_set(diag, err, "%s: cannot be read: %s",
				   g->image->binary, strerror(-err));
	if (nr < sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG))
		return op_diag_set(
			diag, -ENOEXEC,
			"%s: not an ELF file, so gprof cannot read it",
			g->image->binary);
	g->word_size = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	g->big_endian = ident[EI_DATA] == ELFDATA2MSB;
	return 0;
}

/* ---- bins ---------------------------------------------------------------- */

static bool is_in_image(const struct gmon *g,
			const struct pp_symbol_entry *entry)
{
	return entry->image == g->image;
}

static int compare_bins(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	return op_compare(x->nr, y->nr);
}

static void merge_bins(struct gmon *g)
{
	size_t kept = 0;

	if (g->nr_bins)
		qsort(g->bins, g->nr_bins, sizeof(*g->bins), compare_bins);
	for (size_t i = 0; i < g->nr_bins; i++) {
		struct bin *last = kept ? &g->bins[kept - 1] : NULL;

		if (last && last->nr == g->bins[i].nr)
			last->count =
				pp_add_counts(last->count, g->bins[i].count);
		else
			g->bins[kept++] = g->bins[i];
	}
	g->nr_bins = kept;
}

/*
 * To gprof symbols start at even addresses: the last byte of one that ends at
 * an odd address is the next one's. What was counted there goes to the byte
 * before.
 */
static uint64_t address_for(const struct pp_symbol_entry *entry, uint64_t vma)
{
	uint64_t end = entry->vma + entry->size;

	return entry->size > 1 && end % 2 && vma == end - 1 ? vma - 1 : vma;
}

/* The bins of one byte each. Ends of calls need not have samples. */
static int gather_bins(struct gmon *g)
{
	const struct pp_report *report = g->report;
	size_t room = 0;

	for (size_t i = 0; i < report->symbols.nr; i++)
		if (is_in_image(g, &report->symbols.list[i]))
			room += report->symbols.list[i].nr_details;
	g->bins = calloc(room + 1, sizeof(*g->bins));
	if (!g->bins)
		return -ENOMEM;
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		const struct pp_detail *detail = entry->details;

		for (size_t j = is_in_image(g, entry) ? entry->nr_details : 0;
		     j; j--, detail++)
			if (detail->counts[0])
				g->bins[g->nr_bins++] =
					(struct bin){ address_for(entry,
								  detail->vma),
						      detail->counts[0] };
	}
	merge_bins(g);
	return 0;
}

/* Whether a large bin that @address cuts in two has samples. */
static bool is_cut(const struct gmon *g, uint64_t address)
{
	uint64_t start = address & -(uint64_t)LARGE_BIN;
	size_t at = OP_BISECT(i, g->nr_bins, g->bins[i].nr < start);

	return address != start && at < g->nr_bins &&
	       g->bins[at].nr < start + LARGE_BIN;
}

/*
 * The size that the original chose, by what looks like the length of
 * instructions, unless large bins would mix samples of two symbols.
 */
static unsigned int choose_bin_size(const struct gmon *g)
{
	for (size_t i = 0; i < g->nr_bins; i++)
		if (g->bins[i].nr % 4)
			return SMALL_BIN;
	for (size_t i = 0; i < g->report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry =
			&g->report->symbols.list[i];

		if (is_in_image(g, entry) && entry->size &&
		    (is_cut(g, entry->vma) ||
		     is_cut(g, entry->vma + entry->size)))
			return SMALL_BIN;
	}
	return LARGE_BIN;
}

/* Make the largest count one that gprof can have. Returns the divisor. */
static uint64_t scale_bins(struct gmon *g)
{
	uint64_t max = 0, divisor;

	for (size_t i = 0; i < g->nr_bins; i++)
		if (g->bins[i].count > max)
			max = g->bins[i].count;
	divisor = max / GPROF_MAX + 1;
	for (size_t i = 0; divisor > 1 && i < g->nr_bins; i++)
		g->bins[i].count =
			g->bins[i].count / divisor +
			(g->bins[i].count % divisor >= divisor - divisor / 2);
	return divisor;
}

/* ---- records ------------------------------------------------------------- */

/* All of a record but its bins; @end is the first bin behind. */
static void put_histogram_record(const struct gmon *g, uint64_t start,
				 uint64_t end)
{
	static const char dimension[15] = "samples";

	put_gmon_number(g, TAG_HISTOGRAM, 1);
	put_gmon_address(g, start * g->bin_size);
	put_gmon_address(g, end * g->bin_size);
	put_gmon_number(g, end - start, 4);
	put_gmon_number(g, 1, 4);
	fwrite(dimension, sizeof(dimension), 1, g->out);
	fputc('1', g->out);
}

static void put_full_bin(const struct gmon *g, const struct bin *bin)
{
	for (uint64_t left = bin->count; left;) {
		uint64_t part = left > BIN_MAX ? BIN_MAX : left;

		put_histogram_record(g, bin->nr, bin->nr + 1);
		put_gmon_number(g, part, 2);
		left -= part;
	}
}

/* The end of the bins from @from on that go into one record. */
static size_t end_of_bin_run(const struct gmon *g, size_t from)
{
	size_t end = from + 1;

	while (end < g->nr_bins && g->bins[end].count <= BIN_MAX &&
	       g->bins[end].nr - g->bins[end - 1].nr <= LONG_GAP &&
	       g->bins[end].nr - g->bins[from].nr < UINT32_MAX)
		end++;
	return end;
}

static void put_run_of_bins(const struct gmon *g, size_t from, size_t end)
{
	uint64_t nr = g->bins[from].nr;

	put_histogram_record(g, nr, g->bins[end - 1].nr + 1);
	for (size_t i = from; i < end; i++, nr++) {
		for (; nr < g->bins[i].nr; nr++)
			put_gmon_number(g, 0, 2);
		put_gmon_number(g, g->bins[i].count, 2);
	}
}

static void put_histogram(const struct gmon *g)
{
	for (size_t i = 0, end; i < g->nr_bins; i = end) {
		end = i + 1;
		if (g->bins[i].count > BIN_MAX) {
			put_full_bin(g, &g->bins[i]);
			continue;
		}
		end = end_of_bin_run(g, i);
		put_run_of_bins(g, i, end);
	}
}

static void put_arcs(const struct gmon *g)
{
	for (size_t i = 0; i < g->report->calls.nr; i++) {
		const struct pp_address_call *call = &g->report->calls.list[i];

		if (!is_in_image(g, call->caller) ||
		    !is_in_image(g, call->callee))
			continue;
		for (uint64_t left = call->count; left;) {
			uint64_t part = left > UINT32_MAX ? UINT32_MAX : left;

			put_gmon_number(g, TAG_ARC, 1);
			put_gmon_address(g, call->caller_vma);
			put_gmon_address(g, call->callee_vma);
			put_gmon_number(g, part, 4);
			left -= part;
		}
	}
}

/* ---- all of it ----------------------------------------------------------- */

int pp_gmon_write(FILE *out, const struct pp_report *report,
		  const struct pp_image *image, struct pp_gmon_result *result,
		  struct op_diag *diag)
{
	struct gmon g = { .out = out, .report = report, .image = image };
	int err = find_target(&g, diag) ?: gather_bins(&g);

	if (!err) {
		result->bin_size = g.bin_size = choose_bin_size(&g);
		for (size_t i = 0; i < g.nr_bins; i++)
			g.bins[i].nr /= g.bin_size;
		merge_bins(&g);
		result->divisor = scale_bins(&g);
		fputs("gmon", out);
		put_gmon_number(&g, 1, 4); /* the version */
		for (int i = 0; i < 3; i++)
			put_gmon_number(&g, 0, 4);
		put_histogram(&g);
		put_arcs(&g);
	}
	free(g.bins);
	return err;
}
