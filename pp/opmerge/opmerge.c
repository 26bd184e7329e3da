// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opmerge makes one archive of many. What is wrong with some of them does not
 * keep it from merging the others; it is said, and the status tells.
 */

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "libop/base/op_plural.h"
#include "libpp/merge/merge.h"
#include "pp/opmerge/opmerge_options.h"
#include "pp/options.h"
#include "pp/progress.h"
#include "pp/signals.h"

static int show_merging(void *data, const char *what, size_t done, size_t nr)
{
	pp_progress_show(data, "opmerge: %zu of %zu %s", done, nr, what);
	return pp_caught_signal();
}

static int check_whole(const struct pp_merge *merge, struct op_diag *diag)
{
	if (merge->nr_left_out)
		return op_diag_set(
			diag, -EBADMSG,
			"%zu of %zu archives were left out; the sum is that of the others",
			merge->nr_left_out,
			merge->nr_left_out + merge->nr_merged);
	if (merge->nr_lost)
		return op_diag_set(
			diag, -EBADMSG,
			"%zu file%s besides samples left out; samples may lack names that stand there",
			merge->nr_lost, op_plural(merge->nr_lost));
	return 0;
}

static int merge_archives(struct opmerge_options *o, struct op_diag *diag)
{
	struct pp_progress progress;
	struct pp_merge *merge;
	int err;

	pp_progress_start(&progress);
	pp_catch_signals();
	o->request.progress = show_merging;
	o->request.data = &progress;
	err = pp_merge_new(&merge, &o->request, diag);
	pp_progress_end(&progress);
	if (merge)
		pp_print_messages(stderr, "opmerge", &merge->messages,
				  o->verbose);
	if (!err)
		err = check_whole(merge, diag);
	pp_merge_free(merge);
	return err;
}

int main(int argc, char **argv)
{
	static struct opmerge_options options;
	struct op_diag diag = { 0 };
	poptContext context;
	int status = 0;

	op_arena_init(&options.arena);
	context = opmerge_parse(&options.args, argc, (const char **)argv);
	/* Freed memory is soon needed again. */
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	if (opmerge_take_options(&options, poptGetArgs(context), &diag))
		status = EXIT_USAGE;
	else if (merge_archives(&options, &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opmerge: %s\n", op_diag_text(&diag, -ENOMEM));
	op_arena_release(&options.arena);
	poptFreeContext(context);
	pp_end_by_signal();
	return status;
}
