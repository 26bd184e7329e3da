// SPDX-License-Identifier: GPL-2.0-or-later
/* When the daemon runs before others, and when after them. */

#include "tests/unit/rows.h"

#include "daemon/opd_priority.h"
#include "libop/base/op_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* One row after the other, with the same daemon. */
TEST(priority_follows_need)
{
	static const struct {
		uint64_t passed, needed; /* ms, since the row before */
		bool raised;
	} rows[] = {
		{ 100, 100, true }, /* four seconds are not over */
		{ 2900, 2900, true }, { 1000, 0, false }, /* 3000 of 4000 */
		{ 900, 0, false }, /* a second is not over */
		{ 100, 250, false }, /* less than half, but not a quarter */
		{ 1000, 249, true },  { 3999, 3999, true },  { 1, 0, false },
		{ 4000, 999, true }, /* it slept for long */
		{ 4000, 1999, true }, { 4000, 2000, false }, { 1000, 0, true },
	};
	struct opd_priority p = { .is_wanted = true, .is_raised = true };
	uint64_t wall = 0, cpu = 0;

	for (size_t i = 0; i < NR(rows); i++) {
		wall += rows[i].passed * MS;
		cpu += rows[i].needed * MS;
		p.is_raised = opd_priority_decide(&p, wall, cpu);
		if (p.is_raised != rows[i].raised)
			fail_msg("row %zu", i);
	}
}

/* The nice value of our session against others. */
static int nice_of_session(void)
{
	FILE *file = fopen("/proc/self/autogroup", "re");
	int nice = 99;

	if (!file || fscanf(file, "%*s nice %d", &nice) != 1)
		_exit(20);
	fclose(file);
	return nice;
}

/* Returns 0, or what is wrong. */
static int raise_and_lower(int wanted)
{
	struct opd_priority p = { 0 };
	struct op_log log;

	op_log_init(&log);
	opd_priority_begin(&p, &log);
	if (!p.is_raised || getpriority(PRIO_PROCESS, 0) != -20)
		return 1;
	if (nice_of_session() != wanted)
		return 2;
	opd_priority_end(&p);
	if (getpriority(PRIO_PROCESS, 0) != 0)
		return 3;
	return nice_of_session() ? 4 : 0;
}

/* In a session that is new, with us as its leader or as another process. */
static void in_session(bool leads, int wanted)
{
	int status = 5 << 8;

	if (setsid() >= 0 && (leads || fork() == 0))
		_exit(raise_and_lower(wanted));
	wait(&status);
	_exit(status >> 8);
}

static void assert_raised(bool leads, int wanted)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		in_session(leads, wanted);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status >> 8, 0);
}

TEST(session_of_its_own_is_raised)
{
	if (access("/proc/self/autogroup", W_OK) ||
	    setpriority(PRIO_PROCESS, 0, -1) || setpriority(PRIO_PROCESS, 0, 0))
		skip();
	assert_raised(true, -20);
	assert_raised(false, 0);
}
