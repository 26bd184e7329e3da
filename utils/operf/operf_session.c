// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session folder of operf: finding or making it, and keeping others away.
 *
 * The lock of operf keeps another operf away, and the lock of the daemon one of
 * opcontrol's. A run that is undone removes the lock file with the folder it
 * has made; so after taking the lock the file is compared with the one that has
 * its name by then. How room is made for samples is in libop
 * (op_session_folder.h).
 */

#include "utils/operf/operf_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "libop/session/op_session_readers.h"
#include "utils/say.h"

#define LOCK_TRIES 10

void operf_session_init(struct operf_folder *folder, struct op_session *session)
{
	memset(folder, 0, sizeof(*folder));
	folder->session = session;
	folder->lock_fd = -1;
}

/* ---- the folder ---------------------------------------------------------- */

static int make_default_folder(struct operf_folder *folder,
			       struct op_diag *diag)
{
	struct stat st;

	if (!mkdir(OPERF_DEFAULT_DIR, 0755))
		folder->made = true;
	else if (errno != EEXIST)
		return op_diag_set(diag, -errno,
				   "./" OPERF_DEFAULT_DIR
				   ": cannot make it: %s; go "
				   "to a folder that you may write to, or give "
				   "--session-dir",
				   strerror(errno));
	folder->is_default = true;
	if (!stat(OPERF_DEFAULT_DIR, &st) && S_ISDIR(st.st_mode))
		return 0;
	return op_diag_set(diag, -ENOTDIR,
			   "./" OPERF_DEFAULT_DIR
			   ": is not a folder; move it away, "
			   "or give --session-dir");
}

static int make_given_folder(struct operf_folder *folder, const char *dir,
			     struct op_diag *diag)
{
	struct stat st;

	if (*dir && !mkdir(dir, 0755)) {
		folder->made = true;
		return 0;
	}
	if (!stat(dir, &st)) {
		if (S_ISDIR(st.st_mode))
			return 0;
		return op_diag_set(diag, -ENOTDIR,
				   "--session-dir=%s: is not a folder; give "
				   "one",
				   dir);
	}
	return op_diag_set(diag, -errno,
			   "--session-dir=%s: no such folder, and it cannot be "
			   "made: %s; give one that you may write to",
			   dir, strerror(errno));
}

static int make_session_folder(const char *path, struct op_diag *diag)
{
	int err = op_make_folder(path, 0755);

	return err ? op_diag_set(diag, err,
				 "%s: cannot make it: %s; give --session-dir a "
				 "folder that you may write to",
				 path, strerror(-err))
		   : 0;
}

/* ---- locks --------------------------------------------------------------- */

/* The pid in the lock file, which the holder of the lock has written. */
static const char *read_locker_pid(int fd, char *pid, size_t len)
{
	ssize_t n = pread(fd, pid, len - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return *pid ? pid : "?";
}

/* Whether @path is still the file behind @fd: undoing a run removes it. */
static bool is_still_file(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int open_lock(const char *path, int flags, struct op_diag *diag)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && !(flags & O_CREAT))
		return -ENOENT;
	return op_diag_set(diag, -errno,
			   "%s: cannot open: %s; give --session-dir a folder "
			   "that you may write to",
			   path, strerror(errno));
}

static int lock_operf_session(struct operf_folder *folder, const char *path,
			      struct op_diag *diag)
{
	char pid[16];
	int fd = open_lock(path, O_RDWR | O_CREAT, diag);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		op_diag_set(diag, -EBUSY,
			    "%s: another operf, pid %s, is using this folder; "
			    "wait for its end, or give another --session-dir",
			    folder->session->dir,
			    read_locker_pid(fd, pid, sizeof(pid)));
		close(fd);
		return -EBUSY;
	}
	if (!is_still_file(fd, path)) {
		close(fd);
		return -EAGAIN;
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0) {
		close(fd);
		return op_diag_set(diag, -EIO, "%s: cannot write", path);
	}
	folder->lock_fd = fd;
	return 0;
}

