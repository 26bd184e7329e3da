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

#include "libop/base/op_diag.h"
#include "utils/opcontrol/opcontrol_settings.h"

#define OC_FS_MOUNT_POINT "/dev/oprofile"

struct oc_fs {
	char root[4096];
	bool is_plain; /* $OPROFILE_FS */
	bool verbose; /* say each step on stderr */
};

/* Where oprofilefs is to be. Returns 0 or -errno with the reason in @diag. */
int oc_fs_init(struct oc_fs *fs, struct op_diag *diag);

bool oc_fs_is_mounted(const struct oc_fs *fs);

/*
 * Load the module and mount oprofilefs, as far as that is still to be done,
 * and check that module and tools have the same version of the stream. @tools
 * is the folder that opcontrol lies in. Returns 0 or -errno with the reason in
 * @diag, like all below.
 */
int oc_fs_set_up(const struct oc_fs *fs, const char *tools,
		 struct op_diag *diag);

int oc_fs_unmount(const struct oc_fs *fs, struct op_diag *diag);

/* Read the number in @file, a path below oprofilefs. */
int oc_fs_read(const struct oc_fs *fs, const char *file, uint64_t *value,
	       struct op_diag *diag);

/* Whether there is a file or folder @file. */
bool oc_fs_has(const struct oc_fs *fs, const char *file);

int oc_fs_write(const struct oc_fs *fs, const char *file, uint64_t value,
		struct op_diag *diag);
int oc_fs_write_text(const struct oc_fs *fs, const char *file, const char *text,
		     struct op_diag *diag);

/* Write all numbers that are set, before the daemon opens the buffer. */
int oc_fs_write_settings(const struct oc_fs *fs,
			 const struct oc_settings *settings,
			 struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_FS_H */
