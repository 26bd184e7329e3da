// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which functions were inlined at an address. There are three tables of ranges
 * of addresses: of all units, made at once from the first entry of each; of the
 * functions of a unit, made when an address in it is asked for, by a walk over
 * its entries that jumps over what is in them; and of what was inlined into one
 * function, made from the entries in that function and kept until another
 * function is asked for. A binary of 20 MB has some 10 MB of entries, of which
 * samples need few.
 *
 * A function that was inlined refers to the entry of the function itself,
 * maybe in another unit, and that to a declaration; names and lines are taken
 * from the first of these that has them. Depths and sizes are bounded, because
 * the entries may hold anything.
 */

#include "libpp/symbols/inline_index.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/op_array.h"
#include "libop/op_search.h"
#include "libpp/symbols/dwarf_die.h"

#define MAX_HOPS 8 /* from a copy to its declaration */
#define MAX_RANGES (1u << 22) /* of a table */

struct range {
	uint64_t low, high;
	uint64_t reach; /* the highest end of all up to this one */
	uint64_t value; /* number of a unit, or offset of an entry */
};

struct ranges {
	struct range *list; /* by low */
	size_t nr;
};

/* A copy of a function in another. */
struct copy {
	uint64_t low, high;
	uint64_t origin;
	uint64_t call_file, call_line;
	uint32_t level; /* how many copies it is in */
};

struct inline_unit {
	struct pp_dwarf_unit unit;
	struct ranges functions;
	bool is_open, has_functions;
};

struct pp_inline_index {
	struct pp_dwarf dwarf;
	struct pp_dwarf nameless; /* the same without strings, for walks over
				     entries of which few have names that
				     matter: finding a string's end takes as
				     long as all else */
	struct inline_unit *units; /* by offset */
	size_t nr_units;
	struct ranges by_address; /* of units */

	/* The function that was asked for last. */
	uint64_t function; /* its entry; PP_NO_DIE for none */
	struct copy *copies;
	size_t nr_copies;
};

/* ---- ranges -------------------------------------------------------------- */

static int add_range(struct ranges *ranges, uint64_t low, uint64_t high,
		     uint64_t value)
{
	if (ranges->nr >= MAX_RANGES)
		return 0;
	if (op_array_reserve(&ranges->list, ranges->nr, 1))
		return -ENOMEM;
	ranges->list[ranges->nr++] =
		(struct range){ .low = low, .high = high, .value = value };
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return op_compare(x->low, y->low) ?: op_compare(y->high, x->high) ?:
	       op_compare(x->value, y->value);
}

static void sort_ranges(struct ranges *ranges)
{
	uint64_t reach = 0;

	if (ranges->nr)
		qsort(ranges->list, ranges->nr, sizeof(*ranges->list),
		      compare_ranges);
	for (size_t i = 0; i < ranges->nr; i++) {
		if (ranges->list[i].high > reach)
			reach = ranges->list[i].high;
		ranges->list[i].reach = reach;
	}
}

/* The innermost range with @address; NULL if there is none. */
static const struct range *find_range(const struct ranges *ranges,
				      uint64_t address)
{
	const struct range *all = ranges->list;
	size_t end = OP_BISECT(i, ranges->nr, all[i].low <= address);

	while (end && all[end - 1].reach > address)
		if (all[--end].high > address)
			return &all[end];
	return NULL;
}

/* Add the ranges of an entry; linkers leave those of dropped code at 0. */
static int add_ranges_of(const struct pp_inline_index *index,
			 const struct pp_dwarf_unit *unit,
			 const struct pp_die *die, uint64_t value,
			 struct ranges *out)
{
	struct pp_die_ranges ranges;
	uint64_t low, high;
	int err = 0;

	pp_die_ranges_init(&ranges, &index->dwarf, unit, die);
	while (!err && out->nr < MAX_RANGES &&
	       pp_die_ranges_next(&ranges, &low, &high))
		if (low)
			err = add_range(out, low, high, value);
	return err;
}

/* ---- units --------------------------------------------------------------- */

/* A unit whose first entry has no ranges gets those of its functions when they
 * are needed; compilers give none to units without code. */
static int add_unit_of_code(struct pp_inline_index *index,
			    const struct pp_dwarf_unit *header)
{
	struct inline_unit *u;
	struct pp_die die;
	int err;

	if (op_array_reserve(&index->units, index->nr_units, 1))
		return -ENOMEM;
	u = &index->units[index->nr_units];
	*u = (struct inline_unit){ .unit = *header };
	err = pp_dwarf_unit_open(&index->dwarf, &u->unit);
	if (!err &&
	    pp_die_read(&index->nameless, &u->unit, u->unit.first, &die))
		err = add_ranges_of(index, &u->unit, &die, index->nr_units,
				    &index->by_address);
	/* Abbreviations of all units would take more than their entries. */
	pp_dwarf_unit_close(&u->unit);
	index->nr_units++;
	return err;
}

