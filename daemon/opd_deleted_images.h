/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_DELETED_IMAGES_H
#define DAEMON_OPD_DELETED_IMAGES_H

/*
 * Binaries that will not be there when the report is made: built, run and
 * deleted, or replaced by an upgrade while they run. An image's file is held
 * open from its first sample; when its path leads elsewhere, or nowhere, the
 * session gets a copy of it, which reports find (op_session_image()). Of a
 * program that was copied to many names one file is enough, and the copies in
 * the session are one file with several links.
 *
 * Whoever makes a file chooses its build-id, so another file of a build-id
 * stands in for one only if it has the same bytes or, where these are not at
 * hand, if only root and this user may write it; and root's file takes the
 * place of another user's copy with its name and build-id.
 *
 * A user gets no more than a share of what may be held open, copied, and logged
 * of it: the user of the process that was sampled in the file first.
 *
 * A file that is held open keeps its file system busy, so where the whole
 * machine is profiled it is let go after OPD_DELETED_SECONDS. If it vanishes
 * later, a process that still runs it is looked for.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_hash.h"
#include "libop/files/op_shares.h"

struct op_clock;
struct op_log;
struct op_session;

#define OPD_DELETED_SECONDS 60
#define OPD_DELETED_MAX 1024 /* files held open, at most */
#define OPD_DELETED_FILE_MAX (UINT64_C(256) << 20) /* bytes of a copy */
#define OPD_DELETED_TOTAL_MAX (UINT64_C(1) << 30) /* bytes of all copies */
#define OPD_DELETED_LINES_MAX 8192 /* of the log, of all users' files */

/* Which file it is: a path, and what is known of the build. */
struct opd_binary {
	const char *name;
	struct op_build_id build_id;
	uint64_t mtime; /* seconds, 0: not known */
};

struct opd_untrusted;

struct opd_kept {
	struct opd_binary binary; /* its name is owned */
	uint64_t dev; /* of the file; 0: it was never there */
	uint64_t ino;
	time_t since; /* of the monotonic clock */
	uint32_t user; /* for op_shares */
	int fd; /* -1: let go */
	bool done; /* copied, or never will be */
	bool is_sought; /* gone; a process may have it, see nr_sought */
	bool missing; /* gone, and no file of its build was found so far */
	bool shut; /* it must not be opened */
	bool is_remote; /* on a file system whose server may be gone */
	bool is_own; /* the file that was copied: op_is_own_file() */
	uint32_t next_of_build; /* number of another one, 0: none */
	uint32_t copy_of_build; /* of the first one: that of one with a copy */
};

struct opd_deleted_images {
	const struct op_session *session; /* borrowed, like the two below */
	struct op_log *log;
	const struct op_clock *clock;
	struct opd_kept *kept;
	size_t nr;
	size_t names_len; /* bytes of all names */
	struct op_hash index; /* of kept, by name and build */
	struct op_hash builds; /* of kept: the first of each build-id */
	unsigned int nr_open;
	unsigned int max_open; /* a part of what was left to open */
	size_t nr_sought; /* in the next sweep */
	bool new_copies; /* since the last sweep */
	bool forever; /* nothing is let go before the end */
	uint64_t copied; /* bytes */
	struct op_shares open_shares; /* of nr_open */
	struct op_shares copy_shares; /* of copied */
	struct op_shares line_shares; /* of lines in the log */
	uint64_t nr_unsaid; /* lines that were left out */
	struct opd_untrusted *untrusted; /* reads files; owned; NULL: we do */
	uint64_t *mounts; /* that were there at the beginning: their ids */
	size_t nr_mounts;
};

/*
 * @forever: let nothing go before the end. @left: descriptors that nothing else
 * needs.
 */
void opd_deleted_images_init(struct opd_deleted_images *images,
			     const struct op_session *session,
			     struct op_log *log, const struct op_clock *clock,
			     bool forever, rlim_t left);

/* There are samples of @binary, in process @tgid (0: not known); @deleted: its
 * path leads elsewhere already. @fd, if not negative, is its file and taken
 * over. The name is copied. */
void opd_deleted_images_binary(struct opd_deleted_images *images,
			       const struct opd_binary *binary, uint32_t tgid,
			       bool deleted, int fd);

/* The file of @binary must not be opened, because it may never answer. To be
 * called before opd_deleted_images_binary(). */
void opd_deleted_images_shut(struct opd_deleted_images *images,
			     const struct opd_binary *binary);

/* Look at all of them: to be called every few seconds and at the end. */
void opd_deleted_images_sweep(struct opd_deleted_images *images);

/*
 * Open the file of @binary, wherever it still is: held here, by its path here
 * and as process @tgid sees it, or the session's copy. It is of the right
 * build. Returns a descriptor, which is the caller's, or -ENOENT.
 */
int opd_deleted_images_open(const struct opd_deleted_images *images,
			    const struct opd_binary *binary, uint32_t tgid);

void opd_deleted_images_release(struct opd_deleted_images *images);

#endif /* DAEMON_OPD_DELETED_IMAGES_H */
