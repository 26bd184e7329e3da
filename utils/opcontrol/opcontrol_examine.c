// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of the checks, and the last line, which says what can be profiled
 * after all.
 */

#include "utils/opcontrol/opcontrol_examine.h"

#include <string.h>

static void read_machine(struct oc_machine *machine)
{
	op_perf_rights_read(&machine->rights, machine->root);
	machine->rights.basic = !machine->own_err;
	if (!oc_find_line(machine, "/proc/sys/kernel/osrelease", "",
			  machine->release))
		strcpy(machine->release, "of unknown release");
}

static void report_verdict(const struct oc_machine *machine)
{
	bool may_load = machine->rights.root && machine->rights.capable;

	if (machine->has_module && may_load)
		oc_report(machine, OC_OK,
			  "profiling: the whole machine, by the module");
	else if (!machine->system_err)
		oc_report(machine, OC_OK,
			  "profiling: the whole machine, by perf_events");
	else if (!machine->own_err)
		oc_report(
			machine, OC_LIMITED,
			"profiling: programs of your own%s, by perf_events; run operf PROGRAM",
			machine->kernel_err ? " in user mode" : "");
	else
		oc_report(
			machine, OC_MISSING,
			"profiling: nothing can be profiled here; fix the lines marked missing above, or replay a recorded stream with oprofiled --source=file:FILE");
}

bool oc_examine(struct oc_machine *machine, FILE *out)
{
	static void (*const checks[])(struct oc_machine *) = {
		oc_examine_rights,   oc_examine_module, oc_examine_perf,
		oc_examine_counters, oc_examine_names,	oc_examine_session,
		oc_examine_limits,
	};

	machine->out = out;
	read_machine(machine);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](machine);
	report_verdict(machine);
	return !machine->own_err || !machine->system_err ||
	       (machine->has_module && machine->rights.root &&
		machine->rights.capable);
}
