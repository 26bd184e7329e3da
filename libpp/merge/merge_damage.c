// SPDX-License-Identifier: GPL-2.0-or-later
/* A session that cannot be used, and what ends the run for that. */

#include <errno.h>
#include <string.h>

#include "libpp/merge/merge_run.h"

int merge_is_damaged(struct run *run, struct run_source *source, int err,
		     const char *name)
{
	/* A failure of the machine is no damage of the archive. */
	if (err == -ENOMEM || err == -EMFILE || err == -ENFILE ||
	    err == -ENOSPC || !source->item->archive)
		return op_diag_set(run->why, err, "%s: %s", name,
				   strerror(-err));
	run->damaged = source;
	return op_diag_set(run->why, -EBADMSG, "%s: %s", name,
			   err == -EBADMSG ? "it is damaged" : strerror(-err));
}
