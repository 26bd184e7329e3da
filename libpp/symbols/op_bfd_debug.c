// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the symbols and lines of a stripped binary are: in a debug file of its
 * own, in a small symbol table packed into the binary (.gnu_debugdata), and in
 * a file that several debug files share (dwz makes these, .gnu_debugaltlink
 * names them). Each is looked for once, when symbols or lines need it.
 *
 * A debug file is found by the build-id, else by the name that the binary gives
 * it, else a server is asked. By its name it counts only if its checksum is the
 * one that the binary has or, where it was changed after that was computed, as
 * dwz does, if it has the binary's build-id. One of another build-id never
 * counts: wrong names are worse than none. Nor does the binary itself, which
 * has its own build-id: a debug file in another folder mostly has the binary's
 * name.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "libop/image/op_build_id.h"
#include "libpp/symbols/source_path.h"
#include "libpp/symbols/unpack.h"

static bool has_build_id(const struct object *object, const uint8_t *id,
			 size_t len)
{
	const struct bfd_build_id *own = object->abfd->build_id;

	return own && own->size == len && !memcmp(own->data, id, len);
}

/* Open @path if its file has that build-id. */
static bool open_build(struct object *object, const char *path,
		       const uint8_t *id, size_t len)
{
	bool found = !op_bfd_object_open(object, path) &&
		     has_build_id(object, id, len);

	if (!found)
		op_bfd_object_close(object);
	return found;
}

/* The same for a path that is made by printf's rules. */
__attribute__((format(printf, 4, 5))) static bool
open_build_at(struct object *object, const uint8_t *id, size_t len,
	      const char *fmt, ...)
{
	char *path;
	va_list ap;
	bool found;

	va_start(ap, fmt);
	found = vasprintf(&path, fmt, ap) >= 0;
	va_end(ap);
	if (!found)
		return false;
	found = open_build(object, path, id, len);
	free(path);
	return found;
}

/* ---- by the build-id ----------------------------------------------------- */

/* Open the debug file of @build in the folder @dir. */
static bool open_in_folder(struct object *object, const char *dir,
			   const struct op_build_id *build)
{
	char text[OP_BUILD_TEXT_MAX];

	op_build_text(text, build, 0, 0, 0);
	return open_build_at(object, build->bytes, build->len,
			     "%s/.build-id/%.2s/%s.debug", dir, text, text + 2);
}

/* In the folders of debug files. The store of a session has those of several
 * builds of one build-id, with @fingerprint in the name; 0: none is wanted. */
static bool open_by_build_id(struct op_bfd *bfd, struct object *object,
			     const uint8_t *id, size_t len,
			     uint64_t fingerprint)
{
	const char *const *dir = bfd->places->dirs;
	struct op_build_id plain = { .len = (unsigned int)len }, build;

	if (len < 2 || len > OP_BUILD_ID_MAX)
		return false;
	memcpy(plain.bytes, id, len);
	build = plain;
	op_build_id_set_fingerprint(&build, fingerprint);
	for (; *dir; dir++)
		if ((fingerprint && open_in_folder(object, *dir, &build)) ||
		    open_in_folder(object, *dir, &plain))
			return true;
	return false;
}

/* A server may send anything. */
static bool open_fetched(struct op_bfd *bfd, struct object *object,
			 const uint8_t *id, size_t len)
{
	char *path = pp_debuginfod_fetch(bfd->places->server, bfd->main.path,
					 id, len);
	bool found = path && open_build(object, path, id, len);

	if (path && !found)
		pp_debuginfod_refuse(bfd->places->server, path);
	free(path);
	return found;
}

/* ---- by its name --------------------------------------------------------- */

/* The length of @path up to its last slash, with that. */
static int folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* The facts by which a file is proved to be the debug file of a binary. */
struct debug_proof {
	const uint8_t *id; /* the binary's build-id; NULL: it has none */
	size_t len;
	uint32_t crc; /* the checksum that the binary has of it */
	int binary; /* the binary's descriptor */
};

static bool are_of_same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Whether the bytes of the open file have that checksum. */
static bool has_checksum(struct object *object, uint32_t wanted)
{
	uLong crc = crc32(0, NULL, 0);
	uint8_t buf[65536];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(object->fd, buf, sizeof(buf), at))) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			op_bfd_object_note(object, -errno);
			return false;
		}
		crc = crc32(crc, buf, (uInt)got);
		at += got;
	}
	return crc == wanted;
}

/* The checksum alone proves it where one of the two has no build-id. */
static bool is_proven(struct object *object, const struct debug_proof *proof)
{
	if (are_of_same_file(object->fd, proof->binary))
		return false;
	if (proof->id && object->abfd->build_id)
		return has_build_id(object, proof->id, proof->len);
	return has_checksum(object, proof->crc);
}

/* Open what is at a path made by printf's rules, if that is the file. */
__attribute__((format(printf, 3, 4))) static bool
open_proven_at(struct object *object, const struct debug_proof *proof,
	       const char *fmt, ...)
{
	char *path;
	va_list ap;
	bool found;

	va_start(ap, fmt);
	found = vasprintf(&path, fmt, ap) >= 0;
	va_end(ap);
	if (!found)
		return false;
	found = !op_bfd_object_open(object, path) && is_proven(object, proof);
	if (!found)
		op_bfd_object_close(object);
	free(path);
	return found;
}

