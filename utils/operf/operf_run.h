/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_RUN_H
#define UTILS_OPERF_OPERF_RUN_H

/*
 * All that one run of operf knows. main fills it in the order of its members;
 * every step takes it as a whole, returns 0 or -errno and leaves the reason
 * in diag, which main prints once.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_session.h"
#include "utils/command.h"
#include "utils/daemon_child.h"
#include "utils/operf/operf_cgroup.h"
#include "utils/operf/operf_events.h"
#include "utils/operf/operf_options.h"
#include "utils/operf/operf_runtimes.h"
#include "utils/operf/operf_session.h"
#include "utils/say.h"

/* Exit statuses of operf's own; all others are those of the command. */
#define OPERF_FAILED 125
#define OPERF_NOT_EXECUTABLE 126
#define OPERF_NOT_FOUND 127

struct operf {
	struct operf_options options;
	struct operf_events events;
	struct command command; /* of those that have one */
	struct operf_runtimes runtimes; /* of the command */
	/* handles of those whose end ends the run: the command or --pid */
	int *target_fds;
	size_t nr_targets;
	/* CPU time of those of --pid that lived on at the end of sampling, from
	 * its start; seconds */
	double pids_used;
	uint64_t wall_ns; /* that was sampled */
	struct operf_cgroup cgroup; /* of the command, if it has one */
	int signal_fd; /* the signals that operf handles */
	bool filters; /* the kernel drops stacks of other processes */
	bool samples_cpus; /* not processes: sees those that are short, too */
	int interrupted; /* by this signal before sampling began, or 0 */
	struct op_session session;
	struct operf_folder folder;
	struct daemon_child child; /* the daemon */
	struct op_diag diag;
};

/* Print the present step on stderr, with --verbose=debug. */
#define operf_say(operf, ...) say_step((operf)->options.verbose, __VA_ARGS__)

/* Print a line that is no warning on stderr; not with --quiet. */
#define operf_inform(operf, ...)                                               \
	do {                                                                   \
		if (!(operf)->options.quiet)                                   \
			operf_note(__VA_ARGS__);                               \
	} while (0)

/* Print a line on stderr that is no reason to end. */
#define operf_note(...) say_note("operf", __VA_ARGS__)

#endif /* UTILS_OPERF_OPERF_RUN_H */
