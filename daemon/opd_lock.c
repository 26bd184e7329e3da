// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_lock.h"

#include <errno.h>
#include <sys/file.h>

#include "daemon/opd_clock.h"

#define PAUSE_MS 10

int opd_lock(int fd, unsigned int wait_ms, const struct opd_clock *clock)
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
