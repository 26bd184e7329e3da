/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBAGENT_JVMTI_FRAMES_H
#define LIBAGENT_JVMTI_FRAMES_H

/*
 * Unwind data for methods that HotSpot has compiled. HotSpot writes none, and
 * its code keeps no frame pointer, but has one of a few prologues.
 */

#include <stddef.h>
#include <stdint.h>

#define JAVA_FRAMES_BYTES 4096

/*
 * Write an .eh_frame for the @size bytes of x86-64 code at @code to @out, which
 * has room for JAVA_FRAMES_BYTES; it is to lie behind the code, at the next
 * multiple of 8. Returns its length; 0 if the prologue is none that is known.
 */
size_t java_frames(const uint8_t *code, size_t size, uint8_t *out);

#endif /* LIBAGENT_JVMTI_FRAMES_H */
