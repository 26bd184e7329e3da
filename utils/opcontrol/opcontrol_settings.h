/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_SETTINGS_H
#define UTILS_OPCONTROL_OPCONTROL_SETTINGS_H

/*
 * The settings of a profiling session: what opcontrol keeps from one call to
 * the next. Each setting is one row of oc_settings_table. The row gives the
 * option, the key in the settings file (opcontrol_daemonrc.h), the type, the
 * default and the bounds, the help, and the option of oprofiled or the file
 * of oprofilefs that the setting becomes. A new setting is a new row.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

#define OC_PATH_MAX 4096 /* bytes of a path with its zero byte */
#define OC_BUDGET_MAX 32 /* bytes of a number of percent */
#define OC_GROUP_MAX 256 /* bytes of the name of a group */
#define OC_HISTORY_MAX 128
#define OC_IMAGES_MAX 65536 /* bytes of a list of paths */
#define OC_EVENTS_MAX 8192 /* bytes of a list of events */

/* Where samples come from: values of the setting OC_SOURCE. */
enum oc_source {
	OC_SOURCE_AUTO, /* the module if it loads, else perf_events */
	OC_SOURCE_MODULE,
	OC_SOURCE_PERF,
	OC_NR_SOURCES
};

/* The words for them: of --source, in the settings file, in --status. */
extern const char *const oc_source_names[OC_NR_SOURCES];

/* The rows of the table. */
enum oc_row {
	OC_SESSION_DIR,
	OC_SEPARATE_LIB,
	OC_SEPARATE_KERNEL, /* includes OC_SEPARATE_LIB */
	OC_SEPARATE_THREAD,
	OC_SEPARATE_CPU,
	OC_SEPARATE_CGROUP, /* no part of "all" */
	OC_SOURCE,
	OC_EVENT,
	OC_VMLINUX,
	OC_NO_VMLINUX,
	OC_SEPARATE,
	OC_IMAGE,
	OC_BUFFER_SIZE,
	OC_BUFFER_WATERSHED,
	OC_CPU_BUFFER_SIZE,
	OC_TIMER_RATE,
	OC_CALLGRAPH, /* callers that a sample's stack may have */
	OC_CALLGRAPH_STACK, /* bytes of a user stack that the module takes */
	OC_PACK_AT, /* MiB of sample files that are not packed */
	OC_MAX_DISK, /* MiB of the session that is running */
	OC_CPU_BUDGET, /* what sampling may take of each CPU */
	OC_HISTORY, /* how much of the past is kept, by time */
	OC_SYMBOL_STORE, /* MiB of symbols that are kept in the session */
	OC_READABLE_BY, /* the group that may read what root profiles */
	OC_RECORD, /* where the daemon writes a copy of the stream */
	OC_NR_SETTINGS
};

/* How a value is checked, kept in memory and written to the settings file. */
enum oc_type {
	OC_TYPE_FOLDER, /* a text: an absolute path */
	OC_TYPE_FILE, /* a text: an absolute path, or "" for none */
	OC_TYPE_OUTPUT, /* likewise, of a file that need not be there */
	OC_TYPE_GROUP, /* a text: a group, or "" for none */
	OC_TYPE_BUDGET, /* a text: percent or "none"; "" for the default */
	OC_TYPE_HISTORY, /* a text: as op_history_parse() has it, or "" for none
			  */
	OC_TYPE_NO_FILE, /* the option that sets a file to none */
	OC_TYPE_IMAGES, /* a text: paths with commas between, "" for all */
	/* a text: specifications with commas between, "timer" or "" */
	OC_TYPE_EVENTS,
	OC_TYPE_SOURCE, /* a number: enum oc_source */
	OC_TYPE_SWITCH, /* a number: 0 or 1 */
	OC_TYPE_SWITCHES, /* the option whose words turn switches on */
	OC_TYPE_NUMBER, /* a number with bounds; 0 is special (zero) */
	OC_NR_TYPES
};

struct oc_settings {
	char session_dir[OC_PATH_MAX];
	char vmlinux[OC_PATH_MAX];
	char record[OC_PATH_MAX];
	char readable_by[OC_GROUP_MAX];
	char cpu_budget[OC_BUDGET_MAX];
	char history[OC_HISTORY_MAX];
	char images[OC_IMAGES_MAX];
	char events[OC_EVENTS_MAX];
	uint64_t numbers[OC_NR_SETTINGS]; /* of the rows that are numbers */
};

struct oc_setting {
	enum oc_type type;
	const char *option; /* without the dashes; NULL: part of another's */
	char letter; /* the short option, 0 for none */
	bool repeats; /* more than one makes a list with commas */
	const char *argument; /* its name in the help, NULL: takes none */
	const char *help;
	const char *key; /* in the settings file, NULL: not there */
	const char *daemon; /* option of oprofiled, NULL: none */
	size_t text; /* of texts: where in struct oc_settings */
	const char *word; /* of switches: for --separate and --status */
	const char *alias; /* of switches: a second word, or the same */
	/* Only for numbers: */
	const char *label; /* for --status */
	const char *file; /* below oprofilefs, NULL: none */
	bool is_module_only; /* without effect on perf_events */
	const char *zero; /* what 0 means; NULL: leave the module's value */
	uint64_t initial; /* without the option; 0 where that is no value */
	uint64_t min; /* the module's own bounds, for an early answer */
	uint64_t max;
	uint64_t unit; /* the number is a multiple of this */
};

extern const struct oc_setting oc_settings_table[OC_NR_SETTINGS];

/* All settings as they are without any option. */
void oc_settings_init(struct oc_settings *settings);

/*
 * Apply the given ones of @values, one per row of the table, to @settings.
 * Returns 0; -EINVAL with the reason in @diag for a value that makes no sense,
 * another -errno for a file that is not as it should be.
 */
int oc_settings_apply(struct oc_settings *settings, char *const values[],
		      struct op_diag *diag);

/* The text of the row @id, which is one. */
const char *oc_settings_text(const struct oc_settings *settings,
			     enum oc_row id);

/* Set *@source from its word. Returns 0 or -EINVAL; *@source is set on success
 * only. */
int oc_settings_source(uint64_t *source, const char *word);

/*
 * Turn on the switch for libraries, if @settings do not have it on though
 * they ask for callers: a caller belongs to one program. Returns whether that
 * changed them.
 */
bool oc_settings_imply_library(struct oc_settings *settings);

/* Set the switches from a list of words with commas or blanks between. */
int oc_settings_separate(struct oc_settings *settings, const char *list,
			 struct op_diag *diag);

/* Whether the number of the row @id differs from its default. */
bool oc_settings_is_set(const struct oc_settings *settings, enum oc_row id);

/*
 * Whether @value is one that the number @row may have, besides 0. Returns 0, or
 * -EINVAL with what it should be in @why ("not from 1 to 5").
 */
int oc_settings_check_number(const struct oc_setting *row, uint64_t value,
			     char *why, size_t len);

#endif /* UTILS_OPCONTROL_OPCONTROL_SETTINGS_H */
