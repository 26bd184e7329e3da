// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which functions were inlined at an address. There are three tables of ranges
 * of addresses: of all units, made at once from the first entry of each; of the
 * functions of a unit, made when an address in it is asked for, by a walk over
 * its entries that jumps over what is in them; and of what was inlined into one
 * function, made from the entries in that function and kept until another
 * function is asked for. A binary of 20 MB has some 10 MB of entries, of which
 * samples need few. Of the copies side by side only one has the address, so
 * nothing but the addresses of each is read, and lists of ranges when they are
 * compared; what a copy is called is read of those that are on the way.
 *
 * A function that was inlined refers to the entry of the function itself,
 * maybe in another unit, and that to a declaration; names, files and lines are
 * each taken from the first of these that has them: a definition in the file of
 * its declaration has a line, but no file, of its own. Depths and sizes are
 * bounded, because the entries may hold anything.
 */

#include "libpp/symbols/dwarf/inline_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_search.h"

#define MAX_HOPS 8 /* from a copy to its declaration */
#define MAX_RANGES (1u << 22) /* of a table */
#define MAX_LEVELS 256 /* of copies in copies */
#define MAX_SCOPES 16 /* that a function is in */
#define MAX_SCOPE_STEPS (UINT64_C(1) << 25) /* entries looked at for these */
#define ENTRY_LEN 8 /* bytes, that many have */

struct range {
	uint64_t low, high;
	uint64_t reach; /* the highest end of all up to this one */
	uint64_t value; /* number of a unit, or offset of an entry */
};

struct ranges {
	struct range *list; /* by low */
	size_t nr;
};

/* Addresses of a copy. */
struct span {
	uint64_t low, high;
};

/* A copy of a function in another. */
struct copy {
	uint64_t entry; /* its offset */
	uint64_t children; /* the first entry in it; PP_NO_DIE for none */
	uint64_t low, high; /* what all its addresses are within; with a list
			       of ranges once that was read */
	uint64_t ranges; /* offset of that list; PP_NO_DIE: there is none */
	uint32_t first_span, nr_spans; /* what is in the list, likewise */
	uint32_t first, nr; /* the copies right in it, once */
	bool has_spans; /* the list was read */
	bool is_read; /* the copies right in it were read */
	bool is_described;
	bool has_name;
	struct pp_inlined about; /* once it was described */
};

/* A function that was described, of which there may be many copies. */
struct described {
	uint64_t offset; /* of its entry */
	bool has_name;
	struct pp_inlined about;
};

/* Code of a function that its entry @origin says more about. */
struct own_code {
	uint64_t origin, low;
};

struct inline_unit {
	struct pp_dwarf_unit unit;
	struct ranges functions;
	struct own_code *own_code; /* by origin */
	size_t nr_own_code;
	bool is_open, has_functions, has_own_code;
	struct pp_inline_index *split; /* of its file; NULL: none was read */
	bool split_tried;
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
	struct copy *copies; /* the first stands for the function itself */
	uint32_t nr_copies;
	struct span *spans;
	uint32_t nr_spans;

	/* Functions that were described, for any function. */
	struct described *described;
	size_t nr_described;
	struct op_hash by_entry; /* of these */
	struct op_arena names; /* that were put together */
	struct pp_split_files files; /* open is NULL where there are none */
	struct inline_unit *only; /* of a file of its own: the unit that is
				     asked about, whatever the address; or NULL
				   */
	bool lacks_file; /* see pp_inline_index_lacks_file() */
	uint64_t scope_steps; /* so far */
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
	err = pp_dwarf_unit_open_first(&index->dwarf, &u->unit);
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
			const struct pp_dwarf *dwarf,
			const struct pp_split_files *files)
{
	struct pp_inline_index *index = calloc(1, sizeof(*index));
	struct op_cursor all;
	int err = 0;

	if (!index)
		return -ENOMEM;
	index->dwarf = *dwarf;
	index->files = files ? *files : (struct pp_split_files){ 0 };
	index->nameless = *dwarf;
	index->nameless.str = (struct pp_bytes){ 0 };
	index->nameless.line_str = (struct pp_bytes){ 0 };
	index->nameless.shared_str = (struct pp_bytes){ 0 };
	index->function = PP_NO_DIE;
	op_arena_init(&index->names);
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
		free(index->units[i].own_code);
		pp_inline_index_free(index->units[i].split);
	}
	free(index->units);
	free(index->by_address.list);
	free(index->copies);
	free(index->spans);
	free(index->described);
	op_hash_release(&index->by_entry);
	op_arena_release(&index->names);
	free(index);
}

