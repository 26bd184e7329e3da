// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of operf. Options end where the command begins, so that
 * those of the command are left to it. Values of most options are kept as
 * words by popt and checked afterwards as a whole. Names of options that the
 * original has, and that mean nothing here, are accepted.
 */

#include "utils/operf/operf_options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/options/op_bad_option.h"
#include "libop/session/op_budget.h"
#include "libop/files/op_config.h"
#include "libop/session/op_history.h"
#include "libop/session/op_run.h"
#include "libop/options/op_perf_habits.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_folder.h"
#include "libop/session/op_session_readers.h"

#define RATE_MAX 100000 /* a second; the kernel's own limit is lower */

/* Option values as popt leaves them, before they are checked. */
struct raw {
	char *pid;
	char *duration;
	char *rate;
	char *slices;
	char *pack_at;
	char *keep;
	char *max_disk;
	char *symbol_store;
	char *verbose;
	char *separate;
	int system_wide;
	int separate_thread;
	int separate_cpu;
	int append;
	int append_letter; /* -a, not --append */
	int lazy;
	int no_runtimes;
	int no_timeline;
	int quiet;
	int wall, latency;
	int version;
};

#define DURATION_MAX 31536000 /* seconds, a year */
#define DEPTH_MAX 1024 /* frames; the daemon keeps no more */

enum {
	HELP = 1,
	USAGE,
	EVENTS,
	PIDS,
	SEPARATE,
	NO_SYMBOLS,
	WORDS,
	CALLGRAPH,
	DEEPEST
};

/* ---- single options ------------------------------------------------------ */

/* Parse the numbers of processes in @list, with commas between. */
static int parse_pid_option(struct operf_options *options, char *list,
			    struct op_diag *diag)
{
	char *word;
	uint64_t pid;

	while (list && (word = strsep(&list, ","))) {
		if (op_parse_u64(word, &pid) || !pid || pid > INT_MAX)
			return op_diag_set(
				diag, -EINVAL,
				"--pid=%s: not the number of a process; ps "
				"lists them",
				word);
		if (op_array_reserve(&options->pids, options->nr_pids, 1))
			return op_out_of_memory(diag);
		options->pids[options->nr_pids++] = (pid_t)pid;
	}
	return 0;
}

/* Parse the words in @list, with commas between; programs always separate
 * libraries and kernel. */
static int parse_separate_option(struct operf_options *options, char *list,
				 struct op_diag *diag)
{
	char *word;

	while (list && (word = strsep(&list, ","))) {
		if (!strcmp(word, "thread"))
			options->separate_thread = true;
		else if (!strcmp(word, "cpu"))
			options->separate_cpu = true;
		else if (!strcmp(word, "cgroup"))
			options->separate_cgroup = true;
		else if (strcmp(word, "lib") != 0 &&
			 strcmp(word, "library") != 0 &&
			 strcmp(word, "kernel") != 0)
			return op_diag_set(
				diag, -EINVAL,
				"--separate=%s: unknown; give thread, cpu or cgroup, or several with commas (lib and kernel are always on)",
				word);
	}
	return 0;
}

static int parse_duration_option(struct operf_options *options,
				 const char *text, struct op_diag *diag)
{
	double seconds;
	char *end;

	if (!text)
		return 0;
	seconds = strtod(text, &end);
	if (end == text || *end || !isdigit((unsigned char)*text) ||
	    !(seconds >= 0.001 && seconds <= DURATION_MAX))
		return op_diag_set(diag, -EINVAL,
				   "--duration=%s: not a number of seconds; "
				   "give one from 0.001 to %d",
				   text, DURATION_MAX);
	options->duration_ms = (uint64_t)(seconds * 1000 + 0.5);
	return 0;
}

/*
 * Parse the number @text, of @unit, from 1 to @max; @value stays as it is if
 * @text is NULL. @zero says what 0 is for; NULL if 0 is refused.
 */
static int parse_operf_number(uint64_t *value, const char *name,
			      const char *text, const char *unit, uint64_t max,
			      const char *zero, struct op_diag *diag)
{
	if (!text ||
	    (!op_parse_u64(text, value) && *value <= max && (*value || zero)))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--%s=%s: not a number of %s; give one from 1 to "
			   "%" PRIu64 "%s%s",
			   name, text, unit, max, zero ? ", or 0 " : "",
			   zero ? zero : "");
}

