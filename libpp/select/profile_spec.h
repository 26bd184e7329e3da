/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_PROFILE_SPEC_H
#define LIBPP_SELECT_PROFILE_SPEC_H

/*
 * The profile specification: the words of a command line that say which
 * sample files a report is about, or which two sets of them it compares.
 *
 *	spec   := { word }
 *		| { word } "{" word { word } "}" "{" { word } "}" { word }
 *	word   := TAG ":" item { "," item } | path
 *
 * In a comparison the first braces are of the old profile, the second of the
 * later one; words outside of them belong to both.
 *
 * "\," and "\\" stand for themselves in an item; the item "all" lifts the
 * restriction of its tag. Items of one tag are alternatives, different tags
 * must all agree. Text before a colon that is no tag belongs to a path.
 *
 * "time:" chooses spans of a session's history (libpp/select/time_range.h).
 * "host:" and "label:" choose sessions by their labels
 * (libop/session/op_labels.h). An item of "host:" is a shell pattern, one of
 * "label:" is KEY=PATTERN. Items of "label:" with one key are alternatives,
 * different keys must all agree.
 *
 * "build-id:" matches the first digits of a build-id. "cgroup:" is a shell
 * pattern for the path of a cgroup, its last part, or what people call it
 * (libop/kernel/op_cgroup.h); "unknown" is one that nobody could tell. A path
 * matches the application or the dependent image. It is a shell pattern whose
 * '*' also matches '/'; one that exists is made canonical, and a link is also
 * the application that was run by it. A path without any slash that does not
 * exist here also matches the last component of an image's name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_labels.h"
#include "libop/session/op_mangle.h"
#include "libop/base/op_arena.h"
#include "libpp/select/time_range.h"

enum pp_spec_tag {
	PP_SPEC_PATH, /* a word without tag */
	PP_SPEC_IMAGE, /* application image */
	PP_SPEC_LIB_IMAGE, /* dependent image */
	PP_SPEC_IMAGE_EXCLUDE, /* neither of both */
	PP_SPEC_EVENT,
	PP_SPEC_BUILD_ID, /* of the image that the samples are in */
	PP_SPEC_COUNT,
	PP_SPEC_UNIT_MASK,
	PP_SPEC_TGID,
	PP_SPEC_TID,
	PP_SPEC_CPU,
	PP_SPEC_CGROUP,
	PP_SPEC_TIME, /* not of a file, like the rest: where to look for files
		       */
	PP_SPEC_HOST, /* of a session: its label "host" */
	PP_SPEC_LABEL, /* any label of it */
	PP_SPEC_SESSION,
	PP_SPEC_SESSION_EXCLUDE,
	PP_SPEC_ARCHIVE,
	PP_NR_SPEC_TAGS
};

struct pp_spec_item {
	const char *text; /* as given, for messages */
	const char *pattern; /* of a path: made absolute where that applies */
	const char *link; /* of a path that is a link, without links in its
			     folder; NULL: it is none */
	const char *key; /* of a label; the pattern is for its value */
	bool base; /* the pattern also matches the last component */
	uint64_t number; /* of a numeric tag */
	struct pp_time_range range; /* of time: */
};

struct pp_spec_list {
	struct pp_spec_item *items;
	size_t nr; /* 0: no restriction */
	const char *word; /* the word that gave the items */
};

struct pp_spec {
	struct op_arena arena;
	struct pp_spec_list lists[PP_NR_SPEC_TAGS];
};

/*
 * Parse @words (ended by NULL; NULL for none). Returns 0, or -EINVAL with the
 * reason in @diag; -ENOMEM. The specification is to be released either way.
 */
int pp_spec_init(struct pp_spec *spec, const char *const *words,
		 struct op_diag *diag);
void pp_spec_release(struct pp_spec *spec);

/* The one or two specifications of a command line. */
struct pp_spec_pair {
	struct pp_spec spec; /* the later one of two */
	struct pp_spec old;
	bool is_diff;
};

/* Parse @words with braces. Returns as pp_spec_init(); to be released either
 * way. */
int pp_spec_pair_init(struct pp_spec_pair *pair, const char *const *words,
		      struct op_diag *diag);
void pp_spec_pair_release(struct pp_spec_pair *pair);

/* The name of @tag, such as "lib-image"; "path" for PP_SPEC_PATH. */
const char *pp_spec_tag_name(enum pp_spec_tag tag);

/* A sample file as a specification sees it. */
struct pp_spec_subject {
	const char *app; /* name of the application image */
	const char *image; /* name of the image that the samples are in */
	const char *build; /* of that image, op_build_text(); NULL not known */
	const char *callee_build; /* of a call graph's callees, likewise */
	const struct op_mangle *name;
};

/* Whether @item of @tag (no session tag) alone covers @subject. */
bool pp_spec_item_matches(enum pp_spec_tag tag, const struct pp_spec_item *item,
			  const struct pp_spec_subject *subject);

/* Whether @subject is asked for. Session tags are not looked at. */
bool pp_spec_matches(const struct pp_spec *spec,
		     const struct pp_spec_subject *subject);

/* Whether "host:" and "label:" ask for a session with @labels; any if they are
 * not given. */
bool pp_spec_matches_labels(const struct pp_spec *spec,
			    const struct op_labels *labels);

/*
 * Split @text at commas into strings of @arena; "\," and "\\" stand for
 * themselves, empty parts are kept. *@out gets the array. Returns the number
 * of parts (at least 1) or -ENOMEM.
 */
int pp_split_commas(struct op_arena *arena, const char *text,
		    const char ***out);

#endif /* LIBPP_SELECT_PROFILE_SPEC_H */
