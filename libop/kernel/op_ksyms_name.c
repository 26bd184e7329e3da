// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Snapshots of kernel and module symbols: what they are called. How symbols
 * come out of /proc/kallsyms is in op_ksyms_scan.c, how they are read and
 * written in op_ksyms_file.c.
 */

#include "libop/kernel/op_ksyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_escape.h"
#include "libop/kernel/op_ksyms_form.h"

/* Names come from the stream, so a name must not lead out of the folder. */
int op_ksyms_word(char *buf, size_t len, const char *name)
{
	size_t at = 0;

	for (const char *p = name; *p; p++) {
		bool special =
			*p == '/' || *p == ' ' || (*p == '.' && p == name);

		if (len - at <= OP_ESCAPE_LEN)
			return -ENAMETOOLONG;
		at += op_escape_byte(
			buf + at, (unsigned char)*p,
			special || op_escape_needed((unsigned char)*p));
	}
	buf[at] = '\0';
	return at ? 0 : -EINVAL;
}

int op_ksyms_path_of(char *buf, size_t len, const char *dir, const char *name,
		     const char *build)
{
	char file[256]; /* NAME_MAX and the zero byte */
	int err = op_ksyms_word(file, sizeof(file), name);
	int n;

	if (err)
		return err;
	n = strlen(file);
	if (*build)
		n += snprintf(file + n, sizeof(file) - n, "-%s", build);
	if ((size_t)n >= sizeof(file))
		return -ENAMETOOLONG;
	n = snprintf(buf, len, "%s/%s", dir, file);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

int op_ksyms_path(char *buf, size_t len, const char *dir, const char *name,
		  const struct op_build_id *build_id)
{
	char id[OP_BUILD_TEXT_MAX] = "";

	if (build_id->len)
		op_build_id_text(build_id->bytes, build_id->len, id);
	return op_ksyms_path_of(buf, len, dir, name, id);
}

void op_ksyms_release(struct op_ksyms *ksyms)
{
	free(ksyms->syms);
	free(ksyms->strings);
	memset(ksyms, 0, sizeof(*ksyms));
}
