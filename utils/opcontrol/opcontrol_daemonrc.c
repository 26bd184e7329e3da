// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading and writing the settings file, row by row of oc_settings_table.
 *
 * The file decides where root writes, so it is read only if nobody but root
 * and the caller can have written it. A value that makes no sense is refused
 * with its line, never replaced by a default. Events are not one key but a
 * count and numbered keys, as the original shell script had them.
 *
 * White space at the ends of a value does not survive op_config, so a text
 * with some there, or with a double quote, is written in double quotes.
 */

#include "utils/opcontrol/opcontrol_daemonrc.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/session/op_budget.h"
#include "libop/files/op_config.h"
#include "libop/files/op_folder.h"

#define NR_CHOSEN "NR_CHOSEN"
#define CHOSEN "CHOSEN_EVENTS_"

int oc_daemonrc_init(struct oc_daemonrc *rc, struct op_diag *diag)
{
	const char *home = getenv("HOME");
	int n;

	memset(rc, 0, sizeof(*rc));
	if (!home || !*home) {
		if (geteuid())
			return 0;
		home = "/root";
	}
	n = snprintf(rc->folder, sizeof(rc->folder), "%s/.oprofile", home);
	if (home[0] != '/' || n >= (int)sizeof(rc->folder))
		return op_diag_set(diag, -EINVAL,
				   "HOME: \"%.128s\" is not an absolute path, "
				   "or is too long; set it to your home folder",
				   home);
	snprintf(rc->path, sizeof(rc->path), "%s/daemonrc", rc->folder);
	snprintf(rc->pending, sizeof(rc->pending), "%s/daemonrc_new",
		 rc->folder);
	return 0;
}

/* With a HOME that sudo has kept, the folder can be anyone's. */
static int check_rc_owner(const char *path, struct op_diag *diag)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? -ENOENT
				       : op_diag_set(diag, -errno,
						     "%s: %s; set HOME to your "
						     "own home folder",
						     path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return op_diag_set(diag, -EPERM,
				   "%s: it belongs to user %u; set HOME to "
				   "your own home folder, or remove it",
				   path, st.st_uid);
	if (st.st_mode & S_IWOTH)
		return op_diag_set(
			diag, -EPERM,
			"%s: everyone may write to it; check what it "
			"says, then chmod o-w",
			path);
	return 0;
}

/* -ENOENT without a reason when there is no such file. */
static int read_config(struct op_config **config, const struct oc_daemonrc *rc,
		       const char *path, struct op_diag *diag)
{
	int err = rc->folder[0] ? check_rc_owner(rc->folder, diag) : -ENOENT;

	if (!err)
		err = check_rc_owner(path, diag);
	if (!err)
		err = op_config_read(config, path, diag);
	return err;
}

/* The file that values are read from, and where to tell what is wrong. */
struct rc_reader {
	const struct op_config *config;
	const char *path;
	struct op_diag *diag;
};

static int refuse_value(const struct rc_reader *reader, const char *key,
			const char *value, const char *why)
{
	return op_diag_set(reader->diag, -EINVAL,
			   "%s: %s=%.128s: %s; correct or remove that line",
			   reader->path, key, value, why);
}

/* Put @value, which may stand in double quotes, in @buf. */
static int load_text(const struct rc_reader *reader, const char *key,
		     const char *value, char *buf, size_t len)
{
	size_t n = strlen(value);

	if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
		value++;
		n -= 2;
	}
	if (n >= len)
		return refuse_value(reader, key, value, "too long");
	memcpy(buf, value, n);
	buf[n] = '\0';
	return 0;
}

static int load_path(const struct rc_reader *reader,
		     const struct oc_setting *row, const char *value, char *buf)
{
	char path[OC_PATH_MAX] = "";
	int err;

	if (row->type == OC_TYPE_FILE && !strcmp(value, "none"))
		value = "";
	err = load_text(reader, row->key, value, path, sizeof(path));
	if (!err && *path && *path != '/')
		err = refuse_value(reader, row->key, path,
				   "not an absolute path");
	/* An empty folder is the default. */
	if (!err && (*path || row->type == OC_TYPE_FILE))
		strcpy(buf, path);
	return err;
}

