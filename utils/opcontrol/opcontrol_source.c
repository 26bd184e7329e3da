// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choosing between the module and perf_events.
 *
 * The choice is made once for a daemon, when it is started, and comes with its
 * reason, which --status shows: where --source=auto takes perf_events that is
 * why the module could not be had. Before a daemon runs --status can only
 * foresee the choice, as the kernel alone knows whether a module loads.
 */

#include "utils/opcontrol/opcontrol_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utils/opcontrol/opcontrol_module.h"
#include "utils/say.h"

__attribute__((format(printf, 3, 4))) static void
choose_source(struct oc_choice *choice, enum oc_source source, const char *fmt,
	      ...)
{
	va_list ap;

	choice->source = source;
	va_start(ap, fmt);
	vsnprintf(choice->reason, sizeof(choice->reason), fmt, ap);
	va_end(ap);
}

/* A source that the user chose needs no other reason. */
static void choose_as_told(struct oc_choice *choice,
			   const struct oc_settings *settings)
{
	enum oc_source source = settings->numbers[OC_SOURCE];

	choose_source(choice, source, "chosen by --source=%s",
		      oc_source_names[source]);
}

static void choose_module(struct oc_choice *choice,
			  const struct oc_settings *settings,
			  const struct oc_fs *fs)
{
	if (settings->numbers[OC_SOURCE] == OC_SOURCE_MODULE)
		choose_as_told(choice, settings);
	else
		choose_source(choice, OC_SOURCE_MODULE, "%s",
			      fs->is_plain ? "OPROFILE_FS stands in for it"
					   : "the module is loaded");
}

int oc_source_set_up(struct oc_choice *choice,
		     const struct oc_settings *settings, const struct oc_fs *fs,
		     const char *tools, struct op_diag *diag)
{
	uint64_t wanted = settings->numbers[OC_SOURCE];
	struct op_diag why = { "" };
	int err;

	if (wanted == OC_SOURCE_PERF) {
		choose_as_told(choice, settings);
		return 0;
	}
	err = oc_fs_set_up(fs, tools, &why);
	if (!err) {
		choose_module(choice, settings, fs);
		return 0;
	}
	if (wanted == OC_SOURCE_MODULE || fs->is_plain)
		return op_diag_set(
			diag, err,
			"%s; or do without the module: --source=perf",
			why.text);
	choose_source(choice, OC_SOURCE_PERF, "%s", why.text);
	/* Its first clause; the rest is how to load the module after all. */
	say_note("opcontrol", "sampling with perf_events: %.*s",
		 (int)strcspn(choice->reason, ";"), choice->reason);
	return 0;
}

/* Name all numbers that are set and do nothing for perf_events. */
static void note_unused_numbers(const struct oc_settings *settings,
				const struct oc_events *events)
{
	const char *between = "opcontrol: no effect with this source: ";
	bool any = false;

	for (int i = 0; i < OC_NR_SETTINGS; i++) {
		const struct oc_setting *row = &oc_settings_table[i];

		if (!oc_settings_is_set(settings, i) ||
		    (!row->is_module_only &&
		     (i != OC_TIMER_RATE || !events->list.nr)))
			continue;
		fprintf(stderr, "%s%s", between, row->label);
		between = ", ";
		any = true;
	}
	if (any)
		fputc('\n', stderr);
}

int oc_source_write_settings(const struct oc_choice *choice,
			     const struct oc_settings *settings,
			     const struct oc_events *events,
			     struct op_diag *diag)
{
	int err;

	if (choice->source != OC_SOURCE_MODULE) {
		note_unused_numbers(settings, events);
		return 0;
	}
	err = oc_fs_write_settings(events->fs, settings, diag);
	return err ? err : oc_events_write(events, diag);
}

void oc_source_foresee(struct oc_choice *choice,
		       const struct oc_settings *settings,
		       const struct oc_fs *fs, const char *tools)
{
	struct op_diag why = { "" };

	if (settings->numbers[OC_SOURCE] != OC_SOURCE_AUTO)
		choose_as_told(choice, settings);
	else if (oc_fs_is_mounted(fs) || fs->is_plain ||
		 oc_module_is_present(""))
		choose_module(choice, settings, fs);
	else if (oc_module_find(tools, &why))
		choose_source(choice, OC_SOURCE_PERF, "%s", why.text);
	else
		choose_source(choice, OC_SOURCE_AUTO,
			      "the module if it loads, else perf");
}
