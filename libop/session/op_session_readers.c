// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A folder is made closed and opened then, so nobody finds it open in between.
 * Folders that are there are changed by a descriptor that follows no link: the
 * session folder may belong to another user.
 */

#include "libop/session/op_session_readers.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/files/op_folder.h"

int op_session_group(gid_t *group, const char *name, struct op_diag *diag)
{
	const struct group *entry = getgrnam(name);
	uint64_t number;

	if (entry) {
		*group = entry->gr_gid;
		return 0;
	}
	/* All ones is no group: chown(2) takes it for "as it is". */
	if (!op_parse_u64(name, &number) && number < (gid_t)-1) {
		*group = (gid_t)number;
		return 0;
	}
	return op_diag_set(
		diag, -EINVAL,
		"--readable-by=%s: no such group; getent group lists them",
		name);
}

/* A link is not followed: another user may have made it, and the folder behind
 * it would be opened to the group. */
static int set_readers(const char *path, gid_t group, mode_t mode)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fchown(fd, (uid_t)-1, group) || fchmod(fd, mode))
		err = -errno;
	close(fd);
	return err;
}

static int let_group_read(const struct op_session *session, gid_t group,
			  struct op_diag *diag)
{
	const char *const folders[] = { session->samples, session->symbols,
					session->images, session->store };
	int err;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		err = set_readers(folders[i], group, 0750);
		if (err)
			return op_diag_set(
				diag, err,
				"--readable-by: %s: cannot be given to the group: %s; give a group that you are in",
				folders[i], strerror(-err));
	}
	return 0;
}

int op_session_make_samples(const struct op_session *session,
			    const gid_t *group, struct op_diag *diag)
{
	int err = op_make_parents(session->samples, 0755)
			  ?: op_make_folder(session->samples,
					    geteuid() ? 0755 : 0700);

	if (err)
		return op_diag_set(
			diag, err,
			"%s: cannot make it: %s; give --session-dir a folder that you may write to",
			session->samples, strerror(-err));
	return group ? let_group_read(session, *group, diag) : 0;
}

int op_session_make_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char samples[PATH_MAX];
	struct stat st;

	if (mkdir(path, 0700))
		return errno == EEXIST ? op_make_folder(path, 0700) : -errno;
	if (!slash ||
	    snprintf(samples, sizeof(samples), "%.*s/samples",
		     (int)(slash - path), path) >= (int)sizeof(samples))
		return -ENAMETOOLONG;
	if (stat(samples, &st))
		return errno == ENOENT ? 0 : -errno;
	return set_readers(path, st.st_gid, st.st_mode & 0777);
}
