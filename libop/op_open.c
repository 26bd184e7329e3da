// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/op_open.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int op_open_regular(const char *path)
{
	int at = open(path, O_PATH | O_CLOEXEC);
	char by_fd[64];
	struct stat st;
	int fd = -1;

	if (at < 0)
		return -1;
	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", at);
	if (!fstat(at, &st) && S_ISREG(st.st_mode))
		fd = open(by_fd, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(at);
	return fd;
}

int op_open_mapped(uint32_t tgid, uint64_t start, uint64_t end)
{
	char path[96];

	snprintf(path, sizeof(path),
		 "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, tgid,
		 start, end);
	return op_open_regular(path);
}
