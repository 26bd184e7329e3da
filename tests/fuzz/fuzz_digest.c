// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Digests of damaged binaries: whatever the headers say, no more is written
 * than a little beyond what there was, and of a digest there is a digest.
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpp/symbols/elf_digest.h"
#include "libpp/archive/sums.h"

static int file_of(const uint8_t *data, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	return fd;
}

static void digest(int from, size_t len, int depth)
{
	int to = file_of(NULL, 0), err = pp_elf_digest(from, to);
	struct stat st;

	if (fstat(to, &st))
		abort();
	/* Blocks: what is kept may have to stay far behind. */
	if ((uint64_t)st.st_blocks * 512 > 2 * len + (1 << 20))
		abort();
	if (err && err != -ENOEXEC)
		abort();
	if (!err && depth)
		digest(to, (size_t)st.st_size, depth - 1);
	close(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = file_of(data, len);

	digest(fd, len, 1);
	close(fd);
	return 0;
}
