// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making room for a new run, so that it can be undone.
 *
 * Folders below samples/ are renamed: current becomes previous, and previous
 * becomes ASIDE, which is removed at the end. A current session without samples
 * is not worth a previous one that has some: then current becomes ASIDE, and
 * previous stays. If operf is killed between two renames, or before it has
 * removed ASIDE, the next run finds ASIDE: without a previous session it is
 * that one, else it is not needed any more.
 *
 * The lock of operf keeps another operf away, and the lock of the daemon one of
 * opcontrol's. Who undoes a run removes the lock file with the folder; so after
 * taking the lock the file is compared with what has its name by then.
 */

#include "utils/operf/operf_session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/say.h"

#define DEFAULT_DIR "oprofile_data"
#define ASIDE ".replaced"
#define LOCK_TRIES 10

#define PATH_LEN (sizeof(((struct op_session *)0)->samples) + 64)

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

	if (!mkdir(DEFAULT_DIR, 0755))
		folder->made = true;
	else if (errno != EEXIST)
		return op_diag_set(diag, -errno,
				   "./" DEFAULT_DIR ": cannot make it: %s; go "
				   "to a folder that you may write to, or give "
				   "--session-dir",
				   strerror(errno));
	folder->is_default = true;
	if (!stat(DEFAULT_DIR, &st) && S_ISDIR(st.st_mode))
		return 0;
	return op_diag_set(diag, -ENOTDIR,
			   "./" DEFAULT_DIR ": is not a folder; move it away, "
			   "or give --session-dir");
}

static int check_given_folder(const char *dir, struct op_diag *diag)
{
	struct stat st;

	if (!stat(dir, &st)) {
		if (S_ISDIR(st.st_mode))
			return 0;
		return op_diag_set(diag, -ENOTDIR,
				   "--session-dir=%s: is not a folder; give "
				   "one",
				   dir);
	}
	if (errno == ENOENT)
		return op_diag_set(diag, -ENOENT,
				   "--session-dir=%s: no such folder; make it "
				   "with mkdir",
				   dir);
	return op_diag_set(diag, -errno, "--session-dir=%s: %s", dir,
			   strerror(errno));
}

static int make_session_folder(const char *path, struct op_diag *diag)
{
	if (!mkdir(path, 0755) || errno == EEXIST)
		return 0;
	return op_diag_set(diag, -errno,
			   "%s: cannot make it: %s; give --session-dir a "
			   "folder that you may write to",
			   path, strerror(errno));
}

/* ---- locks --------------------------------------------------------------- */

