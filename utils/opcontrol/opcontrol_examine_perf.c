// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rights, perf_events and what takes hardware counters away.
 */

#include <errno.h>
#include <string.h>

#include "utils/opcontrol/opcontrol_examine.h"

/* Memory of the rings of a CPU (daemon/source/perf/opd_perf_events.c), in KiB.
 */
#define RINGS_KIB 516

void oc_examine_rights(struct oc_machine *machine)
{
	const struct op_perf_rights *rights = &machine->rights;

	if (rights->root && rights->capable)
		oc_report(machine, OC_OK,
			  "rights: root may profile the whole machine");
	else if (rights->root && rights->namespace)
		oc_report(
			machine, OC_LIMITED,
			"container: root of a user namespace has the rights of an ordinary user; run opcontrol outside of it");
	else if (rights->root)
		oc_report(
			machine, OC_LIMITED,
			"container: root without CAP_PERFMON and CAP_SYS_ADMIN has the rights of an ordinary user; docker run --cap-add PERFMON --cap-add SYS_ADMIN, or run opcontrol on the host");
	else if (rights->capable)
		oc_report(
			machine, OC_OK,
			"rights: with CAP_PERFMON operf may profile all processes");
	else
		oc_report(
			machine, OC_LIMITED,
			"rights: ordinary users profile their own programs, with operf; sudo opcontrol --start for the whole machine");
	if (rights->seccomp && machine->own_err)
		oc_report(
			machine, OC_MISSING,
			"container: a seccomp filter looks at system calls, and perf_event_open fails; docker run --security-opt seccomp=FILE with a profile that allows it");
}

/* ---- perf_events ----------------------------------------------------------
 */

struct perf_event_attr oc_examine_clock(bool with_kernel)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.exclude_kernel = !with_kernel,
		.exclude_hv = 1,
	};
}

static void report_try(const struct oc_machine *machine, int err, pid_t pid,
		       int cpu, const char *what, const char *works)
{
	const struct perf_event_attr attr =
		oc_examine_clock(pid == -1 || strcmp(what, "own programs"));
	struct op_diag diag = { "" };

	if (!err) {
		oc_report(machine, OC_OK, "%s: %s", what, works);
		return;
	}
	op_perf_explain_rights(&diag, err, &attr, pid, cpu, what,
			       &machine->rights);
	oc_report(machine, OC_MISSING, "%s", diag.text);
}

static void examine_locked_memory(const struct oc_machine *machine)
{
	long kib = oc_read_number(machine,
				  "/proc/sys/kernel/perf_event_mlock_kb", 516);

	if (machine->rights.capable || machine->rights.paranoid < 0)
		oc_report(machine, OC_OK,
			  "buffers: as much memory as they need");
	else if (kib < RINGS_KIB)
		oc_report(
			machine, OC_LIMITED,
			"buffers: you may lock %ld KiB for each CPU, so they are smaller and samples may be lost; sysctl kernel.perf_event_mlock_kb=%d",
			kib, RINGS_KIB);
	else
		oc_report(machine, OC_OK,
			  "buffers: you may lock %ld KiB for each CPU", kib);
}

static void examine_fanotify(const struct oc_machine *machine)
{
	switch (-machine->fanotify_err) {
	case 0:
		oc_report(machine, OC_OK,
			  "fanotify: files of short-lived programs are kept");
		break;
	case ENOSYS:
		oc_report(
			machine, OC_LIMITED,
			"fanotify: this kernel has none, so programs that delete themselves may lose their names with perf_events; boot one with CONFIG_FANOTIFY, or use the module");
		break;
	default:
		oc_report(
			machine, OC_LIMITED,
			"fanotify: not allowed (%s), so programs that delete themselves may lose their names with perf_events; run as root",
			strerror(-machine->fanotify_err));
	}
}

void oc_examine_perf(struct oc_machine *machine)
{
	report_try(machine, machine->own_err, 0, -1, "own programs",
		   "perf_events samples them");
	if (machine->own_err)
		return;
	report_try(machine, machine->kernel_err, 0, -1, "kernel mode",
		   "perf_events samples it");
	report_try(machine, machine->system_err, -1, 0, "whole CPUs",
		   "perf_events samples them");
	examine_locked_memory(machine);
	examine_fanotify(machine);
	oc_report(machine, OC_OK, "tracefs and debugfs: not needed");
}

/* ---- counters -------------------------------------------------------------
 */

void oc_examine_counters(struct oc_machine *machine)
{
	const char *devices = "/sys/bus/event_source/devices";

	machine->has_counters = oc_folder_has(machine, devices, "cpu", "") ||
				oc_folder_has(machine, devices, "arm", "");
	if (!machine->has_counters) {
		oc_report(
			machine, OC_LIMITED,
			"hardware counters: none, as in most virtual machines, so only the timer samples; give the machine a virtual PMU (qemu: -cpu host,pmu=on), or run on the host");
		return;
	}
	oc_report(machine, OC_OK, "hardware counters: the kernel has some");
	if (oc_read_number(machine, "/proc/sys/kernel/nmi_watchdog", 0) > 0)
		oc_report(
			machine, OC_LIMITED,
			"NMI watchdog: it takes one counter of each CPU; sysctl kernel.nmi_watchdog=0");
	else
		oc_report(machine, OC_OK, "NMI watchdog: it takes no counter");
}
