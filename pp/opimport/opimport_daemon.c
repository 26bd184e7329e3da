// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon runs in the foreground, as with any source that ends. Its last
 * words become ours.
 */

#include "pp/opimport/opimport_daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_process.h"
#include "libop/session/op_ledger.h"
#include "libop/base/op_plural.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_folder.h"

#define DAEMON "oprofiled"

static void make_args(struct op_process_args *args,
		      const struct opimport_into *into,
		      const struct op_session *session, const char *source)
{
	op_process_args_add(args, DAEMON);
	op_process_args_add(args, "--session-dir=%s", session->dir);
	op_process_args_add(args, "--source=%s", source);
	op_process_args_add(args, "--separate-kernel=1");
	op_process_args_add(args, "--slices=%" PRIu64, into->slices);
	op_process_args_add(args, "--separate-thread=%d",
			    into->separate_thread);
	op_process_args_add(args, "--separate-cpu=%d", into->separate_cpu);
}

static void ledger_path(const struct op_session *session, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/ledger", PATH_MAX - 16,
		 session->current);
}

/* An import that found no samples leaves an account of none, and one of an old
 * session may leave samples without an account. */
static int check_free(const struct op_session *session, struct op_diag *diag)
{
	struct op_diag ignored = { "" };
	struct op_ledger ledger;
	char path[PATH_MAX];

	ledger_path(session, path);
	if (access(path, F_OK)
		    ? !op_session_has_samples(session)
		    : !op_ledger_read(&ledger, path, &ignored) && !ledger.taken)
		return 0;
	return op_diag_set(
		diag, -EEXIST,
		"%s: there are samples already; name another folder with --output",
		session->samples);
}

/* The daemon's own words, but for its name, if it has failed. */
static int run_and_listen(const struct op_process_args *args,
			  struct op_diag *diag)
{
	char folder[PATH_MAX] = "", path[PATH_MAX + 16];
	char words[OP_DIAG_MAX] = "";
	const char *start = words;
	int status = op_process_own_folder(folder, sizeof(folder), diag)
			     ?: op_process_find_own(path, sizeof(path), DAEMON,
						    folder, diag);

	if (!status)
		status = op_process_run(path, args->argv, environ, words,
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
	if (op_ledger_read(&ledger, path, &diag))
		return;
	fprintf(stderr,
		"opimport: %" PRIu64 " sample%s = %" PRIu64 " stored + %" PRIu64
		" lost\n",
		ledger.taken, op_plural(ledger.taken), ledger.stored,
		op_ledger_lost(&ledger));
	for (unsigned int i = 0; i < ledger.nr_events; i++) {
		const struct op_ledger_event *event = &ledger.events[i];

		if (!event->periods)
			continue;
		fputs("opimport: ", stderr);
		op_ledger_print_periods(stderr, event->name, event->periods,
					event->sum_of_periods);
		fputc('\n', stderr);
	}
}

int opimport_find_session(const struct opimport_into *into,
			  struct op_session *session, struct op_diag *diag)
{
	return op_session_init(session, into->to, diag)
		       ?: check_free(session, diag);
}

int opimport_run_daemon(const struct opimport_into *into,
			const struct op_session *session, const char *source,
			struct op_diag *diag)
{
	struct op_process_args args = { .nr = 0 };
	int err;

	make_args(&args, into, session, source);
	err = args.failed ? op_out_of_memory(diag)
			  : run_and_listen(&args, diag);
	if (!args.failed)
		say_what_became(session);
	op_process_args_release(&args);
	return err;
}
