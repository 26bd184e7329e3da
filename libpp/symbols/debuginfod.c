// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdebuginfod has a time limit of its own, which a server that accepts and
 * says nothing makes last for minutes, and none for a slow one. It calls back
 * at least once a second while it waits; there the time without a new byte is
 * measured, and the waiting is given up by a return value. For the library that
 * is the same as a server without the file, which it remembers for ten minutes;
 * that is undone. SIGINT is blocked while a file is fetched and looked for at
 * the same place, so that Ctrl-C ends the waiting and not the report, and no
 * handler is needed.
 */

#include "libpp/symbols/debuginfod.h"

#include <errno.h>
#include <stdlib.h>

#include "config.h"

#ifdef HAVE_DEBUGINFOD

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_config.h"

#define SILENCE_SECONDS 30

struct pp_debuginfod {
	pp_debuginfod_progress *progress;
	void *data;
	void *library; /* NULL until it is needed */
	debuginfod_client *client;
	bool told; /* that it failed */
	struct op_diag failure; /* nothing is asked any more once it is set */

	/* The functions of the library. */
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find;
	__typeof__(debuginfod_set_progressfn) *set_progress;
	__typeof__(debuginfod_set_user_data) *set_data;
	__typeof__(debuginfod_get_url) *get_url;

	/* The file that is fetched. */
	const char *name;
	time_t silent_since;
	time_t silence_max; /* seconds */
	long received; /* bytes */
	bool interrupted;
	bool was_silent;
};

bool pp_debuginfod_is_built(void)
{
	return true;
}

int pp_debuginfod_new(struct pp_debuginfod **out,
		      pp_debuginfod_progress *progress, void *data,
		      struct op_diag *diag)
{
	struct pp_debuginfod *server = calloc(1, sizeof(*server));

	(void)diag;
	if (!server)
		return -ENOMEM;
	server->progress = progress;
	server->data = data;
	*out = server;
	return 0;
}

void pp_debuginfod_free(struct pp_debuginfod *server)
{
	if (!server)
		return;
	if (server->client)
		server->end(server->client);
	/* The library is not unloaded: those that it uses may have threads. */
	free(server);
}

/* ---- the library --------------------------------------------------------- */

static bool load_functions(struct pp_debuginfod *server)
{
	const struct {
		void *to;
		const char *name;
	} functions[] = {
		{ &server->begin, "debuginfod_begin" },
		{ &server->end, "debuginfod_end" },
		{ &server->find, "debuginfod_find_debuginfo" },
		{ &server->set_progress, "debuginfod_set_progressfn" },
		{ &server->set_data, "debuginfod_set_user_data" },
		{ &server->get_url, "debuginfod_get_url" },
	};

	server->library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_GLOBAL);
	if (!server->library)
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(server->library, functions[i].name);

		if (!function)
			return false;
		memcpy(functions[i].to, &function, sizeof(function));
	}
	return true;
}

static time_t monotonic_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The call-back is given nothing but @client, which has our handle. */
static struct pp_debuginfod *server_of(debuginfod_client *client)
{
	__typeof__(debuginfod_get_user_data) *get_data;
	void *function = dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");

	memcpy(&get_data, &function, sizeof(function));
	return get_data(client);
}

/* Returns other than 0 to give up. */
static int watch_transfer(debuginfod_client *client, long done, long total)
{
	struct pp_debuginfod *server = server_of(client);
	time_t now = monotonic_seconds();
	sigset_t pending;

	/* Without a length, calls are counted until bytes come. */
	if (done > server->received + !total || !server->silent_since)
		server->silent_since = now;
	server->received = done;
	server->was_silent = now - server->silent_since >= server->silence_max;
	server->interrupted =
		!sigpending(&pending) && sigismember(&pending, SIGINT) == 1;
	if (server->progress && done > 0 && total > 0)
		server->progress(server->data, server->name, (uint64_t)done,
				 (uint64_t)total);
	return server->was_silent || server->interrupted;
}

static bool open_client(struct pp_debuginfod *server)
{
	const char *limit = getenv(DEBUGINFOD_TIMEOUT_ENV_VAR);
	uint64_t seconds;

	if (server->client || *server->failure.text)
		return !*server->failure.text;
	server->silence_max = SILENCE_SECONDS;
	if (limit && !op_parse_u64(limit, &seconds) && seconds &&
	    seconds <= INT32_MAX)
		server->silence_max = (time_t)seconds;
	if (load_functions(server))
		server->client = server->begin();
	if (!server->client) {
		op_diag_set(
			&server->failure, -EIO,
			"debuginfod: %s cannot be used; install the Debian package libdebuginfod1",
			DEBUGINFOD_SONAME);
		return false;
	}
	server->set_data(server->client, server);
	server->set_progress(server->client, watch_transfer);
	return true;
}

