// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading and writing the settings file.
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

#include "libop/op_config.h"

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
		return op_diag_set(
			diag, -EINVAL,
			"HOME: \"%.128s\" is no absolute path of a "
			"sensible length; set it to your home folder",
			home);
	snprintf(rc->path, sizeof(rc->path), "%s/daemonrc", rc->folder);
	snprintf(rc->pending, sizeof(rc->pending), "%s/daemonrc_new",
		 rc->folder);
	return 0;
}

/*
 * What is read here decides where root writes, so nobody else may have had a
 * hand in it: with a HOME kept by sudo the folder can be anyone's.
 */
static int check_owner(const char *path, struct op_diag *diag)
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
	int err = rc->folder[0] ? check_owner(rc->folder, diag) : -ENOENT;

	if (!err)
		err = check_owner(path, diag);
	if (!err)
		err = op_config_read(config, path, diag);
	return err;
}

static int bad_value(const char *path, const char *key, const char *value,
		     const char *why, struct op_diag *diag)
{
	return op_diag_set(diag, -EINVAL,
			   "%s: %s=%.128s: %s; correct or remove that line",
			   path, key, value, why);
}

/* The value of @key without quotes in @buf, "" where there is none. */
static int load_text(const struct op_config *config, const char *path,
		     const char *key, char *buf, size_t len,
		     struct op_diag *diag)
{
	const char *value = op_config_find(config, key);
	size_t n;

	*buf = '\0';
	if (!value)
		return 0;
	n = strlen(value);
	if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
		value++;
		n -= 2;
	}
	if (n >= len)
		return bad_value(path, key, value, "too long", diag);
	memcpy(buf, value, n);
	buf[n] = '\0';
	return 0;
}

static int load_path(const struct op_config *config, const char *path,
		     const char *key, char *buf, struct op_diag *diag)
{
	int err = load_text(config, path, key, buf, OC_PATH_MAX, diag);

	if (!err && *buf && *buf != '/')
		err = bad_value(path, key, buf, "no absolute path", diag);
	return err;
}

static int load_session_dir(const struct op_config *config, const char *path,
			    struct oc_settings *settings, struct op_diag *diag)
{
	char dir[OC_PATH_MAX];
	int err = load_path(config, path, "SESSION_DIR", dir, diag);

	if (!err && *dir)
		strcpy(settings->session_dir, dir);
	return err;
}

static int load_vmlinux(const struct op_config *config, const char *path,
			struct oc_settings *settings, struct op_diag *diag)
{
	const char *value = op_config_find(config, "VMLINUX");

	settings->vmlinux[0] = '\0';
	if (!value || !strcmp(value, "none"))
		return 0;
	return load_path(config, path, "VMLINUX", settings->vmlinux, diag);
}

static int load_source(const struct op_config *config, const char *path,
		       struct oc_settings *settings, struct op_diag *diag)
{
	const char *value = op_config_find(config, "SOURCE");

	if (!value || !*value || !oc_settings_source(&settings->source, value))
		return 0;
	return bad_value(path, "SOURCE", value, "none of auto, module and perf",
			 diag);
}

/* CHOSEN_EVENTS_0 and so on, NR_CHOSEN of them. */
static int load_events(const struct op_config *config, const char *path,
		       struct oc_settings *settings, struct op_diag *diag)
{
	const char *value = op_config_find(config, NR_CHOSEN);
	size_t used = 0;
	uint64_t nr = 0;
	char key[40];
	int err = 0;

	settings->events[0] = '\0';
	if (value && *value)
		err = op_config_get_u64(config, NR_CHOSEN, &nr, diag);
	for (uint64_t i = 0; i < nr && !err; i++) {
		snprintf(key, sizeof(key), CHOSEN "%" PRIu64, i);
		value = op_config_find(config, key);
		if (!value || !*value)
			return op_diag_set(diag, -EINVAL,
					   "%s: %s: there is no such line, "
					   "though " NR_CHOSEN " is %" PRIu64
					   "; correct or remove that",
					   path, key, nr);
		if (used + strlen(value) + 2 > sizeof(settings->events))
			return bad_value(path, key, value, "too long", diag);
		used += (size_t)sprintf(settings->events + used, "%s%s",
					used ? "," : "", value);
	}
	return err;
}

static int load_separate(const struct op_config *config, const char *path,
			 struct oc_settings *settings, struct op_diag *diag)
{
	for (int i = 0; i < OC_NR_SEPARATE; i++) {
		const char *key = oc_separates[i].key;
		const char *value = op_config_find(config, key);

		if (!value || !*value)
			continue;
		if (strcmp(value, "0") && strcmp(value, "1"))
			return bad_value(path, key, value, "neither 0 nor 1",
					 diag);
		settings->separate[i] = *value == '1';
	}
	if (settings->separate[OC_SEPARATE_KERNEL])
		settings->separate[OC_SEPARATE_LIB] = true;
	return 0;
}

