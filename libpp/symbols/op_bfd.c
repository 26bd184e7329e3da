// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Binaries as libbfd sees them: opening, and where their code lies.
 *
 * Addresses are those of the binary's own sections, as libpp/symbols/op_bfd.h
 * says. A file that is not linked has none, so its sections get some when it is
 * opened, and so do those of its debug file, by their names; all other readers
 * ask libbfd as for any file. The debug file is looked for only when symbols or
 * lines need it, because most images never do.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/image/op_elf.h"
#include "libop/image/op_fingerprint.h"
#include "libop/session/op_sample_file.h"
#include "libop/base/op_search.h"
#include "libpp/symbols/elf_digest.h"

/* ---- what libbfd would print ----------------------------------------------
 */

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

/* ---- faults -------------------------------------------------------------- */

int op_bfd_fault(const struct op_bfd *bfd, const char **path)
{
	if (!bfd)
		return 0;
	if (path)
		*path = bfd->fault.path ? bfd->fault.path : bfd->main.path;
	return bfd->fault.err;
}

/* ---- a file that is not linked ------------------------------------------- */

/* The kernel keeps these apart and drops them when they have run. */
static bool is_init_section(const asection *section)
{
	return !strncmp(bfd_section_name(section), ".init", 5);
}

/* The order in which the kernel puts sections in memory: that of the file, but
 * sections that run once follow all others. */
static int compare_unlinked_sections(const void *pa, const void *pb)
{
	const asection *const *pa_section = pa, *const *pb_section = pb;
	const asection *a = *pa_section, *b = *pb_section;

	return (int)is_init_section(a) - (int)is_init_section(b) ?:
	       op_compare((uint64_t)a->filepos, (uint64_t)b->filepos) ?:
	       op_compare(a->id, b->id);
}

/* Give the sections of code the addresses that op_bfd.h promises. */
static int place_unlinked_sections(const struct object *object)
{
	asection **code, *at;
	size_t nr = 0;
	bool in_init = false;
	uint64_t begin, end = 0; /* bytes behind the first */

	if (!object->is_relocatable)
		return 0;
	code = calloc(bfd_count_sections(object->abfd) + 1, sizeof(*code));
	if (!code)
		return -ENOMEM;
	for (at = object->abfd->sections; at; at = at->next)
		if (at->flags & SEC_CODE)
			code[nr++] = at;
	qsort(code, nr, sizeof(*code), compare_unlinked_sections);
	begin = nr ? (uint64_t)code[0]->filepos : 0;
	for (size_t i = 0; i < nr; i++) {
		unsigned int power = bfd_section_alignment(code[i]);
		uint64_t align = power < 32 ? UINT64_C(1) << power : 1;

		/* The first one, and the first that runs once, begin a page. */
		if (is_init_section(code[i]) && !in_init) {
			in_init = true;
			end = OP_INIT_CODE_KEY;
		}
		end = (end + align - 1) & -align;
		bfd_set_section_vma(code[i], begin + end);
		end += code[i]->size;
	}
	free(code);
	return 0;
}

/* ---- sections of code ---------------------------------------------------- */

static int compare_sections(const void *pa, const void *pb)
{
	const struct code_section *a = pa, *b = pb;

	return op_compare(a->vma, b->vma);
}

static bool is_sound_section(const struct code_section *section)
{
	uint64_t end;

	return section->size &&
	       !__builtin_add_overflow(section->vma, section->size - 1, &end) &&
	       !__builtin_add_overflow(section->offset, section->size, &end);
}

static int read_fingerprint(struct op_bfd *bfd)
{
	struct op_elf elf;
	int err = op_elf_init(&elf, bfd->main.fd);

	if (!err)
		err = op_fingerprint(&elf, &bfd->fingerprint);
	/* libbfd reads more formats. */
	return err == -ENOEXEC ? 0 : op_bfd_object_note(&bfd->main, err);
}

static int read_code_sections(struct op_bfd *bfd)
{
	/* In a digest, sections of code have an offset and no contents. */
	bool digest = bfd_get_section_by_name(bfd->main.abfd, PP_ELF_DIGEST);
	const flagword wanted = SEC_CODE | (digest ? 0 : SEC_HAS_CONTENTS);
	const asection *at;

	bfd->sections = calloc(bfd_count_sections(bfd->main.abfd) + 1,
			       sizeof(*bfd->sections));
	if (!bfd->sections)
		return -ENOMEM;
	for (at = bfd->main.abfd->sections; at; at = at->next) {
		struct code_section section = { bfd_section_vma(at),
						bfd_section_size(at),
						(uint64_t)at->filepos };

		if ((bfd_section_flags(at) & wanted) == wanted &&
		    is_sound_section(&section))
			bfd->sections[bfd->nr_sections++] = section;
	}
	qsort(bfd->sections, bfd->nr_sections, sizeof(*bfd->sections),
	      compare_sections);
	return 0;
}

int op_bfd_take(struct op_bfd **out, const char *path, int fd,
		const struct op_debug_places *places)
{
	struct op_bfd *bfd = calloc(1, sizeof(*bfd));
	int ret;

	if (!bfd) {
		close(fd);
		return -ENOMEM;
	}
	bfd_init();
	bfd_set_error_handler(ignore_error);
	bfd_set_assert_handler(ignore_assert);
	bfd->places = places;
	bfd->main.fd = bfd->debug.fd = bfd->shared.fd = bfd->packed.fd = -1;
	bfd->main.fault = bfd->debug.fault = &bfd->fault;
	bfd->shared.fault = bfd->packed.fault = &bfd->fault;
	bfd->debug.places = bfd->shared.places = places;
	ret = op_bfd_object_take(&bfd->main, path, fd) ?: bfd->fault.err ?:
	      place_unlinked_sections(&bfd->main) ?: read_code_sections(bfd) ?:
	      read_fingerprint(bfd);
	if (ret)
		op_bfd_close(bfd);
	else
		*out = bfd;
	return ret;
}

int op_bfd_open(struct op_bfd **out, const char *path,
		const struct op_debug_places *places)
{
	int fd = op_bfd_open_in_places(places, path);

	return fd < 0 ? -errno : op_bfd_take(out, path, fd, places);
}

void op_bfd_close(struct op_bfd *bfd)
{
	if (!bfd)
		return;
	op_bfd_lines_free(bfd->lines);
	op_bfd_split_free(bfd->split);
	free(bfd->names);
	free(bfd->go_names);
	free(bfd->unnamed);
	free(bfd->synthetic);
	free(bfd->dynsyms);
	op_bfd_object_close(&bfd->packed);
	op_bfd_object_close(&bfd->shared);
	op_bfd_object_close(&bfd->debug);
	op_bfd_object_close(&bfd->main);
	free(bfd->sections);
	free(bfd->fault.path);
	free(bfd);
}

uint64_t op_bfd_fingerprint(const struct op_bfd *bfd)
{
	return bfd->fingerprint;
}

const char *op_bfd_path(const struct op_bfd *bfd)
{
	return bfd->main.path;
}

uint64_t op_bfd_mtime(const struct op_bfd *bfd)
{
	return bfd->main.mtime;
}
