/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_PPROF_H
#define PP_OPIMPORT_OPIMPORT_PPROF_H

/*
 * Files of pprof (libpp/format/profile.proto) become a session. Types of values
 * are events; where one is the samples of another, as time is of the timer's,
 * both are one. Of labels those count that we write ourselves, and what others
 * call process and thread: application, tgid or pid, tid or thread_id, process,
 * thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "pp/opimport/opimport_profile.h"

/*
 * Tell all of the @len bytes at @data, which are not packed, to @profile; @path
 * is for errors, and for the application where nothing else names one. Returns
 * 0 or -errno with the reason in @diag.
 */
int opimport_pprof(struct opimport_profile *profile, const char *path,
		   const uint8_t *data, size_t len, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_PPROF_H */
