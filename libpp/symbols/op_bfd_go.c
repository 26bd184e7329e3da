// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of a stripped Go program. Its runtime names functions in
 * tracebacks by a table that neither the linker's -s nor strip(1) removes, in
 * the section .gopclntab, which a position-independent program of Go before
 * 1.26 has as .data.rel.ro.gopclntab. The layout is that of Go's own source
 * (src/runtime/symtab.go: pcHeader, functab and _func; src/cmd/link/internal/
 * ld/pcln.go writes it):
 *
 *	u32 magic	tells the version and the byte order
 *	u8 0, u8 0
 *	u8 quantum	bytes that all instructions are a multiple of: 1, 2, 4
 *	u8 size		of a word: 4 or 8
 *	word functions, word files	how many there are
 *	word text	where code begins (Go 1.18 and later; 0 since 1.26)
 *	word names, units, files, values, table		offsets from the magic
 *
 * At "table" is a row for each function, its start and the offset of its
 * description from "table", and behind the last row the end of all code. A
 * description begins with the same start and the offset of the name from
 * "names", which a zero byte ends. Numbers of rows are words up to Go 1.17;
 * since 1.18 they have 4 bytes, and starts are counted from "text". A row
 * without a description is a hole, with code that the linker got elsewhere.
 *
 * Where another linker than Go's makes a position-independent program, which it
 * does if there is C in it, the table of Go before 1.26 is somewhere in
 * .data.rel.ro, and "text" is 0 until a relocation is applied. The first bytes
 * that may be a head are taken for it, since each other try would take time.
 *
 * Rows are the size of the table at most, and no name is read here: it is known
 * to end because some zero byte follows, so a damaged table costs no more time
 * than its size does.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_cursor.h"
#include "libpp/symbols/elf_digest.h"

#define MAGIC_1_16 0xfffffffa
#define MAGIC_1_18 0xfffffff0
#define MAGIC_1_20 0xfffffff1
#define HEAD 8 /* bytes before the first word */
/* Words of struct moduledata, section .go.module since Go 1.26: the first and
 * the last address of functions, and where code begins. */
#define MODULE_MIN 20
#define MODULE_MAX 21
#define MODULE_TEXT 22

#define RELOCATION 24 /* bytes of an Elf64_Rela */

struct go_table {
	const struct op_bfd *bfd;
	const bfd_byte *bytes;
	size_t len;
	uint64_t vma; /* of bytes[0] */
	bfd_byte *relocations; /* of the program; NULL: none */
	size_t relocations_len;
	size_t names_end; /* behind the last zero byte */
	size_t word; /* bytes */
	size_t field; /* bytes of a number of a row */
	uint64_t nr; /* functions */
	uint64_t text; /* what starts are counted from */
	uint64_t names;
	uint64_t rows;
};

static struct op_cursor go_cursor(const struct go_table *table,
				  const bfd_byte *bytes, size_t len)
{
	struct op_cursor c = op_cursor(bytes, len);

	c.big_endian = bfd_big_endian(table->bfd->main.abfd);
	return c;
}

/* The @size bytes at @at as a number; false if they are not all there. */
static bool go_number(const struct go_table *table, uint64_t at, size_t size,
		      uint64_t *value)
{
	struct op_cursor c;

	if (at > table->len || size > table->len - at)
		return false;
	c = go_cursor(table, table->bytes + at, size);
	*value = op_cursor_number(&c, size);
	return true;
}

/* The word at @at, an address. One that is 0 may be left to a relocation
 * without a symbol, which has it. */
static bool go_address(const struct go_table *table, uint64_t at,
		       uint64_t *value)
{
	struct op_cursor c =
		go_cursor(table, table->relocations, table->relocations_len);

	if (!go_number(table, at, table->word, value))
		return false;
	while (!*value && op_cursor_left(&c) >= RELOCATION) {
		uint64_t place = op_cursor_number(&c, 8);
		uint64_t info = op_cursor_number(&c, 8);
		uint64_t addend = op_cursor_number(&c, 8);

		if (place == table->vma + at && !(info >> 32))
			*value = addend;
	}
	return true;
}

