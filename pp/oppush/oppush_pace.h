/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_PACE_H
#define PP_OPPUSH_OPPUSH_PACE_H

/*
 * Meaning of a server's answer, and the time to wait after it. The caller
 * supplies clock and random numbers.
 */

#include <stdint.h>

enum push_outcome {
	PUSH_DELIVERED,
	PUSH_AGAIN, /* the server, or the way to it, is at fault */
	PUSH_REFUSED, /* the profile is */
};

/* A profile that was refused so many times is dropped: servers also refuse what
 * they have no room for. */
#define PUSH_MAX_REFUSALS 5

#define PUSH_FIRST_WAIT_MS 1000
#define PUSH_LAST_WAIT_MS 300000
#define PUSH_LONGEST_MS 3600000 /* whatever a server asks for */

/* @status of HTTP; 0: there was no whole answer. */
enum push_outcome push_outcome(long status);

/*
 * How long to wait after failure number @failures in a row, from 1, in ms. The
 * time doubles with each failure, and half of it is left to chance, which
 * @random is, so that many machines do not come back at once. It is no less
 * than @retry_after_s, what the server asks for, 0: nothing.
 */
uint64_t push_wait_ms(uint64_t failures, uint64_t random,
		      uint64_t retry_after_s);

#endif /* PP_OPPUSH_OPPUSH_PACE_H */