/* A session with a history has its times there. */
static int parse_slices_option(struct operf_options *options,
			       const struct raw *raw, struct op_diag *diag)
{
	options->slices =
		raw->no_timeline || options->history ? 0 : OP_SLICES_DEFAULT;
	if (!raw->slices)
		return 0;
	if (raw->no_timeline || options->history)
		return op_diag_set(diag, -EINVAL,
				   "--slices and --%s: give only one of them",
				   raw->no_timeline ? "no-timeline"
						    : "history");
	if (op_parse_u64(raw->slices, &options->slices) ||
	    options->slices < OP_SLICES_MIN || options->slices > OP_SLICES_MAX)
		return op_diag_set(
			diag, -EINVAL,
			"--slices=%s: must be a number from %d to %d",
			raw->slices, OP_SLICES_MIN, OP_SLICES_MAX);
	return 0;
}

static bool is_one_of(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

/* Separate the words of --verbose that are for operf from those that are for
 * the daemon. */
static int parse_verbose_option(struct operf_options *options, char *list,
				struct op_diag *diag)
{
	/* The original's words for steps that operf takes itself here. */
	static const char *const own[] = { "debug", "record", "convert", "all",
					   NULL };
	static const char *const daemon[] = { "sfile",	"arcs", "samples",
					      "module", "misc", "ext",
					      "all",	NULL };
	char *word, *to;

	if (!list)
		return 0;
	options->daemon_verbose = to = calloc(1, strlen(list) + 1);
	if (!to)
		return op_out_of_memory(diag);
	while ((word = strsep(&list, ","))) {
		bool is_own = is_one_of(own, word);

		options->verbose |= is_own;
		if (is_one_of(daemon, word))
			to += sprintf(to, "%s%s",
				      *options->daemon_verbose ? "," : "",
				      word);
		else if (!is_own)
			return op_diag_set(
				diag, -EINVAL,
				"--verbose=%s: unknown word; use debug, "
				"sfile, arcs, samples, module, misc, ext or all",
				word);
	}
	return 0;
}

/* An option that is given more than once makes one list. */
static int append_to_list(char **list, char *more, struct op_diag *diag)
{
	char *longer = NULL;
	int n = 0;

	if (more && *list)
		n = asprintf(&longer, "%s,%s", *list, more);
	else
		longer = more ? strdup(more) : NULL;
	free(more);
	if (!longer || n < 0)
		return op_out_of_memory(diag);
	free(*list);
	*list = longer;
	return 0;
}

/* ---- as a whole ---------------------------------------------------------- */

static int check_modes(const struct operf_options *options,
		       struct op_diag *diag)
{
	if (options->nr_pids && options->system_wide)
		return op_diag_set(diag, -EINVAL,
				   "--pid and --system-wide: give one of them");
	if (options->cgroup && (options->nr_pids || options->system_wide))
		return op_diag_set(
			diag, -EINVAL, "--cgroup and %s: give one of them",
			options->nr_pids ? "--pid" : "--system-wide");
	if (options->cgroup &&
	    (!*options->cgroup || strchr(options->cgroup, ',')))
		return op_diag_set(
			diag, -EINVAL,
			"--cgroup=%s: not the path of a cgroup; give "
			"one without commas, as in /proc/PID/cgroup",
			options->cgroup);
	if (!options->command && !options->nr_pids && !options->cgroup &&
	    !options->system_wide)
		return op_diag_set(diag, -EINVAL,
				   "nothing to profile; give a command, --pid "
				   "or --system-wide, see operf --help");
	return 0;
}

/* Reports show a note as it is, or not at all. */
static int check_note(const char *note, struct op_diag *diag)
{
	char safe[OP_RUN_NOTE_MAX];

	op_run_set_text(safe, sizeof(safe), note);
	if (*note && !strcmp(safe, note))
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"--note: give 1 to %d bytes without line ends and other control characters, and without blanks at the ends",
		OP_RUN_NOTE_MAX - 1);
}

