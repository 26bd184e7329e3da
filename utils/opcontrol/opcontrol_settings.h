/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_SETTINGS_H
#define UTILS_OPCONTROL_OPCONTROL_SETTINGS_H

/*
 * What a profiling session is to be like: the options that are kept from one
 * call of opcontrol to the next, checked when they are given and again when
 * they are read (opcontrol_daemonrc.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/op_diag.h"

#define OC_PATH_MAX 4096 /* bytes of a path with its zero byte */
#define OC_IMAGES_MAX 65536 /* bytes of a list of paths */
#define OC_EVENTS_MAX 8192 /* bytes of a list of events */

/* Where samples come from. */
enum oc_source {
	OC_SOURCE_AUTO, /* the module where it can be had, else perf_events */
	OC_SOURCE_MODULE,
	OC_SOURCE_PERF,
	OC_NR_SOURCES
};

/* The words for them: of --source, in the settings file, in --status. */
extern const char *const oc_source_names[OC_NR_SOURCES];

/* Settings that are numbers; what 0 means differs (oc_number_info). */
enum oc_number {
	OC_BUFFER_SIZE,
	OC_BUFFER_WATERSHED,
	OC_CPU_BUFFER_SIZE,
	OC_TIMER_RATE,
	OC_CALLGRAPH, /* callers that a sample's stack may have */
	OC_CALLGRAPH_STACK, /* bytes of a user stack that the module takes */
	OC_PACK_AT, /* MiB of sample files that are not packed */
	OC_NR_NUMBERS
};

struct oc_number_info {
	const char *key; /* in the settings file */
	const char *file; /* below oprofilefs; NULL: it is the daemon's */
	bool is_module_only; /* without effect on perf_events */
	const char *zero; /* what 0 means; NULL: leave it as it is */
	const char *label; /* for --status */
	uint64_t initial; /* without the option; 0 where that is no value */
	uint64_t min; /* the module's own bounds, for an early answer */
	uint64_t max;
	uint64_t unit; /* it is a multiple of */
};

extern const struct oc_number_info oc_numbers[OC_NR_NUMBERS];

/* What samples of one image can be kept apart by. */
enum oc_separate {
	OC_SEPARATE_LIB,
	OC_SEPARATE_KERNEL, /* includes lib */
	OC_SEPARATE_THREAD,
	OC_SEPARATE_CPU,
	OC_NR_SEPARATE
};

struct oc_separate_info {
	const char *word; /* for --separate and --status */
	const char *alias; /* a second word for it, or the same */
	const char *key; /* in the settings file */
	const char *daemon; /* option of oprofiled */
};

extern const struct oc_separate_info oc_separates[OC_NR_SEPARATE];

struct oc_settings {
	char session_dir[OC_PATH_MAX]; /* absolute */
	char vmlinux[OC_PATH_MAX]; /* absolute, or "" for none */
	char images[OC_IMAGES_MAX]; /* paths with commas between, "" for all */
	/* specifications with commas between, "timer", or "" for the default */
	char events[OC_EVENTS_MAX];
	enum oc_source source;
	bool separate[OC_NR_SEPARATE];
	uint64_t numbers[OC_NR_NUMBERS];
};

/* One option that changes settings. */
struct oc_setting {
	const char *option; /* without the dashes */
	char letter; /* the short option, 0 for none */
	const char *argument; /* its name in the help, NULL: takes none */
	const char *help;
	bool repeats; /* more than one makes a list with commas */
	enum oc_number number; /* of those that are numbers */
	int (*set)(struct oc_settings *settings, const struct oc_setting *row,
		   const char *value, struct op_diag *diag);
};

#define OC_NR_SETTINGS 14

extern const struct oc_setting oc_settings_table[OC_NR_SETTINGS];

void oc_settings_init(struct oc_settings *settings);

/*
 * Apply the given ones of @values, one per row of the table, to @settings.
 * Returns 0; -EINVAL with the reason in @diag for a value that makes no sense,
 * another -errno for a file that is not as it should be.
 */
int oc_settings_apply(struct oc_settings *settings, char *const values[],
		      struct op_diag *diag);

/* Set *@source from its word. Returns 0 or -EINVAL; *@source is set on success
 * only. */
int oc_settings_source(enum oc_source *source, const char *word);

/*
 * Whether what @settings ask for needs libraries to be kept apart by program
 * though they don't say so: callers are of one program. Then they do.
 */
bool oc_settings_imply_library(struct oc_settings *settings);

/* Set the separate options from a list of words with commas or blanks. */
int oc_settings_separate(bool separate[], const char *list,
			 struct op_diag *diag);

/* "library cpu" or "none". @buf holds 64 bytes. */
const char *oc_settings_separate_text(const bool separate[], char *buf);

/* Whether @value of @number is another than without the option. */
bool oc_settings_is_set(const struct oc_settings *settings,
			enum oc_number number);

/*
 * Whether @value is one that the setting may have, besides 0. Returns 0, or
 * -EINVAL with what it should be in @why ("not from 1 to 5").
 */
int oc_settings_check_number(const struct oc_number_info *info, uint64_t value,
			     char *why, size_t len);

/* Whether @path is an ELF file that can be read: 0 or -errno with the reason
 * in @diag. */
int oc_settings_check_vmlinux(const char *path, struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_SETTINGS_H */
