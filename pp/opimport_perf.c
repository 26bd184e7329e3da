// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon is run with the source "perfdata", and in the foreground, as with
 * any source that ends. Its last words become ours.
 */

#include "pp/opimport_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/op_ledger.h"
#include "libop/op_session.h"
#include "utils/process.h"

#define DAEMON "oprofiled"

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

static int make_args(struct process_args *args,
		     const struct opimport_perf *perf,
		     const struct op_session *session, struct op_diag *diag)
{
	char *source = make_source(perf->files);

	if (source) {
		process_args_add(args, DAEMON);
		process_args_add(args, "--session-dir=%s", session->dir);
		process_args_add(args, "--source=%s", source);
		process_args_add(args, "--separate-kernel=1");
		process_args_add(args, "--separate-thread=%d",
				 perf->separate_thread);
		process_args_add(args, "--separate-cpu=%d", perf->separate_cpu);
	}
	args->failed |= !source;
	free(source);
	return args->failed ? op_diag_set(diag, -ENOMEM, "out of memory") : 0;
}

static void ledger_path(const struct op_session *session, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/ledger", PATH_MAX - 16,
		 session->current);
}

static int check_free(const struct op_session *session, struct op_diag *diag)
{
	char path[PATH_MAX];

	ledger_path(session, path);
	if (access(path, F_OK))
		return 0;
	return op_diag_set(
		diag, -EEXIST,
		"%s: there are samples already; name another folder with --output",
		session->samples);
}

/* The daemon's own words, but for its name, if it has failed. */
static int run_daemon(const struct process_args *args, struct op_diag *diag)
{
	char folder[PATH_MAX] = "", path[PATH_MAX + 16];
	char words[OP_DIAG_MAX] = "";
	const char *start = words;
	int status = process_own_folder(folder, sizeof(folder), diag)
			     ?: process_find_own(path, sizeof(path), DAEMON,
						 folder, diag);

	if (!status)
		status = process_run(path, args->argv, environ, words,
				     sizeof(words), diag);
	if (status <= 0)
		return status;
	if (!strncmp(start, DAEMON ": ", sizeof(DAEMON ": ") - 1))
		start += sizeof(DAEMON ": ") - 1;
	words[strcspn(words, "\n")] = '\0';
	return op_diag_set(diag, -EIO, "%s",
			   *start ? start : "the daemon has failed");
}

static void say_what_became(const struct op_session *session)
{
	struct op_diag diag = { "" };
	struct op_ledger ledger;
	char path[PATH_MAX];

	ledger_path(session, path);
	if (!op_ledger_read(&ledger, path, &diag))
		fprintf(stderr,
			"opimport: %" PRIu64 " samples = %" PRIu64
			" stored + %" PRIu64 " lost\n",
			ledger.taken, ledger.stored, op_ledger_lost(&ledger));
}

int opimport_perf(const struct opimport_perf *perf, struct op_diag *diag)
{
	struct process_args args = { .nr = 0 };
	struct op_session session;
	int err = op_session_init(&session, perf->to, diag)
			  ?: check_free(&session, diag)
			  ?: make_args(&args, perf, &session, diag);

	if (!err) {
		err = run_daemon(&args, diag);
		say_what_became(&session);
	}
	process_args_release(&args);
	return err;
}
