/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_OP_BFD_INTERNAL_H
#define LIBPP_SYMBOLS_OP_BFD_INTERNAL_H

/*
 * Types and functions that the files op_bfd*.c share; no other file sees
 * libbfd. Three things need care: a stripped binary has its symbols in a
 * separate debug file whose sections have addresses but no contents, so that
 * offsets always come from the binary's own sections; libbfd prints and asserts
 * unless told otherwise; and all that it returns about a damaged file may be
 * nonsense, so that each address is looked up in a section before it is used.
 */

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

#include <bfd.h>

#include "libpp/symbols/op_bfd.h"

/* A section of the binary with code in it. */
struct code_section {
	uint64_t vma;
	uint64_t size;
	uint64_t offset; /* in the file */
};

/* The first failure of the system to read a file. */
struct bfd_fault {
	int err; /* a negative errno; 0: nothing */
	char *path;
};

/* A file with the symbols that were read from it. */
struct object {
	struct bfd_fault *fault; /* that of the op_bfd */
	const struct op_debug_places *places; /* where it may be, of a debug
						 file; NULL: anywhere */
	bfd *abfd;
	int fd; /* of the same file; -1 while there is none */
	char *path;
	uint64_t mtime; /* seconds */
	bool is_relocatable; /* not linked: in the file all its sections are at
				address 0 */
	asymbol **syms;
	long nr_syms;
};

struct line_table; /* op_bfd_lines.c */
struct split_file; /* op_bfd_split.c */
struct pp_dwarf_unit;
struct pp_dwarf;

struct op_bfd {
	struct object main;
	uint64_t fingerprint; /* of main; 0: not known */
	struct object debug; /* abfd is NULL until it is needed and found */
	bool debug_searched;
	struct object shared; /* what debug files share; likewise */
	bool shared_searched;
	struct object packed; /* symbols in the binary; likewise */
	bool packed_searched;
	asymbol **dynsyms;
	long nr_dynsyms;
	asymbol *synthetic; /* for the PLT: op_bfd_plt.c */
	long nr_synthetic;
	char *names; /* of dynamic symbols */
	bfd_byte *go_names; /* a section that has names of Go's functions */
	char *unnamed; /* what functions without a name are called */
	struct code_section *sections; /* by vma */
	size_t nr_sections;
	struct line_table *lines; /* NULL until it is needed */
	struct split_file *split; /* those that were read, the last one first */
	struct bfd_fault fault;
	const struct op_debug_places *places;
};

/* Open the file @path, which in an archive must not lead out of that. Returns a
 * descriptor, or -1 with errno. */
int op_bfd_open_in_places(const struct op_debug_places *places,
			  const char *path);

/* Open the file @path; the object keeps the path. Returns as op_bfd_open()
 * does; the object is to be closed in any case. */
int op_bfd_object_open(struct object *object, const char *path);

/* The same for the open file @fd, which becomes the object's. */
int op_bfd_object_take(struct object *object, const char *path, int fd);

void op_bfd_object_close(struct object *object);

/* Keep the error @err of reading @object for op_bfd_fault(), if it is a fault.
 * Returns @err. */
int op_bfd_object_note(const struct object *object, int err);

/* Open the separate debug file, if there is one and it is not open. */
void op_bfd_open_debug_file(struct op_bfd *bfd);

/* Open the file that @of, the one with the lines (or NULL), shares with others,
 * once; NULL if there is none. */
const struct object *op_bfd_open_shared_file(struct op_bfd *bfd,
					     const struct object *of);

/* *@bytes = the contents of @section of @object, unpacked, for the caller to
 * free; NULL if they cannot be read. */
void op_bfd_read_section(struct object *object, asection *section,
			 bfd_byte **bytes);

/* The function of a struct pp_split_files (libpp/symbols/dwarf/inline_index.h);
 * @bfd is the struct op_bfd, and the contents are freed with it. */
bool op_bfd_open_split(void *bfd, const struct pp_dwarf_unit *unit,
		       struct pp_dwarf *dwarf);
void op_bfd_split_free(struct split_file *split);

/* Open the symbol table that is packed in the binary, if it has one, once. */
void op_bfd_open_packed_symbols(struct op_bfd *bfd);

/* The section of code that @vma is in; NULL if there is none. */
const struct code_section *op_bfd_find_section(const struct op_bfd *bfd,
					       uint64_t vma);

/* The same as libbfd's own. */
asection *op_bfd_section_at(const struct object *object, uint64_t vma);

/*
 * The contents of the binary's section @name, for the caller to free; its
 * address and bytes in *@vma and *@len. NULL if it has none, or more than
 * PP_FUNCTION_TABLE_MAX, or memory is short.
 */
bfd_byte *op_bfd_section_bytes(const struct op_bfd *bfd, const char *name,
			       uint64_t *vma, size_t *len);

/* Symbols as they are found, in an array that grows as needed. */
struct symbol_list {
	struct pp_raw_symbol *array;
	size_t nr;
};

/* Add the functions of the binary that are in no symbol of @list, and sort it.
 * Returns 0 or -ENOMEM. */
int op_bfd_add_unnamed(struct op_bfd *bfd, struct symbol_list *list);

/* Add the functions of a Go program that are in its table for tracebacks.
 * Returns 0 or -ENOMEM; what is damaged is left out. */
int op_bfd_add_go(struct op_bfd *bfd, struct symbol_list *list);

/* Memory for a table of symbols, where @bytes is libbfd's bound for it; NULL
 * where that is 0 or less, because there is no table. */
asymbol **op_bfd_room_for_syms(long bytes);

/* Read the object's own symbols, once; then object->syms. */
void op_bfd_read_syms(struct object *object);

/* Read the symbols of both files, once. Returns the object whose symbols are
 * the best; nr_syms may be 0. */
const struct object *op_bfd_read_all_syms(struct op_bfd *bfd);

/* Make symbols for the procedure linkage table of the binary, once, from both
 * its symbol tables, which were read: bfd->synthetic. */
void op_bfd_read_plt(struct op_bfd *bfd);

/* Whether assemblers and compilers left the name and it names nothing. */
bool op_bfd_is_noise(const char *name);

/* A name for an address. */
struct op_bfd_label {
	uint64_t vma;
	asymbol *sym;
};

/* The labels and slots of a binary. */
struct op_bfd_labels {
	struct op_bfd_label *labels; /* by vma, the best name for one first */
	size_t nr_labels;
	struct op_bfd_label *slots; /* by vma: where the dynamic linker puts
				       addresses of symbols */
	size_t nr_slots;
};

/* Fill @labels, which is all zeros; @bfd must outlive it. Returns 0 or -ENOMEM.
 * It can be released in any case. */
int op_bfd_labels_init(struct op_bfd_labels *labels, struct op_bfd *bfd);
void op_bfd_labels_release(struct op_bfd_labels *labels);

/* The best name at or below @vma; NULL if there is none. */
const struct op_bfd_label *op_bfd_label_find(const struct op_bfd_labels *labels,
					     uint64_t vma);

/* The symbol whose address will be in the slot at @vma; NULL if no slot is
 * there. */
const struct op_bfd_label *op_bfd_slot_find(const struct op_bfd_labels *labels,
					    uint64_t vma);

void op_bfd_lines_free(struct line_table *lines);

#endif /* LIBPP_SYMBOLS_OP_BFD_INTERNAL_H */
