// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * popt fills a struct of strings and numbers, and check() turns them into
 * settings. The source is looked at first, because other options depend on it:
 * a source that ends keeps the daemon in the foreground, and only for a source
 * of this machine must the vmlinux exist here. Images are kept under both the
 * given and the real name, as the kernel reports paths without links while a
 * recording may be of another machine.
 */

#include <errno.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

#include "libop/options/op_bad_option.h"
#include "libop/session/op_budget.h"
#include "libop/base/op_log.h"
#include "libop/options/op_original.h"
#include "libop/session/op_policy.h"
#include "daemon/opd_options.h"
#include "daemon/source/opd_source.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_readers.h"
#include "libop/kernel/op_vmlinux.h"

#define DEFAULT_SOURCE "oprofilefs"

#define NR_SEPARATIONS 6

/* The values that popt has stored, before they are checked. */
struct raw_options {
	char *session_dir;
	char *vmlinux;
	char *events;
	char *images;
	char *source;
	char *source_reason;
	char *record;
	char *command_line;
	char *note;
	char *readable_by;
	char *policy;
	char *cpu_budget;
	char **ext_features;
	char *verbose;
	int ready_fd;
	int no_vmlinux;
	int separate[NR_SEPARATIONS];
	int slices;
	int pack_at;
	int max_disk;
	char *history;
	int foreground;
	int version;
	unsigned int ignored;
};

static const char *const separations[NR_SEPARATIONS] = {
	"--separate-lib", "--separate-kernel", "--separate-thread",
	"--separate-cpu", "--separate-cgroup", "--separate-user",
};

enum { OPT_VERBOSE = 1, OPT_ORIGINAL = 2 };

static const struct {
	const char *word;
	unsigned int what;
} verbose_words[] = {
	{ "sfile", OP_V_SFILE },     { "arcs", OP_V_ARCS },
	{ "samples", OP_V_SAMPLES }, { "module", OP_V_MODULE },
	{ "misc", OP_V_MISC },	     { "ext", OP_V_EXT },
	{ "all", OP_V_ALL },
};

static int parse_verbose(unsigned int *verbose, char *words,
			 struct op_diag *diag)
{
	const size_t nr = sizeof(verbose_words) / sizeof(verbose_words[0]);
	char *word;
	size_t i;

	while ((word = strsep(&words, ","))) {
		for (i = 0; i < nr; i++)
			if (!strcmp(verbose_words[i].word, word))
				break;
		if (i == nr)
			return op_diag_set(
				diag, -EINVAL,
				"--verbose=%s: unknown word; use sfile, arcs, samples, module, misc, ext or all",
				word);
		*verbose |= verbose_words[i].what;
	}
	return 0;
}

static int add_image(struct opd_options *options, char *name)
{
	if (!name)
		return -ENOMEM;
	options->images[options->nr_images++] = name;
	return 0;
}

/* The kernel reports paths without links; a recording may have other links. */
static int add_both_names(struct opd_options *options, const char *name)
{
	char *real = strchr(name, '/') ? realpath(name, NULL) : NULL;
	int err = add_image(options, strdup(name));

	if (!real)
		return err;
	if (!err && strcmp(real, name))
		return add_image(options, real);
	free(real);
	return err;
}

static int parse_images(struct opd_options *options, char *list,
			struct op_diag *diag)
{
	unsigned int nr = 1;
	char *name;
	int err = 0;

	for (const char *c = list; *c; c++)
		nr += *c == ',';
	options->images = calloc(2 * (size_t)nr, sizeof(options->images[0]));
	if (!options->images)
		err = -ENOMEM;
	while (!err && (name = strsep(&list, ",")))
		if (*name)
			err = add_both_names(options, name);
	return err ? op_diag_set(diag, err, "--image: out of memory") : 0;
}

