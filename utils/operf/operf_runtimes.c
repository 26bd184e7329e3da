// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The agents are looked for beside the folder of operf, as in a build folder
 * and as they are installed. All processes that the command starts load them;
 * so a file that another user could have written, or could put another one in
 * the place of, is not used: for root that is any other user.
 */

#include "utils/operf/operf_runtimes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "libop/image/op_runtime.h"
#include "utils/operf/operf_run.h"

#define DUMPS                                                                  \
	"OPROFILE_DUMPS" /* of libopagent, unless the user has named one */
#define HEAD 256 /* bytes of a script's first line that are looked at */

/* ---- agents ---------------------------------------------------------------
 */

/* Nobody but root and this user can change what @st is of. */
static bool is_ours(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* A folder like /tmp lets others add files, and change none of ours. */
static bool is_safe_folder(const struct stat *st)
{
	return is_ours(st) || (st->st_uid == 0 && st->st_mode & S_ISVTX);
}

/* All files of the folder @path are loaded, by their names. */
static bool has_safe_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;
	bool is_safe = dir != NULL;

	while (is_safe && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			is_safe = !fstatat(dirfd(dir), entry->d_name, &st,
					   AT_SYMLINK_NOFOLLOW) &&
				  S_ISREG(st.st_mode) && is_ours(&st);
	if (dir)
		closedir(dir);
	return is_safe;
}

/* @path is a real one. */
static bool is_safe_path(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;
	char *slash;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !is_ours(&st))
		return false;
	snprintf(folder, sizeof(folder), "%s", path);
	while ((slash = strrchr(folder, '/')) && slash != folder) {
		*slash = '\0';
		if (stat(folder, &st) || !is_safe_folder(&st))
			return false;
	}
	return !stat("/", &st) && is_safe_folder(&st);
}

/* *@path = that of the agent of @runtime in this installation, or of its
 * folder. If it is the one of the command, @is_own, a line says why it is not
 * used. */
static bool find_agent(struct operf *operf, const struct op_runtime *runtime,
		       bool is_own, char path[PATH_MAX])
{
	static const char *const places[] = {
		"../lib/oprofile",
		"../lib64/oprofile",
		"../lib/x86_64-linux-gnu/oprofile",
		"../lib/aarch64-linux-gnu/oprofile",
		"../lib",
		"../lib64",
	};
	char folder[PATH_MAX / 2], candidate[PATH_MAX];
	struct op_diag why = { "" };
	bool is_safe;

	if (op_process_own_folder(folder, sizeof(folder), &why))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s/%s", folder,
			 places[i], runtime->agent);
		if (!realpath(candidate, path))
			continue;
		is_safe = is_safe_path(path);
		if (runtime->wants_folder) {
			*strrchr(path, '/') = '\0';
			is_safe = is_safe && has_safe_files(path);
		}
		/* The command's environment has separators of several kinds. */
		if (is_safe && !strpbrk(path, ": ,"))
			return true;
		if (is_own)
			operf_inform(
				operf,
				"%s is not used, so %s names no functions: %s",
				path, runtime->name,
				is_safe ? "its path has a colon, comma or blank"
					: "others may write there; chmod -R go-w it and the folders above");
	}
	return false;
}

/* ---- the environment ------------------------------------------------------
 */

static const char *value_of(char *const *environment, const char *name,
			    size_t *at)
{
	size_t len = strlen(name);

	for (*at = 0; environment[*at]; ++*at)
		if (!strncmp(environment[*at], name, len) &&
		    environment[*at][len] == '=')
			return environment[*at] + len + 1;
	return NULL;
}

static int copy_environment(struct operf_runtimes *runtimes)
{
	size_t nr = 0;

	while (environ && environ[nr])
		nr++;
	runtimes->environment = calloc(nr + 1, sizeof(char *));
	if (!runtimes->environment)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		runtimes->environment[i] = strdup(environ[i]);
		if (!runtimes->environment[i])
			return -ENOMEM;
	}
	return 0;
}

/* Put @value in front of what the variable has, or in the place of that if
 * there is no separator. */
