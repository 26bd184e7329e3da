// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opcontrol: set up, start, watch and stop the profiler.
 *
 * The order of a run: command line, rights, saved settings, the daemon,
 * new settings, the command. The saved settings are those of the daemon that
 * runs, as they name its session folder; new settings for the next daemon are
 * kept beside them while it runs. Settings are saved before the command is
 * carried out, so a command that fails does not lose them. The exit status is 2
 * for what the caller got wrong, 1 for all else that fails.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "libop/files/op_process.h"
#include "utils/opcontrol/opcontrol_commands.h"
#include "utils/opcontrol/opcontrol_daemonrc.h"
#include "utils/opcontrol/opcontrol_run.h"
#include "utils/say.h"

#define EXIT_USAGE 2

/* The flags of the command; without one settings are saved, as root. */
static unsigned int command_flags(const struct opcontrol *oc)
{
	const struct oc_command *command = oc->request.command;

	return command ? command->flags : OC_NEEDS_ROOT;
}

static int check_rights(struct opcontrol *oc)
{
	/* Files that stand in for oprofilefs have permissions of their own. */
	if (!geteuid() || oc->fs.is_plain ||
	    !(command_flags(oc) & OC_NEEDS_ROOT))
		return 0;
	return op_diag_set(
		&oc->diag, -EPERM,
		"--%s: you must be root; try sudo, or profile programs of "
		"your own with operf",
		oc->request.command ? oc->request.command->option : "setup");
}

static int load_settings(struct opcontrol *oc, const struct oc_daemonrc *rc)
{
	int err;

	oc_settings_init(&oc->settings);
	err = oc_daemonrc_read(rc, rc->path, &oc->settings, &oc->diag);
	if (!err)
		err = op_session_init(&oc->session, oc->settings.session_dir,
				      &oc->diag);
	if (err || command_flags(oc) & OC_ASKS_NO_DAEMON)
		return err;
	return daemon_find(&oc->daemon, &oc->diag);
}

/* The saved settings, and the daemon that runs with them. */
static int find_saved_state(struct opcontrol *oc, const struct oc_daemonrc *rc)
{
	int err = load_settings(oc, rc);

	if (err || command_flags(oc) & OC_ASKS_NO_DAEMON || oc->daemon.pid ||
	    !oc_daemonrc_has_pending(rc))
		return err;
	say_step(oc->request.verbose, "%s becomes %s", rc->pending, rc->path);
	err = oc_daemonrc_adopt(rc, &oc->diag);
	if (err && !(command_flags(oc) & OC_NEEDS_ROOT)) {
		oc->diag.text[0] =
			'\0'; /* --status works without the right to write */
		return 0;
	}
	return err ? err : load_settings(oc, rc);
}

/* A filter that lets nothing through looks like a profiler that is broken. */
static void note_missing_images(const struct oc_settings *settings)
{
	const char *name = settings->images;
	char path[OC_PATH_MAX];

	while (*name) {
		size_t len = strcspn(name, ",");

		snprintf(path, sizeof(path), "%.*s", (int)len, name);
		if (access(path, F_OK))
			fprintf(stderr,
				"opcontrol: --image=%s: no such file here; "
				"only samples of images with this name are kept\n",
				path);
		name += len + (name[len] == ',');
	}
}

static int apply_request(struct opcontrol *oc, struct oc_settings *settings)
{
	int err = oc_settings_apply(settings, oc->request.values, &oc->diag);

	/* Stacks make samples dearer: an event may be too frequent then. */
	if (!err &&
	    (oc->request.values[OC_EVENT] || oc->request.values[OC_CALLGRAPH]))
		err = oc_events_check(&oc->events, settings, &oc->diag);
	if (err)
		return err;
	note_missing_images(settings);
	if (oc_settings_imply_library(settings))
		fputs("opcontrol: --callgraph separates samples in libraries "
		      "by program, as --separate=library does\n",
		      stderr);
	return 0;
}

