// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of settings, and the checks of values that are given by options.
 *
 * All else that concerns a setting is derived from its row: the command line
 * (opcontrol_options.c), the settings file (opcontrol_daemonrc.c), the daemon's
 * command line (opcontrol_daemon.c), oprofilefs (opcontrol_fs.c) and --status.
 * So a setting cannot be known in one place and forgotten in another. What is
 * checked here holds for a value from then on: texts have no newline, as a line
 * of the settings file ends there, and paths are absolute, as the daemon works
 * in another folder. The settings file is checked again when it is read.
 *
 * The order of the rows is that of the daemon's command line, and of those with
 * an option that of --help.
 */

#include "utils/opcontrol/opcontrol_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/session/op_budget.h"
#include "libop/files/op_config.h"
#include "libop/session/op_history.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_readers.h"
#include "libop/kernel/op_vmlinux.h"

#define TEXT(member) offsetof(struct oc_settings, member)

/* clang-format off */
const struct oc_setting oc_settings_table[OC_NR_SETTINGS] = {
	[OC_SESSION_DIR] = { OC_TYPE_FOLDER, "session-dir",
		.argument = "DIR", .key = "SESSION_DIR",
		.daemon = "session-dir", .text = TEXT(session_dir),
		.help = "keep samples in DIR (" OP_SESSION_DIR_DEFAULT ")" },
	[OC_SEPARATE_LIB] = { OC_TYPE_SWITCH, .key = "SEPARATE_LIB",
		.daemon = "separate-lib", .word = "library", .alias = "lib" },
	[OC_SEPARATE_KERNEL] = { OC_TYPE_SWITCH, .key = "SEPARATE_KERNEL",
		.daemon = "separate-kernel", .word = "kernel", .alias = "kernel" },
	[OC_SEPARATE_THREAD] = { OC_TYPE_SWITCH, .key = "SEPARATE_THREAD",
		.daemon = "separate-thread", .word = "thread", .alias = "thread" },
	[OC_SEPARATE_CPU] = { OC_TYPE_SWITCH, .key = "SEPARATE_CPU",
		.daemon = "separate-cpu", .word = "cpu", .alias = "cpu" },
	[OC_SEPARATE_CGROUP] = { OC_TYPE_SWITCH, .key = "SEPARATE_CGROUP",
		.daemon = "separate-cgroup", .word = "cgroup", .alias = "cgroup" },
	[OC_SOURCE] = { OC_TYPE_SOURCE, "source",
		.argument = "WORD", .key = "SOURCE",
		.help = "take samples by module, perf, or auto: the module if it loads" },
	[OC_EVENT] = { OC_TYPE_EVENTS, "event", 'e', true,
		.argument = "EVENT,...", .text = TEXT(events),
		.help = "sample NAME:COUNT[:UM[:KERNEL[:USER]]], default or timer" },
	[OC_VMLINUX] = { OC_TYPE_FILE, "vmlinux",
		.argument = "FILE", .key = "VMLINUX",
		.daemon = "vmlinux", .text = TEXT(vmlinux),
		.help = "the uncompressed image of the running kernel" },
	[OC_NO_VMLINUX] = { OC_TYPE_NO_FILE, "no-vmlinux",
		.daemon = "no-vmlinux", .text = TEXT(vmlinux),
		.help = "use kernel symbols in /proc/kallsyms (default)" },
	[OC_SEPARATE] = { OC_TYPE_SWITCHES, "separate", 'p', true,
		.argument = "LIST",
		.help = "separate samples by none, lib, kernel, thread, cpu, cgroup or all" },
	[OC_IMAGE] = { OC_TYPE_IMAGES, "image", 'i', true,
		.argument = "PATH,...", .key = "IMAGE_FILTER",
		.daemon = "image", .text = TEXT(images),
		.help = "keep only samples of these programs and libraries, or all" },
	[OC_BUFFER_SIZE] = { OC_TYPE_NUMBER, "buffer-size",
		.argument = "NUM", .key = "BUF_SIZE",
		.help = "size of the kernel buffer in 64-bit words (0: unchanged)",
		.label = "Buffer size", .file = "buffer_size",
		.is_module_only = true, .min = 1024, .max = 1u << 27, .unit = 1 },
	[OC_BUFFER_WATERSHED] = { OC_TYPE_NUMBER, "buffer-watershed",
		.argument = "NUM", .key = "BUF_WATERSHED",
		.help = "wake the daemon when NUM words are left (0: unchanged)",
		.label = "Buffer watershed", .file = "buffer_watershed",
		.is_module_only = true, .min = 1, .max = 1u << 27, .unit = 1 },
	[OC_CPU_BUFFER_SIZE] = { OC_TYPE_NUMBER, "cpu-buffer-size",
		.argument = "NUM", .key = "CPU_BUF_SIZE",
		.help = "size of each CPU's buffer in samples (0: unchanged)",
		.label = "CPU buffer size", .file = "cpu_buffer_size",
		.is_module_only = true, .min = 16, .max = 1u << 22, .unit = 1 },
	[OC_TIMER_RATE] = { OC_TYPE_NUMBER, "timer-rate",
		.argument = "HZ", .key = "TIMER_RATE",
		.help = "take HZ samples per second and CPU in timer mode (0: unchanged)",
		.label = "Timer rate", .file = "timer/rate",
		.min = 1, .max = 100000, .unit = 1 },
	[OC_CALLGRAPH] = { OC_TYPE_NUMBER, "callgraph", 'c',
		.argument = "DEPTH", .key = "CALLGRAPH",
		.help = "take stacks of at most DEPTH callers (default 0: none)",
		.label = "Call-graph depth", .file = "backtrace_depth",
		.zero = "none", .min = 1, .max = 1024, .unit = 1 },
	[OC_CALLGRAPH_STACK] = { OC_TYPE_NUMBER, "callgraph-stack",
		.argument = "BYTES", .key = "CALLGRAPH_STACK",
		.help = "copy at most BYTES of a user stack (default 16384; 0: follow frame pointers)",
		.label = "Call-graph stack", .file = "backtrace_stack",
		.is_module_only = true, .zero = "frame pointers",
		.initial = 16384, .min = 8, .max = 65536, .unit = 8 },
	[OC_PACK_AT] = { OC_TYPE_NUMBER, "pack-at",
		.argument = "MIB", .key = "PACK_AT", .daemon = "pack-at",
		.help = "pack sample files when they exceed MIB MiB (default 8; 0: never)",
		.label = "Pack at", .zero = "never",
		.initial = OP_PACK_AT_DEFAULT, .min = 1, .max = OP_PACK_AT_MAX,
		.unit = 1 },
	[OC_MAX_DISK] = { OC_TYPE_NUMBER, "max-disk",
		.argument = "MIB", .key = "MAX_DISK", .daemon = "max-disk",
		.help = "limit the disk space of samples (0: no limit)",
		.label = "Max disk", .zero = "any", .min = 1,
		.max = OP_PACK_AT_MAX, .unit = 1 },
	[OC_CPU_BUDGET] = { OC_TYPE_BUDGET, "cpu-budget",
		.argument = "PERCENT", .key = "CPU_BUDGET",
		.daemon = "cpu-budget", .text = TEXT(cpu_budget),
		.help = OP_BUDGET_HELP },
	[OC_HISTORY] = { OC_TYPE_HISTORY, "history",
		.argument = "SIZE", .key = "HISTORY", .daemon = "history",
		.text = TEXT(history),
		.help = "keep samples by time in SIZE of the disk: SIZE[,GRAIN:AGE...], or none" },
	[OC_SYMBOL_STORE] = { OC_TYPE_NUMBER, "symbol-store",
		.argument = "MIB", .key = "SYMBOL_STORE",
		.help = "keep symbols of sampled files, at most MIB MiB (default 256; 0: none)",
		.label = "Symbol store", .zero = "none",
		.initial = OP_STORE_DEFAULT, .min = 1, .max = OP_STORE_MAX,
		.unit = 1 },
	[OC_READABLE_BY] = { OC_TYPE_GROUP, "readable-by",
		.argument = "GROUP", .key = "READABLE_BY",
		.daemon = "readable-by", .text = TEXT(readable_by),
		.help = "also let members of GROUP read sessions, or none" },
	[OC_RECORD] = { OC_TYPE_OUTPUT, "record",
		.argument = "FILE", .key = "RECORD",
		.daemon = "record", .text = TEXT(record),
		.help = "also write the stream of samples to FILE, or none" },
};

