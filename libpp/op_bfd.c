// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one file that talks to libbfd. Three things need care: a stripped
 * binary has its symbols in a separate debug file whose sections have
 * addresses but no contents, so that offsets always come from the binary's
 * own sections; libbfd prints and asserts unless told otherwise; and all that
 * it returns about a damaged file may be nonsense, so that each address is
 * looked up in a section before it is used.
 */

#include "libpp/op_bfd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"

#include <bfd.h>

#include "libpp/elf_sizes.h"

/*
 * libbfd 2.40 loses a few names that it makes while it reads lines of C++;
 * the leak checker of sanitized builds is not to hold that against us.
 */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define LEAKS_EXPECTED(on) ((on) ? __lsan_disable() : __lsan_enable())
#else
#define LEAKS_EXPECTED(on) ((void)(on))
#endif

/* A section of the binary with code in it. */
struct code_section {
	uint64_t vma;
	uint64_t size;
	uint64_t offset; /* in the file */
};

/* A file with the symbols that were read from it. */
struct object {
	bfd *abfd;
	char *path;
	asymbol **syms;
	long nr_syms;
};

struct op_bfd {
	struct object main;
	struct object debug; /* abfd is NULL until it is needed and found */
	bool debug_searched;
	asymbol **dynsyms;
	long nr_dynsyms;
	asymbol *synthetic;
	char *names; /* of dynamic symbols */
	struct code_section *sections; /* by vma */
	size_t nr_sections;
	const char *const *debug_dirs;
	uint64_t mtime;
};

/* ---- libbfd's manners ---------------------------------------------------- */

static void ignore_error(const char *fmt, va_list ap)
{
	(void)fmt;
	(void)ap;
}

static void ignore_assert(const char *fmt, const char *version,
			  const char *file, int line)
{
	(void)fmt;
	(void)version;
	(void)file;
	(void)line;
}

static void make_bfd_quiet(void)
{
	bfd_init();
	bfd_set_error_handler(ignore_error);
	bfd_set_assert_handler(ignore_assert);
}

/* ---- opening ------------------------------------------------------------- */

static void object_close(struct object *object)
{
	if (object->abfd)
		bfd_close(object->abfd);
	free(object->syms);
	free(object->path);
	*object = (struct object){ 0 };
}

/* The path is kept by the object, also when it cannot be opened. */
static int object_open(struct object *object, const char *path)
{
	object->path = strdup(path);
	if (!object->path)
		return -ENOMEM;
	object->abfd = bfd_openr(object->path, NULL);
	if (!object->abfd)
		return bfd_get_error() == bfd_error_system_call && errno
			       ? -errno
			       : -ENOEXEC;
	/* Debug sections may be compressed. */
	object->abfd->flags |= BFD_DECOMPRESS;
	return bfd_check_format(object->abfd, bfd_object) ? 0 : -ENOEXEC;
}

static int by_vma(const void *pa, const void *pb)
{
	const struct code_section *a = pa, *b = pb;

	return (a->vma > b->vma) - (a->vma < b->vma);
}

static bool is_sound(const struct code_section *section)
{
	uint64_t end;

	return section->size &&
	       !__builtin_add_overflow(section->vma, section->size - 1, &end) &&
	       !__builtin_add_overflow(section->offset, section->size, &end);
}

/* Whether the file is not linked: all its sections are at address 0. */
static bool is_relocatable(const struct object *object)
{
	return !(object->abfd->flags & (EXEC_P | DYNAMIC));
}

/* The address of @section; the file offset where there are no addresses. */
static uint64_t address_of(const struct object *object, const asection *section)
{
	return is_relocatable(object) ? (uint64_t)section->filepos
				      : bfd_section_vma(section);
}

static int read_sections(struct op_bfd *bfd)
{
	const flagword wanted = SEC_CODE | SEC_HAS_CONTENTS;
	const asection *at;

	bfd->sections = calloc(bfd_count_sections(bfd->main.abfd) + 1,
			       sizeof(*bfd->sections));
	if (!bfd->sections)
		return -ENOMEM;
	for (at = bfd->main.abfd->sections; at; at = at->next) {
		struct code_section section = { address_of(&bfd->main, at),
						bfd_section_size(at),
						(uint64_t)at->filepos };

		if ((bfd_section_flags(at) & wanted) == wanted &&
		    is_sound(&section))
			bfd->sections[bfd->nr_sections++] = section;
	}
	qsort(bfd->sections, bfd->nr_sections, sizeof(*bfd->sections), by_vma);
	return 0;
}

int op_bfd_open(struct op_bfd **out, const char *path,
		const char *const *debug_dirs)
{
	struct op_bfd *bfd;
	struct stat st;
	int ret;

	/* Opening a pipe or a device would wait or do worse. */
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	make_bfd_quiet();
	bfd = calloc(1, sizeof(*bfd));
	if (!bfd)
		return -ENOMEM;
	bfd->debug_dirs = debug_dirs;
	bfd->mtime = (uint64_t)st.st_mtime;
	ret = object_open(&bfd->main, path);
	if (!ret)
		ret = read_sections(bfd);
	if (ret)
		op_bfd_close(bfd);
	else
		*out = bfd;
	return ret;
}

