// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/op_lock.h"

#include <errno.h>
#include <sys/file.h>

#include "libop/op_clock.h"

#define PAUSE_MS 10

int op_lock(int fd, unsigned int wait_ms, const struct op_clock *clock)
{
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		int err = errno == EWOULDBLOCK ? -EBUSY : -errno;

		if ((err != -EBUSY && err != -EINTR) || wait_ms < PAUSE_MS)
			return err;
		clock->pause(PAUSE_MS);
		wait_ms -= PAUSE_MS;
	}
	return 0;
}
