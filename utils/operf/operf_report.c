// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The account of a run, on stderr: how many samples were taken, stored and
 * lost, and how to see them.
 *
 * The numbers are those of the ledger that the daemon leaves. With --append it
 * includes the runs before, whose ledger is subtracted. Where there is nothing
 * to see, or less than the command's CPU time stands for, the most likely cause
 * is named with what to do about it, since an empty profile explains nothing.
 */

#include "utils/operf/operf_report.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_plural.h"
#include "libop/session/op_span.h"
#include "utils/operf/operf_run.h"

#define LIST_MAX 1024 /* bytes of a list of causes */
#define DEFAULT_RATE 1000 /* of the daemon's CPU clock */

int operf_ledger_get(const struct operf *operf, struct op_ledger *ledger,
		     struct op_diag *diag)
{
	const char *dir = operf->session.current;
	struct op_ledger dropped = { .taken = 0 };
	int err = op_session_account(dir, ledger, diag);

	/* Samples that the history has dropped were taken, too. */
	if (!err)
		err = op_spans_dropped(dir, NULL, &dropped, diag)
			      ?: op_ledger_merge(&dropped, ledger);
	if (!err)
		*ledger = dropped;
	if (err)
		memset(ledger, 0, sizeof(*ledger));
	return err == -ENOENT ? 0 : err;
}

