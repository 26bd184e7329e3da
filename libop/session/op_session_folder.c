// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folders of a session as a whole.
 *
 * To make room for a new run, folders below samples/ are renamed: current
 * becomes previous, and previous becomes ASIDE, which is removed once the new
 * run has begun; until then all can be undone. A current session without
 * samples is not worth a previous one that has some: then current becomes
 * ASIDE, and previous stays. If the program is killed between two renames, or
 * before it has removed ASIDE, the next run finds ASIDE: without a previous
 * session it is that one, else it is not needed any more.
 */

#include "libop/session/op_session_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"

#define ASIDE ".replaced"

#define SAMPLES_PATH_LEN (sizeof(((struct op_session *)0)->samples) + 300)

static bool is_entry_of_samples(const char *name)
{
	return op_session_holds_samples(name) || !strncmp(name, "ledger", 6) ||
	       !strcmp(name, "tasks") || op_session_is_unfinished(name);
}

int op_session_reset(const struct op_session *session, struct op_diag *diag)
{
	int err = op_remove_entries(session->current, session->samples,
				    is_entry_of_samples);

	/* A new folder tells those who read now and then that all is new. */
	if (!err && !rmdir(session->current))
		err = op_make_folder(session->current, 0755);
	if (!err || err == -ENOENT)
		return 0;
	return op_diag_set(diag, err,
			   "%s: cannot remove the samples: %s; look "
			   "at its files, or use another --session-dir",
			   session->current, strerror(-err));
}

int op_session_save(const struct op_session *session, const char *name,
		    struct op_diag *diag)
{
	char path[SAMPLES_PATH_LEN];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", session->samples, name);
	if (!lstat(path, &st))
		return op_diag_set(diag, -EEXIST,
				   "--save=%s: %s already exists; choose "
				   "another name",
				   name, path);
	if (!rename(session->current, path))
		return 0;
	if (errno == ENOENT)
		return op_diag_set(diag, -ENOENT,
				   "--save=%s: there is nothing to save in %s; "
				   "take samples with opcontrol --start",
				   name, session->current);
	return op_diag_set(diag, -errno, "--save=%s: cannot rename %s: %s",
			   name, session->current, strerror(errno));
}

/* ---- room for a new run -------------------------------------------------- */

static bool has_session(const struct op_session *session, const char *name)
{
	char path[SAMPLES_PATH_LEN];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", session->samples, name);
	return !lstat(path, &st);
}

bool op_session_has_samples(const struct op_session *session)
{
	DIR *dir = opendir(session->current);
	struct dirent *entry;
	bool found = false;

	if (!dir)
		return errno != ENOENT;
	do {
		errno = 0;
		entry = readdir(dir);
		found = entry ? op_session_holds_samples(entry->d_name)
			      : errno != 0;
	} while (entry && !found);
	closedir(dir);
	return found;
}

static int rename_session(const struct op_session_room *room, const char *from,
			  const char *to, struct op_diag *diag)
{
	char old[SAMPLES_PATH_LEN], new[SAMPLES_PATH_LEN];

	snprintf(old, sizeof(old), "%s/%s", room->session->samples, from);
	snprintf(new, sizeof(new), "%s/%s", room->session->samples, to);
	if (room->say)
		room->say("rename %s to %s", old, new);
	if (!rename(old, new))
		return 0;
	return op_diag_set(diag, -errno,
			   "%s: cannot become %s: %s; remove one of them, or "
			   "give another --session-dir",
			   old, new, strerror(errno));
}

static int remove_session(const struct op_session_room *room, const char *name,
			  struct op_diag *diag)
{
	char path[SAMPLES_PATH_LEN];
	int err;

	snprintf(path, sizeof(path), "%s/%s", room->session->samples, name);
	if (room->say)
		room->say("remove %s", path);
	err = op_remove_tree(path);
	return err ? op_diag_set(diag, err, "%s: cannot be removed: %s", path,
				 strerror(-err))
		   : 0;
}

int op_session_rotate(struct op_session_room *room, bool append,
		      struct op_diag *diag)
{
	const struct op_session *session = room->session;
	int err = 0;

	if (has_session(session, ASIDE)) {
		if (has_session(session, "previous"))
			remove_session(room, ASIDE, NULL);
		else
			err = rename_session(room, ASIDE, "previous", diag);
	}
	if (err)
		return err;
	room->made_current = !has_session(session, "current");
	if (room->made_current || append)
		return 0;
	if (!op_session_has_samples(session)) {
		err = rename_session(room, "current", ASIDE, diag);
		room->aside = err ? NULL : "current";
	} else {
		if (has_session(session, "previous")) {
			err = rename_session(room, "previous", ASIDE, diag);
			room->aside = err ? NULL : "previous";
		}
		if (!err)
			err = rename_session(room, "current", "previous", diag);
		room->moved_current = !err;
	}
	room->made_current = !err;
	return err;
}

int op_session_rotated(struct op_session_room *room, struct op_diag *diag)
{
	int err = room->aside ? remove_session(room, ASIDE, diag) : 0;

	room->aside = NULL;
	return err;
}

int op_session_undo_rotate(struct op_session_room *room, struct op_diag *diag)
{
	int err = 0;

	if (room->made_current && has_session(room->session, "current"))
		err = remove_session(room, "current", diag);
	if (!err && room->moved_current)
		err = rename_session(room, "previous", "current", diag);
	if (!err && room->aside)
		err = rename_session(room, ASIDE, room->aside, diag);
	return err;
}
