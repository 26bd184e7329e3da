// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The paths of a session. Two ways to name the same folder must give the same
 * lock and socket, so links are resolved as far as the folder exists; the rest
 * is made of the names as they are. A folder of the default name in the
 * current folder is taken only if it belongs to root or the caller: root must
 * not write where another user leads.
 */

#include "libop/session/op_session.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/image/op_build_id.h"
#include "libop/kernel/op_ksyms.h"

#define LOCAL_DIR "oprofile_data"
#define RUN_DIR_DEFAULT "/run/oprofile"

_Static_assert(sizeof(((struct op_session *)0)->dir) == PATH_MAX,
	       "realpath() fills it");

/*
 * Go one component down from @dir, which is absolute and without links; ""
 * stands for the root folder.
 */
static int descend_path(char *dir, const char *name, size_t len)
{
	char real[PATH_MAX];
	size_t at = strlen(dir);

	if (len == 1 && name[0] == '.')
		return 0;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		char *slash = strrchr(dir, '/');

		if (slash)
			*slash = '\0';
		return 0;
	}
	if (at + 1 + len >= PATH_MAX)
		return -ENAMETOOLONG;
	dir[at] = '/';
	memcpy(dir + at + 1, name, len);
	dir[at + 1 + len] = '\0';
	if (!realpath(dir, real))
		return errno == ENOENT ? 0 : -errno;
	strcpy(dir, strcmp(real, "/") ? real : "");
	return 0;
}

static int resolve_path(char *dir, const char *path)
{
	int err = 0;

	dir[0] = '\0';
	if (path[0] != '/' && !getcwd(dir, PATH_MAX))
		return -errno;
	if (!strcmp(dir, "/"))
		dir[0] = '\0';
	while (*path && !err) {
		size_t len = strcspn(path, "/");

		if (len)
			err = descend_path(dir, path, len);
		path += len;
		path += strspn(path, "/");
	}
	return err;
}

static int resolve_session(char *dir, const char *path, struct op_diag *diag)
{
	int err = *path ? resolve_path(dir, path) : -ENOENT;

	if (err)
		return op_diag_set(diag, err,
				   "%s: cannot be the session folder: %s", path,
				   strerror(-err));
	if (!*dir)
		return op_diag_set(diag, -EINVAL,
				   "%s: the root folder cannot be the session "
				   "folder; name a folder in it",
				   path);
	return 0;
}

static bool is_trusted(uid_t owner)
{
	return owner == geteuid() || owner == 0;
}

/*
 * The session folder when none was named. A folder that someone else has put
 * where we happen to be is not taken without asking: as root we would write
 * where its owner leads us.
 */
static int default_dir(const char **dir, struct op_diag *diag)
{
	struct stat folder, link;

	*dir = OP_SESSION_DIR_DEFAULT;
	if (stat(LOCAL_DIR, &folder) || !S_ISDIR(folder.st_mode))
		return 0;
	if (lstat(LOCAL_DIR, &link) || !is_trusted(link.st_uid) ||
	    !is_trusted(folder.st_uid))
		return op_diag_set(diag, -EPERM,
				   "./" LOCAL_DIR ": belongs to another user; "
				   "to use it anyway, give "
				   "--session-dir=./" LOCAL_DIR);
	*dir = LOCAL_DIR;
	return 0;
}

static bool is_default_dir(const char *dir)
{
	char real[PATH_MAX];

	return !resolve_path(real, OP_SESSION_DIR_DEFAULT) &&
	       !strcmp(dir, real);
}

int op_session_init(struct op_session *s, const char *dir, struct op_diag *diag)
{
	int err = 0;

	if (!dir)
		err = default_dir(&dir, diag);
	if (!err)
		err = resolve_session(s->dir, dir, diag);
	if (err)
		return err;
	snprintf(s->samples, sizeof(s->samples), "%s/samples", s->dir);
	snprintf(s->current, sizeof(s->current), "%s/samples/current", s->dir);
	snprintf(s->log, sizeof(s->log), "%s/samples/oprofiled.log", s->dir);
	snprintf(s->symbols, sizeof(s->symbols), "%s/symbols", s->dir);
	snprintf(s->images, sizeof(s->images), "%s/images", s->dir);
	snprintf(s->store, sizeof(s->store), "%s/store", s->dir);
	if (is_default_dir(s->dir))
		strcpy(s->run, RUN_DIR_DEFAULT);
	else
		snprintf(s->run, sizeof(s->run), "%s/run", s->dir);
	snprintf(s->lock, sizeof(s->lock), "%s/lock", s->run);
	snprintf(s->socket, sizeof(s->socket), "%s/control", s->run);
	snprintf(s->mine, sizeof(s->mine), "%s/mine", s->run);
	return 0;
}