static int parse_separate(struct opd_options *options,
			  const int separate[NR_SEPARATIONS],
			  struct op_diag *diag)
{
	for (int i = 0; i < NR_SEPARATIONS; i++)
		if (separate[i] != 0 && separate[i] != 1)
			return op_diag_set(diag, -EINVAL,
					   "%s=%d: must be 0 or 1",
					   separations[i], separate[i]);
	options->separate_kernel = separate[1];
	options->separate_lib = separate[0] || separate[1];
	options->separate_thread = separate[2];
	options->separate_cpu = separate[3];
	options->separate_cgroup = separate[4];
	options->separate_user = separate[5];
	return 0;
}

/* @value of the option @name, which is a number of MiB. */
static int parse_mib(unsigned int *mib, const char *name, int value,
		     struct op_diag *diag)
{
	if (value < 0 || value > OP_PACK_AT_MAX)
		return op_diag_set(
			diag, -EINVAL,
			"--%s=%d: must be a number of MiB from 0 to %d", name,
			value, OP_PACK_AT_MAX);
	*mib = (unsigned int)value;
	return 0;
}

static int parse_slices(uint32_t *slices, int value, struct op_diag *diag)
{
	if (value && (value < OP_SLICES_MIN || value > OP_SLICES_MAX))
		return op_diag_set(
			diag, -EINVAL,
			"--slices=%d: must be a number from %d to %d, or 0 for no time line",
			value, OP_SLICES_MIN, OP_SLICES_MAX);
	*slices = (uint32_t)value;
	return 0;
}

static int parse_vmlinux(struct opd_options *options,
			 const struct raw_options *raw, bool is_here,
			 struct op_diag *diag)
{
	if (!raw->vmlinux)
		return 0;
	if (raw->no_vmlinux)
		return op_diag_set(
			diag, -EINVAL,
			"--vmlinux and --no-vmlinux: give only one of them");
	if (is_here) {
		int err = op_vmlinux_check(raw->vmlinux, "",
					   "leave the option out", diag);

		if (err)
			return err;
	}
	options->vmlinux = realpath(raw->vmlinux, NULL);
	/* The kernel of a recording may be on another machine. */
	if (!options->vmlinux && !is_here && raw->vmlinux[0] == '/')
		options->vmlinux = strdup(raw->vmlinux);
	if (!options->vmlinux)
		return op_diag_set(
			diag, -EINVAL,
			"--vmlinux=%s: %s; give the uncompressed kernel image, or leave the option out",
			raw->vmlinux, strerror(errno));
	return 0;
}

static int check(struct opd_options *options, struct raw_options *raw,
		 struct op_diag *diag)
{
	const struct opd_source_ops *ops;
	const char *arg;
	int err;

	ops = opd_source_find(options->source, &arg);
	if (!ops)
		return op_diag_set(
			diag, -EINVAL,
			"--source=%s: no such source; the sources are " OPD_SOURCES,
			options->source);
	options->foreground |= ops->ends;
	options->has_readers = raw->readable_by;
	err = parse_separate(options, raw->separate, diag)
		      ?: parse_mib(&options->pack_at, "pack-at", raw->pack_at,
				   diag)
		      ?: parse_slices(&options->slices, raw->slices, diag)
		      ?: parse_mib(&options->max_disk, "max-disk",
				   raw->max_disk, diag)
		      ?: op_budget_parse(&options->cpu_budget,
					 raw->cpu_budget, diag);
	if (!err && raw->history)
		err = op_history_parse(&options->history, raw->history, diag);
	if (!err && raw->readable_by)
		err = op_session_group(&options->readers, raw->readable_by,
				       diag);
	err = err ?: parse_vmlinux(options, raw, ops->of_this_machine, diag);
	if (!err && raw->verbose)
		err = parse_verbose(&options->verbose, raw->verbose, diag);
	if (!err && raw->images)
		err = parse_images(options, raw->images, diag);
	return err ?: opd_events_parse(&options->events, raw->events, diag);
}

/* --verbose alone, which has an optional value, means all. */
static int set_verbose(struct raw_options *raw, const char *arg)
{
	char *words = strdup(arg ? arg : "all");

	if (!words)
		return -ENOMEM;
	free(raw->verbose);
	raw->verbose = words;
	return 0;
}

static int run_popt(poptContext context, struct raw_options *raw,
		    const struct poptOption *table, const char **argv,
		    struct op_diag *diag)
{
	int rc;

