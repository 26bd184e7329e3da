/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_CLOCK_H
#define DAEMON_OPD_CLOCK_H

/*
 * The time that decides when something is tried again or given up. Tests have
 * a clock of their own (opd->clock), which they put forward.
 */

#include <time.h>

struct opd_clock {
	time_t (*seconds)(void); /* since any moment; never goes back */
	void (*pause)(unsigned int ms); /* sleep so long */
};

/* The kernel's. */
extern const struct opd_clock opd_clock;

#endif /* DAEMON_OPD_CLOCK_H */
