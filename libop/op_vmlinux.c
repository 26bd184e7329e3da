// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/op_vmlinux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int op_vmlinux_check(const char *path, const char *instead,
		     struct op_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[4] = "";
	ssize_t got;

	if (fd < 0)
		return op_diag_set(diag, -errno,
				   "--vmlinux=%s: %s; give the path of an "
				   "uncompressed kernel, or %s",
				   path, strerror(errno), instead);
	got = read(fd, magic, sizeof(magic));
	close(fd);
	if (got == sizeof(magic) && !memcmp(magic, "\177ELF", sizeof(magic)))
		return 0;
	return op_diag_set(diag, -ENOEXEC,
			   "--vmlinux=%s: not an ELF file; give the "
			   "uncompressed vmlinux, not vmlinuz, or %s",
			   path, instead);
}
