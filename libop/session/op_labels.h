/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_LABELS_H
#define LIBOP_SESSION_OP_LABELS_H

/*
 * Labels of a session: which host it is of, and what else its owner says about
 * it, such as the version of the software that ran. They stand in
 * samples/NAME/labels, an op_config file with a line "KEY = VALUE" for each.
 *
 * A key is 1 to OP_LABEL_KEY_MAX bytes: a letter of a-z, then letters, digits,
 * '-', '_' and '.'. A value is 1 to OP_LABEL_VALUE_MAX bytes without control
 * characters, and without blanks at its ends.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_diag.h"

#define OP_LABELS_FILE "labels"
#define OP_LABEL_KEY_MAX 64
#define OP_LABEL_VALUE_MAX 255
#define OP_LABELS_MAX 64 /* labels of one session */

/* Keys that have a meaning. */
#define OP_LABEL_HOST "host" /* the name of the machine */
#define OP_LABEL_KERNEL "kernel" /* its release, as uname -r prints it */
/* tells machines of one name apart: a hash, since the number of machine-id(5)
 * is not for others to know */
#define OP_LABEL_MACHINE "machine-id"
#define OP_LABEL_CPU "cpu-type" /* what the events of the samples are of */

struct op_label {
	char *key, *value; /* owned */
};

/* All zeros is an empty one. */
struct op_labels {
	struct op_label *list; /* ascending by strcmp() of the keys */
	size_t nr;
};

void op_labels_release(struct op_labels *labels);

/* Whether @key may be the key of a label. */
bool op_label_key_ok(const char *key);

/*
 * Give @key the value @value. Returns 0, -ENOMEM, -EINVAL for a key or value
 * that is none, or -ENOSPC for one label too many.
 */
int op_labels_set(struct op_labels *labels, const char *key, const char *value);

/* The same with @text "KEY=VALUE", and with the reason in @diag. */
int op_labels_parse(struct op_labels *labels, const char *text,
		    struct op_diag *diag);

/* The value of @key; NULL if it has none. Valid until the next change. */
const char *op_labels_find(const struct op_labels *labels, const char *key);

/* Let @key have no value. */
void op_labels_drop(struct op_labels *labels, const char *key);

/*
 * Add what the file @path says. Returns 0; -ENOENT without one (no reason in
 * @diag); or -errno with the reason, -EINVAL for a line that is no label.
 */
int op_labels_read(struct op_labels *labels, const char *path,
		   struct op_diag *diag);

/* Write them to the new file @path, mode 0644, which is not on the disk yet.
 * Returns 0 or -errno with the reason in @diag. */
int op_labels_write(const struct op_labels *labels, const char *path,
		    struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_LABELS_H */