static int open_unit(const struct pp_inline_index *index, struct inline_unit *u)
{
	int err = u->is_open ? 0 : pp_dwarf_unit_open(&index->dwarf, &u->unit);

	if (err)
		pp_dwarf_unit_close(&u->unit);
	u->is_open = !err;
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
static bool may_hold_functions(const struct pp_abbrev *abbrev)
{
	return abbrev->tag == DW_TAG_compile_unit ||
	       abbrev->tag == DW_TAG_module || abbrev->tag == DW_TAG_namespace;
}

static int read_functions(struct pp_inline_index *index, struct inline_unit *u)
{
	uint64_t at = u->unit.first;
	struct pp_skimmed entry;
	struct pp_die die;
	int err = 0;

	u->has_functions = true;
	for (;;) {
		const struct pp_abbrev *abbrev;

		at = pp_die_skip_plain(&index->dwarf, &u->unit, at);
		if (err || !pp_die_skim(&index->nameless, &u->unit, at, &entry))
			break;
		abbrev = entry.abbrev;

		if (abbrev->tag == DW_TAG_subprogram && abbrev->has_code &&
		    pp_die_read_code(&index->nameless, &u->unit, at, &entry,
				     &die))
			err = add_ranges_of(index, &u->unit, &die, at,
					    &u->functions);
		at = !may_hold_functions(abbrev) && pp_die_tells_end(&entry, at)
			     ? entry.sibling
			     : entry.next;
	}
	sort_ranges(&u->functions);
	return err;
}

/* ---- copies in a function ------------------------------------------------ */

/* Add the copy whose entry is @entry, at @offset, if it has code. */
static int add_copy(struct pp_inline_index *index,
		    const struct pp_dwarf_unit *unit, uint64_t offset,
		    const struct pp_skimmed *entry)
{
	struct pp_die die;

	if (!pp_die_read_code(&index->nameless, unit, offset, entry, &die) ||
	    index->nr_copies >= MAX_RANGES)
		return 0;
	if (op_array_reserve(&index->copies, index->nr_copies, 1))
		return -ENOMEM;
	index->copies[index->nr_copies++] = (struct copy){
		.entry = offset,
		.children = die.has_children ? die.next : PP_NO_DIE,
		.low = die.low,
		.high = die.has_low && die.has_high ? die.high : 0,
		.ranges = die.has_ranges ? die.ranges : PP_NO_DIE,
		.has_spans = !die.has_ranges,
	};
	return 0;
}

/*
 * Read the copies right in copy @nr, and those in blocks there. Other entries
 * are types and variables, and what is in a copy is read when it is asked for.
 */
static int read_copies_in(struct pp_inline_index *index,
			  const struct pp_dwarf_unit *unit, uint32_t nr)
{
	const struct pp_dwarf *dwarf = &index->nameless;
	uint64_t at = index->copies[nr].children;
	uint32_t depth = 1;
	struct pp_skimmed entry;
	int err = 0;

	index->copies[nr].is_read = true;
	index->copies[nr].first = index->nr_copies;
	while (!err && depth && at != PP_NO_DIE) {
		const struct pp_abbrev *abbrev;

		at = pp_die_skip_plain(dwarf, unit, at);
		if (!pp_die_skim(dwarf, unit, at, &entry))
			break;
		abbrev = entry.abbrev;
		if (abbrev->tag == DW_TAG_inlined_subroutine &&
		    abbrev->has_code)
			err = add_copy(index, unit, at, &entry);
		if (!abbrev->tag)
			depth--;
		else if (abbrev->tag == DW_TAG_lexical_block)
			depth += abbrev->has_children;
		if (!abbrev->has_children ||
		    abbrev->tag == DW_TAG_lexical_block)
			at = entry.next;
		else if (pp_die_tells_end(&entry, at))
			at = entry.sibling;
		else
			at = pp_die_skip_children(dwarf, unit, entry.next);
	}
	index->copies[nr].nr = index->nr_copies - index->copies[nr].first;
	return err;
}

/* Begin with a function; it stands as the copy of number 0. */
static int use_function(struct pp_inline_index *index,
			const struct pp_dwarf_unit *unit, uint64_t function)
{
	struct pp_skimmed entry;

	index->function = PP_NO_DIE;
	index->nr_copies = 0;
	index->nr_spans = 0;
	if (!pp_die_skim(&index->nameless, unit, function, &entry) ||
	    add_copy(index, unit, function, &entry) || !index->nr_copies)
		return -ENOMEM;
	index->function = function;
	return 0;
}

/* Read the list of ranges of @copy. */
static int read_spans(struct pp_inline_index *index,
		      const struct pp_dwarf_unit *unit, struct copy *copy)
{
	const struct pp_die die = { .has_ranges = true,
				    .ranges = copy->ranges };
	struct pp_die_ranges ranges;
	struct span span;

	copy->has_spans = true;
	copy->first_span = index->nr_spans;
	copy->low = UINT64_MAX;
	copy->high = 0;
	pp_die_ranges_init(&ranges, &index->dwarf, unit, &die);
	while (index->nr_spans < MAX_RANGES &&
	       pp_die_ranges_next(&ranges, &span.low, &span.high)) {
		if (op_array_reserve(&index->spans, index->nr_spans, 1))
			return -ENOMEM;
		index->spans[index->nr_spans++] = span;
		copy->low = span.low < copy->low ? span.low : copy->low;
		copy->high = span.high > copy->high ? span.high : copy->high;
	}
	copy->nr_spans = index->nr_spans - copy->first_span;
	return 0;
}

static bool is_in_copy(struct pp_inline_index *index,
		       const struct pp_dwarf_unit *unit, struct copy *copy,
		       uint64_t address)
{
	if (!copy->has_spans && read_spans(index, unit, copy))
		return false;
	if (address < copy->low || address >= copy->high)
		return false;
	for (uint32_t i = 0; i < copy->nr_spans; i++) {
		const struct span *span = &index->spans[copy->first_span + i];

		if (address >= span->low && address < span->high)
			return true;
	}
	return copy->ranges == PP_NO_DIE;
}

/* The copy with @address right in copy @nr; 0 if there is none. */
static uint32_t copy_inside(struct pp_inline_index *index,
			    const struct pp_dwarf_unit *unit, uint32_t nr,
			    uint64_t address)
{
	const struct copy *outer;

	if (!index->copies[nr].is_read && read_copies_in(index, unit, nr))
		return 0;
	outer = &index->copies[nr];
	for (uint32_t i = outer->nr; i > 0; i--)
		if (is_in_copy(index, unit,
			       &index->copies[outer->first + i - 1], address))
			return outer->first + i - 1;
	return 0;
}

/* ---- names that linkers do not have -------------------------------------- */

/*
 * Functions that no other unit can see have no linkage name: static ones,
 * lambdas of g++, methods in anonymous namespaces. Where such a function was
 * compiled by itself, too, its symbol has the name; else there is what stands
 * around it.
 */

static int compare_own_code(const void *a, const void *b)
{
	const struct own_code *x = a, *y = b;

	return op_compare(x->origin, y->origin) ?: op_compare(x->low, y->low);
}

static int read_own_code(struct pp_inline_index *index, struct inline_unit *u)
{
	const struct ranges *functions = &u->functions;

	u->has_own_code = true;
	u->own_code = calloc(functions->nr + 1, sizeof(*u->own_code));
	if (!u->own_code)
		return -ENOMEM;
	for (size_t i = 0; i < functions->nr; i++) {
		struct pp_die die;

		if (pp_die_read(&index->nameless, &u->unit,
				functions->list[i].value, &die) &&
		    die.origin != PP_NO_DIE && die.has_low)
			u->own_code[u->nr_own_code++] = (struct own_code){
				.origin = die.origin,
				.low = die.low,
			};
	}
	qsort(u->own_code, u->nr_own_code, sizeof(*u->own_code),
	      compare_own_code);
	return 0;
}

/* Where the function of the entry at @offset in @u begins; 0: nowhere. */
static uint64_t find_own_code(struct pp_inline_index *index,
			      struct inline_unit *u, uint64_t offset)
{
	size_t at;

	if ((!u->has_functions && read_functions(index, u)) ||
	    (!u->has_own_code && read_own_code(index, u)) || !u->own_code)
		return 0;
	at = OP_BISECT(i, u->nr_own_code, u->own_code[i].origin < offset);
	return at < u->nr_own_code && u->own_code[at].origin == offset
		       ? u->own_code[at].low
		       : 0;
}

static bool is_scope(uint64_t tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_subprogram;
}

/* The entries that the one at @offset is in and that are part of its name, the
 * outermost first. Returns how many, up to MAX_SCOPES. */
static size_t find_scopes(struct pp_inline_index *index,
			  const struct pp_dwarf_unit *unit, uint64_t offset,
			  uint64_t scopes[MAX_SCOPES])
{
	const struct pp_dwarf *dwarf = &index->nameless;
	uint64_t at = unit->first;
	struct pp_skimmed entry;
	size_t nr = 0;

	while (at < offset && index->scope_steps < MAX_SCOPE_STEPS &&
	       pp_die_skim(dwarf, unit, at, &entry)) {
		uint64_t end = entry.next;

		index->scope_steps++;
		if (pp_die_tells_end(&entry, at)) {
			end = entry.sibling;
		} else if (entry.abbrev->has_children) {
			end = pp_die_skip_children(dwarf, unit, entry.next);
			if (end == PP_NO_DIE)
				break;
			index->scope_steps += (end - at) / ENTRY_LEN;
		}
		if (end <= offset) {
			at = end;
			continue;
		}
		if (is_scope(entry.abbrev->tag)) {
			if (nr == MAX_SCOPES)
				return 0;
			scopes[nr++] = at;
		}
		at = entry.next;
	}
	return nr;
}

/* The name of the scope at @offset as a part of the name of @inner, which is
 * directly in it. The line makes the name of a lambda unique. */
static const char *name_of_scope(struct pp_inline_index *index,
				 const struct pp_dwarf_unit *unit,
				 uint64_t offset, const char *inner)
{
	struct pp_die die;

	if (!pp_die_read(&index->dwarf, unit, offset, &die))
		return NULL;
	if (die.name || die.tag == DW_TAG_subprogram)
		return die.name;
	if (die.tag == DW_TAG_namespace)
		return "(anonymous namespace)";
	return op_arena_printf(&index->names, "{%s:%" PRIu64 "}",
			       strcmp(inner, "operator()") ? "unnamed"
							   : "lambda",
			       die.decl_line);
}

/* @name, that of the entry at @offset, with those of all that it is in. */
static const char *qualified_name(struct pp_inline_index *index,
				  const struct pp_dwarf_unit *unit,
				  uint64_t offset, const char *name)
{
	uint64_t scopes[MAX_SCOPES];
	size_t nr = find_scopes(index, unit, offset, scopes);

	for (const char *scope, *whole, *inner = name; nr; nr--) {
		scope = name_of_scope(index, unit, scopes[nr - 1], inner);
		whole = scope ? op_arena_printf(&index->names, "%s::%s", scope,
						name)
			      : NULL;
		if (!whole)
			break;
		name = whole;
		inner = scope;
	}
	return name;
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
	if (!out->decl_line)
		out->decl_line = die->decl_line;
	if (out->line_table == UINT64_MAX && die->has_decl_file) {
		out->decl_file = die->decl_file;
		out->line_table = unit->line_table;
	}
}

/* Describe the function whose entry is at @offset. Returns false for one
 * without any name. */
static bool describe_function(struct pp_inline_index *index, uint64_t offset,
			      struct pp_inlined *out)
{
	const char *plain = NULL;
	const struct inline_unit *of_plain = NULL;
	uint64_t first = offset, plain_offset = 0;

	out->line_table = UINT64_MAX;
	for (int hops = 0; hops < MAX_HOPS && offset != PP_NO_DIE; hops++) {
		const struct inline_unit *u = unit_with_entry(index, offset);
		struct pp_die die;

		if (!u || !pp_die_read(&index->dwarf, &u->unit, offset, &die))
			break;
		describe_from(&die, &u->unit, out, &plain);
		if (plain && !of_plain) {
			of_plain = u;
			plain_offset = offset;
		}
		offset = die.origin;
	}
	if (out->name || !plain)
		return out->name;
	out->name = qualified_name(index, &of_plain->unit, plain_offset, plain);
	out->code = find_own_code(index, unit_with_entry(index, first), first);
	return true;
}

/* The same, kept: functions have many copies. NULL if memory is short. */
static const struct described *described_function(struct pp_inline_index *index,
						  uint64_t offset)
{
	struct described *found;
	uint32_t number;
	uint64_t hash;

	if (op_hash_reserve(&index->by_entry, index->nr_described + 1) ||
	    op_array_reserve(&index->described, index->nr_described, 1))
		return NULL;
	hash = op_hash_mix(index->by_entry.seed, offset);
	op_hash_each(&index->by_entry, hash, number)
		if (index->described[number - 1].offset == offset)
			return &index->described[number - 1];
	found = &index->described[index->nr_described++];
	*found = (struct described){ .offset = offset };
	found->has_name = describe_function(index, offset, &found->about);
	op_hash_add(&index->by_entry, hash, (uint32_t)index->nr_described);
	return found;
}

/* Many addresses are in one copy. */
static bool describe_copy(struct pp_inline_index *index,
			  const struct inline_unit *unit, struct copy *copy,
			  struct pp_inlined *out)
{
	const struct described *function;
	struct pp_die die;

	if (!copy->is_described) {
		copy->is_described = true;
		if (!pp_die_read(&index->nameless, &unit->unit, copy->entry,
				 &die))
			return false;
		function = described_function(index, die.origin);
		if (!function)
			return false;
		copy->about = function->about;
		copy->about.call_line_table = unit->unit.line_table;
		copy->about.call_file = die.call_file;
		copy->about.call_line = die.call_line;
		copy->about.call_discriminator = die.call_discriminator;
		copy->has_name = function->has_name;
	}
	*out = copy->about;
	return copy->has_name;
}

/* ---- files of units ------------------------------------------------------ */

/* Give the unit of @file that belongs to @skeleton what stayed there. False if
 * there is none, as the file is of another build. */
static bool adopt_skeleton(struct pp_inline_index *file,
			   const struct pp_dwarf_unit *skeleton)
{
	for (size_t i = 0; i < file->nr_units; i++) {
		struct pp_dwarf_unit *unit = &file->units[i].unit;

		if (unit->split_id != skeleton->split_id)
			continue;
		unit->addr = skeleton->addr;
		unit->low = skeleton->low;
		unit->line_table = skeleton->line_table;
		unit->ranges = skeleton->split_ranges;
		file->only = &file->units[i];
		return true;
	}
	return false;
}

/* The index of the file with the entries of @u, which is open; NULL if that is
 * not there. */
static struct pp_inline_index *split_of_unit(struct pp_inline_index *index,
					     struct inline_unit *u)
{
	const struct pp_split_files *files = &index->files;
	struct pp_dwarf dwarf = { 0 };

	if (u->split_tried)
		return u->split;
	u->split_tried = true;
	if (!files->open || !files->open(files->ctx, &u->unit, &dwarf))
		return NULL;
	dwarf.line_str = index->dwarf.line_str;
	dwarf.ranges = index->dwarf.ranges;
	dwarf.addr = index->dwarf.addr;
	dwarf.big_endian = index->dwarf.big_endian;
	if (!pp_inline_index_new(&u->split, &dwarf, NULL) &&
	    !adopt_skeleton(u->split, &u->unit)) {
		pp_inline_index_free(u->split);
		u->split = NULL;
	}
	return u->split;
}

/* ---- questions ----------------------------------------------------------- */

/* The unit with @address, open; NULL if there is none. */
static struct inline_unit *open_unit_at(struct pp_inline_index *index,
					uint64_t address)
{
	const struct range *range =
		index->only ? NULL : find_range(&index->by_address, address);
	struct inline_unit *u =
		range ? &index->units[range->value] : index->only;

	return u && !open_unit(index, u) ? u : NULL;
}

/* The index that has the entries of @address: that of a file, or @index. */
static struct pp_inline_index *index_at(struct pp_inline_index *index,
					uint64_t address)
{
	struct inline_unit *u = open_unit_at(index, address);
	struct pp_inline_index *split;

	if (!u || !u->unit.split_name)
		return index;
	split = split_of_unit(index, u);
	index->lacks_file |= !split;
	return split ? split : index;
}

static struct inline_unit *unit_at(struct pp_inline_index *index,
				   uint64_t address)
{
	struct inline_unit *u = open_unit_at(index, address);

	return u && (u->has_functions || !read_functions(index, u)) ? u : NULL;
}

static size_t find_inlined(struct pp_inline_index *index, uint64_t address,
			   struct pp_inlined *out, size_t max)
{
	struct inline_unit *u = unit_at(index, address);
	const struct range *function =
		u ? find_range(&u->functions, address) : NULL;
	uint32_t path[MAX_LEVELS], levels = 0, inner = 0;
	size_t nr = 0;

	if (!function || (function->value != index->function &&
			  use_function(index, &u->unit, function->value)))
		return 0;
	while (levels < MAX_LEVELS &&
	       (inner = copy_inside(index, &u->unit, inner, address)))
		path[levels++] = inner;
	while (levels && nr < max)
		nr += describe_copy(index, u, &index->copies[path[--levels]],
				    &out[nr]);
	return nr;
}

size_t pp_inline_index_find(struct pp_inline_index *index, uint64_t address,
			    struct pp_inlined *out, size_t max)
{
	return find_inlined(index_at(index, address), address, out, max);
}

static bool find_function(struct pp_inline_index *index, uint64_t address,
			  struct pp_inlined *out)
{
	struct inline_unit *u = unit_at(index, address);
	const struct range *function =
		u ? find_range(&u->functions, address) : NULL;

	*out = (struct pp_inlined){ .call_line_table = UINT64_MAX };
	return function && describe_function(index, function->value, out) &&
	       out->decl_line;
}

bool pp_inline_index_function(struct pp_inline_index *index, uint64_t address,
			      struct pp_inlined *out)
{
	return find_function(index_at(index, address), address, out);
}

bool pp_inline_index_lacks_file(const struct pp_inline_index *index)
{
	return index->lacks_file;
}
