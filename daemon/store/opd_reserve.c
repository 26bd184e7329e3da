// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/store/opd_reserve.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "libop/session/op_ledger.h"
#include "libop/session/op_session.h"

/* The new ledger, a folder's entry for it, and what the log grows meanwhile. */
#define RESERVE_BYTES 16384
/* Less than this holds no ledger. */
#define RESERVE_LEAST 4096

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
	off_t bytes = RESERVE_BYTES;

	if (fd < 0)
		return;
	/* A part of it, where others were quicker to take the rest. */
	while (bytes >= RESERVE_LEAST && posix_fallocate(fd, 0, bytes))
		bytes /= 2;
	if (bytes < RESERVE_LEAST)
		unlink(path.text);
	close(fd);
}

int opd_reserve_write(const struct op_session *session,
		      const struct op_ledger *ledger, const char *path)
{
	struct path reserve = path_of(session);
	int err = op_ledger_write(ledger, path, reserve.text, NULL);

	/* The old ledger may be shorter. */
	opd_reserve_make(session);
	return err;
}

void opd_reserve_free(const struct op_session *session)
{
	unlink(path_of(session).text);
}
