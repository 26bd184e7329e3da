// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon reads them itself: it has a source "perfdata". What is not the
 * file that was named but was made of it, and a pipe that is no standard input,
 * the daemon opens by our descriptor; in its words the name of that is
 * replaced.
 */

#include "pp/opimport/opimport_perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pp/opimport/opimport_input.h"

/* The file may be of either byte order; the daemon refuses the one that it
 * cannot read. */
bool opimport_is_perf(const struct opimport_input *input)
{
	char magic[8];

	if (input->is_stream)
		return true;
	return pread(input->fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (!memcmp(magic, "PERFILE2", sizeof(magic)) ||
		!memcmp(magic, "2ELIFREP", sizeof(magic)));
}

/* ---- several ------------------------------------------------------------- */

/* All but the first, which is the caller's. */
static void close_inputs(struct opimport_input *all, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		opimport_input_close(&all[i]);
	free(all);
}

/* NULL where memory is short. */
static struct opimport_input *open_inputs(const char *const *files,
					  const struct opimport_input *first,
					  size_t *nr)
{
	struct opimport_input *all;

	for (*nr = 0; files[*nr]; ++*nr)
		;
	all = calloc(*nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	all[0] = *first;
	for (size_t i = 1; i < *nr; i++)
		opimport_input_open(&all[i], files[i]);
	return all;
}

#define NAME_LEN 64

/* The path by which the daemon opens it, "-" for the standard input that it
 * shares with us. It says what is wrong with a file that is not of perf. */
static const char *name_of(const struct opimport_input *input,
			   char buf[NAME_LEN])
{
	if (!input->is_ours && (!input->is_stream || !strcmp(input->path, "-")))
		return input->path;
	snprintf(buf, NAME_LEN, "/proc/%ld/fd/%d", (long)getpid(), input->fd);
	return buf;
}

/* "perfdata:PATH,PATH", the caller's to free; NULL where memory is short. */
static char *make_source(const struct opimport_input *all, size_t nr)
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
static int name_given(int err, const struct opimport_input *all, size_t nr,
		      struct op_diag *diag)
{
	for (size_t i = 0; err && i < nr; i++) {
		char buf[NAME_LEN];
		const char *name = name_of(&all[i], buf);
		size_t len = strlen(name);
		struct op_diag said = *diag;

		if (strncmp(said.text, name, len) != 0 || said.text[len] != ':')
			continue;
		*diag = (struct op_diag){ "" };
		return op_diag_set(diag, err, "%s%s", all[i].path,
				   said.text + len);
	}
	return err;
}

/* The daemon opens files itself and says what is wrong with them; but not what
 * had to be unpacked or held for it. */
static int check_inputs(const struct opimport_input *all, size_t nr,
			struct op_diag *diag)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i].was_spooled || all[i].err == -ENOEXEC ||
		    all[i].err == -ENODATA || all[i].err == -EFBIG)
			return opimport_input_refuse(&all[i], all[i].err, diag);
	return 0;
}

int opimport_perf(const struct opimport_into *into, const char *const *files,
		  const struct opimport_input *first, struct op_diag *diag)
{
	size_t nr;
	struct opimport_input *all = open_inputs(files, first, &nr);
	char *source = all ? make_source(all, nr) : NULL;
	struct op_session session;
	int err =
		source ? check_inputs(all, nr, diag)
				 ?: opimport_find_session(into, &session, diag)
		       : op_out_of_memory(diag);

	if (!err)
		err = name_given(opimport_run_daemon(into, &session, source,
						     diag),
				 all, nr, diag);
	free(source);
	if (all)
		close_inputs(all, nr);
	return err;
}
