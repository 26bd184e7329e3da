// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of stats/ holds one number; those of CPUs are in folders cpuN/ and add
 * up. The log has a block of lines "Nr. TEXT: NUMBER" each time that the daemon
 * was asked or ended; its numbers grow from block to block, so the last one
 * counts. The counters of the kernel are in both: they are taken from the log
 * where there is no folder.
 */

#include "pp/opimport/opimport_loss.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/files/op_config.h"
#include "libop/files/op_file.h"
#include "libop/session/op_ledger.h"
#include "libop/files/op_walk.h"

#define SOURCE OP_LEDGER_IMPORTED
#define BLOCK_START "-- OProfile"
#define COUNT_START "Nr. "

/* Lines of the log, and what the ledger calls them. */
static const struct {
	const char *text, *cause;
	bool in_stats; /* a file there has the same */
} log_lines[] = {
	{ "lost samples (no kernel/user)", "lost_no_context", false },
	{ "lost kernel samples", "lost_kernel", false },
	{ "samples lost due to sample file open failure", "lost_sample_file",
	  false },
	{ "samples lost due to no permanent mapping",
	  "lost_no_permanent_mapping", false },
	{ "user context kernel samples lost due to no app info available",
	  "lost_no_app_info_kernel", false },
	{ "user samples lost due to no app info available",
	  "lost_no_app_info_user", false },
	{ "samples lost due to sample address not in expected range for domain",
	  "lost_invalid_address", false },
	{ "hypervisor samples dropped due to address out-of-range",
	  "lost_hypervisor", false },
	{ "samples lost reported by perf_events kernel", "lost_by_kernel",
	  false },
	{ "samples lost due to buffer overflow", "event_lost_overflow", true },
	{ "samples lost cpu buffer overflow", "sample_lost_overflow", true },
	{ "samples lost due to no mapping", "sample_lost_no_mapping", true },
	{ "samples lost due to no mm", "sample_lost_no_mm", true },
	{ "samples lost invalid pc", "sample_invalid_eip", true },
};

#define NR_LINES (sizeof(log_lines) / sizeof(log_lines[0]))

struct known_losses {
	const struct opimport_loss *loss;
	struct op_ledger ledger;
	bool is_known; /* something counted, and be it 0 */
	bool has_stats;
};

/* ---- stats/ -------------------------------------------------------------- */

static bool counts_lost_samples(const char *name)
{
	return !strncmp(name, "lost_", 5) ||
	       !strncmp(name, "sample_lost_", 12) ||
	       !strcmp(name, "event_lost_overflow") ||
	       !strcmp(name, "sample_invalid_eip");
}

/* The kernel's time limit for interrupts was reached; nobody counted. */
static void note_throttled(const struct known_losses *known, const char *event)
{
	struct op_diag text = { "" };

	op_diag_set(&text, 0,
		    "%s/%s: the kernel throttled %s; samples of it are "
		    "missing, their number is unknown",
		    known->loss->from, known->loss->name, event);
	known->loss->complain(text.text);
}

static int visit_stats_file(const struct op_walk_entry *entry, void *ctx)
{
	struct known_losses *known = ctx;
	uint64_t number;
	char *text;
	size_t len;
	int err;

	if (entry->kind != OP_WALK_FILE)
		return 0;
	known->has_stats = true;
	if (!strncmp(entry->below, "throttled/", 10)) {
		note_throttled(known, entry->name);
		return 0;
	}
	if (!counts_lost_samples(entry->name) ||
	    op_file_read(entry->path, 4096, &text, &len, NULL))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	err = op_parse_u64(text, &number)
		      ?: op_ledger_lose(&known->ledger, entry->name, number);
	free(text);
	known->is_known |= !err;
	return 0;
}

/* ---- the log ------------------------------------------------------------- */

/* "Nr. TEXT: NUMBER" */
static void parse_log_line(uint64_t *numbers, bool *seen, char *line)
{
	char *colon = strrchr(line, ':');
	uint64_t number;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, COUNT_START, strlen(COUNT_START)) || !colon ||
	    colon[1] != ' ' || op_parse_u64(colon + 2, &number))
		return;
	*colon = '\0';
	for (size_t i = 0; i < NR_LINES; i++) {
		if (strcmp(line + strlen(COUNT_START), log_lines[i].text) != 0)
			continue;
		numbers[i] = number > UINT64_MAX - numbers[i]
				     ? UINT64_MAX
				     : numbers[i] + number;
		seen[i] = true;
	}
}

/* The last block of the log @file. */
static void read_log(struct known_losses *known, FILE *file)
{
	uint64_t numbers[NR_LINES] = { 0 };
	bool seen[NR_LINES] = { false };
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, file) > 0) {
		if (!strncmp(line, BLOCK_START, strlen(BLOCK_START))) {
			memset(numbers, 0, sizeof(numbers));
			memset(seen, 0, sizeof(seen));
		}
		parse_log_line(numbers, seen, line);
	}
	free(line);
	for (size_t i = 0; i < NR_LINES; i++)
		if (seen[i] && !(log_lines[i].in_stats && known->has_stats) &&
		    !op_ledger_lose(&known->ledger, log_lines[i].cause,
				    numbers[i]))
			known->is_known = true;
}

static void read_logs(struct known_losses *known)
{
	static const char *const names[] = { "oprofiled.log", "operf.log" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		FILE *file = NULL;

		if (snprintf(path, sizeof(path), "%s/%s", known->loss->from,
			     names[i]) < (int)sizeof(path))
			file = fopen(path, "re");
		if (!file)
			continue;
		read_log(known, file);
		fclose(file);
	}
}

/* ---- the ledger ---------------------------------------------------------- */

int opimport_loss_write(const struct opimport_loss *loss, struct op_diag *diag)
{
	struct known_losses known = {
		.loss = loss,
		.ledger = { .source = SOURCE, .stored = loss->stored },
	};
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%s/stats", loss->from,
		     loss->name) >= (int)sizeof(path))
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long",
				   loss->from);
	err = op_walk(path, visit_stats_file, &known);
	if (err)
		return op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	if (!strcmp(loss->name, "current"))
		read_logs(&known);
	if (!known.is_known)
		return 0;
	if (__builtin_add_overflow(loss->stored, op_ledger_lost(&known.ledger),
				   &known.ledger.taken))
		known.ledger.taken = UINT64_MAX;
	if (snprintf(path, sizeof(path), "%s/%s/ledger", loss->to,
		     loss->name) >= (int)sizeof(path))
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long",
				   loss->to);
	return op_ledger_write(&known.ledger, path, NULL, diag);
}
