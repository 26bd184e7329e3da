// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options that several programs of pp/ have, how these programs print messages,
 * and how they make a report. A pp_take_ function parses the text that popt
 * left, and leaves the value unchanged if the option was not given. So the
 * order of the calls does not matter, except for which of several mistakes is
 * reported.
 */

#include "pp/options.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "config.h"

#include "libop/events/op_cpu_type.h"
#include "libop/events/op_wait_classes.h"
#include "libop/base/op_plural.h"
#include "libop/options/op_bad_option.h"
#include "libop/files/op_open.h"
#include "libop/options/op_arguments.h"
#include "libpp/symbols/debuginfod.h"
#include "pp/progress.h"

poptContext pp_parse_options(const char *program, const char *usage,
			     const struct poptOption *table,
			     struct pp_common_args *common, int argc,
			     const char **argv)
{
	struct op_diag diag = { "" };
	poptContext context;
	int rc;

	op_open_raise_limit();
	op_arguments_take_help(argc, argv);
	context = poptGetContext(NULL, argc, argv, table, 0);

	poptSetOtherOptionHelp(context, usage);
	while ((rc = poptGetNextOpt(context)) == 'V')
		common->is_verbose = 1;
	if (rc < -1) {
		op_bad_option(&diag, program, table, argv,
			      poptBadOption(context, POPT_BADOPTION_NOALIAS),
			      rc);
		fprintf(stderr, "%s: %s\n", program, diag.text);
		poptFreeContext(context);
		exit(EXIT_USAGE);
	}
	if (common->version) {
		printf("%s: oprofile %s\n", program, PACKAGE_VERSION);
		poptFreeContext(context);
		exit(0);
	}
	return context;
}

int pp_take_percent(const char *option, const char *text, double *out,
		    struct op_diag *diag)
{
	char *end;

	if (!text)
		return 0;
	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0) || *out > 100)
		return op_diag_set(
			diag, -EINVAL,
			"--%s=%s: not a percentage; give a number from 0 to 100",
			option, text);
	return 0;
}

/* A word of a list and the bits that it stands for. */
struct word {
	const char *name;
	unsigned int bits;
};

/* Set *@bits to what the comma list @text says, in words of @words (ended by
 * one without name). */
static int parse_flag_words(struct op_arena *arena, const char *option,
			    const char *text, const struct word *words,
			    const char *known, unsigned int *bits,
			    struct op_diag *diag)
{
	const char **list = NULL;
	int nr = text ? pp_split_commas(arena, text, &list) : 0;

	for (int i = 0; i < nr; i++) {
		const struct word *word = words;

		while (word->name && strcmp(word->name, list[i]))
			word++;
		if (!word->name)
			return op_diag_set(diag, -EINVAL,
					   "--%s=%s: unknown; use %s", option,
					   list[i], known);
		*bits |= word->bits;
	}
	return nr < 0 ? nr : 0;
}

int pp_take_merge(struct op_arena *arena, const char *text, unsigned int *merge,
		  struct op_diag *diag)
{
	static const struct word words[] = {
		{ "cpu", PP_MERGE_CPU },
		{ "cgroup", PP_MERGE_CGROUP },
		{ "lib", PP_MERGE_LIB },
		{ "library", PP_MERGE_LIB },
		{ "tid", PP_MERGE_TID },
		{ "tgid", PP_MERGE_TGID | PP_MERGE_TID },
		{ "unitmask", PP_MERGE_UNIT_MASK },
		{ "all", PP_MERGE_ALL },
		{ NULL, 0 },
	};

	return parse_flag_words(arena, "merge", text, words,
				"cgroup, cpu, lib, tid, tgid, unitmask or all",
				merge, diag);
}

int pp_take_verbose(struct op_arena *arena, bool is_given, const char *text,
		    unsigned int *verbose, struct op_diag *diag)
{
	/* The original's other categories have nothing to say here. */
	static const struct word words[] = {
		{ "all", ~0u },
		{ "sfile", 1u << PP_REMARK_SFILE },
		{ "bfd", 1u << PP_REMARK_BFD },
		{ "stats", 1u << PP_REMARK_STATS },
		{ "debug", 0 },
		{ "level1", 0 },
		{ "xml", 0 },
		{ NULL, 0 },
	};

	if (is_given && !text)
		*verbose = ~0u;
	return parse_flag_words(arena, "verbose", text, words,
				"all, debug, bfd, level1, sfile, stats or xml",
				verbose, diag);
}

