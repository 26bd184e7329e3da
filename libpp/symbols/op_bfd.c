// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Binaries as libbfd sees them: opening, build-id, and where their code lies.
 *
 * A file is opened once by us, and libbfd reads it by functions of ours, so
 * that libbfd and our own readers (elf_sizes.c) see the same file even if its
 * path is replaced meanwhile; a pipe or a device is refused before libbfd could
 * block on it. libbfd takes a read that fails for the end of a table and says
 * nothing: so what failed is kept here, for op_bfd_fault(). Addresses are those
 * of the binary's own sections, as libpp/symbols/op_bfd.h says. A file that is
 * not linked has none, so its sections get some when it is opened, and so do
 * those of its debug file, by their names; all others ask libbfd as for any
 * file. The debug file is looked for only when symbols or lines need it,
 * because most images never do.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/image/op_elf.h"
#include "libop/files/op_file.h"
#include "libop/image/op_fingerprint.h"
#include "libop/files/op_open.h"
#include "libop/session/op_sample_file.h"
#include "libop/base/op_search.h"
#include "libpp/symbols/elf_digest.h"
#include "libpp/symbols/unpack.h"

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

/* What is not there, not to be read by us, or no binary, is no fault. */
static bool is_absence(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ELOOP ||
	       err == -ENAMETOOLONG || err == -EACCES || err == -EPERM ||
	       err == -ENOEXEC;
}

int op_bfd_object_note(const struct object *object, int err)
{
	if (!err || is_absence(err) || object->fault->err)
		return err;
	object->fault->path = strdup(object->path ? object->path : "");
	object->fault->err = err;
	return err;
}

int op_bfd_fault(const struct op_bfd *bfd, const char **path)
{
	if (!bfd)
		return 0;
	if (path)
		*path = bfd->fault.path ? bfd->fault.path : bfd->main.path;
	return bfd->fault.err;
}

/* ---- how libbfd reads ---------------------------------------------------- */

static void *begin_bfd_reads(bfd *abfd, void *object)
{
	(void)abfd;
	return object;
}

