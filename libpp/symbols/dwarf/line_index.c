// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which source line an address belongs to. Making the index reads the headers
 * alone, which is all that names of files need. When the first address is asked
 * for, one pass over all line programs finds their sequences (runs of ascending
 * addresses) and keeps where each starts, not its rows: a kernel has tens of
 * millions of rows, and samples are in few sequences. The rows of a sequence
 * are made when an address in it is asked for, and kept until another sequence
 * is; so ascending addresses are looked up fastest.
 *
 * Sequences may overlap, for instance where a linker left those of dropped
 * functions at address 0: these are left out by asking whether their start is
 * code, and of the others the innermost counts. Each sequence knows how far
 * all before it reach, which ends the search for one that holds an address.
 */

#include "libpp/symbols/dwarf/line_index.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libpp/symbols/dwarf/dwarf_dirs.h"
#include "libpp/symbols/dwarf/line_program.h"
#include "libpp/symbols/source_path.h"
#include "libop/base/op_strings.h"

struct sequence {
	uint64_t low;
	uint64_t high; /* the first address behind it */
	uint64_t reach; /* the highest such of all up to this one */
	size_t header; /* number of its header */
	size_t at; /* where in the program it starts */
};

struct row {
	uint64_t address;
	uint32_t file;
	uint32_t line;
	uint32_t discriminator;
	uint32_t order;
};

struct pp_line_index {
	struct pp_dwarf dwarf;
	struct op_arena arena;
	struct op_strings paths;
	struct pp_line_header *headers;
	size_t nr_headers;
	struct sequence *sequences; /* by low */
	size_t nr_sequences;
	size_t nr_damaged;
	bool (*is_code)(void *ctx, uint64_t address);
	void *ctx;
	bool is_scanned; /* sequences are known */
	struct pp_dwarf_dirs dirs; /* once they were needed */
	bool has_dirs;

	/* The sequence that was asked for last. */
	const struct sequence *current;
	struct row *rows; /* by address, each address once */
	size_t nr_rows;

	/* Names of the files of the header asked for last, by number. */
	size_t names_header;
	const char **names;
	size_t nr_names;
};

#define NO_HEADER SIZE_MAX
#define MAX_FILES (1u << 20) /* of one unit */

/* ---- one pass over all --------------------------------------------------- */

static int add_sequence(struct pp_line_index *index,
			const struct sequence *sequence)
{
	int err;

	if (sequence->low >= sequence->high ||
	    !index->is_code(index->ctx, sequence->low))
		return 0;
	err = op_array_reserve(&index->sequences, index->nr_sequences, 1);
	if (!err)
		index->sequences[index->nr_sequences++] = *sequence;
	return err;
}

/* Find the sequences of a program. */
static int scan_program(struct pp_line_index *index, size_t header_nr)
{
	const struct pp_line_header *header = &index->headers[header_nr];
	const struct sequence empty = { .low = UINT64_MAX,
					.header = header_nr };
	struct sequence sequence = empty;
	struct pp_line_program program;
	struct pp_line_row row;
	int err = 0;

	pp_line_program_init(&program, &index->dwarf, header, 0);
	while (!err && pp_line_program_next(&program, &row)) {
		if (row.address < sequence.low)
			sequence.low = row.address;
		if (row.address > sequence.high)
			sequence.high = row.address;
		if (!row.is_end)
			continue;
		err = add_sequence(index, &sequence);
		sequence = empty;
		sequence.at = (size_t)(program.c.at - header->program.data);
	}
	/* A sequence without end is of no use. */
	index->nr_damaged += program.c.failed || sequence.low != UINT64_MAX;
	return err;
}

static int read_header(struct pp_line_index *index, struct op_cursor *c)
{
	struct pp_line_header *header;

	if (op_array_reserve(&index->headers, index->nr_headers, 1))
		return -ENOMEM;
	header = &index->headers[index->nr_headers];
	if (!pp_line_header_read(&index->dwarf, c, header)) {
		index->nr_damaged++;
		return 0;
	}
	index->nr_headers++;
	return 0;
}

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	return op_compare(x->low, y->low) ?: op_compare(x->high, y->high);
}