int pp_take_demangle(const char *how, enum pp_demangle *demangle,
		     struct op_diag *diag)
{
	static const char *const names[] = {
		[PP_DEMANGLE_NORMAL] = "normal",
		[PP_DEMANGLE_NONE] = "none",
		[PP_DEMANGLE_SMART] = "smart",
	};

	for (size_t i = 0; how && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(how, names[i])) {
			*demangle = i;
			return 0;
		}
	if (!how)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--demangle=%s: unknown; use none, normal or smart",
			   how);
}

int pp_take_list(struct op_arena *arena, const char *text,
		 const char *const **out)
{
	const char **parts, **list;
	int nr;

	if (!text)
		return 0;
	nr = pp_split_commas(arena, text, &parts);
	if (nr < 0)
		return nr;
	list = op_arena_alloc(arena, (size_t)nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, parts, (size_t)nr * sizeof(*list));
	*out = list;
	return 0;
}

#define WAIT_CLASS "wait:"

/* Append the patterns of class @name to @list, of @nr items and with room for
 * all. Returns how many, or -EINVAL with the reason. */
static int append_wait_class(const char **list, size_t nr,
			     const struct op_wait_classes *classes,
			     const char *name, struct op_arena *arena,
			     struct op_diag *diag)
{
	const char *all = "", *last = "";
	size_t before = nr;

	for (size_t i = 0; i < classes->nr; i++) {
		const struct op_wait_pattern *p = &classes->patterns[i];

		if (strcmp(last, p->class) != 0)
			all = op_arena_printf(arena, "%s%s%s", all,
					      *all ? ", " : "", p->class);
		last = p->class;
		if (!all)
			return -ENOMEM;
		if (strcmp(p->class, name) != 0)
			continue;
		list[nr] = op_arena_strdup(arena, p->pattern);
		if (!list[nr++])
			return -ENOMEM;
	}
	if (nr > before)
		return (int)(nr - before);
	return op_diag_set(diag, -EINVAL,
			   WAIT_CLASS
			   "%s: no such class of waits; there are %s",
			   name, all);
}

/* Put the functions of classes of waits in place of their names. */
static int expand_wait_classes(struct op_arena *arena,
			       const char *const **names,
			       const struct op_wait_classes *classes,
			       struct op_diag *diag)
{
	size_t nr_names = 0, nr = 0;
	const char **list;

	while ((*names)[nr_names])
		nr_names++;
	list = op_arena_alloc(arena, nr_names * (classes->nr + 1) + 1,
			      sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < nr_names; i++) {
		const char *name = (*names)[i];
		int more = 1;

		if (strncmp(name, WAIT_CLASS, strlen(WAIT_CLASS)) != 0)
			list[nr] = name;
		else
			more = append_wait_class(list, nr, classes,
						 name + strlen(WAIT_CLASS),
						 arena, diag);
		if (more < 0)
			return more;
		nr += (size_t)more;
	}
	list[nr] = NULL;
	*names = list;
	return 0;
}

int pp_take_names(struct op_arena *arena, const char *text,
		  const char *const **out, struct op_diag *diag)
{
	struct op_wait_classes classes = { .nr = 0 };
	char *dir = NULL;
	int err = pp_take_list(arena, text, out);

	if (err || !text || !strstr(text, WAIT_CLASS))
		return err;
	err = op_events_dir(&dir, diag) ?:
	      op_wait_classes_read(&classes, dir, diag) ?:
	      expand_wait_classes(arena, out, &classes, diag);
	op_wait_classes_release(&classes);
	free(dir);
	return err == -ENOENT
		       ? op_diag_set(
				 diag, err,
				 "%s: the file of classes of waits is missing; install oprofile",
				 text)
		       : err;
}

