// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for the addresses in instructions, chosen as objdump does: of several
 * at one address the same, and for what is read from a slot that the dynamic
 * linker fills the symbol whose address will be there.
 */

#include "libop/base/op_search.h"
#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_label(const asymbol *sym)
{
	const flagword unwanted =
		BSF_DEBUGGING | BSF_SECTION_SYM | BSF_FILE | BSF_THREAD_LOCAL;

	return sym->section && !bfd_is_und_section(sym->section) &&
	       !bfd_is_com_section(sym->section) && !(sym->flags & unwanted) &&
	       !op_bfd_is_noise(sym->name);
}

/* -1 if only @a has one of @flags. */
static int prefer_flagged(const asymbol *a, const asymbol *b, flagword flags)
{
	return !(a->flags & flags) - !(b->flags & flags);
}

/* objdump's order. */
static int compare_labels(const void *pa, const void *pb)
{
	const struct op_bfd_label *a = pa, *b = pb;
	const asymbol *x = a->sym, *y = b->sym;

	return op_compare(a->vma, b->vma) ?:
	       prefer_flagged(x, y, BSF_OBJECT) ?:
	       prefer_flagged(x, y, BSF_FUNCTION) ?:
	       prefer_flagged(x, y, BSF_GLOBAL) ?:
	       (x->name[0] == '.') - (y->name[0] == '.') ?:
	       strcmp(x->name, y->name);
}

static void add_labels(struct op_bfd_labels *l, asymbol **syms, long nr)
{
	for (long i = 0; i < nr; i++)
		if (is_label(syms[i]))
			l->labels[l->nr_labels++] = (struct op_bfd_label){
				bfd_asymbol_value(syms[i]), syms[i]
			};
}

static int read_labels(struct op_bfd_labels *l, struct op_bfd *bfd)
{
	const struct object *object = op_bfd_read_all_syms(bfd);
	size_t room = (size_t)object->nr_syms + bfd->nr_dynsyms +
		      bfd->nr_synthetic + 1;

	l->labels = calloc(room, sizeof(*l->labels));
	if (!l->labels)
		return -ENOMEM;
	add_labels(l, object->syms, object->nr_syms);
	if (!l->nr_labels)
		add_labels(l, bfd->dynsyms, bfd->nr_dynsyms);
	for (long i = 0; i < bfd->nr_synthetic; i++) {
		asymbol *sym = &bfd->synthetic[i];

		add_labels(l, &sym, 1);
	}
	qsort(l->labels, l->nr_labels, sizeof(*l->labels), compare_labels);
	return 0;
}

static int compare_label_vmas(const void *pa, const void *pb)
{
	const struct op_bfd_label *a = pa, *b = pb;

	return op_compare(a->vma, b->vma);
}

static void add_slots(struct op_bfd_labels *l, arelent *const *relocs, long nr)
{
	for (long i = 0; i < nr; i++) {
		asymbol *const *sym = relocs[i]->sym_ptr_ptr;

		if (sym && *sym && *(*sym)->name &&
		    !((*sym)->flags & BSF_SECTION_SYM))
			l->slots[l->nr_slots++] =
				(struct op_bfd_label){ relocs[i]->address,
						       *sym };
	}
	qsort(l->slots, l->nr_slots, sizeof(*l->slots), compare_label_vmas);
}

/* A file without any, or with damaged ones, is none the worse. */
static int read_slots(struct op_bfd_labels *l, struct op_bfd *bfd)
{
	struct bfd *abfd = bfd->main.abfd;
	long size =
		bfd->nr_dynsyms ? bfd_get_dynamic_reloc_upper_bound(abfd) : 0;
	arelent **relocs = size > 0 ? malloc((size_t)size) : NULL;
	long nr = relocs ? bfd_canonicalize_dynamic_reloc(abfd, relocs,
							  bfd->dynsyms)
			 : 0;

	if (nr > 0) {
		l->slots = calloc((size_t)nr, sizeof(*l->slots));
		if (l->slots)
			add_slots(l, relocs, nr);
	}
	free(relocs);
	return nr > 0 && !l->slots ? -ENOMEM : 0;
}

const struct op_bfd_label *op_bfd_slot_find(const struct op_bfd_labels *l,
					    uint64_t vma)
{
	const struct op_bfd_label key = { .vma = vma };

	if (!l->nr_slots)
		return NULL;
	return bsearch(&key, l->slots, l->nr_slots, sizeof(key),
		       compare_label_vmas);
}

const struct op_bfd_label *op_bfd_label_find(const struct op_bfd_labels *l,
					     uint64_t vma)
{
	size_t end = OP_BISECT(i, l->nr_labels, l->labels[i].vma <= vma);

	while (end > 1 && l->labels[end - 2].vma == l->labels[end - 1].vma)
		end--;
	return end ? &l->labels[end - 1] : NULL;
}

int op_bfd_labels_init(struct op_bfd_labels *l, struct op_bfd *bfd)
{
	return read_labels(l, bfd) ?: read_slots(l, bfd);
}

void op_bfd_labels_release(struct op_bfd_labels *l)
{
	free(l->labels);
	free(l->slots);
}
