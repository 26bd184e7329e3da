/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_SYMBOLS_H
#define UTILS_SYMBOLS_H

/*
 * The symbols of what was sampled, for the time when the files are gone:
 * opsymbols keeps them in the session folder when a session ends.
 */

#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"

/*
 * Let opsymbols, in @folder or on $PATH, keep @mib MiB of symbols at most, and
 * none of the files that match @without (NULL: of all), and wait for it. What
 * goes wrong there it says itself. Returns 0; -ENOENT without opsymbols, or
 * -errno, with the reason in @diag.
 */
int symbols_keep(const char *folder, const struct op_session *session,
		 uint64_t mib, const char *without, struct op_diag *diag);

#endif /* UTILS_SYMBOLS_H */
