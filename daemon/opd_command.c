// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands run in the thread that handles samples, between two reads of the
 * source, so they need no locks. "stop", "reset" and "save" begin with or end
 * in a dump, so that the samples taken before the command belong to the session
 * as it was then.
 *
 * Saving a session renames its folder. The ledger without pending samples is
 * written into it before that, so the folder is complete when it gets its name.
 * A reset deletes
 * the files and writes an empty ledger last; the next daemon after a kill in
 * between counts what is left.
 *
 * An answer has a fixed size, small enough for the buffer of a
 * socket, so that no client can make the daemon wait.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "daemon/opd_command.h"
#include "daemon/opd_reading.h"
#include "daemon/opd_span.h"
#include "daemon/store/opd_session.h"

/* A line that does not fit is left out. */
__attribute__((format(printf, 3, 4))) static void
add(struct opd_answer *answer, const char *key, const char *fmt, ...)
{
	char line[OP_CONTROL_LINE_MAX];
	char value[OP_CONTROL_LINE_MAX - 128];
	va_list args;
	int len;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	for (char *c = value; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	len = snprintf(line, sizeof(line), " %.100s = %s\n", key, value);
	if (len < 0 || (size_t)len > sizeof(answer->text) - answer->len)
		return;
	memcpy(answer->text + answer->len, line, (size_t)len);
	answer->len += (size_t)len;
}

static void add_number(struct opd_answer *answer, const char *key, uint64_t nr)
{
	add(answer, key, "%" PRIu64, nr);
}

static void add_separate(const struct opd *opd, struct opd_answer *answer)
{
	const struct opd_options *o = &opd->options;
	char words[72];

	snprintf(words, sizeof(words), "%s%s%s%s%s%s",
		 o->separate_lib ? " lib" : "",
		 o->separate_kernel ? " kernel" : "",
		 o->separate_thread ? " thread" : "",
		 o->separate_cpu ? " cpu" : "",
		 o->separate_cgroup ? " cgroup" : "",
		 o->separate_user ? " user" : "");
	add(answer, "separate", "%s", words[0] ? words + 1 : "none");
}

static void add_stacks(const struct op_ledger *ledger,
		       struct opd_answer *answer)
{
	char key[OP_LEDGER_CAUSE_MAX + 8];

	if (!op_ledger_stacks_stored(ledger) &&
	    !ledger->stacks[OP_STACKS_NOT_STORED])
		return;
	for (unsigned int i = 0; i < OP_NR_STACKS; i++) {
		snprintf(key, sizeof(key), "stacks.%s",
			 op_ledger_stacks_name(i));
		add_number(answer, key, ledger->stacks[i]);
	}
}

static void add_costs(const struct opd *opd, const struct op_ledger *ledger,
		      struct opd_answer *answer)
{
	char key[64];

	if (!opd->budget.source)
		return;
	for (unsigned int i = 0; i < OP_NR_COSTS; i++) {
		snprintf(key, sizeof(key), "cost.%s", op_ledger_cost_name(i));
		add_number(answer, key, ledger->costs[i]);
	}
	add_number(answer, "divisor",
		   UINT64_C(1) << opd->budget.governor.shift);
}

static void add_ledger(struct opd *opd, struct opd_answer *answer)
{
	const struct opd_history *history = &opd->store.history;
	struct op_ledger ledger, sum;

	opd_stats_ledger(&opd->stats, &ledger);
	/* The spans of the history belong to the session. Pending samples are
	 * those of the last ledger. */
	sum = history->past;
	if (!op_ledger_merge(&sum, &ledger))
		ledger = sum;
	add_number(answer, "taken", ledger.taken);
	add_number(answer, "stored", ledger.stored);
	add_number(answer, "pending", ledger.pending);
	for (unsigned int i = 0; i < ledger.nr_causes; i++) {
		char key[OP_LEDGER_CAUSE_MAX + 8];

		snprintf(key, sizeof(key), "lost.%s", ledger.causes[i].name);
		add_number(answer, key, ledger.causes[i].nr);
	}
	add_stacks(&ledger, answer);
	add_costs(opd, &ledger, answer);
	if (!history->dropped.end)
		return;
	add_number(answer, "dropped", history->dropped_account.stored);
	add_number(answer, "dropped-until", history->dropped.end);
}

static int run_status(struct opd *opd, const char *arg,
		      struct opd_answer *answer, struct op_diag *diag)
{
	const char *vmlinux = opd->options.vmlinux;

	(void)arg;
	(void)diag;
	opd_source_ask_account(&opd->source);
	opd_reading_drain(opd);
	opd_budget_check(&opd->budget, true);
	add_number(answer, "pid", (uint64_t)getpid());
	add_number(answer, "running", opd_source_is_enabled(&opd->source));
	add_number(answer, "targeted", opd->source.targeted);
	add(answer, "source", "%s", opd->source.name);
	if (opd->options.source_reason)
		add(answer, "source-reason", "%s", opd->options.source_reason);
	add(answer, "session-dir", "%s", opd->session.dir);
	add_separate(opd, answer);
	if (opd->user_samples.fd >= 0)
		add(answer, "mine", "%s",
		    opd_user_samples_text(&opd->user_samples));
	add(answer, "vmlinux", "%s", vmlinux ? vmlinux : "(none)");
	add_ledger(opd, answer);
	return 0;
}

static int run_start(struct opd *opd, const char *arg,
		     struct opd_answer *answer, struct op_diag *diag)
{
	int err = opd_source_enable(&opd->source, true, diag);

	(void)arg;
	(void)answer;
	opd_budget_check(&opd->budget, true);
	return err;
}

int opd_command_stop(struct opd *opd, struct op_diag *diag)
{
	int err;

	opd_budget_check(&opd->budget, true);
	err = opd_source_enable(&opd->source, false, diag);
	opd_budget_check(&opd->budget, true);
	return err ? err : opd_reading_dump(opd, diag);
}

static int run_stop(struct opd *opd, const char *arg, struct opd_answer *answer,
		    struct op_diag *diag)
{
	(void)arg;
	(void)answer;
	return opd_command_stop(opd, diag);
}

static int run_dump(struct opd *opd, const char *arg, struct opd_answer *answer,
		    struct op_diag *diag)
{
	(void)arg;
	(void)answer;
	return opd_reading_dump(opd, diag);
}

/* Begin the account of another session or of the same one after a reset. */
static void restart(struct opd *opd)
{
	opd_budget_check(&opd->budget, true);
	opd_budget_restart(&opd->budget);
	opd_stats_restart(&opd->stats);
	opd_span_forget_names(opd);
	opd_tasks_write(&opd->tasks, true);
}

int opd_command_reset(struct opd *opd, struct op_diag *diag)
{
	int err = opd_session_reset(&opd->store, diag);

	if (err)
		return err;
	restart(opd);
	return opd_span_write_ledger(opd, diag);
}

int opd_command_save(struct opd *opd, const char *name, struct op_diag *diag)
{
	int err = op_session_name_check(name, diag);

	if (err)
		return err;
	opd_tasks_write(&opd->tasks, false);
	err = opd_stats_write_saved(&opd->stats);
	if (err)
		return op_diag_set(diag, err, "the ledger cannot be written");
	err = opd_session_rename(&opd->store, name, diag);
	if (err)
		return err;
	restart(opd);
	return opd_span_write_ledger(opd, diag);
}

static int run_reset(struct opd *opd, const char *arg,
		     struct opd_answer *answer, struct op_diag *diag)
{
	int err = run_dump(opd, arg, answer, diag);

	return err ? err : opd_command_reset(opd, diag);
}

static int run_save(struct opd *opd, const char *arg, struct opd_answer *answer,
		    struct op_diag *diag)
{
	int err = run_dump(opd, arg, answer, diag);

	return err ? err : opd_command_save(opd, arg, diag);
}

struct command {
	const char *verb;
	bool has_arg;
	int (*run)(struct opd *opd, const char *arg, struct opd_answer *answer,
		   struct op_diag *diag);
};

static const struct command commands[] = {
	{ "status", false, run_status }, { "start", false, run_start },
	{ "stop", false, run_stop },	 { "dump", false, run_dump },
	{ "reset", false, run_reset },	 { "save", true, run_save },
};

int opd_command_run(struct opd *opd, char *request, struct opd_answer *answer,
		    struct op_diag *diag)
{
	char *arg = strchr(request, ' ');
	const size_t nr = sizeof(commands) / sizeof(commands[0]);

	if (arg)
		*arg++ = '\0';
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(commands[i].verb, request))
			continue;
		if (commands[i].has_arg != (arg != NULL))
			return op_diag_set(diag, -EINVAL, "%s: %s argument",
					   request,
					   arg ? "takes no" : "wants an");
		return commands[i].run(opd, arg, answer, diag);
	}
	return op_diag_set(diag, -EINVAL, "%s: no such command", request);
}

static int run_for_client(void *ctx, char *request, struct opd_answer *answer,
			  struct op_diag *diag)
{
	return opd_command_run(ctx, request, answer, diag);
}

int opd_command_listen(struct opd *opd, struct op_diag *diag)
{
	opd->control.run = run_for_client;
	opd->control.ctx = opd;
	return opd_control_open(&opd->control, opd->session.socket, diag);
}