static int add_to_variable(struct operf_runtimes *runtimes, const char *name,
			   const char *value, char separator)
{
	size_t at;
	const char *old = value_of(runtimes->environment, name, &at);
	char between[2] = { separator, '\0' };
	char *line, **more;

	if (!old) {
		more = reallocarray(runtimes->environment, at + 2,
				    sizeof(*more));
		if (!more)
			return -ENOMEM;
		runtimes->environment = more;
	}
	if (!old || !*old)
		*between = '\0';
	if (asprintf(&line, "%s=%s%s%s", name, value, between,
		     *between ? old : "") < 0)
		return -ENOMEM;
	if (old)
		free(runtimes->environment[at]);
	else
		runtimes->environment[at + 1] = NULL;
	runtimes->environment[at] = line;
	return 0;
}

/* The user has said so, in the variable or on the command line. */
static bool is_cared_for(const struct operf *operf,
			 const struct op_runtime *runtime)
{
	const char *old = getenv(runtime->variable);

	/* What has one value has it from its owner. */
	if (old && *old && !runtime->separator)
		return true;
	if (!runtime->unless)
		return false;
	for (char **argv = operf->options.command + 1; *argv; argv++)
		if (strstr(*argv, runtime->unless))
			return true;
	return old && strstr(old, runtime->unless);
}

static int prepare_runtime(struct operf *operf,
			   const struct op_runtime *runtime, bool is_own,
			   bool *is_prepared)
{
	char path[PATH_MAX] = "", value[PATH_MAX + 128];
	int err;

	*is_prepared = false;
	if (!runtime->variable ||
	    (runtime->interprets && !operf->options.depth) ||
	    is_cared_for(operf, runtime) ||
	    (runtime->agent && !find_agent(operf, runtime, is_own, path)))
		return 0;
	if (runtime->agent) {
		const char *at = strstr(runtime->value, "%s");

		snprintf(value, sizeof(value), "%.*s%s%s",
			 (int)(at - runtime->value), runtime->value, path,
			 at + 2);
	} else {
		snprintf(value, sizeof(value), "%s", runtime->value);
	}
	err = add_to_variable(&operf->runtimes, runtime->variable, value,
			      runtime->separator);
	if (err)
		return err;
	operf_say(operf, "%s of the command begins with %s", runtime->variable,
		  value);
	operf->runtimes.leaves_maps |= runtime->leaves_map;
	*is_prepared = true;
	return 0;
}

/* ---- dumps ----------------------------------------------------------------
 */

/* The session is not there yet. */
static int name_folder_of_dumps(struct operf *operf)
{
	const char *dir = operf->options.session_dir ?: OPERF_DEFAULT_DIR;
	char *dumps = operf->runtimes.dumps;
	char here[PATH_MAX / 2] = "";

	if (*dir != '/' && !getcwd(here, sizeof(here)))
		return 0;
	if (snprintf(dumps, PATH_MAX, "%s%s%s/run/dumps", here,
		     *here ? "/" : "", dir) >= PATH_MAX) {
		*dumps = '\0';
		return 0;
	}
	return add_to_variable(&operf->runtimes, DUMPS, dumps, '\0');
}

void operf_runtimes_make_folder(const struct operf *operf)
{
	if (!*operf->runtimes.dumps)
		return;
	op_remove_tree(operf->runtimes.dumps); /* of a run that was killed */
	op_make_folder(operf->runtimes.dumps, 0700);
}

void operf_runtimes_release(struct operf *operf)
{
	struct operf_runtimes *runtimes = &operf->runtimes;

	if (*runtimes->dumps)
		op_remove_tree(runtimes->dumps);
	*runtimes->dumps = '\0';
	for (char **at = runtimes->environment; at && *at; at++)
		free(*at);
	free(runtimes->environment);
	runtimes->environment = NULL;
}

/* ---- the command ----------------------------------------------------------
 */

/* The program that runs the script @path, without the folder of env(1); *@words
 * has the words of its first line. NULL for what is no script. */