char *op_bfd_debug_name(const struct op_bfd *bfd, uint32_t *crc)
{
	unsigned long sum = 0;
	char *name = bfd_get_debug_link_info(bfd->main.abfd, &sum);

	if (crc)
		*crc = (uint32_t)sum;
	return name;
}

/* ---- the debug file ------------------------------------------------------ */

/* Beside the binary, in .debug there, and in the folders for debug files below
 * the path of the binary, links followed. */
static bool open_by_name(struct op_bfd *bfd, const uint8_t *id, size_t len)
{
	const char *const *dir = bfd->places->dirs;
	const char *binary = bfd->main.path;
	struct debug_proof proof = { .id = id,
				     .len = len,
				     .binary = bfd->main.fd };
	char *real = realpath(binary, NULL);
	int folder = folder_len(binary);
	char *name = op_bfd_debug_name(bfd, &proof.crc);
	bool found =
		name && (open_proven_at(&bfd->debug, &proof, "%.*s%s", folder,
					binary, name) ||
			 open_proven_at(&bfd->debug, &proof, "%.*s.debug/%s",
					folder, binary, name));

	for (; name && *dir && !found; dir++)
		found = open_proven_at(&bfd->debug, &proof, "%s/%.*s%s", *dir,
				       folder, binary, name) ||
			(real &&
			 open_proven_at(&bfd->debug, &proof, "%s/%.*s%s", *dir,
					folder_len(real), real, name));
	free(name);
	free(real);
	return found;
}

static void search_debug_file(struct op_bfd *bfd)
{
	size_t len;
	const uint8_t *id = op_bfd_build_id(bfd, &len);

	if ((id &&
	     open_by_build_id(bfd, &bfd->debug, id, len, bfd->fingerprint)) ||
	    open_by_name(bfd, id, len))
		return;
	if (id)
		open_fetched(bfd, &bfd->debug, id, len);
}

void op_bfd_open_debug_file(struct op_bfd *bfd)
{
	if (bfd->debug_searched)
		return;
	bfd->debug_searched = true;
	search_debug_file(bfd);
	if (!bfd->debug.abfd || !bfd->main.is_relocatable)
		return;
	/* The debug file has its sections at other offsets; give them the
	 * addresses that those of the binary have got. */
	for (asection *at = bfd->debug.abfd->sections; at; at = at->next) {
		const asection *own = bfd_get_section_by_name(
			bfd->main.abfd, bfd_section_name(at));

		if ((at->flags & SEC_CODE) && own)
			bfd_set_section_vma(at, bfd_section_vma(own));
	}
}

const char *op_bfd_debug_path(struct op_bfd *bfd)
{
	op_bfd_open_debug_file(bfd);
	return bfd->debug.path;
}

void op_bfd_drop_debug(struct op_bfd *bfd)
{
	op_bfd_object_close(&bfd->debug);
	bfd->debug_searched = true;
}

/* ---- what debug files share ---------------------------------------------- */

/* A relative name counts from the folder of the file @of that has it. */
static bool open_by_shared_name(struct op_bfd *bfd, const struct object *of,
				const uint8_t *id, size_t len, const char *name)
{
	const char *root = bfd->places->root, *from = of->path;
	bool is_relative = *name != '/';
	char *path;
	bool found;

	if (!root)
		return open_build_at(&bfd->shared, id, len, "%.*s%s",
				     is_relative ? folder_len(from) : 0, from,
				     name);
	if (is_relative && strncmp(from, root, strlen(root)) != 0)
		return false;
	/* No ".." leads out of the root. */
	path = pp_source_path_join(is_relative ? from + strlen(root) : NULL,
				   "..", name);
	found = path && *path == '/' &&
		open_build_at(&bfd->shared, id, len, "%s%s", root, path);
	free(path);
	return found;
}

static void open_shared_file_of(struct op_bfd *bfd, const struct object *of)
{
	bfd_byte *id = NULL;
	bfd_size_type len = 0;
	char *name = bfd_get_alt_debug_link_info(of->abfd, &len, &id);

	if (!name)
		return;
	if (!open_by_shared_name(bfd, of, id, len, name) &&
	    !open_by_build_id(bfd, &bfd->shared, id, len, 0))
		open_fetched(bfd, &bfd->shared, id, len);
	free(name);
	free(id);
}

const struct object *op_bfd_open_shared_file(struct op_bfd *bfd,
					     const struct object *of)
{
	if (!bfd->shared_searched) {
		bfd->shared_searched = true;
		if (of)
			open_shared_file_of(bfd, of);
	}
	return bfd->shared.abfd ? &bfd->shared : NULL;
}

/* ---- symbols in the binary ----------------------------------------------- */

void op_bfd_open_packed_symbols(struct op_bfd *bfd)
{
	const asection *section =
		bfd_get_section_by_name(bfd->main.abfd, ".gnu_debugdata");
	int fd;

	if (bfd->packed_searched)
		return;
	bfd->packed_searched = true;
	if (!section || section->filepos < 0 ||
	    pp_unpack(bfd->main.fd, (uint64_t)section->filepos, section->size,
		      &fd))
		return;
	if (op_bfd_object_take(&bfd->packed, bfd->main.path, fd))
		op_bfd_object_close(&bfd->packed);
}