static int load_number(const struct op_config *config, const char *path,
		       const struct oc_number_info *info, uint64_t *out,
		       struct op_diag *diag)
{
	const char *value = op_config_find(config, info->key);
	char why[64];
	int err;

	*out = info->initial;
	if (!value || !*value)
		return 0;
	err = op_config_get_u64(config, info->key, out, diag);
	if (err || !*out ||
	    !oc_settings_check_number(info, *out, why, sizeof(why)))
		return err;
	return bad_value(path, info->key, value, why, diag);
}

static int load_numbers(const struct op_config *config, const char *path,
			struct oc_settings *settings, struct op_diag *diag)
{
	int err = 0;

	for (int i = 0; i < OC_NR_NUMBERS && !err; i++)
		err = load_number(config, path, &oc_numbers[i],
				  &settings->numbers[i], diag);
	return err;
}

int oc_daemonrc_read(const struct oc_daemonrc *rc, const char *path,
		     struct oc_settings *settings, struct op_diag *diag)
{
	struct op_config *config;
	int err = read_config(&config, rc, path, diag);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = load_session_dir(config, path, settings, diag);
	if (!err)
		err = load_vmlinux(config, path, settings, diag);
	if (!err)
		err = load_text(config, path, "IMAGE_FILTER", settings->images,
				sizeof(settings->images), diag);
	if (!err)
		err = load_source(config, path, settings, diag);
	if (!err)
		err = load_events(config, path, settings, diag);
	if (!err)
		err = load_separate(config, path, settings, diag);
	if (!err)
		err = load_numbers(config, path, settings, diag);
	if (!err)
		oc_settings_imply_library(settings);
	op_config_free(config);
	return err;
}

static bool can_end_value(char c)
{
	return c != '"' && !isspace((unsigned char)c);
}

/* All store_*() return 0, -ENOMEM or -EINVAL. */
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

/* The lines of a longer list before are taken away. */
static void drop_events(struct op_config *config, uint64_t from)
{
	char key[40];

	do {
		snprintf(key, sizeof(key), CHOSEN "%" PRIu64, from++);
		if (!op_config_find(config, key))
			return;
		op_config_unset(config, key);
	} while (true);
}

static int store_events(struct op_config *config, const char *events)
{
	char list[OC_EVENTS_MAX], *rest = list, *event;
	uint64_t nr = 0;
	char key[40];
	int err = 0;

	strcpy(list, events);
	while (*list && !err && (event = strsep(&rest, ","))) {
		snprintf(key, sizeof(key), CHOSEN "%" PRIu64, nr++);
		err = op_config_set(config, key, event);
	}
	drop_events(config, nr);
	return err ? err : op_config_set_u64(config, NR_CHOSEN, nr);
}

static int store_separate(struct op_config *config,
			  const struct oc_settings *settings)
{
	int err = 0;

	for (int i = 0; i < OC_NR_SEPARATE && !err; i++)
		err = op_config_set(config, oc_separates[i].key,
				    settings->separate[i] ? "1" : "0");
	return err;
}

static int store_numbers(struct op_config *config,
			 const struct oc_settings *settings)
{
	int err = 0;

	for (int i = 0; i < OC_NR_NUMBERS && !err; i++) {
		if (oc_settings_is_set(settings, i))
			err = op_config_set_u64(config, oc_numbers[i].key,
						settings->numbers[i]);
		else
			op_config_unset(config, oc_numbers[i].key);
	}
	return err;
}

static int store_settings(struct op_config *config,
			  const struct oc_settings *settings)
{
	const char *vmlinux = settings->vmlinux;
	int err = store_text(config, "SESSION_DIR", settings->session_dir);

	if (!err)
		err = store_text(config, "VMLINUX",
				 *vmlinux ? vmlinux : "none");
	if (!err)
		err = store_text(config, "IMAGE_FILTER", settings->images);
	if (!err)
		err = op_config_set(config, "SOURCE",
				    oc_source_names[settings->source]);
	if (!err)
		err = store_events(config, settings->events);
	if (!err)
		err = store_separate(config, settings);
	if (!err)
		err = store_numbers(config, settings);
	return err;
}

static int make_folder(const char *folder, struct op_diag *diag)
{
	if (mkdir(folder, 0700) && errno != EEXIST)
		return op_diag_set(diag, -errno,
				   "%s: cannot make the folder for settings: "
				   "%s; set HOME to a folder of yours",
				   folder, strerror(errno));
	if (chmod(folder, 0700))
		return op_diag_set(diag, -errno, "%s: %s", folder,
				   strerror(errno));
	return 0;
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
	if (!err)
		err = store_settings(config, settings);
	if (err)
		op_diag_set(diag, err, "%s: cannot keep the settings: %s", path,
			    strerror(-err));
	if (!err)
		err = make_folder(rc->folder, diag);
	if (!err)
		err = op_config_write(config, path, 0600, diag);
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
				   "%s: cannot become daemonrc: %s",
				   rc->pending, strerror(errno));
	return 0;
}