static const char *interpreter_of(const char *path, char words[HEAD])
{
	FILE *file = fopen(path, "re");
	char *word, *rest = words + 2;
	size_t len;

	if (!file)
		return NULL;
	len = fread(words, 1, HEAD - 1, file);
	fclose(file);
	words[len] = '\0';
	words[strcspn(words, "\n")] = '\0';
	if (strncmp(words, "#!", 2))
		return NULL;
	while ((word = strsep(&rest, " \t")))
		if (*word && *word != '-' && strcmp(word, "/usr/bin/env") &&
		    strcmp(word, "/bin/env"))
			return word;
	return NULL;
}

/* *@name = its program or interpreter, as the version is known by, in @room. */
static const struct op_runtime *
runtime_of_command(const struct command *command, const char **name,
		   char room[PATH_MAX])
{
	const struct op_runtime *runtime;

	*name = command->path;
	if (command->is_text) {
		*name = interpreter_of(command->path, room);
		return *name ? op_runtime_of_file(*name) : NULL;
	}
	runtime = op_runtime_of_file(command->path);
	/* An alternative of Debian has links between. */
	if (realpath(command->path, room) && op_runtime_of_file(room)) {
		*name = room;
		runtime = op_runtime_of_file(room);
	}
	return runtime;
}

/* The version in the name of a program is older. */
static bool is_too_old(const struct op_runtime *runtime, const char *name)
{
	const char *base = strrchr(name, '/');
	const char *version = strpbrk(base ? base : name, "0123456789");

	return runtime->since && version && strchr(version, '.') &&
	       strverscmp(version, runtime->since) < 0;
}

/* The letter of the option by which the command ignores the variable, or 0. */
static char ignoring_option(const struct op_runtime *runtime, char **argv)
{
	if (!runtime->ignoring)
		return '\0';
	while (*++argv && **argv == '-' && (*argv)[1] && (*argv)[1] != '-') {
		for (const char *at = *argv + 1; *at; at++) {
			if (strchr(runtime->ignoring, *at))
				return *at;
			if (strchr(runtime->last, *at))
				return '\0';
			if (!strchr(runtime->valued, *at))
				continue;
			/* The value is the rest of the word, or the next. */
			if (!at[1] && !*++argv)
				return '\0';
			break;
		}
	}
	return '\0';
}

/* Say what becomes of the names of the command itself. */
static void say_runtime(struct operf *operf, const struct op_runtime *runtime,
			const char *name, bool is_prepared)
{
	char option = operf->command.is_text
			      ? '\0'
			      : ignoring_option(runtime, operf->command.argv);

	if (is_too_old(runtime, name))
		operf_inform(operf, "%s names no functions; %s %s and later do",
			     name, runtime->name, runtime->since);
	else if (runtime->interprets && !operf->options.depth)
		operf_inform(operf,
			     "functions of %s are seen in stacks: add -g",
			     runtime->name);
	else if (is_prepared && option)
		operf_inform(
			operf,
			"%s with -%c ignores %s, so its functions have no names",
			runtime->name, option, runtime->variable);
	else if (is_prepared)
		operf_inform(
			operf,
			"%s names its functions, by %s; --no-runtimes leaves the environment alone",
			runtime->name, runtime->variable);
}

int operf_runtimes_prepare(struct operf *operf)
{
	const struct op_runtime *own, *runtime;
	char room[PATH_MAX];
	const char *name;
	bool is_prepared;
	int err;

	if (operf->options.no_runtimes ||
	    !operf_profiles_command(&operf->options))
		return 0;
	own = runtime_of_command(&operf->command, &name, room);
	err = copy_environment(&operf->runtimes);
	for (size_t i = 0; !err && (runtime = op_runtime_at(i)); i++) {
		err = prepare_runtime(operf, runtime, runtime == own,
				      &is_prepared);
		if (!err && runtime == own && runtime->variable)
			say_runtime(operf, own, name, is_prepared);
	}
	err = err ?: name_folder_of_dumps(operf);
	operf->command.environment = operf->runtimes.environment;
	return err ? op_diag_set(&operf->diag, err, "out of memory") : 0;
}
