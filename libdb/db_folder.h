/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_DB_FOLDER_H
#define LIBDB_DB_FOLDER_H

/*
 * A session folder: the sample files in it, and those in its pack.
 *
 *	NAME/packed		the pack (libdb/pack.h), or none
 *	NAME/.packing-N/{...}	loose files on their way into generation N of
 *				the pack; when it is that old or older than the
 *				pack they are in it and only wait to be removed
 *	NAME/{loose}/...	loose files, those that are written
 *	NAME/{root} {kern} ...	loose files, each where its name says: those of
 *				very long names, those on some file systems, and
 *				those of earlier versions
 *
 * The counts of a name are the sum of all of these.
 *
 * In {loose} a file is called by its whole name, with "%-" for each slash: a
 * folder for each part of a name would take more of the disk and more time than
 * the counts. Names have '%' nowhere but in "%XX" and "%+"
 * (libop/session/op_mangle.h). A name longer than DB_FOLDER_PIECE bytes is cut
 * into folders, of which each ends in "%_"; no piece begins with a dot. A file
 * is where its name says if it would be longer than DB_FOLDER_LOOSE_MAX, as a
 * path may have a thousand slashes, or if the file system has no names of
 * NAME_MAX bytes, as eCryptfs.
 *
 * A lock, flock(2) on the folder itself, lets nothing move from one of these
 * to another between listing and reading: readers share it, the packer takes it
 * alone for the moments in which it renames. It is held while a db_folder is
 * open, so a process that holds it alone must not open one. Where a file
 * system has no such lock nobody packs, and readers go on without.
 *
 * No function prints or exits; errors are negative errno values. A db_folder
 * is not locked against threads: one at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/ctree.h"
#include "libdb/odb.h"

struct pack;
struct pack_entry;
struct db_folder;

#define DB_FOLDER_PACK "packed"
#define DB_FOLDER_PACKING ".packing-" /* and the generation, decimal */
#define DB_FOLDER_LOOSE "{loose}"
#define DB_FOLDER_SLASH "%-" /* in there */
/* NAME_MAX, less what a new file and a damaged one have around their names. */
#define DB_FOLDER_PIECE 240
#define DB_FOLDER_LOOSE_MAX 2048

/* A sample file, loose or packed. A name may be there more than once. */
struct db_member {
	const char *name; /* in the folder: "{root}/bin/ls/{dep}/..." */
	const char *path; /* of the file it is in: its own, or the pack's */
	const struct pack_entry *entry; /* in the pack; NULL: loose */
};

/* Functions that are called for what is found; others than 0 end the visit. */
struct db_visitor {
	/*
	 * The member's strings hold until this returns, its entry until the
	 * folder is closed.
	 */
	int (*member)(const struct db_member *member, void *ctx);
	/* Called for a @path that cannot be listed, with the reason @err.
	 * NULL: such a path is passed over. */
	int (*unlisted)(const char *path, int err, void *ctx);
	void *ctx;
};

/*
 * Open the folder @path, waiting for a packer at its renames. *@out is set on
 * success only. Returns 0 or -errno: -ENOENT, -ENOTDIR, -EACCES, -ENOMEM,
 * -EBUSY when somebody keeps the lock for a minute. A pack that cannot be used
 * is no error here (below), a folder that holds nothing neither.
 */
int db_folder_open(struct db_folder **out, const char *path);

/* Let go of the lock and the pack. NULL is allowed. */
void db_folder_close(struct db_folder *folder);

/* The pack that is open; NULL: there is none that can be used. */
const struct pack *db_folder_pack(const struct db_folder *folder);

/* Where the pack is, or would be. */
const char *db_folder_pack_path(const struct db_folder *folder);

/*
 * Whether the pack is open although its header or index is damaged: its members
 * were found without these (pack_recover()).
 */
bool db_folder_pack_is_recovered(const struct db_folder *folder);

/*
 * 0 when the pack is open or there is none; else why pack_open() refused it.
 * Its members are left out then, and all of .packing-* are loose files.
 */
int db_folder_pack_error(const struct db_folder *folder);

/*
 * Visit the members: those of the pack in its order, then those of .packing-*
 * and the rest, in the order of their paths. Files that were set aside
 * (NAME.bad, NAME.stale) are members like any; what is no sample file, hidden,
 * or in the pack already is left out. Symbolic links are not followed. Returns
 * 0, what @visitor returned, or -errno: -ENOMEM.
 */
int db_folder_each(const struct db_folder *folder,
		   const struct db_visitor *visitor);

/*
 * Read one member, as odb_open() and ctree_open() in ODB_RDONLY do it, with
 * their errors; -EBADMSG, too, when it is of the other kind. What was read is
 * the caller's to close and does not need the folder.
 */
int db_folder_table(const struct db_folder *folder,
		    const struct db_member *member, struct odb **out);
int db_folder_tree(const struct db_folder *folder,
		   const struct db_member *member, struct ctree **out);

/*
 * The generation into which a folder of that name in the session folder is
 * packed; 0: it is no such folder.
 */
uint64_t db_folder_packing(const char *name);

/*
 * Write to @buf, of @len bytes, the path of the loose file that the member
 * @name is to be in the folder @dir. Returns 0, or -ENAMETOOLONG when it does
 * not fit.
 */
int db_folder_loose(const char *dir, const char *name, char *buf, size_t len);

/* Compare names of members like strcmp(), but component by component, which is
 * the order in which trees are listed. */
int db_folder_compare(const char *a, const char *b);

#endif /* LIBDB_DB_FOLDER_H */
