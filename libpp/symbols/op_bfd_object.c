// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file that libbfd reads: a binary, or one of those with its symbols and
 * lines.
 *
 * We open the file once, and libbfd reads it by functions of ours, so that
 * libbfd and our own readers (elf_sizes.c) see the same file even if another
 * one replaces it at its path; a pipe or a device is refused before libbfd
 * could block on it. libbfd takes a read that fails for the end of a table and
 * says nothing: the error is kept here, for op_bfd_fault().
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/image/op_elf.h"
#include "libop/files/op_deflate.h"
#include "libop/files/op_file.h"
#include "libop/files/op_open.h"
#include "libpp/symbols/unpack.h"

/* ---- faults -------------------------------------------------------------- */

/* A file that is not there, may not be read, or is no binary, is no fault. */
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

/* The file is opened once, for libbfd and all others. Opening a pipe or a
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

int op_bfd_open_in_places(const struct op_debug_places *places,
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
	object->fd = op_bfd_open_in_places(object->places, path);
	return object->fd < 0 ? op_bfd_object_note(object, -errno)
			      : object_begin(object);
}

int op_bfd_object_take(struct object *object, const char *path, int fd)
{
	object->fd = fd;
	object->path = strdup(path);
	return object->path ? object_begin(object) : -ENOMEM;
}

/* ---- sections ----------------------------------------------------------- */

#define HUGE_PAGE ((size_t)2 << 20)
#define MAX_ROOM ((size_t)1 << 30)

/*
 * Memory for a section of @size bytes; NULL for a small one, which libbfd makes
 * room for, and for one whose size may be nonsense, which libbfd checks.
 * Sections of debug information have tens of megabytes: with pages of the usual
 * size most of the time to read them would go to page faults.
 */
static bfd_byte *room_for_section(uint64_t size)
{
	size_t room = (size + HUGE_PAGE - 1) & -HUGE_PAGE;
	bfd_byte *bytes = NULL;

	if (size >= HUGE_PAGE && size <= MAX_ROOM)
		bytes = aligned_alloc(HUGE_PAGE, room);
	if (bytes)
		madvise(bytes, room, MADV_HUGEPAGE);
	return bytes;
}

/* A section as it is in the file. */
static bfd_byte *read_packed_section(struct object *object, asection *section)
{
	asection before = *section;
	bfd_byte *bytes = NULL;

	section->rawsize = 0;
	section->size = before.compressed_size;
	section->compress_status = COMPRESS_SECTION_NONE;
	if (!bfd_get_full_section_contents(object->abfd, section, &bytes))
		bytes = NULL;
	section->rawsize = before.rawsize;
	section->size = before.size;
	section->compress_status = before.compress_status;
	return bytes;
}

/* "ZLIB" and the size in 64 bits, or what ELF has. */
static size_t packed_header_len(const struct object *object,
				const bfd_byte *packed, size_t len)
{
	if (len >= 4 && !memcmp(packed, "ZLIB", 4))
		return 12;
	return bfd_get_arch_size(object->abfd) == 64 ? sizeof(Elf64_Chdr)
						     : sizeof(Elf32_Chdr);
}

/*
 * Unpack a section that zlib packed; libbfd would take twice the time for it.
 */
static bool inflate_section(struct object *object, asection *section,
			    bfd_byte **bytes)
{
	size_t len = section->compressed_size, header_len;
	bfd_byte *packed;
	int err = -EBADMSG;

	if (section->compress_status != DECOMPRESS_SECTION_ZLIB ||
	    section->size > MAX_ROOM || !op_may_inflate(len, section->size))
		return false;
	packed = read_packed_section(object, section);
	if (!packed)
		return false;
	header_len = packed_header_len(object, packed, len);
	if (!*bytes)
		*bytes = malloc(section->size);
	if (*bytes && len > header_len)
		err = op_inflate(packed + header_len, len - header_len, *bytes,
				 section->size, NULL);
	free(packed);
	return !err;
}

void op_bfd_read_section(struct object *object, asection *section,
			 bfd_byte **bytes)
{
	*bytes = room_for_section(section->size);
	if (inflate_section(object, section, bytes) ||
	    bfd_get_full_section_contents(object->abfd, section, bytes))
		return;
	free(*bytes);
	*bytes = NULL;
}

/* ---- symbols ------------------------------------------------------------- */

asymbol **op_bfd_room_for_syms(long bytes)
{
	return bytes > (long)sizeof(asymbol *) ? malloc((size_t)bytes) : NULL;
}

void op_bfd_read_syms(struct object *object)
{
	if (!object->abfd || object->syms)
		return;
	object->syms =
		op_bfd_room_for_syms(bfd_get_symtab_upper_bound(object->abfd));
	if (object->syms)
		object->nr_syms =
			bfd_canonicalize_symtab(object->abfd, object->syms);
	if (object->nr_syms < 0)
		object->nr_syms = 0;
}

bool op_bfd_is_noise(const char *name)
{
	if (!name || !*name || !strncmp(name, ".L", 2) ||
	    !strcmp(name, "gcc2_compiled."))
		return true;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

const uint8_t *op_bfd_build_id(const struct op_bfd *bfd, size_t *len)
{
	const struct bfd_build_id *id = bfd->main.abfd->build_id;

	*len = id ? id->size : 0;
	return id && id->size ? id->data : NULL;
}
