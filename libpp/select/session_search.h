/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_SESSION_SEARCH_H
#define LIBPP_SELECT_SESSION_SEARCH_H

/* Opening sessions, for sessions.c and session_spans.c alone. */

#include <time.h>

#include "libpp/select/sessions.h"

/* All that the functions of these files hand on to each other. */
struct pp_session_search {
	struct pp_sessions *sessions;
	struct op_arena *arena;
	const struct op_session *session;
	const struct pp_archive *archive;
	const struct pp_spec *spec;
	struct op_labels *seen; /* of sessions that are not asked for */
	size_t nr_seen;
	struct op_diag *diag;
	const struct pp_slices *last_slices; /* that were looked at; or NULL */
	bool over_time; /* times are columns */
	time_t now;
	uint64_t first; /* begin of the first span that there is, ns; 0: none */
	const char *no_times; /* session without any history; or NULL */
};

/* A new entry of the list, with its folder open. Returns 0 or as
 * db_folder_open(). */
int pp_session_open(struct pp_session_search *search, const char *path,
		    const char *name);

/* The spans of the session that is the last of the list so far, as far as they
 * are chosen. Returns 0, or -errno with the reason unless it is -ENOMEM. */
int pp_session_add_spans(struct pp_session_search *search);

/* Whether time: has chosen anything. Returns 0, or -ENOENT with the reason. */
int pp_session_check_times(struct pp_session_search *search);

#endif /* LIBPP_SELECT_SESSION_SEARCH_H */
