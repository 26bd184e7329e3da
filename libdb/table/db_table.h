/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TABLE_DB_TABLE_H
#define LIBDB_TABLE_DB_TABLE_H

/*
 * An open database, private to libdb. A writer's map is the file itself; a
 * reader's is a copy in anonymous memory. No file descriptor stays open, so
 * that a daemon can have thousands.
 *
 * In a reader's copy a slot that was taken while the copy was made may be
 * missing, which leaves gaps where a file has none.
 */

#include <sys/stat.h>
#include <sys/types.h>

#include "libdb/table/db_format.h"

struct odb {
	/* what each odb_add() needs, in one cache line */
	struct odb_slot *slots;
	uint64_t nr_lines;
	uint64_t seed;
	uint64_t writable; /* a claim */
	uint64_t nr_used;
	uint64_t used_max;
	uint64_t nr_slots;
	struct odb_header *header; /* the map; NULL while opening */
	bool in_heap; /* instead, of a reader */

	bool gaps; /* free slots may come before a key's own in its row */
	bool torn; /* there were such in the file when it was opened */
	bool is_durable; /* what takes its place must be on the disk first */
	uint64_t *room; /* bytes that it may grow by, NULL: any number */
	char *path; /* writers only: absolute, its last part not a link */
	dev_t dev; /* which file @path was, to notice another one there */
	ino_t ino;
};

/* Take the map of a whole file at @header, whose fields have been checked. */
void odb_attach(struct odb *odb, struct odb_header *header);

/* Unmap or free the table, if there is one. */
void odb_detach(struct odb *odb);

/* Fill in the header of an empty table. */
void odb_init_header(struct odb_header *header, uint64_t nr_slots,
		     uint64_t seed);

/*
 * *@out is a reader's table with @user's ODB_USER_SIZE bytes and the @nr
 * @pairs, whose keys are all different and whose counts are not zero. Returns
 * 0, -EFBIG or -ENOMEM.
 */
int odb_from_pairs(struct odb **out, const void *user,
		   const struct odb_slot *pairs, uint64_t nr);

/*
 * The slot of @key, or the free one where it would go: look at its count.
 * NULL when the row of @key is full of others. Not for a table with gaps.
 */
struct odb_slot *odb_place(const struct odb *odb, uint64_t key);

/*
 * Take the free @slot, found by odb_place(). A kill at any instant leaves
 * either the pair or a free slot.
 */
static inline void odb_slot_take(struct odb *odb, struct odb_slot *slot,
				 uint64_t key, uint64_t count)
{
	__atomic_store_n(&slot->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->count, count, __ATOMIC_RELEASE);
	__atomic_store_n(&odb->header->nr_used, ++odb->nr_used,
			 __ATOMIC_RELAXED);
}

/*
 * Replace or create the file at odb->path by one of @nr_slots with all keys
 * and the user's bytes of @odb, which may have no map yet, and the owner and
 * mode of @like if that is not NULL. Returns 0, or -errno and all is as it
 * was; -EOVERFLOW when a key finds its row full.
 */
int odb_rewrite(struct odb *odb, uint64_t nr_slots, uint64_t seed,
		const struct stat *like);

/*
 * Make room: odb_rewrite() to the next size. Returns 0 or -errno; -EFBIG at
 * ODB_SLOTS_MAX, -ESTALE when another file is at odb->path.
 */
int odb_grow(struct odb *odb);

/*
 * Check the header of a file of @file_len bytes. Returns 0, -EBADMSG when it
 * is not a sound one or -EPROTO when it is of another version or byte order.
 */
int odb_check_header(const struct odb_header *header, uint64_t file_len);

/*
 * Check the invariants of the slots. @before are the same slots, read earlier
 * by a reader beside a writer; a writer passes odb->slots. Keys that are not
 * in @before may be half written and are not looked at. Sets *@torn where a
 * free slot comes before a key in its row, as after a power cut that has cost
 * some pages. Returns 0 or -EBADMSG.
 */
int odb_check_slots(const struct odb *odb, const struct odb_slot *before,
		    bool *torn);

#endif /* LIBDB_TABLE_DB_TABLE_H */
