// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module: whether it is loaded or can be, and whether it can be built.
 *
 * Only the kernel knows whether it takes a module, and only by loading it. What
 * speaks against that beforehand is looked for in the order in which the kernel
 * would find it: modules switched off, no file, one for another kernel, a
 * signature that is asked for and not there. A compressed file is not looked
 * into; modprobe has it in the folder of its kernel.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_file.h"
#include "utils/opcontrol/opcontrol_examine.h"
#include "utils/opcontrol/opcontrol_module.h"

#define MAGIC "vermagic="
#define SIGNED "~Module signature appended~\n"
#define MAX_MODULE ((size_t)64 << 20)
#define SECURE_BOOT                                                            \
	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

struct module_file {
	char path[OC_PATH_MAX]; /* below the root */
	char kernel[OC_LINE_MAX]; /* that it is for, "" where not to be told */
	bool is_signed;
};

static bool find_by_modprobe(const struct oc_machine *machine,
			     struct module_file *module)
{
	char list[OC_PATH_MAX], line[OC_PATH_MAX];
	FILE *file =
		fopen(oc_below(machine, list, "/lib/modules/%s/modules.dep",
			       machine->release),
		      "re");
	const char *found = NULL;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":\n")] = '\0';
		found = strstr(line, "/oprofile.ko");
	}
	if (file)
		fclose(file);
	if (found)
		snprintf(module->path, sizeof(module->path),
			 "/lib/modules/%s/%.3000s", machine->release, line);
	return found;
}

/* In the order in which oc_module_load() does. */
static bool find_module(const struct oc_machine *machine,
			struct module_file *module)
{
	if (machine->module_file) {
		snprintf(module->path, sizeof(module->path), "%s",
			 machine->module_file);
		return oc_exists(machine, module->path);
	}
	if (find_by_modprobe(machine, module))
		return true;
	snprintf(module->path, sizeof(module->path),
		 "%.3000s/../module/%s/oprofile.ko", machine->tools,
		 machine->release);
	return oc_exists(machine, module->path);
}

/* Whether it can be read. */
static bool read_module(const struct oc_machine *machine,
			struct module_file *module)
{
	const size_t end_len = strlen(SIGNED);
	char path[OC_PATH_MAX], *text;
	const char *magic;
	size_t len;

	if (op_file_read(oc_below(machine, path, "%s", module->path),
			 MAX_MODULE, &text, &len, NULL))
		return false;
	magic = memmem(text, len, MAGIC, strlen(MAGIC));
	if (magic) {
		magic += strlen(MAGIC);
		snprintf(module->kernel, sizeof(module->kernel), "%.*s",
			 (int)strcspn(magic, " "), magic);
	}
	module->is_signed = len >= end_len &&
			    !memcmp(text + len - end_len, SIGNED, end_len);
	free(text);
	return true;
}

/* Why unsigned modules are refused, or NULL. */
static const char *wants_signature(const struct oc_machine *machine)
{
	char line[OC_LINE_MAX], path[OC_PATH_MAX], *text;
	size_t len;
	bool is_on;

	if (oc_find_line(machine, "/sys/kernel/security/lockdown", "", line))
		return strstr(line, "[none]") ? NULL : "lockdown";
	if (oc_find_line(machine, "/sys/module/module/parameters/sig_enforce",
			 "Y", line))
		return "module.sig_enforce";
	/* Four bytes of attributes, then the value. */
	if (op_file_read(oc_below(machine, path, "%s", SECURE_BOOT), 64, &text,
			 &len, NULL))
		return NULL;
	is_on = len >= 5 && text[4] == 1;
	free(text);
	return is_on ? "Secure Boot" : NULL;
}

static bool is_compressed(const char *path)
{
	const char *end = strrchr(path, '.');

	return end && strcmp(end, ".ko");
}

static void report_module(struct oc_machine *machine,
			  const struct module_file *module)
{
	const char *refuser = wants_signature(machine);

	if (*module->kernel && strcmp(module->kernel, machine->release)) {
		oc_report(
			machine, OC_MISSING,
			"module: %s is for kernel %s, and this is %s; build it for this kernel: make module && make install",
			module->path, module->kernel, machine->release);
		return;
	}
	if (refuser && !module->is_signed && !is_compressed(module->path)) {
		oc_report(
			machine, OC_MISSING,
			"module: %s is not signed, and %s refuses that; sign it: /lib/modules/%s/build/scripts/sign-file sha256 KEY CERTIFICATE %s, after mokutil --import CERTIFICATE and a reboot",
			module->path, refuser, machine->release, module->path);
		return;
	}
	machine->has_module = true;
	if (refuser)
		oc_report(
			machine, OC_LIMITED,
			"module: %s loads if its signature is by an enrolled key, as %s asks for one; compare modinfo -F sig_key %s with mokutil --list-enrolled",
			module->path, refuser, module->path);
	else
		oc_report(machine, OC_OK, "module: %s can be loaded",
			  module->path);
}

static void examine_module_file(struct oc_machine *machine)
{
	struct module_file module = { .path = "" };

	if (!find_module(machine, &module))
		oc_report(
			machine, OC_MISSING,
			"module: none is built for kernel %s; make module && make install, or take samples by perf_events: opcontrol --source=perf",
			machine->release);
	else if (!read_module(machine, &module))
		oc_report(machine, OC_MISSING,
			  "module: %s cannot be read; ls -l %s", module.path,
			  module.path);
	else
		report_module(machine, &module);
}

static void examine_builds(const struct oc_machine *machine)
{
	char path[OC_PATH_MAX];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile",
		 machine->release);
	if (oc_exists(machine, path))
		oc_report(machine, OC_OK,
			  "headers: the module can be built for kernel %s",
			  machine->release);
	else
		oc_report(
			machine, OC_MISSING,
			"headers: the module cannot be built for kernel %s; apt-get install linux-headers-%s",
			machine->release, machine->release);
	if (oc_folder_has(machine, "/var/lib/dkms/oprofile", "", ""))
		oc_report(machine, OC_OK,
			  "dkms: the module is built for each new kernel");
	else
		oc_report(
			machine, OC_LIMITED,
			"dkms: nothing builds the module for the next kernel; after a kernel's upgrade: make module && make install");
}

void oc_examine_module(struct oc_machine *machine)
{
	const char *refused = oc_module_is_refused(machine->root);

	if (oc_module_is_present(machine->root)) {
		machine->has_module = true;
		oc_report(machine, OC_OK, "module: it is loaded");
	} else if (refused) {
		oc_report(machine, OC_MISSING, "module: %s", refused);
		return;
	} else {
		examine_module_file(machine);
	}
	examine_builds(machine);
}
