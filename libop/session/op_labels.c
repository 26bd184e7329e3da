// SPDX-License-Identifier: GPL-2.0-or-later
/* Labels of a session: a few pairs, kept in the order of their keys. */

#include "libop/session/op_labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

void op_labels_release(struct op_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		free(labels->list[i].key);
		free(labels->list[i].value);
	}
	free(labels->list);
	*labels = (struct op_labels){ 0 };
}

bool op_label_key_ok(const char *key)
{
	size_t len = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789-_.");

	return key[0] >= 'a' && key[0] <= 'z' && !key[len] &&
	       len <= OP_LABEL_KEY_MAX;
}

static bool is_label_value(const char *value)
{
	size_t len = strlen(value);

	if (!len || len > OP_LABEL_VALUE_MAX || value[0] == ' ' ||
	    value[len - 1] == ' ')
		return false;
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

/* Where @key is or would be. */
static size_t place_of_label(const struct op_labels *labels, const char *key)
{
	size_t i = 0;

	while (i < labels->nr && strcmp(labels->list[i].key, key) < 0)
		i++;
	return i;
}

static bool has_label_at(const struct op_labels *labels, size_t i,
			 const char *key)
{
	return i < labels->nr && !strcmp(labels->list[i].key, key);
}

static int insert_label(struct op_labels *labels, size_t i, const char *key,
			char *value)
{
	char *copy;

	if (labels->nr == OP_LABELS_MAX)
		return -ENOSPC;
	if (op_array_reserve(&labels->list, labels->nr, 1))
		return -ENOMEM;
	copy = strdup(key);
	if (!copy)
		return -ENOMEM;
	memmove(&labels->list[i + 1], &labels->list[i],
		(labels->nr - i) * sizeof(*labels->list));
	labels->list[i].key = copy;
	labels->list[i].value = value;
	labels->nr++;
	return 0;
}

int op_labels_set(struct op_labels *labels, const char *key, const char *value)
{
	size_t i = place_of_label(labels, key);
	char *copy;
	int err;

	if (!op_label_key_ok(key) || !is_label_value(value))
		return -EINVAL;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	if (has_label_at(labels, i, key)) {
		free(labels->list[i].value);
		labels->list[i].value = copy;
		return 0;
	}
	err = insert_label(labels, i, key, copy);
	if (err)
		free(copy);
	return err;
}

int op_labels_parse(struct op_labels *labels, const char *text,
		    struct op_diag *diag)
{
	const char *equals = strchr(text, '=');
	char *key = equals ? strndup(text, (size_t)(equals - text)) : NULL;
	int err = -EINVAL;

	if (equals)
		err = key ? op_labels_set(labels, key, equals + 1) : -ENOMEM;
	free(key);
	if (err == -EINVAL)
		op_diag_set(
			diag, err,
			"%s: not a label; give KEY=VALUE, with a key of a-z, 0-9, '-', '_' and '.' that starts with a letter, and a value of 1 to %d bytes",
			text, OP_LABEL_VALUE_MAX);
	else if (err == -ENOSPC)
		op_diag_set(diag, err, "%s: more than %d labels; leave it out",
			    text, OP_LABELS_MAX);
	return err;
}

const char *op_labels_find(const struct op_labels *labels, const char *key)
{
	size_t i = place_of_label(labels, key);

	return has_label_at(labels, i, key) ? labels->list[i].value : NULL;
}

void op_labels_drop(struct op_labels *labels, const char *key)
{
	size_t i = place_of_label(labels, key);

	if (!has_label_at(labels, i, key))
		return;
	free(labels->list[i].key);
	free(labels->list[i].value);
	memmove(&labels->list[i], &labels->list[i + 1],
		(labels->nr - i - 1) * sizeof(*labels->list));
	labels->nr--;
}

/* ---- the file ------------------------------------------------------------ */

int op_labels_read(struct op_labels *labels, const char *path,
		   struct op_diag *diag)
{
	const char *key, *value;
	struct op_config *config;
	int err = op_config_read(&config, path, diag);

	if (err)
		return err;
	for (unsigned int i = 0; !err && !op_config_at(config, i, &key, &value);
	     i++) {
		err = op_labels_set(labels, key, value);
		if (err)
			op_diag_set(diag, err, "%s: %s: %s", path, key,
				    err == -EINVAL   ? "not a label"
				    : err == -ENOSPC ? "too many labels"
						     : strerror(-err));
	}
	op_config_free(config);
	return err;
}

int op_labels_write(const struct op_labels *labels, const char *path,
		    struct op_diag *diag)
{
	FILE *file = fopen(path, "wxe");
	int err = file ? 0 : -errno;

	for (size_t i = 0; i < labels->nr && !err; i++)
		if (fprintf(file, "%s = %s\n", labels->list[i].key,
			    labels->list[i].value) < 0)
			err = -EIO;
	if (file && fclose(file) && !err)
		err = -errno;
	return err ? op_diag_set(diag, err, "%s: cannot be written: %s", path,
				 strerror(-err))
		   : 0;
}