static void sort_sequences(struct pp_line_index *index)
{
	uint64_t reach = 0;

	if (index->nr_sequences)
		qsort(index->sequences, index->nr_sequences,
		      sizeof(*index->sequences), compare_sequences);
	for (size_t i = 0; i < index->nr_sequences; i++) {
		if (index->sequences[i].high > reach)
			reach = index->sequences[i].high;
		index->sequences[i].reach = reach;
	}
}

/* Where memory is short, what was found so far counts. */
static void scan_programs(struct pp_line_index *index)
{
	int err = 0;

	if (index->is_scanned)
		return;
	index->is_scanned = true;
	for (size_t i = 0; i < index->nr_headers && !err; i++) {
		index->nr_damaged += !pp_line_header_has_names(
			&index->dwarf, &index->headers[i]);
		err = scan_program(index, i);
	}
	sort_sequences(index);
}

int pp_line_index_new(struct pp_line_index **out, const struct pp_dwarf *dwarf,
		      bool (*is_code)(void *ctx, uint64_t address), void *ctx)
{
	struct pp_line_index *index = calloc(1, sizeof(*index));
	struct op_cursor all;
	int err = 0;

	if (!index)
		return -ENOMEM;
	index->dwarf = *dwarf;
	index->is_code = is_code;
	index->ctx = ctx;
	index->names_header = NO_HEADER;
	op_arena_init(&index->arena);
	op_strings_init(&index->paths, &index->arena);
	all = pp_dwarf_cursor(dwarf, &dwarf->line, 0);
	while (!err && op_cursor_left(&all))
		err = read_header(index, &all);
	if (err) {
		pp_line_index_free(index);
		return err;
	}
	*out = index;
	return 0;
}

void pp_line_index_free(struct pp_line_index *index)
{
	if (!index)
		return;
	free(index->names);
	free(index->rows);
	free(index->sequences);
	free(index->headers);
	pp_dwarf_dirs_release(&index->dirs);
	op_strings_release(&index->paths);
	op_arena_release(&index->arena);
	free(index);
}

bool pp_line_index_wants_info(const struct pp_line_index *index)
{
	for (size_t i = 0; i < index->nr_headers; i++)
		if (index->headers[i].form.version < 5)
			return true;
	return false;
}

void pp_line_index_give_info(struct pp_line_index *index,
			     const struct pp_bytes *info,
			     const struct pp_bytes *abbrev)
{
	index->dwarf.info = *info;
	index->dwarf.abbrev = *abbrev;
}

size_t pp_line_index_damaged(struct pp_line_index *index)
{
	scan_programs(index);
	return index->nr_damaged;
}

/* ---- the rows of a sequence ---------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return op_compare(x->address, y->address)
		       ?: op_compare(x->order, y->order);
}

/* Keep only the last of several rows for one address. */
static void drop_replaced(struct pp_line_index *index)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->nr_rows; i++) {
		if (kept &&
		    index->rows[kept - 1].address == index->rows[i].address)
			kept--;
		index->rows[kept++] = index->rows[i];
	}
	index->nr_rows = kept;
}

static bool add_line_row(struct pp_line_index *index,
			 const struct pp_line_row *row)
{
	if (op_array_reserve(&index->rows, index->nr_rows, 1))
		return false;
	index->rows[index->nr_rows] =
		(struct row){ .address = row->address,
			      .file = row->file,
			      .line = row->line,
			      .discriminator = row->discriminator,
			      .order = (uint32_t)index->nr_rows };
	index->nr_rows++;
	return true;
}

static bool read_rows(struct pp_line_index *index,
		      const struct sequence *sequence)
{
	struct pp_line_program program;
	struct pp_line_row row;
	bool ascending = true;

	index->current = NULL;
	index->nr_rows = 0;
	pp_line_program_init(&program, &index->dwarf,
			     &index->headers[sequence->header], sequence->at);
	while (pp_line_program_next(&program, &row) && !row.is_end) {
		if (index->nr_rows &&
		    row.address < index->rows[index->nr_rows - 1].address)
			ascending = false;
		if (!add_line_row(index, &row))
			return false;
	}
	if (!ascending)
		qsort(index->rows, index->nr_rows, sizeof(*index->rows),
		      compare_rows);
	drop_replaced(index);
	index->current = sequence;
	return true;
}

