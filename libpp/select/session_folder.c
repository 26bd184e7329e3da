// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens the folder of one session, or of one span of it. */

#include "libpp/select/sample_list.h"
#include "libpp/select/session_search.h"

#include <errno.h>

/* Find out whether the pack of @session, which is open, can be used. */
static int check_session_pack(struct pp_session_search *search,
			      struct pp_session *session)
{
	const char *path = db_folder_pack_path(session->folder);
	int err = db_folder_pack_error(session->folder);

	if (!err && db_folder_pack(session->folder))
		err = pp_archive_check(search->archive, path);
	if (!err)
		return 0;
	session->pack_errno = err;
	session->pack_error = op_arena_printf(search->arena, "%s: %s", path,
					      pp_why_not_opened(err));
	return session->pack_error ? 0 : -ENOMEM;
}

int pp_session_open(struct pp_session_search *search, const char *path,
		    const char *name)
{
	struct pp_sessions *sessions = search->sessions;
	struct pp_session *session = op_arena_grow(
		search->arena, sessions->list, sessions->nr, sizeof(*session));
	int err;

	if (!session || !path || !name)
		return -ENOMEM;
	sessions->list = session;
	session += sessions->nr;
	*session = (struct pp_session){ .path = path, .name = name };
	err = db_folder_open(&session->folder, path);
	if (err)
		return err;
	sessions->nr++;
	return check_session_pack(search, session);
}
