/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_FS_H
#define UTILS_OPCONTROL_OPCONTROL_FS_H

/*
 * oprofilefs: mounting it, and its files. $OPROFILE_FS can name a folder of
 * plain files that stands in for it in tests and containers; nothing is
 * loaded or mounted then.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/op_diag.h"

#define OC_FS_MOUNT_POINT "/dev/oprofile"

struct opcontrol;

struct oc_fs {
	char root[4096];
	bool is_plain; /* $OPROFILE_FS */
};

/* Where oprofilefs is to be. Returns 0 or -errno with the reason in @diag. */
int oc_fs_init(struct oc_fs *fs, struct op_diag *diag);

bool oc_fs_is_mounted(const struct oc_fs *fs);

/*
 * Load the module and mount oprofilefs, as far as that is still to be done,
 * and check that module and tools speak of the same stream. Returns 0 or
 * -errno with the reason in oc->diag, like all below.
 */
int oc_fs_set_up(struct opcontrol *oc);

int oc_fs_unmount(struct opcontrol *oc);

/* Read the number in @file, a path below oprofilefs. */
int oc_fs_read(const struct oc_fs *fs, const char *file, uint64_t *value,
	       struct op_diag *diag);

/* Whether there is a file or folder @file. */
bool oc_fs_has(const struct oc_fs *fs, const char *file);

int oc_fs_write(struct opcontrol *oc, const char *file, uint64_t value);
int oc_fs_write_text(struct opcontrol *oc, const char *file, const char *text);

/* Write all numbers that are set, before the daemon opens the buffer. */
int oc_fs_write_settings(struct opcontrol *oc);

#endif /* UTILS_OPCONTROL_OPCONTROL_FS_H */
