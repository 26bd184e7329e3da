// SPDX-License-Identifier: GPL-2.0-or-later
/* See sendmsg(2) and unix(7), SCM_RIGHTS. */

#include "daemon/source/untrusted/opd_pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int opd_send_file(int sock, void *bytes, size_t len, int fd)
{
	struct iovec part = { bytes, len };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* There is room for one descriptor, the kernel closes all others: CMSG_SPACE()
 * would be room for two. */
bool opd_receive_file(int sock, void *bytes, size_t len, int *fd)
{
	struct iovec part = { bytes, len };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_LEN(sizeof(int)) };
	const struct cmsghdr *head;
	ssize_t got;

	do
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	*fd = -1;
	head = CMSG_FIRSTHDR(&msg);
	if (got >= 0 && head && head->cmsg_level == SOL_SOCKET &&
	    head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	if (got == (ssize_t)len)
		return true;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return false;
}