const char *const oc_source_names[OC_NR_SOURCES] = {
	[OC_SOURCE_AUTO] = "auto",
	[OC_SOURCE_MODULE] = "module",
	[OC_SOURCE_PERF] = "perf",
};
/* clang-format on */

void oc_settings_init(struct oc_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	strcpy(settings->session_dir, OP_SESSION_DIR_DEFAULT);
	for (int i = 0; i < OC_NR_SETTINGS; i++)
		settings->numbers[i] = oc_settings_table[i].initial;
}

const char *oc_settings_text(const struct oc_settings *settings, enum oc_row id)
{
	return (const char *)settings + oc_settings_table[id].text;
}

bool oc_settings_is_set(const struct oc_settings *settings, enum oc_row id)
{
	return settings->numbers[id] != oc_settings_table[id].initial;
}

/* ---- switches ------------------------------------------------------------ */

static bool is_setting_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* Turn on what the word of @len bytes stands for. Returns 0 or -EINVAL. */
static int separate_by_word(uint64_t *numbers, const char *word, size_t len)
{
	bool all = is_setting_word(word, len, "all");

	if (all || is_setting_word(word, len, "none")) {
		for (int i = OC_SEPARATE_LIB; i <= OC_SEPARATE_CGROUP; i++)
			numbers[i] = all && i != OC_SEPARATE_CGROUP;
		return 0;
	}
	for (int i = OC_SEPARATE_LIB; i <= OC_SEPARATE_CGROUP; i++) {
		const struct oc_setting *row = &oc_settings_table[i];

		if (!is_setting_word(word, len, row->word) &&
		    !is_setting_word(word, len, row->alias))
			continue;
		numbers[i] = true;
		if (i == OC_SEPARATE_KERNEL)
			numbers[OC_SEPARATE_LIB] = true;
		return 0;
	}
	return -EINVAL;
}

