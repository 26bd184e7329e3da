// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statuses are those of RFC 9110 and 6585. A conflict (409) is what a server
 * answers that has the profile already. Whoever may not come in, or asks at the
 * wrong place (401, 403, 404), is set up wrongly: that is no fault of the
 * profile.
 */

#include "pp/oppush/oppush_pace.h"

enum push_outcome push_outcome(long status)
{
	switch (status) {
	case 409:
		return PUSH_DELIVERED;
	case 400:
	case 413:
	case 415:
	case 422:
		return PUSH_REFUSED;
	default:
		return status >= 200 && status < 300 ? PUSH_DELIVERED
						     : PUSH_AGAIN;
	}
}

uint64_t push_wait_ms(uint64_t failures, uint64_t random,
		      uint64_t retry_after_s)
{
	uint64_t wait = PUSH_FIRST_WAIT_MS, asked;

	while (--failures && wait < PUSH_LAST_WAIT_MS)
		wait *= 2;
	if (wait > PUSH_LAST_WAIT_MS)
		wait = PUSH_LAST_WAIT_MS;
	wait = wait / 2 + random % (wait / 2 + 1);
	asked = retry_after_s < PUSH_LONGEST_MS / 1000 ? retry_after_s * 1000
						       : PUSH_LONGEST_MS;
	return asked > wait ? asked : wait;
}
