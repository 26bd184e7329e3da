/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_FOREIGN_H
#define PP_OPIMPORT_OPIMPORT_FOREIGN_H

/*
 * A profile that another program has summed up becomes a session: a file of
 * pprof, callgrind or folded stacks, which its beginning tells apart.
 */

#include "pp/opimport/opimport_daemon.h"

struct opimport_input;

/*
 * Import @input. What became of its samples goes to stderr. Returns 0 or -errno
 * with the reason in @diag: then there is no session.
 */
int opimport_foreign(const struct opimport_into *into,
		     const struct opimport_input *input, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_FOREIGN_H */
