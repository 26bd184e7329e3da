// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/files/op_lock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>

#include "libop/base/op_clock.h"
#include "libop/files/op_config.h"

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

bool op_process_is_gone(const char *pid)
{
	uint64_t number;

	return !op_parse_u64(pid, &number) && number > 0 && number <= INT_MAX &&
	       kill((pid_t)number, 0) && errno == ESRCH;
}
