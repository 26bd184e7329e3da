/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_PRIORITY_H
#define DAEMON_OPD_PRIORITY_H

/*
 * How urgently the kernel runs the daemon. The buffers of a source last a
 * quarter of a second with stacks; on a machine whose CPUs are all busy an
 * ordinary process may wait longer than that for its turn, and samples are
 * lost. So the daemon asks for the nice value -20, for itself and for its
 * session, as long as it needs little: when it takes more than half of a CPU
 * for four seconds, it has that of others, until it needs less than a quarter
 * for one.
 */

#include <stdbool.h>
#include <stdint.h>

struct op_log;

struct opd_priority {
	bool is_wanted; /* and may be had */
	bool is_raised;
	uint64_t wall, cpu; /* ns, when counting began */
};

/* Raise the priority of this thread from now on. An ordinary user may not do
 * so; then nothing changes. Children begin with the nice value 0; they are to
 * leave the session. */
void opd_priority_begin(struct opd_priority *priority, struct op_log *log);

/* To be called often: see above. */
void opd_priority_check(struct opd_priority *priority, struct op_log *log);

/* With the nice value 0. */
void opd_priority_end(struct opd_priority *priority);

/*
 * Whether the priority is to be raised after what was needed by now: @wall ns
 * have passed, and the thread has run for @cpu of them. Begins to count anew
 * where the time for a decision is over.
 */
bool opd_priority_decide(struct opd_priority *priority, uint64_t wall,
			 uint64_t cpu);

#endif /* DAEMON_OPD_PRIORITY_H */