bool op_session_holds_samples(const char *name)
{
	static const char *const starts[] = { "{",	  "packed",
					      ".packed",  ".packing-",
					      ".span-",	  ".closing-",
					      ".making-", ".dropped-" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

bool op_session_is_unfinished(const char *name)
{
	static const char grow[] = ".grow", tmp[] = ".tmp-";
	size_t len = strlen(name);

	if (name[0] != '.')
		return false;
	if (!strncmp(name, tmp, strlen(tmp)))
		return len == strlen(".tmp-XXXXXX");
	return len > 1 + strlen(grow) &&
	       !strcmp(name + len - strlen(grow), grow);
}

int op_session_image(const struct op_session *session, const char *name,
		     const struct op_build_id *build_id, uint64_t mtime,
		     char *buf, size_t len)
{
	const char *slash = strrchr(name, '/');
	char text[OP_BUILD_TEXT_MAX];

	if (!build_id->len)
		snprintf(text, sizeof(text), "%016" PRIx64, mtime);
	else
		op_build_text(text, build_id, 0, 0, 0);
	return op_ksyms_path_of(buf, len, session->images,
				slash ? slash + 1 : name, text);
}

static const char *why_no_name(const char *name)
{
	if (!*name)
		return "it is empty";
	if (*name == '.')
		return "it starts with a dot";
	if (strlen(name) > NAME_MAX)
		return "it is too long";
	if (!strcmp(name, "current") || !strcmp(name, "oprofiled.log"))
		return "the name is taken";
	for (; *name; name++) {
		unsigned char c = *name;

		if (c == '/')
			return "it contains a slash";
		if (c < 0x20 || c == 0x7f)
			return "it contains a control character";
	}
	return NULL;
}

int op_session_name_check(const char *name, struct op_diag *diag)
{
	const char *why = why_no_name(name);

	if (!why)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "\"%s\" cannot name a saved session: %s; choose "
			   "another name",
			   name, why);
}

int op_session_digest(const struct op_session *session,
		      const struct op_build_id *build_id, char *buf, size_t len)
{
	char hex[OP_BUILD_TEXT_MAX];
	int n;

	if (build_id->len < 2 || build_id->len > OP_BUILD_ID_MAX)
		return -ENOENT;
	op_build_text(hex, build_id, 0, 0, 0);
	n = snprintf(buf, len, "%s/.build-id/%.2s/%s", session->store, hex,
		     hex + 2);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/* Whether @name is that of the build @build with a fingerprint. */
static bool has_any_fingerprint(const char *name, const char *build)
{
	size_t len = strlen(build);

	return !strncmp(name, build, len) &&
	       strlen(name) == len + OP_FINGERPRINT_TEXT_LEN &&
	       name[len] == '-' &&
	       strspn(name + len + 1, "0123456789abcdef") ==
		       OP_FINGERPRINT_TEXT_LEN - 1;
}

int op_session_any_fingerprint(char *path, size_t len)
{
	char found[NAME_MAX + 1] = "";
	char *build = strrchr(path, '/') + 1;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	build[-1] = '\0';
	dir = opendir(path);
	if (!dir)
		err = -errno;
	build[-1] = '/';
	while (!err && (errno = 0, entry = readdir(dir))) {
		if (!has_any_fingerprint(entry->d_name, build))
			continue;
		err = *found ? -ENOTUNIQ : 0;
		strcpy(found, entry->d_name);
	}
	if (dir && !err)
		err = errno ? -errno : *found ? 0 : -ENOENT;
	if (dir)
		closedir(dir);
	if (err)
		return err;
	if (strlen(found) >= len - (size_t)(build - path))
		return -ENAMETOOLONG;
	strcpy(build, found);
	return 0;
}
