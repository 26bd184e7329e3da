// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of three folders below samples/ one move each: current becomes previous,
 * and previous becomes ASIDE, which is removed at the end. A current session
 * without samples is not worth a previous one that has some: it becomes ASIDE
 * itself. What a run that was killed has left there, the next one clears up.
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

#include "utils/operf/operf.h"

#define DEFAULT_DIR "oprofile_data"
#define ASIDE ".replaced"
#define LOCK_TRIES 10

#define PATH_LEN (sizeof(((struct op_session *)0)->samples) + 64)

void operf_session_init(struct operf_folder *folder)
{
	memset(folder, 0, sizeof(*folder));
	folder->lock_fd = -1;
}

/* ---- the folder ---------------------------------------------------------- */

static int make_default(struct operf *operf)
{
	struct stat st;

	if (!mkdir(DEFAULT_DIR, 0755))
		operf->folder.made = true;
	else if (errno != EEXIST)
		return op_diag_set(&operf->diag, -errno,
				   "./" DEFAULT_DIR ": cannot make it: %s; go "
				   "to a folder that you may write to, or give "
				   "--session-dir",
				   strerror(errno));
	operf->folder.is_default = true;
	if (!stat(DEFAULT_DIR, &st) && S_ISDIR(st.st_mode))
		return 0;
	return op_diag_set(&operf->diag, -ENOTDIR,
			   "./" DEFAULT_DIR ": is not a folder; move it away, "
			   "or give --session-dir");
}

static int check_given(const char *dir, struct op_diag *diag)
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

static int make_folder(const char *path, struct op_diag *diag)
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
static const char *read_pid(int fd, char *pid, size_t len)
{
	ssize_t n = pread(fd, pid, len - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return *pid ? pid : "?";
}

/* Whether @path is still the file behind @fd: who undoes a run removes it. */
static bool is_file(int fd, const char *path)
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

static int take_own_lock(struct operf *operf, const char *path)
{
	char pid[16];
	int fd = open_lock(path, O_RDWR | O_CREAT, &operf->diag);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		op_diag_set(&operf->diag, -EBUSY,
			    "%s: another operf, pid %s, is at work here; wait "
			    "for its end, or give another --session-dir",
			    operf->session.dir, read_pid(fd, pid, sizeof(pid)));
		close(fd);
		return -EBUSY;
	}
	if (!is_file(fd, path)) {
		close(fd);
		return -EAGAIN;
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0) {
		close(fd);
		return op_diag_set(&operf->diag, -EIO, "%s: cannot write",
				   path);
	}
	operf->folder.lock_fd = fd;
	return 0;
}

/* A daemon that is at work here now, such as one of opcontrol's. */
static int check_daemon_lock(struct operf *operf)
{
	int fd = open_lock(operf->session.lock, O_RDONLY, &operf->diag);
	char pid[16];
	int err = 0;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = op_diag_set(&operf->diag, -EBUSY,
				  "%s: a daemon, pid %s, is at work here; end "
				  "it with opcontrol --shutdown, or give "
				  "another --session-dir",
				  operf->session.dir,
				  read_pid(fd, pid, sizeof(pid)));
	close(fd);
	return err;
}

static int lock_folder(struct operf *operf)
{
	char path[sizeof(operf->session.run) + 16];
	int err = make_folder(operf->session.run, &operf->diag);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/operf", operf->session.run);
	for (int i = 0; i < LOCK_TRIES; i++) {
		err = take_own_lock(operf, path);
		if (err != -EAGAIN)
			break;
	}
	if (err == -EAGAIN)
		op_diag_set(&operf->diag, err,
			    "%s: cannot be locked; try again", path);
	return err ? err : check_daemon_lock(operf);
}

int operf_session_open(struct operf *operf)
{
	const char *dir = operf->options.session_dir;
	int err = dir ? check_given(dir, &operf->diag) : make_default(operf);

	if (!err)
		err = op_session_init(&operf->session, dir, &operf->diag);
	if (!err)
		err = lock_folder(operf);
	if (!err)
		err = make_folder(operf->session.samples, &operf->diag);
	if (!err)
		operf_say(operf, "the session is in %s", operf->session.dir);
	return err;
}

