/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SESSIONS_H
#define LIBPP_SESSIONS_H

/*
 * The session folders that a profile specification names, open to be read.
 * While they are, nothing moves in them from one file to another
 * (libdb/db_folder.h).
 *
 * All but what is open belongs to an arena.
 */

#include <stddef.h>

#include "libdb/db_folder.h"
#include "libop/op_diag.h"
#include "libop/op_session.h"
#include "libpp/archive.h"
#include "libop/op_arena.h"
#include "libpp/profile_spec.h"

/* A session folder. */
struct pp_session {
	const char *path;
	struct db_folder *folder; /* NULL once it is closed */
	int pack_errno; /* a negative errno: what is packed is left out */
	const char *pack_error; /* "PATH: CAUSE": why; or NULL */
};

struct pp_sessions {
	struct pp_session *list;
	size_t nr;
};

/*
 * Open what @spec asks for of @session's, or of @archive's if that is not
 * NULL. To be closed either way. Returns 0; -ENOENT and the like with the
 * reason in @diag when a session is not there; -ENOMEM.
 */
int pp_sessions_open(struct pp_sessions *sessions, struct op_arena *arena,
		     const struct op_session *session,
		     const struct pp_archive *archive,
		     const struct pp_spec *spec, struct op_diag *diag);

/* The name of the session in the folder @path: the last part of that. */
const char *pp_session_name(const char *path);

/* Let go of the folders, once or more often; the list stays. */
void pp_sessions_close(struct pp_sessions *sessions);

#endif /* LIBPP_SESSIONS_H */
