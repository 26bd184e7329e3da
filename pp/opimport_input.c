// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opimport_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpp/symbols/unpack.h"

static int open_input(const char *path, struct stat *st)
{
	/* A FIFO must not be waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : 0;

	if (!err && fstat(fd, st))
		err = -errno;
	if (!err && !S_ISREG(st->st_mode))
		err = -EINVAL;
	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}

void opimport_input_open(struct opimport_input *input, const char *path)
{
	struct stat st;
	int fd, err, unpacked;

	*input = (struct opimport_input){ .path = path, .fd = -1 };
	if (!strcmp(path, "-"))
		return;
	fd = open_input(path, &st);
	if (fd < 0) {
		input->err = fd;
		return;
	}
	err = pp_unpack(fd, 0, (uint64_t)st.st_size, &unpacked);
	if (err == -ENOENT) {
		input->fd = fd;
		return;
	}
	close(fd);
	input->err = err;
	input->was_packed = !err;
	input->fd = err ? -1 : unpacked;
}

void opimport_input_close(struct opimport_input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	input->fd = -1;
}
