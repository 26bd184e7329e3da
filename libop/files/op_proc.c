// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/files/op_proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool op_proc_status(const char *proc, uint32_t pid, const char *key,
		    uint32_t *number)
{
	char path[128], line[256];
	bool is_there = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/status", proc, pid);
	file = fopen(path, "re");
	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = !strncmp(line, key, strlen(key)) &&
			   sscanf(line + strlen(key), "%" SCNu32, number) == 1;
	if (file)
		fclose(file);
	return is_there;
}
