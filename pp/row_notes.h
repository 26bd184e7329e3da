/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_ROW_NOTES_H
#define PP_ROW_NOTES_H

/*
 * Functions of the kernel that stand for more than their own code, and that are
 * at the top of many a first report: those in which a virtual machine hands
 * over to its hypervisor, and those at whose end samples of a clock come in
 * that were due before, while interrupts were off.
 */

#include <stdio.h>

#include "libpp/report/report.h"

/*
 * Print to @out what the rows of that kind in @report mean, one line for each
 * kind of which a row has a share that begs the question; nothing where there
 * is none.
 */
void pp_print_row_notes(FILE *out, const struct pp_report *report);

#endif /* PP_ROW_NOTES_H */
