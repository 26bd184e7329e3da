// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The account of samples: the daemon's ledger says how many of a session were
 * stored and how many were lost. Sessions that are reported together have one
 * account; if some session has none, because it was imported, the report has
 * none.
 */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "libpp/report/population.h"

/* @one is room for the account of a session. */
static int add_account(struct pp_population *p, struct pp_side *side,
		       struct op_ledger *sum, struct op_ledger *one,
		       const struct pp_session *session, bool *absent)
{
	const char *path =
		op_arena_printf(&p->report->arena, "%s/ledger", session->path);
	struct op_diag why = { 0 };
	struct stat st;
	int err;

	if (!path)
		return -ENOMEM;
	err = pp_archive_check(side->archive, path);
	if (err)
		op_diag_set(&why, err, "%s: %s", path,
			    pp_archive_refusal(err) ?: strerror(-err));
	err = err ?: op_ledger_read(one, path, &why);
	if (!err && stat(path, &st))
		err = op_diag_set(&why, -errno, "%s: %s", path,
				  strerror(errno));
	err = err ?: op_ledger_sum(sum, one);
	if (err == -ENOMEM)
		return err;
	if (err && err != -ENOENT)
		pp_message_of_error(
			&p->report->messages, err,
			"%s; how many samples were lost is not known",
			*why.text ? why.text : path);
	if (!err)
		pp_side_add_times(side, session, one);
	if (!err && st.st_mtime > 0 &&
	    (uint64_t)st.st_mtime > side->account_written)
		side->account_written = (uint64_t)st.st_mtime;
	/* An archive of some spans has no other. */
	*absent |= err != 0 && !(err == -ENOENT && session->has_spans);
	return 0;
}

int pp_side_account(struct pp_population *p, struct pp_side *side)
{
	struct op_ledger *sum =
		op_arena_alloc(&p->report->arena, 2, sizeof(*sum));
	bool absent = false;
	int err = sum ? 0 : -ENOMEM;

	for (size_t i = 0; i < side->list.sessions.nr && !err; i++)
		if (!side->list.sessions.list[i].is_left_out)
			err = add_account(p, side, sum, sum + 1,
					  &side->list.sessions.list[i],
					  &absent);
	if (!err && !absent) {
		side->account = sum;
		side->wants |= PP_WANT_UNNAMED;
	}
	return err;
}
