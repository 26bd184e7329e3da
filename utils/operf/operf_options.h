/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_OPTIONS_H
#define UTILS_OPERF_OPERF_OPTIONS_H

/*
 * The request on the command line, checked as a whole. The target is a command,
 * --pid, --cgroup or --system-wide; with one of these options a command only
 * sets the end, as --duration does.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

struct operf_options {
	char **words; /* all of argv, the caller's */
	char **command; /* the rest of argv, NULL without a command */
	pid_t *pids; /* --pid */
	size_t nr_pids;
	char *cgroup; /* as given, NULL: none */
	bool system_wide; /* also where only --duration is given */
	uint64_t duration_ms; /* 0: until the target ends */
	char *events; /* as given, with commas; NULL: the default */
	uint64_t rate; /* of the CPU clock, 0: not given */
	bool wall; /* threads that wait are sampled, too */
	bool latency; /* and the elapsed time of processes */
	uint64_t depth; /* frames of a stack; 0: no call graphs */
	char *session_dir; /* as given, NULL: ./oprofile_data */
	char *vmlinux;
	char *readable_by; /* the group @readers, NULL: none */
	gid_t readers;
	char *note; /* words for reports, NULL: none */
	char *record; /* a copy of the stream goes there, NULL: none */
	char *daemon_verbose; /* words for the daemon, NULL for none */
	bool separate_thread;
	bool separate_cpu;
	bool separate_cgroup;
	bool append;
	bool ask_append; /* whether that was meant, on a terminal */
	uint64_t symbol_store; /* MiB of symbols that are kept; 0: none */
	char *no_symbols; /* patterns of files that none are kept of, or NULL */
	uint64_t keep; /* sessions of earlier runs */
	uint64_t max_disk; /* MiB that samples may take; 0: any */
	char *cpu_budget; /* as it was given, checked; NULL: the default */
	char *history; /* as op_history_parse() has it; or NULL */
	uint64_t slices; /* of the time line, at most; 0: it is not kept */
	uint64_t pack_at; /* MiB of sample files that stay as they are */
	bool no_runtimes; /* leave the environment of the command alone */
	bool quiet; /* say only what is wrong */
	bool verbose; /* say each step */
	bool version; /* only that is asked for */
};

/* Whether the command is what is profiled, with all that it starts. */
static inline bool operf_profiles_command(const struct operf_options *options)
{
	return options->command && !options->nr_pids && !options->cgroup &&
	       !options->system_wide;
}

/*
 * Parse the command line. Returns 0, or -errno with the reason in @diag;
 * --help and --usage print and exit here. operf_options_release() in any
 * case; the command is part of @argv.
 */
int operf_options_parse(struct operf_options *options, int argc, char **argv,
			struct op_diag *diag);

void operf_options_release(struct operf_options *options);

/* Whether all that was printed is out: 0, or -EIO with the reason in @diag. */
int operf_printed(struct op_diag *diag);

#endif /* UTILS_OPERF_OPERF_OPTIONS_H */
