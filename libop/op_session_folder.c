// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making, emptying and renaming the folders of a session. Only called while no
 * daemon runs, as the daemon has sample files mapped.
 *
 * The tree below samples/current is as deep as the paths of what was profiled,
 * so a recursion could run out of stack or files. Instead the tops of the
 * tree are moved to the trash folder samples/.reset, and each folder that is
 * emptied there has its own subfolders moved up beside it first: three open
 * folders are enough for any depth. No symbolic link is followed. What a reset
 * that was cut off leaves in the trash, the next one removes.
 */

#include "libop/op_session_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRASH ".reset"

/* More than a tree has levels: the names of three paths. */
#define MAX_PASSES 16384

struct trash {
	int fd;
	uint64_t nr; /* names given so far */
};

static bool is_entry_of_samples(const char *name)
{
	return op_session_holds_samples(name) || !strncmp(name, "ledger", 6);
}

static bool is_any_entry(const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..");
}

static int open_session_folder(int at, const char *name)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Move @name in @from to a name in the trash that is free. */
static int move_to_trash(struct trash *trash, int from, const char *name)
{
	char to[32];

	do {
		snprintf(to, sizeof(to), "%" PRIu64, trash->nr++);
		if (!renameat(from, name, trash->fd, to))
			return 0;
		/* Left from an earlier reset: the next name is free. */
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == EISDIR ||
		 errno == ENOTDIR);
	return -errno;
}

static int remove_or_trash(struct trash *trash, int from, const char *name)
{
	if (!unlinkat(from, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	/* An empty one need not be moved first. */
	if (!unlinkat(from, name, AT_REMOVEDIR))
		return 0;
	return move_to_trash(trash, from, name);
}

/* Do @handle to each entry of @fd, which is closed, that @is_wanted. */
static int for_folder_entries(int fd, bool (*is_wanted)(const char *name),
			      int (*handle)(struct trash *trash, int from,
					    const char *name),
			      struct trash *trash)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err) {
		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			err = -errno;
			break;
		}
		if (is_wanted(entry->d_name))
			err = handle(trash, fd, entry->d_name);
	}
	closedir(dir);
	return err;
}

/* Empty a folder of the trash, or remove a file of it. */
static int empty_trash_entry(struct trash *trash, int at, const char *name)
{
	int fd = open_session_folder(at, name);
	int err;

	if (fd == -ENOTDIR || fd == -ELOOP)
		return unlinkat(at, name, 0) ? -errno : 0;
	if (fd < 0)
		return fd;
	err = for_folder_entries(fd, is_any_entry, remove_or_trash, trash);
	if (!err && unlinkat(at, name, AT_REMOVEDIR))
		err = -errno;
	/* ENOTEMPTY: the file system showed not all; it is seen again. */
	return err == -ENOTEMPTY || err == -EEXIST ? 0 : err;
}

static int empty_trash(struct trash *trash, int samples)
{
	int err = 0;

	/* Every pass takes a level off the deepest tree. */
	for (int pass = 0; !err && pass < MAX_PASSES; pass++) {
		int fd;

		if (!unlinkat(samples, TRASH, AT_REMOVEDIR))
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
		fd = open_session_folder(samples, TRASH);
		err = fd < 0 ? fd
			     : for_folder_entries(fd, is_any_entry,
						  empty_trash_entry, trash);
	}
	return err ? err : -EBUSY;
}

static int reset_samples_at(int samples)
{
	struct trash trash = { .fd = -1 };
	int current, err;

	current = open_session_folder(samples, "current");
	if (current == -ENOENT)
		return 0;
	if (current < 0)
		return current;
	err = mkdirat(samples, TRASH, 0700) && errno != EEXIST ? -errno : 0;
	if (!err) {
		trash.fd = open_session_folder(samples, TRASH);
		err = trash.fd < 0 ? trash.fd : 0;
	}
	if (err) {
		close(current);
		return err;
	}
	err = for_folder_entries(current, is_entry_of_samples, move_to_trash,
				 &trash);
	if (!err)
		err = empty_trash(&trash, samples);
	close(trash.fd);
	return err;
}

int op_session_reset(const struct op_session *session, struct op_diag *diag)
{
	int samples = open_session_folder(AT_FDCWD, session->samples);
	int err;

	if (samples == -ENOENT)
		return 0;
	err = samples < 0 ? samples : reset_samples_at(samples);
	if (samples >= 0)
		close(samples);
	if (err)
		op_diag_set(diag, err,
			    "%s: cannot remove the samples: %s; look what is "
			    "in there, or use another --session-dir",
			    session->current, strerror(-err));
	return err;
}

int op_session_save(const struct op_session *session, const char *name,
		    struct op_diag *diag)
{
	char path[sizeof(session->samples) + 300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", session->samples, name);
	if (!lstat(path, &st))
		return op_diag_set(diag, -EEXIST,
				   "--save=%s: %s exists already; choose "
				   "another name",
				   name, path);
	if (!rename(session->current, path))
		return 0;
	if (errno == ENOENT)
		return op_diag_set(diag, -ENOENT,
				   "--save=%s: there is nothing to save in %s; "
				   "take samples with opcontrol --start",
				   name, session->current);
	return op_diag_set(diag, -errno, "--save=%s: cannot rename %s: %s",
			   name, session->current, strerror(errno));
}