void op_bfd_close(struct op_bfd *bfd)
{
	if (!bfd)
		return;
	free(bfd->names);
	free(bfd->synthetic);
	free(bfd->dynsyms);
	object_close(&bfd->debug);
	object_close(&bfd->main);
	free(bfd->sections);
	free(bfd);
}

const uint8_t *op_bfd_build_id(const struct op_bfd *bfd, size_t *len)
{
	const struct bfd_build_id *id = bfd->main.abfd->build_id;

	*len = id ? id->size : 0;
	return id && id->size ? id->data : NULL;
}

uint64_t op_bfd_mtime(const struct op_bfd *bfd)
{
	return bfd->mtime;
}

/* ---- the separate debug file --------------------------------------------- */

static char *find_debug_file(struct op_bfd *bfd)
{
	const char *const *dir;
	char *path;

	for (dir = bfd->debug_dirs; *dir; dir++) {
		path = bfd_follow_build_id_debuglink(bfd->main.abfd, *dir);
		if (path)
			return path;
	}
	for (dir = bfd->debug_dirs; *dir; dir++) {
		path = bfd_follow_gnu_debuglink(bfd->main.abfd, *dir);
		if (path)
			return path;
	}
	return NULL;
}

static void open_debug_file(struct op_bfd *bfd)
{
	char *path;

	if (bfd->debug_searched)
		return;
	bfd->debug_searched = true;
	path = find_debug_file(bfd);
	if (path && object_open(&bfd->debug, path))
		object_close(&bfd->debug);
	free(path);
}

const char *op_bfd_debug_path(const struct op_bfd *bfd)
{
	return bfd->debug.path;
}

/* ---- addresses and offsets ----------------------------------------------- */

static const struct code_section *find_section(const struct op_bfd *bfd,
					       uint64_t vma)
{
	size_t low = 0, high = bfd->nr_sections;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bfd->sections[middle].vma <= vma)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low ||
	    vma - bfd->sections[low - 1].vma >= bfd->sections[low - 1].size)
		return NULL;
	return &bfd->sections[low - 1];
}

uint64_t op_bfd_vma(const struct op_bfd *bfd, uint64_t offset)
{
	size_t i;

	for (i = 0; i < bfd->nr_sections; i++) {
		const struct code_section *section = &bfd->sections[i];

		if (offset >= section->offset &&
		    offset - section->offset < section->size)
			return section->vma + (offset - section->offset);
	}
	return offset;
}

/* ---- symbols ------------------------------------------------------------- */

/* @bytes is libbfd's bound for the table, 0 or less when there is none. */
static asymbol **room_for_syms(long bytes)
{
	return bytes > (long)sizeof(asymbol *) ? malloc((size_t)bytes) : NULL;
}

static void read_syms(struct object *object)
{
	if (!object->abfd || object->syms)
		return;
	object->syms = room_for_syms(bfd_get_symtab_upper_bound(object->abfd));
	if (object->syms)
		object->nr_syms =
			bfd_canonicalize_symtab(object->abfd, object->syms);
	if (object->nr_syms < 0)
		object->nr_syms = 0;
}

static void read_dynsyms(struct op_bfd *bfd)
{
	bfd->dynsyms = room_for_syms(
		bfd_get_dynamic_symtab_upper_bound(bfd->main.abfd));
	if (bfd->dynsyms)
		bfd->nr_dynsyms = bfd_canonicalize_dynamic_symtab(
			bfd->main.abfd, bfd->dynsyms);
	if (bfd->nr_dynsyms < 0)
		bfd->nr_dynsyms = 0;
}

