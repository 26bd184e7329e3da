// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a small file whole, and replacing one in one step.
 *
 * The files lie in folders that others may write to, so what is opened is
 * checked (a FIFO would block for ever, a directory or a device is no text)
 * and what is created is created anew: mkostemp() opens with O_EXCL, which
 * refuses a symbolic link that someone has put there.
 */

#include "libop/files/op_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"

static int fail_replace(struct op_diag *diag, const char *path,
			const char *what)
{
	int err = errno;

	return op_diag_set(diag, -err, "%s: %s: %s", path, what, strerror(err));
}

static int check_file(int fd, const char *path, size_t max,
		      struct op_diag *diag)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail_replace(diag, path, "cannot read");
	if (!S_ISREG(st.st_mode))
		return op_diag_set(diag, -EINVAL, "%s: not a regular file",
				   path);
	/* Files of /proc have size 0; they are measured while reading. */
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	return 0;
}

/* The caller frees *@text on failure, too. */
static int read_whole_file(int fd, size_t max, char **text, size_t *len)
{
	size_t end = 0; /* of what may be read; a zero byte fits behind it */
	ssize_t n;

	*len = 0;
	do {
		/* Files of /proc give a page at a time, whatever there is room
		 * for. */
		if (*len == end) {
			end += *len < 4096 ? 4096 : *len;
			/* A byte beyond @max shows that the file is too large.
			 */
			if (end > max)
				end = max + 1;
			if (op_array_reserve(text, *len, end - *len + 1))
				return -ENOMEM;
		}
		n = read(fd, *text + *len, end - *len);
		if (n > 0)
			*len += n;
		if (*len > max)
			return -EFBIG;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	(*text)[*len] = '\0';
	return 0;
}

int op_file_read(const char *path, size_t max, char **text, size_t *len,
		 struct op_diag *diag)
{
	int fd, err;

	*text = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return fail_replace(diag, path, "cannot open");
	err = check_file(fd, path, max, diag);
	if (!err)
		err = read_whole_file(fd, max, text, len);
	close(fd);
	if (err == -EFBIG)
		op_diag_set(diag, err, "%s: larger than %zu bytes", path, max);
	else if (err)
		op_diag_set(diag, err, "%s: cannot read: %s", path,
			    strerror(-err));
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

/* ---- about files --------------------------------------------------------- */

bool op_is_own_file(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & 022);
}

bool op_is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

mode_t op_file_mode(mode_t mode)
{
	mode_t mask = umask(0); /* there is no other way to ask */

	umask(mask);
	return mode & ~mask;
}

/* ---- parts --------------------------------------------------------------- */

ssize_t op_file_read_next(int fd, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < len && got) {
		got = read(fd, (char *)buf + done, len - done);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			done += (size_t)got;
	}
	return (ssize_t)done;
}

int op_file_read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return -EBADMSG;
	while (len) {
		ssize_t got = pread(fd, buf, len, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		buf = (char *)buf + got;
		len -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

int op_file_write_at(int fd, const void *buf, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t put = pwrite(fd, buf, len, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -ENOSPC;
		buf = (const char *)buf + put;
		len -= (size_t)put;
		offset += (uint64_t)put;
	}
	return 0;
}

/* ---- replacing ----------------------------------------------------------- */

/* "FOLDER/.tmp-XXXXXX" for the folder that @path is in. */
static int temporary_name(char *buf, size_t len, const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;

	if (snprintf(buf, len, "%.*s.tmp-XXXXXX", folder, path) >= (int)len)
		return -ENAMETOOLONG;
	return 0;
}

int op_replace_open(struct op_replace *replace, const char *path,
		    unsigned int mode, struct op_diag *diag)
{
	int fd, err;

	replace->path = path;
	replace->is_spare = false;
	if (strlen(path) >= PATH_MAX ||
	    temporary_name(replace->tmp, sizeof(replace->tmp), path))
		return op_diag_set(diag, -ENAMETOOLONG,
				   "%s: cannot write: the path is too long",
				   path);
	fd = mkostemp(replace->tmp, O_CLOEXEC);
	if (fd < 0)
		return fail_replace(diag, path, "cannot write");
	/* Not by open(2): the umask would take bits away. */
	replace->file = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	if (replace->file)
		return 0;
	err = fail_replace(diag, path, "cannot write");
	close(fd);
	unlink(replace->tmp);
	return err;
}

int op_replace_open_spare(struct op_replace *replace, const char *path,
			  const char *spare, unsigned int mode,
			  struct op_diag *diag)
{
	int fd, err;

	replace->path = path;
	replace->is_spare = true;
	if (strlen(spare) >= sizeof(replace->tmp))
		return op_diag_set(diag, -ENAMETOOLONG,
				   "%s: cannot write: the path is too long",
				   spare);
	strcpy(replace->tmp, spare);
	fd = open(spare, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return fail_replace(diag, path, "cannot write");
	replace->file = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	if (replace->file)
		return 0;
	err = fail_replace(diag, path, "cannot write");
	close(fd);
	return err;
}

/* A spare file may be longer than what is written to it. */
static bool is_on_disk(const struct op_replace *replace)
{
	FILE *file = replace->file;

	return !fflush(file) && !ferror(file) &&
	       !(replace->is_spare && ftruncate(fileno(file), ftello(file))) &&
	       !fsync(fileno(file));
}

/* Not all file systems can exchange two names; then the spare file is gone. */
static int rename_to_place(const struct op_replace *replace)
{
	struct stat st;

	if (replace->is_spare && !lstat(replace->path, &st) &&
	    S_ISREG(st.st_mode) &&
	    !renameat2(AT_FDCWD, replace->tmp, AT_FDCWD, replace->path,
		       RENAME_EXCHANGE))
		return 0;
	return rename(replace->tmp, replace->path);
}

int op_replace_commit(struct op_replace *replace, struct op_diag *diag)
{
	bool whole;
	int err;

	errno = EIO; /* ferror() alone does not say why */
	whole = is_on_disk(replace);
	err = whole ? 0 : fail_replace(diag, replace->path, "cannot write");
	if (fclose(replace->file) && !err)
		err = fail_replace(diag, replace->path, "cannot write");
	if (!err && rename_to_place(replace))
		err = fail_replace(diag, replace->path, "cannot replace");
	if (err && !replace->is_spare)
		unlink(replace->tmp);
	return err;
}

void op_replace_abort(struct op_replace *replace)
{
	fclose(replace->file);
	if (!replace->is_spare)
		unlink(replace->tmp);
}
