/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_POLICY_H
#define LIBOP_SESSION_OP_POLICY_H

/*
 * The policy of root for the samples that ordinary users may have of a daemon
 * that profiles the machine: a file of "key = value" lines (op_config.h).
 *
 *	mine = none | all | group:NAME | users NAME,NAME...
 *		who may have the samples of their own processes; default: none
 *	kernel = yes | no
 *		whether these name functions of the kernel; default: no
 *
 * Names may be numbers. The file must be root's and not writable by others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

#define OP_POLICY_FILE "/etc/oprofile/policy"

enum op_policy_mine {
	OP_MINE_NONE,
	OP_MINE_ALL,
	OP_MINE_GROUP,
	OP_MINE_USERS,
};

/* All zero lets nobody have anything. */
struct op_policy {
	enum op_policy_mine mine;
	gid_t group; /* OP_MINE_GROUP: its members may */
	uid_t *users; /* OP_MINE_USERS; owned */
	size_t nr_users;
	bool kernel;
};

/*
 * Fill @policy from the file @path. Returns 0; -ENOENT without one (no reason
 * in @diag); -EPERM when others than root may have written it, -EINVAL for what
 * makes no sense, -errno, all with the reason; then nobody may have anything.
 * op_policy_release() in any case.
 */
int op_policy_read(struct op_policy *policy, const char *path,
		   struct op_diag *diag);
void op_policy_release(struct op_policy *policy);

/* Whether @user, in @nr_groups @groups, may have the samples of their own
 * processes. */
bool op_policy_lets(const struct op_policy *policy, uid_t user,
		    const gid_t *groups, size_t nr_groups);

#endif /* LIBOP_SESSION_OP_POLICY_H */