static uint64_t ledger_decrease(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Leave in @now only the counts since @before. */
static void subtract_ledger(struct op_ledger *now,
			    const struct op_ledger *before)
{
	now->taken = ledger_decrease(now->taken, before->taken);
	now->stored = ledger_decrease(now->stored, before->stored);
	for (unsigned int i = 0; i < now->nr_causes; i++) {
		struct op_ledger_cause *cause = &now->causes[i];

		cause->nr = ledger_decrease(
			cause->nr, op_ledger_lost_by(before, cause->name));
	}
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		now->stacks[i] =
			ledger_decrease(now->stacks[i], before->stacks[i]);
	/* Those from the budget on are no sums. */
	for (unsigned int i = 0; i < OP_COST_BUDGET; i++)
		now->costs[i] =
			ledger_decrease(now->costs[i], before->costs[i]);
}

/* ---- why there is nothing ------------------------------------------------ */

static double cpu_seconds(const struct command *command)
{
	const struct rusage *u = &command->usage;

	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static uint64_t clock_rate(const struct operf *operf)
{
	uint64_t rate = operf->options.rate;

	return rate ? rate : DEFAULT_RATE;
}

/* A program with more rights than its user, or one that the user may not
 * read, is not shown to that user: the kernel takes the counters away. */
static bool is_hidden_from_user(const struct command *command)
{
	struct stat st;

	if (stat(command->path, &st))
		return false;
	return (st.st_mode & (S_ISUID | S_ISGID)) ||
	       access(command->path, R_OK);
}

/* Print the most likely reason: it depends on how long the command ran. */
static void note_nothing_taken(const struct operf *operf)
{
	char why[512];
	const struct operf_options *options = &operf->options;
	bool is_command = operf_profiles_command(options);
	uint64_t rate = clock_rate(operf);
	double seconds = cpu_seconds(&operf->command);

	if (is_command && is_hidden_from_user(&operf->command) &&
	    operf->events.user_only)
		snprintf(why, sizeof(why),
			 "the command runs with other rights than yours, or "
			 "you may not read it; run operf as root");
	else if (operf->events.text)
		snprintf(why, sizeof(why),
			 "the event did not happen often enough; give a "
			 "smaller count, or a command that runs longer");
	else if (is_command && seconds * (double)rate < 20)
		snprintf(why, sizeof(why),
			 "the command used %.1f ms of CPU time, a sample is "
			 "taken every %.1f ms; let it do more, or give a "
			 "higher --rate",
			 seconds * 1e3, 1e3 / (double)rate);
	else if (is_command)
		snprintf(why, sizeof(why),
			 "no process of the command used %.1f ms of CPU time "
			 "itself%s; give a higher --rate%s",
			 1e3 / (double)rate,
			 operf->events.user_only ? " in user code" : "",
			 operf->events.user_only ? ", or run operf as root"
						 : "");
	else if (operf->pids_used * (double)rate >= 20)
		snprintf(why, sizeof(why),
			 "no thread used %.1f ms of CPU time itself, all "
			 "together %.2f s; profile the machine (operf -s -g), "
			 "or give a higher --rate",
			 1e3 / (double)rate, operf->pids_used);
	else if (operf->events.user_only)
		snprintf(why, sizeof(why),
			 "no user code ran, and you may not sample the "
			 "kernel; run operf as root");
	else
		snprintf(why, sizeof(why),
			 "it used no CPU time; wait until it does something");
	operf_note("warning: no samples were taken: %s%s", why,
		   operf->folder.room.moved_current
			   ? " (the samples of the run before are in "
			     "session:previous)"
			   : "");
}

/* ---- times of the run ---------------------------------------------------- */

void operf_keep_times(const struct operf *operf, enum operf_end end,
		      const struct op_ledger *before)
{
	char path[sizeof(operf->session.current) + 16];
	struct op_diag why = { "" };
	struct op_ledger ledger;
	double cpu = operf->pids_used;
	int err;

	if (before->source[0])
		return;
	snprintf(path, sizeof(path), "%s/ledger", operf->session.current);
	err = op_ledger_read(&ledger, path, &why);
	/* The report says that there is none. */
	if (err == -ENOENT)
		return;
	/* A command that outlives the sampling goes on using CPU time. */
	if (operf_profiles_command(&operf->options))
		cpu = end == OPERF_ENDED ? cpu_seconds(&operf->command) : 0;
	ledger.run.wall_ns = operf->wall_ns;
	ledger.run.cpu_ns = (uint64_t)(cpu * 1e9);
	err = err ?: op_ledger_write(&ledger, path, NULL, &why);
	if (err)
		operf_note("the times of the run are not kept: %s",
			   op_diag_text(&why, err));
}

static uint64_t cpu_ns(const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime, *sys = &usage->ru_stime;

	return (uint64_t)(user->tv_sec + sys->tv_sec) * 1000000000 +
	       (uint64_t)(user->tv_usec + sys->tv_usec) * 1000;
}

/* CPU time, ns, of operf and of all that it has started but the command. */
static uint64_t own_cpu_ns(const struct operf *operf)
{
	struct rusage self, children;

	if (getrusage(RUSAGE_SELF, &self) ||
	    getrusage(RUSAGE_CHILDREN, &children))
		return 0;
	return cpu_ns(&self) + ledger_decrease(cpu_ns(&children),
					       cpu_ns(&operf->command.usage));
}

void operf_keep_cost(const struct operf *operf, const struct op_ledger *before)
{
	char path[sizeof(operf->session.current) + 16];
	struct op_diag why = { "" };
	struct op_ledger ledger;
	uint64_t counted;
	int err;

	snprintf(path, sizeof(path), "%s/ledger", operf->session.current);
	err = op_ledger_read(&ledger, path, &why);
	if (err == -ENOENT || (!err && !ledger.costs[OP_COST_CPUS]))
		return;
	counted = ledger_decrease(ledger.costs[OP_COST_DAEMON],
				  before->costs[OP_COST_DAEMON]);
	ledger.costs[OP_COST_REST] +=
		ledger_decrease(own_cpu_ns(operf), counted);
	err = err ?: op_ledger_write(&ledger, path, NULL, &why);
	if (err)
		operf_note("the cost of profiling is not kept: %s",
			   op_diag_text(&why, err));
}

/* ---- the account --------------------------------------------------------- */

/* "12 sample_lost_overflow, 3 lost_no_image" */
static void list_causes(const struct op_ledger *ledger, char *list, size_t len)
{
	size_t used = 0;

	list[0] = '\0';
	for (unsigned int i = 0; i < ledger->nr_causes; i++) {
		const struct op_ledger_cause *cause = &ledger->causes[i];
		int n;

		if (!cause->nr)
			continue;
		n = snprintf(list + used, len - used, "%s%" PRIu64 " %s",
			     used ? ", " : "", cause->nr, cause->name);
		if (n < 0 || (size_t)n >= len - used)
			break;
		used += (size_t)n;
	}
	list[used] = '\0';
}

static bool needs_no_quotes(const char *path)
{
	for (; *path; path++)
		if (!isalnum((unsigned char)*path) && !strchr("/._-+", *path))
			return false;
	return true;
}

/* Write the command that shows the report, to be typed in a shell as it stands.
 */
static void report_command(const struct operf *operf, char *buf, size_t len)
{
	const char *dir = operf->session.dir;
	const char *events = operf->events.text;
	/* The columns of a report show one difference, beside tasks, which may
	 * be rows. */
	const char *merge =
		operf->options.separate_cpu && events && strchr(events, ',')
			? " --merge=cpu"
			: "";

	if (operf->folder.is_default)
		snprintf(buf, len, "opreport -l%s", merge);
	else if (needs_no_quotes(dir))
		snprintf(buf, len, "opreport -l%s --session-dir=%s", merge,
			 dir);
	else if (!strchr(dir, '\''))
		snprintf(buf, len, "opreport -l%s '--session-dir=%s'", merge,
			 dir);
	else
		snprintf(buf, len, "opreport -l%s with this --session-dir",
			 merge);
}

static void note_account(const struct operf *operf,
			 const struct op_ledger *ledger)
{
	char command[sizeof(operf->session.dir) + 64];
	char causes[LIST_MAX], lost[LIST_MAX + 64] = "none lost";

	report_command(operf, command, sizeof(command));
	list_causes(ledger, causes, sizeof(causes));
	if (*causes)
		snprintf(lost, sizeof(lost), "%" PRIu64 " lost (%s)",
			 op_ledger_lost(ledger), causes);
	operf_inform(operf,
		     "%" PRIu64 " sample%s taken, %" PRIu64
		     " stored, %s; see %s",
		     ledger->taken, op_plural(ledger->taken), ledger->stored,
		     lost, command);
}

/*
 * Whether less than nine tenths of @expected samples are there. Of few that may
 * be chance: the bound is four times their usual deviation.
 */
static bool misses_samples(double expected, double taken)
{
	double missing = expected - taken;

	return missing >= 20 && missing > expected / 10 &&
	       missing * missing > 16 * expected;
}

/*
 * Warn if samples stand for less than the CPU time of the profiled processes.
 * Where CPUs may not be sampled, the kernel restarts the clock for each new
 * process and thread: the time before the first sample is due is not seen, nor
 * the time after the last one. The part of the kernel in that time is not
 * reported, as the kernel's own figure is a guess for short processes. If the
 * command has a cgroup, processes that leave it are not seen.
 */
static void note_unseen(const struct operf *operf,
			const struct op_ledger *ledger)
{
	const struct operf_options *options = &operf->options;
	bool is_pid = options->nr_pids;
	double rate = (double)clock_rate(operf);
	double seen = (double)ledger->taken / rate, used = 0;
	char why[256];

	/* The CPU time is known for processes that are profiled to their end.
	 */
	if (is_pid && !options->command)
		used = operf->pids_used;
	else if (!is_pid && operf_profiles_command(options) &&
		 !options->duration_ms)
		used = cpu_seconds(&operf->command);
	if (operf->events.text ||
	    !misses_samples(used * rate, (double)ledger->taken))
		return;
	if (*operf->cgroup.parent)
		snprintf(
			why, sizeof(why),
			"processes that it moved to another cgroup; profile the machine (operf -s -g), or without stacks");
	else if (operf->samples_cpus)
		snprintf(
			why, sizeof(why),
			"as where a virtual machine waits for a real CPU%s; profile the machine (operf -s) to compare",
			operf->filters ? ", or in BPF programs that trace"
				       : "");
	else
		snprintf(
			why, sizeof(why),
			"%sa %s is not seen before it has used %.1f ms itself; %s, or give a higher --rate",
			operf->events.user_only
				? "you may not sample the kernel, and "
				: "",
			is_pid ? "thread" : "process", 1e3 / rate,
			geteuid() ? "run operf as root"
			: is_pid
				? "profile the machine (operf -s -g), or without stacks"
				: "mount cgroups of version 2 that hand controllers down, or profile without stacks");
	operf_note("warning: samples stand for %.2f of the %.2f s of CPU time "
		   "that %s used, %.0f %% are not seen: %s",
		   seen, used, is_pid ? "the processes" : "the command",
		   100 * (1 - seen / used), why);
}

/* Print how many stacks are not whole, and why. */
static void note_stacks(const struct operf *operf,
			const struct op_ledger *ledger)
{
	uint64_t whole = ledger->stacks[OP_STACKS_WHOLE];
	uint64_t all = op_ledger_stacks_stored(ledger) +
		       ledger->stacks[OP_STACKS_NOT_STORED];
	char list[LIST_MAX] = "";
	size_t used = 0;

	for (unsigned int i = OP_STACKS_WHOLE + 1; i <= OP_STACKS_NOT_STORED;
	     i++)
		if (ledger->stacks[i])
			used += (size_t)snprintf(list + used,
						 sizeof(list) - used,
						 ", %" PRIu64 " %s",
						 ledger->stacks[i],
						 op_ledger_stacks_name(i));
	operf_inform(
		operf, "%" PRIu64 " of %" PRIu64 " stacks are whole%s%s%s",
		whole, all, list,
		ledger->stacks[OP_STACKS_TRUNCATED]
			? "; truncated stacks have more than 60 KiB, the most that the kernel copies, or more frames than --callgraph=DEPTH allows"
			: "",
		ledger->stacks[OP_STACKS_NO_MEMORY]
			? "; there was no memory for the tables that unwind the others: free some, or raise the limit of \"ulimit -v\""
			: "");
}

/* Print how far the rate was lowered, and how to keep it. */
static void note_lowered(const struct operf *operf,
			 const struct op_ledger *ledger)
{
	char text[256] = "";
	FILE *out;

	if (!ledger->costs[OP_COST_LOWERED] || !ledger->costs[OP_COST_DIVISOR])
		return;
	out = fmemopen(text, sizeof(text), "w");
	if (!out)
		return;
	op_ledger_print_lowered(out, ledger->costs);
	fclose(out);
	operf_inform(operf, "the rate was lowered %s; --cpu-budget=none %s",
		     text,
		     operf->options.rate ? "keeps the --rate"
					 : "or a --rate keeps it");
}

int operf_report(struct operf *operf, const struct op_ledger *before)
{
	struct op_ledger ledger;
	char causes[LIST_MAX];
	int err = operf_ledger_get(operf, &ledger, &operf->diag);

	if (err)
		return err;
	if (!ledger.source[0])
		return op_diag_set(&operf->diag, -ENOENT,
				   "%s/ledger: the daemon has left no account "
				   "of its samples; see %s",
				   operf->session.current, operf->session.log);
	subtract_ledger(&ledger, before);
	if (!ledger.taken) {
		note_nothing_taken(operf);
	} else if (!ledger.stored) {
		list_causes(&ledger, causes, sizeof(causes));
		operf_note("warning: none of %" PRIu64
			   " samples could be stored (%s); "
			   "see %s",
			   ledger.taken, causes, operf->session.log);
	} else {
		note_account(operf, &ledger);
	}
	if (ledger.stored && operf->options.depth)
		note_stacks(operf, &ledger);
	note_lowered(operf, &ledger);
	/* The commonest cause that the user can do something about. */
	if (op_ledger_lost_by(&ledger, "lost_sample_file"))
		operf_note("warning: sample files could not be written; if the "
			   "disk is full make room there, and see %s",
			   operf->session.log);
	if (ledger.taken)
		note_unseen(operf, &ledger);
	return 0;
}
