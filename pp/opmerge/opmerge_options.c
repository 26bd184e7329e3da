// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Archives are named by the words of the command line, by a file that has one
 * in each line, or both: thousands do not fit in a command line.
 */

#include "pp/opmerge/opmerge_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/session/op_labels.h"

#define THREADS_MAX 256
#define MEMORY_DEFAULT 256 /* MiB */
#define MEMORY_MIN 16
#define MEMORY_MAX (UINT64_C(1) << 30)

poptContext opmerge_parse(struct opmerge_args *a, int argc, const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "output-directory", 'o', POPT_ARG_STRING, &a->output, 0, "the archive to make", "DIR" },
		{ "force", '\0', POPT_ARG_NONE, &a->force, 0, "replace an existing archive", NULL },
		{ "files-from", '\0', POPT_ARG_STRING, &a->list, 0, "also merge the archives that FILE names, one a line; - is standard input", "FILE" },
		{ "keep-labels", '\0', POPT_ARG_STRING, &a->keep, 0, "separate by these labels only, such as host,version,cgroup (default: all)", "LIST" },
		{ "drop-labels", '\0', POPT_ARG_STRING, &a->drop, 0, "do not separate by these labels", "LIST" },
		{ "jobs", 'j', POPT_ARG_STRING, &a->threads, 0, "use N threads (default: one for each CPU)", "N" },
		{ "memory", '\0', POPT_ARG_STRING, &a->memory, 0, "use about MIB MiB of memory (default 256)", "MIB" },
		{ "verbose", 'V', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &a->common.verbose, 'V', "print details: all, sfile, bfd, stats", "LIST" },
		{ "version", 'v', POPT_ARG_NONE, &a->common.version, 0, "show the version", NULL },
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */

	return pp_parse_options("opmerge", "[OPTION...] -o DIR ARCHIVE...",
				table, &a->common, argc, argv);
}

/* ---- archives ------------------------------------------------------------ */

static int add_archive(struct opmerge_options *o, const char *word,
		       struct op_diag *diag)
{
	static const char tag[] = "archive:";
	struct pp_merge_request *request = &o->request;
	const char **more = op_arena_grow(&o->arena, (void *)request->archives,
					  request->nr, sizeof(*more));

	if (!more)
		return -ENOMEM;
	request->archives = more;
	if (!strncmp(word, tag, strlen(tag)))
		word += strlen(tag);
	if (!*word)
		return op_diag_set(
			diag, -EINVAL,
			"archive: has no name after it; name the folder of an archive");
	more[request->nr] = op_arena_strdup(&o->arena, word);
	return more[request->nr++] ? 0 : -ENOMEM;
}

static int add_archives_of_list(struct opmerge_options *o, struct op_diag *diag)
{
	const char *path = o->args.list;
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int err = 0;

	if (!file)
		return op_diag_set(diag, -errno, "--files-from=%s: %s", path,
				   strerror(errno));
	while (!err && (len = getline(&line, &room, file)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (*line)
			err = add_archive(o, line, diag);
	}
	if (!err && ferror(file))
		err = op_diag_set(diag, -EIO, "--files-from=%s: cannot be read",
				  path);
	free(line);
	if (file != stdin)
		fclose(file);
	return err;
}

static int parse_archives(struct opmerge_options *o, const char *const *words,
			  struct op_diag *diag)
{
	int err = 0;

	for (; words && *words && !err; words++)
		err = add_archive(o, *words, diag);
	if (!err && o->args.list)
		err = add_archives_of_list(o, diag);
	if (!err && !o->request.nr)
		err = op_diag_set(
			diag, -EINVAL,
			"nothing to merge; name archives that oparchive made");
	return err;
}

/* ---- options ------------------------------------------------------------- */

/* A mistyped label would be kept, or dropped, in silence. */
static int check_labels(const char *option, const char *const *keys,
			struct op_diag *diag)
{
	for (; keys && *keys; keys++)
		if (!op_label_key_ok(*keys))
			return op_diag_set(
				diag, -EINVAL,
				"--%s: '%s' is no name of a label; give names, separated by commas",
				option, *keys);
	return 0;
}

static int parse_bounded_number(const char *option, const char *text,
				uint64_t min, uint64_t max, uint64_t *out,
				struct op_diag *diag)
{
	uint64_t number;

	if (!text)
		return 0;
	if (op_parse_u64(text, &number) || number < min || number > max)
		return op_diag_set(diag, -EINVAL,
				   "--%s=%s: not a number from %llu to %llu",
				   option, text, (unsigned long long)min,
				   (unsigned long long)max);
	*out = number;
	return 0;
}

static int parse_merge_limits(struct opmerge_options *o, struct op_diag *diag)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t threads = cpus < 1		? 1
			   : cpus > THREADS_MAX ? THREADS_MAX
						: (uint64_t)cpus;
	uint64_t memory = MEMORY_DEFAULT;
	int err = parse_bounded_number("jobs", o->args.threads, 1, THREADS_MAX,
				       &threads, diag)
			  ?: parse_bounded_number("memory", o->args.memory,
						  MEMORY_MIN, MEMORY_MAX,
						  &memory, diag);

	o->request.threads = (unsigned int)threads;
	o->request.memory = memory << 20;
	return err;
}

int opmerge_take_options(struct opmerge_options *o, const char *const *words,
			 struct op_diag *diag)
{
	struct pp_merge_request *request = &o->request;
	const struct opmerge_args *a = &o->args;

	request->folder = a->output;
	request->replace = a->force;
	return pp_check_archive_place(a->output, "", diag) ?: parse_merge_limits(o, diag) ?:
	       pp_take_verbose(&o->arena, a->common.is_verbose,
			       a->common.verbose, &o->verbose, diag) ?:
	       pp_take_list(&o->arena, a->keep, &request->keep) ?:
	       pp_take_list(&o->arena, a->drop, &request->drop) ?:
	       check_labels("keep-labels", request->keep, diag) ?:
	       check_labels("drop-labels", request->drop, diag) ?:
	       parse_archives(o, words, diag);
}