/* Settings for the daemon that runs next, while one runs with others. */
static int save_pending(struct opcontrol *oc, const struct oc_daemonrc *rc)
{
	const char *base = rc->path;
	struct oc_settings *settings = malloc(sizeof(*settings));
	int err = 0;

	if (!settings)
		return op_out_of_memory(&oc->diag);
	*settings = oc->settings;
	if (oc_daemonrc_has_pending(rc)) {
		base = rc->pending;
		err = oc_daemonrc_read(rc, base, settings, &oc->diag);
	}
	if (!err)
		err = apply_request(oc, settings);
	if (!err)
		err = oc_daemonrc_write(rc, rc->pending, base, settings,
					&oc->diag);
	free(settings);
	if (!err)
		fputs("opcontrol: the running daemon keeps its settings; the "
		      "new ones are saved and apply after --shutdown or --deinit and a new start\n",
		      stderr);
	return err;
}

static int save_settings(struct opcontrol *oc, const struct oc_daemonrc *rc)
{
	int err;

	if (!oc->request.has_settings)
		return 0;
	if (oc->daemon.pid)
		return save_pending(oc, rc);
	err = apply_request(oc, &oc->settings);
	if (!err)
		err = oc_daemonrc_write(rc, rc->path, rc->path, &oc->settings,
					&oc->diag);
	if (!err)
		err = op_session_init(&oc->session, oc->settings.session_dir,
				      &oc->diag);
	/* Another session folder may have its own daemon. */
	return err ? err : daemon_find(&oc->daemon, &oc->diag);
}

/* Prepare what commands and new settings need. Commands that need nothing do
 * not come here. */
static int prepare_state(struct opcontrol *oc)
{
	struct oc_daemonrc rc;
	int err;

	if (oc_events_init(&oc->events, &oc->fs))
		return op_out_of_memory(&oc->diag);
	err = oc_daemonrc_init(&rc, &oc->diag);
	if (!err)
		err = find_saved_state(oc, &rc);
	if (err)
		return err == -EINVAL ? -EIO : err; /* not the caller's fault */
	return save_settings(oc, &rc);
}

/* Returns the exit status. */
static int run_opcontrol(struct opcontrol *oc, int argc, const char **argv)
{
	int err = oc_request_parse(&oc->request, oc_commands, OC_NR_COMMANDS,
				   argc, argv, &oc->diag);
	const struct oc_command *command = oc->request.command;

	if (err)
		return EXIT_USAGE;
	if (oc->request.version)
		return printf("opcontrol: %s\n",
			      PACKAGE_NAME " " PACKAGE_VERSION) < 0;
	oc->fs.verbose = oc->daemon.verbose = oc->request.verbose;
	oc->daemon.session = &oc->session;
	if (oc_fs_init(&oc->fs, &oc->diag) || check_rights(oc) ||
	    op_process_own_folder(oc->tools, sizeof(oc->tools), &oc->diag))
		return EXIT_FAILURE;
	if (!(command_flags(oc) & OC_NEEDS_NOTHING)) {
		err = prepare_state(oc);
		if (err)
			return err == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	}
	if (!command)
		return EXIT_SUCCESS;
	if ((command->flags & OC_NEEDS_DAEMON) && !oc->daemon.pid)
		err = op_diag_set(&oc->diag, -ESRCH,
				  "--%s: the daemon is not running; start it "
				  "with opcontrol --start",
				  command->option);
	else
		err = command->run(oc);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, const char **argv)
{
	struct opcontrol *oc;
	int status;

	umask(022);
	setlinebuf(stdout); /* what the daemon says goes between */
	oc = calloc(1, sizeof(*oc));
	if (!oc) {
		fputs("opcontrol: out of memory; end some programs\n", stderr);
		return EXIT_FAILURE;
	}
	status = run_opcontrol(oc, argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		op_diag_set(&oc->diag, -EIO,
			    "standard output: cannot write to it; is its disk "
			    "full?");
		status = EXIT_FAILURE;
	}
	if (status && oc->diag.text[0])
		fprintf(stderr, "opcontrol: %s\n", oc->diag.text);
	oc_events_release(&oc->events);
	oc_request_release(&oc->request);
	free(oc);
	return status;
}
