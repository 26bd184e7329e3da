/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_LEGACY_H
#define PP_OPIMPORT_OPIMPORT_LEGACY_H

/*
 * Formats of profiles that came before that of pprof and that pprof can read:
 * they have addresses without names, so the binary is needed, too.
 */

#include <stddef.h>

#include "libop/base/op_diag.h"

/*
 * Refuse the @len bytes at @data, a zero byte behind them, with a way out in
 * @diag, if they are of such a format; @path is for that. Returns 0 or
 * -EPROTO.
 */
int opimport_refuse_legacy(const char *path, const char *data, size_t len,
			   struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_LEGACY_H */