	while ((rc = poptGetNextOpt(context)) >= OPT_VERBOSE) {
		char *arg = poptGetOptArg(context);
		int err = 0;

		if (rc >= OPT_ORIGINAL)
			raw->ignored |= 1u << (rc - OPT_ORIGINAL);
		else
			err = set_verbose(raw, arg);
		free(arg);
		if (err)
			return op_diag_set(diag, err, "out of memory");
	}
	if (rc < -1)
		return op_bad_option(diag, "oprofiled", table, argv,
				     poptBadOption(context, 0), rc);
	if (poptPeekArg(context))
		return op_diag_set(diag, -EINVAL,
				   "%s: unexpected argument; see --help",
				   poptPeekArg(context));
	return 0;
}

static int parse_raw(struct raw_options *raw, int argc, const char **argv,
		     struct op_diag *diag)
{
	struct poptOption original[OP_NR_ORIGINAL_OPROFILED + 1] = { 0 };
	const struct poptOption table[] = {
		{ "session-dir", 0, POPT_ARG_STRING, &raw->session_dir, 0,
		  "folder of samples, log and symbols", "DIR" },
		{ "vmlinux", 'k', POPT_ARG_STRING, &raw->vmlinux, 0,
		  "kernel image whose symbols reports use", "FILE" },
		{ "no-vmlinux", 0, POPT_ARG_NONE, &raw->no_vmlinux, 0,
		  "use the kernel's symbols in /proc/kallsyms (default)",
		  NULL },
		{ "separate-lib", 0, POPT_ARG_INT, &raw->separate[0], 0,
		  "separate libraries by application", "0|1" },
		{ "separate-kernel", 0, POPT_ARG_INT, &raw->separate[1], 0,
		  "separate the kernel by application, too", "0|1" },
		{ "separate-thread", 0, POPT_ARG_INT, &raw->separate[2], 0,
		  "separate threads and processes", "0|1" },
		{ "separate-cpu", 0, POPT_ARG_INT, &raw->separate[3], 0,
		  "separate CPUs", "0|1" },
		{ "separate-cgroup", 0, POPT_ARG_INT, &raw->separate[4], 0,
		  "separate cgroups: containers, services", "0|1" },
		{ "separate-user", 0, POPT_ARG_INT, &raw->separate[5], 0,
		  "separate the users that processes belong to", "0|1" },
		{ "events", 'e', POPT_ARG_STRING, &raw->events, 0,
		  "events to sample, separated by commas: NAME:VALUE:COUNTER:COUNT:UM:KERNEL:USER[:CONFIG] (none: timer mode)",
		  "EVENTS" },
		{ "image", 0, POPT_ARG_STRING, &raw->images, 0,
		  "keep only samples of these images", "PATHS" },
		{ "source", 0, POPT_ARG_STRING, &raw->source, 0,
		  "where samples come from: oprofilefs; perf, perf:exec=PID or perf:pid=PID (rate=HZ may follow); perfdata:PATH,PATH..., files of perf record; file:PATH, a recorded stream",
		  "SOURCE" },
		{ "source-reason", 0, POPT_ARG_STRING, &raw->source_reason, 0,
		  "why this source was chosen, for opcontrol --status",
		  "TEXT" },
		{ "record", 0, POPT_ARG_STRING, &raw->record, 0,
		  "also write the stream to a file that can be replayed",
		  "PATH" },
		{ "command-line", 0, POPT_ARG_STRING, &raw->command_line, 0,
		  "the command that is profiled, for the heads of reports",
		  "TEXT" },
		{ "note", 0, POPT_ARG_STRING, &raw->note, 0,
		  "words of yours for the heads of reports", "TEXT" },
		{ "readable-by", 0, POPT_ARG_STRING, &raw->readable_by, 0,
		  "also let members of GROUP read the session", "GROUP" },
		{ "policy", 0, POPT_ARG_STRING, &raw->policy, 0,
		  "who may have samples of their own processes (default " OP_POLICY_FILE
		  ", for root)",
		  "FILE" },
		{ "pack-at", 0, POPT_ARG_INT, &raw->pack_at, 0,
		  "pack sample files when they exceed MIB MiB (default 8; 0: never)",
		  "MIB" },
		{ "slices", 0, POPT_ARG_INT, &raw->slices, 0,
		  "keep the times of samples in at most N slices (default 0: not at all)",
		  "N" },
		{ "max-disk", 0, POPT_ARG_INT, &raw->max_disk, 0,
		  "limit the disk space of samples (0: no limit)", "MIB" },
		{ "cpu-budget", 0, POPT_ARG_STRING, &raw->cpu_budget, 0,
		  OP_BUDGET_HELP, "PERCENT" },
		{ "history", 0, POPT_ARG_STRING, &raw->history, 0,
		  "keep samples by time in SIZE of the disk: SIZE[,GRAIN:AGE...] (default none)",
		  "SIZE" },
		{ "ext-feature", 'x', POPT_ARG_ARGV, &raw->ext_features, 0,
		  "turn on an extended feature; may be given several times",
		  "FEATURE" },
		{ "ready-fd", 0, POPT_ARG_INT, &raw->ready_fd, 0,
		  "report on descriptor FD: a zero byte when ready, else the error and a zero byte",
		  "FD" },
		{ "foreground", 0, POPT_ARG_NONE, &raw->foreground, 0,
		  "stay in the foreground", NULL },
		{ "verbose", 'V', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, NULL,
		  OPT_VERBOSE,
		  "log more: sfile, arcs, samples, module, misc, ext or all",
		  "LIST" },
		{ "version", 'v', POPT_ARG_NONE, &raw->version, 0,
		  "show the version", NULL },
		{ NULL, 0, POPT_ARG_INCLUDE_TABLE, original, 0,
		  "Options of the original profiler without effect here:",
		  NULL },
		POPT_AUTOHELP POPT_TABLEEND
	};
	poptContext context;
	int err;

