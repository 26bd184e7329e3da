// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The symbols of binaries: the own table, else that of the separate debug
 * file, else the one that is packed in the binary beside the dynamic one, else
 * the dynamic one, which has what a stripped library exports, with what other
 * tables tell of functions (op_bfd_go.c, op_bfd_functions.c).
 * libbfd tells no sizes, so these are read beside it (elf_sizes.c): its symbols
 * are those of the table without the first, in the same order. Each symbol is
 * looked up in a section of code of the binary itself, whatever file it came
 * from, because offsets in the file are what samples are counted by.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libpp/symbols/elf_sizes.h"

const struct object *op_bfd_read_all_syms(struct op_bfd *bfd)
{
	struct bfd *const abfd = bfd->main.abfd;

	op_bfd_read_syms(&bfd->main);
	if (!bfd->dynsyms)
		bfd->dynsyms = op_bfd_room_for_syms(
			bfd_get_dynamic_symtab_upper_bound(abfd));
	if (bfd->dynsyms && !bfd->nr_dynsyms)
		bfd->nr_dynsyms =
			bfd_canonicalize_dynamic_symtab(abfd, bfd->dynsyms);
	if (bfd->nr_dynsyms < 0)
		bfd->nr_dynsyms = 0;
	op_bfd_read_plt(bfd);
	if (bfd->main.nr_syms)
		return &bfd->main;
	op_bfd_open_debug_file(bfd);
	op_bfd_read_syms(&bfd->debug);
	if (bfd->debug.nr_syms)
		return &bfd->debug;
	op_bfd_open_packed_symbols(bfd);
	op_bfd_read_syms(&bfd->packed);
	return &bfd->packed;
}

static bool is_code_symbol(const asymbol *sym)
{
	const flagword unwanted = BSF_SECTION_SYM | BSF_FILE | BSF_WARNING |
				  BSF_DEBUGGING | BSF_THREAD_LOCAL;

	return sym->section && (sym->section->flags & SEC_CODE) &&
	       !(sym->flags & unwanted) && !op_bfd_is_noise(sym->name);
}

static unsigned int symbol_flags(const asymbol *sym)
{
	unsigned int flags = 0;

	if (sym->flags & (BSF_FUNCTION | BSF_GNU_INDIRECT_FUNCTION))
		flags |= PP_SYM_FUNCTION;
	if (sym->flags & (BSF_GLOBAL | BSF_WEAK | BSF_GNU_UNIQUE))
		flags |= PP_SYM_GLOBAL;
	if (sym->flags & BSF_WEAK)
		flags |= PP_SYM_WEAK;
	return flags;
}

static void add_code_symbol(const struct op_bfd *bfd, struct symbol_list *list,
			    const asymbol *sym, uint64_t size)
{
	const struct code_section *section;
	uint64_t vma;

	if (!is_code_symbol(sym))
		return;
	vma = bfd_asymbol_value(sym);
	section = op_bfd_find_section(bfd, vma);
	if (!section)
		return;
	list->array[list->nr++] = (struct pp_raw_symbol){
		.name = bfd_asymbol_name(sym),
		.key = section->offset + (vma - section->vma),
		.vma = vma,
		.size = size,
		.limit = section->offset + section->size,
		.flags = symbol_flags(sym),
	};
}

/* Add the symbols of a table of type @type in @object. */
static void add_table(const struct op_bfd *bfd, struct symbol_list *list,
		      asymbol *const *syms, long nr,
		      const struct object *object, uint32_t type)
{
	uint64_t *sizes = NULL;
	size_t nr_sizes = 0;
	int err = 0;

	if (nr)
		err = pp_elf_sizes_read(&sizes, &nr_sizes, object->fd, type);
	/* Where libbfd has left out some, none has a known size. */
	if (op_bfd_object_note(object, err) || nr_sizes != (size_t)nr + 1)
		nr_sizes = 0;
	for (long i = 0; i < nr; i++)
		add_code_symbol(bfd, list, syms[i],
				nr_sizes ? sizes[i + 1] : 0);
	free(sizes);
}

