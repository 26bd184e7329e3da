// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the sample files that a profile specification asks for. An item of the
 * specification that matches no file is most often a mistyped name, so it is
 * said even when other items match, with the names here that are most like it:
 * an error if nothing is left, else a warning.
 */

#include "libpp/select/sample_list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_near_names.h"

#define NEAR_NAMES 5

static struct pp_spec_subject subject_of(const struct pp_sample_file *file)
{
	return (struct pp_spec_subject){
		.app = file->app,
		.image = file->image_name,
		.build = file->name.dep.build,
		.callee_build = file->name.cg.build,
		.name = &file->name,
	};
}

static bool matches_some(const struct pp_sample_list *list,
			 enum pp_spec_tag tag, const struct pp_spec_item *item)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct pp_spec_subject subject = subject_of(&list->files[i]);

		if (pp_spec_item_matches(tag, item, &subject))
			return true;
	}
	return false;
}

/* The value that @file has where @tag asks for something. */
static const char *value_text(struct op_arena *arena, enum pp_spec_tag tag,
			      const struct pp_sample_file *file)
{
	const struct op_mangle *name = &file->name;
	int64_t id = tag == PP_SPEC_TGID  ? name->tgid
		     : tag == PP_SPEC_TID ? name->tid
					  : name->cpu;
	uint64_t number = tag == PP_SPEC_COUNT	     ? name->count
			  : tag == PP_SPEC_UNIT_MASK ? name->unit_mask
						     : (uint64_t)id;

	switch (tag) {
	case PP_SPEC_IMAGE:
		return file->app;
	case PP_SPEC_EVENT:
		return name->event;
	case PP_SPEC_BUILD_ID:
		return name->dep.build ?: "unknown";
	case PP_SPEC_CGROUP:
		if (!name->cgroup)
			return "all";
		return *name->cgroup ? name->cgroup : "unknown";
	case PP_SPEC_TGID:
	case PP_SPEC_TID:
	case PP_SPEC_CPU:
		if (id == OP_MANGLE_ALL)
			return "all";
		/* fall through */
	case PP_SPEC_COUNT:
	case PP_SPEC_UNIT_MASK:
		return op_arena_printf(arena, "%llu",
				       (unsigned long long)number);
	default:
		return file->image_name;
	}
}

static const char *near_values(struct pp_sample_list *list,
			       enum pp_spec_tag tag, const char *wanted)
{
	const char *near = NULL, **names = op_arena_alloc(list->arena, list->nr,
							  sizeof(*names));
	size_t nr = 0;

	for (size_t i = 0; names && i < list->nr; i++) {
		names[nr] = value_text(list->arena, tag, &list->files[i]);
		nr += names[nr] != NULL;
	}
	if (names)
		near = op_near_names(list->arena, wanted, names, nr,
				     NEAR_NAMES);
	return near ? near : "unknown";
}

/* A path that is meant as a session, or as its folder: how to say that. */
static const char *session_hint(struct pp_sample_list *list, const char *text)
{
	struct op_arena *arena = list->arena;
	const char *near = list->sessions.nr ? list->sessions.list[0].path : "";
	const char *slash = strrchr(near, '/');
	const char *session, *folder;

	session = op_arena_printf(arena, "%.*s/%s",
				  slash ? (int)(slash - near) : 0, near, text);
	folder = op_arena_printf(arena, "%s/samples", text);
	if (session && slash && *text && !strchr(text, '/') &&
	    !access(session, F_OK))
		return op_arena_printf(
			arena, "; it is a session: write session:%s", text);
	if (folder && *text && !access(folder, F_OK))
		return op_arena_printf(
			arena,
			"; it is a session folder: write --session-dir=%s",
			text);
	return NULL;
}

/* A path that looks like TAG=VALUE. */
static const char *colon_hint(struct op_arena *arena, const char *text)
{
	size_t len = strcspn(text, "=");

	for (int tag = PP_SPEC_PATH + 1; tag < PP_NR_SPEC_TAGS; tag++) {
		const char *name = pp_spec_tag_name(tag);

		if (text[len] && strlen(name) == len &&
		    !strncmp(text, name, len))
			return op_arena_printf(arena, "; write %s:%s", name,
					       text + len + 1);
	}
	return NULL;
}

/* A path that looks like a mistyped tag: which tags are like it. */
static const char *tag_hint(struct op_arena *arena, const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz-");
	const char *names[PP_NR_SPEC_TAGS], *near;
	char *wanted;
	int tag;

	if (!len || text[len] != ':')
		return "";
	wanted = op_arena_strdup(arena, text);
	if (!wanted)
		return "";
	wanted[len] = '\0';
	for (tag = PP_SPEC_PATH + 1; tag < PP_NR_SPEC_TAGS; tag++)
		names[tag - 1] = pp_spec_tag_name(tag);
	near = op_near_names(arena, wanted, names, PP_NR_SPEC_TAGS - 1,
			     NEAR_NAMES);
	near = op_arena_printf(arena, "; '%s:' is not a tag; the tags are %s",
			       wanted, near ? near : "?");
	return near ? near : "";
}

