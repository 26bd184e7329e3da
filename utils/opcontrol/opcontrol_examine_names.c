// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of the sources of names: symbols of the kernel, debug symbols, and
 * stacks through code that runtimes make.
 */

#include <stdlib.h>
#include <string.h>

#include "utils/opcontrol/opcontrol_examine.h"

/* Count the symbols, up to the first with an address. Those of memory of each
 * CPU have address 0 on amd64, and come first. */
static bool has_kernel_address(const struct oc_machine *machine, size_t *nr)
{
	char path[OC_PATH_MAX], *line = NULL;
	FILE *file = fopen(oc_below(machine, path, "/proc/kallsyms"), "re");
	bool found = false;
	size_t room = 0;

	for (*nr = 0; file && !found && getline(&line, &room, file) >= 0; ++*nr)
		found = line[strspn(line, "0")] != ' ';
	free(line);
	if (file)
		fclose(file);
	return found;
}

/*
 * Symbols without addresses are hidden by kptr_restrict (kernel/kallsyms.c of
 * the kernel: without CAP_SYSLOG 0 shows them if perf_event_paranoid is at most
 * 1).
 */
static void examine_kernel_symbols(const struct oc_machine *machine)
{
	long level =
		oc_read_number(machine, "/proc/sys/kernel/kptr_restrict", 0);
	size_t nr;

	if (has_kernel_address(machine, &nr))
		oc_report(machine, OC_OK,
			  "kernel symbols: /proc/kallsyms has them");
	else if (!nr)
		oc_report(
			machine, OC_MISSING,
			"kernel symbols: this kernel does not show any; boot one with CONFIG_KALLSYMS, or name its image: opcontrol --vmlinux=FILE");
	else if (machine->rights.root)
		oc_report(
			machine, OC_MISSING,
			"kernel symbols: their addresses are hidden, so the kernel is one row in reports (kernel.kptr_restrict is %ld); sysctl kernel.kptr_restrict=1, or run outside the container",
			level);
	else
		oc_report(
			machine, OC_MISSING,
			"kernel symbols: their addresses are hidden from you (kernel.kptr_restrict is %ld); run as root, or sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
			level);
}

static void examine_debuginfod(const struct oc_machine *machine)
{
	const char *urls = machine->debuginfod_urls;

	if ((urls && *urls) ||
	    oc_folder_has(machine, "/etc/debuginfod", "", ".urls"))
		oc_report(machine, OC_OK,
			  "debuginfod: a server of debug symbols is named");
	else
		oc_report(
			machine, OC_LIMITED,
			"debuginfod: no server is named, so stripped programs have no names of functions and lines; export DEBUGINFOD_URLS=https://debuginfod.debian.net");
}

static void examine_debug_packages(const struct oc_machine *machine)
{
	char suite[OC_LINE_MAX];

	if (!oc_find_line(machine, "/etc/os-release",
			  "VERSION_CODENAME=", suite) ||
	    !oc_exists(machine, "/etc/debian_version"))
		return; /* packages of other systems are called otherwise */
	if (oc_folder_has(machine, "/usr/lib/debug/.build-id", "", ""))
		oc_report(machine, OC_OK,
			  "dbgsym packages: some are installed");
	else
		oc_report(
			machine, OC_LIMITED,
			"dbgsym packages: none is installed; echo deb http://deb.debian.org/debian-debug %s-debug main >/etc/apt/sources.list.d/debug.list, apt-get update, and install PACKAGE-dbgsym of what reports name",
			suite);
}

static void examine_made_code(const struct oc_machine *machine)
{
	const char *options = machine->java_options;

	if (!oc_exists(machine, "/usr/bin/java"))
		oc_report(
			machine, OC_OK,
			"frame pointers: no Java is here; the code that node makes has them");
	else if (options && strstr(options, "+PreserveFramePointer"))
		oc_report(machine, OC_OK,
			  "frame pointers: the code that Java makes has them");
	else
		oc_report(
			machine, OC_LIMITED,
			"frame pointers: stacks end in the code that Java makes; export JAVA_TOOL_OPTIONS=-XX:+PreserveFramePointer before it starts");
}

void oc_examine_names(struct oc_machine *machine)
{
	examine_kernel_symbols(machine);
	examine_debuginfod(machine);
	examine_debug_packages(machine);
	examine_made_code(machine);
}