int pp_inline_index_new(struct pp_inline_index **out,
			const struct pp_dwarf *dwarf)
{
	struct pp_inline_index *index = calloc(1, sizeof(*index));
	struct op_cursor all;
	int err = 0;

	if (!index)
		return -ENOMEM;
	index->dwarf = *dwarf;
	index->nameless = *dwarf;
	index->nameless.str = (struct pp_bytes){ 0 };
	index->nameless.line_str = (struct pp_bytes){ 0 };
	index->nameless.shared_str = (struct pp_bytes){ 0 };
	index->function = PP_NO_DIE;
	all = pp_dwarf_cursor(dwarf, &dwarf->info, 0);
	while (!err && op_cursor_left(&all)) {
		struct pp_dwarf_unit unit;

		if (pp_dwarf_unit_header(dwarf, &all, &unit))
			err = add_unit_of_code(index, &unit);
	}
	if (err) {
		pp_inline_index_free(index);
		return err;
	}
	sort_ranges(&index->by_address);
	*out = index;
	return 0;
}

void pp_inline_index_free(struct pp_inline_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->nr_units; i++) {
		pp_dwarf_unit_close(&index->units[i].unit);
		free(index->units[i].functions.list);
	}
	free(index->units);
	free(index->by_address.list);
	free(index->copies);
	free(index);
}

static int open_unit(const struct pp_inline_index *index, struct inline_unit *u)
{
	int err = u->is_open ? 0 : pp_dwarf_unit_open(&index->dwarf, &u->unit);

	u->is_open = true;
	return err;
}

/* The unit with the entry at @offset, open; NULL if there is none. */
static struct inline_unit *unit_with_entry(struct pp_inline_index *index,
					   uint64_t offset)
{
	size_t end = OP_BISECT(i, index->nr_units,
			       index->units[i].unit.first <= offset);
	struct inline_unit *u = end ? &index->units[end - 1] : NULL;

	return u && offset < u->unit.end && !open_unit(index, u) ? u : NULL;
}

/* ---- functions of a unit ------------------------------------------------- */

/* Where entries may be functions; of others the children are jumped over. */
static bool may_hold_functions(const struct pp_die *die)
{
	return die->tag == DW_TAG_compile_unit || die->tag == DW_TAG_module ||
	       die->tag == DW_TAG_namespace;
}

/* Where to go on: the first child, or behind the children if it is known where
 * that is and nothing in them matters. */
static uint64_t next_entry(const struct pp_die *die, uint64_t offset)
{
	if (die->has_children && !may_hold_functions(die) &&
	    die->sibling != PP_NO_DIE && die->sibling > offset)
		return die->sibling;
	return die->next;
}

static int read_functions(struct pp_inline_index *index, struct inline_unit *u)
{
	uint64_t at = u->unit.first;
	struct pp_die die;
	int err = 0;

	u->has_functions = true;
	while (!err && pp_die_read(&index->nameless, &u->unit, at, &die)) {
		if (die.tag == DW_TAG_subprogram)
			err = add_ranges_of(index, &u->unit, &die, at,
					    &u->functions);
		at = next_entry(&die, at);
	}
	sort_ranges(&u->functions);
	return err;
}

/* ---- copies in a function ------------------------------------------------ */

static int add_copy(struct pp_inline_index *index,
		    const struct pp_dwarf_unit *unit, const struct pp_die *die,
		    uint32_t level)
{
	struct pp_die_ranges ranges;
	struct copy copy = {
		.origin = die->origin,
		.call_file = die->call_file,
		.call_line = die->call_line,
		.level = level,
	};

	pp_die_ranges_init(&ranges, &index->dwarf, unit, die);
	while (index->nr_copies < MAX_RANGES &&
	       pp_die_ranges_next(&ranges, &copy.low, &copy.high)) {
		if (op_array_reserve(&index->copies, index->nr_copies, 1))
			return -ENOMEM;
		index->copies[index->nr_copies++] = copy;
	}
	return 0;
}

/* How deep the walk over a function is: entries, and copies among them. */
struct depth {
	bool *is_copy; /* for each level of entries */
	size_t nr;
	uint32_t copies;
};

static int go_down(struct depth *depth, bool is_copy)
{
	int err = op_array_reserve(&depth->is_copy, depth->nr, 1);

	if (err)
		return err;
	depth->is_copy[depth->nr++] = is_copy;
	depth->copies += is_copy;
	return 0;
}

