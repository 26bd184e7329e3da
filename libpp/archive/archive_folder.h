/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_ARCHIVE_FOLDER_H
#define LIBPP_ARCHIVE_ARCHIVE_FOLDER_H

/*
 * The folder of an archive (libpp/archive/archive.h) that is being written. It
 * is made beside its place, under a hidden name, put on the disk, and renamed:
 * it is there as a whole or not at all.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libop/files/op_config.h"
#include "libop/base/op_diag.h"
#include "libpp/messages.h"
#include "libpp/archive/sums.h"

struct pp_archive_folder {
	struct op_arena *arena;
	struct op_diag *diag;
	const char *place; /* the archive to be, without a slash at its end */
	bool replace; /* an archive that is there already */
	const char *path; /* the hidden folder; files go in there */
	unsigned int mode; /* rights that the archive may have */
	struct pp_sums sums; /* of what is in it, in any order */
};

/*
 * Make the hidden folder of the archive @place. All that @folder has belongs to
 * @arena, and each function below puts its reasons in @diag. Returns 0, -EEXIST
 * when something else is at @place, or -errno; after 0 one of finish and cancel
 * follows.
 */
int pp_archive_folder_begin(struct pp_archive_folder *folder,
			    struct op_arena *arena, const char *place,
			    bool replace, struct op_diag *diag);

/* The archive has no more rights than the folder @source, which it is made of.
 */
void pp_archive_folder_limit(struct pp_archive_folder *folder,
			     const char *source);

/* The file @name, below the folder, has that hash. @name is borrowed. Returns 0
 * or -ENOMEM. */
int pp_archive_folder_add(struct pp_archive_folder *folder, const char *name,
			  const uint8_t hash[PP_SHA256_LEN]);

/* Hash the file @name that is in the folder, and add that. Returns 0 or -errno.
 */
int pp_archive_folder_hash(struct pp_archive_folder *folder, const char *name);

/* Write the facts. Returns 0 or -errno. */
int pp_archive_folder_facts(struct pp_archive_folder *folder,
			    const struct op_config *facts);

/*
 * Write the hashes, wait until all is on the disk, and put the folder in its
 * place. What cannot be removed of an archive that was there is said in
 * @messages. Returns 0 or -errno; then the folder is to be cancelled.
 */
int pp_archive_folder_finish(struct pp_archive_folder *folder,
			     struct pp_messages *messages);

/* Remove the hidden folder. */
void pp_archive_folder_cancel(struct pp_archive_folder *folder);

/* Say in its diagnostic that the archive cannot be written, by @err, which is
 * returned. */
int pp_archive_folder_failed(struct pp_archive_folder *folder, int err);

#endif /* LIBPP_ARCHIVE_ARCHIVE_FOLDER_H */
