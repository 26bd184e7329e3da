// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the symbols and lines of a stripped binary are: in a debug file of its
 * own, in a small symbol table packed into the binary (.gnu_debugdata), and in
 * a file that several debug files share (dwz makes these, .gnu_debugaltlink
 * names them). Each is looked for once, when symbols or lines need it.
 *
 * A debug file is found by the build-id, else by the name that the binary gives
 * it. By its name it counts only if its checksum is the one that the binary
 * has or, where it was changed after that was computed, as dwz does, if it has
 * the binary's build-id. One of another build-id never counts: wrong names are
 * worse than none.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_build_id.h"
#include "libpp/symbols/unpack.h"

static bool has_build_id(const struct object *object, const uint8_t *id,
			 size_t len)
{
	const struct bfd_build_id *own = object->abfd->build_id;

	return own && own->size == len && !memcmp(own->data, id, len);
}

/* The path of a debug file, for the caller to free. */
static char *path_in_build_id_folder(const char *dir, const uint8_t *id,
				     size_t len)
{
	char hex[2 * OP_BUILD_ID_MAX + 1], *path;

	if (len < 2 || len > OP_BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return asprintf(&path, "%s/.build-id/%.2s/%s.debug", dir, hex,
			hex + 2) < 0
		       ? NULL
		       : path;
}

/* Open @path, which is freed, if its file has that build-id. */
static bool open_build(struct object *object, char *path, const uint8_t *id,
		       size_t len)
{
	bool found = path && !op_bfd_object_open(object, path) &&
		     has_build_id(object, id, len);

	if (!found)
		op_bfd_object_close(object);
	free(path);
	return found;
}

/* ---- by the build-id ----------------------------------------------------- */

static bool open_by_build_id(struct op_bfd *bfd, struct object *object,
			     const uint8_t *id, size_t len)
{
	const char *const *dir = bfd->debug_dirs;

	for (; *dir; dir++)
		if (open_build(object, path_in_build_id_folder(*dir, id, len),
			       id, len))
			return true;
	return false;
}

/* ---- by its name --------------------------------------------------------- */

/* The length of @path up to its last slash, with that. */
static int folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* libbfd compares the checksum. */
static bool open_by_checksum(struct op_bfd *bfd)
{
	const char *const *dir = bfd->debug_dirs;
	char *path = NULL;
	bool found;

	for (; *dir && !path; dir++)
		path = bfd_follow_gnu_debuglink(bfd->main.abfd, *dir);
	found = path && !op_bfd_object_open(&bfd->debug, path);
	if (!found)
		op_bfd_object_close(&bfd->debug);
	free(path);
	return found;
}

static bool open_by_name_and_build(struct op_bfd *bfd, const uint8_t *id,
				   size_t len)
{
	const char *const *dir = bfd->debug_dirs;
	const char *binary = bfd->main.path;
	int folder = folder_len(binary);
	char *name = op_bfd_debug_name(bfd), *path;
	bool found = false;

	for (int hidden = 0; name && hidden < 2 && !found; hidden++)
		found = asprintf(&path, "%.*s%s%s", folder, binary,
				 hidden ? ".debug/" : "", name) >= 0 &&
			open_build(&bfd->debug, path, id, len);
	for (; name && *dir && !found; dir++)
		found = asprintf(&path, "%s/%.*s%s", *dir, folder, binary,
				 name) >= 0 &&
			open_build(&bfd->debug, path, id, len);
	free(name);
	return found;
}

char *op_bfd_debug_name(const struct op_bfd *bfd)
{
	unsigned long crc;

	return bfd_get_debug_link_info(bfd->main.abfd, &crc);
}

/* ---- the debug file ------------------------------------------------------ */

static void search_debug_file(struct op_bfd *bfd)
{
	size_t len;
	const uint8_t *id = op_bfd_build_id(bfd, &len);

	if (id && open_by_build_id(bfd, &bfd->debug, id, len))
		return;
	if (!open_by_checksum(bfd)) {
		if (id)
			open_by_name_and_build(bfd, id, len);
		return;
	}
	if (id && bfd->debug.abfd->build_id &&
	    !has_build_id(&bfd->debug, id, len))
		op_bfd_object_close(&bfd->debug);
}

void op_bfd_open_debug_file(struct op_bfd *bfd)
{
	if (bfd->debug_searched)
		return;
	bfd->debug_searched = true;
	search_debug_file(bfd);
	op_bfd_place_as_binary(bfd);
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

static bool open_shared_file_of(struct op_bfd *bfd, const struct object *of)
{
	bfd_byte *id = NULL;
	bfd_size_type len = 0;
	char *name, *path;
	bool found;

	name = of->abfd ? bfd_get_alt_debug_link_info(of->abfd, &len, &id)
			: NULL;
	if (!name)
		return false;
	/* A relative name counts from the folder of the file that has it. */
	found = asprintf(&path, "%.*s%s",
			 *name == '/' ? 0 : folder_len(of->path), of->path,
			 name) >= 0 &&
		open_build(&bfd->shared, path, id, len);
	if (!found)
		found = open_by_build_id(bfd, &bfd->shared, id, len);
	free(name);
	free(id);
	return found;
}

const struct object *op_bfd_open_shared_file(struct op_bfd *bfd)
{
	if (!bfd->shared_searched) {
		bfd->shared_searched = true;
		op_bfd_open_debug_file(bfd);
		if (!open_shared_file_of(bfd, &bfd->main))
			open_shared_file_of(bfd, &bfd->debug);
	}
	return bfd->shared.abfd ? &bfd->shared : NULL;
}

const char *op_bfd_shared_path(struct op_bfd *bfd, const uint8_t **build_id,
			       size_t *len)
{
	const struct object *shared = op_bfd_open_shared_file(bfd);

	if (!shared)
		return NULL;
	*build_id = shared->abfd->build_id->data;
	*len = shared->abfd->build_id->size;
	return shared->path;
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