int pp_take_source_dirs(struct op_arena *arena,
			const struct pp_source_args *args,
			struct pp_source_dirs *dirs, struct op_diag *diag)
{
	if (args->base_dirs && !args->search_dirs)
		return op_diag_set(
			diag, -EINVAL,
			"--base-dirs changes where to look in --search-dirs; add that");
	return pp_take_list(arena, args->search_dirs, &dirs->search)
		       ?: pp_take_list(arena, args->base_dirs, &dirs->bases);
}

static void show_fetching(void *data, const char *name, uint64_t done,
			  uint64_t total)
{
	struct pp_progress *progress = data;

	if (!name)
		pp_progress_end(progress);
	else if (!done)
		pp_progress_start(progress);
	else
		pp_progress_show(progress,
				 "%s: debug file of %s: %" PRIu64 " of %" PRIu64
				 " MB",
				 program_invocation_short_name, name,
				 done >> 20,
				 (total > done ? total : done) >> 20);
}

/* libdebuginfod knows its servers from the environment alone. */
static int parse_debuginfod(struct op_arena *arena, const char *urls,
			    struct pp_debuginfod **server, struct op_diag *diag)
{
	const char *known = urls ? urls : getenv("DEBUGINFOD_URLS");
	struct pp_progress *progress;
	int err;

	if (!known || !*known)
		return 0;
	if (setenv("DEBUGINFOD_URLS", known, 1))
		return -errno;
	progress = op_arena_alloc(arena, 1, sizeof(*progress));
	if (!progress)
		return -ENOMEM;
	err = pp_debuginfod_new(server, show_fetching, progress, diag);
	/* The variable is for all programs, also those without the library. */
	return err == -ENOTSUP && !urls ? 0 : err;
}

int pp_take_common(struct op_arena *arena, const struct pp_common_args *args,
		   unsigned int *verbose, const char *const **image_path,
		   struct pp_debuginfod **server, struct op_diag *diag)
{
	return pp_take_verbose(arena, args->is_verbose, args->verbose, verbose,
			       diag) ?:
	       pp_take_list(arena, args->image_path, image_path) ?:
	       parse_debuginfod(arena, args->debuginfod, server, diag);
}

const char *pp_join_words(struct op_arena *arena, const char *const *words,
			  const char *between, const char *end)
{
	const char *text = "";

	for (size_t i = 0; words && words[i] && text; i++)
		text = op_arena_printf(arena, "%s%s%s", text, i ? between : "",
				       words[i]);
	return text ? op_arena_printf(arena, "%s%s", text, end) : NULL;
}

size_t pp_terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

bool pp_terminal_has_unicode(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool has = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return has;
}

/* ---- messages ------------------------------------------------------------ */

#define SAID_EACH 2 /* warnings of one cause that are said one by one */

/* The part of a message after its subject. */
static const char *cause_of(const struct pp_message *message)
{
	const char *colon = strstr(message->text, ": ");

	return colon ? colon : message->text;
}

static bool is_likewise(const struct pp_message *a, const struct pp_message *b)
{
	return a->kind == PP_WARNING && b->kind == PP_WARNING &&
	       !strcmp(cause_of(a), cause_of(b));
}

/* How many messages are of the cause of @of, counted up to @most; *@first is
 * the first of them. There may be a thousand. */
static size_t nr_likewise(const struct pp_messages *messages,
			  const struct pp_message *of, size_t most,
			  const struct pp_message **first)
{
	size_t found = 0;

	for (size_t i = 0; i < messages->nr && found < most; i++) {
		if (!is_likewise(&messages->list[i], of))
			continue;
		if (!found++)
			*first = &messages->list[i];
	}
	return found;
}

/* Many of one cause are one line, unless @all are wanted. */
static void print_warning(FILE *out, const char *program,
			  const struct pp_messages *messages,
			  const struct pp_message *message, bool all)
{
	const struct pp_message *first;

	if (all ||
	    nr_likewise(messages, message, SAID_EACH + 1, &first) <= SAID_EACH)
		fprintf(out, "%s: warning: %s\n", program, message->text);
	else if (message == first)
		fprintf(out,
			"%s: warning: %s (and %zu more like this; --verbose lists them)\n",
			program, message->text,
			nr_likewise(messages, message, SIZE_MAX, &first) - 1);
}

