/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_H
#define LIBDB_PACK_H

/*
 * pack: many sample files at rest in one file that is only read. Tables (odb)
 * and call trees (ctree) are entries with names; the content of each is
 * compressed and has a checksum. A pack is never changed: another one takes its
 * place, by rename, when it is complete. doc/sample-files.md describes the
 * bytes.
 *
 * Equal content makes equal bytes, whatever the order in which it came.
 *
 * No function prints or exits; errors are negative errno values. A pack is not
 * locked: one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/ctree.h"
#include "libdb/odb.h"

#define PACK_NAME_MAX 4095 /* longest name of an entry, bytes */

/* ---- reading --------------------------------------------------------------
 */

struct pack;

enum pack_kind {
	PACK_TABLE = 1, /* of odb.h */
	PACK_TREE = 2, /* of ctree.h */
};

struct pack_entry {
	const char *name; /* a path below a folder, without "." and ".." */
	enum pack_kind kind;
	const void *user; /* ODB_USER_SIZE bytes */
	uint64_t nr; /* keys with a count, or nodes */
	uint64_t total; /* sum of the counts, stays at UINT64_MAX */
};

/*
 * Open @path and read which entries it has. *@out is set on success only and
 * is the caller's to close; it keeps a descriptor and never maps the file, so
 * that a file that is cut short is an error and no signal. Returns 0 or -errno
 * as odb_open(): -EBADMSG when it is no sound pack, -EPROTO when it is one of
 * another version or byte order.
 */
int pack_open(struct pack **out, const char *path);

/*
 * The same for a pack that pack_open() refuses as damaged: its entries are
 * found without header and index, by what stands behind each few of them.
 * Returns 0; -EBADMSG when none are found, as in a pack of version 1; -errno.
 */
int pack_recover(struct pack **out, const char *path);

/*
 * How many entries of a pack that was recovered are not found, UINT64_MAX when
 * nobody knows, because its end is not there; 0 for any other pack.
 */
uint64_t pack_nr_missing(const struct pack *pack);

/* All entries end here, what was made of them does not. NULL is allowed. */
void pack_close(struct pack *pack);

/* Whether pack_recover() could find entries in the file: it has some, and is
 * not of version 1. */
bool pack_has_groups(const struct pack *pack);

/* The number that its writer was given. */
uint64_t pack_generation(const struct pack *pack);

/* Entries are numbered from 0, ascending by strcmp() of their names. */
size_t pack_nr(const struct pack *pack);
const struct pack_entry *pack_entry(const struct pack *pack, size_t i);

/* The entry called @name, or NULL. */
const struct pack_entry *pack_find(const struct pack *pack, const char *name);

/*
 * *@out is the content of @entry, which is of that kind, as if a file with it
 * had been opened ODB_RDONLY; it does not need the pack any more. Returns 0 or
 * -errno; -EBADMSG when the content is damaged, -EINVAL when @entry is of the
 * other kind.
 */
int pack_table(const struct pack *pack, const struct pack_entry *entry,
	       struct odb **out);
int pack_tree(const struct pack *pack, const struct pack_entry *entry,
	      struct ctree **out);

/* ---- writing --------------------------------------------------------------
 */

struct pack_writer;

/*
 * Begin a pack that is to become @path; it is built beside it as ".NAME.grow",
 * in place of one that a killed writer left. *@out is set on success only, and
 * ends in pack_writer_finish() or pack_writer_cancel(). Returns 0 or -errno.
 */
int pack_writer_new(struct pack_writer **out, const char *path,
		    uint64_t generation);

/*
 * Add an entry, the sum of @nr >= 1 @parts; trees are open ODB_RDONLY. Its user
 * bytes are those of the first part whose are not all zero. Names are added
 * ascending by strcmp(). Returns 0 or -errno: -EINVAL for a name that is not
 * greater than the one before, or empty, and for a tree that is open to be
 * written, -ENAMETOOLONG for more than PACK_NAME_MAX bytes, -EFBIG when the sum
 * is more than a file of its kind can hold; ENOMEM, and what writing meets
 * (ENOSPC, EFBIG, EIO). After an error all that is left to do is
 * pack_writer_cancel().
 */
int pack_writer_table(struct pack_writer *writer, const char *name,
		      const struct odb *const *parts, size_t nr);
int pack_writer_tree(struct pack_writer *writer, const char *name,
		     const struct ctree *const *parts, size_t nr);

/* The same with an entry of another pack, which is copied as it is. -EBADMSG
 * when it is damaged there; then others may be added. */
int pack_writer_copy(struct pack_writer *writer, const struct pack *from,
		     const struct pack_entry *entry);

/*
 * Write the rest, wait until all is on the disk, and rename it to the path.
 * Frees the writer. Returns 0, or -errno: then what was at the path still is,
 * unless it was but the folder that could not be brought to the disk; so what
 * the pack was made of must stay after any error.
 */
int pack_writer_finish(struct pack_writer *writer);

/* The same without waiting for the disk, for a pack in a folder that is put on
 * the disk as a whole later (syncfs(2)). */
int pack_writer_finish_early(struct pack_writer *writer);

/* Remove what was written and free the writer. NULL is allowed. */
void pack_writer_cancel(struct pack_writer *writer);

/*
 * Put in place of the damaged pack @path one of the same generation with all
 * that can be read of it. *@nr_lost is the number of entries that cannot,
 * UINT64_MAX where nobody knows. Returns 0; -EBADMSG when nothing can be read
 * of it, or -errno as the functions above: then @path is as it was.
 */
int pack_rebuild(const char *path, uint64_t *nr_lost);

#endif /* LIBDB_PACK_H */
