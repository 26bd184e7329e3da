/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_CGROUP_H
#define LIBOP_KERNEL_OP_CGROUP_H

/*
 * The name of a cgroup for people: the container or the unit of systemd that
 * its path stands for.
 */

#include <stddef.h>

#define OP_CGROUP_NAME_MAX 256 /* bytes with the zero byte */

/*
 * Write a short name of the cgroup @path, "/..." from the root, to @buf of
 * @len bytes:
 *
 *	docker:ID podman:ID containerd:ID lxc:NAME
 *		a container, by the first 12 digits of its number
 *	pod:UID/ID	a container in a pod of kubernetes, by the first
 *		8 digits of the pod's number; pod:UID is the pod
 *	NAME.service	a unit of systemd, its \xXX turned back, and
 *		what it has below itself; so are scopes, slices and
 *		the like
 *	/		the root
 *
 * A path of any other form is its own name. Control bytes become '?', and what
 * is too long is cut.
 */
void op_cgroup_name(const char *path, char *buf, size_t len);

#endif /* LIBOP_KERNEL_OP_CGROUP_H */
