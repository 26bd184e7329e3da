// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opimport_input.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/op_open.h"
#include "libpp/symbols/unpack.h"

/* Have the input be what is packed in its file, if it is packed. */
static int unpack_input(struct opimport_input *input)
{
	struct stat st;
	int unpacked, err;

	if (fstat(input->fd, &st))
		return -errno;
	err = pp_unpack(input->fd, 0, (uint64_t)st.st_size, &unpacked);
	if (err)
		return err == -ENOENT ? 0 : err;
	close(input->fd);
	input->fd = unpacked;
	input->was_packed = true;
	return 0;
}

void opimport_input_open(struct opimport_input *input, const char *path)
{
	*input = (struct opimport_input){ .path = path, .fd = -1 };
	if (!strcmp(path, "-"))
		return;
	input->fd = op_open_regular(path);
	input->err = input->fd < 0 ? -errno : unpack_input(input);
	if (input->err)
		opimport_input_close(input);
}

void opimport_input_close(struct opimport_input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	input->fd = -1;
}
