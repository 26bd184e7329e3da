/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_ARCHIVE_LIST_H
#define LIBPP_ARCHIVE_ARCHIVE_LIST_H

/*
 * The contents of a new archive (libpp/archive/archive.h): the sample files
 * that a specification asks for, and all files that reports on them would read.
 * The functions that find files for a report find these, so that nothing is
 * forgotten.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_labels.h"
#include "libop/session/op_session.h"
#include "libop/base/op_arena.h"
#include "libpp/messages.h"
#include "libpp/select/profile_spec.h"
#include "libpp/report/report.h"
#include "libpp/select/sessions.h"

struct pp_archive_pack; /* libpp/archive/archive_samples.h */

enum pp_archive_part {
	PP_ARCHIVE_IMAGE, /* a binary */
	PP_ARCHIVE_DEBUG, /* a separate debug file */
	PP_ARCHIVE_SAMPLES, /* also what is packed, of whatever kind */
	PP_ARCHIVE_TREES, /* call trees */
	PP_ARCHIVE_SESSION, /* what else is in a session: symbols, accounts */
	PP_ARCHIVE_SOURCE,
	PP_ARCHIVE_OWN, /* what is the archive's own: descriptions of events */
};

struct pp_archive_file {
	const char *from; /* where it is */
	const char *to; /* in the archive, relative to it */
	enum pp_archive_part part;
	uint64_t size; /* bytes, when it was found */
	const struct pp_archive_pack *pack; /* what to copy of it; NULL: all */
};

/* The labels of a session, which are written, not copied. */
struct pp_archive_labels {
	const char *to; /* in the archive, relative to it */
	struct op_labels labels; /* at least one */
};

struct pp_archive_request {
	const struct op_session *session;
	const struct pp_spec *spec;
	bool exclude_dependent;
	bool sources; /* those that samples were taken in, too */
	bool samples_only; /* nothing that names come from */
	const struct op_labels *labels; /* for each session, besides those that
					   it has */
	const char *root; /* see pp_locator_init() */
	const char *const *image_path;
	struct pp_debuginfod *debuginfod; /* as in pp_request */
};

struct pp_archive_list {
	struct pp_report report; /* its arena and messages are used */
	struct pp_sessions sessions; /* stay open, so that what is listed stays
					where it is */
	struct pp_archive_file *files; /* by part, then as they were found; no
					  two have one place */
	size_t nr;
	uint64_t size; /* of all, bytes */
	struct pp_archive_labels
		*labels; /* one for each session that has any */
	size_t nr_labels;
	const char *session; /* the session folder, as it is to be called */
	const char *const *image_path; /* likewise, ended by NULL; or NULL */
};

/*
 * Find what @request asks for. *@out is set even on failure, so that its
 * messages can be shown; it is the caller's to free. Returns 0 or -errno with
 * the reason in @diag: -ENOENT when no sample files match.
 */
int pp_archive_list_new(struct pp_archive_list **out,
			const struct pp_archive_request *request,
			struct op_diag *diag);
void pp_archive_list_free(struct pp_archive_list *list);

#endif /* LIBPP_ARCHIVE_ARCHIVE_LIST_H */
