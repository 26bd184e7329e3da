// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/kernel/op_sched_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KALLSYMS "/proc/kallsyms"

void op_sched_text(uint64_t *start, uint64_t *end)
{
	FILE *file = fopen(KALLSYMS, "re");
	char line[512], name[64];
	uint64_t address;

	*start = *end = 0;
	while (file && !*end && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %*c %63s", &address, name) != 2)
			continue;
		if (!strcmp(name, "__sched_text_start"))
			*start = address;
		else if (!strcmp(name, "__sched_text_end") && *start)
			*end = address;
	}
	if (file)
		fclose(file);
	if (!*end)
		*start = 0;
}