static int check_operf_options(struct operf_options *options,
			       const struct raw *raw, struct op_diag *diag)
{
	struct op_history history;
	uint32_t budget;
	int err;

	options->quiet = raw->quiet;
	options->latency = raw->latency;
	options->wall = raw->wall || raw->latency;
	/* A wait says little without the stack that led to it. */
	if (options->wall && !options->depth)
		options->depth = DEPTH_MAX;
	options->no_runtimes = raw->no_runtimes;
	options->separate_thread = raw->separate_thread;
	options->separate_cpu = raw->separate_cpu;
	options->append = raw->append || raw->append_letter;
	options->ask_append = raw->append_letter && !raw->append;
	options->version = raw->version;
	options->pack_at = OP_PACK_AT_DEFAULT;
	options->symbol_store = OP_STORE_DEFAULT;
	options->keep = OP_SESSION_KEEP_DEFAULT;
	err = parse_pid_option(options, raw->pid, diag)
		      ?: parse_duration_option(options, raw->duration, diag)
		      ?: parse_separate_option(options, raw->separate, diag)
		      ?: parse_operf_number(&options->rate, "rate", raw->rate,
					    "samples per second", RATE_MAX,
					    NULL, diag);
	if (!err && options->latency && options->events)
		err = op_diag_set(
			diag, -EINVAL,
			"--latency and --events: elapsed time is counted by the CPU clock, which is sampled without --events; give one of them");
	if (!err && raw->rate && options->events)
		return op_diag_set(
			diag, -EINVAL,
			"--rate and --events: --rate is for the "
			"CPU clock, which is sampled without --events; give one of them");
	err = err ?: parse_slices_option(options, raw, diag);
	err = err
		      ?: parse_operf_number(&options->pack_at, "pack-at",
					    raw->pack_at, "MiB", OP_PACK_AT_MAX,
					    "for never", diag)
		      ?: parse_operf_number(&options->max_disk, "max-disk",
					    raw->max_disk, "MiB",
					    OP_PACK_AT_MAX, "for any", diag);
	err = err
		      ?: parse_operf_number(&options->keep, "keep", raw->keep,
					    "sessions", OP_SESSION_KEEP_MAX,
					    NULL, diag);
	if (!err && options->history)
		err = op_history_parse(&history, options->history, diag);
	err = err
		      ?: op_budget_parse(&budget, options->cpu_budget, diag)
		      ?: parse_operf_number(&options->symbol_store,
					    "symbol-store", raw->symbol_store,
					    "MiB", OP_STORE_MAX,
					    "to keep no symbols", diag);
	if (!err && options->readable_by)
		err = op_session_group(&options->readers, options->readable_by,
				       diag);
	if (!err && options->note)
		err = check_note(options->note, diag);
	err = err ?: parse_verbose_option(options, raw->verbose, diag);
	options->system_wide = raw->system_wide ||
			       (options->duration_ms && !options->nr_pids &&
				!options->cgroup && !options->command);
	if (err || options->version)
		return err;
	return check_modes(options, diag);
}

int operf_printed(struct op_diag *diag)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return op_diag_set(diag, -EIO,
			   "standard output: cannot write to it; is its disk "
			   "full?");
}

static int run_operf_popt(poptContext context, struct operf_options *options,
			  struct raw *raw, const struct poptOption *table,
			  char **argv, struct op_diag *diag)
{
	char **const lists[] = {
		[EVENTS] = &options->events,
		[PIDS] = &raw->pid,
		[SEPARATE] = &raw->separate,
		[NO_SYMBOLS] = &options->no_symbols,
		[WORDS] = &raw->verbose,
	};
	int err = 0;
	int rc;

	while (!err && (rc = poptGetNextOpt(context)) > 0) {
		char *value;

		switch (rc) {
		case HELP:
		case USAGE:
			if (rc == HELP)
				poptPrintHelp(context, stdout, 0);
			else
				poptPrintUsage(context, stdout, 0);
			err = operf_printed(diag);
			if (!err)
				exit(EXIT_SUCCESS);
			break;
		case CALLGRAPH:
		case DEEPEST:
			/* popt has no value for -g but the one of the option
			 * before. */
			value = rc == DEEPEST ? NULL : poptGetOptArg(context);
			options->depth = DEPTH_MAX;
			err = parse_operf_number(&options->depth, "callgraph",
						 value, "frames", DEPTH_MAX,
						 NULL, diag);
			free(value);
			break;
		default:
			err = append_to_list(lists[rc], poptGetOptArg(context),
					     diag);
		}
	}
	if (err || rc == -1)
		return err;
	return op_bad_option(diag, "operf", table, (const char *const *)argv,
			     poptBadOption(context, POPT_BADOPTION_NOALIAS),
			     rc);
}

/* Refuse a command that is a number: it looks like the value of an option whose
 * value may not follow a blank. */
static int check_command_is_no_value(const struct operf_options *o, char **argv,
				     struct op_diag *diag)
{
	const char *word = o->command[0];
	const char *option = o->command == argv ? "" : o->command[-1];

