// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of an image, complete and only read: its life, and the search for
 * the row that holds an offset.
 *
 * The row is the last one that starts at or before the offset. Large images
 * have some 500,000 rows, so a search by halves among all of them would touch
 * many cache lines. page[] has the row that holds the first byte of each 4 KiB
 * of code, and only the rows from there to that of the next page are searched
 * by halves.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_build.h"
#include "libcfi/cfi_table.h"

#define PAGE_SHIFT 12
#define NO_ROW SIZE_MAX

/* Make the table of @elf, or say why @elf could not be read: @err. */
static int make_table(struct cfi_table **out, const struct op_elf *elf, int err,
		      enum cfi_extent extent, struct op_diag *diag)
{
	struct cfi_table *table;
	struct cfi_image image;

	if (err == -ENOEXEC)
		return op_diag_set(diag, -EBADMSG, "not an ELF file");
	if (err)
		return op_diag_set(diag, err, "%s", strerror(-err));
	table = calloc(1, sizeof(*table));
	if (!table)
		return op_out_of_memory(diag);
	err = cfi_image_load(&image, elf, diag);
	if (err) {
		free(table);
		return err;
	}
	err = cfi_build(table, &image, extent);
	table->has_go = image.has_go;
	cfi_image_release(&image);
	if (err) {
		cfi_table_free(table);
		return op_diag_set(diag, err, "unwind data: %s",
				   strerror(-err));
	}
	*out = table;
	return 0;
}

int cfi_table_new(struct cfi_table **out, const void *elf, size_t len,
		  struct op_diag *diag)
{
	struct op_elf file;
	int err = op_elf_init_memory(&file, elf, len);

	return make_table(out, &file, err, CFI_ALL, diag);
}

int cfi_table_read(struct cfi_table **out, int fd, enum cfi_extent extent,
		   struct op_diag *diag)
{
	struct op_elf file;
	int err = op_elf_init(&file, fd);

	return make_table(out, &file, err, extent, diag);
}

int cfi_table_of_code(struct cfi_table **out, const struct cfi_code *code)
{
	struct cfi_table *table = calloc(1, sizeof(*table));
	struct cfi_image image = {
		.arch = code->arch,
		.entry = UINT64_MAX, /* none */
		.nr_segments = 1,
		.segment = { { code->addr, 0, code->len, true } },
		.eh_frame = { .len = code->frames_len,
			      .addr = code->frames_addr },
	};
	int err;

	if (!table)
		return -ENOMEM;
	/* cfi_build() only reads the bytes. */
	image.eh_frame.bytes = (uint8_t *)code->frames;
	err = cfi_build(table, &image, CFI_ALL);
	if (err)
		cfi_table_free(table);
	else
		*out = table;
	return err;
}

void cfi_table_free(struct cfi_table *table)
{
	if (!table)
		return;
	cfi_rules_release(&table->rules);
	free(table->start);
	free(table->rule);
	free(table->page);
	free(table);
}

enum cfi_arch cfi_table_arch(const struct cfi_table *table)
{
	return table->arch;
}

static bool is_equal_array(const void *a, const void *b, size_t nr, size_t size)
{
	return !nr || !memcmp(a, b, nr * size);
}

static bool is_equal_pool(const struct cfi_pool *a, const struct cfi_pool *b)
{
	return a->len == b->len &&
	       is_equal_array(a->bytes, b->bytes, a->len, 1);
}

bool cfi_table_equal(const struct cfi_table *a, const struct cfi_table *b)
{
	return a->arch == b->arch && a->has_go == b->has_go &&
	       a->base == b->base && a->nr == b->nr &&
	       a->nr_pages == b->nr_pages &&
	       is_equal_array(a->start, b->start, a->nr, sizeof(*a->start)) &&
	       is_equal_array(a->rule, b->rule, a->nr, sizeof(*a->rule)) &&
	       is_equal_array(a->page, b->page, a->nr_pages,
			      sizeof(*a->page)) &&
	       is_equal_pool(&a->rules.rules, &b->rules.rules) &&
	       is_equal_pool(&a->rules.exprs, &b->rules.exprs);
}

size_t cfi_table_bytes(const struct cfi_table *table)
{
	return sizeof(*table) +
	       table->nr * (sizeof(*table->start) + sizeof(*table->rule)) +
	       table->nr_pages * sizeof(*table->page) + table->rules.rules.len +
	       table->rules.exprs.len;
}

size_t cfi_table_nr_rows(const struct cfi_table *table)
{
	return table->nr;
}

size_t cfi_table_nr_rules(const struct cfi_table *table)
{
	return table->rules.nr_rules;
}

/* The last row that starts at or before @offset; NO_ROW if it is before all. */
static size_t find_cfi_row(const struct cfi_table *table, uint64_t offset)
{
	uint64_t at = offset - table->base;
	size_t page = at >> PAGE_SHIFT;
	size_t low, high;

	if (offset < table->base || page >= table->nr_pages)
		return NO_ROW;
	low = table->page[page];
	high = page + 1 < table->nr_pages ? table->page[page + 1] + 1
					  : table->nr;
	/* The row is in [low, high). */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (table->start[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return table->start[low] <= at ? low : NO_ROW;
}

uint32_t cfi_table_find(const struct cfi_table *table, uint64_t offset)
{
	size_t row = find_cfi_row(table, offset);

	return row == NO_ROW ? 0 : table->rule[row] & CFI_ROW_RULE;
}

/*
 * Descriptions of signal frames start before the code, so that the return
 * address less 1 is in it.
 */
static bool is_of_function(const struct cfi_table *table, size_t row)
{
	uint32_t rule = table->rule[row] & CFI_ROW_RULE;

	return rule && !(table->rule[row] & CFI_ROW_MIXED) &&
	       !(cfi_rule(&table->rules, rule)->flags & CFI_RULE_SIGNAL);
}

bool cfi_function(const struct cfi_table *table, uint64_t offset,
		  uint64_t *start)
{
	size_t row = find_cfi_row(table, offset);

	if (row == NO_ROW || !is_of_function(table, row))
		return false;
	/* Where data is damaged, rule 0 is before the start. */
	while (row && !(table->rule[row] & CFI_ROW_STARTS) &&
	       table->rule[row] & CFI_ROW_RULE)
		row--;
	*start = table->base + table->start[row];
	return table->rule[row] & CFI_ROW_STARTS;
}
