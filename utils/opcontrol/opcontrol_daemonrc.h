/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_DAEMONRC_H
#define UTILS_OPCONTROL_OPCONTROL_DAEMONRC_H

/*
 * The settings on disk: $HOME/.oprofile/daemonrc, an op_config file with the
 * keys that the original shell script used, so that its files are understood.
 * Keys that are not ours are kept.
 *
 * What is set while the daemon runs goes to daemonrc_new beside it, which
 * takes the place of daemonrc once the daemon is gone: so daemonrc always says
 * what the running daemon was started with, its session folder above all.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"
#include "utils/opcontrol/opcontrol_settings.h"

struct oc_daemonrc {
	char folder[OC_PATH_MAX]; /* "" when there is no home */
	char path[OC_PATH_MAX + 32];
	char pending[OC_PATH_MAX + 32];
};

/* Fill the paths from $HOME. Returns 0 or -errno with the reason in @diag. */
int oc_daemonrc_init(struct oc_daemonrc *rc, struct op_diag *diag);

/*
 * Read @path (either of the two) into @settings; what is not in it gets its
 * default, a file that does not exist leaves them as they are. Returns 0, or
 * -errno with the reason in @diag: a value that makes no sense, or a file that
 * someone else could have written.
 */
int oc_daemonrc_read(const struct oc_daemonrc *rc, const char *path,
		     struct oc_settings *settings, struct op_diag *diag);

/*
 * Write @settings to @path, with mode 0600 in a folder of mode 0700 that is
 * made when needed. Keys of @base (either of the two files) that are not ours
 * are kept. Returns 0 or -errno with the reason in @diag.
 */
int oc_daemonrc_write(const struct oc_daemonrc *rc, const char *path,
		      const char *base, const struct oc_settings *settings,
		      struct op_diag *diag);

bool oc_daemonrc_has_pending(const struct oc_daemonrc *rc);

/* Make daemonrc_new the daemonrc. Returns 0 or -errno with the reason. */
int oc_daemonrc_adopt(const struct oc_daemonrc *rc, struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_DAEMONRC_H */
