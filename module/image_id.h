/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_IMAGE_ID_H
#define MODULE_IMAGE_ID_H

/*
 * The build-id of an ELF file: read here, while the file is certain to be
 * the one that runs. Later its path may lead elsewhere or nowhere.
 */

#include <linux/types.h>

#include "uapi/oprofile.h"

struct file;

struct image_id {
	u32 len; /* bytes, 0 when there is none */
	u8 bytes[OP_BUILD_ID_MAX];
};

/* Read the build-id of @file; none is not an error. May sleep. */
void image_id_read(struct image_id *id, struct file *file);

#endif /* MODULE_IMAGE_ID_H */