void pp_print_messages(FILE *out, const char *program,
		       const struct pp_messages *messages, unsigned int verbose)
{
	for (size_t i = 0; i < messages->nr; i++) {
		const struct pp_message *message = &messages->list[i];

		if (message->kind == PP_WARNING)
			print_warning(out, program, messages, message, verbose);
		else if (verbose & 1u << message->kind)
			fprintf(out, "%s: %s\n", program, message->text);
	}
}

/* Below that share an image is not worth a line above others. */
#define MATTERS_PERCENT 0.5

/* Whether @message is about an image, by whose name it begins, that has hardly
 * any of the samples of @report. */
static bool is_of_minor_image(const struct pp_report *report,
			      const struct pp_message *message)
{
	size_t len = (size_t)(cause_of(message) - message->text);
	uint64_t all = pp_sum_counts(report->totals, report->classes.nr);
	uint64_t sum = 0;
	bool is_image = false;

	for (size_t i = 0; i < report->summary.nr_apps; i++) {
		const struct pp_summary_app *app = &report->summary.apps[i];

		for (size_t j = 0; j < app->nr_images; j++) {
			const struct pp_summary_image *image = &app->images[j];

			if (strlen(image->name) != len ||
			    memcmp(image->name, message->text, len) != 0)
				continue;
			is_image = true;
			sum = pp_add_counts(sum,
					    pp_sum_counts(image->counts,
							  report->classes.nr));
		}
	}
	return is_image && (double)sum * 100 < MATTERS_PERCENT * (double)all;
}

void pp_print_report_messages(FILE *out, const char *program,
			      const struct pp_report *report,
			      unsigned int verbose)
{
	struct pp_messages kept = report->messages;
	size_t left_out;

	kept.list = calloc(kept.nr + 1, sizeof(*kept.list));
	kept.nr = 0;
	for (size_t i = 0; kept.list && i < report->messages.nr; i++) {
		const struct pp_message *message = &report->messages.list[i];

		if (verbose || message->kind != PP_WARNING ||
		    message->is_of_fault || !is_of_minor_image(report, message))
			kept.list[kept.nr++] = *message;
	}
	if (!kept.list)
		return;
	pp_print_messages(out, program, &kept, verbose);
	left_out = report->messages.nr - kept.nr;
	if (left_out)
		fprintf(out,
			"%s: %zu warning%s about images with less than %g %% of the samples; --verbose lists them\n",
			program, left_out, op_plural(left_out),
			MATTERS_PERCENT);
	free(kept.list);
}

void pp_print_loss(FILE *out, const char *program,
		   const struct op_ledger *account, const char *advice)
{
	if (account && op_ledger_lost(account))
		fprintf(out,
			"%s: warning: %" PRIu64 " of %" PRIu64
			" samples were lost; %s\n",
			program, op_ledger_lost(account), account->taken,
			advice);
}

/* ---- reports ------------------------------------------------------------- */

int pp_make_report_silently(const struct pp_common_args *args,
			    struct pp_request *request, struct pp_report **out,
			    struct op_diag *diag)
{
	struct op_session session;
	int err = op_session_init(&session, args->session_dir, diag);

	*out = NULL;
	if (err)
		return err;
	request->select.session = &session;
	err = pp_report_new(out, request, diag);
	request->select.session = NULL;
	return err;
}

int pp_make_report(const char *program, const struct pp_common_args *args,
		   unsigned int verbose, struct pp_request *request,
		   struct pp_report **out, struct op_diag *diag)
{
	int err = pp_make_report_silently(args, request, out, diag);

	if (*out)
		pp_print_messages(stderr, program, &(*out)->messages, verbose);
	return err;
}

int pp_check_archive_place(const char *path, const char *instead,
			   struct op_diag *diag)
{
	if (!path)
		return op_diag_set(
			diag, -EINVAL,
			"nowhere to write to; name a folder with --output-directory%s",
			instead);
	if (!*path || strspn(path, "/") == strlen(path))
		return op_diag_set(
			diag, -EINVAL,
			"--output-directory=%s: cannot be the archive; name a folder that is not there yet",
			path);
	return 0;
}