void operf_session_close(struct operf_folder *folder)
{
	if (folder->lock_fd < 0)
		return;
	if (ftruncate(folder->lock_fd, 0))
		operf_note("the lock file still has our pid: %s",
			   strerror(errno));
	close(folder->lock_fd);
	folder->lock_fd = -1;
}

/* ---- moving samples ------------------------------------------------------ */

static void path_of(const struct operf *operf, const char *name, char *path)
{
	snprintf(path, PATH_LEN, "%s/%s", operf->session.samples, name);
}

static bool is_there(const struct operf *operf, const char *name)
{
	char path[PATH_LEN];
	struct stat st;

	path_of(operf, name, path);
	return !lstat(path, &st);
}

static bool has_samples(const struct operf *operf)
{
	DIR *dir = opendir(operf->session.current);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return errno != ENOENT;
	while (!found && (entry = readdir(dir)))
		found = op_session_holds_samples(entry->d_name);
	closedir(dir);
	return found;
}

static int move(struct operf *operf, const char *from, const char *to)
{
	char old[PATH_LEN], new[PATH_LEN];

	path_of(operf, from, old);
	path_of(operf, to, new);
	operf_say(operf, "rename %s to %s", old, new);
	if (!rename(old, new))
		return 0;
	return op_diag_set(&operf->diag, -errno,
			   "%s: cannot become %s: %s; remove one of them, or "
			   "give another --session-dir",
			   old, new, strerror(errno));
}

static bool remove_entry(const FTSENT *entry)
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
static void remove_tree(const struct operf *operf, char *path)
{
	char *const paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL, NULL);
	FTSENT *entry;
	int err = tree ? 0 : errno;

	operf_say(operf, "remove %s", path);
	while (tree && (entry = fts_read(tree)))
		if (!remove_entry(entry) && !err)
			err = errno;
	if (tree)
		fts_close(tree);
	if (err)
		operf_note("%s: cannot be removed: %s", path, strerror(err));
}

static void remove_samples(const struct operf *operf, const char *name)
{
	char path[PATH_LEN];

	path_of(operf, name, path);
	remove_tree(operf, path);
}

/* A run before was killed between two moves, or before it removed ASIDE. */
static int clear_up(struct operf *operf)
{
	if (!is_there(operf, ASIDE))
		return 0;
	if (!is_there(operf, "previous"))
		return move(operf, ASIDE, "previous");
	remove_samples(operf, ASIDE);
	return 0;
}

static int keep_current(struct operf *operf)
{
	struct operf_folder *folder = &operf->folder;
	int err = 0;

	if (is_there(operf, "previous")) {
		err = move(operf, "previous", ASIDE);
		folder->aside = err ? NULL : "previous";
	}
	if (!err)
		err = move(operf, "current", "previous");
	folder->moved_current = !err;
	return err;
}

static int discard_current(struct operf *operf)
{
	int err = move(operf, "current", ASIDE);

	operf->folder.aside = err ? NULL : "current";
	return err;
}

int operf_session_rotate(struct operf *operf)
{
	struct operf_folder *folder = &operf->folder;
	int err = clear_up(operf);

	if (err)
		return err;
	folder->made_current = !is_there(operf, "current");
	if (folder->made_current || operf->options.append)
		return 0;
	err = has_samples(operf) ? keep_current(operf) : discard_current(operf);
	folder->made_current = !err;
	return err;
}

void operf_session_commit(struct operf *operf)
{
	if (operf->folder.aside)
		remove_samples(operf, ASIDE);
	operf->folder.aside = NULL;
}

static void undo_moves(struct operf *operf)
{
	const struct operf_folder *folder = &operf->folder;
	int err = 0;

	if (folder->moved_current)
		err = move(operf, "previous", "current");
	if (!err && folder->aside)
		err = move(operf, ASIDE, folder->aside);
	if (err)
		operf_note("%s: the sessions there have other names now",
			   operf->session.samples);
}

void operf_session_undo(struct operf *operf)
{
	struct operf_folder *folder = &operf->folder;

	if (folder->made && folder->lock_fd < 0)
		rmdir(operf->session.dir);
	/* Somebody else's daemon, which came between, keeps what is there. */
	if (folder->lock_fd < 0 || check_daemon_lock(operf))
		return;
	if (folder->made) {
		remove_tree(operf, operf->session.dir);
		return;
	}
	if (folder->made_current && is_there(operf, "current"))
		remove_samples(operf, "current");
	undo_moves(operf);
}