/* The pid that the one who has the lock has written in the file. */
static const char *read_locker_pid(int fd, char *pid, size_t len)
{
	ssize_t n = pread(fd, pid, len - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return *pid ? pid : "?";
}

/* Whether @path is still the file behind @fd: who undoes a run removes it. */
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

static int take_own_lock(struct operf_folder *folder, const char *path,
			 struct op_diag *diag)
{
	char pid[16];
	int fd = open_lock(path, O_RDWR | O_CREAT, diag);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		op_diag_set(diag, -EBUSY,
			    "%s: another operf, pid %s, is at work here; wait "
			    "for its end, or give another --session-dir",
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
		err = op_diag_set(diag, -EBUSY,
				  "%s: a daemon, pid %s, is at work here; end "
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
		err = take_own_lock(folder, path, diag);
		if (err != -EAGAIN)
			break;
	}
	if (err == -EAGAIN)
		op_diag_set(diag, err, "%s: cannot be locked; try again", path);
	return err ? err : check_daemon_lock(folder, diag);
}

int operf_session_open(struct operf_folder *folder, const char *dir,
		       struct op_diag *diag)
{
	int err = dir ? check_given_folder(dir, diag)
		      : make_default_folder(folder, diag);

	if (!err)
		err = op_session_init(folder->session, dir, diag);
	if (!err)
		err = lock_folder(folder, diag);
	if (!err)
		err = make_session_folder(folder->session->samples, diag);
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

/* ---- moving samples ------------------------------------------------------ */

static void session_path(const struct operf_folder *folder, const char *name,
			 char *path)
{
	snprintf(path, PATH_LEN, "%s/%s", folder->session->samples, name);
}

static bool has_session(const struct operf_folder *folder, const char *name)
{
	char path[PATH_LEN];
	struct stat st;

	session_path(folder, name, path);
	return !lstat(path, &st);
}

static bool has_current_samples(const struct operf_folder *folder)
{
	DIR *dir = opendir(folder->session->current);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return errno != ENOENT;
	while (!found && (entry = readdir(dir)))
		found = op_session_holds_samples(entry->d_name);
	closedir(dir);
	return found;
}

static int rename_session(const struct operf_folder *folder, const char *from,
			  const char *to, struct op_diag *diag)
{
	char old[PATH_LEN], new[PATH_LEN];

	session_path(folder, from, old);
	session_path(folder, to, new);
	say_step(folder->verbose, "rename %s to %s", old, new);
	if (!rename(old, new))
		return 0;
	return op_diag_set(diag, -errno,
			   "%s: cannot become %s: %s; remove one of them, or "
			   "give another --session-dir",
			   old, new, strerror(errno));
}

static bool remove_tree_entry(const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D: /* before what is in it */
		return true;
	case FTS_DP:
	case FTS_DNR:
		return !rmdir(entry->fts_accpath);
	default:
		return !unlink(entry->fts_accpath);
	}
}

/* What cannot be removed is noted: nothing depends on it. */
static void remove_folder_tree(const struct operf_folder *folder, char *path)
{
	char *const paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL, NULL);
	FTSENT *entry;
	int err = tree ? 0 : errno;

	say_step(folder->verbose, "remove %s", path);
	while (tree && (entry = fts_read(tree)))
		if (!remove_tree_entry(entry) && !err)
			err = errno;
	if (tree)
		fts_close(tree);
	if (err)
		say_note("operf", "%s: cannot be removed: %s", path,
			 strerror(err));
}

static void remove_session(const struct operf_folder *folder, const char *name)
{
	char path[PATH_LEN];

	session_path(folder, name, path);
	remove_folder_tree(folder, path);
}

/* A run before was killed between two moves, or before it removed ASIDE. */
static int clear_up_aside(struct operf_folder *folder, struct op_diag *diag)
{
	if (!has_session(folder, ASIDE))
		return 0;
	if (!has_session(folder, "previous"))
		return rename_session(folder, ASIDE, "previous", diag);
	remove_session(folder, ASIDE);
	return 0;
}

static int keep_current(struct operf_folder *folder, struct op_diag *diag)
{
	int err = 0;

	if (has_session(folder, "previous")) {
		err = rename_session(folder, "previous", ASIDE, diag);
		folder->aside = err ? NULL : "previous";
	}
	if (!err)
		err = rename_session(folder, "current", "previous", diag);
	folder->moved_current = !err;
	return err;
}

int operf_session_rotate(struct operf_folder *folder, bool append,
			 struct op_diag *diag)
{
	int err = clear_up_aside(folder, diag);

	if (err)
		return err;
	folder->made_current = !has_session(folder, "current");
	if (folder->made_current || append)
		return 0;
	if (has_current_samples(folder)) {
		err = keep_current(folder, diag);
	} else {
		err = rename_session(folder, "current", ASIDE, diag);
		folder->aside = err ? NULL : "current";
	}
	folder->made_current = !err;
	return err;
}

void operf_session_commit(struct operf_folder *folder)
{
	if (folder->aside)
		remove_session(folder, ASIDE);
	folder->aside = NULL;
}

void operf_session_undo(struct operf_folder *folder)
{
	struct op_diag why = { "" };
	int err = 0;

	if (folder->made && folder->lock_fd < 0)
		rmdir(folder->session->dir);
	/* Somebody else's daemon, which came between, keeps what is there. */
	if (folder->lock_fd < 0 || check_daemon_lock(folder, &why))
		return;
	if (folder->made) {
		remove_folder_tree(folder, folder->session->dir);
		return;
	}
	if (folder->made_current && has_session(folder, "current"))
		remove_session(folder, "current");
	if (folder->moved_current)
		err = rename_session(folder, "previous", "current", &why);
	if (!err && folder->aside)
		err = rename_session(folder, ASIDE, folder->aside, &why);
	if (err)
		say_note("operf", "%s: the sessions there have other names now",
			 folder->session->samples);
}
