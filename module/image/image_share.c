// SPDX-License-Identifier: GPL-2.0
/*
 * Shares are found by a hash of their user, and stay as long as images do. One
 * lock guards them all: it is taken for new images only, not for each sample.
 */

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "image/image_share.h"

/* Bytes of names for each image, 128 MiB for 1 << 18. */
#define NAME_BYTES 512
/* The buckets fit a user who has a range of some 65,536 numbers. */
#define BUCKET_BITS 10

struct image_share {
	struct hlist_node node;
	u32 uid;
	long taken[NR_IMAGE_ROOMS];
};

static DEFINE_RAW_SPINLOCK(share_lock); /* all that follows, and taken[] */
static struct hlist_head share_buckets[1 << BUCKET_BITS];

struct room {
	long size;
	long used;
	long of_users; /* the part of ordinary users */
};

static struct room rooms[NR_IMAGE_ROOMS];

static struct hlist_head *shares_of_bucket(u32 uid)
{
	return &share_buckets[hash_32(uid, BUCKET_BITS)];
}

static struct image_share *find_share(u32 uid)
{
	struct image_share *share;

	hlist_for_each_entry(share, shares_of_bucket(uid), node)
		if (share->uid == uid)
			return share;
	return NULL;
}

void image_shares_setup(unsigned int nr_images)
{
	memset(rooms, 0, sizeof(rooms));
	rooms[IMAGE_ROOM_IMAGES].size = nr_images;
	rooms[IMAGE_ROOM_NAMES].size = (long)nr_images * NAME_BYTES;
}

void image_shares_shutdown(void)
{
	struct image_share *share;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(share_buckets); i++) {
		hlist_for_each_entry_safe(share, next, &share_buckets[i], node)
			kfree(share);
		INIT_HLIST_HEAD(&share_buckets[i]);
	}
}

struct image_share *image_share_of(u32 uid, gfp_t gfp)
{
	struct image_share *share, *made;
	unsigned long flags;

	raw_spin_lock_irqsave(&share_lock, flags);
	share = find_share(uid);
	raw_spin_unlock_irqrestore(&share_lock, flags);
	if (share)
		return share;

	made = kzalloc(sizeof(*made), gfp);
	if (!made)
		return NULL;
	made->uid = uid;
	raw_spin_lock_irqsave(&share_lock, flags);
	share = find_share(uid);
	if (!share)
		hlist_add_head(&made->node, shares_of_bucket(uid));
	raw_spin_unlock_irqrestore(&share_lock, flags);
	if (!share)
		return made;
	kfree(made);
	return share;
}

/* root has no bound but the size of the room. */
static bool has_room(const struct room *room, u32 uid, long taken, long amount)
{
	long left = room->size - room->size / 4 - room->of_users;

	return room->used + amount <= room->size &&
	       (!uid || 2 * (taken + amount) <= left);
}

static void move_into_share(struct image_share *share, enum image_room room,
			    long amount)
{
	share->taken[room] += amount;
	rooms[room].used += amount;
	if (share->uid)
		rooms[room].of_users += amount;
}

bool image_share_take(struct image_share *share, enum image_room room,
		      long amount)
{
	unsigned long flags;
	bool fits;

	raw_spin_lock_irqsave(&share_lock, flags);
	fits = has_room(&rooms[room], share->uid, share->taken[room], amount);
	if (fits)
		move_into_share(share, room, amount);
	raw_spin_unlock_irqrestore(&share_lock, flags);
	return fits;
}

void image_share_give_back(struct image_share *share, enum image_room room,
			   long amount)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&share_lock, flags);
	move_into_share(share, room, -amount);
	raw_spin_unlock_irqrestore(&share_lock, flags);
}
