/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_PASS_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_PASS_H

/* Messages between the daemon and processes that read for it. */

#include <stdbool.h>
#include <stddef.h>

/* Send @len @bytes with descriptor @fd, if that is not -1. Returns 0 or -errno.
 */
int opd_send_file(int sock, void *bytes, size_t len, int fd);

/* The same from the other side: *@fd is the caller's, or -1. False, and no
 * descriptor, at the end or for a message that is shorter. */
bool opd_receive_file(int sock, void *bytes, size_t len, int *fd);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_PASS_H */
