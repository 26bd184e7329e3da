// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernels hide their addresses from users without privileges by showing zeros.
 * That is told apart from a missing symbol, as the user can do something about
 * it. The symbols of modules follow the kernel's own, and are not looked at.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/opd_proc.h"
#include "libop/kernel/op_ksyms.h"

#define HIDDEN_HINT "run as root with kernel.kptr_restrict below 2"

/* Where a symbol was seen, 0 if it was not. */
struct landmarks {
	uint64_t stext;
	uint64_t etext;
	uint64_t end;
	bool listed; /* even if at address 0 */
};

static bool is_named(const char *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && !memcmp(name, wanted, len);
}

static void note_symbol(struct landmarks *marks, const char *name, size_t len,
			uint64_t address)
{
	if (is_named(name, len, "_stext")) {
		marks->stext = address;
		marks->listed = true;
	} else if (is_named(name, len, "_etext")) {
		marks->etext = address;
	} else if (is_named(name, len, "_end")) {
		marks->end = address;
	}
}

/* Take in "ADDRESS TYPE NAME", which ends before @end; false at the first
 * symbol of a module. */
static bool parse_symbol_line(struct landmarks *marks, const char *line,
			      const char *end)
{
	const char *name = memchr(line, ' ', (size_t)(end - line));

	/* Few names start like this: do not look at the others. */
	if (!name || end - name < 4 || name[3] != '_')
		return !memchr(line, '[', (size_t)(end - line));
	note_symbol(marks, name + 3, (size_t)(end - name) - 3,
		    strtoull(line, NULL, 16));
	return true;
}

static int check_landmarks(const struct landmarks *marks, uint64_t *start,
			   uint64_t *end, const char *path,
			   struct op_diag *diag)
{
	if (marks->listed && marks->stext == 0)
		return op_diag_set(diag, -EACCES,
				   "%s: addresses are hidden; " HIDDEN_HINT,
				   path);
	*start = marks->stext;
	*end = marks->end ? marks->end : marks->etext;
	if (!marks->listed || *end <= *start)
		return op_diag_set(diag, -ENOENT,
				   "%s: does not say where the kernel is",
				   path);
	return 0;
}

int opd_proc_kernel(const struct op_kallsyms *all, uint64_t *start,
		    uint64_t *end, struct op_diag *diag)
{
	const char *behind = all->text + all->len, *line = all->text, *stop;
	struct landmarks marks = { 0, 0, 0, false };

	for (; line < behind; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(behind - line)) ?: behind;
		if (!parse_symbol_line(&marks, line, stop))
			break;
	}
	return check_landmarks(&marks, start, end, all->path, diag);
}

/* "NAME SIZE REFS USERS STATE ADDRESS [TAINTS]" */
static bool parse_module(const char *line, char *name, uint64_t *start,
			 uint64_t *end)
{
	uint64_t size;

	_Static_assert(OPD_MODULE_NAME_MAX == 64, "the width below");
	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size,
		   start) != 3)
		return false;
	*end = *start + size;
	return size > 0 && *end > *start;
}

int opd_proc_modules(const char *modules,
		     int (*fn)(void *arg, const char *name, uint64_t start,
			       uint64_t end),
		     void *arg, struct op_diag *diag)
{
	FILE *file = fopen(modules, "re");
	char name[OPD_MODULE_NAME_MAX];
	uint64_t start, end;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!file)
		return errno == ENOENT ? 0
				       : op_diag_set(diag, -errno, "%s: %s",
						     modules, strerror(errno));
	while (!err && getline(&line, &room, file) >= 0) {
		if (!parse_module(line, name, &start, &end))
			continue;
		err = start ? fn(arg, name, start, end)
			    : op_diag_set(
				      diag, -EACCES,
				      "%s: addresses are hidden; " HIDDEN_HINT,
				      modules);
	}
	free(line);
	fclose(file);
	return err;
}

static uint64_t read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t value = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

uint64_t opd_proc_max_maps(void)
{
	return read_number("/proc/sys/vm/max_map_count");
}

static double read_mhz(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	double mhz = 0;
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return 0;
	while (mhz <= 0 && getline(&line, &room, file) >= 0)
		if (sscanf(line, "cpu MHz : %lf", &mhz) != 1)
			mhz = 0;
	free(line);
	fclose(file);
	return mhz;
}

uint32_t opd_proc_cpu_khz(void)
{
	uint64_t khz = read_number(
		"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");

	if (khz == 0) {
		double mhz = read_mhz();

		khz = mhz > 0 && mhz < 1e6 ? (uint64_t)(mhz * 1000) : 0;
	}
	return khz > UINT32_MAX ? 0 : (uint32_t)khz;
}
