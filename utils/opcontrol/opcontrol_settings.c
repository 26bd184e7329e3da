// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options that are kept, and what may stand in them.
 */

#include "utils/opcontrol/opcontrol_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_config.h"
#include "libop/op_session.h"
#include "libop/op_vmlinux.h"

/* clang-format off */
const struct oc_number_info oc_numbers[OC_NR_NUMBERS] = {
	[OC_BUFFER_SIZE] = { "BUF_SIZE", "buffer_size", true,
		NULL, "Buffer size", 0, 1024, 1u << 27, 1 },
	[OC_BUFFER_WATERSHED] = { "BUF_WATERSHED", "buffer_watershed", true,
		NULL, "Buffer watershed", 0, 1, 1u << 27, 1 },
	[OC_CPU_BUFFER_SIZE] = { "CPU_BUF_SIZE", "cpu_buffer_size", true,
		NULL, "CPU buffer size", 0, 16, 1u << 22, 1 },
	[OC_TIMER_RATE] = { "TIMER_RATE", "timer/rate", false,
		NULL, "Timer rate", 0, 1, 100000, 1 },
	[OC_CALLGRAPH] = { "CALLGRAPH", "backtrace_depth", false,
		"none", "Call-graph depth", 0, 1, 1024, 1 },
	[OC_CALLGRAPH_STACK] = { "CALLGRAPH_STACK", "backtrace_stack", true,
		"frame pointers", "Call-graph stack", 16384, 8, 65536, 8 },
	[OC_PACK_AT] = { "PACK_AT", NULL, false,
		"never", "Pack at", OP_PACK_AT_DEFAULT, 1, OP_PACK_AT_MAX, 1 },
};

const char *const oc_source_names[OC_NR_SOURCES] = {
	[OC_SOURCE_AUTO] = "auto",
	[OC_SOURCE_MODULE] = "module",
	[OC_SOURCE_PERF] = "perf",
};

const struct oc_separate_info oc_separates[OC_NR_SEPARATE] = {
	[OC_SEPARATE_LIB] = { "library", "lib", "SEPARATE_LIB",
		"separate-lib" },
	[OC_SEPARATE_KERNEL] = { "kernel", "kernel", "SEPARATE_KERNEL",
		"separate-kernel" },
	[OC_SEPARATE_THREAD] = { "thread", "thread", "SEPARATE_THREAD",
		"separate-thread" },
	[OC_SEPARATE_CPU] = { "cpu", "cpu", "SEPARATE_CPU",
		"separate-cpu" },
};
/* clang-format on */

void oc_settings_init(struct oc_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	strcpy(settings->session_dir, OP_SESSION_DIR_DEFAULT);
	for (int i = 0; i < OC_NR_NUMBERS; i++)
		settings->numbers[i] = oc_numbers[i].initial;
}

