/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_CODES_H
#define DAEMON_CONTEXT_OPD_CODES_H

/*
 * The handlers of records, one for each code of the stream, in a table that is
 * made from OP_CODES of module/uapi/oprofile.h. A new code needs a function
 * handle_CODE() there, or it does not compile.
 */

#include <stdbool.h>

struct opd;
struct opd_rec;
struct opd_stream;

/*
 * Let @rec, which is whole, change the context. An unknown code is counted;
 * a known one that makes no sense is, too, and the context is unknown then.
 */
void opd_code_handle(struct opd *opd, const struct opd_rec *rec);

/*
 * The short way for what most samples have before them: take the records at the
 * cursor that only change the context. False if there is none, or one that
 * opd_code_handle() has to see.
 */
bool opd_code_switches(struct opd *opd, struct opd_stream *stream);

#endif /* DAEMON_CONTEXT_OPD_CODES_H */
