// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int opd_notify(const char *state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len;
	int err = 0;
	int fd;

	if (!name)
		return 0;
	len = strlen(name);
	if ((*name != '/' && *name != '@') || len < 2 ||
	    len >= sizeof(addr.sun_path))
		return -EINVAL;
	memcpy(addr.sun_path, name, len);
	if (*name == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* An abstract name is as long as the address: no '\0' ends it. */
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		   (struct sockaddr *)&addr,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) <
	    0)
		err = -errno;
	close(fd);
	return err;
}

int opd_notify_ready(void)
{
	char state[64];

	/* The daemon is a child of the process that the manager started. */
	sprintf(state, "MAINPID=%ld\nREADY=1", (long)getpid());
	return opd_notify(state);
}