int oc_settings_separate(struct oc_settings *settings, const char *list,
			 struct op_diag *diag)
{
	uint64_t wanted[OC_NR_SETTINGS] = { 0 };
	const char *word = list;
	size_t len;

	for (;;) {
		len = strcspn(word, ", ");
		if (separate_by_word(wanted, word, len))
			return op_diag_set(
				diag, -EINVAL,
				"--separate=%s: \"%.*s\" is not one "
				"of none, lib, library, kernel, thread, cpu, cgroup and all",
				list, len < 64 ? (int)len : 64, word);
		if (!word[len])
			break;
		word += len + 1;
	}
	for (int i = OC_SEPARATE_LIB; i <= OC_SEPARATE_CGROUP; i++)
		settings->numbers[i] = wanted[i];
	return 0;
}

static int set_switches(struct oc_settings *settings,
			const struct oc_setting *row, const char *value,
			struct op_diag *diag)
{
	(void)row;
	return oc_settings_separate(settings, value, diag);
}

bool oc_settings_imply_library(struct oc_settings *settings)
{
	if (!settings->numbers[OC_CALLGRAPH] ||
	    settings->numbers[OC_SEPARATE_LIB])
		return false;
	settings->numbers[OC_SEPARATE_LIB] = true;
	return true;
}

/* ---- other words and numbers --------------------------------------------- */

