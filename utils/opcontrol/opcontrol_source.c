// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choosing between the module and perf_events.
 */

#include "utils/opcontrol/opcontrol_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utils/opcontrol/opcontrol.h"
#include "utils/opcontrol/opcontrol_module.h"

__attribute__((format(printf, 3, 4))) static void
choose(struct opcontrol *oc, enum oc_source source, const char *fmt, ...)
{
	struct oc_choice *choice = &oc->choice;
	va_list ap;

	choice->source = source;
	va_start(ap, fmt);
	vsnprintf(choice->reason, sizeof(choice->reason), fmt, ap);
	va_end(ap);
}

/* The module cannot be had, and why is in oc->diag. */
static void choose_perf_instead(struct opcontrol *oc)
{
	choose(oc, OC_SOURCE_PERF, "%s", oc->diag.text);
	oc->diag.text[0] = '\0';
}

/* Whether no module means an error. */
static bool wants_module(const struct opcontrol *oc)
{
	return oc->settings.source == OC_SOURCE_MODULE || oc->fs.is_plain;
}

/* What was asked for by name needs no other reason. */
static void choose_as_told(struct opcontrol *oc)
{
	enum oc_source source = oc->settings.source;

	choose(oc, source, "chosen by --source=%s", oc_source_names[source]);
}

static void choose_module(struct opcontrol *oc)
{
	if (oc->settings.source == OC_SOURCE_MODULE)
		choose_as_told(oc);
	else if (oc->fs.is_plain)
		choose(oc, OC_SOURCE_MODULE, "OPROFILE_FS stands in for it");
	else
		choose(oc, OC_SOURCE_MODULE, "the module is loaded");
}

static int add_way_out(struct opcontrol *oc, int err)
{
	struct op_diag why = oc->diag;

	oc->diag.text[0] = '\0';
	return op_diag_set(&oc->diag, err,
			   "%s; or do without the module: --source=perf",
			   why.text);
}

int oc_source_set_up(struct opcontrol *oc)
{
	int err;

	if (oc->settings.source == OC_SOURCE_PERF) {
		choose_as_told(oc);
		return 0;
	}
	err = oc_fs_set_up(oc);
	if (!err) {
		choose_module(oc);
		return 0;
	}
	if (wants_module(oc))
		return add_way_out(oc, err);
	choose_perf_instead(oc);
	/* Its first clause; the rest is how to load the module after all. */
	fprintf(stderr, "opcontrol: sampling with perf_events: %.*s\n",
		(int)strcspn(oc->choice.reason, ";"), oc->choice.reason);
	return 0;
}

static bool has_no_effect(const struct opcontrol *oc, enum oc_number number)
{
	return oc_numbers[number].is_module_only ||
	       (number == OC_TIMER_RATE && oc->events.list.nr);
}

static void note_unused(const struct opcontrol *oc)
{
	const char *between = "opcontrol: no effect with this source: ";
	bool any = false;

	for (int i = 0; i < OC_NR_NUMBERS; i++) {
		if (!oc_settings_is_set(&oc->settings, i) ||
		    !has_no_effect(oc, i))
			continue;
		fprintf(stderr, "%s%s", between, oc_numbers[i].label);
		between = ", ";
		any = true;
	}
	if (any)
		fputc('\n', stderr);
}

int oc_source_write_settings(struct opcontrol *oc)
{
	int err;

	if (oc->choice.source != OC_SOURCE_MODULE) {
		note_unused(oc);
		return 0;
	}
	err = oc_fs_write_settings(oc);
	return err ? err : oc_events_write(oc);
}

void oc_source_foresee(struct opcontrol *oc)
{
	if (oc->settings.source != OC_SOURCE_AUTO)
		choose_as_told(oc);
	else if (oc_fs_is_mounted(&oc->fs) || oc->fs.is_plain ||
		 oc_module_is_present())
		choose_module(oc);
	else if (oc_module_find(oc))
		choose_perf_instead(oc);
	else
		choose(oc, OC_SOURCE_AUTO, "the module if it loads, else perf");
}
