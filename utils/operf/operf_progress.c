// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/operf/operf_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/session/op_control.h"
#include "utils/operf/operf_run.h"

#define EVERY_MS 1000
#define ANSWER_MS 500
#define LOST "lost."
#define WIPE "\r\033[K" /* to the start of the line, and erase it */

/* The number in the line of @reply that begins at @line, 0 if there is none. */
static uint64_t number_in_line(const char *line)
{
	char text[32] = "";
	const char *at = strstr(line, " = ");
	uint64_t number = 0;
	size_t len;

	if (!at || at > line + strcspn(line, "\n"))
		return 0;
	at += strlen(" = ");
	len = strcspn(at, "\n");
	if (len < sizeof(text))
		memcpy(text, at, len);
	return op_parse_u64(text, &number) ? 0 : number;
}

void operf_progress_text(char *buf, size_t len, const char *reply,
			 uint64_t seconds)
{
	uint64_t taken = 0, lost = 0;

	for (const char *line = reply; *line;) {
		if (!strncmp(line, "taken ", strlen("taken ")))
			taken = number_in_line(line);
		else if (!strncmp(line, LOST, strlen(LOST)))
			lost += number_in_line(line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	snprintf(buf, len,
		 "%" PRIu64 " s, %" PRIu64 " samples, %" PRIu64 " lost",
		 seconds, taken, lost);
}

void operf_progress_begin(struct operf_progress *progress,
			  const struct operf *operf, uint64_t start)
{
	bool is_wanted = !operf->options.quiet && operf->child.daemon.pid &&
			 isatty(STDERR_FILENO) &&
			 !(operf->command.pid && isatty(STDOUT_FILENO));

	*progress = (struct operf_progress){
		.operf = operf,
		.start = start,
		.next = is_wanted ? start + EVERY_MS : 0,
	};
}

uint64_t operf_progress_next(const struct operf_progress *progress)
{
	return progress->next;
}

void operf_progress_show(struct operf_progress *progress, uint64_t now)
{
	const struct operf *operf = progress->operf;
	char reply[DAEMON_REPLY_MAX], text[128];
	struct op_diag why = { "" };

	if (!progress->next || now < progress->next)
		return;
	progress->next = now + EVERY_MS;
	if (op_control_call(operf->session.socket, "status", reply,
			    sizeof(reply), ANSWER_MS, &why))
		return;
	operf_progress_text(text, sizeof(text), reply,
			    (now - progress->start) / 1000);
	fprintf(stderr, WIPE "operf: %s", text);
	fflush(stderr);
	progress->shown = true;
}

void operf_progress_end(struct operf_progress *progress)
{
	if (progress->shown)
		fputs(WIPE, stderr);
	progress->shown = false;
}
