// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opgprof writes a profile of one binary as a file for gprof. gprof knows one
 * program and one event, so the report must be about one of each; which one is
 * asked for is found out first in the applications alone, since a user who
 * names none most often means the one program that was profiled, not the
 * libraries it used.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/session/op_session.h"
#include "libpp/format/gmon.h"
#include "pp/opgprof/opgprof_options.h"
#include "pp/options.h"

#define DEFAULT_OUTPUT "gmon.out"

/* ---- one binary and one event -------------------------------------------- */

static int check_single_event(const struct pp_report *report,
			      struct op_diag *diag)
{
	const struct pp_classes *classes = &report->classes;

	if (classes->nr == 1)
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"samples of several events (%s, %s%s), and gprof shows one; choose with event: and count: or unit-mask:",
		classes->classes[0].name, classes->classes[1].name,
		classes->nr > 2 ? " and others" : "");
}

/* The image of all symbols. Another build than the binary's is an image of its
 * own, which mostly has no binary. */
static int find_profiled_image(const struct pp_report *report,
			       const struct pp_image **image,
			       struct op_diag *diag)
{
	*image = NULL;
	if (!report->symbols.nr)
		return op_diag_set(
			diag, -ENOENT,
			"no symbol of %s has so large a share; give a lower --threshold",
			report->summary.apps[0].name);
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_image *other = report->symbols.list[i].image;

		if (other == *image || !other->binary ||
		    strcmp(other->path, report->summary.apps[0].name) != 0)
			continue;
		if (*image)
			return op_diag_set(
				diag, -EINVAL,
				"samples of several builds (%s, %s), and gprof shows one; choose with build-id:",
				(*image)->name, other->name);
		*image = other;
	}
	if (*image)
		return 0;
	return op_diag_set(
		diag, -ENOENT,
		"%s: gprof needs the binary that was profiled; give its folder with --image-path or --root",
		report->summary.apps[0].name);
}

/*
 * Make the report about one binary: about the samples in applications
 * themselves, or if that is not one, about those in libraries, too. *@out is
 * set even on failure, and the caller's to free.
 */
static int find_binary(struct opgprof_options *o, struct pp_report **out,
		       struct op_diag *diag)
{
	const struct pp_summary_app *apps;
	struct op_diag first = { 0 };
	int err;

	o->request.select.exclude_dependent = true;
	err = pp_report_new(out, &o->request, &first);
	if (!err && (*out)->summary.nr_apps == 1)
		return check_single_event(*out, diag);
	/* Nobody knows what the binary itself has. */
	if (err && err != -ENOENT)
		return op_diag_set(diag, err, "%s", op_diag_text(&first, err));
	if (*out && (*out)->messages.nr_faults)
		return pp_check_complete(&(*out)->messages, diag);
	pp_report_free(*out);
	o->request.select.exclude_dependent = false;
	err = pp_report_new(out, &o->request, diag);
	if (err || (*out)->summary.nr_apps == 1)
		return err ?: check_single_event(*out, diag);
	if (!(*out)->summary.nr_apps)
		return op_diag_set(
			diag, -ENOENT,
			"there are no samples in the binary itself; choose another one");
	apps = (*out)->summary.apps;
	return op_diag_set(
		diag, -EINVAL,
		"samples in several binaries (%s, %s%s), and gprof shows one; name exactly one of them",
		apps[0].name, apps[1].name,
		(*out)->summary.nr_apps > 2 ? " and others" : "");
}

/* ---- the file ------------------------------------------------------------ */

static int write_gmon_file(const struct opgprof_options *o,
			   const struct pp_report *report,
			   const struct pp_image *image, struct op_diag *diag)
{
	const char *path = o->args.output ? o->args.output : DEFAULT_OUTPUT;
	struct pp_gmon_result result = { 0 };
	struct stat st;
	FILE *out = fopen(path, "we");
	bool failed;
	int err;

	if (!out)
		return op_diag_set(diag, -errno, "%s: cannot be written: %s",
				   path, strerror(errno));
	err = pp_gmon_write(out, report, image, &result, diag);
	errno = 0;
	failed = fflush(out) || ferror(out);
	failed |= fclose(out) != 0;
	if (!err && failed)
		err = op_diag_set(diag, -EIO, "%s: cannot be written: %s", path,
				  strerror(errno ? errno : EIO));
	/* An incomplete file is of no use. */
	if (err && !lstat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
	if (!err && result.divisor > 1)
		fprintf(stderr,
			"opgprof: warning: samples are divided by %llu, because gprof cannot count so many\n",
			(unsigned long long)result.divisor);
	return err;
}

static int write_gmon_of_session(struct opgprof_options *o,
				 struct op_diag *diag)
{
	static struct op_session session;
	const struct pp_image *image = NULL;
	struct pp_report *report = NULL;
	int err = op_session_init(&session, o->args.common.session_dir, diag);

	if (err)
		return err;
	o->request.select.session = &session;
	err = find_binary(o, &report, diag);
	if (!err)
		err = find_profiled_image(report, &image, diag);
	if (report)
		pp_print_messages(stderr, "opgprof", &report->messages,
				  o->verbose);
	if (!err)
		err = write_gmon_file(o, report, image, diag)
			      ?: pp_check_complete(&report->messages, diag);
	pp_report_free(report);
	return err;
}

int main(int argc, char **argv)
{
	static struct opgprof_options options;
	struct op_diag diag = { 0 };
	poptContext context;
	int status = 0;

	context = opgprof_parse(&options.args, argc, (const char **)argv);
	if (opgprof_take_options(&options, &diag))
		status = EXIT_USAGE;
	else if (opgprof_take_words(&options, poptGetArgs(context), &diag) ||
		 write_gmon_of_session(&options, &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opgprof: %s\n", op_diag_text(&diag, -ENOMEM));
	opgprof_release_options(&options);
	poptFreeContext(context);
	return status;
}
