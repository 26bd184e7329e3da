/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_ARCHIVE_H
#define LIBPP_ARCHIVE_ARCHIVE_H

/*
 * An archive for reports to read: a folder with everything that reports on a
 * session need, each file at the path that it had. The folder .oparchive in
 * it has what is about the archive itself:
 *
 *	facts		where in it the session is, which folders to search
 *			(op_config.h)
 *	SHA256SUMS	a hash of every other file (sums.h)
 *	events/		descriptions of the events and CPU that were profiled
 *
 * With these a report is the same on any machine, and nothing of the machine
 * that makes it comes in. What a report uses is held against its hash first;
 * what has changed is said and not used. An archive of another making has no
 * such folder: it is searched for the session, and nothing is known of its
 * files.
 *
 * doc/archives.md describes it for those who want to write one.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"
#include "libop/base/op_arena.h"
#include "libpp/messages.h"
#include "libpp/archive/sums.h"

#define PP_ARCHIVE_FOLDER ".oparchive"
#define PP_ARCHIVE_FACTS PP_ARCHIVE_FOLDER "/facts"
#define PP_ARCHIVE_SUMS PP_ARCHIVE_FOLDER "/SHA256SUMS"
#define PP_ARCHIVE_EVENTS PP_ARCHIVE_FOLDER "/events"
#define PP_ARCHIVE_FORMAT 1

/* Keys of the facts. */
#define PP_FACT_FORMAT "format" /* PP_ARCHIVE_FORMAT */
#define PP_FACT_SESSION "session" /* the session folder, as it was called */
#define PP_FACT_IMAGE_PATH "image-path" /* one for each folder */
#define PP_FACT_MERGED "merged" /* of how many archives it is the sum */

struct pp_archive {
	const char *root; /* the folder; absolute, no slash at its end */
	struct op_session session; /* in it */
	const char *const *image_path; /* in it, ended by NULL; or NULL */
	uint64_t merged; /* archives that it is the sum of; 0: it is no sum,
			    else all of its sessions are one profile */
	const char *events; /* descriptions of events; NULL for those here */
	struct pp_sums sums; /* none if it has no list */
};

/*
 * Open the archive at @root, which stays the caller's, in @arena. @asked is
 * the session that to look for in archives that do not tell. Returns 0 or
 * -errno with the reason in @diag: -ENOENT when there is no session in it.
 */
int pp_archive_open(struct pp_archive **out, struct op_arena *arena,
		    const char *root, const struct op_session *asked,
		    struct op_diag *diag);

/*
 * The sessions whose files the archive has the hashes of: *@names gets them,
 * *@nr in all, ascending, in @arena. Returns 0 or -ENOMEM.
 */
int pp_archive_sessions(const struct pp_archive *archive,
			struct op_arena *arena, const char *const **names,
			size_t *nr);

/*
 * The name of the file @path in the archive: its path on the machine where the
 * archive was made, without the first slash. A part of @path; NULL if @path is
 * not in the archive.
 */
const char *pp_archive_name(const struct pp_archive *archive, const char *path);

/*
 * Hold the file @path against its hash, if it is in @archive (NULL: in none).
 * Returns 0 also for what has none; -ENOENT, -EACCES and the like; -EILSEQ when
 * it is not the archived file; -EXDEV when a symbolic link on the way to
 * it leads out of the archive, whether it has a hash or not.
 */
int pp_archive_check(const struct pp_archive *archive, const char *path);

/* The second half alone: -EXDEV, else 0, also for a folder and for what is not
 * there. */
int pp_archive_check_place(const struct pp_archive *archive, const char *path);

/* Open the file @name of the archive to read. A descriptor, or -errno: -EXDEV
 * as above, -EINVAL when it is no regular file. */
int pp_archive_open_file(const struct pp_archive *archive, const char *name);

/* In words why a file that is there is not used: of -EILSEQ and -EXDEV. NULL
 * for other errors. */
const char *pp_archive_refusal(int err);

/* Say in @messages which of the files that were archived below the folder
 * @path are missing, or are links and the like. */
void pp_archive_check_folder(const struct pp_archive *archive, const char *path,
			     struct pp_messages *messages);

/* Whether the descriptions of events are those that were archived; if not that
 * is said in @messages. */
bool pp_archive_check_events(const struct pp_archive *archive,
			     struct pp_messages *messages);

#endif /* LIBPP_ARCHIVE_ARCHIVE_H */