static void separate_all(bool separate[], bool on)
{
	for (int i = 0; i < OC_NR_SEPARATE; i++)
		separate[i] = on;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

static int separate_word(bool separate[], const char *word, size_t len)
{
	if (is_word(word, len, "none") || is_word(word, len, "all")) {
		separate_all(separate, word[0] == 'a');
		return 0;
	}
	for (int i = 0; i < OC_NR_SEPARATE; i++) {
		if (!is_word(word, len, oc_separates[i].word) &&
		    !is_word(word, len, oc_separates[i].alias))
			continue;
		separate[i] = true;
		if (i == OC_SEPARATE_KERNEL)
			separate[OC_SEPARATE_LIB] = true;
		return 0;
	}
	return -EINVAL;
}

int oc_settings_separate(bool separate[], const char *list,
			 struct op_diag *diag)
{
	bool wanted[OC_NR_SEPARATE] = { false };
	const char *word = list;
	size_t len;

	for (;;) {
		len = strcspn(word, ", ");
		if (separate_word(wanted, word, len))
			return op_diag_set(diag, -EINVAL,
					   "--separate=%s: \"%.*s\" is none of "
					   "none, lib, library, kernel, "
					   "thread, cpu and all",
					   list, len < 64 ? (int)len : 64,
					   word);
		if (!word[len])
			break;
		word += len + 1;
	}
	memcpy(separate, wanted, sizeof(wanted));
	return 0;
}

const char *oc_settings_separate_text(const bool separate[], char *buf)
{
	char *p = buf;

	*buf = '\0';
	for (int i = 0; i < OC_NR_SEPARATE; i++) {
		if (separate[i])
			p += sprintf(p, "%s%s", p == buf ? "" : " ",
				     oc_separates[i].word);
	}
	return *buf ? buf : "none";
}

static int set_separate(struct oc_settings *settings,
			const struct oc_setting *row, const char *value,
			struct op_diag *diag)
{
	(void)row;
	return oc_settings_separate(settings->separate, value, diag);
}

int oc_settings_source(enum oc_source *source, const char *word)
{
	for (int i = 0; i < OC_NR_SOURCES; i++) {
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
	if (!oc_settings_source(&settings->source, value))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--%s=%s: none of auto, module and perf; give one "
			   "of these",
			   row->option, value);
}

/* Whether the names are events depends on the machine: oc_events_check(). */
static int set_event(struct oc_settings *settings, const struct oc_setting *row,
		     const char *value, struct op_diag *diag)
{
	if (!strcmp(value, "default"))
		value = "";
	else if (!*value)
		return op_diag_set(diag, -EINVAL,
				   "--event: no event; give NAME:COUNT, timer "
				   "or default");
	if (strlen(value) >= sizeof(settings->events) || strchr(value, '\n'))
		return op_diag_set(diag, -EINVAL,
				   "--%s=%.64s...: no list of events; give "
				   "NAME:COUNT,... in less than %zu bytes",
				   row->option, value,
				   sizeof(settings->events));
	strcpy(settings->events, value);
	return 0;
}

static const char *zero_means(const struct oc_number_info *info)
{
	return info->zero ? info->zero : "the usual one";
}

bool oc_settings_is_set(const struct oc_settings *settings,
			enum oc_number number)
{
	return settings->numbers[number] != oc_numbers[number].initial;
}

int oc_settings_check_number(const struct oc_number_info *info, uint64_t value,
			     char *why, size_t len)
{
	if (value < info->min || value > info->max)
		snprintf(why, len, "not from %" PRIu64 " to %" PRIu64,
			 info->min, info->max);
	else if (value % info->unit)
		snprintf(why, len, "not a multiple of %" PRIu64, info->unit);
	else
		return 0;
	return -EINVAL;
}

static int set_number(struct oc_settings *settings,
		      const struct oc_setting *row, const char *value,
		      struct op_diag *diag)
{
	const struct oc_number_info *info = &oc_numbers[row->number];
	uint64_t number;
	char why[64];

	if (op_parse_u64(value, &number))
		return op_diag_set(diag, -EINVAL,
				   "--%s=%s: not a whole number; give one, or "
				   "0 for %s",
				   row->option, value, zero_means(info));
	if (number && oc_settings_check_number(info, number, why, sizeof(why)))
		return op_diag_set(diag, -EINVAL,
				   "--%s=%s: %s; give a number that is, or 0 "
				   "for %s",
				   row->option, value, why, zero_means(info));
	settings->numbers[row->number] = number;
	return 0;
}

/* A line of the settings file ends at a newline. */
static int check_newline(const char *option, const char *path,
			 struct op_diag *diag)
{
	if (!strchr(path, '\n'))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--%s=%s: a newline in the name; use another name "
			   "or a symbolic link",
			   option, path);
}

static int set_session_dir(struct oc_settings *settings,
			   const struct oc_setting *row, const char *value,
			   struct op_diag *diag)
{
	struct op_session session;
	int err;

	if (!*value)
		return op_diag_set(diag, -EINVAL,
				   "--session-dir: no folder; the usual one is "
				   "--session-dir=%s",
				   OP_SESSION_DIR_DEFAULT);
	err = check_newline(row->option, value, diag);
	if (!err)
		err = op_session_init(&session, value, diag);
	if (!err)
		err = check_newline(row->option, session.dir, diag);
	if (!err)
		memcpy(settings->session_dir, session.dir, sizeof(session.dir));
	return err;
}

int oc_settings_check_vmlinux(const char *path, struct op_diag *diag)
{
	return op_vmlinux_check(path, "--no-vmlinux", diag);
}

/* The daemon works in another folder: it gets absolute paths only. */
static int set_vmlinux(struct oc_settings *settings,
		       const struct oc_setting *row, const char *value,
		       struct op_diag *diag)
{
	int err = oc_settings_check_vmlinux(value, diag);
	char path[PATH_MAX];

	_Static_assert(PATH_MAX <= OC_PATH_MAX, "a real path fits");
	if (!err && !realpath(value, path))
		err = op_diag_set(diag, -errno, "--vmlinux=%s: %s", value,
				  strerror(errno));
	if (!err)
		err = check_newline(row->option, path, diag);
	if (!err)
		strcpy(settings->vmlinux, path);
	return err;
}

static int set_no_vmlinux(struct oc_settings *settings,
			  const struct oc_setting *row, const char *value,
			  struct op_diag *diag)
{
	(void)row;
	(void)value;
	(void)diag;
	settings->vmlinux[0] = '\0';
	return 0;
}

/*
 * What the kernel calls the image that @name stands for: the path of a file,
 * but also the name of a module or [vdso], or of a file that only a container
 * sees.
 */
