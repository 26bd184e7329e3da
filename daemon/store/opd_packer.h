/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_PACKER_H
#define DAEMON_STORE_OPD_PACKER_H

/*
 * How the loose sample files of a session folder come into its pack
 * (libdb/db_folder.h): opd_packer_begin(), _write(), _commit() and _tidy(), in
 * this order. Whoever calls them may be killed at any instant: no sample is
 * missing then, and none is there twice. opd_packer.c explains why.
 *
 * One process at a time calls these functions for a folder: the daemon or its
 * child, but not both (opd_pack.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

struct db_folder;
struct opd_store;
struct pack;
struct pack_entry;
struct pack_writer;

/* How long to wait for readers, milliseconds. */
#define OPD_PACKER_NO_WAIT 0
#define OPD_PACKER_LONG_WAIT 60000

struct opd_packer_size {
	uint64_t loose; /* bytes on the disk, with all folders */
	uint64_t packed; /* bytes of the pack on the disk */
	bool left; /* there are folders .packing-N */
};

/* How much is in session folder @dir. Returns 0 or -errno. */
int opd_packer_size(const char *dir, struct opd_packer_size *out);

/* Files that are put into the next pack, and what came of it. */
struct opd_packer {
	const char *dir; /* the session folder; borrowed */
	/* Session folders, all of which is put into the pack of @dir instead of
	 * what is there; borrowed. NULL: none. */
	const char *const *from;
	size_t nr_from;
	uint64_t generation; /* N */
	struct pack_writer *writer; /* between write and commit */
	uint64_t nr_files; /* that were loose */
	uint64_t nr_names; /* in the new pack */
	bool pack_damaged; /* the old one, in part */
};

/*
 * Begin to pack @dir. With @again loose files stay where they are if others
 * are in .packing-* already. Waits for readers at most @wait_ms. Returns 0,
 * and opd_packer_cancel() has to follow some time; -ENODATA when there is
 * nothing to pack, -EBUSY when somebody reads it, -errno, with the reason.
 * Folders may be in .packing-N then, which does no harm.
 */
int opd_packer_begin(struct opd_packer *packer, const char *dir, bool again,
		     unsigned int wait_ms, struct op_diag *diag);

/*
 * Write the new pack. What is damaged is left out, said in the log, and renamed
 * (opd_store_rename_damaged()). Returns 0 or -errno with the reason.
 */
int opd_packer_write(struct opd_store *store, struct opd_packer *packer,
		     struct op_diag *diag);

/*
 * Put it in place, waiting for readers at most @wait_ms. Returns 0 or -errno
 * with the reason; then the old pack is still there, and the new one gone.
 */
int opd_packer_commit(struct opd_packer *packer, unsigned int wait_ms,
		      struct op_diag *diag);

/* Give up what was written and not committed. */
void opd_packer_cancel(struct opd_packer *packer);

/*
 * Remove the folders of session folder @dir that are in its pack. Sample files
 * in them that were renamed for damage are kept: they go where they came from.
 * Returns 0 or -errno with the reason.
 */
int opd_packer_tidy(const char *dir, struct op_diag *diag);

/* ---- for the parts of this ------------------------------------------------
 */

/* The numbers N of all .packing-N in @dir, ascending; free() *@out. */
int opd_packer_folders(const char *dir, uint64_t **out, size_t *nr);

/*
 * Lock @dir alone, waiting for readers at most @wait_ms. Returns a descriptor,
 * with which the lock goes; -EBUSY or -errno.
 */
int opd_packer_lock(const char *dir, unsigned int wait_ms);

/* The generation of the pack of @dir, 0 without one. Returns 0 or -errno. */
int opd_packer_generation(const char *dir, uint64_t *generation);

#endif /* DAEMON_STORE_OPD_PACKER_H */
