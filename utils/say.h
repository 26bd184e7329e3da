/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_SAY_H
#define UTILS_SAY_H

/*
 * Lines on stderr that tell a person what a program does, and are no reason
 * to end.
 */

#include <stdbool.h>

/* Print the present step as "+ TEXT", if it is @wanted. */
void say_step(bool wanted, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same in any case. */
void say_always(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the line "PROGRAM: TEXT". */
void say_note(const char *program, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* UTILS_SAY_H */
