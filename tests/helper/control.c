// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * control SOCKET REQUEST: asks the daemon at SOCKET, waits until it is done
 * and prints its answer.
 *
 * control --crowd SOCKET NR: connects NR times, waits until each connection has
 * something to read, reads nothing, says so, and stays until it or the script
 * that started it is killed.
 */

#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libop/session/op_control.h"

#define TIMEOUT_MS 120000

static int connect_once(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(2, "%s: too long", path);
	strcpy(address.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "%s", path);
	return fd;
}

static void crowd(const char *path, int nr)
{
	int *fds = calloc((size_t)nr, sizeof(*fds));
	struct rlimit files;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!fds || getrlimit(RLIMIT_NOFILE, &files))
		err(2, "open files");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files))
		err(2, "open files");
	for (int i = 0; i < nr; i++)
		fds[i] = connect_once(path);
	for (int i = 0; i < nr; i++) {
		struct pollfd p = { .fd = fds[i], .events = POLLIN };

		while (poll(&p, 1, -1) < 0)
			;
	}
	printf("%d connected\n", nr);
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static char reply[65536];
	struct op_diag diag = { "" };

	if (argc == 4 && !strcmp(argv[1], "--crowd"))
		crowd(argv[2], atoi(argv[3]));
	if (argc != 3)
		errx(2, "usage: control SOCKET REQUEST");
	if (op_control_call(argv[1], argv[2], reply, sizeof(reply), TIMEOUT_MS,
			    &diag))
		errx(1, "%s: %s", argv[2], diag.text);
	fputs(reply, stdout);
	return 0;
}
