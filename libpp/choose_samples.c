// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the sample files that a profile specification asks for, and finds
 * words for what it asks for in vain.
 */

#include "libpp/sample_list.h"

#include <errno.h>
#include <string.h>

#include "libop/op_near_names.h"

#define NEAR_NAMES 5

static struct pp_spec_subject subject_of(const struct pp_sample_file *file)
{
	return (struct pp_spec_subject){
		.app = file->app,
		.image = file->image_name,
		.name = &file->name,
	};
}

static bool matches_some(const struct pp_sample_list *list,
			 enum pp_spec_tag tag, const struct pp_spec_item *item)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		struct pp_spec_subject subject = subject_of(&list->files[i]);

		if (pp_spec_item_matches(tag, item, &subject))
			return true;
	}
	return false;
}

static const char *number_text(struct op_arena *arena, uint64_t number)
{
	return op_arena_printf(arena, "%llu", (unsigned long long)number);
}

static const char *id_text(struct op_arena *arena, int64_t id)
{
	return id == OP_MANGLE_ALL ? "all" : number_text(arena, (uint64_t)id);
}

/* What @file has where @tag asks for something. */
static const char *value_text(struct op_arena *arena, enum pp_spec_tag tag,
			      const struct pp_sample_file *file)
{
	switch (tag) {
	case PP_SPEC_IMAGE:
		return file->app;
	case PP_SPEC_EVENT:
		return file->name.event;
	case PP_SPEC_COUNT:
		return number_text(arena, file->name.count);
	case PP_SPEC_UNIT_MASK:
		return number_text(arena, file->name.unit_mask);
	case PP_SPEC_TGID:
		return id_text(arena, file->name.tgid);
	case PP_SPEC_TID:
		return id_text(arena, file->name.tid);
	case PP_SPEC_CPU:
		return id_text(arena, file->name.cpu);
	default:
		return file->image_name;
	}
}

static const char *near_values(struct pp_sample_list *list,
			       enum pp_spec_tag tag, const char *wanted)
{
	const char **names, *near = NULL;
	size_t i, nr = 0;

	names = op_arena_alloc(list->arena, list->nr, sizeof(*names));
	for (i = 0; names && i < list->nr; i++) {
		names[nr] = value_text(list->arena, tag, &list->files[i]);
		nr += names[nr] != NULL;
	}
	if (names)
		near = op_near_names(list->arena, wanted, names, nr,
				     NEAR_NAMES);
	return near ? near : "unknown";
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
	near = op_arena_printf(arena, "; '%s:' is no tag, tags: %s", wanted,
			       near ? near : "?");
	return near ? near : "";
}

/* What to say of an item that no file matches. */
static const char *vain_text(struct pp_sample_list *list, enum pp_spec_tag tag,
			     const struct pp_spec_item *item)
{
	static const char *const plural[] = {
		[PP_SPEC_PATH] = "images",
		[PP_SPEC_IMAGE] = "applications",
		[PP_SPEC_LIB_IMAGE] = "images",
		[PP_SPEC_EVENT] = "events",
		[PP_SPEC_COUNT] = "counts",
		[PP_SPEC_UNIT_MASK] = "unit masks",
		[PP_SPEC_TGID] = "tgids",
		[PP_SPEC_TID] = "tids",
		[PP_SPEC_CPU] = "CPUs",
	};
	bool tagged = tag != PP_SPEC_PATH;
	const char *text;

	text = op_arena_printf(list->arena,
			       "%s%s%s: no sample files match; %s here: %s%s",
			       tagged ? pp_spec_tag_name(tag) : "",
			       tagged ? ":" : "", item->text, plural[tag],
			       near_values(list, tag, item->text),
			       tagged ? "" : tag_hint(list->arena, item->text));
	return text ? text : item->text;
}

/* Call @say for what is asked for in vain, until it returns not 0. */
static int each_vain_item(struct pp_sample_list *list,
			  const struct pp_spec *spec,
			  int (*say)(void *data, const char *text), void *data)
{
	int tag, ret = 0;
	size_t i;

	for (tag = PP_SPEC_PATH; tag <= PP_SPEC_CPU; tag++) {
		const struct pp_spec_list *items = &spec->lists[tag];

		/* To exclude what is not there is no mistake. */
		if (tag == PP_SPEC_IMAGE_EXCLUDE)
			continue;
		for (i = 0; i < items->nr && !ret; i++)
			if (!matches_some(list, tag, &items->items[i]))
				ret = say(data, vain_text(list, tag,
							  &items->items[i]));
	}
	return ret;
}

static int say_error(void *data, const char *text)
{
	return op_diag_set(data, -ENOENT, "%s", text);
}

static int say_warning(void *data, const char *text)
{
	pp_message(data, PP_WARNING, "%s", text);
	return 0;
}

static int nothing_matches(struct pp_sample_list *list,
			   const struct pp_spec *spec, struct op_diag *diag)
{
	int ret = each_vain_item(list, spec, say_error, diag);

	if (ret)
		return ret;
	return op_diag_set(
		diag, -ENOENT,
		"no sample files match all that is asked for together; leave a word out");
}

int pp_sample_list_choose(struct pp_sample_list *list,
			  const struct pp_spec *spec,
			  struct pp_messages *messages, struct op_diag *diag)
{
	struct pp_sample_file *kept;
	size_t i, nr = 0;

	kept = op_arena_alloc(list->arena, list->nr, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	for (i = 0; i < list->nr; i++) {
		struct pp_spec_subject subject = subject_of(&list->files[i]);

		if (pp_spec_matches(spec, &subject))
			kept[nr++] = list->files[i];
	}
	if (!nr)
		return nothing_matches(list, spec, diag);
	each_vain_item(list, spec, say_warning, messages);
	list->found = list->files;
	list->nr_found = list->nr;
	list->files = kept;
	list->nr = nr;
	return 0;
}
