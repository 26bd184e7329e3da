// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon of one run of operf.
 *
 * It gets its options on its command line and is asked to start sampling
 * afterwards, so that operf can undo all it did if either fails. At the end it
 * is asked to shut down and waited for, as only then its ledger is complete.
 * One that does not end when asked to is ended by signals, and that is an
 * error: nobody knows what it has stored.
 */

#include "utils/operf/operf_daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/files/op_process.h"
#include "utils/operf/operf_run.h"
#include "utils/operf/operf_signals.h"

#define PACKING "packing = " /* bytes, which it says at its end */
#define GRACE_MS 60000 /* from SIGTERM to SIGKILL */

static void add_source_option(struct op_process_args *args,
			      const struct operf *operf)
{
	const struct operf_options *options = &operf->options;
	const char *between = ":";
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!file) {
		args->failed = true;
		return;
	}
	if (operf_profiles_command(options)) {
		fprintf(file, "%sexec=%d", between, operf->command.pid);
		between = ",";
	}
	if (*operf->cgroup.parent)
		fprintf(file, ",cgroup=%s", operf->cgroup.folder);
	for (size_t i = 0; i < options->nr_pids; i++, between = ",")
		fprintf(file, "%spid=%d", between, options->pids[i]);
	if (options->cgroup) {
		fprintf(file, "%scgroup=%s", between, options->cgroup);
		between = ",";
	}
	if (options->rate) {
		fprintf(file, "%srate=%" PRIu64, between, options->rate);
		between = ",";
	}
	if (operf->runtimes.leaves_maps)
		fprintf(file, ",remove-maps=1");
	if (options->depth)
		fprintf(file, "%scallgraph=%" PRIu64, between, options->depth);
	if (fclose(file))
		args->failed = true;
	else
		op_process_args_add(args, "--source=perf%s", text);
	free(text);
}

static void add_daemon_options(struct op_process_args *args,
			       const struct operf *operf)
{
	const struct operf_options *options = &operf->options;
	char command[sizeof(((struct op_run *)0)->command)];

	add_source_option(args, operf);
	op_run_set_words(command, sizeof(command),
			 operf_profiles_command(options) ? options->command
							 : options->words);
	op_process_args_add(args, "--command-line=%s", command);
	if (options->note)
		op_process_args_add(args, "--note=%s", options->note);
	op_process_args_add(args, "--separate-lib=1");
	op_process_args_add(args, "--separate-kernel=1");
	if (options->separate_thread)
		op_process_args_add(args, "--separate-thread=1");
	if (options->separate_cpu)
		op_process_args_add(args, "--separate-cpu=1");
	if (options->separate_cgroup)
		op_process_args_add(args, "--separate-cgroup=1");
	if (operf->events.text)
		op_process_args_add(args, "--events=%s", operf->events.text);
	if (options->slices)
		op_process_args_add(args, "--slices=%" PRIu64, options->slices);
	if (options->pack_at != OP_PACK_AT_DEFAULT)
		op_process_args_add(args, "--pack-at=%" PRIu64,
				    options->pack_at);
	if (options->max_disk)
		op_process_args_add(args, "--max-disk=%" PRIu64,
				    options->max_disk);
	/* Who gives a rate wants that one. */
	if (options->cpu_budget || options->rate)
		op_process_args_add(args, "--cpu-budget=%s",
				    options->cpu_budget ?: "none");
	if (options->history)
		op_process_args_add(args, "--history=%s", options->history);
	if (options->readable_by)
		op_process_args_add(args, "--readable-by=%s",
				    options->readable_by);
	if (options->record)
		op_process_args_add(args, "--record=%s", options->record);
	if (options->vmlinux)
		op_process_args_add(args, "--vmlinux=%s", options->vmlinux);
	if (options->daemon_verbose && *options->daemon_verbose)
		op_process_args_add(args, "--verbose=%s",
				    options->daemon_verbose);
}

int operf_daemon_start(struct operf *operf)
{
	char folder[PATH_MAX] = "", path[PATH_MAX + 16];
	struct op_process_args args = { .nr = 0 };
	int err = op_process_own_folder(folder, sizeof(folder), &operf->diag);

	if (!err)
		err = op_process_find_own(path, sizeof(path), DAEMON_NAME,
					  folder, &operf->diag);
	if (!err)
		err = daemon_child_begin(&operf->child, &args, &operf->diag);
	if (err)
		return err;
	add_daemon_options(&args, operf);
	err = daemon_child_start(&operf->child, path, &args, operf->signal_fd,
				 &operf->diag);
	op_process_args_release(&args);
	return err == -EINTR ? operf_signal_interrupts(operf) : err;
}

int operf_daemon_call(struct operf *operf, const char *request)
{
	struct op_diag why = { "" };
	int err = daemon_ask(&operf->child.daemon, request, &why);

	return err ? daemon_child_explain_call(&operf->child, err, why.text,
					       &operf->diag)
		   : 0;
}

int operf_daemon_reap(struct operf *operf, struct op_diag *diag)
{
	char hint[sizeof(operf->session.log) + 16];

	daemon_child_wait(&operf->child);
	snprintf(hint, sizeof(hint), "; see %s", operf->session.log);
	return daemon_child_explain(&operf->child, hint, diag);
}

/* Packing may take seconds: a person at a terminal is told of it, once. */
static void note_packing(void *data, const char *line)
{
	bool *told = data;
	uint64_t bytes;

	if (*told || strncmp(line, PACKING, strlen(PACKING)) ||
	    op_parse_u64(line + strlen(PACKING), &bytes))
		return;
	operf_note("packing %" PRIu64 " MiB of sample files", bytes >> 20);
	*told = true;
}

int operf_daemon_stop(struct operf *operf)
{
	struct daemon *daemon = &operf->child.daemon;
	bool is_told = operf->options.quiet || !isatty(STDERR_FILENO);
	bool is_forced;
	struct op_diag why = { "" };
	int err;

	operf_hurry_begin(operf);
	err = daemon_end(daemon, operf->child.pidfd, GRACE_MS, note_packing,
			 &is_told, &is_forced, &why);
	operf_hurry_end();
	if (err == -EREMOTEIO)
		op_diag_set(&operf->diag, err, DAEMON_NAME ": %s", why.text);
	else if (is_forced || err)
		err = op_diag_set(
			&operf->diag, err ? err : -ETIMEDOUT,
			DAEMON_NAME
			": the daemon, pid %d, did not end when asked "
			"to and was ended by a signal; see %s",
			daemon->pid, operf->session.log);
	return operf_daemon_reap(operf, &operf->diag) ? -EIO : err;
}