/* A daemon that is at work here now, such as one of opcontrol's. */
static int check_daemon_lock(const struct operf_folder *folder,
			     struct op_diag *diag)
{
	int fd = open_lock(folder->session->lock, O_RDONLY, diag);
	char pid[16];
	int err = 0;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = op_diag_set(
			diag, -EBUSY,
			"%s: a daemon, pid %s, is using this folder; end "
			"it with opcontrol --shutdown, or give "
			"another --session-dir",
			folder->session->dir,
			read_locker_pid(fd, pid, sizeof(pid)));
	close(fd);
	return err;
}

static int lock_folder(struct operf_folder *folder, struct op_diag *diag)
{
	char path[sizeof(folder->session->run) + 16];
	int err = make_session_folder(folder->session->run, diag);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/operf", folder->session->run);
	for (int i = 0; i < LOCK_TRIES; i++) {
		err = lock_operf_session(folder, path, diag);
		if (err != -EAGAIN)
			break;
	}
	if (err == -EAGAIN)
		op_diag_set(diag, err, "%s: cannot be locked; try again", path);
	return err ? err : check_daemon_lock(folder, diag);
}

int operf_session_open(struct operf_folder *folder, const char *dir,
		       const gid_t *readers, struct op_diag *diag)
{
	int err = dir ? make_given_folder(folder, dir, diag)
		      : make_default_folder(folder, diag);

	if (!err)
		err = op_session_init(folder->session, dir, diag);
	if (!err)
		err = lock_folder(folder, diag);
	if (!err)
		err = op_session_make_samples(folder->session, readers, diag);
	if (!err)
		say_step(folder->verbose, "the session is in %s",
			 folder->session->dir);
	return err;
}

void operf_session_close(struct operf_folder *folder)
{
	if (folder->lock_fd < 0)
		return;
	if (ftruncate(folder->lock_fd, 0))
		say_note("operf", "the lock file still has our pid: %s",
			 strerror(errno));
	close(folder->lock_fd);
	folder->lock_fd = -1;
}

/* ---- the samples --------------------------------------------------------- */

int operf_session_rotate(struct operf_folder *folder, bool append,
			 unsigned int keep, struct op_diag *diag)
{
	folder->room.keep = keep;
	folder->room.session = folder->session;
	folder->room.say = folder->verbose ? say_always : NULL;
	return op_session_rotate(&folder->room, append, diag);
}

void operf_session_commit(struct operf_folder *folder, bool quiet)
{
	struct op_session_room *room = &folder->room;
	struct op_diag why = { "" };
	unsigned int nr_removed;

	if (op_session_rotated(room, &nr_removed, &why))
		say_note("operf", "%s", why.text);
	if (quiet || !room->moved_current)
		return;
	if (nr_removed == 1)
		say_note(
			"operf",
			"the run before is session:previous now; the oldest session is removed, as --keep=%u keeps no more",
			room->keep);
	else if (nr_removed)
		say_note(
			"operf",
			"the run before is session:previous now; the %u oldest sessions are removed, as --keep=%u keeps no more",
			nr_removed, room->keep);
	else if (room->nr_renamed)
		say_note(
			"operf",
			"the run before is session:previous now, and the one before that is session:previous-2");
	else
		say_note("operf", "the run before is session:previous now");
}

void operf_session_undo(struct operf_folder *folder)
{
	const char *dir = folder->session->dir;
	struct op_diag why = { "" };
	int err;

	if (folder->made && folder->lock_fd < 0)
		rmdir(dir);
	/* Somebody else's daemon, which came between, keeps what is there. */
	if (folder->lock_fd < 0 || check_daemon_lock(folder, &why))
		return;
	if (!folder->made) {
		if (op_session_undo_rotate(&folder->room, &why))
			say_note("operf",
				 "%s; the sessions in it have been renamed",
				 why.text);
		return;
	}
	say_step(folder->verbose, "remove %s", dir);
	err = op_remove_tree(dir);
	if (err)
		say_note("operf", "%s: cannot be removed: %s", dir,
			 strerror(-err));
}
