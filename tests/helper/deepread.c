// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deepread MIB: reads so much of /dev/zero, all of the time in the kernel, with
 * 16 KiB of its stack in use, each word of which may be a return address.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB (1 << 20)

static char to[MIB];

__attribute__((noinline)) static int read_all(long nr, const void **stack)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < 2048; i++)
		stack[i] = stack + i % 2;
	while (nr > 0 && read(fd, to, MIB) == MIB)
		nr--;
	return nr != 0;
}

int main(int argc, char **argv)
{
	const void *stack[2048];

	return read_all(argc > 1 ? atol(argv[1]) : 1, stack);
}
