// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * canperf own | kernel | system: whether this user may sample the CPU clock by
 * perf_events here: of own processes in user mode, of them in the kernel
 * too, or of all there is. Exits with 0 if so, else with 1 and the reason. A
 * test knows by this what it may expect; nothing of the profiler is in it.
 */

#include <err.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int system = !strcmp(what, "system");
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
		.exclude_kernel = !system && strcmp(what, "kernel") != 0,
		.exclude_hv = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, system ? -1 : 0,
		    system ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		err(1, "perf_event_open");
	return 0;
}