int oc_settings_source(uint64_t *source, const char *word)
{
	for (uint64_t i = 0; i < OC_NR_SOURCES; i++) {
		if (!strcmp(word, oc_source_names[i])) {
			*source = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_source(struct oc_settings *settings,
		      const struct oc_setting *row, const char *value,
		      struct op_diag *diag)
{
	if (!oc_settings_source(&settings->numbers[OC_SOURCE], value))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--%s=%s: not a source; give auto, module or "
			   "perf",
			   row->option, value);
}

/* Whether the names are events depends on the machine: oc_events_check(). */
static int set_event_list(struct oc_settings *settings,
			  const struct oc_setting *row, const char *value,
			  struct op_diag *diag)
{
	if (!strcmp(value, "default"))
		value = "";
	else if (!*value)
		return op_diag_set(diag, -EINVAL,
				   "--event: no event; give NAME:COUNT, timer "
				   "or default");
	if (strlen(value) >= sizeof(settings->events) || strchr(value, '\n'))
		return op_diag_set(diag, -EINVAL,
				   "--%s=%.64s...: too long; give "
				   "NAME:COUNT,... in less than %zu bytes",
				   row->option, value,
				   sizeof(settings->events));
	strcpy(settings->events, value);
	return 0;
}

int oc_settings_check_number(const struct oc_setting *row, uint64_t value,
			     char *why, size_t len)
{
	if (value < row->min || value > row->max)
		snprintf(why, len, "not from %" PRIu64 " to %" PRIu64, row->min,
			 row->max);
	else if (value % row->unit)
		snprintf(why, len, "not a multiple of %" PRIu64, row->unit);
	else
		return 0;
	return -EINVAL;
}

static int set_bounded_number(struct oc_settings *settings,
			      const struct oc_setting *row, const char *value,
			      struct op_diag *diag)
{
	const char *zero = row->zero ? row->zero : "the default";
	uint64_t number;
	char why[64];

	if (op_parse_u64(value, &number))
		return op_diag_set(diag, -EINVAL,
				   "--%s=%s: not a whole number; give one, or "
				   "0 for %s",
				   row->option, value, zero);
	if (number && oc_settings_check_number(row, number, why, sizeof(why)))
		return op_diag_set(diag, -EINVAL,
				   "--%s=%s: %s; give a number in range, or 0 "
				   "for %s",
				   row->option, value, why, zero);
	settings->numbers[row - oc_settings_table] = number;
	return 0;
}

/* ---- paths --------------------------------------------------------------- */

static int refuse_newline(const char *option, const char *path,
			  struct op_diag *diag)
{
	if (!strchr(path, '\n'))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--%s=%s: a newline in the name; use another name "
			   "or a symbolic link",
			   option, path);
}

static int set_session_folder(struct oc_settings *settings,
			      const struct oc_setting *row, const char *value,
			      struct op_diag *diag)
{
	struct op_session session;
	int err;

	if (!*value)
		return op_diag_set(diag, -EINVAL,
				   "--session-dir: no folder; the default is "
				   "--session-dir=%s",
				   OP_SESSION_DIR_DEFAULT);
	err = refuse_newline(row->option, value, diag);
	if (!err)
		err = op_session_init(&session, value, diag);
	if (!err)
		err = refuse_newline(row->option, session.dir, diag);
	if (!err)
		memcpy(settings->session_dir, session.dir, sizeof(session.dir));
	return err;
}

static int set_kernel_file(struct oc_settings *settings,
			   const struct oc_setting *row, const char *value,
			   struct op_diag *diag)
{
	char path[PATH_MAX];
	int err;

	_Static_assert(PATH_MAX <= OC_PATH_MAX, "a real path fits");
	settings->vmlinux[0] = '\0';
	if (row->type == OC_TYPE_NO_FILE)
		return 0;
	err = op_vmlinux_check(value, "", "--no-vmlinux", diag);
	if (!err && !realpath(value, path))
		err = op_diag_set(diag, -errno, "--vmlinux=%s: %s", value,
				  strerror(errno));
	if (!err)
		err = refuse_newline(row->option, path, diag);
	if (!err)
		strcpy(settings->vmlinux, path);
	return err;
}

/* The daemon works in another folder. */
static int set_output_file(struct oc_settings *settings,
			   const struct oc_setting *row, const char *value,
			   struct op_diag *diag)
{
	char folder[PATH_MAX] = "";
	int err;

	if (!strcmp(value, "none"))
		value = "";
	else if (!*value)
		return op_diag_set(
			diag, -EINVAL,
			"--%s: no file is named; give a name, or none",
			row->option);
	if (*value && *value != '/' && !getcwd(folder, sizeof(folder)))
		return op_diag_set(diag, -errno,
				   "--%s=%s: %s; give an absolute path",
				   row->option, value, strerror(errno));
	if (strlen(folder) + strlen(value) + 2 > sizeof(settings->record))
		return op_diag_set(diag, -ENAMETOOLONG,
				   "--%s=%.64s...: the name is too long",
				   row->option, value);
	err = refuse_newline(row->option, value, diag);
	if (!err && *folder)
		err = refuse_newline(row->option, folder, diag);
	if (!err)
		sprintf(settings->record, "%s%s%s", folder, *folder ? "/" : "",
			value);
	return err;
}

static int set_group(struct oc_settings *settings, const struct oc_setting *row,
		     const char *value, struct op_diag *diag)
{
	gid_t group;
	int err = 0;

	if (!strcmp(value, "none"))
		value = "";
	else if (strlen(value) >= sizeof(settings->readable_by))
		err = op_diag_set(diag, -EINVAL,
				  "--%s=%.64s...: the name is too long",
				  row->option, value);
	else
		err = op_session_group(&group, value, diag)
			      ?: refuse_newline(row->option, value, diag);
	if (!err)
		strcpy(settings->readable_by, value);
	return err;
}

static int set_budget(struct oc_settings *settings,
		      const struct oc_setting *row, const char *value,
		      struct op_diag *diag)
{
	uint32_t budget;
	int err = op_budget_parse(&budget, value, diag);

	if (!err && strlen(value) >= sizeof(settings->cpu_budget))
		err = op_diag_set(diag, -EINVAL,
				  "--%s=%.64s...: give fewer digits",
				  row->option, value);
	if (!err)
		strcpy(settings->cpu_budget,
		       budget == OP_BUDGET_DEFAULT ? "" : value);
	return err;
}

static int set_history(struct oc_settings *settings,
		       const struct oc_setting *row, const char *value,
		       struct op_diag *diag)
{
	struct op_history history;
	int err = 0;

	if (strlen(value) >= sizeof(settings->history))
		return op_diag_set(diag, -EINVAL, "--%s=%.64s...: too long",
				   row->option, value);
	err = op_history_parse(&history, value, diag);
	if (!err)
		strcpy(settings->history, history.bytes ? value : "");
	return err;
}

/*
 * Put what the kernel calls the image @name in @real: the path of a file, but
 * also the name of a module or [vdso], or of a file that only a container sees.
 */
static int name_image_as_kernel(char *real, const char *name,
				struct op_diag *diag)
{
	if (!*name)
		return op_diag_set(diag, -EINVAL,
				   "--image: an empty name; give paths with "
				   "commas between, or all");
	if (!realpath(name, real)) {
		if (name[0] != '/' && strchr(name, '/'))
			return op_diag_set(diag, -errno,
					   "--image=%s: %s; give the whole "
					   "path, or --image=all",
					   name, strerror(errno));
		strcpy(real, name);
	}
	if (!strchr(real, ','))
		return refuse_newline("image", real, diag);
	return op_diag_set(diag, -EINVAL,
			   "--image=%s: commas separate names; profile all "
			   "images and choose in the report",
			   real);
}

/* Add the @len bytes at @name to the list in @images. */
static int add_filtered_image(char *images, const char *name, size_t len,
			      struct op_diag *diag)
{
	char given[PATH_MAX], real[PATH_MAX];
	size_t used = strlen(images);
	int err;

	if (len >= sizeof(given))
		return op_diag_set(diag, -EINVAL,
				   "--image=%.64s...: the name is too long",
				   name);
	memcpy(given, name, len);
	given[len] = '\0';
	err = name_image_as_kernel(real, given, diag);
	if (err)
		return err;
	if (used + strlen(real) + 2 > OC_IMAGES_MAX)
		return op_diag_set(diag, -EINVAL,
				   "--image: the list is longer than %d "
				   "bytes; name fewer",
				   OC_IMAGES_MAX);
	sprintf(images + used, "%s%s", used ? "," : "", real);
	return 0;
}

static int set_image_list(struct oc_settings *settings,
			  const struct oc_setting *row, const char *value,
			  struct op_diag *diag)
{
	char images[OC_IMAGES_MAX] = "";
	size_t len = 0;
	int err = 0;

	(void)row;
	if (!strcmp(value, "all"))
		value = NULL;
	for (; value && !err; value = value[len] ? value + len + 1 : NULL) {
		len = strcspn(value, ",");
		err = add_filtered_image(images, value, len, diag);
	}
	if (!err)
		strcpy(settings->images, images);
	return err;
}

/* ---- all of them --------------------------------------------------------- */

int oc_settings_apply(struct oc_settings *settings, char *const values[],
		      struct op_diag *diag)
{
	static int (*const set[OC_NR_TYPES])(struct oc_settings * settings,
					     const struct oc_setting *row,
					     const char *value,
					     struct op_diag *diag) = {
		[OC_TYPE_FOLDER] = set_session_folder,
		[OC_TYPE_FILE] = set_kernel_file,
		[OC_TYPE_OUTPUT] = set_output_file,
		[OC_TYPE_GROUP] = set_group,
		[OC_TYPE_BUDGET] = set_budget,
		[OC_TYPE_HISTORY] = set_history,
		[OC_TYPE_NO_FILE] = set_kernel_file,
		[OC_TYPE_IMAGES] = set_image_list,
		[OC_TYPE_EVENTS] = set_event_list,
		[OC_TYPE_SOURCE] = set_source,
		[OC_TYPE_SWITCHES] = set_switches,
		[OC_TYPE_NUMBER] = set_bounded_number,
	};
	uint64_t size, watershed;
	int err;

	for (int i = 0; i < OC_NR_SETTINGS; i++) {
		const struct oc_setting *row = &oc_settings_table[i];

		if (!values[i])
			continue;
		err = set[row->type](settings, row, values[i], diag);
		if (err)
			return err;
	}
	size = settings->numbers[OC_BUFFER_SIZE];
	watershed = settings->numbers[OC_BUFFER_WATERSHED];
	if (!size || watershed < size)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--buffer-watershed=%" PRIu64 ": not below the "
			   "buffer size of %" PRIu64 "; lower it or raise "
			   "--buffer-size",
			   watershed, size);
}
