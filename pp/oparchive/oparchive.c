// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oparchive puts a session, with all that reports on it need, into one folder.
 * Copying may take minutes: a terminal sees progress, and a signal ends it
 * between two pieces of a file, so that pp_archive_write() can remove what it
 * has made.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_terminal_safe.h"
#include "libop/session/op_session.h"
#include "libpp/archive/archive_write.h"
#include "pp/oparchive/oparchive_options.h"
#include "pp/options.h"
#include "pp/progress.h"
#include "pp/signals.h"

/* ---- progress ------------------------------------------------------------ */

struct copying {
	uint64_t total; /* bytes */
	struct pp_progress progress;
};

static int show_copying(void *data, uint64_t done)
{
	struct copying *copying = data;
	uint64_t total = copying->total > done ? copying->total : done;

	pp_progress_show(&copying->progress,
			 "oparchive: %" PRIu64 " of %" PRIu64 " MB", done >> 20,
			 total >> 20);
	return pp_caught_signal();
}

/* ---- the work ------------------------------------------------------------ */

/* Print those from number @first on. */
static void print_messages(const struct oparchive_options *o,
			   const struct pp_messages *messages, size_t first)
{
	struct pp_messages rest;

	if (first == messages->nr)
		return;
	rest = (struct pp_messages){ .list = messages->list + first,
				     .nr = messages->nr - first };
	pp_print_messages(stderr, "oparchive", &rest, o->verbose);
}

static int print_files(const struct pp_archive_list *list, struct op_diag *diag)
{
	/* Scripts want the paths as they are. */
	bool is_plain = isatty(STDOUT_FILENO);
	FILE *out = is_plain ? op_terminal_safe_open(stdout) : stdout;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		if (list->files[i].part != PP_ARCHIVE_OWN)
			fprintf(out, "%s\n", list->files[i].from);
	if (is_plain)
		fclose(out);
	if (fflush(stdout) || ferror(stdout))
		return op_diag_set(diag, -EIO,
				   "standard output: cannot be written: %s",
				   strerror(errno));
	return 0;
}

static int write_archive(const struct oparchive_options *o,
			 struct pp_archive_list *list, struct op_diag *diag)
{
	struct copying copying = { .total = list->size };
	const struct pp_archive_writing how = {
		.folder = o->args.output,
		.symbols_only = o->args.symbols_only,
		.replace = o->args.force,
		.progress = show_copying,
		.data = &copying,
	};
	int err;

	pp_progress_start(&copying.progress);
	pp_catch_signals();
	err = pp_archive_write(list, &how, diag);
	pp_progress_end(&copying.progress);
	return err;
}

static int archive_session(struct oparchive_options *o, struct op_diag *diag)
{
	static struct op_session session;
	struct pp_archive_list *list;
	size_t said = 0;
	int err = op_session_init(&session, o->args.common.session_dir, diag);

	if (err)
		return err;
	o->request.session = &session;
	o->request.spec = &o->spec;
	err = pp_archive_list_new(&list, &o->request, diag);
	if (list) {
		said = list->report.messages.nr;
		print_messages(o, &list->report.messages, 0);
	}
	if (!err)
		err = o->args.list_files ? print_files(list, diag)
					 : write_archive(o, list, diag);
	if (list)
		print_messages(o, &list->report.messages, said);
	if (!err)
		err = pp_check_complete(&list->report.messages, diag);
	pp_archive_list_free(list);
	return err;
}

int main(int argc, char **argv)
{
	static struct oparchive_options options;
	struct op_diag diag = { 0 };
	poptContext context;
	int status = 0;

	context = oparchive_parse(&options.args, argc, (const char **)argv);
	if (oparchive_take_words(&options, poptGetArgs(context), &diag))
		status = 1;
	else if (oparchive_take_options(&options, &diag))
		status = EXIT_USAGE;
	if (!status && archive_session(&options, &diag))
		status = 1;
	if (status)
		fprintf(stderr, "oparchive: %s\n",
			op_diag_text(&diag, -ENOMEM));
	pp_debuginfod_free(options.request.debuginfod);
	pp_spec_release(&options.spec);
	op_labels_release(&options.labels);
	poptFreeContext(context);
	pp_end_by_signal();
	return status;
}
