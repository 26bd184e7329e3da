/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_CLOCK_H
#define LIBOP_BASE_OP_CLOCK_H

/*
 * The time that decides when something is tried again or given up. Tests have
 * a clock of their own (opd->clock), which they put forward.
 */

#include <stdint.h>
#include <time.h>

struct op_clock {
	time_t (*seconds)(void); /* since any moment; never goes back */
	time_t (*date)(void); /* seconds since the epoch; may be set back */
	void (*pause)(unsigned int ms); /* sleep so long */
};

/* The kernel's. */
extern const struct op_clock op_clock;

/* The time of @clock in nanoseconds; 0 if there is no such clock. */
uint64_t op_clock_ns(clockid_t clock);

/* Milliseconds of CLOCK_MONOTONIC. */
uint64_t op_clock_ms(void);

#endif /* LIBOP_BASE_OP_CLOCK_H */
