// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report has a call tree or symbols, and its details keep builds apart, so a
 * page is made of three reports about the same profile. Threads are added up in
 * the code: its counts are of each address, and a session may have thousands of
 * threads. Of a comparison the code is that of the later profile.
 *
 * Messages about images are those of the first report again, and are not
 * printed twice; the first one has printed them.
 */

#include "pp/opreport/opreport_page.h"

#include <errno.h>

#include "libpp/tree/tree.h"
#include "pp/opreport/opreport_code.h"

static int make_report_quietly(const struct opreport_options *o,
			       struct pp_request *request,
			       struct pp_report **out, struct op_diag *diag)
{
	struct op_session session;
	int err = op_session_init(&session, o->args.common.session_dir, diag);

	if (err)
		return err;
	request->select.session = &session;
	err = pp_report_new(out, request, diag);
	request->select.session = NULL;
	return err;
}

/* The first report may have read what this one could not. Without all of the
 * session, -ENOENT may not be true. */
static int make_whole_report(const struct opreport_options *o,
			     struct pp_request *request, struct pp_report **out,
			     struct op_diag *diag)
{
	int err = make_report_quietly(o, request, out, diag);

	if (!*out || (err && err != -ENOENT) || !(*out)->messages.nr_faults)
		return err;
	pp_print_messages(stderr, "opreport", &(*out)->messages, o->verbose);
	return pp_check_complete(&(*out)->messages, diag);
}

/* How many classes the symbols would have; 0 where the report itself will say
 * why there is none. */
static size_t count_classes(const struct opreport_options *o)
{
	struct pp_request request = o->request;
	struct pp_report *report = NULL;
	struct op_diag why = { 0 };
	size_t nr = 0;

	request.symbols.wanted = false;
	request.totals.wanted = false;
	request.compare.spec = NULL;
	if (!make_report_quietly(o, &request, &report, &why))
		nr = report->classes.nr;
	pp_report_free(report);
	return nr;
}

/* Each class is a column of counts for each symbol, most of which are 0. */
void opreport_page_limit(struct opreport_options *o)
{
	static const struct {
		unsigned int merge;
		const char *what, *tags;
	} steps[] = {
		{ PP_MERGE_CPU, "CPUs", "cpu:" },
		{ PP_MERGE_TID, "threads", "tid: or tgid:" },
		{ PP_MERGE_TGID | PP_MERGE_TID, "processes", "tgid:" },
		{ PP_MERGE_CGROUP, "cgroups", "cgroup:" },
	};
	size_t nr = count_classes(o), left;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) &&
			   nr > OPREPORT_PAGE_MAX_CLASSES;
	     i++) {
		o->request.select.merge |= steps[i].merge;
		left = count_classes(o);
		if (left < nr)
			fprintf(stderr,
				"opreport: warning: %zu columns of samples are too many for a page, so %s are added up; choose some with %s\n",
				nr, steps[i].what, steps[i].tags);
		nr = left;
	}
}

static int make_stacks(struct opreport_page *page,
		       const struct opreport_options *o, struct op_diag *diag)
{
	struct pp_request request = o->request;
	struct op_diag why = { 0 };
	int err;

	request.tree.wanted = true;
	request.symbols.wanted = false;
	request.totals.wanted = false;
	request.intervals = false;
	err = make_whole_report(o, &request, &page->stacks, &why);
	if (err == -ENOENT) {
		pp_report_free(page->stacks);
		page->stacks = NULL;
		err = 0;
	}
	return err ? op_diag_set(diag, err, "%s", why.text) : 0;
}

static int make_code(struct opreport_page *page,
		     const struct opreport_options *o, struct op_diag *diag)
{
	const struct opannotate_options places = {
		.spec = o->spec,
		.request.lines.source_dirs = o->request.lines.source_dirs,
	};
	struct pp_request request = o->request;
	size_t nr_known;
	int err;

	request.compare.spec = NULL;
	request.symbols.details = true;
	request.select.one_build = true;
	request.totals.stack_calls = false;
	request.totals.wanted = true;
	request.lines.wanted = true;
	request.lines.totals = true;
	request.intervals = false;
	request.threshold = 0;
	request.select.merge |=
		PP_MERGE_CPU | PP_MERGE_TGID | PP_MERGE_TID | PP_MERGE_CGROUP;
	err = make_whole_report(o, &request, &page->details, diag);
	if (err)
		return err;
	nr_known = page->details->messages.nr;
	err = opreport_find_code(&page->code, page->details, &places);
	/* What is left is about sources, and new. */
	page->details->messages.list += nr_known;
	page->details->messages.nr -= nr_known;
	if (!err)
		pp_print_messages(stderr, "opreport", &page->details->messages,
				  o->verbose);
	return err;
}

int opreport_page_init(struct opreport_page *page, struct opreport_options *o,
		       struct op_diag *diag)
{
	int err;

	*page = (struct opreport_page){ 0 };
	err = make_stacks(page, o, diag) ?: make_code(page, o, diag);
	o->format_options.stacks = page->stacks;
	o->format_options.code = &page->code;
	return err;
}

int opreport_page_cut_stacks(struct opreport_page *page,
			     struct opreport_options *o, double part,
			     struct op_diag *diag)
{
	double max = part * page->stacks->tree->nr_nodes;
	int err;

	pp_report_free(page->stacks);
	page->stacks = NULL;
	o->request.tree.max_nodes = max < 1 ? 1 : (uint32_t)max;
	err = make_stacks(page, o, diag);
	o->format_options.stacks = page->stacks;
	return err;
}

void opreport_page_release(struct opreport_page *page)
{
	pp_report_free(page->stacks);
	pp_report_free(page->details);
}
