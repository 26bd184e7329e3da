// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dpkg-query is run as it is, without a shell, and only once a report. It takes
 * patterns: a path that would be one is not asked for. Since Debian has moved
 * /lib and /bin to /usr, the running program and the package may call a file by
 * either path, so both are asked for at once: a run reads the lists of all
 * packages, which takes as long as many a report.
 */

#include "pp/cure.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpp/sample_list.h"

#define PACKAGE_MAX 128

/* ---- the package --------------------------------------------------------- */

/* Run dpkg-query with its output in a pipe. Returns its end, or -1. */
static int spawn_dpkg_query(const char *const paths[2], pid_t *pid)
{
	char *const argv[] = { "dpkg-query", "--search", (char *)paths[0],
			       (char *)paths[1], NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	err = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!err)
		return ends[0];
	close(ends[0]);
	return -1;
}

static bool is_line(const char *line, const char *text)
{
	size_t len = strlen(text);

	return !strncmp(line, text, len) && line[len] == '\n';
}

/* Take the package from "NAME[:ARCH][, NAME...]: PATH"; false for any other
 * line, such as one about a diversion. */
static bool take_package(const char *line, const char *const paths[2],
			 char package[PACKAGE_MAX])
{
	size_t len = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
	const char *colon = strstr(line, ": ");

	if (!len || len >= PACKAGE_MAX || !colon || !strchr(":,", line[len]) ||
	    !(is_line(colon + 2, paths[0]) || is_line(colon + 2, paths[1])))
		return false;
	memcpy(package, line, len);
	package[len] = '\0';
	return true;
}

static bool run_dpkg_query(const char *const paths[2],
			   char package[PACKAGE_MAX])
{
	char line[8192];
	bool found = false;
	pid_t pid;
	FILE *out;
	int fd = spawn_dpkg_query(paths, &pid);

	if (fd < 0)
		return false;
	out = fdopen(fd, "r");
	while (out && fgets(line, sizeof(line), out))
		found = found || take_package(line, paths, package);
	if (out)
		fclose(out);
	else
		close(fd);
	waitpid(pid, NULL, 0);
	return found;
}

static bool find_package(const char *path, char package[PACKAGE_MAX])
{
	char other[4096];
	const char *const paths[2] = { path, other };
	bool in_usr = !strncmp(path, "/usr/", 5);

	if (*path != '/' || strpbrk(path, "*?[\\"))
		return false;
	snprintf(other, sizeof(other), "%s%s", in_usr ? "" : "/usr",
		 in_usr ? path + 4 : path);
	return run_dpkg_query(paths, package);
}

/* ---- the advice ---------------------------------------------------------- */

/* Runtimes that tell of the code that they make, if they are asked to. */
static const struct runtime {
	const char *name; /* of its program */
	const char *advice;
} runtimes[] = {
	{ "node", "run it with --perf-basic-prof" },
	{ "nodejs", "run it with --perf-basic-prof" },
	{ "java", "run it with -agentlib:jvmti_oprofile" },
	{ "luajit",
	  "let its script write /tmp/perf-PID.map, as doc/jit.md shows" },
	{ "dotnet", "run it with DOTNET_PerfMapEnabled=1 in its environment" },
	{ "ruby", "run it with --yjit-perf" },
	{ "beam.smp", "run it with +JPperf true" },
	{ "wasmtime", "run it with --profile=perfmap" },
};

static void print_cure_of_made_code(FILE *out, const char *program,
				    const char *path)
{
	const char *base = pp_base_name(path);

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (!strcmp(base, runtimes[i].name))
			fprintf(out,
				"%s: to name the code that %s makes at run time: %s\n",
				program, path, runtimes[i].advice);
}

void pp_print_cure(FILE *out, const char *program,
		   const struct pp_report *report, bool is_elsewhere)
{
	const char *path = report->nameless;
	bool may_fetch = !report->debug.server && pp_debuginfod_is_built() &&
			 !report->archive;
	char package[PACKAGE_MAX];

	if (report->nameless_maker)
		print_cure_of_made_code(out, program, report->nameless_maker);
	if (!path)
		return;
	if (is_elsewhere || report->archive || !find_package(path, package))
		*package = '\0';
	if (!*package && !may_fetch)
		return;
	fprintf(out, "%s: to name the functions of %s: ", program, path);
	if (*package)
		fprintf(out, "install the package %s-dbgsym%s", package,
			may_fetch ? ", or " : "\n");
	if (may_fetch)
		fputs("fetch its debug file with --debuginfod=URL\n", out);
}