/* libbfd appends "@VERSION" to names of the dynamic symbol table; give the
 * symbols copies without it. */
static int drop_versions(struct op_bfd *bfd, struct symbol_list *list)
{
	size_t i, len = 1;
	char *to;

	for (i = 0; i < list->nr; i++)
		len += strlen(list->array[i].name) + 1;
	bfd->names = to = malloc(len);
	if (!to)
		return -ENOMEM;
	for (i = 0; i < list->nr; i++) {
		const char *name = list->array[i].name;

		len = 1 + strcspn(name + 1, "@");
		list->array[i].name = to;
		to = mempcpy(to, name, len);
		*to++ = '\0';
	}
	return 0;
}

/*
 * Code at the beginning of ".plt" calls the dynamic linker, for all functions
 * whose slot is not yet filled, and has no symbol of its own. It is named as
 * its section, up to the first entry with a name; there is none where those are
 * in another section.
 */
static void add_plt_head(const struct op_bfd *bfd, struct symbol_list *list)
{
	asymbol head = { .name = ".plt", .flags = BSF_LOCAL | BSF_SYNTHETIC };
	uint64_t end;

	head.section = bfd_get_section_by_name(bfd->main.abfd, head.name);
	if (!bfd->nr_synthetic || !head.section)
		return;
	end = bfd_section_size(head.section);
	for (long i = 0; i < bfd->nr_synthetic; i++) {
		const asymbol *sym = &bfd->synthetic[i];

		if (sym->section == head.section && sym->value < end)
			end = sym->value;
	}
	if (end)
		add_code_symbol(bfd, list, &head, end);
}

static int fill_symbol_list(struct op_bfd *bfd, struct symbol_list *list,
			    enum op_bfd_origin *origin)
{
	const struct object *object = op_bfd_read_all_syms(bfd);

	*origin = !object->nr_syms	  ? OP_BFD_NONE
		  : object == &bfd->main  ? OP_BFD_OWN
		  : object == &bfd->debug ? OP_BFD_DEBUG_FILE
					  : OP_BFD_PACKED;
	if (op_array_reserve(&list->array, 0,
			     (size_t)object->nr_syms + bfd->nr_dynsyms +
				     bfd->nr_synthetic + 2))
		return -ENOMEM;
	add_table(bfd, list, object->syms, object->nr_syms, object, SHT_SYMTAB);
	if (!list->nr)
		*origin = OP_BFD_DYNAMIC;
	/* A packed table is without what the dynamic one has. */
	if (*origin == OP_BFD_DYNAMIC || *origin == OP_BFD_PACKED) {
		add_table(bfd, list, bfd->dynsyms, bfd->nr_dynsyms, &bfd->main,
			  SHT_DYNSYM);
		if (drop_versions(bfd, list))
			return -ENOMEM;
	}
	if (!list->nr)
		*origin = OP_BFD_NONE;
	for (long i = 0; i < bfd->nr_synthetic; i++)
		add_code_symbol(bfd, list, &bfd->synthetic[i], 0);
	add_plt_head(bfd, list);
	return 0;
}

/* Functions of a stripped binary that are not exported. */
static int add_other_functions(struct op_bfd *bfd, struct symbol_list *list,
			       bool unnamed, enum op_bfd_origin *origin)
{
	size_t nr = list->nr;
	int err = op_bfd_add_go(bfd, list);

	if (list->nr > nr)
		*origin = OP_BFD_GO;
	return err || !unnamed ? err : op_bfd_add_unnamed(bfd, list);
}

int op_bfd_symbols(struct op_bfd *bfd, bool unnamed, struct pp_raw_symbol **out,
		   size_t *nr, enum op_bfd_origin *origin)
{
	struct symbol_list list = { 0 };
	int ret;

	ret = fill_symbol_list(bfd, &list, origin);
	if (!ret && (*origin == OP_BFD_NONE || *origin == OP_BFD_DYNAMIC))
		ret = add_other_functions(bfd, &list, unnamed, origin);
	if (ret) {
		free(list.array);
		return ret;
	}
	*out = list.array;
	*nr = list.nr;
	return 0;
}