static void go_up(struct depth *depth)
{
	if (depth->nr)
		depth->copies -= depth->is_copy[--depth->nr];
}

/* Only blocks and copies hold copies; the rest is types and variables. */
static bool may_hold_copies(const struct pp_die *die)
{
	return die->tag == DW_TAG_lexical_block ||
	       die->tag == DW_TAG_inlined_subroutine;
}

static int read_copies(struct pp_inline_index *index,
		       const struct pp_dwarf_unit *unit, uint64_t function)
{
	struct depth depth = { 0 };
	struct pp_die die;
	uint64_t at = function;
	int err = 0;

	index->nr_copies = 0;
	index->function = function;
	do {
		bool is_copy;

		if (!pp_die_read(&index->nameless, unit, at, &die))
			break;
		is_copy = die.tag == DW_TAG_inlined_subroutine;
		if (is_copy)
			err = add_copy(index, unit, &die, depth.copies);
		if (!die.tag)
			go_up(&depth);
		if (at != function && !may_hold_copies(&die) &&
		    die.has_children && die.sibling != PP_NO_DIE &&
		    die.sibling > at) {
			at = die.sibling;
			continue;
		}
		if (!err && die.has_children)
			err = go_down(&depth, is_copy);
		at = die.next;
	} while (!err && depth.nr);
	free(depth.is_copy);
	return err;
}

/* ---- names --------------------------------------------------------------- */

/* Take from @die what @out has not yet. */
static void describe_from(const struct pp_die *die,
			  const struct pp_dwarf_unit *unit,
			  struct pp_inlined *out, const char **plain)
{
	if (!out->name)
		out->name = die->linkage_name;
	if (!*plain)
		*plain = die->name;
	if (!out->decl_line && die->decl_line) {
		out->decl_file = die->decl_file;
		out->decl_line = die->decl_line;
		out->line_table = unit->line_table;
	}
}

/* Describe the function whose entry is at @offset. Returns false for one
 * without any name. */
static bool describe_function(struct pp_inline_index *index, uint64_t offset,
			      struct pp_inlined *out)
{
	const char *plain = NULL;

	out->line_table = UINT64_MAX;
	for (int hops = 0; hops < MAX_HOPS && offset != PP_NO_DIE; hops++) {
		const struct inline_unit *u = unit_with_entry(index, offset);
		struct pp_die die;

		if (!u || !pp_die_read(&index->dwarf, &u->unit, offset, &die))
			break;
		describe_from(&die, &u->unit, out, &plain);
		offset = die.origin;
	}
	if (!out->name)
		out->name = plain;
	return out->name;
}

static bool describe_copy(struct pp_inline_index *index,
			  const struct inline_unit *unit,
			  const struct copy *copy, struct pp_inlined *out)
{
	*out = (struct pp_inlined){
		.call_line_table = unit->unit.line_table,
		.call_file = copy->call_file,
		.call_line = copy->call_line,
	};
	return describe_function(index, copy->origin, out);
}

/* ---- questions ----------------------------------------------------------- */

static struct inline_unit *unit_at(struct pp_inline_index *index,
				   uint64_t address)
{
	const struct range *range = find_range(&index->by_address, address);
	struct inline_unit *u = range ? &index->units[range->value] : NULL;

	if (!u || open_unit(index, u))
		return NULL;
	return u->has_functions || !read_functions(index, u) ? u : NULL;
}

/* Copies stand behind those that they are in, so from the last on the levels
 * go down. */
size_t pp_inline_index_find(struct pp_inline_index *index, uint64_t address,
			    struct pp_inlined *out, size_t max)
{
	struct inline_unit *u = unit_at(index, address);
	const struct range *function =
		u ? find_range(&u->functions, address) : NULL;
	uint32_t level = UINT32_MAX;
	size_t nr = 0;

	if (!function || (function->value != index->function &&
			  read_copies(index, &u->unit, function->value)))
		return 0;
	for (size_t i = index->nr_copies; i > 0 && nr < max; i--) {
		const struct copy *copy = &index->copies[i - 1];

		if (address < copy->low || address >= copy->high ||
		    copy->level >= level)
			continue;
		level = copy->level;
		nr += describe_copy(index, u, copy, &out[nr]);
	}
	return nr;
}

bool pp_inline_index_function(struct pp_inline_index *index, uint64_t address,
			      struct pp_inlined *out)
{
	struct inline_unit *u = unit_at(index, address);
	const struct range *function =
		u ? find_range(&u->functions, address) : NULL;

	*out = (struct pp_inlined){ .call_line_table = UINT64_MAX };
	return function && describe_function(index, function->value, out) &&
	       out->decl_line;
}