/* CHOSEN_EVENTS_0 and so on, NR_CHOSEN of them. */
static int load_chosen_events(const struct rc_reader *reader, char *events)
{
	const char *value = op_config_find(reader->config, NR_CHOSEN);
	size_t used = 0;
	uint64_t nr = 0;
	char key[40];
	int err = 0;

	if (value && *value)
		err = op_config_get_u64(reader->config, NR_CHOSEN, &nr,
					reader->diag);
	for (uint64_t i = 0; i < nr && !err; i++) {
		snprintf(key, sizeof(key), CHOSEN "%" PRIu64, i);
		value = op_config_find(reader->config, key);
		if (!value || !*value)
			return op_diag_set(reader->diag, -EINVAL,
					   "%s: %s: there is no such line, "
					   "although " NR_CHOSEN " is %" PRIu64
					   "; correct or remove that",
					   reader->path, key, nr);
		if (used + strlen(value) + 2 > OC_EVENTS_MAX)
			return refuse_value(reader, key, value, "too long");
		used += (size_t)sprintf(events + used, "%s%s", used ? "," : "",
					value);
	}
	return err;
}

static int load_number(const struct rc_reader *reader,
		       const struct oc_setting *row, const char *value,
		       uint64_t *number)
{
	char why[64];
	int err = op_config_get_u64(reader->config, row->key, number,
				    reader->diag);

	if (err || !*number ||
	    !oc_settings_check_number(row, *number, why, sizeof(why)))
		return err;
	return refuse_value(reader, row->key, value, why);
}

/* A setting that is not in the file keeps its default. */
static int load_budget(const struct rc_reader *reader, const char *key,
		       const char *value, char *text)
{
	struct op_diag why = { "" };
	uint32_t budget;

	if (op_budget_parse(&budget, value, &why))
		return refuse_value(reader, key, value,
				    "not percent of each CPU");
	return load_text(reader, key, value, text, OC_BUDGET_MAX);
}

static int load_setting(const struct rc_reader *reader,
			struct oc_settings *settings, enum oc_row id)
{
	const struct oc_setting *row = &oc_settings_table[id];
	const char *value =
		row->key ? op_config_find(reader->config, row->key) : NULL;
	uint64_t *number = &settings->numbers[id];
	char *text = (char *)settings + row->text;

	if (row->type == OC_TYPE_EVENTS)
		return load_chosen_events(reader, text);
	if (!value || !*value)
		return 0;
	switch (row->type) {
	case OC_TYPE_FOLDER:
	case OC_TYPE_FILE:
	case OC_TYPE_OUTPUT:
		return load_path(reader, row, value, text);
	case OC_TYPE_GROUP:
		return load_text(reader, row->key, value, text, OC_GROUP_MAX);
	case OC_TYPE_BUDGET:
		return load_budget(reader, row->key, value, text);
	case OC_TYPE_HISTORY:
		return load_text(reader, row->key, value, text, OC_HISTORY_MAX);
	case OC_TYPE_IMAGES:
		return load_text(reader, row->key, value, text, OC_IMAGES_MAX);
	case OC_TYPE_SOURCE:
		if (!oc_settings_source(number, value))
			return 0;
		return refuse_value(reader, row->key, value,
				    "not auto, module or perf");
	case OC_TYPE_SWITCH:
		*number = *value == '1';
		if ((*value == '0' || *value == '1') && !value[1])
			return 0;
		return refuse_value(reader, row->key, value, "neither 0 nor 1");
	default:
		return load_number(reader, row, value, number);
	}
}

int oc_daemonrc_read(const struct oc_daemonrc *rc, const char *path,
		     struct oc_settings *settings, struct op_diag *diag)
{
	struct rc_reader reader = { .path = path, .diag = diag };
	struct op_config *config;
	int err = read_config(&config, rc, path, diag);

	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	reader.config = config;
	oc_settings_init(settings);
	for (int i = 0; i < OC_NR_SETTINGS && !err; i++)
		err = load_setting(&reader, settings, i);
	op_config_free(config);
	if (settings->numbers[OC_SEPARATE_KERNEL])
		settings->numbers[OC_SEPARATE_LIB] = true;
	oc_settings_imply_library(settings);
	return err;
}

static bool can_end_value(char c)
{
	return c != '"' && !isspace((unsigned char)c);
}

