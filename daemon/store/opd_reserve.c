// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/store/opd_reserve.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "libop/op_session.h"

/* The new ledger, and a folder's entry for it. */
#define RESERVE_BYTES 16384

struct path {
	char text[sizeof(((struct op_session *)0)->samples) + 16];
};

static struct path path_of(const struct op_session *session)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/.reserve", session->samples);
	return path;
}

void opd_reserve_make(const struct op_session *session)
{
	struct path path = path_of(session);
	int fd = open(path.text, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		      0600);

	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, RESERVE_BYTES))
		unlink(path.text);
	close(fd);
}

bool opd_reserve_use(const struct op_session *session)
{
	return !unlink(path_of(session).text);
}
