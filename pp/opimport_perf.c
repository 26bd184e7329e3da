// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon reads them itself: it has a source "perfdata". */

#include "pp/opimport_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool opimport_is_perf(const char *path)
{
	char magic[8];
	bool is_perf;
	int fd;

	if (!strcmp(path, "-"))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	/* Of either byte order; which the daemon can read it tells itself. */
	is_perf = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
		  (!memcmp(magic, "PERFILE2", sizeof(magic)) ||
		   !memcmp(magic, "2ELIFREP", sizeof(magic)));
	close(fd);
	return is_perf;
}

/* "perfdata:PATH,PATH", the caller's to free; NULL where memory is short. */
static char *make_source(const char *const *files)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!file)
		return NULL;
	fputs("perfdata", file);
	for (size_t i = 0; files[i]; i++) {
		putc(i ? ',' : ':', file);
		for (const char *c = files[i]; *c; c++) {
			if (*c == ',' || *c == '\\')
				putc('\\', file);
			putc(*c, file);
		}
	}
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

int opimport_perf(const struct opimport_into *into, const char *const *files,
		  struct op_diag *diag)
{
	char *source = make_source(files);
	struct op_session session;
	int err = source ? opimport_find_session(into, &session, diag)
			 : op_diag_set(diag, -ENOMEM, "out of memory");

	if (!err)
		err = opimport_run_daemon(into, &session, source, diag);
	free(source);
	return err;
}
