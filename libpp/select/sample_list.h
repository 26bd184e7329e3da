/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_SAMPLE_LIST_H
#define LIBPP_SELECT_SAMPLE_LIST_H

/*
 * The sample files of a profile: found in the session folders, chosen by the
 * profile specification, read once. A file that cannot be used is said in a
 * message and left out; the rest stands.
 *
 * All strings and counts belong to the list's arena.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_session.h"
#include "libpp/archive/archive.h"
#include "libop/base/op_arena.h"
#include "libpp/counts.h"
#include "libpp/messages.h"
#include "libpp/select/profile_spec.h"
#include "libpp/select/sessions.h"

struct pp_image; /* libpp/report/report.h */

struct pp_sample {
	uint64_t key; /* see enum op_image_kind; of a call graph the caller's
			 << 32 | the callee's */
	uint64_t count; /* never 0 */
};

/* A part of a sample file. The counts of a name are the sum of all its parts.
 */
struct pp_sample_part {
	struct db_member member; /* as the folder has it */
	const char *label; /* where it is, for messages */
	struct pp_sample_part *next;
	size_t nr; /* of its session: in which order they came */
};

struct pp_sample_file {
	const char *path; /* also if it is packed: as if it was not */
	const struct pp_session *session; /* that it was found in */
	struct pp_sample_part *parts; /* at least one */
	struct op_mangle name;
	const char *app; /* the application image as people know it */
	const char *app_file; /* the file of an application that is a link to
				 it; NULL: app itself */
	const char *image_name; /* the image of the samples, likewise; of a call
				   graph the callers' */
	const char *callee_name; /* of a call graph: the callees' image; NULL
				    for a file of samples */
	bool is_own; /* of the profiler's own processes, in one image */
	struct op_sample_header header;
	const char *build; /* op_build_text() of the image of the samples, empty
			      if not known; set by pp_report_new() */
	const char *callee_build; /* likewise; of a call graph */
	uint64_t total; /* sum of the counts, stays at UINT64_MAX */
	struct pp_sample *samples; /* in no order; NULL unless read */
	size_t nr_samples;
	uint32_t *callers, *callees; /* of a call graph, for each of @samples:
					numbers of symbols */
	unsigned int class_nr; /* set by pp_arrange() */
	struct pp_image *image; /* set by pp_report_new() */
	struct pp_image *callee; /* likewise; of a call graph */
	bool is_torn; /* the part that was read last */
};

struct pp_sample_list {
	struct op_arena *arena;
	const struct pp_archive *archive; /* that files are in; or NULL */
	bool call_graphs; /* find those, too */
	bool over_time; /* times are columns */
	const char
		*by_label; /* sessions are told apart by that; NULL: by name */
	struct pp_sample_file *files; /* flat ones and call graphs; by path */
	size_t nr;
	const struct pp_sample_file *found; /* all, before some were chosen */
	size_t nr_found;
	struct pp_sample_file *trees; /* call trees; image_name is the app */
	size_t nr_trees;
	struct pp_sessions sessions; /* that files were looked for in; to be
					closed when all of them are read */
};

/*
 * Fill @list with the files of the sessions that @spec names, without opening
 * them; its sessions are to be closed in any case. Returns 0, or -errno with
 * the reason in @diag: -ENOENT when a session is not there or holds no sample
 * files; -ENOMEM.
 */
int pp_sample_list_find(struct pp_sample_list *list,
			const struct op_session *session,
			const struct pp_spec *spec,
			struct pp_messages *messages, struct op_diag *diag);

/*
 * Keep only the files of @list that @spec asks for; a file that was never
 * opened will do. Items that match nothing are said in @messages. Returns 0;
 * -ENOENT with the reason, and names that may have been meant, in @diag when
 * nothing is left; -ENOMEM.
 */
int pp_sample_list_choose(struct pp_sample_list *list,
			  const struct pp_spec *spec,
			  struct pp_messages *messages, struct op_diag *diag);

/* Say that the file @label had lost pages: odb_is_torn(), ctree_is_torn(). */
void pp_message_of_torn(struct pp_messages *messages, const char *label);

/*
 * Read header and total of each file and, if @samples, all its counts. Parts
 * that are damaged, foreign or unreadable leave their file, and files without
 * any the list. Returns 0; -ENOENT with the reason in @diag when none remains;
 * -ENOMEM.
 */
int pp_sample_list_read(struct pp_sample_list *list, bool samples,
			struct pp_messages *messages, struct op_diag *diag);

/*
 * Open a part of @file, a table or a tree, which is the caller's to close; what
 * is in an archive is held against its hash first. Returns 0; -ENOMEM; or with
 * what is wrong, behind the part's label, in @why: -EBADMSG, or the -errno of a
 * fault (pp_is_fault()).
 */
int pp_sample_part_table(const struct pp_sample_list *list,
			 const struct pp_sample_file *file,
			 const struct pp_sample_part *part, struct odb **out,
			 struct op_diag *why);
int pp_sample_part_tree(const struct pp_sample_list *list,
			const struct pp_sample_file *file,
			const struct pp_sample_part *part, struct ctree **out,
			struct op_diag *why);

/* Why odb_open(), ctree_open() or pack_open() failed with @err, in words. */
const char *pp_why_not_opened(int err);

/*
 * Read the header alone of a file that was found, into *@header. Returns 0;
 * -ENOMEM; -EBADMSG when there is none.
 */
int pp_sample_file_header(const struct pp_sample_list *list,
			  const struct pp_sample_file *file,
			  struct op_sample_header *header);

/* Whether @file holds calls rather than samples. */
bool pp_is_call_graph(const struct pp_sample_file *file);

/* Whether both are samples, or calls, of the same event as it was counted. */
bool pp_is_of_event(const struct op_mangle *a, const struct op_mangle *b);

/* The name by which people know an image; NULL when memory is short. */
const char *pp_image_name(struct op_arena *arena,
			  const struct op_image_name *name);

/* The last component of an image's name; all of it for anonymous memory. */
const char *pp_base_name(const char *name);

#endif /* LIBPP_SELECT_SAMPLE_LIST_H */
