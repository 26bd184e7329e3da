/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_MISSING_DEBUG_HINT_H
#define PP_MISSING_DEBUG_HINT_H

/*
 * Where samples have no names, because code was made at run time or because a
 * program is stripped: what to do about the one with the most samples. Debian
 * has the debug symbols of a package in another one, and the lists of files
 * that dpkg keeps below $DPKG_ADMINDIR or /var/lib/dpkg tell the package;
 * without dpkg there is no such advice.
 */

#include <stdio.h>

#include "libpp/report/report.h"

/*
 * Print to @out as @program how to get names that @report lacks: a line for
 * code that a runtime made, and one for a stripped binary. Those of an archive,
 * or below --root (@is_elsewhere), are of another machine: the packages of this
 * one say nothing about them.
 */
void pp_print_missing_debug_hint(FILE *out, const char *program,
				 const struct pp_report *report,
				 bool is_elsewhere);

#endif /* PP_MISSING_DEBUG_HINT_H */