/* The start of row @i, an address; that of the end of code for i == nr. */
static bool go_start(const struct go_table *table, uint64_t i, uint64_t *start)
{
	if (!go_number(table, table->rows + i * 2 * table->field, table->field,
		       start))
		return false;
	*start += table->text;
	return true;
}

/* ---- where code begins --------------------------------------------------- */

static bool is_go_start(const struct go_table *table, uint64_t vma)
{
	uint64_t start;

	for (uint64_t i = 0; i < table->nr; i++)
		if (go_start(table, i, &start) && start == vma)
			return true;
	return false;
}

/* The section of the table of all parts of a program. */
static bool read_go_module(struct go_table *table)
{
	struct go_table module = *table;
	uint64_t first, last, text, start, end;
	bfd_byte *bytes = op_bfd_section_bytes(table->bfd, ".go.module",
					       &module.vma, &module.len);
	bool is_known;

	module.bytes = bytes;
	is_known = bytes &&
		   go_address(&module, MODULE_MIN * table->word, &first) &&
		   go_address(&module, MODULE_MAX * table->word, &last) &&
		   go_address(&module, MODULE_TEXT * table->word, &text);
	free(bytes);
	if (!is_known)
		return false;
	table->text = text;
	return go_start(table, 0, &start) && start == first &&
	       go_start(table, table->nr, &end) && end == last;
}

/*
 * The linker may have put other code before that of Go, so the start of .text
 * is taken only if the program's first instruction, which is Go's where Go's
 * linker made all of it, begins a function then.
 */
static bool read_go_section(struct go_table *table)
{
	struct bfd *const abfd = table->bfd->main.abfd;
	asection *section = bfd_get_section_by_name(abfd, ".text");

	table->text = section ? bfd_section_vma(section) : 0;
	return section && is_go_start(table, bfd_get_start_address(abfd));
}

static bool find_go_text(struct go_table *table)
{
	if (!table->text && !read_go_module(table) && !read_go_section(table))
		return false;
	return op_bfd_find_section(table->bfd, table->text);
}

/* ---- the head ------------------------------------------------------------ */

/* Whether the rows and the end behind them are all there. */
static bool are_rows_there(const struct go_table *table)
{
	return table->rows <= table->len &&
	       table->len - table->rows >= table->field &&
	       table->nr <= (table->len - table->rows - table->field) /
				    (2 * table->field);
}

static bool read_go_words(struct go_table *table, bool has_text)
{
	const size_t word = table->word, text = HEAD + 2 * word;
	const size_t names = has_text ? text + word : text;

	if (!go_number(table, HEAD, word, &table->nr) ||
	    (has_text && !go_address(table, text, &table->text)) ||
	    !go_number(table, names, word, &table->names) ||
	    !go_number(table, names + 4 * word, word, &table->rows) ||
	    table->names > table->len || !are_rows_there(table))
		return false;
	return !has_text || find_go_text(table);
}

/* Whether a table may begin at @at. */
static bool is_go_head(const struct go_table *table, uint64_t at)
{
	uint64_t magic, rest;
	const bfd_byte *head;

	if (!go_number(table, at, 4, &magic) ||
	    !go_number(table, at + 4, HEAD - 4, &rest) ||
	    (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20))
		return false;
	head = table->bytes + at;
	return !head[4] && !head[5] &&
	       (head[6] == 1 || head[6] == 2 || head[6] == 4) &&
	       (head[7] == 4 || head[7] == 8);
}

