// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/opd_cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_cpu_number(const char **at, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return *out < OPD_MAX_CPUS ? 0 : -EINVAL;
}

static int parse_cpu_range(struct opd_cpu_list *list, const char **at)
{
	unsigned long first = 0, last;
	int err = parse_cpu_number(at, &first);

	last = first;
	if (!err && **at == '-') {
		++*at;
		err = parse_cpu_number(at, &last);
	}
	if (err || first > last)
		return -EINVAL;
	for (; first <= last; first++)
		list->bits[first / 64] |= UINT64_C(1) << first % 64;
	return 0;
}

int opd_cpu_list_parse(struct opd_cpu_list *list, const char *text)
{
	memset(list, 0, sizeof(*list));
	do {
		if (parse_cpu_range(list, &text))
			return -EINVAL;
	} while (*text++ == ',');
	text--;
	text += *text == '\n';
	return *text ? -EINVAL : 0;
}

int opd_cpu_list_read(struct opd_cpu_list *list, const char *name)
{
	char path[128], text[8192];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	err = fgets(text, sizeof(text), file) ? 0 : -EIO;
	fclose(file);
	return err ? err : opd_cpu_list_parse(list, text);
}
