// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opreport/opreport_browser.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/session/op_session.h"

#define PAGE_NAME "report.html"

/* In a folder of another user, the page's name may be a link to any file. */
int opreport_page_place(char **path, const char *session_dir,
			struct op_diag *diag)
{
	static struct op_session session;
	struct stat st;
	int err = op_session_init(&session, session_dir, diag);

	if (err)
		return err;
	if (!stat(session.dir, &st) && st.st_uid != geteuid())
		return op_diag_set(
			diag, -EACCES,
			"--open: %s is another user's; name the file of the page with --html=FILE",
			session.dir);
	return asprintf(path, "%s/" PAGE_NAME, session.dir) < 0 ? -ENOMEM : 0;
}

/* Whether @command could be started for the page at @path. Its messages would
 * stand between those of the shell. */
static bool start_browser(char *command, char *path)
{
	char *const argv[] = { command, path, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return false;
	err = posix_spawnattr_init(&attributes);
	if (!err) {
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
		for (int fd = 0; fd <= 2 && !err; fd++)
			err = posix_spawn_file_actions_addopen(
				&actions, fd, "/dev/null", O_RDWR, 0);
		err = err
			      ?: posix_spawnp(&pid, command, &actions,
					      &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return !err;
}

void opreport_open_page(const char *path, FILE *out)
{
	const char *chosen = getenv("BROWSER");
	bool has_display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
	char *page = realpath(path, NULL), *commands, *save = NULL;
	const char *opened_by = NULL;

	if (!chosen || !*chosen)
		chosen = has_display ? "xdg-open" : "";
	commands = strdup(chosen);
	if (page && commands)
		for (char *command = strtok_r(commands, ":", &save);
		     command && !opened_by;
		     command = strtok_r(NULL, ":", &save))
			if (start_browser(command, page))
				opened_by = command;
	if (opened_by)
		fprintf(out, "opreport: %s opens %s\n", opened_by, page);
	else
		fprintf(out,
			"opreport: no browser could be started%s; open %s\n",
			*chosen ? "" : " without a display", page ?: path);
	free(commands);
	free(page);
}