/* The last row at or below @address; NULL if there is none. */
static const struct row *row_at_address(const struct pp_line_index *index,
					uint64_t address)
{
	size_t end =
		OP_BISECT(i, index->nr_rows, index->rows[i].address <= address);

	return end ? &index->rows[end - 1] : NULL;
}

/* The innermost sequence that @address is in. */
static const struct sequence *find_sequence(const struct pp_line_index *index,
					    uint64_t address)
{
	const struct sequence *all = index->sequences;
	size_t end = OP_BISECT(i, index->nr_sequences, all[i].low <= address);

	while (end && all[end - 1].reach > address)
		if (all[--end].high > address)
			return &all[end];
	return NULL;
}

/* Whether @address is in @sequence and cannot be in a later one, too. */
static bool is_innermost(const struct pp_line_index *index,
			 const struct sequence *sequence, uint64_t address)
{
	size_t next;

	if (!sequence || address < sequence->low || address >= sequence->high)
		return false;
	next = (size_t)(sequence - index->sequences) + 1;
	return next == index->nr_sequences ||
	       index->sequences[next].low > address;
}

/* ---- names --------------------------------------------------------------- */

/* The folder that a unit was compiled in. */
static const char *compile_dir(struct pp_line_index *index, uint64_t table)
{
	if (!index->has_dirs && pp_dwarf_dirs_init(&index->dirs, &index->dwarf))
		return NULL;
	index->has_dirs = true;
	return pp_dwarf_dirs_find(&index->dirs, table);
}

static const char *make_name(struct pp_line_index *index,
			     const struct pp_line_header *header, uint32_t nr)
{
	struct pp_line_file file;
	const char *path, *known;
	char *joined;

	if (!pp_line_header_file(&index->dwarf, header, nr, &file))
		return NULL;
	if (!file.comp_dir && *file.name != '/' &&
	    (!file.dir || *file.dir != '/'))
		file.comp_dir = compile_dir(index, header->offset);
	joined = pp_source_path_join(file.comp_dir, file.dir, file.name);
	path = joined ? joined : file.name;
	known = op_strings_add(&index->paths, path);
	free(joined);
	return known;
}

static bool use_names_of(struct pp_line_index *index, size_t header, size_t nr)
{
	size_t more;

	if (index->names_header != header) {
		for (size_t i = 0; i < index->nr_names; i++)
			index->names[i] = NULL;
		index->names_header = header;
	}
	if (nr < index->nr_names)
		return true;
	if (nr >= MAX_FILES)
		return false;
	more = nr + 1 - index->nr_names;
	if (op_array_reserve(&index->names, index->nr_names, more))
		return false;
	while (more--)
		index->names[index->nr_names++] = NULL;
	return true;
}

static const char *file_name(struct pp_line_index *index, size_t header,
			     uint32_t nr)
{
	if (!use_names_of(index, header, nr))
		return NULL;
	if (!index->names[nr])
		index->names[nr] =
			make_name(index, &index->headers[header], nr);
	return index->names[nr];
}

bool pp_line_index_find(struct pp_line_index *index, uint64_t address,
			struct pp_line *line)
{
	const struct sequence *sequence = index->current;
	const struct row *row;

	scan_programs(index);
	if (!is_innermost(index, sequence, address))
		sequence = find_sequence(index, address);
	if (!sequence ||
	    (sequence != index->current && !read_rows(index, sequence)))
		return false;
	row = row_at_address(index, address);
	if (!row)
		return false;
	line->file = file_name(index, index->current->header, row->file);
	line->line = row->line;
	line->discriminator = row->discriminator;
	return line->file != NULL;
}

const char *pp_line_index_file(struct pp_line_index *index, uint64_t table,
			       uint64_t nr)
{
	size_t at = OP_BISECT(i, index->nr_headers,
			      index->headers[i].offset < table);

	if (at == index->nr_headers || index->headers[at].offset != table ||
	    nr > UINT32_MAX)
		return NULL;
	return file_name(index, at, (uint32_t)nr);
}
