/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_CODES_H
#define DAEMON_OPD_CODES_H

/*
 * What each code of the stream does: a table of handlers that is made from
 * OP_CODES of module/uapi/oprofile.h. A new code needs a function
 * handle_CODE() there, or it does not compile.
 */

struct opd;
struct opd_rec;

/*
 * Let @rec, which is whole, change the context. An unknown code is counted;
 * a known one that makes no sense is, too, and the context is unknown then.
 */
void opd_code_handle(struct opd *opd, const struct opd_rec *rec);

#endif /* DAEMON_OPD_CODES_H */
