// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/events/op_wait_classes.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_file.h"

#define CLASSES "linux/waits/classes"
#define CLASSES_MAX ((size_t)1 << 20) /* bytes of the file */

static int add_patterns(struct op_wait_classes *classes, char *line,
			unsigned int line_nr, struct op_diag *diag)
{
	const char *class, *pattern;
	char *rest;
	size_t nr = 0;

	line[strcspn(line, "#")] = '\0';
	class = strtok_r(line, " \t", &rest);
	if (!class)
		return 0;
	for (; (pattern = strtok_r(NULL, " \t", &rest)); nr++) {
		if (op_array_reserve(&classes->patterns, classes->nr, 1))
			return -ENOMEM;
		classes->patterns[classes->nr++] =
			(struct op_wait_pattern){ class, pattern };
	}
	return nr ? 0
		  : op_diag_set(diag, -EINVAL,
				CLASSES ":%u: %s has no functions; add some",
				line_nr, class);
}

int op_wait_classes_read(struct op_wait_classes *classes, const char *dir,
			 struct op_diag *diag)
{
	unsigned int line_nr = 0;
	char path[PATH_MAX], *rest;
	size_t len;
	int err;

	*classes = (struct op_wait_classes){ .nr = 0 };
	if (snprintf(path, sizeof(path), "%s/" CLASSES, dir) >=
	    (int)sizeof(path))
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long", dir);
	err = op_file_read(path, CLASSES_MAX, &classes->text, &len, diag);
	rest = classes->text;
	while (!err && rest)
		err = add_patterns(classes, strsep(&rest, "\n"), ++line_nr,
				   diag);
	return err;
}

void op_wait_classes_release(struct op_wait_classes *classes)
{
	free(classes->patterns);
	free(classes->text);
	*classes = (struct op_wait_classes){ .nr = 0 };
}

const char *op_wait_class_of(const struct op_wait_classes *classes,
			     const char *name)
{
	for (size_t i = 0; i < classes->nr; i++)
		if (!fnmatch(classes->patterns[i].pattern, name, 0))
			return classes->patterns[i].class;
	return NULL;
}
