/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_ODB_H
#define LIBDB_ODB_H

/*
 * odb: a file that counts. A mapping from 64-bit keys to 64-bit counts that
 * lives in a memory-mapped file, so that adding to a count is a memory write
 * and a killed writer loses nothing that it had added.
 *
 * One process writes a file at a time (the caller's lock); any number may
 * read it meanwhile. A count of zero is the same as an absent key. A count
 * stays at UINT64_MAX rather than wrap.
 *
 * No function prints or exits; errors are negative errno values. An odb is
 * not locked: one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct odb;

enum odb_mode {
	ODB_RDONLY, /* a private copy is read: later writes are not seen */
	ODB_RDWR, /* created when it does not exist */
};

/*
 * Bytes at the head of the file that belong to the caller: what the counts
 * are about. All zero in a new file.
 */
#define ODB_USER_SIZE 192

/*
 * Open @path. *@out is set on success only and is the caller's to close.
 * Returns 0 or -errno; -EBADMSG when the file is not a sound database,
 * -EPROTO when it is one of another version or byte order, -EISDIR for a
 * folder. Never waits, whatever kind of file it is. In ODB_RDWR the folder
 * must exist, an empty file is made a new database, and others are left as
 * they are when they are refused.
 *
 * No file descriptor stays open. A database that is created or grows is built
 * under the name ".NAME.grow" first: whoever lists a folder passes over it.
 */
int odb_open(struct odb **out, const char *path, enum odb_mode mode);

/* Unmap and close; what was added stays in the file. NULL is allowed. */
void odb_close(struct odb *odb);

/*
 * The caller's ODB_USER_SIZE bytes; written through in ODB_RDWR. The pointer
 * holds until the next odb_add() or odb_close().
 */
void *odb_user(struct odb *odb);

/*
 * From now on @odb, which is open ODB_RDWR, grows by what there is in *@room
 * only, bytes, which it takes from there; several may share it. While it grows
 * it needs room for the whole new file. Borrowed.
 */
void odb_share_room(struct odb *odb, uint64_t *room);

/*
 * Read the ODB_USER_SIZE bytes of the file @path, which is such a database or a
 * call tree (ctree.h), and nothing else of it. Returns 0 or -errno as
 * odb_open().
 */
int odb_peek(const char *path, void *user);

/*
 * Add @count to the count of @key. Returns 0, or -errno when the file had to
 * grow and could not (ENOSPC, EFBIG, ENOMEM, EMFILE, EACCES; EDQUOT when it
 * shares too little room; ENOENT or ESTALE when it was removed or replaced
 * meanwhile): then nothing was added and the
 * file is as it was. -EBADF in ODB_RDONLY.
 */
int odb_add(struct odb *odb, uint64_t key, uint64_t count);

/* The count of @key, 0 when it is absent. */
uint64_t odb_get(const struct odb *odb, uint64_t key);

/*
 * Walk all pairs with a count above zero, in no particular order:
 *	for (size_t at = 0; odb_next(odb, &at, &key, &count);)
 * Adding while walking may repeat or leave out pairs.
 */
bool odb_next(const struct odb *odb, size_t *at, uint64_t *key,
	      uint64_t *count);

/*
 * Add all counts of @from to @to, which is open ODB_RDWR, and @from's user
 * bytes where those of @to are all zero. Returns 0 or -errno as odb_add(); then
 * @to has a part of them.
 */
int odb_merge(struct odb *to, const struct odb *from);

/*
 * Start writing changed pages to the disk (MS_ASYNC). Returns 0 or -errno. Once
 * the file system has written all (syncfs(2), fsync(2) of the file and its
 * folders), what was counted before survives a power cut, whatever is counted
 * later.
 */
int odb_sync(struct odb *odb);

/*
 * Whether the file had lost pages when it was opened, as by a power cut: keys
 * were found behind gaps. What was brought to the disk before is all there,
 * what was counted later may be missing.
 */
bool odb_is_torn(const struct odb *odb);

struct odb_stat {
	uint64_t nr_keys; /* distinct keys with a count */
	uint64_t nr_slots; /* room in the file */
	uint64_t total; /* sum of the counts, stays at UINT64_MAX */
	uint64_t file_len; /* bytes */
	uint64_t longest_probe; /* slots looked at for the worst present key */
	double mean_probe; /* the same, mean over present keys */
};

void odb_stat(const struct odb *odb, struct odb_stat *out);

#endif /* LIBDB_ODB_H */