static int image_name(char *real, const char *name, struct op_diag *diag)
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
		return check_newline("image", real, diag);
	return op_diag_set(diag, -EINVAL,
			   "--image=%s: commas separate names; profile all "
			   "images and choose in the report",
			   real);
}

/* Add the @len bytes at @name to the list in @images. */
static int add_image(char *images, const char *name, size_t len,
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
	err = image_name(real, given, diag);
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

static int set_image(struct oc_settings *settings, const struct oc_setting *row,
		     const char *value, struct op_diag *diag)
{
	char images[OC_IMAGES_MAX] = "";
	size_t len = 0;
	int err = 0;

	(void)row;
	if (!strcmp(value, "all"))
		value = NULL;
	for (; value && !err; value = value[len] ? value + len + 1 : NULL) {
		len = strcspn(value, ",");
		err = add_image(images, value, len, diag);
	}
	if (!err)
		strcpy(settings->images, images);
	return err;
}

/* clang-format off */
const struct oc_setting oc_settings_table[OC_NR_SETTINGS] = {
	{ .option = "session-dir", .argument = "DIR", .set = set_session_dir,
	  .help = "keep samples in DIR (" OP_SESSION_DIR_DEFAULT ")" },
	{ .option = "source", .argument = "WORD", .set = set_source,
	  .help = "sample by the module, by perf, or auto: module if it loads" },
	{ .option = "event", .letter = 'e', .argument = "EVENT,...",
	  .repeats = true, .set = set_event,
	  .help = "NAME:COUNT[:UM[:KERNEL[:USER]]] to sample, default or timer" },
	{ .option = "vmlinux", .argument = "FILE", .set = set_vmlinux,
	  .help = "the kernel's own image, uncompressed" },
	{ .option = "no-vmlinux", .set = set_no_vmlinux,
	  .help = "kernel symbols from /proc/kallsyms (default)" },
	{ .option = "separate", .letter = 'p', .argument = "LIST",
	  .repeats = true, .set = set_separate,
	  .help = "keep samples apart by none, lib, kernel, thread, cpu or all" },
	{ .option = "image", .letter = 'i', .argument = "PATH,...",
	  .repeats = true, .set = set_image,
	  .help = "keep samples of these programs and libraries only, or all" },
	{ .option = "buffer-size", .argument = "NUM", .set = set_number,
	  .number = OC_BUFFER_SIZE,
	  .help = "kernel buffer in 64-bit words (0: as it is)" },
	{ .option = "buffer-watershed", .argument = "NUM", .set = set_number,
	  .number = OC_BUFFER_WATERSHED,
	  .help = "wake the daemon when so many words are left (0: as it is)" },
	{ .option = "cpu-buffer-size", .argument = "NUM", .set = set_number,
	  .number = OC_CPU_BUFFER_SIZE,
	  .help = "samples in each CPU's buffer (0: as it is)" },
	{ .option = "timer-rate", .argument = "HZ", .set = set_number,
	  .number = OC_TIMER_RATE,
	  .help = "samples per second and CPU in timer mode (0: as it is)" },
	{ .option = "callgraph", .letter = 'c', .argument = "DEPTH",
	  .set = set_number, .number = OC_CALLGRAPH,
	  .help = "take stacks of at most DEPTH callers (0: none)" },
	{ .option = "callgraph-stack", .argument = "BYTES",
	  .set = set_number, .number = OC_CALLGRAPH_STACK,
	  .help = "of a user's stack (16384; 0: follow frame pointers)" },
	{ .option = "pack-at", .argument = "MIB", .set = set_number,
	  .number = OC_PACK_AT,
	  .help = "pack sample files that take more than this (8; 0: never)" },
};
/* clang-format on */

static int check_watershed(const struct oc_settings *settings,
			   struct op_diag *diag)
{
	uint64_t size = settings->numbers[OC_BUFFER_SIZE];
	uint64_t watershed = settings->numbers[OC_BUFFER_WATERSHED];

	if (!size || watershed < size)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--buffer-watershed=%" PRIu64 ": not below the "
			   "buffer size of %" PRIu64 "; lower it or raise "
			   "--buffer-size",
			   watershed, size);
}

bool oc_settings_imply_library(struct oc_settings *settings)
{
	if (!settings->numbers[OC_CALLGRAPH] ||
	    settings->separate[OC_SEPARATE_LIB])
		return false;
	settings->separate[OC_SEPARATE_LIB] = true;
	return true;
}

int oc_settings_apply(struct oc_settings *settings, char *const values[],
		      struct op_diag *diag)
{
	int err = 0;

	for (int i = 0; i < OC_NR_SETTINGS && !err; i++) {
		const struct oc_setting *row = &oc_settings_table[i];

		if (values[i])
			err = row->set(settings, row, values[i], diag);
	}
	return err ? err : check_watershed(settings, diag);
}
