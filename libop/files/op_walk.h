/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_WALK_H
#define LIBOP_FILES_OP_WALK_H

/*
 * A walk over a folder and all that is below it, in the order of names. No
 * symbolic link but that to the folder itself is followed. Unlike fts(3) it
 * tells when a folder could not be listed to its end: what was not seen is not
 * there for who removes, copies or counts what he has seen.
 */

#include <stddef.h>
#include <sys/stat.h>

enum op_walk_kind {
	OP_WALK_FILE, /* a regular file */
	OP_WALK_FOLDER, /* before what is in it */
	OP_WALK_LEFT, /* a folder, after what was in it */
	OP_WALK_OTHER, /* a link, a FIFO and so on */
	OP_WALK_UNREAD, /* not to be looked at, or not listed to its end */
};

struct op_walk_entry {
	enum op_walk_kind kind;
	const char *path; /* that of the walk, and behind it where it is */
	const char *name; /* its last component */
	const char *below; /* what is behind the path of the walk, without a
			      slash in front; empty for that itself */
	unsigned int depth; /* 0: the folder of the walk */
	const struct stat *st; /* not of OP_WALK_UNREAD */
	int err; /* of OP_WALK_UNREAD: a negative errno */
};

/* The result of a visit that keeps the walk from entering a folder. */
#define OP_WALK_SKIP 1

/*
 * Call @visit for the folder @path and each entry below it; what is removed
 * meanwhile is left out. Everything in @entry is the walk's and ends with the
 * call. @visit returns 0 or OP_WALK_SKIP to go on, or a negative errno to end
 * the walk, which is then returned. Returns 0, or -ENOMEM.
 */
int op_walk(const char *path,
	    int (*visit)(const struct op_walk_entry *entry, void *ctx),
	    void *ctx);

#endif /* LIBOP_FILES_OP_WALK_H */
