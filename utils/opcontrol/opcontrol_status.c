// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --status: the daemon, the settings, and where the samples went.
 *
 * Of a daemon that runs its own answers are shown, as settings may have been
 * saved for the next one meanwhile; without a daemon, what is saved and what
 * the last daemon has left in the ledger. A line is the label of a setting's
 * row and its value; a number that the module keeps is left out where nothing
 * was asked for.
 */

#include "utils/opcontrol/opcontrol_status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libop/files/op_config.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_span.h"
#include "utils/opcontrol/opcontrol_run.h"

#define LOST "lost."

/* The daemon's answer for @key, else @saved. */
static const char *live_value(const struct opcontrol *oc, const char *key,
			      char *buf, size_t len, const char *saved)
{
	return daemon_reply_find(oc->daemon.reply, key, buf, len) ? buf : saved;
}

static void print_separate(struct opcontrol *oc)
{
	const char *between = "Separate options: ";
	char text[64];

	if (daemon_reply_find(oc->daemon.reply, "separate", text, sizeof(text)))
		oc_settings_separate(&oc->settings, text, NULL);
	for (int i = OC_SEPARATE_LIB; i <= OC_SEPARATE_CGROUP; i++) {
		if (!oc->settings.numbers[i])
			continue;
		printf("%s%s", between, oc_settings_table[i].word);
		between = " ";
	}
	puts(*between == ' ' ? "" : "Separate options: none");
}

/* Print the source of samples and return it, "module" or "perf/cycles". */
static const char *print_source(struct opcontrol *oc, char *buf, size_t len)
{
	const struct oc_choice *choice = &oc->choice;
	const char *source, *reason;
	char more[OP_DIAG_MAX];

	if (!oc->daemon.answers)
		oc_source_foresee(&oc->choice, &oc->settings, &oc->fs,
				  oc->tools);
	source = live_value(oc, "source", buf, len,
			    oc_source_names[choice->source]);
	reason = live_value(oc, "source-reason", more, sizeof(more),
			    choice->reason);
	printf("Source: %s\n", source);
	if (*reason)
		printf("Source reason: %s\n", reason);
	return source;
}

/* "LABEL: VALUE UNIT", or what 0 means; nothing where 0 means "as it is". */
static void print_number(const struct opcontrol *oc, enum oc_row id,
			 const char *unit)
{
	const struct oc_setting *row = &oc_settings_table[id];
	uint64_t value = oc->settings.numbers[id];

	if (value)
		printf("%s: %" PRIu64 "%s\n", row->label, value, unit);
	else if (row->zero)
		printf("%s: %s\n", row->label, row->zero);
}

/* Print a line for each event. Returns whether there are any. */
static bool print_events(struct opcontrol *oc, const char *source)
{
	char *text = oc_events_text(&oc->events, &oc->settings,
				    oc->choice.source, source),
	     *rest = text, *event;
	unsigned int nr = 0;

	while (rest && (event = strsep(&rest, ",")))
		printf("Event %u: %s\n", nr++, event);
	free(text);
	return nr;
}

static void print_settings(struct opcontrol *oc)
{
	const struct oc_settings *settings = &oc->settings;
	uint64_t depth = settings->numbers[OC_CALLGRAPH], rate;
	char text[OC_PATH_MAX], buf[64];
	const char *source = print_source(oc, buf, sizeof(buf)), *vmlinux;
	bool is_perf = !strncmp(source, "perf", strlen("perf")), has_events;

	printf("Session-dir: %s\n",
	       live_value(oc, "session-dir", text, sizeof(text),
			  settings->session_dir));
	has_events = print_events(oc, source);
	print_separate(oc);
	printf("%s: %" PRIu64 "\n", oc_settings_table[OC_CALLGRAPH].label,
	       depth);
	if (depth && !is_perf)
		print_number(oc, OC_CALLGRAPH_STACK, " bytes");
	vmlinux = live_value(oc, "vmlinux", text, sizeof(text),
			     settings->vmlinux);
	printf("vmlinux file: %s\n", *vmlinux == '/' ? vmlinux : "none");
	printf("Image filter: %s\n",
	       settings->images[0] ? settings->images : "none");
	if (settings->readable_by[0])
		printf("Readable by: group %s\n", settings->readable_by);
	if (settings->history[0])
		printf("History: %s\n", settings->history);
	if (settings->record[0])
		printf("Record: %s\n", settings->record);
	if (oc_settings_is_set(settings, OC_PACK_AT))
		print_number(oc, OC_PACK_AT, " MiB");
	if (oc_settings_is_set(settings, OC_MAX_DISK))
		print_number(oc, OC_MAX_DISK, " MiB");
	if (settings->cpu_budget[0])
		printf("CPU budget: %s%s\n", settings->cpu_budget,
		       strcmp(settings->cpu_budget, "none") ? " %" : "");
	if (!is_perf) {
		print_number(oc, OC_BUFFER_SIZE, "");
		print_number(oc, OC_BUFFER_WATERSHED, "");
		print_number(oc, OC_CPU_BUFFER_SIZE, "");
	}
	if (has_events)
		return;
	/* The settings have the rate of the module if it cannot be read. */
	rate = settings->numbers[OC_TIMER_RATE];
	if (!is_perf)
		oc_fs_read(&oc->fs, oc_settings_table[OC_TIMER_RATE].file,
			   &rate, NULL);
	if (rate)
		printf("%s: %" PRIu64 " per second and CPU\n",
		       oc_settings_table[OC_TIMER_RATE].label, rate);
}