/* ---- fetching ------------------------------------------------------------ */

static void forget_miss(const uint8_t *build_id, size_t len)
{
	const char *dir = getenv(DEBUGINFOD_CACHE_PATH_ENV_VAR), *below = "";
	char hex[OP_BUILD_TEXT_MAX], path[PATH_MAX];
	struct stat st;

	if (!dir) {
		below = "/debuginfod_client";
		dir = getenv("XDG_CACHE_HOME");
	}
	if (!dir) {
		below = "/.cache/debuginfod_client";
		dir = getenv("HOME");
	}
	op_build_id_text(build_id, len, hex);
	if (dir &&
	    snprintf(path, sizeof(path), "%s%s/%s/debuginfo", dir, below, hex) <
		    (int)sizeof(path) &&
	    !lstat(path, &st) && S_ISREG(st.st_mode) && !st.st_size)
		unlink(path);
}

static void explain_failure(struct pp_debuginfod *server, int err)
{
	const char *url = server->get_url(server->client);

	if (!url)
		url = getenv(DEBUGINFOD_URLS_ENV_VAR);
	if (server->interrupted)
		op_diag_set(
			&server->failure, -EIO,
			"debuginfod: interrupted; the report is made without the files that were not fetched");
	else if (server->was_silent)
		op_diag_set(
			&server->failure, -EIO,
			"debuginfod: %s: sent nothing for %lld seconds; the report is made without it",
			url, (long long)server->silence_max);
	else
		op_diag_set(&server->failure, -EIO,
			    "debuginfod: %s: %s; the report is made without it",
			    url, strerror(-err));
}

char *pp_debuginfod_fetch(struct pp_debuginfod *server, const char *name,
			  const uint8_t *build_id, size_t len)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t interrupt, before;
	char *path = NULL;
	int fd;

	if (!server || !open_client(server))
		return NULL;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	server->name = name;
	server->silent_since = 0;
	server->received = 0;
	server->interrupted = server->was_silent = false;
	if (server->progress)
		server->progress(server->data, name, 0, 0);
	fd = server->find(server->client, build_id, (int)len, &path);
	if (server->progress)
		server->progress(server->data, NULL, 0, 0);
	if (server->interrupted)
		sigtimedwait(&interrupt, NULL, &at_once);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	if (server->was_silent || server->interrupted)
		forget_miss(build_id, len);
	/* -ENOSYS: there is no server. */
	if (server->was_silent || server->interrupted ||
	    (fd != -ENOENT && fd != -ENOSYS))
		explain_failure(server, fd);
	return NULL;
}

void pp_debuginfod_refuse(struct pp_debuginfod *server, const char *path)
{
	const char *url = server->get_url(server->client);

	unlink(path);
	op_diag_set(
		&server->failure, -EIO,
		"debuginfod: %s: sent a file that is not the debug file of %s; the report is made without it",
		url ? url : path, server->name);
}

const char *pp_debuginfod_failure(struct pp_debuginfod *server)
{
	if (!server || !*server->failure.text || server->told)
		return NULL;
	server->told = true;
	return server->failure.text;
}

#else /* !HAVE_DEBUGINFOD */

bool pp_debuginfod_is_built(void)
{
	return false;
}

int pp_debuginfod_new(struct pp_debuginfod **out,
		      pp_debuginfod_progress *progress, void *data,
		      struct op_diag *diag)
{
	(void)out;
	(void)progress;
	(void)data;
	return op_diag_set(
		diag, -ENOTSUP,
		"debuginfod: this program was built without libdebuginfod-dev");
}

void pp_debuginfod_free(struct pp_debuginfod *server)
{
	free(server);
}

char *pp_debuginfod_fetch(struct pp_debuginfod *server, const char *name,
			  const uint8_t *build_id, size_t len)
{
	(void)server;
	(void)name;
	(void)build_id;
	(void)len;
	return NULL;
}

void pp_debuginfod_refuse(struct pp_debuginfod *server, const char *path)
{
	(void)server;
	(void)path;
}

const char *pp_debuginfod_failure(struct pp_debuginfod *server)
{
	(void)server;
	return NULL;
}

#endif
