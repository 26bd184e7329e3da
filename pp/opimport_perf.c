// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon reads them itself: it has a source "perfdata". What is packed is
 * unpacked here, into memory, and the daemon opens that by our descriptor; in
 * its words the name of that is replaced.
 */

#include "pp/opimport_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpp/symbols/unpack.h"

/* Of either byte order; which the daemon can read it tells itself. */
static bool has_magic(int fd)
{
	char magic[8];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (!memcmp(magic, "PERFILE2", sizeof(magic)) ||
		!memcmp(magic, "2ELIFREP", sizeof(magic)));
}

bool opimport_is_perf(struct opimport_recording *recording, const char *path)
{
	bool is_perf = !strcmp(path, "-");
	struct stat st;
	int fd;

	*recording = (struct opimport_recording){ path, -1 };
	if (is_perf)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		is_perf = has_magic(fd);
		if (!is_perf &&
		    !pp_unpack(fd, 0, (uint64_t)st.st_size, &recording->fd))
			is_perf = has_magic(recording->fd);
	}
	close(fd);
	if (!is_perf && recording->fd >= 0) {
		close(recording->fd);
		recording->fd = -1;
	}
	return is_perf;
}

/* ---- several ------------------------------------------------------------- */

static void close_recordings(struct opimport_recording *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i].fd >= 0)
			close(all[i].fd);
	free(all);
}

/* What is no file of perf is left to the daemon, which says so. NULL where
 * memory is short. */
static struct opimport_recording *
look_at_all(const char *const *files, const struct opimport_recording *first,
	    size_t *nr)
{
	struct opimport_recording *all;

	for (*nr = 0; files[*nr]; ++*nr)
		;
	all = calloc(*nr + 1, sizeof(*all));
	for (size_t i = 0; all && i < *nr; i++) {
		if (i)
			opimport_is_perf(&all[i], files[i]);
		else
			all[i] = *first;
	}
	return all;
}

#define NAME_LEN 64

/* The path by which the daemon opens it. */
static const char *name_of(const struct opimport_recording *recording,
			   char buf[NAME_LEN])
{
	if (recording->fd < 0)
		return recording->path;
	snprintf(buf, NAME_LEN, "/proc/%ld/fd/%d", (long)getpid(),
		 recording->fd);
	return buf;
}

/* "perfdata:PATH,PATH", the caller's to free; NULL where memory is short. */
static char *make_source(const struct opimport_recording *all, size_t nr)
{
	char buf[NAME_LEN], *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!file)
		return NULL;
	fputs("perfdata", file);
	for (size_t i = 0; i < nr; i++) {
		putc(i ? ',' : ':', file);
		for (const char *c = name_of(&all[i], buf); *c; c++) {
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

/* Have @diag, which the daemon wrote, say which file the user gave. */
static int name_packed(int err, const struct opimport_recording *all, size_t nr,
		       struct op_diag *diag)
{
	for (size_t i = 0; err && i < nr; i++) {
		char buf[NAME_LEN];
		size_t len = strlen(name_of(&all[i], buf));
		struct op_diag said = *diag;

		if (all[i].fd < 0 || strncmp(said.text, buf, len) != 0 ||
		    said.text[len] != ':')
			continue;
		*diag = (struct op_diag){ "" };
		return op_diag_set(diag, err, "%s%s", all[i].path,
				   said.text + len);
	}
	return err;
}

int opimport_perf(const struct opimport_into *into, const char *const *files,
		  const struct opimport_recording *first, struct op_diag *diag)
{
	size_t nr;
	struct opimport_recording *all = look_at_all(files, first, &nr);
	char *source = all ? make_source(all, nr) : NULL;
	struct op_session session;
	int err = source ? opimport_find_session(into, &session, diag)
			 : op_diag_set(diag, -ENOMEM, "out of memory");

	if (!err)
		err = name_packed(opimport_run_daemon(into, &session, source,
						      diag),
				  all, nr, diag);
	free(source);
	if (all)
		close_recordings(all, nr);
	return err;
}
