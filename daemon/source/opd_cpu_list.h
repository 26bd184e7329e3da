/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_CPU_LIST_H
#define DAEMON_SOURCE_OPD_CPU_LIST_H

/*
 * Sets of CPUs, as the kernel writes them: "0-3,8".
 */

#include <stdbool.h>
#include <stdint.h>

#define OPD_MAX_CPUS 65536

struct opd_cpu_list {
	uint64_t bits[OPD_MAX_CPUS / 64];
};

/* Parse @text, a newline at its end allowed. Returns 0 or -EINVAL. */
int opd_cpu_list_parse(struct opd_cpu_list *list, const char *text);

/* Read file @name of /sys/devices/system/cpu. Returns 0 or -errno. */
int opd_cpu_list_read(struct opd_cpu_list *list, const char *name);

static inline bool opd_cpu_list_has(const struct opd_cpu_list *list,
				    uint32_t cpu)
{
	return cpu < OPD_MAX_CPUS && list->bits[cpu / 64] >> cpu % 64 & 1;
}

#endif /* DAEMON_SOURCE_OPD_CPU_LIST_H */