/* A path that looks like a function's name. */
static const char *function_hint(struct op_arena *arena, const char *text)
{
	size_t len = strcspn(text, "/.:=*?[ ");

	if (text[len] && strncmp(text + len, "::", 2) != 0)
		return NULL;
	return op_arena_printf(
		arena,
		"; a function is chosen by opreport and opannotate with --include-symbols=%s",
		text);
}

/* A hint on what a path that no file matches may have been meant for; "" for
 * none. */
static const char *path_hint(struct pp_sample_list *list, const char *text)
{
	return session_hint(list, text)
		       ?: colon_hint(list->arena, text)
		       ?: function_hint(list->arena, text)
		       ?: tag_hint(list->arena, text);
}

/*
 * An image that is no application may be a library: whether it is an
 * application of its own depends on how the session separated samples;
 * lib-image: chooses it either way.
 */
static const char *library_hint(struct pp_sample_list *list,
				const struct pp_spec_item *item)
{
	if (!matches_some(list, PP_SPEC_LIB_IMAGE, item))
		return "";
	return op_arena_printf(
		       list->arena,
		       "; it is a library of theirs: write lib-image:%s",
		       item->text)
		       ?: "";
}

/* A hint on what an item that no file matches may have been meant for; "" for
 * none. */
static const char *item_hint(struct pp_sample_list *list, enum pp_spec_tag tag,
			     const struct pp_spec_item *item)
{
	return tag == PP_SPEC_PATH    ? path_hint(list, item->text)
	       : tag == PP_SPEC_IMAGE ? library_hint(list, item)
				      : "";
}

/* The error text for an item that no file matches. */
static const char *vain_text(struct pp_sample_list *list, enum pp_spec_tag tag,
			     const struct pp_spec_item *item)
{
	static const char *const plural[] = {
		[PP_SPEC_PATH] = "images",
		[PP_SPEC_IMAGE] = "applications",
		[PP_SPEC_LIB_IMAGE] = "images",
		[PP_SPEC_EVENT] = "events",
		[PP_SPEC_BUILD_ID] = "build-ids",
		[PP_SPEC_COUNT] = "counts",
		[PP_SPEC_UNIT_MASK] = "unit masks",
		[PP_SPEC_TGID] = "tgids",
		[PP_SPEC_TID] = "tids",
		[PP_SPEC_CPU] = "CPUs",
		[PP_SPEC_CGROUP] = "cgroups",
	};
	bool tagged = tag != PP_SPEC_PATH;
	const char *text;

	text = op_arena_printf(list->arena,
			       "%s%s%s: no sample files match; %s here: %s%s",
			       tagged ? pp_spec_tag_name(tag) : "",
			       tagged ? ":" : "", item->text, plural[tag],
			       near_values(list, tag, item->text),
			       item_hint(list, tag, item));
	return text ? text : item->text;
}

/*
 * Say what is asked for in vain: the first thing as an error in @diag, unless
 * that is NULL, or else all things as warnings. Returns the error, or 0.
 */
static int say_vain_items(struct pp_sample_list *list,
			  const struct pp_spec *spec,
			  struct pp_messages *messages, struct op_diag *diag)
{
	for (int tag = PP_SPEC_PATH; tag <= PP_SPEC_CGROUP; tag++) {
		const struct pp_spec_list *items = &spec->lists[tag];

		/* To exclude what is not there is no mistake. */
		for (size_t i = 0;
		     i < items->nr && tag != PP_SPEC_IMAGE_EXCLUDE; i++) {
			const struct pp_spec_item *item = &items->items[i];

			if (matches_some(list, tag, item))
				continue;
			if (diag)
				return op_diag_set(diag, -ENOENT, "%s",
						   vain_text(list, tag, item));
			pp_message(messages, PP_WARNING, "%s",
				   vain_text(list, tag, item));
		}
	}
	return 0;
}

int pp_sample_list_choose(struct pp_sample_list *list,
			  const struct pp_spec *spec,
			  struct pp_messages *messages, struct op_diag *diag)
{
	struct pp_sample_file *kept =
		op_arena_alloc(list->arena, list->nr, sizeof(*kept));
	size_t nr = 0;

	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		struct pp_spec_subject subject = subject_of(&list->files[i]);

		if (pp_spec_matches(spec, &subject))
			kept[nr++] = list->files[i];
	}
	if (!nr)
		return say_vain_items(list, spec, messages, diag)
			       ?: op_diag_set(
					  diag, -ENOENT,
					  "no sample file matches all of these words together; leave one out");
	say_vain_items(list, spec, messages, NULL);
	list->found = list->files;
	list->nr_found = list->nr;
	list->files = kept;
	list->nr = nr;
	return 0;
}
