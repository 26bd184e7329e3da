/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_IMAGE_SHARE_H
#define MODULE_IMAGE_SHARE_H

/*
 * The room for images, and for their names, is for all users. Any user can make
 * new images without end, so an ordinary user gets no more than half of what
 * ordinary users have left of three quarters of it: one who takes all that he
 * can has a quarter, and there is room for others, and for root, whose own
 * share is not bounded.
 *
 * An image is counted for the real user of the task that was sampled in it
 * first. Whoever makes a file, or the file system that it is on, may choose the
 * owner of the file; and effective users come and go.
 */

#include <linux/types.h>

struct image_share;

enum image_room {
	IMAGE_ROOM_IMAGES, /* their number */
	IMAGE_ROOM_NAMES, /* bytes of all names, each with its end */
	NR_IMAGE_ROOMS,
};

/* The room for @nr_images; all of it is free. */
void image_shares_setup(unsigned int nr_images);

/* All users are forgotten; nobody may be using their shares. */
void image_shares_shutdown(void);

/* The share of user @uid, or NULL when memory is short. It stays until
 * image_shares_shutdown(). Any context but NMI. */
struct image_share *image_share_of(u32 uid, gfp_t gfp);

/* Whether @amount more fits into the share: then it is taken. The same. */
bool image_share_take(struct image_share *share, enum image_room room,
		      long amount);
void image_share_give_back(struct image_share *share, enum image_room room,
			   long amount);

#endif /* MODULE_IMAGE_SHARE_H */
