/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_LOOKUP_H
#define MODULE_LOOKUP_H

/*
 * Look-ups of addresses in an address space: each finds the image or anonymous
 * memory that is mapped there. The caller holds the lock of the mappings for
 * reading, unless a comment says otherwise; any context but NMI.
 */

#include <linux/types.h>

struct mm_struct;
struct op_sample;
struct vm_area_struct;

/* The result of a look-up. */
enum lookup {
	LOOKUP_DONE,
	LOOKUP_NEW_IMAGE, /* the image has no cookie yet */
	LOOKUP_NO_COOKIE, /* ... and none could be made */
	LOOKUP_NO_MAPPING,
	LOOKUP_BUSY, /* the mappings could not be locked in time */
};

/*
 * A file that has no cookie yet gets one that counts for the user @maker
 * (owner.h), or is left to a later step.
 */
#define LEAVE_NEW U32_MAX

/*
 * Lock the mappings of @mm for reading, in a task. False when somebody else
 * has kept them for LOOKUP_WAIT_MS: whoever has them may wait for a file
 * system that never answers, and a stop waits for the caller.
 */
#define LOOKUP_WAIT_MS 20

bool lookup_lock_maps(struct mm_struct *mm);

/* The cookie of the program of @mm, or 0. Needs no lock. */
u64 lookup_app(struct mm_struct *mm, u32 maker);

/*
 * The program and the place of a user sample, whose offset is an address. *@vma
 * is the mapping, if there is one.
 */
enum lookup lookup_sample(struct op_sample *sample, struct mm_struct *mm,
			  u32 maker, struct vm_area_struct **vma);

/*
 * The cookie of what is mapped in @vma: *@cookie is OP_NO_COOKIE for anonymous
 * memory.
 */
enum lookup lookup_cookie(struct vm_area_struct *vma, u32 maker, u64 *cookie);

/*
 * Replace the address in sample->offset by what it stands for in @vma, and tell
 * where: space, and cookie or start and end. On anything but LOOKUP_DONE the
 * offset is still the address.
 */
enum lookup lookup_place(struct op_sample *sample, struct vm_area_struct *vma,
			 u32 maker);

#endif /* MODULE_LOOKUP_H */
