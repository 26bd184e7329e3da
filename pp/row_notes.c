// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names are those of Linux: arch/x86/include/asm/paravirt.h and
 * arch/x86/{xen,hyperv} for what a hypervisor may take over, the functions that
 * switch interrupts on for the other kind.
 */

#include "pp/row_notes.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "libop/events/op_counter_text.h"

#define SHARE_MIN 20 /* a row of 1/SHARE_MIN of all samples */

static const char *const of_hypervisor[] = {
	"native_set_p[tmu4g]*",
	"native_write_cr[0-9]*",
	"native_write_msr*",
	"native_read_msr*",
	"native_flush_tlb*",
	"native_*halt",
	"pv_native_*halt",
	"pvm_*",
	"xen_*",
	"hv_*",
	"kvm_*",
	NULL,
};

static const char *const of_interrupts[] = {
	"*irq_enable",	"_raw_*unlock_irq*", "finish_task_switch*",
	"__do_softirq", "handle_softirqs",   NULL,
};

static bool is_one_of(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, name, 0))
			return true;
	return false;
}

/* The function of the kernel with most samples that @patterns have, if these
 * are enough; or NULL. */
static const char *find_row(const struct pp_report *report,
			    const char *const *patterns)
{
	uint64_t all = pp_sum_counts(report->totals, report->classes.nr);
	uint64_t most = all / SHARE_MIN;
	const char *found = NULL;

	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		uint64_t nr;

		if (entry->image->kind != OP_IMAGE_KERNEL ||
		    !is_one_of(patterns, entry->raw_name))
			continue;
		nr = pp_sum_counts(pp_shown_counts(entry), report->classes.nr);
		if (nr <= most)
			continue;
		most = nr;
		found = entry->raw_name;
	}
	return found;
}

static bool is_of_clock(const struct pp_report *report)
{
	for (size_t i = 0; i < report->classes.nr; i++)
		if (strcmp(report->classes.classes[i].event, OP_TIMER_EVENT) !=
		    0)
			return false;
	return report->classes.nr;
}

void pp_print_row_notes(FILE *out, const struct pp_report *report)
{
	const char *row = find_row(report, of_hypervisor);

	if (row)
		fprintf(out,
			"%s: in a virtual machine the kernel calls the hypervisor here; the time is the hypervisor's.\n",
			row);
	row = is_of_clock(report) ? find_row(report, of_interrupts) : NULL;
	if (row)
		fprintf(out,
			"%s: switches interrupts on; the timer's samples that were due while they were off, in code before it, are taken here.\n",
			row);
}
