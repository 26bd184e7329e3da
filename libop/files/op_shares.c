// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/files/op_shares.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_proc.h"

void op_shares_init(struct op_shares *shares, uint64_t size)
{
	*shares = (struct op_shares){ .size = size };
}

void op_shares_release(struct op_shares *shares)
{
	free(shares->list);
	op_hash_release(&shares->index);
	memset(shares, 0, sizeof(*shares));
}

static struct op_share *find_share(struct op_shares *shares, uint32_t user)
{
	uint64_t hash = op_hash_mix(shares->index.seed, user);
	uint32_t number;

	op_hash_each(&shares->index, hash, number)
		if (shares->list[number - 1].user == user)
			return &shares->list[number - 1];
	return NULL;
}

/* NULL without memory. */
static struct op_share *make_share(struct op_shares *shares, uint32_t user)
{
	struct op_share *share;

	/* The seed is there from the first user on. */
	if (op_hash_reserve(&shares->index, shares->nr + 1) ||
	    op_array_reserve(&shares->list, shares->nr, 1))
		return NULL;
	share = &shares->list[shares->nr++];
	*share = (struct op_share){ .user = user };
	op_hash_add(&shares->index, op_hash_mix(shares->index.seed, user),
		    (uint32_t)shares->nr);
	return share;
}

static bool has_share(uint32_t user)
{
	return user && user != geteuid();
}

bool op_shares_take(struct op_shares *shares, uint32_t user, uint64_t amount)
{
	uint64_t left = shares->size - shares->size / 4 - shares->taken;
	struct op_share *share;

	if (!has_share(user))
		return true;
	share = find_share(shares, user);
	if (!share)
		share = make_share(shares, user);
	if (!share || amount > left || share->taken + amount > left / 2)
		return false;
	share->taken += amount;
	shares->taken += amount;
	return true;
}

void op_shares_give_back(struct op_shares *shares, uint32_t user,
			 uint64_t amount)
{
	if (!has_share(user))
		return;
	find_share(shares, user)->taken -= amount;
	shares->taken -= amount;
}

uint32_t op_user_of_process(const char *proc, uint32_t pid)
{
	uint32_t user = OP_USER_UNKNOWN;

	if (pid)
		op_proc_status(proc, pid, "Uid:", &user);
	return user;
}