/* libbfd asks for more than there is where a file is damaged. */
static file_ptr read_for_bfd(bfd *abfd, void *of, void *buf, file_ptr len,
			     file_ptr at)
{
	struct object *object = of;
	file_ptr done = 0;

	(void)abfd;
	while (done < len) {
		ssize_t got = pread(object->fd, (char *)buf + done,
				    (size_t)(len - done), (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			op_bfd_object_note(object, -errno);
			bfd_set_error(bfd_error_system_call);
			return -1;
		}
		if (!got)
			break;
		done += got;
	}
	return done;
}

static int stat_for_bfd(bfd *abfd, void *of, struct stat *st)
{
	struct object *object = of;

	(void)abfd;
	if (!fstat(object->fd, st))
		return 0;
	op_bfd_object_note(object, -errno);
	return -1;
}

/* ---- opening ------------------------------------------------------------- */

void op_bfd_object_close(struct object *object)
{
	const struct object empty = { .fd = -1,
				      .fault = object->fault,
				      .places = object->places };

	if (object->abfd)
		bfd_close(object->abfd);
	if (object->fd >= 0)
		close(object->fd);
	free(object->syms);
	free(object->path);
	*object = empty;
}

/* A module may be installed as NAME.ko.xz. */
static int object_unpack(struct object *object, uint64_t len)
{
	int unpacked, err = pp_unpack(object->fd, 0, len, &unpacked);

	if (err)
		return err == -ENOENT ? 0 : err;
	close(object->fd);
	object->fd = unpacked;
	return 0;
}

/* What libbfd and others read is one file, opened once. Opening a pipe or a
 * device would wait or do worse. */
static int object_examine(struct object *object)
{
	struct stat st;

	if (fstat(object->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	if (object->places && object->places->only_own && !op_is_own_file(&st))
		return -EPERM;
	object->mtime = (uint64_t)st.st_mtime;
	return object_unpack(object, (uint64_t)st.st_size);
}

/* A file that is not linked has all sections at address 0. The files of JIT
 * code that OProfile up to 1.4 made are marked like it, but their sections have
 * addresses. */
static bool is_relocatable(const bfd *abfd)
{
	for (const asection *at = abfd->sections; at; at = at->next)
		if ((at->flags & SEC_CODE) && at->vma)
			return false;
	return !(abfd->flags & (EXEC_P | DYNAMIC));
}

/*
 * A table of symbols or of debug information that is longer than this and has
 * no contents on the disk was made to take memory: a file of 20 kB could ask
 * for all there is, as libbfd believes the sizes in its headers.
 */
#define TABLE_WITHOUT_HOLES (UINT64_C(1) << 20)

static bool is_table(const struct op_elf_section *section)
{
	return section->type == SHT_SYMTAB || section->type == SHT_DYNSYM ||
	       section->type == SHT_STRTAB ||
	       (section->type != SHT_NOBITS && !(section->flags & SHF_ALLOC));
}

/* Whether some table of the file @fd has a hole (lseek(2), SEEK_HOLE). */
static bool has_hollow_table(int fd)
{
	struct op_elf_section section;
	uint64_t nr, names, hole;
	struct op_elf elf;

	/* Nearly all files have no hole at all. */
	if (op_elf_init(&elf, fd) ||
	    (uint64_t)lseek(fd, 0, SEEK_HOLE) >= elf.len ||
	    op_elf_count_sections(&elf, &nr, &names))
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		if (op_elf_section(&elf, i, &section) || !is_table(&section) ||
		    section.size < TABLE_WITHOUT_HOLES ||
		    !op_elf_has(&elf, section.offset, section.size))
			continue;
		hole = (uint64_t)lseek(fd, (off_t)section.offset, SEEK_HOLE);
		if (hole < section.offset + section.size)
			return true;
	}
	return false;
}

/* Hand the file to libbfd. */
static int object_parse(struct object *object)
{
	if (has_hollow_table(object->fd))
		return -ENOEXEC;
	errno = 0;
	object->abfd =
		bfd_openr_iovec(object->path, NULL, begin_bfd_reads, object,
				read_for_bfd, NULL, stat_for_bfd);
	if (!object->abfd)
		return bfd_get_error() == bfd_error_system_call && errno
			       ? -errno
			       : -ENOEXEC;
	/* Debug sections may be compressed. */
	object->abfd->flags |= BFD_DECOMPRESS;
	if (!bfd_check_format(object->abfd, bfd_object))
		return -ENOEXEC;
	object->is_relocatable = is_relocatable(object->abfd);
	return 0;
}

static int object_begin(struct object *object)
{
	int err = object_examine(object) ?: object_parse(object);

	return op_bfd_object_note(object, err);
}

/* What is in an archive is not to be found outside of it. */
static int open_in_places(const struct op_debug_places *places,
			  const char *path)
{
	const char *root = places ? places->root : NULL;
	size_t len = root ? strlen(root) : 0;

	if (len && !strncmp(path, root, len) && path[len] == '/') {
		int fd = op_open_beneath(root, path + len);

		if (fd < 0 && errno == EINVAL)
			errno = ENOEXEC; /* as elsewhere of a folder */
		return fd;
	}
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int op_bfd_object_open(struct object *object, const char *path)
{
	object->path = strdup(path);
	if (!object->path)
		return -ENOMEM;
	object->fd = open_in_places(object->places, path);
	return object->fd < 0 ? op_bfd_object_note(object, -errno)
			      : object_begin(object);
}

int op_bfd_object_take(struct object *object, const char *path, int fd)
{
	object->fd = fd;
	object->path = strdup(path);
	return object->path ? object_begin(object) : -ENOMEM;
}

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

/* ---- a file that is not linked ------------------------------------------- */

/* The kernel keeps these apart and drops them when they have run. */
static bool is_init_section(const asection *section)
{
	return !strncmp(bfd_section_name(section), ".init", 5);
}

/* As the kernel puts them in memory: in the order of the file, those that run
 * once behind all others. */
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

/* A debug file has its sections at other offsets. */
void op_bfd_place_as_binary(const struct op_bfd *bfd)
{
	if (!bfd->debug.abfd || !bfd->main.is_relocatable)
		return;
	for (asection *at = bfd->debug.abfd->sections; at; at = at->next) {
		const asection *own = bfd_get_section_by_name(
			bfd->main.abfd, bfd_section_name(at));

		if ((at->flags & SEC_CODE) && own)
			bfd_set_section_vma(at, bfd_section_vma(own));
	}
}

/* ---- sections of code ---------------------------------------------------- */

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
	int fd = open_in_places(places, path);

	return fd < 0 ? -errno : op_bfd_take(out, path, fd, places);
}

void op_bfd_close(struct op_bfd *bfd)
{
	if (!bfd)
		return;
	op_bfd_lines_free(bfd->lines);
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

const uint8_t *op_bfd_build_id(const struct op_bfd *bfd, size_t *len)
{
	const struct bfd_build_id *id = bfd->main.abfd->build_id;

	*len = id ? id->size : 0;
	return id && id->size ? id->data : NULL;
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

/* ---- addresses and offsets ----------------------------------------------- */

const struct code_section *op_bfd_find_section(const struct op_bfd *bfd,
					       uint64_t vma)
{
	const struct code_section *all = bfd->sections;
	size_t end = OP_BISECT(i, bfd->nr_sections, all[i].vma <= vma);

	return end && vma - all[end - 1].vma < all[end - 1].size ? &all[end - 1]
								 : NULL;
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

/* ---- code ---------------------------------------------------------------- */

asection *op_bfd_section_at(const struct object *object, uint64_t vma)
{
	asection *at;

	for (at = object->abfd->sections; at; at = at->next)
		if ((at->flags & SEC_CODE) && vma >= bfd_section_vma(at) &&
		    vma - bfd_section_vma(at) < at->size)
			return at;
	return NULL;
}

bfd_byte *op_bfd_section_bytes(const struct op_bfd *bfd, const char *name,
			       uint64_t *vma, size_t *len)
{
	asection *section = bfd_get_section_by_name(bfd->main.abfd, name);
	bfd_byte *bytes = NULL;

	if (!section || !(section->flags & SEC_HAS_CONTENTS) ||
	    section->size > PP_FUNCTION_TABLE_MAX ||
	    !bfd_get_full_section_contents(bfd->main.abfd, section, &bytes)) {
		free(bytes);
		return NULL;
	}
	*vma = bfd_section_vma(section);
	*len = section->size;
	return bytes;
}

uint64_t op_bfd_first_code(const struct op_bfd *bfd)
{
	uint64_t first = UINT64_MAX;

	for (const asection *at = bfd->main.abfd->sections; at; at = at->next)
		if ((at->flags & SEC_CODE) && bfd_section_vma(at) < first)
			first = bfd_section_vma(at);
	return first == UINT64_MAX ? 0 : first;
}

bool op_bfd_code(const struct op_bfd *bfd, uint64_t vma, uint64_t len,
		 uint8_t *code)
{
	asection *section = op_bfd_section_at(&bfd->main, vma);
	uint64_t offset;

	if (!section || !(section->flags & SEC_HAS_CONTENTS))
		return false;
	offset = vma - bfd_section_vma(section);
	return len <= section->size - offset &&
	       bfd_get_section_contents(bfd->main.abfd, section, code,
					(file_ptr)offset, len);
}
