// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files below the root folder of a machine, and the lines that checks print.
 */

#include "utils/opcontrol/opcontrol_machine.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void oc_report(const struct oc_machine *machine, enum oc_health health,
	       const char *fmt, ...)
{
	static const char *const words[] = { "ok", "limited", "missing" };
	va_list ap;

	fprintf(machine->out, "%-7s  ", words[health]);
	va_start(ap, fmt);
	vfprintf(machine->out, fmt, ap);
	va_end(ap);
	fputc('\n', machine->out);
}

const char *oc_below(const struct oc_machine *machine, char *buf,
		     const char *fmt, ...)
{
	int len = snprintf(buf, OC_PATH_MAX, "%s", machine->root);
	va_list ap;

	va_start(ap, fmt);
	if (len < OC_PATH_MAX)
		vsnprintf(buf + len, OC_PATH_MAX - len, fmt, ap);
	va_end(ap);
	return buf;
}

bool oc_exists(const struct oc_machine *machine, const char *path)
{
	char buf[OC_PATH_MAX];

	return !access(oc_below(machine, buf, "%s", path), F_OK);
}

bool oc_find_line(const struct oc_machine *machine, const char *path,
		  const char *start, char *buf)
{
	FILE *file = fopen(
		oc_below(machine, (char[OC_PATH_MAX]){ "" }, "%s", path), "re");
	size_t room = 0, skip = strlen(start), len;
	char *line = NULL;
	bool found = false;

	while (file && !found && getline(&line, &room, file) >= 0)
		found = !strncmp(line, start, skip);
	if (found) {
		skip += strspn(line + skip, " \t");
		len = strlen(line + skip);
		while (len && isspace((unsigned char)line[skip + len - 1]))
			len--;
		snprintf(buf, OC_LINE_MAX, "%.*s", (int)len, line + skip);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

long oc_read_number(const struct oc_machine *machine, const char *path,
		    long otherwise)
{
	char line[OC_LINE_MAX], *end;
	long number;

	if (!oc_find_line(machine, path, "", line))
		return otherwise;
	number = strtol(line, &end, 10);
	return end == line ? otherwise : number;
}

bool oc_folder_has(const struct oc_machine *machine, const char *path,
		   const char *start, const char *end)
{
	char buf[OC_PATH_MAX];
	DIR *dir = opendir(oc_below(machine, buf, "%s", path));
	size_t end_len = strlen(end);
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		found = entry->d_name[0] != '.' && len >= end_len &&
			!strcmp(entry->d_name + len - end_len, end) &&
			!strncmp(entry->d_name, start, strlen(start));
	}
	if (dir)
		closedir(dir);
	return found;
}