	for (int i = 0; i < OP_NR_ORIGINAL_OPROFILED; i++)
		original[i] = (struct poptOption){
			.longName = op_original_oprofiled[i].name,
			.shortName = op_original_oprofiled[i].letter,
			.argInfo = POPT_ARG_STRING,
			.val = OPT_ORIGINAL + i,
			.descrip = "ignored; prints why",
			.argDescrip = op_original_oprofiled[i].argument,
		};
	context = poptGetContext("oprofiled", argc, argv, table, 0);
	err = run_popt(context, raw, table, argv, diag);
	poptFreeContext(context);
	return err;
}

int opd_options_parse(struct opd_options *options, int argc, const char **argv,
		      struct op_diag *diag)
{
	struct raw_options raw = { .ready_fd = -1,
				   .pack_at = OP_PACK_AT_DEFAULT };
	int err = parse_raw(&raw, argc, argv, diag);

	memset(options, 0, sizeof(*options));
	options->session_dir = raw.session_dir;
	options->record = raw.record;
	options->command_line = raw.command_line;
	options->note = raw.note;
	options->policy = raw.policy;
	options->ext_features = raw.ext_features;
	options->source_reason = raw.source_reason;
	options->ready_fd = raw.ready_fd;
	options->source = raw.source ? raw.source : strdup(DEFAULT_SOURCE);
	options->foreground = raw.foreground;
	options->version = raw.version;
	options->ignored = raw.ignored;
	if (!err && !options->source)
		err = op_out_of_memory(diag);
	if (!err && !options->version)
		err = check(options, &raw, diag);
	free(raw.vmlinux);
	free(raw.events);
	free(raw.images);
	free(raw.verbose);
	free(raw.readable_by);
	free(raw.cpu_budget);
	free(raw.history);
	return err;
}

void opd_options_release(struct opd_options *options)
{
	for (unsigned int i = 0; i < options->nr_images; i++)
		free(options->images[i]);
	free(options->images);
	for (char **at = options->ext_features; at && *at; at++)
		free(*at);
	free(options->ext_features);
	free(options->session_dir);
	free(options->vmlinux);
	free(options->source);
	free(options->source_reason);
	free(options->record);
	free(options->command_line);
	free(options->note);
	free(options->policy);
}
