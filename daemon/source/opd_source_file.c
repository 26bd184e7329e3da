// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recorded stream: a file, a pipe, or standard input. Its beginning is
 * looked at before anything else is done.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "libop/files/op_file.h"

/* Fill head as far as the file goes. */
static int read_head(struct opd_source *source)
{
	ssize_t got = op_file_read_next(source->fd, source->head,
					sizeof(source->head));

	source->head_len = got < 0 ? 0 : (size_t)got;
	return got < 0 ? (int)got : 0;
}

static int check_head(const struct opd_source *source, const char *path,
		      struct op_diag *diag)
{
	uint64_t words[sizeof(source->head) / sizeof(uint64_t)];
	struct op_diag why = { "" };

	memcpy(words, source->head, sizeof(words));
	switch (opd_stream_begins(words, source->head_len / sizeof(words[0]),
				  &why)) {
	case 0:
		return 0;
	case -EAGAIN:
		return op_diag_set(
			diag, -EPROTO,
			"%s: too short for a recorded stream; record it again",
			path);
	default:
		return op_diag_set(diag, -EPROTO, "%s: %s", path, why.text);
	}
}

static int file_open(struct opd_source *source, const char *path,
		     struct op_diag *diag)
{
	int err;

	if (!path || !*path)
		return op_diag_set(
			diag, -EINVAL,
			"file: no path; give --source=file:PATH, or - for standard input");
	if (!strcmp(path, "-"))
		source->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		source->fd = open(path, O_RDONLY | O_CLOEXEC);
	err = source->fd < 0 ? -errno : read_head(source);
	if (err)
		return op_diag_set(diag, err, "%s: %s; give a recorded stream",
				   path, strerror(-err));
	snprintf(source->name, sizeof(source->name), "file");
	return check_head(source, path, diag);
}

static void file_close(struct opd_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
}

static ssize_t file_read(struct opd_source *source, void *buf, size_t len)
{
	size_t left = source->head_len - source->head_at;
	ssize_t got;

	if (left) {
		if (len > left)
			len = left;
		memcpy(buf, source->head + source->head_at, len);
		source->head_at += len;
		return (ssize_t)len;
	}
	do
		got = read(source->fd, buf, len);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

const struct opd_source_ops opd_source_file = {
	.name = "file",
	.ends = true,
	.feature_samples = true,
	.open = file_open,
	.close = file_close,
	.read = file_read,
};