static int store_text(struct op_config *config, const char *key,
		      const char *value)
{
	char quoted[OC_IMAGES_MAX + 4];
	size_t len = strlen(value);

	if (!len || (can_end_value(value[0]) && can_end_value(value[len - 1])))
		return op_config_set(config, key, value);
	snprintf(quoted, sizeof(quoted), "\"%s\"", value);
	return op_config_set(config, key, quoted);
}

/* Store a list, and remove what a longer list had left. */
static int store_chosen_events(struct op_config *config, const char *events)
{
	char list[OC_EVENTS_MAX], *rest = list, *event;
	uint64_t nr = 0, last;
	char key[40];
	int err = 0;

	strcpy(list, events);
	while (*list && !err && (event = strsep(&rest, ","))) {
		snprintf(key, sizeof(key), CHOSEN "%" PRIu64, nr++);
		err = op_config_set(config, key, event);
	}
	for (last = nr;; last++) {
		snprintf(key, sizeof(key), CHOSEN "%" PRIu64, last);
		if (!op_config_find(config, key))
			break;
		op_config_unset(config, key);
	}
	return err ? err : op_config_set_u64(config, NR_CHOSEN, nr);
}

/* Returns 0, -ENOMEM or -EINVAL. */
static int store_setting(struct op_config *config,
			 const struct oc_settings *settings, enum oc_row id)
{
	const struct oc_setting *row = &oc_settings_table[id];
	const char *text = oc_settings_text(settings, id);
	uint64_t number = settings->numbers[id];

	if (row->type == OC_TYPE_EVENTS)
		return store_chosen_events(config, text);
	if (!row->key)
		return 0;
	switch (row->type) {
	case OC_TYPE_FOLDER:
	case OC_TYPE_IMAGES:
		return store_text(config, row->key, text);
	case OC_TYPE_FILE:
		return store_text(config, row->key, *text ? text : "none");
	case OC_TYPE_OUTPUT:
	case OC_TYPE_GROUP:
	case OC_TYPE_BUDGET:
	case OC_TYPE_HISTORY:
		if (*text)
			return store_text(config, row->key, text);
		op_config_unset(config, row->key);
		return 0;
	case OC_TYPE_SOURCE:
		return op_config_set(config, row->key, oc_source_names[number]);
	case OC_TYPE_SWITCH:
		return op_config_set_u64(config, row->key, number);
	default:
		if (oc_settings_is_set(settings, id))
			return op_config_set_u64(config, row->key, number);
		op_config_unset(config, row->key);
		return 0;
	}
}

/* Nobody else may read the settings: they have paths and names of events. */
static int write_to_folder(const struct oc_daemonrc *rc,
			   const struct op_config *config, const char *path,
			   struct op_diag *diag)
{
	int err = op_make_folder(rc->folder, 0700);

	if (err)
		return op_diag_set(
			diag, err,
			"%s: cannot make the folder for settings: %s; set HOME to a folder of yours",
			rc->folder, strerror(-err));
	if (chmod(rc->folder, 0700))
		return op_diag_set(diag, -errno, "%s: %s", rc->folder,
				   strerror(errno));
	return op_config_write(config, path, 0600, diag);
}

int oc_daemonrc_write(const struct oc_daemonrc *rc, const char *path,
		      const char *base, const struct oc_settings *settings,
		      struct op_diag *diag)
{
	struct op_config *config = NULL;
	int err = read_config(&config, rc, base, diag);

	if (err == -ENOENT) {
		config = op_config_new();
		err = config ? 0 : -ENOMEM;
	}
	for (int i = 0; i < OC_NR_SETTINGS && !err; i++)
		err = store_setting(config, settings, i);
	if (err)
		op_diag_set(diag, err, "%s: cannot keep the settings: %s", path,
			    strerror(-err));
	err = err ?: write_to_folder(rc, config, path, diag);
	op_config_free(config);
	return err;
}

bool oc_daemonrc_has_pending(const struct oc_daemonrc *rc)
{
	return rc->folder[0] && !access(rc->pending, F_OK);
}

int oc_daemonrc_adopt(const struct oc_daemonrc *rc, struct op_diag *diag)
{
	if (rename(rc->pending, rc->path))
		return op_diag_set(diag, -errno,
				   "%s: cannot be renamed to daemonrc: %s",
				   rc->pending, strerror(errno));
	return 0;
}
