// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/files/op_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "libop/files/op_file.h"

static int copy_in_kernel(int to, int from, uint64_t len)
{
	loff_t at = 0;
	ssize_t done;

	while ((uint64_t)at < len) {
		done = copy_file_range(from, &at, to, NULL, len - (uint64_t)at,
				       0);
		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO; /* it was cut meanwhile */
	}
	return 0;
}

/* Where copy_file_range(2) cannot: between some file systems. */
static int copy_by_hand(int to, int from, uint64_t len)
{
	char buf[65536];
	uint64_t at = 0;
	ssize_t got;
	int err;

	if (ftruncate(to, 0))
		return -errno;
	while (at < len) {
		got = pread(from, buf, sizeof(buf), (off_t)at);
		if (got <= 0)
			return got ? -errno : -EIO;
		err = op_file_write_at(to, buf, (size_t)got, at);
		if (err)
			return err;
		at += (uint64_t)got;
	}
	return 0;
}

int op_copy_file(int from, const struct stat *st, const char *path)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	char tmp[PATH_MAX + 8];
	uint64_t len = (uint64_t)st->st_size;
	int err, to;

	snprintf(tmp, sizeof(tmp), "%s.new", path);
	unlink(tmp);
	to = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	err = copy_in_kernel(to, from, len);
	if (err)
		err = copy_by_hand(to, from, len);
	if (!err && (fchmod(to, st->st_mode & 0444) || futimens(to, times) ||
		     rename(tmp, path)))
		err = -errno;
	close(to);
	if (err)
		unlink(tmp);
	return err;
}
