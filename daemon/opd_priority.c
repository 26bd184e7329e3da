// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linux shares the CPUs among sessions first: a nice value counts among the
 * processes of one session, and each session has a value of its own against the
 * others (sched(7), "The autogroup feature"). So both are set, the latter only
 * where the session is the daemon's alone.
 */

#include "daemon/opd_priority.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"

#define SECOND UINT64_C(1000000000)
/* To make the tables that unwind what runs takes a second or two, and that is
 * the worst time to wait. */
#define LONGEST_NS (4 * SECOND)
#define RAISED (-20) /* the most that an ordinary process can have */

/* A kernel without the feature has no such file. */
static void set_nice_of_session(int nice)
{
	char text[16];
	int fd;

	if (getsid(0) != getpid())
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%d", nice);
	/* Where it is refused, the value is that of other sessions. */
	(void)!write(fd, text, strlen(text));
	close(fd);
}

static int set_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, 0, nice))
		return -errno;
	set_nice_of_session(nice);
	return 0;
}

/* SCHED_RR would lose fewer samples still. But it may keep kernel threads
 * waiting, those that let events take turns and those that read files for the
 * daemon. */
void opd_priority_begin(struct opd_priority *priority, struct op_log *log)
{
	const struct sched_param param = { .sched_priority = 0 };
	int err = set_nice(RAISED);

	/* Children of the daemon have the nice value 0. */
	if (!err &&
	    sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param))
		err = -errno;
	priority->is_raised = priority->is_wanted = !err;
	priority->wall = op_clock_ns(CLOCK_MONOTONIC);
	priority->cpu = op_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (err)
		op_verbose(log, OP_V_MISC,
			   "no more CPU time than other processes: %s",
			   strerror(-err));
}

bool opd_priority_decide(struct opd_priority *priority, uint64_t wall,
			 uint64_t cpu)
{
	uint64_t passed = wall - priority->wall, needed = cpu - priority->cpu;

	if (passed < (priority->is_raised ? LONGEST_NS : SECOND))
		return priority->is_raised;
	priority->wall = wall;
	priority->cpu = cpu;
	return needed < passed / (priority->is_raised ? 2 : 4);
}

void opd_priority_check(struct opd_priority *priority, struct op_log *log)
{
	uint64_t wall;
	bool raised;

	if (!priority->is_wanted)
		return;
	/* Unlike the wall clock, that of the thread takes a system call. */
	wall = op_clock_ns(CLOCK_MONOTONIC);
	if (wall - priority->wall < SECOND)
		return;
	raised = opd_priority_decide(priority, wall,
				     op_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	if (raised == priority->is_raised || set_nice(raised ? RAISED : 0))
		return;
	priority->is_raised = raised;
	op_log(log,
	       raised ? "needs little of a CPU: first in turn again"
		      : "needs more than half of a CPU: in turn with others");
}

void opd_priority_end(struct opd_priority *priority)
{
	if (priority->is_raised)
		set_nice(0);
	priority->is_wanted = priority->is_raised = false;
}
