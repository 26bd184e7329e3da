// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sizes of an ELF file's symbols by their values, which libbfd does not
 * tell. Both symbol tables are read, so that a stripped binary has the sizes
 * of what it exports. Several symbols may share a value; the largest size
 * counts, because a function that reaches further than its alias covers both.
 */

#include "libpp/symbols/elf_sizes.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/op_array.h"
#include "libop/op_elf.h"
#include "libop/op_search.h"

struct sizes {
	struct pp_elf_size *array;
	size_t nr;
};

static bool has_size(const struct op_elf *elf, const uint8_t *sym)
{
	/* The type has the same place in both classes' st_info. */
	unsigned int type = OP_ELF_GET(elf, sym, Sym, st_info) & 0xf;

	return OP_ELF_GET(elf, sym, Sym, st_shndx) != SHN_UNDEF &&
	       OP_ELF_GET(elf, sym, Sym, st_size) &&
	       (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC ||
		type == STT_GNU_IFUNC);
}

static int add_sizes_of_table(const struct op_elf *elf,
			      const struct op_elf_section *section,
			      struct sizes *sizes)
{
	size_t step = OP_ELF_LEN(elf, Sym), nr, i;
	uint8_t *raw;
	int ret;

	if (section->entry_size != step)
		return -ENOEXEC;
	ret = op_elf_load(elf, section->offset, section->size, &raw);
	if (ret)
		return ret;
	nr = section->size / step;
	ret = op_array_reserve(&sizes->array, sizes->nr, nr);
	for (i = 0; !ret && i < nr; i++) {
		const uint8_t *sym = raw + i * step;

		if (has_size(elf, sym))
			sizes->array[sizes->nr++] = (struct pp_elf_size){
				.value = OP_ELF_GET(elf, sym, Sym, st_value),
				.size = OP_ELF_GET(elf, sym, Sym, st_size),
			};
	}
	free(raw);
	return ret;
}

/* Only the first table of a type is read: a sound file has no second one, and a
 * damaged one might have thousands. */
static int add_sizes_of_type(const struct op_elf *elf, uint64_t type,
			     struct sizes *sizes)
{
	struct op_elf_section section;
	uint64_t nr, names, i;
	int ret = op_elf_count_sections(elf, &nr, &names);

	for (i = 0; !ret && i < nr; i++) {
		ret = op_elf_section(elf, i, &section);
		if (!ret && section.type == type)
			return add_sizes_of_table(elf, &section, sizes);
	}
	return ret;
}

/* By value, the largest first. */
static int compare_sizes(const void *pa, const void *pb)
{
	const struct pp_elf_size *a = pa, *b = pb;

	return op_compare(a->value, b->value) ?: op_compare(b->size, a->size);
}

static void sort_sizes(struct sizes *sizes)
{
	size_t i, kept = 0;

	if (!sizes->nr)
		return;
	qsort(sizes->array, sizes->nr, sizeof(*sizes->array), compare_sizes);
	for (i = 0; i < sizes->nr; i++)
		if (!kept ||
		    sizes->array[kept - 1].value != sizes->array[i].value)
			sizes->array[kept++] = sizes->array[i];
	sizes->nr = kept;
}

int pp_elf_sizes_read(struct pp_elf_size **out, size_t *nr, int fd)
{
	struct op_elf elf;
	struct sizes sizes = { 0 };
	int ret = op_elf_init(&elf, fd) ?:
		  add_sizes_of_type(&elf, SHT_SYMTAB, &sizes) ?:
		  add_sizes_of_type(&elf, SHT_DYNSYM, &sizes);

	if (ret) {
		free(sizes.array);
		return ret;
	}
	sort_sizes(&sizes);
	*out = sizes.array;
	*nr = sizes.nr;
	return 0;
}

uint64_t pp_elf_size_find(const struct pp_elf_size *sizes, size_t nr,
			  uint64_t value)
{
	size_t at = OP_BISECT(i, nr, sizes[i].value < value);

	return at < nr && sizes[at].value == value ? sizes[at].size : 0;
}