/* Labels that assemblers and compilers leave and that name no function. */
static bool is_noise(const char *name)
{
	if (!name || !*name || !strncmp(name, ".L", 2) ||
	    !strcmp(name, "gcc2_compiled."))
		return true;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static bool is_code(const asymbol *sym)
{
	const flagword unwanted = BSF_SECTION_SYM | BSF_FILE | BSF_WARNING |
				  BSF_DEBUGGING | BSF_THREAD_LOCAL;

	return sym->section && (sym->section->flags & SEC_CODE) &&
	       !(sym->flags & unwanted) && !is_noise(sym->name);
}

static unsigned int flags_of(const asymbol *sym)
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

struct symbol_list {
	struct pp_raw_symbol *array;
	size_t nr;
	struct pp_elf_size *sizes;
	size_t nr_sizes;
};

static void add_sym(const struct op_bfd *bfd, struct symbol_list *list,
		    const asymbol *sym)
{
	const struct code_section *section;
	uint64_t vma;

	if (!is_code(sym))
		return;
	vma = bfd_asymbol_value(sym);
	if (is_relocatable(&bfd->main))
		vma += (uint64_t)sym->section->filepos - sym->section->vma;
	section = find_section(bfd, vma);
	if (!section)
		return;
	list->array[list->nr++] = (struct pp_raw_symbol){
		.name = bfd_asymbol_name(sym),
		.key = section->offset + (vma - section->vma),
		.vma = vma,
		.size = pp_elf_size_find(list->sizes, list->nr_sizes, vma),
		.limit = section->offset + section->size,
		.flags = flags_of(sym),
	};
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

/* Names such as "malloc@plt" for the stubs that call other libraries. */
static long read_synthetic(struct op_bfd *bfd)
{
	long nr;

	nr = bfd_get_synthetic_symtab(bfd->main.abfd, bfd->main.nr_syms,
				      bfd->main.syms, bfd->nr_dynsyms,
				      bfd->dynsyms, &bfd->synthetic);
	return nr > 0 ? nr : 0;
}

static const struct object *choose_object(struct op_bfd *bfd,
					  enum op_bfd_origin *origin)
{
	read_syms(&bfd->main);
	if (bfd->main.nr_syms) {
		*origin = OP_BFD_OWN;
		return &bfd->main;
	}
	open_debug_file(bfd);
	read_syms(&bfd->debug);
	*origin = bfd->debug.nr_syms ? OP_BFD_DEBUG_FILE : OP_BFD_NONE;
	return &bfd->debug;
}

static int fill_list(struct op_bfd *bfd, struct symbol_list *list,
		     enum op_bfd_origin *origin)
{
	const struct object *object = choose_object(bfd, origin);
	long i, nr_synthetic;

	read_dynsyms(bfd);
	nr_synthetic = read_synthetic(bfd);
	list->array = calloc((size_t)object->nr_syms + bfd->nr_dynsyms +
				     nr_synthetic + 1,
			     sizeof(*list->array));
	if (!list->array)
		return -ENOMEM;
	pp_elf_sizes_read(&list->sizes, &list->nr_sizes,
			  *origin == OP_BFD_DEBUG_FILE ? bfd->debug.path
						       : bfd->main.path);
	for (i = 0; i < object->nr_syms; i++)
		add_sym(bfd, list, object->syms[i]);
	if (!list->nr) {
		for (i = 0; i < bfd->nr_dynsyms; i++)
			add_sym(bfd, list, bfd->dynsyms[i]);
		*origin = list->nr ? OP_BFD_DYNAMIC : OP_BFD_NONE;
		if (drop_versions(bfd, list))
			return -ENOMEM;
	}
	for (i = 0; i < nr_synthetic; i++)
		add_sym(bfd, list, &bfd->synthetic[i]);
	return 0;
}

int op_bfd_symbols(struct op_bfd *bfd, struct pp_raw_symbol **out, size_t *nr,
		   enum op_bfd_origin *origin)
{
	struct symbol_list list = { 0 };
	int ret;

	ret = fill_list(bfd, &list, origin);
	free(list.sizes);
	if (ret) {
		free(list.array);
		return ret;
	}
	*out = list.array;
	*nr = list.nr;
	return 0;
}

/* ---- lines --------------------------------------------------------------- */

static asection *object_section(const struct object *object, uint64_t vma)
{
	asection *at;

	for (at = object->abfd->sections; at; at = at->next)
		if ((at->flags & SEC_CODE) && vma >= address_of(object, at) &&
		    vma - address_of(object, at) < at->size)
			return at;
	return NULL;
}

static bool object_line(struct object *object, uint64_t vma, const char **file,
			unsigned int *line)
{
	asection *section;
	const char *function;
	bool found;

	if (!object->abfd)
		return false;
	section = object_section(object, vma);
	if (!section)
		return false;
	read_syms(object);
	*file = NULL;
	*line = 0;
	LEAKS_EXPECTED(true);
	found = bfd_find_nearest_line(object->abfd, section, object->syms,
				      vma - address_of(object, section), file,
				      &function, line);
	LEAKS_EXPECTED(false);
	return found && *file && *line;
}

bool op_bfd_line(struct op_bfd *bfd, uint64_t vma, const char **file,
		 unsigned int *line)
{
	if (bfd_get_section_by_name(bfd->main.abfd, ".debug_line"))
		return object_line(&bfd->main, vma, file, line);
	open_debug_file(bfd);
	return object_line(&bfd->debug, vma, file, line);
}

/* ---- code ---------------------------------------------------------------- */

uint64_t op_bfd_text_offset(const struct op_bfd *bfd)
{
	const asection *text = bfd_get_section_by_name(bfd->main.abfd, ".text");

	return text ? (uint64_t)text->filepos : 0;
}

bool op_bfd_code(const struct op_bfd *bfd, uint64_t vma, uint64_t len,
		 uint8_t *code)
{
	asection *section = object_section(&bfd->main, vma);
	uint64_t offset;

	if (!section || !(section->flags & SEC_HAS_CONTENTS))
		return false;
	offset = vma - address_of(&bfd->main, section);
	return len <= section->size - offset &&
	       bfd_get_section_contents(bfd->main.abfd, section, code,
					(file_ptr)offset, len);
}
