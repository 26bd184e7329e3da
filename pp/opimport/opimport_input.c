// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A pipe cannot be looked into and then read by another program. But tee(2)
 * copies what is in a pipe to another one, and leaves it there: so what perf
 * streams is known by its first bytes before any is read.
 */

#include "pp/opimport/opimport_input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libop/files/op_file.h"
#include "libop/files/op_open.h"
#include "libpp/symbols/unpack.h"
#include "pp/opimport/opimport_profile.h"

#define SPOOLED_MAX (UINT64_C(8) << 30) /* bytes */
#define STREAM_HEADER 16 /* bytes, which the second half of it says */

/* ---- what is in a pipe --------------------------------------------------- */

/* The first bytes in the pipe @fd, which are waited for. Returns how many; 0
 * when that cannot be known. */
static size_t peek_pipe(int fd, uint8_t head[STREAM_HEADER])
{
	int copy[2];
	ssize_t got;

	if (pipe2(copy, O_CLOEXEC))
		return 0;
	do
		got = tee(fd, copy[1], STREAM_HEADER, 0);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		got = op_file_read_next(copy[0], head, (size_t)got);
	close(copy[0]);
	close(copy[1]);
	return got > 0 ? (size_t)got : 0;
}

/* Whether it is a pipe that another program can open by our descriptor: to open
 * one that has a name is to wait for a writer, who may have ended. */
static bool is_nameless_pipe(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PIPEFS_MAGIC;
}

/* Whether the pipe @fd has what "perf record -o -" writes. */
static bool is_perf_stream(int fd)
{
	uint8_t head[STREAM_HEADER];
	uint64_t len;

	if (peek_pipe(fd, head) < sizeof(head))
		return false;
	memcpy(&len, head + 8, sizeof(len));
	return !memcmp(head, "PERFILE2", 8) && len == STREAM_HEADER;
}

/* ---- a file without a name ----------------------------------------------- */

static const char *spool_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/* Copy the rest of @from. Returns 0 or -errno; *@of_spool is set if @to failed.
 */
static int copy_to_spool(int to, int from, bool *of_spool)
{
	uint8_t bytes[65536];
	uint64_t at = 0;
	ssize_t got;
	int err = 0;

	while (!err && (got = op_file_read_next(from, bytes, sizeof(bytes)))) {
		if (got < 0)
			return (int)got;
		if (at + (uint64_t)got > SPOOLED_MAX)
			return -EFBIG;
		err = op_file_write_at(to, bytes, (size_t)got, at);
		at += (uint64_t)got;
	}
	*of_spool = err != 0;
	return err ?: at ? 0 : -ENODATA;
}

/* Copy the input to a file without a name, which becomes the input. */
static int spool_input(struct opimport_input *input)
{
	char path[PATH_MAX];
	int fd = -1, err = -ENAMETOOLONG;

	if (snprintf(path, sizeof(path), "%s/opimport-XXXXXX", spool_folder()) <
	    (int)sizeof(path)) {
		fd = mkostemp(path, O_CLOEXEC);
		err = -errno;
	}
	if (fd < 0) {
		input->was_spooled = true;
		return err;
	}
	unlink(path);
	err = copy_to_spool(fd, input->fd, &input->was_spooled);
	close(input->fd);
	input->fd = fd;
	input->is_ours = true;
	return err;
}

/* ---- any input ----------------------------------------------------------- */

/* Open @path, "-" for standard input. A device may do something when it is
 * opened, so only files and pipes are. Returns a descriptor or -errno. */
static int open_input(const char *path)
{
	struct stat st;
	int at, fd;

	if (!strcmp(path, "-")) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	at = open(path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return -errno;
	if (fstat(at, &st))
		fd = -1;
	else if (S_ISFIFO(st.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	else
		fd = op_reopen_regular(at);
	fd = fd < 0 ? -errno : fd;
	close(at);
	return fd;
}

static int prepare_input(struct opimport_input *input)
{
	struct stat st;
	int err = 0, unpacked;

	if (fstat(input->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EINVAL;
	input->is_stream =
		S_ISFIFO(st.st_mode) &&
		(!strcmp(input->path, "-") || is_nameless_pipe(input->fd)) &&
		is_perf_stream(input->fd);
	if (input->is_stream)
		return 0;
	/* Somebody may have read the beginning of standard input. */
	if (!S_ISREG(st.st_mode) || lseek(input->fd, 0, SEEK_CUR) != 0)
		err = spool_input(input);
	if (!err && fstat(input->fd, &st))
		err = -errno;
	if (err)
		return err;
	err = pp_unpack(input->fd, 0, (uint64_t)st.st_size, &unpacked);
	if (err)
		return err == -ENOENT ? 0 : err; /* it is not packed */
	close(input->fd);
	input->fd = unpacked;
	input->is_ours = true;
	return 0;
}

void opimport_input_open(struct opimport_input *input, const char *path)
{
	*input = (struct opimport_input){ .path = path };
	input->fd = open_input(path);
	input->err = input->fd < 0 ? input->fd : prepare_input(input);
	if (input->err)
		opimport_input_close(input);
}

void opimport_input_close(struct opimport_input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	input->fd = -1;
}

static const char *why_not_read(int err)
{
	switch (err) {
	case -EINVAL:
		return "is neither a file nor a pipe";
	case -ENOEXEC:
		return "is packed and damaged";
	case -ENODATA:
		return "is empty";
	case -EFBIG:
		return "is too large";
	default:
		return strerror(-err);
	}
}

int opimport_input_refuse(const struct opimport_input *input, int err,
			  struct op_diag *diag)
{
	if (input->was_spooled)
		return op_diag_set(
			diag, err,
			"%s: cannot be held in %s: %s; name another folder with TMPDIR, or give a file instead of a pipe",
			input->path, spool_folder(), strerror(-err));
	return op_diag_set(diag, err, "%s: %s; " OPIMPORT_CURE, input->path,
			   why_not_read(err));
}