static bool read_go_head(struct go_table *table)
{
	const bfd_byte *head = table->bytes;
	uint64_t magic;
	bool has_text;

	if (!is_go_head(table, 0) || !go_number(table, 0, 4, &magic))
		return false;
	has_text = magic != MAGIC_1_16;
	table->word = head[7];
	table->field = has_text ? 4 : table->word;
	for (table->names_end = table->len;
	     table->names_end && head[table->names_end - 1];)
		table->names_end--;
	return read_go_words(table, has_text);
}

/* ---- functions ----------------------------------------------------------- */

/* The name of row @i; NULL if the row is a hole or damaged. */
static const char *go_name(const struct go_table *table, uint64_t i)
{
	const size_t field = table->field;
	uint64_t at, start, same, name;

	if (!go_number(table, table->rows + (2 * i + 1) * field, field, &at) ||
	    at > table->len - table->rows || !go_start(table, i, &start) ||
	    !go_number(table, table->rows + at, field, &same) ||
	    same + table->text != start ||
	    !go_number(table, table->rows + at + field, 4, &name) ||
	    name >= table->len - table->names ||
	    table->names + name >= table->names_end)
		return NULL;
	return (const char *)table->bytes + table->names + name;
}

static void add_go_functions(const struct go_table *table,
			     struct symbol_list *list)
{
	for (uint64_t i = 0; i < table->nr; i++) {
		const char *name = go_name(table, i);
		const struct code_section *section;
		uint64_t start, end;

		if (!name || op_bfd_is_noise(name) ||
		    !go_start(table, i, &start) ||
		    !go_start(table, i + 1, &end) || end <= start)
			continue;
		section = op_bfd_find_section(table->bfd, start);
		if (!section ||
		    end - start > section->size - (start - section->vma))
			continue;
		list->array[list->nr++] = (struct pp_raw_symbol){
			.name = name,
			.key = section->offset + (start - section->vma),
			.vma = start,
			.size = end - start,
			.limit = section->offset + section->size,
			.flags = PP_SYM_FUNCTION,
		};
	}
}

/* ---- where the table is -------------------------------------------------- */

/* Let @table begin where it does in the data that relocations change. */
static void search_go_table(struct go_table *table)
{
	uint64_t at = 0;

	while (at < table->len && !is_go_head(table, at))
		at += HEAD;
	at = at < table->len ? at : table->len;
	table->bytes += at;
	table->len -= at;
	table->vma += at;
}

/* The bytes that hold the table; NULL if there are none. */
static bfd_byte *load_go_table(struct go_table *table)
{
	static const char *const names[] = { PP_GO_TABLE, PP_GO_TABLE_RELRO,
					     PP_GO_RELRO };
	const struct op_bfd *bfd = table->bfd;
	bfd_byte *bytes = NULL;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !bytes; i++)
		if (strcmp(names[i], PP_GO_RELRO) ||
		    bfd_get_section_by_name(bfd->main.abfd, PP_GO_NOTE))
			bytes = op_bfd_section_bytes(bfd, names[i], &table->vma,
						     &table->len);
	table->bytes = bytes;
	if (bytes && !strcmp(names[i - 1], PP_GO_RELRO))
		search_go_table(table);
	return bytes;
}

int op_bfd_add_go(struct op_bfd *bfd, struct symbol_list *list)
{
	struct go_table table = { .bfd = bfd };
	uint64_t vma;
	int err = 0;

	free(bfd->go_names);
	bfd->go_names = load_go_table(&table);
	if (!bfd->go_names || bfd->main.is_relocatable)
		return 0;
	if (bfd_get_arch_size(bfd->main.abfd) == 64)
		table.relocations = op_bfd_section_bytes(
			bfd, ".rela.dyn", &vma, &table.relocations_len);
	if (!table.relocations)
		table.relocations_len = 0;
	if (read_go_head(&table)) {
		err = op_array_reserve(&list->array, list->nr, table.nr);
		if (!err)
			add_go_functions(&table, list);
	}
	free(table.relocations);
	return err;
}