static void parse_cause(struct op_ledger *ledger, const char *line)
{
	size_t len = strcspn(line, " ");
	char cause[OP_LEDGER_CAUSE_MAX], text[32];
	uint64_t nr;

	if (len >= sizeof(cause))
		return;
	memcpy(cause, line, len);
	cause[len] = '\0';
	line += len;
	len = strncmp(line, " = ", 3) ? 0 : strcspn(line + 3, "\n");
	if (!len || len >= sizeof(text))
		return;
	memcpy(text, line + 3, len);
	text[len] = '\0';
	if (!op_parse_u64(text, &nr))
		op_ledger_lose(ledger, cause, nr);
}

static uint64_t reply_number(const char *reply, const char *key)
{
	uint64_t value = 0;
	char text[32];

	if (daemon_reply_find(reply, key, text, sizeof(text)))
		op_parse_u64(text, &value);
	return value;
}

static void parse_reply(struct op_ledger *ledger, const char *reply)
{
	const char *line;
	char key[64];

	memset(ledger, 0, sizeof(*ledger));
	ledger->taken = reply_number(reply, "taken");
	ledger->stored = reply_number(reply, "stored");
	ledger->pending = reply_number(reply, "pending");
	for (unsigned int i = 0; i < OP_NR_COSTS; i++) {
		snprintf(key, sizeof(key), "cost.%s", op_ledger_cost_name(i));
		ledger->costs[i] = reply_number(reply, key);
	}
	for (line = reply; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, LOST, strlen(LOST)))
			parse_cause(ledger, line + strlen(LOST));
	}
}

static void print_ledger(const struct op_ledger *ledger)
{
	const uint64_t *costs = ledger->costs;
	double cpus = (double)costs[OP_COST_CPUS];

	if (ledger->source[0])
		printf("Sample source: %s\n", ledger->source);
	printf("Samples taken: %" PRIu64 "\n", ledger->taken);
	printf("Samples stored: %" PRIu64 "\n", ledger->stored);
	printf("Samples pending: %" PRIu64 "\n", ledger->pending);
	for (unsigned int i = 0; i < ledger->nr_causes; i++) {
		if (ledger->causes[i].nr)
			printf("Samples lost (%s): %" PRIu64 "\n",
			       ledger->causes[i].name, ledger->causes[i].nr);
	}
	if (!costs[OP_COST_CPUS])
		return;
	printf("Cost: %.2f %% of the CPUs: %.2f %% taking samples, %.2f %% daemon\n",
	       100 * op_ledger_cost(ledger),
	       100 * (double)costs[OP_COST_HANDLER] / cpus,
	       100 * (double)costs[OP_COST_DAEMON] / cpus);
	if (!costs[OP_COST_DIVISOR])
		return;
	fputs("Rate lowered: ", stdout);
	op_ledger_print_lowered(stdout, costs);
	putchar('\n');
}

/* Print the samples that the history has dropped, up to @end; 0: none. */
static void print_dropped(uint64_t samples, uint64_t end)
{
	time_t date = (time_t)end;
	char text[64];
	struct tm tm;

	if (end && localtime_r(&date, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		printf("Samples dropped from the history: %" PRIu64
		       ", up to %s\n",
		       samples, text);
}

/* Print the ledger of the daemon, or the one that the last daemon left. */
static int print_samples(struct opcontrol *oc)
{
	const char *reply = oc->daemon.reply, *dir = oc->session.current;
	struct op_ledger ledger, dropped;
	struct op_span span;
	uint64_t divisor;
	int err;

	if (oc->daemon.answers) {
		parse_reply(&ledger, reply);
		print_ledger(&ledger);
		divisor = reply_number(reply, "divisor");
		if (divisor > 1)
			printf("Rate now: divided by %" PRIu64 "\n", divisor);
		print_dropped(reply_number(reply, "dropped"),
			      reply_number(reply, "dropped-until"));
		return 0;
	}
	err = op_session_account(dir, &ledger, &oc->diag);
	if (err)
		return err == -ENOENT ? 0 : err;
	print_ledger(&ledger);
	err = op_spans_dropped(dir, &span, &dropped, &oc->diag);
	if (!err)
		print_dropped(dropped.stored, span.end);
	return err;
}

int oc_status(struct opcontrol *oc)
{
	const struct daemon *daemon = &oc->daemon;

	if (!daemon->pid)
		puts("Daemon not running");
	else if (!daemon->answers)
		printf("Daemon not answering: pid %d\n", daemon->pid);
	else
		printf("Daemon %s: pid %d\n",
		       daemon->is_sampling ? "running" : "paused", daemon->pid);
	print_settings(oc);
	return print_samples(oc);
}
