// SPDX-License-Identifier: GPL-2.0-or-later
#include "utils/operf/operf_append.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_plural.h"
#include "libop/session/op_span.h"
#include "utils/operf/operf_run.h"

/* When the ledger of @session was written: " of 14:05", with the day unless
 * that is today; "" when that is not known. */
static void time_of_ledger(const struct op_session *session, char *text,
			   size_t len)
{
	char path[sizeof(session->current) + 16];
	time_t now = time(NULL);
	struct tm then, today;
	struct stat st;

	*text = '\0';
	snprintf(path, sizeof(path), "%s/ledger", session->current);
	if (stat(path, &st) || !localtime_r(&st.st_mtime, &then) ||
	    !localtime_r(&now, &today))
		return;
	strftime(text, len,
		 then.tm_year == today.tm_year && then.tm_yday == today.tm_yday
			 ? " of %H:%M"
			 : " of %Y-%m-%d %H:%M",
		 &then);
}

/* Whether whoever sits at the terminal says yes. */
static bool says_yes(void)
{
	char line[16];

	fputs("operf: add to them? [y/N] ", stderr);
	return fgets(line, sizeof(line), stdin) &&
	       (*line == 'y' || *line == 'Y');
}

int operf_append_confirm(struct operf *operf)
{
	const struct operf_options *options = &operf->options;
	struct op_session session;
	struct op_ledger ledger;
	char when[64];

	/* A session that cannot be read is told of by the run itself. */
	if (!options->append ||
	    op_session_init(&session, options->session_dir ?: OPERF_DEFAULT_DIR,
			    NULL) ||
	    op_session_account(session.current, &ledger, NULL) ||
	    !ledger.stored)
		return 0;
	time_of_ledger(&session, when, sizeof(when));
	operf_inform(operf, "adding to %" PRIu64 " sample%s%s%s", ledger.stored,
		     op_plural(ledger.stored), when,
		     options->system_wide
			     ? ""
			     : "; for the whole machine use -s, without -a");
	if (!options->ask_append || options->quiet || !isatty(STDIN_FILENO) ||
	    !isatty(STDERR_FILENO) || says_yes())
		return 0;
	return op_diag_set(
		&operf->diag, -ECANCELED,
		"nothing was run; without -a the existing profile becomes session:previous and a new one is made");
}
