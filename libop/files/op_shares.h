/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_SHARES_H
#define LIBOP_FILES_OP_SHARES_H

/*
 * Room that is for all users and that any user can fill. An ordinary user gets
 * no more than half of what ordinary users have left of three quarters of it:
 * one who takes all that he can has a quarter, and there is room for others.
 * Root, and the user of this process, have no share: their only bound is the
 * room itself, which the caller looks after.
 *
 * module/image/image_share.h does the same in the kernel.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"

/* Stands for all users of whom nothing is known. */
#define OP_USER_UNKNOWN UINT32_MAX

struct op_shares {
	uint64_t size; /* of the room */
	uint64_t taken; /* by ordinary users */
	struct op_share {
		uint32_t user;
		uint64_t taken;
	} * list; /* an op_array */
	size_t nr;
	struct op_hash index; /* of list, by user */
};

void op_shares_init(struct op_shares *shares, uint64_t size);
void op_shares_release(struct op_shares *shares);

/* Whether @amount more fits into the share of @user: then it is taken. */
bool op_shares_take(struct op_shares *shares, uint32_t user, uint64_t amount);

/* Give back what @user has taken. */
void op_shares_give_back(struct op_shares *shares, uint32_t user,
			 uint64_t amount);

/*
 * The real user of process @pid, by @proc, which is "/proc" but for tests: no
 * process changes that without privileges. OP_USER_UNKNOWN if there is no such
 * process; then the owner of a file that is here, by its path, may do. But
 * whoever makes a file system, or mounts something in a namespace, chooses
 * owners and paths in it.
 */
uint32_t op_user_of_process(const char *proc, uint32_t pid);

#endif /* LIBOP_FILES_OP_SHARES_H */
