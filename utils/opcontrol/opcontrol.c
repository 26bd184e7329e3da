// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opcontrol: set up, start, watch and stop the profiler.
 *
 * The order of a run: command line, rights, saved settings, the daemon,
 * new settings, the command.
 */

#include "utils/opcontrol/opcontrol.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "utils/opcontrol/opcontrol_commands.h"
#include "utils/opcontrol/opcontrol_daemonrc.h"
#include "utils/process.h"

#define EXIT_USAGE 2

void oc_say(const struct opcontrol *oc, const char *fmt, ...)
{
	va_list ap;

	if (!oc->request.verbose)
		return;
	va_start(ap, fmt);
	fputs("+ ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

int oc_environment(const char **value, const char *name, struct op_diag *diag)
{
	*value = getenv(name);
	if (!*value || !**value) {
		*value = NULL;
		return 0;
	}
	if (geteuid() == getuid() && getegid() == getgid())
		return 0;
	return op_diag_set(diag, -EPERM,
			   "%s: not heeded in a program with more rights than "
			   "its caller; unset it",
			   name);
}

/* What a command that has none of these flags wants is settings only. */
static unsigned int flags_of(const struct opcontrol *oc)
{
	const struct oc_command *command = oc->request.command;

	return command ? command->flags : OC_NEEDS_ROOT;
}

static int check_rights(struct opcontrol *oc)
{
	/* Plain files guard themselves. */
	if (!geteuid() || oc->fs.is_plain || !(flags_of(oc) & OC_NEEDS_ROOT))
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
	return err ? err : oc_daemon_find(oc);
}

/* The saved settings, and the daemon that runs with them. */
static int find_state(struct opcontrol *oc, const struct oc_daemonrc *rc)
{
	int err = load_settings(oc, rc);

	if (err || oc->daemon.pid || !oc_daemonrc_has_pending(rc))
		return err;
	oc_say(oc, "%s becomes %s", rc->pending, rc->path);
	err = oc_daemonrc_adopt(rc, &oc->diag);
	if (err && !(flags_of(oc) & OC_NEEDS_ROOT)) {
		oc->diag.text[0] = '\0'; /* who only looks need not write */
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
				"kept are samples of what the kernel calls "
				"so\n",
				path);
		name += len + (name[len] == ',');
	}
}

static int apply(struct opcontrol *oc, struct oc_settings *settings)
{
	int err = oc_settings_apply(settings, oc->request.values, &oc->diag);

	/* Stacks make samples dearer: an event may be too frequent then. */
	if (!err && (oc_request_has(&oc->request, "event") ||
		     oc_request_has(&oc->request, "callgraph")))
		err = oc_events_check(oc, settings);
	if (err)
		return err;
	note_missing_images(settings);
	if (oc_settings_imply_library(settings))
		fputs("opcontrol: --callgraph keeps samples in libraries apart "
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
		return op_diag_set(&oc->diag, -ENOMEM, "out of memory");
	*settings = oc->settings;
	if (oc_daemonrc_has_pending(rc)) {
		base = rc->pending;
		err = oc_daemonrc_read(rc, base, settings, &oc->diag);
	}
	if (!err)
		err = apply(oc, settings);
	if (!err)
		err = oc_daemonrc_write(rc, rc->pending, base, settings,
					&oc->diag);
	free(settings);
	if (!err)
		fputs("opcontrol: the daemon runs and keeps its settings; the "
		      "new ones are saved and hold when it is started again "
		      "after --shutdown or --deinit\n",
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
	err = apply(oc, &oc->settings);
	if (!err)
		err = oc_daemonrc_write(rc, rc->path, rc->path, &oc->settings,
					&oc->diag);
	if (!err)
		err = op_session_init(&oc->session, oc->settings.session_dir,
				      &oc->diag);
	/* Another session folder may have its own daemon. */
	return err ? err : oc_daemon_find(oc);
}

static int run_command(struct opcontrol *oc)
{
	const struct oc_command *command = oc->request.command;

	if (!command)
		return 0;
	if ((command->flags & OC_NEEDS_DAEMON) && !oc->daemon.pid)
		return op_diag_set(&oc->diag, -ESRCH,
				   "--%s: the daemon is not running; start it "
				   "with opcontrol --start",
				   command->option);
	return command->run(oc);
}

/* Returns the exit status. */
static int run(struct opcontrol *oc, int argc, const char **argv)
{
	struct oc_daemonrc rc;
	int err;

	err = oc_request_parse(&oc->request, argc, argv, &oc->diag);
	if (err)
		return EXIT_USAGE;
	if (oc->request.version)
		return printf("opcontrol: %s\n",
			      PACKAGE_NAME " " PACKAGE_VERSION) < 0;
	err = oc_fs_init(&oc->fs, &oc->diag);
	if (!err)
		err = check_rights(oc);
	if (!err)
		err = process_own_folder(oc->tools, sizeof(oc->tools),
					 &oc->diag);
	if (!err && (flags_of(oc) & OC_NEEDS_NOTHING))
		return run_command(oc) ? EXIT_FAILURE : EXIT_SUCCESS;
	if (!err && oc_events_init(&oc->events))
		err = op_diag_set(&oc->diag, -ENOMEM, "out of memory");
	if (!err)
		err = oc_daemonrc_init(&rc, &oc->diag);
	if (!err)
		err = find_state(oc, &rc);
	if (err)
		return EXIT_FAILURE;
	err = save_settings(oc, &rc);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
	return run_command(oc) ? EXIT_FAILURE : EXIT_SUCCESS;
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
	status = run(oc, argc, argv);
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
