/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTIONS_H
#define PP_OPTIONS_H

/*
 * Options that several programs take.
 */

#include <popt.h>
#include <stdbool.h>
#include <stdio.h>

#include "libop/base/op_diag.h"
#include "libpp/report/report.h"

#define EXIT_USAGE 2

/* Options of all programs, as popt leaves them. */
struct pp_common_args {
	char *session_dir, *image_path, *root, *verbose, *debuginfod;
	int is_verbose, version;
};

/* Rows of a program's table of options, with @c->... of the above. */
/* clang-format off */
#define PP_SESSION_OPTION(c)                                                  \
	{ "session-dir", '\0', POPT_ARG_STRING, &(c)->session_dir, 0, "the session folder", "DIR" }

#define PP_BINARY_OPTIONS(c)                                                  \
	{ "image-path", 'p', POPT_ARG_STRING, &(c)->image_path, 0, "also look for binaries in DIRS", "DIRS" }, \
	{ "root", 'R', POPT_ARG_STRING, &(c)->root, 0, "look for all binaries below DIR", "DIR" }, \
	{ "debuginfod", '\0', POPT_ARG_STRING, &(c)->debuginfod, 0, "fetch debug files from these servers (default: $DEBUGINFOD_URLS)", "URLS" }

#define PP_OTHER_OPTIONS(c)                                                   \
	{ "verbose", 'V', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &(c)->verbose, 'V', "print details: all, sfile, bfd, stats", "LIST" }, \
	{ "version", 'v', POPT_ARG_NONE, &(c)->version, 0, "show the version", NULL }

/* All of them, at the end of a table. */
#define PP_COMMON_OPTIONS(c)                                                  \
	PP_SESSION_OPTION(c),                                                 \
	PP_BINARY_OPTIONS(c),                                                 \
	PP_OTHER_OPTIONS(c),                                                  \
	POPT_AUTOHELP                                                         \
	POPT_TABLEEND
/* clang-format on */

/* Options of programs that show source files. */
struct pp_source_args {
	char *search_dirs, *base_dirs;
};

/* Their rows in a table, with @search and @base for short names. */
/* clang-format off */
#define PP_SOURCE_OPTIONS(s, search, base)                                    \
	{ "search-dirs", search, POPT_ARG_STRING, &(s)->search_dirs, 0, "look for source files in DIRS first", "DIRS" }, \
	{ "base-dirs", base, POPT_ARG_STRING, &(s)->base_dirs, 0, "strip these prefixes from source paths first", "DIRS" }
/* clang-format on */

/*
 * Parse the options of @program, which @table has, PP_OTHER_OPTIONS among them;
 * @usage is what follows its name in the help. Returns popt's context, which
 * holds the words that are no options; ends the program for help, the version,
 * and for options that are not known.
 */
poptContext pp_parse_options(const char *program, const char *usage,
			     const struct poptOption *table,
			     struct pp_common_args *common, int argc,
			     const char **argv);

/*
 * Values of options, all as text from popt; NULL is an option that was not
 * given and leaves the outcome as it is. Each returns 0; -EINVAL with the
 * reason in @diag; -ENOMEM.
 */

/* A number from 0 to 100. @option is the long name, as in the reason. */
int pp_take_percent(const char *option, const char *text, double *out,
		    struct op_diag *diag);

/* Add the PP_MERGE_ bits of a comma list to *@merge. */
int pp_take_merge(struct op_arena *arena, const char *text, unsigned int *merge,
		  struct op_diag *diag);

/* Set bits 1 << PP_REMARK_ for pp_print_messages(); all of them if the option
 * @is_given without a list. */
int pp_take_verbose(struct op_arena *arena, bool is_given, const char *text,
		    unsigned int *verbose, struct op_diag *diag);

int pp_take_demangle(const char *how, enum pp_demangle *demangle,
		     struct op_diag *diag);

/* A comma list as an array in @arena that NULL ends. */
int pp_take_list(struct op_arena *arena, const char *text,
		 const char *const **out);

/* The lists of both options; the bases need folders to search. */
/*
 * The same for names of symbols, among which "wait:CLASS" stands for the
 * functions of the kernel where threads wait for that
 * (libop/events/op_wait_classes.h). Returns 0 or -errno with the reason.
 */
int pp_take_names(struct op_arena *arena, const char *text,
		  const char *const **out, struct op_diag *diag);

int pp_take_source_dirs(struct op_arena *arena,
			const struct pp_source_args *args,
			struct pp_source_dirs *dirs, struct op_diag *diag);

/*
 * Options of all programs: --verbose, --image-path and --debuginfod. *@server
 * is set if a server is to be asked for debug files, and the caller's to free;
 * it needs @arena.
 */
int pp_take_common(struct op_arena *arena, const struct pp_common_args *args,
		   unsigned int *verbose, const char *const **image_path,
		   struct pp_debuginfod **server, struct op_diag *diag);

/* @words with @between in between and @end behind the last; NULL when memory
 * is short. */
const char *pp_join_words(struct op_arena *arena, const char *const *words,
			  const char *between, const char *end);

/* The columns of standard output; 0 where it is no terminal. */
size_t pp_terminal_width(void);

/* Whether the user's locale writes UTF-8. */
bool pp_terminal_has_unicode(void);

/*
 * Print the messages of @report like pp_print_messages(), but of warnings about
 * images with hardly any of its samples only how many there are, unless
 * anything is asked for.
 */
void pp_print_report_messages(FILE *out, const char *program,
			      const struct pp_report *report,
			      unsigned int verbose);

/*
 * Print warnings, and what @verbose asks for. Of many warnings that say the
 * same of different things the first is printed with their number, unless
 * anything is asked for.
 */
void pp_print_messages(FILE *out, const char *program,
		       const struct pp_messages *messages,
		       unsigned int verbose);

/* Warn that samples of @account were lost, if some were and it is not NULL;
 * @advice is how to see why. */
void pp_print_loss(FILE *out, const char *program,
		   const struct op_ledger *account, const char *advice);

/*
 * Whether an archive can be written to folder @path, NULL where none was named;
 * @instead says what else there is to do then, or is empty. Returns 0 or
 * -EINVAL with the reason.
 */
int pp_check_archive_place(const char *path, const char *instead,
			   struct op_diag *diag);

/*
 * Make the report that @request asks for about the session that @args name.
 * *@out is NULL or the caller's to free, even on failure, and has messages to
 * be printed. Returns as pp_report_new() does.
 */
int pp_make_report_silently(const struct pp_common_args *args,
			    struct pp_request *request, struct pp_report **out,
			    struct op_diag *diag);

/* Make a report in that way, and print its messages. */
int pp_make_report(const char *program, const struct pp_common_args *args,
		   unsigned int verbose, struct pp_request *request,
		   struct pp_report **out, struct op_diag *diag);

#endif /* PP_OPTIONS_H */
