// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opimport: what others recorded becomes ours: files that "perf record" wrote,
 * files of pprof, callgrind and folded stacks, and sample files of OProfile up
 * to 1.4, one file or a whole session folder. A single sample file is made in a
 * hidden folder beside the output and renamed, so that the output is whole or
 * not there.
 */

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <popt.h>

#include "config.h"
#include "libop/options/op_arguments.h"
#include "libop/options/op_bad_option.h"
#include "libop/base/op_diag.h"
#include "libop/base/op_plural.h"
#include "libop/session/op_session.h"
#include "libop/files/op_config.h"
#include "pp/opimport/opimport_file.h"
#include "pp/opimport/opimport_foreign.h"
#include "pp/opimport/opimport_input.h"
#include "pp/opimport/opimport_perf.h"
#include "pp/opimport/opimport_session.h"

#define EXIT_USAGE 2
#define DEFAULT_OUTPUT "oprofile_data" /* where opreport looks */

/* The command line, as popt leaves it. */
struct options {
	char *abi, *output, *session;
	char *slices;
	int separate_thread, separate_cpu, no_timeline, force, verbose, version;
};

static poptContext parse_options(struct options *o, int argc, const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "abi", 'a', POPT_ARG_STRING, &o->abi, 0, "the abi file of the machine that sampled", "FILE" },
		{ "output", 'o', POPT_ARG_STRING, &o->output, 0, "the new sample file, or session folder", "PATH" },
		{ "session", 's', POPT_ARG_STRING, &o->session, 0, "import a whole session folder", "DIR" },
		{ "separate-thread", 't', POPT_ARG_NONE, &o->separate_thread, 0, "when importing foreign files, separate threads and processes", NULL },
		{ "separate-cpu", 'c', POPT_ARG_NONE, &o->separate_cpu, 0, "when importing files of perf, separate CPUs", NULL },
		{ "slices", '\0', POPT_ARG_STRING, &o->slices, 0, "when importing files of perf, keep the times of samples in at most N slices (default 256)", "N" },
		{ "no-timeline", '\0', POPT_ARG_NONE, &o->no_timeline, 0, "do not keep the times of samples", NULL },
		{ "force", 'f', POPT_ARG_NONE, &o->force, 0, "replace the output file", NULL },
		{ "verbose", 'V', POPT_ARG_NONE, &o->verbose, 0, "list the files and the action for each", NULL },
		{ "version", 'v', POPT_ARG_NONE, &o->version, 0, "show the version", NULL },
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */
	struct op_diag diag = { "" };
	poptContext context;
	int rc;

	op_arguments_take_help(argc, argv);
	context = poptGetContext(NULL, argc, argv, table, 0);
	poptSetOtherOptionHelp(
		context,
		"[-o DIR] PERF.DATA...\n   or: opimport [-o DIR] PROFILE\n   or: opimport [-a ABI] --session DIR --output DIR\n   or: opimport -a ABI -o FILE SAMPLEFILE");
	rc = poptGetNextOpt(context);
	if (rc < -1) {
		op_bad_option(&diag, "opimport", table, argv,
			      poptBadOption(context, POPT_BADOPTION_NOALIAS),
			      rc);
		fprintf(stderr, "opimport: %s\n", diag.text);
		poptFreeContext(context);
		exit(EXIT_USAGE);
	}
	return context;
}

static int check_options(const struct options *o, const char *const *files,
			 struct op_diag *diag)
{
	const char *why = NULL;

	if (o->session && files && *files)
		why = "--session imports the whole folder; name no sample file";
	else if (!o->session && !o->abi)
		why = "nothing to import; name files of perf record, a file of pprof, callgrind or folded stacks, or an old session with --session, or an old sample file with its --abi";
	else if (!o->output)
		why = "nowhere to write to; name it with --output";
	else if (!o->session && (!files || !*files || files[1]))
		why = "name exactly one sample file, or a session folder with --session";
	return why ? op_diag_set(diag, -EINVAL, "%s", why) : 0;
}

/* ---- one file ------------------------------------------------------------ */

/* Parse the part of @path that is a sample file's name in a session. Returns
 * false if there is none. */
