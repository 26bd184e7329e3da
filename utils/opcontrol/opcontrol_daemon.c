// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon's command line, and what opcontrol says of its answers.
 *
 * The options are derived from the rows of oc_settings_table: a switch is
 * always given, a number where it is not the default, a text where it is not
 * empty. Only events and the source are more than one setting, as they depend
 * on what was chosen for this machine.
 */

#include "utils/opcontrol/opcontrol_daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/events/op_ibs.h"
#include "libop/kernel/op_vmlinux.h"

#define GRACE_MS 15000 /* from SIGTERM to SIGKILL */

static void add_source_options(struct op_process_args *args,
			       const struct oc_daemon_options *options)
{
	uint64_t rate = options->settings->numbers[OC_TIMER_RATE];
	uint64_t depth = options->settings->numbers[OC_CALLGRAPH];
	const struct oc_fs *fs = options->events->fs;
	char more[64] = "";
	int n = 0;

	if (rate && !options->events->list.nr) /* it is the timer's */
		n = sprintf(more, ",rate=%" PRIu64, rate);
	if (depth)
		n += sprintf(more + n, ",callgraph=%" PRIu64, depth);
	if (n)
		*more = ':';
	if (options->choice->source == OC_SOURCE_PERF)
		op_process_args_add(args, "--source=perf%s", more);
	else if (fs->is_plain)
		op_process_args_add(args, "--source=oprofilefs:%s", fs->root);
	op_process_args_add(args, "--source-reason=%s",
			    options->choice->reason);
}

/* Nothing for an empty @text; NULL: memory ran out while it was made. */
static void add_event_option(struct op_process_args *args, const char *option,
			     char *text)
{
	if (!text)
		args->failed = true;
	else if (*text)
		op_process_args_add(args, "--%s=%s", option, text);
	free(text);
}

static void add_setting(struct op_process_args *args,
			const struct oc_settings *settings, enum oc_row id)
{
	const struct oc_setting *row = &oc_settings_table[id];
	const char *text = oc_settings_text(settings, id);
	uint64_t number = settings->numbers[id];

	if (!row->daemon)
		return;
	if (row->type == OC_TYPE_SWITCH ||
	    (row->type == OC_TYPE_NUMBER && oc_settings_is_set(settings, id)))
		op_process_args_add(args, "--%s=%" PRIu64, row->daemon, number);
	else if (row->type == OC_TYPE_NO_FILE && !*text)
		op_process_args_add(args, "--%s", row->daemon);
	else if (row->type != OC_TYPE_NUMBER && row->type != OC_TYPE_NO_FILE &&
		 *text)
		op_process_args_add(args, "--%s=%s", row->daemon, text);
}

int oc_daemon_start(struct daemon *daemon, const char *tools,
		    const struct oc_daemon_options *options,
		    struct op_diag *diag)
{
	const struct event_list *list = &options->events->list;
	const char *vmlinux = options->settings->vmlinux;
	struct op_process_args args = { .nr = 0 };
	char path[OC_PATH_MAX + 16];
	int err = 0;

	if (*vmlinux)
		err = op_vmlinux_check(vmlinux, "", "--no-vmlinux", diag);
	if (!err)
		err = op_process_find_own(path, sizeof(path), DAEMON_NAME,
					  tools, diag);
	if (err)
		return err;
	op_process_args_add(&args, DAEMON_NAME);
	for (int i = 0; i < OC_NR_SETTINGS; i++) {
		add_setting(&args, options->settings, i);
		if (i != OC_EVENT)
			continue;
		add_event_option(&args, "events", event_list_daemon_text(list));
		add_event_option(&args, "ext-feature",
				 op_ibs_feature_text(list->event, list->nr));
	}
	add_source_options(&args, options);
	if (options->verbose)
		op_process_args_add(&args, "--verbose=%s", options->verbose);
	err = daemon_start(daemon, path, &args, diag);
	op_process_args_release(&args);
	return err;
}

int oc_daemon_call(const struct daemon *daemon, const char *request,
		   struct op_diag *diag)
{
	struct op_diag why = { "" };
	int err = -ETIMEDOUT;

	if (daemon->answers)
		err = daemon_ask(daemon, request, &why);
	if (!err)
		return 0;
	if (err == -EREMOTEIO)
		return op_diag_set(diag, err, DAEMON_NAME ": %s", why.text);
	return op_diag_set(diag, err,
			   DAEMON_NAME
			   ": the daemon, pid %d, does not answer: %s; end it "
			   "with opcontrol --shutdown",
			   daemon->pid, strerror(-err));
}

int oc_daemon_shutdown(const struct daemon *daemon, struct op_diag *diag)
{
	int pidfd = op_process_open(daemon->pid);
	struct op_diag why = { "" };
	bool is_forced;
	int err;

	if (pidfd == -ESRCH)
		return 0;
	if (pidfd < 0)
		return op_diag_set(diag, pidfd,
				   DAEMON_NAME ": cannot watch pid %d: %s",
				   daemon->pid, strerror(-pidfd));
	err = daemon_end(daemon, pidfd, GRACE_MS, NULL, NULL, &is_forced, &why);
	close(pidfd);
	if (err == -EREMOTEIO)
		return op_diag_set(diag, -EIO, DAEMON_NAME ": %s", why.text);
	if (err)
		op_diag_set(diag, err, DAEMON_NAME ": pid %d does not end: %s",
			    daemon->pid, strerror(-err));
	return err;
}
