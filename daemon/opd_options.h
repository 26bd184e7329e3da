/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_OPTIONS_H
#define DAEMON_OPD_OPTIONS_H

/*
 * The daemon's command line, checked and made absolute.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/source/opd_events.h"
#include "libop/base/op_diag.h"
#include "libop/session/op_history.h"

struct opd_options {
	char *session_dir; /* NULL: the default */
	char *vmlinux; /* absolute; NULL: symbols come from /proc/kallsyms */
	char *source; /* NAME[:ARGUMENT] */
	char *source_reason; /* why this one; NULL: nobody said */
	char *record; /* NULL: nothing is recorded */
	char *command_line; /* what is profiled, for reports; NULL: not known */
	char *note; /* words for reports; NULL: none */
	char *policy; /* a file (libop/session/op_policy.h); NULL: root's own */
	gid_t readers; /* members may read the session, if has_readers */
	bool has_readers;
	unsigned int pack_at; /* MiB of loose sample files; 0: never */
	unsigned int max_disk; /* MiB of samples/current; 0: any */
	uint32_t slices; /* of the time line, at most; 0: it is not kept */
	uint32_t cpu_budget; /* millionths of each CPU; 0: any */
	struct op_history history;
	int ready_fd; /* who waits for the daemon; -1: nobody */
	char **images; /* paths, as given and without links; modules */
	unsigned int nr_images; /* 0: all are wanted */
	struct opd_events events;
	char **ext_features; /* NAME[:ARGUMENTS] each, ended by NULL; or NULL */
	bool separate_lib;
	bool separate_kernel;
	bool separate_thread;
	bool separate_cpu;
	bool separate_cgroup;
	bool separate_user;
	bool foreground;
	bool version; /* only say the version */
	unsigned int verbose; /* enum op_verbose */
	unsigned int ignored; /* bit i: op_original_oprofiled[i] was given */
};

/*
 * Fill @options. --help and --usage print and exit in here. Returns 0 or
 * -EINVAL with the reason; opd_options_release() in any case.
 */
int opd_options_parse(struct opd_options *options, int argc, const char **argv,
		      struct op_diag *diag);
void opd_options_release(struct opd_options *options);

#endif /* DAEMON_OPD_OPTIONS_H */