static bool name_in_session(const char *path, struct op_mangle *m, char *buf,
			    size_t len)
{
	static const char *const starts[] = { "{root}/", "{kern}/", "{anon:" };
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const char *at = strstr(path, starts[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first && !op_classic_name_parse(first, m, buf, len, NULL);
}

/* A new empty folder beside @path, whose name with "/new" is in @to. */
static int make_hidden_name(const char *path, char *to, size_t len,
			    struct op_diag *diag)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	int done = snprintf(to, len, "%.*s.opimport-XXXXXX", folder, path);

	if (done < 0 || (size_t)done + sizeof("/new") > len)
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long", path);
	if (!mkdtemp(to))
		return op_diag_set(diag, -errno, "%s: cannot be written: %s",
				   path, strerror(errno));
	strcat(to, "/new");
	return 0;
}

/* Give the file @from the name @to. */
static int put_sample_file_in_place(const char *from, const char *to,
				    bool force, struct op_diag *diag)
{
	if (!(force ? rename(from, to) : link(from, to)))
		return 0;
	if (errno == EEXIST)
		return op_diag_set(diag, -EEXIST,
				   "%s: already exists; --force replaces it",
				   to);
	return op_diag_set(diag, -errno, "%s: cannot be written: %s", to,
			   strerror(errno));
}

/* The file is made beside the output, so that this is whole or not there. */
static int import_file(const struct options *o, const char *from,
		       struct op_diag *diag)
{
	struct opimport_result result;
	struct op_mangle m;
	char name[OP_MANGLE_MAX], new[PATH_MAX];
	bool named = name_in_session(from, &m, name, sizeof(name));
	struct op_classic_abi abi;
	int err =
		op_classic_abi_read(&abi, o->abi, diag)
			?: make_hidden_name(o->output, new, sizeof(new), diag);

	if (err)
		return err;
	err = opimport_file(from, new, named ? &m : NULL, &abi, NULL, &result,
			    diag);
	/* Nobody asked for that name. */
	if (err && result.unwritten) {
		*diag = (struct op_diag){ "" };
		op_diag_set(diag, err, "%s: cannot be written: %s", o->output,
			    strerror(-err));
	}
	if (!err)
		err = put_sample_file_in_place(new, o->output, o->force, diag);
	unlink(new);
	*strrchr(new, '/') = '\0';
	if (rmdir(new) && !err)
		err = op_diag_set(diag, -errno, "%s: cannot be removed: %s",
				  new, strerror(errno));
	if (err)
		return err;
	if (result.unknown_cpu_type)
		fprintf(stderr, "opimport: warning: %s: unknown CPU type %u\n",
			from, result.unknown_cpu_type - 1);
	if (o->verbose)
		fprintf(stderr, "opimport: %s: %llu sample%s at %llu place%s\n",
			from, (unsigned long long)result.samples,
			op_plural(result.samples),
			(unsigned long long)result.nr_keys,
			op_plural(result.nr_keys));
	return 0;
}

/* ---- a session ----------------------------------------------------------- */

static void print_complaint(const char *text)
{
	fprintf(stderr, "opimport: %s\n", text);
}

static int run_session(const struct options *o, struct op_diag *diag)
{
	struct opimport_options options = {
		.from = o->session,
		.to = o->output,
		.abi = o->abi,
		.complain = print_complaint,
		.remark = o->verbose ? print_complaint : NULL,
	};
	struct opimport_counts counts;
	int err = opimport_session(&options, &counts, diag);

	if (err)
		return err;
	fprintf(stderr,
		"opimport: %u session%s, %u sample file%s (%u of call graphs)\n",
		counts.sessions, op_plural(counts.sessions), counts.files,
		op_plural(counts.files), counts.call_graphs);
	if (counts.cut_calls)
		fprintf(stderr,
			"opimport: warning: %llu calls are to or from anonymous memory of more than 4 GiB; the original kept 32 bits of their offsets, so that their symbols may be wrong\n",
			(unsigned long long)counts.cut_calls);
	if (!counts.failed)
		return 0;
	return op_diag_set(
		diag, -EBADMSG,
		"%s: %u files could not be converted; their samples are missing in %s",
		o->session, counts.failed, o->output);
}

/* ---- profiles of others -------------------------------------------------- */

static int parse_slices_of_import(const struct options *o, uint64_t *slices,
				  struct op_diag *diag)
{
	*slices = o->no_timeline ? 0 : OP_SLICES_DEFAULT;
	if (!o->slices)
		return 0;
	if (o->no_timeline)
		return op_diag_set(
			diag, -EINVAL,
			"--slices and --no-timeline: give only one of them");
	if (op_parse_u64(o->slices, slices) || *slices < OP_SLICES_MIN ||
	    *slices > OP_SLICES_MAX)
		return op_diag_set(
			diag, -EINVAL,
			"--slices=%s: must be a number from %d to %d",
			o->slices, OP_SLICES_MIN, OP_SLICES_MAX);
	return 0;
}

static int run_foreign(const struct options *o, uint64_t slices,
		       const char *const *files, struct op_diag *diag)
{
	const struct opimport_into into = {
		.to = o->output ? o->output : DEFAULT_OUTPUT,
		.separate_thread = o->separate_thread,
		.separate_cpu = o->separate_cpu,
		.slices = slices,
	};
	struct opimport_input first;
	int err;

	opimport_input_open(&first, *files);
	if (opimport_is_perf(&first))
		err = opimport_perf(&into, files, &first, diag);
	else if (!files[1] || first.err)
		err = opimport_foreign(&into, &first, diag);
	else
		err = op_diag_set(
			diag, -EINVAL,
			"%s: is not a file of perf record; name one such file at a time, as each becomes a session",
			*files);
	opimport_input_close(&first);
	return err;
}

int main(int argc, char **argv)
{
	static struct options options; /* popt allocates what is in it */
	struct op_diag diag = { "" };
	poptContext context =
		parse_options(&options, argc, (const char **)argv);
	const char *const *files = poptGetArgs(context);
	bool is_foreign = !options.session && !options.abi && files && *files;
	uint64_t slices;
	int status = 0;

	if (options.version)
		puts("opimport: oprofile " PACKAGE_VERSION);
	else if (parse_slices_of_import(&options, &slices, &diag))
		status = EXIT_USAGE;
	else if (is_foreign)
		status = run_foreign(&options, slices, files, &diag) ? 1 : 0;
	else if (check_options(&options, files, &diag))
		status = EXIT_USAGE;
	else if (options.session ? run_session(&options, &diag)
				 : import_file(&options, files[0], &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opimport: %s\n", op_diag_text(&diag, -ENOMEM));
	poptFreeContext(context);
	return status;
}
