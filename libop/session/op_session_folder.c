// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folders of a session as a whole.
 *
 * To make room for a new run, folders below samples/ are renamed: current
 * becomes previous, previous becomes previous-2 and so on. The oldest session,
 * if as many are there as are kept, becomes ASIDE first, which is removed once
 * the new run has begun; until then all can be undone. A current session
 * without samples is not worth a previous one that has some: then current
 * becomes ASIDE, and the others stay. If the program is killed between two
 * renames, or before it has removed ASIDE, the next run finds ASIDE: if some
 * number is free, and it has samples, it becomes the oldest session again.
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

static bool has_samples_in(const char *path)
{
	DIR *dir = opendir(path);
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

bool op_session_has_samples(const struct op_session *session)
{
	return has_samples_in(session->current);
}

void op_session_previous(char name[OP_SESSION_PREVIOUS_MAX], unsigned int nr)
{
	if (nr > 1)
		snprintf(name, OP_SESSION_PREVIOUS_MAX, "previous-%u", nr);
	else
		strcpy(name, "previous");
}

static bool has_previous(const struct op_session *session, unsigned int nr)
{
	char name[OP_SESSION_PREVIOUS_MAX];

	op_session_previous(name, nr);
	return has_session(session, name);
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

/* Remove the session @name, and count it if it has samples. */
static int remove_old_session(const struct op_session_room *room,
			      const char *name, unsigned int *nr_removed,
			      struct op_diag *diag)
{
	char path[SAMPLES_PATH_LEN];
	bool has_samples;
	int err;

	snprintf(path, sizeof(path), "%s/%s", room->session->samples, name);
	has_samples = has_samples_in(path);
	err = remove_session(room, name, diag);
	*nr_removed += !err && has_samples;
	return err;
}

/* Give the session number @from of the earlier ones the number @to. */
static int renumber(const struct op_session_room *room, unsigned int from,
		    unsigned int to, struct op_diag *diag)
{
	char old[OP_SESSION_PREVIOUS_MAX], new[OP_SESSION_PREVIOUS_MAX];

	op_session_previous(old, from);
	op_session_previous(new, to);
	return rename_session(room, old, new, diag);
}

/* The first number that no earlier session has; 0 if all have one. */
static unsigned int free_number(const struct op_session_room *room)
{
	for (unsigned int nr = 1; nr <= room->keep; nr++)
		if (!has_previous(room->session, nr))
			return nr;
	return 0;
}

/*
 * The run before was killed before it removed ASIDE. If that is a session with
 * samples, and there is a number that no session has, it is the oldest of all.
 */
static int restore_aside(const struct op_session_room *room,
			 struct op_diag *diag)
{
	char path[SAMPLES_PATH_LEN], name[OP_SESSION_PREVIOUS_MAX];
	unsigned int nr = free_number(room);
	int err = 0;

	if (!has_session(room->session, ASIDE))
		return 0;
	snprintf(path, sizeof(path), "%s/" ASIDE, room->session->samples);
	if (!nr || !has_samples_in(path)) {
		remove_session(room, ASIDE, NULL);
		return 0;
	}
	for (; !err && nr < room->keep && has_previous(room->session, nr + 1);
	     nr++)
		err = renumber(room, nr + 1, nr, diag);
	op_session_previous(name, nr);
	return err ? err : rename_session(room, ASIDE, name, diag);
}

static int move_aside(struct op_session_room *room, const char *name,
		      struct op_diag *diag)
{
	int err = rename_session(room, name, ASIDE, diag);

	if (!err)
		snprintf(room->aside, sizeof(room->aside), "%s", name);
	return err;
}

/* Rename the earlier sessions, so that none is called previous. */
static int shift_sessions(struct op_session_room *room, struct op_diag *diag)
{
	unsigned int nr = free_number(room);
	char name[OP_SESSION_PREVIOUS_MAX];
	int err = 0;

	if (!nr) {
		nr = room->keep;
		op_session_previous(name, nr);
		err = move_aside(room, name, diag);
	}
	for (; !err && nr > 1; nr--) {
		err = renumber(room, nr - 1, nr, diag);
		room->nr_renamed += !err;
	}
	return err;
}

int op_session_rotate(struct op_session_room *room, bool append,
		      struct op_diag *diag)
{
	const struct op_session *session = room->session;
	int err = restore_aside(room, diag);

	if (err)
		return err;
	room->made_current = !has_session(session, "current");
	if (room->made_current || append)
		return 0;
	if (!op_session_has_samples(session)) {
		err = move_aside(room, "current", diag);
	} else {
		err = shift_sessions(room, diag)
			      ?: rename_session(room, "current", "previous",
						diag);
		room->moved_current = !err;
	}
	room->made_current = !err;
	return err;
}

int op_session_rotated(struct op_session_room *room, unsigned int *nr_removed,
		       struct op_diag *diag)
{
	char name[OP_SESSION_PREVIOUS_MAX];
	int err = 0;

	*nr_removed = 0;
	if (*room->aside)
		err = remove_old_session(room, ASIDE, nr_removed, diag);
	*room->aside = '\0';
	for (unsigned int nr = room->keep + 1;
	     !err && room->moved_current && has_previous(room->session, nr);
	     nr++) {
		op_session_previous(name, nr);
		err = remove_old_session(room, name, nr_removed, diag);
	}
	return err;
}

/* The numbers that shift_sessions() has freed and given end where the lowest
 * free one was. */
static int shift_back(struct op_session_room *room, struct op_diag *diag)
{
	unsigned int nr = 1;
	int err = 0;

	/* A shift that failed in between has left the lower ones alone. */
	while (room->nr_renamed && has_previous(room->session, nr))
		nr++;
	for (; !err && room->nr_renamed; room->nr_renamed--, nr++)
		err = renumber(room, nr + 1, nr, diag);
	return err;
}

int op_session_undo_rotate(struct op_session_room *room, struct op_diag *diag)
{
	int err = 0;

	if (room->made_current && has_session(room->session, "current"))
		err = remove_session(room, "current", diag);
	if (!err && room->moved_current)
		err = rename_session(room, "previous", "current", diag);
	err = err ?: shift_back(room, diag);
	if (!err && *room->aside)
		err = rename_session(room, ASIDE, room->aside, diag);
	return err;
}