	if (strspn(word, "0123456789") != strlen(word))
		return 0;
	if (!strcmp(option, "--callgraph"))
		return op_diag_set(
			diag, -EINVAL,
			"--callgraph %s: that would run the program %s; give the depth as --callgraph=%s",
			word, word, word);
	if (!strcmp(option, "-c") || !strcmp(option, "-t"))
		return op_perf_habit(diag, "operf", option, word);
	return 0;
}

static int parse_popt_words(struct operf_options *o, struct raw *raw, int argc,
			    char **argv, struct op_diag *diag)
{
	/* clang-format off */
	const struct poptOption what[] = {
		{ "pid", 'p', POPT_ARG_STRING, NULL, PIDS, "profile running processes until they end or Ctrl-C", "PID[,PID]..." },
		{ "system-wide", 's', POPT_ARG_NONE, &raw->system_wide, 0, "profile everything until Ctrl-C", NULL },
		{ "cgroup", '\0', POPT_ARG_STRING, &o->cgroup, 0, "profile what runs in a cgroup until Ctrl-C", "PATH" },
		{ "duration", '\0', POPT_ARG_STRING, &raw->duration, 0, "profile for at most SECONDS; alone: everything", "SECONDS" },
		POPT_TABLEEND
	};
	const struct poptOption samples[] = {
		{ "callgraph", '\0', POPT_ARG_STRING, NULL, CALLGRAPH, "record call stacks of at most DEPTH frames (1024 without DEPTH)", "DEPTH" },
		{ NULL, 'g', POPT_ARG_NONE, NULL, DEEPEST, "like --callgraph, without a depth", NULL },
		{ "events", 'e', POPT_ARG_STRING, NULL, EVENTS, "NAME:COUNT[:UM[:KERNEL[:USER]]],... to sample (default: the CPU's default event, else the CPU clock)", "LIST" },
		{ "rate", '\0', POPT_ARG_STRING, &raw->rate, 0, "sample the CPU clock HZ times a second (default 1000)", "HZ" },
		{ "latency", '\0', POPT_ARG_NONE, &raw->latency, 0, "like --wall, and also count the elapsed time of processes", NULL },
		{ "wall", '\0', POPT_ARG_NONE, &raw->wall, 0, "also sample threads that wait, for each millisecond; with call stacks", NULL },
		{ "separate", '\0', POPT_ARG_STRING, NULL, SEPARATE, "separate samples by thread, cpu, cgroup", "LIST" },
		{ "separate-thread", 't', POPT_ARG_NONE, &raw->separate_thread, 0, "separate samples by process and thread", NULL },
		{ "separate-cpu", 'c', POPT_ARG_NONE, &raw->separate_cpu, 0, "separate samples by CPU", NULL },
		{ "cpu-budget", '\0', POPT_ARG_STRING, &o->cpu_budget, 0, OP_BUDGET_HELP, "PERCENT" },
		POPT_TABLEEND
	};
	const struct poptOption session[] = {
		{ "session-dir", 'd', POPT_ARG_STRING, &o->session_dir, 0, "write samples to DIR (default ./oprofile_data)", "DIR" },
		{ "append", '\0', POPT_ARG_NONE, &raw->append, 0, "add to the samples of earlier runs", NULL },
		{ NULL, 'a', POPT_ARG_NONE, &raw->append_letter, 0, "like --append, but ask first on a terminal", NULL },
		{ "keep", '\0', POPT_ARG_STRING, &raw->keep, 0, "keep the sessions of N earlier runs (default 5)", "N" },
		{ "note", '\0', POPT_ARG_STRING, &o->note, 0, "show TEXT in the heads of reports", "TEXT" },
		{ "readable-by", '\0', POPT_ARG_STRING, &o->readable_by, 0, "also let members of GROUP read the session", "GROUP" },
		{ "record", '\0', POPT_ARG_STRING, &o->record, 0, "also write the stream of samples to FILE, to replay or send it", "FILE" },
		POPT_TABLEEND
	};
	const struct poptOption disk[] = {
		{ "history", '\0', POPT_ARG_STRING, &o->history, 0, "keep samples by time in SIZE of the disk: SIZE[,GRAIN:AGE...]", "SIZE" },
		{ "max-disk", '\0', POPT_ARG_STRING, &raw->max_disk, 0, "limit the disk space of samples to MIB MiB (default 0: no limit)", "MIB" },
		{ "slices", '\0', POPT_ARG_STRING, &raw->slices, 0, "keep the times of samples in at most N slices (default 256)", "N" },
		{ "no-timeline", '\0', POPT_ARG_NONE, &raw->no_timeline, 0, "do not keep the times of samples", NULL },
		{ "pack-at", '\0', POPT_ARG_STRING, &raw->pack_at, 0, "pack sample files when they exceed MIB MiB (default 8; 0: never)", "MIB" },
		{ "symbol-store", '\0', POPT_ARG_STRING, &raw->symbol_store, 0, "keep symbols of sampled files, at most MIB MiB (default 256; 0: none)", "MIB" },
		{ "no-symbols", '\0', POPT_ARG_STRING, NULL, NO_SYMBOLS, "keep no symbols of files that match", "PATTERNS" },
		POPT_TABLEEND
	};
	const struct poptOption others[] = {
		{ "quiet", 'q', POPT_ARG_NONE, &raw->quiet, 0, "print only errors and warnings", NULL },
		{ "verbose", 'V', POPT_ARG_STRING, NULL, WORDS, "debug: print each step; sfile,arcs,samples,module,misc,ext,all: log more", "WORDS" },
		{ "vmlinux", 'k', POPT_ARG_STRING, &o->vmlinux, 0, "kernel image whose symbols reports use", "FILE" },
		{ "no-runtimes", '\0', POPT_ARG_NONE, &raw->no_runtimes, 0, "do not make Python, node and Java name their functions", NULL },
		{ "lazy-conversion", 'l', POPT_ARG_NONE, &raw->lazy, 0, "ignored; samples need no conversion", NULL },
		{ "version", 'v', POPT_ARG_NONE, &raw->version, 0, "show the version", NULL },
		{ "help", 'h', POPT_ARG_NONE, NULL, HELP, "show this help", NULL },
		{ "usage", 'u', POPT_ARG_NONE, NULL, USAGE, "show a short usage line", NULL },
		{ NULL, '?', POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, NULL, HELP, NULL, NULL },
		POPT_TABLEEND
	};
	const struct poptOption table[] = {
		OP_OPTION_GROUP("What to profile:", what),
		OP_OPTION_GROUP("What to sample:", samples),
		OP_OPTION_GROUP("The session:", session),
		OP_OPTION_GROUP("Room on the disk:", disk),
		OP_OPTION_GROUP("Others:", others),
		POPT_TABLEEND
	};
	/* clang-format on */
	const char **words = calloc((size_t)argc + 1, sizeof(*words));
	const char **rest;
	poptContext context;
	int err, nr = 0;

	/*
	 * The value of --callgraph is optional, and a popt that knows optional
	 * values makes the next word the value, which may be the command. So
	 * popt sees -g in place of --callgraph without a value; the command is
	 * in @argv.
	 */
	for (int i = 0; words && i < argc; i++)
		words[i] = strcmp(argv[i], "--callgraph") ? argv[i] : "-g";
	context = words ? poptGetContext("operf", argc, words, table,
					 POPT_CONTEXT_POSIXMEHARDER)
			: NULL;
	if (!context) {
		free(words);
		return op_out_of_memory(diag);
	}
	poptSetOtherOptionHelp(context,
			       "[OPTION...] COMMAND [ARGUMENT...] | "
			       "--pid PID | --system-wide | --cgroup PATH | "
			       "--duration SECONDS");
	err = run_operf_popt(context, o, raw, table, argv, diag);
	rest = poptGetArgs(context);
	while (!err && rest && rest[nr])
		nr++;
	if (nr) /* the command begins at the rest of @argv */
		o->command = argv + (argc - nr);
	if (!err && o->command)
		err = check_command_is_no_value(o, argv, diag);
	poptFreeContext(context);
	free(words);
	return err;
}

int operf_options_parse(struct operf_options *options, int argc, char **argv,
			struct op_diag *diag)
{
	struct raw raw = { .pid = NULL };
	int err;

	memset(options, 0, sizeof(*options));
	options->words = argv;
	err = parse_popt_words(options, &raw, argc, argv, diag);
	if (!err)
		err = check_operf_options(options, &raw, diag);
	free(raw.pid);
	free(raw.duration);
	free(raw.rate);
	free(raw.slices);
	free(raw.pack_at);
	free(raw.keep);
	free(raw.max_disk);
	free(raw.symbol_store);
	free(raw.verbose);
	free(raw.separate);
	return err;
}

void operf_options_release(struct operf_options *options)
{
	free(options->pids);
	free(options->cgroup);
	free(options->events);
	free(options->session_dir);
	free(options->vmlinux);
	free(options->record);
	free(options->readable_by);
	free(options->note);
	free(options->cpu_budget);
	free(options->history);
	free(options->no_symbols);
	free(options->daemon_verbose);
	memset(options, 0, sizeof(*options));
}
