/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_MACHINE_H
#define UTILS_OPCONTROL_OPCONTROL_MACHINE_H

/*
 * The machine that --doctor examines, its files, and the lines of the checks:
 *
 *	STATE  FEATURE: what it means; what cures it
 *
 * All files are below a root folder, so that a test can make a machine. Results
 * of system calls are in the structure before the checks begin.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/kernel/op_perf.h"
#include "utils/opcontrol/opcontrol_settings.h"

#define OC_LINE_MAX 256 /* bytes of a line that a check reads */

enum oc_health {
	OC_OK,
	OC_LIMITED, /* works in part */
	OC_MISSING, /* does not work */
};

/* A machine, as it is or as a test has made it. */
struct oc_machine {
	const char *root; /* of all files below, "" for the machine's own */
	const char *tools; /* the folder that opcontrol lies in */
	char session_dir[OC_PATH_MAX]; /* the session folder's existing part */
	/* From the environment, or NULL: */
	const char *module_file; /* $OPROFILE_MODULE */
	const char *debuginfod_urls;
	const char *java_options;
	/* Results of system calls: 0 or -errno. */
	int own_err; /* sampling this process in user mode */
	int kernel_err; /* the same with the kernel's part */
	int system_err; /* sampling a whole CPU */
	int fanotify_err;
	int write_err; /* making files in the session folder */
	uint64_t free_bytes; /* on its file system */
	unsigned int nr_cpus; /* online, at least 1 */

	/* Filled by oc_examine(). */
	FILE *out;
	struct op_perf_rights rights;
	char release[OC_LINE_MAX]; /* of the kernel */
	bool has_counters;
	bool has_module; /* loaded, or nothing speaks against loading it */
};

/* Print the line of a check. */
void oc_report(const struct oc_machine *machine, enum oc_health health,
	       const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* @path below the root in @buf of OC_PATH_MAX bytes, which is returned. */
const char *oc_below(const struct oc_machine *machine, char *buf,
		     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool oc_exists(const struct oc_machine *machine, const char *path);

/* The first line of the file @path that begins with @start, without that and
 * blanks around it, in @buf of OC_LINE_MAX bytes. False if there is none. */
bool oc_find_line(const struct oc_machine *machine, const char *path,
		  const char *start, char *buf);

/* The number in the file @path, @otherwise if there is none. */
long oc_read_number(const struct oc_machine *machine, const char *path,
		    long otherwise);

/* Whether the folder @path has a file whose name ends with @end, or begins with
 * @start; either may be "". */
bool oc_folder_has(const struct oc_machine *machine, const char *path,
		   const char *start, const char *end);

#endif /* UTILS_OPCONTROL_OPCONTROL_MACHINE_H */
