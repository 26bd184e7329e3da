// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/op_folder.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Make the folder @path, whose parents may be missing; @path is written to. */
static int make_folder(char *path, mode_t mode)
{
	char *slash = strrchr(path, '/');
	int err;

	if (!mkdir(path, mode) || errno == EEXIST)
		return 0;
	if (errno != ENOENT || !slash || slash == path)
		return -errno;
	*slash = '\0';
	err = make_folder(path, mode);
	*slash = '/';
	if (!err && mkdir(path, mode) && errno != EEXIST)
		err = -errno;
	return err;
}

int op_make_parents(const char *path, mode_t mode)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return 0;
	if ((size_t)(slash - path) >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	return make_folder(folder, mode);
}
