/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_KSYMS_H
#define DAEMON_OPD_KSYMS_H

/*
 * Snapshots of the symbols of the kernel and of modules (libop/op_ksyms.h),
 * kept for reports on other machines or after the next boot. Reading
 * /proc/kallsyms takes a tenth of a second and more: for the kernel itself it
 * is done before sampling starts, where it is not in the profile; for a module
 * when it gets its first sample, between reads of the buffer.
 */

#include <stdbool.h>

struct opd;
struct opd_image;

/* @image has samples. Does nothing for images without a snapshot. */
void opd_ksyms_want(struct opd *opd, struct opd_image *image);

/* Take that of the running kernel, if samples of it can come. */
void opd_ksyms_take_kernel(struct opd *opd);

/* Take one wanted snapshot. False when none is wanted any more. */
bool opd_ksyms_take(struct opd *opd);

#endif /* DAEMON_OPD_KSYMS_H */
