// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/files/op_folder.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

int op_make_folder(const char *path, mode_t mode)
{
	struct stat st;

	if (!mkdir(path, mode))
		return 0;
	if (errno != EEXIST || stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

/* Make the folder @path, whose parents may be missing; @path is written to. */
static int make_with_parents(char *path, mode_t mode)
{
	char *slash = strrchr(path, '/');
	int err = op_make_folder(path, mode);

	if (err != -ENOENT || !slash || slash == path)
		return err;
	*slash = '\0';
	err = make_with_parents(path, mode);
	*slash = '/';
	return err ?: op_make_folder(path, mode);
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
	return make_with_parents(folder, mode);
}
