// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Profile specifications. All that is particular to a tag stands in one row of
 * the table; the rest of the file does not know single tags, except for the
 * way in which paths, image: and lib-image: work together. Values of one tag
 * are alternatives, different tags must all agree.
 */

#include "libpp/select/profile_spec.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "libop/kernel/op_cgroup.h"
#include "libop/files/op_config.h"
#include "libpp/symbols/unpack.h"

enum value_kind {
	VALUE_TEXT,
	VALUE_GLOB,
	VALUE_NUMBER,
	VALUE_FOLDER,
	VALUE_TIME,
	VALUE_LABEL,
};

// clang-format off
static const struct tag {
	const char *name;
	enum value_kind kind;
} tags[PP_NR_SPEC_TAGS] = {
	[PP_SPEC_PATH]            = { "path",            VALUE_GLOB },
	[PP_SPEC_IMAGE]           = { "image",           VALUE_GLOB },
	[PP_SPEC_LIB_IMAGE]       = { "lib-image",       VALUE_GLOB },
	[PP_SPEC_IMAGE_EXCLUDE]   = { "image-exclude",   VALUE_GLOB },
	[PP_SPEC_EVENT]           = { "event",           VALUE_TEXT },
	[PP_SPEC_BUILD_ID]        = { "build-id",        VALUE_TEXT },
	[PP_SPEC_COUNT]           = { "count",           VALUE_NUMBER },
	[PP_SPEC_UNIT_MASK]       = { "unit-mask",       VALUE_NUMBER },
	[PP_SPEC_TGID]            = { "tgid",            VALUE_NUMBER },
	[PP_SPEC_TID]             = { "tid",             VALUE_NUMBER },
	[PP_SPEC_CPU]             = { "cpu",             VALUE_NUMBER },
	[PP_SPEC_CGROUP]          = { "cgroup",          VALUE_GLOB },
	[PP_SPEC_TIME]            = { "time",            VALUE_TIME },
	[PP_SPEC_HOST]            = { "host",            VALUE_GLOB },
	[PP_SPEC_LABEL]           = { "label",           VALUE_LABEL },
	[PP_SPEC_SESSION]         = { "session",         VALUE_TEXT },
	[PP_SPEC_SESSION_EXCLUDE] = { "session-exclude", VALUE_TEXT },
	[PP_SPEC_ARCHIVE]         = { "archive",         VALUE_FOLDER },
};
// clang-format on

const char *pp_spec_tag_name(enum pp_spec_tag tag)
{
	return tags[tag].name;
}

/* ---- parsing ------------------------------------------------------------- */

/* Copy one part of @text to @part, return what is behind it. */
static const char *next_part(const char *text, char *part)
{
	while (*text && *text != ',') {
		if (*text == '\\' && (text[1] == ',' || text[1] == '\\'))
			text++;
		*part++ = *text++;
	}
	*part = '\0';
	return text;
}

int pp_split_commas(struct op_arena *arena, const char *text, const char ***out)
{
	const char **parts = NULL, **grown;
	size_t nr = 0;

	for (;; text++) {
		char *part = op_arena_alloc(arena, strlen(text) + 1, 1);

		grown = op_arena_grow(arena, parts, nr, sizeof(*parts));
		if (!part || !grown || nr == INT_MAX)
			return -ENOMEM;
		parts = grown;
		text = next_part(text, part);
		parts[nr++] = part;
		if (!*text)
			break;
	}
	*out = parts;
	return (int)nr;
}

/* The tag that @word starts with; PP_SPEC_PATH if none. */
static enum pp_spec_tag word_tag(const char *word)
{
	const char *colon = strchr(word, ':');
	int tag;

	if (!colon)
		return PP_SPEC_PATH;
	for (tag = PP_SPEC_PATH + 1; tag < PP_NR_SPEC_TAGS; tag++) {
		size_t len = strlen(tags[tag].name);

		if (len == (size_t)(colon - word) &&
		    !strncmp(word, tags[tag].name, len))
			return tag;
	}
	return PP_SPEC_PATH;
}

/* The path of an item that is a link to @real, with a folder without links. */
static int link_item(struct op_arena *arena, struct pp_spec_item *item,
		     const char *real)
{
	const char *slash = strrchr(item->text, '/');
	size_t len = slash ? (size_t)(slash - item->text) : 0;
	char *folder,
		*copy = slash ? strndup(item->text, len + 1) : strdup(".");

	if (!copy)
		return -ENOMEM;
	folder = realpath(copy, NULL);
	free(copy);
	if (!folder)
		return 0; /* it has gone meanwhile */
	item->link = op_arena_printf(arena, "%s/%s",
				     strcmp(folder, "/") ? folder : "",
				     slash ? slash + 1 : item->text);
	free(folder);
	if (item->link && !strcmp(item->link, real))
		item->link = NULL;
	else if (!item->link)
		return -ENOMEM;
	return 0;
}

/*
 * A path that does not exist may still be the name of an image, or a pattern
 * for some: a relative one starts at the current folder unless it starts with
 * '*', which covers any beginning.
 */
static int path_item(struct op_arena *arena, struct pp_spec_item *item)
{
	char *real = realpath(item->text, NULL);
	char cwd[PATH_MAX];

	item->base = !real && !strchr(item->text, '/');
	if (real && link_item(arena, item, real)) {
		free(real);
		return -ENOMEM;
	}
	if (real)
		item->pattern = op_arena_strdup(arena, real);
	else if (item->base || *item->text == '/' || *item->text == '*' ||
		 !getcwd(cwd, sizeof(cwd)))
		item->pattern = item->text;
	else
		item->pattern = op_arena_printf(arena, "%s/%s", cwd,
						strncmp(item->text, "./", 2)
							? item->text
							: item->text + 2);
	free(real);
	return item->pattern ? 0 : -ENOMEM;
}

static int folder_item(struct op_arena *arena, struct pp_spec_item *item,
		       const char *word, struct op_diag *diag)
{
	char *real = realpath(item->text, NULL);

	if (!real)
		return op_diag_set(diag, -EINVAL,
				   "%s: %s; give a folder that exists", word,
				   strerror(errno));
	item->pattern = op_arena_strdup(arena, real);
	free(real);
	return item->pattern ? 0 : -ENOMEM;
}

/* "KEY=PATTERN" */
static int label_item(struct op_arena *arena, struct pp_spec_item *item,
		      const char *word, struct op_diag *diag)
{
	size_t len = strcspn(item->text, "=");
	char *key = op_arena_strdup(arena, item->text);

	if (!key)
		return -ENOMEM;
	key[len] = '\0';
	if (!item->text[len] || !item->text[len + 1] || !op_label_key_ok(key))
		return op_diag_set(diag, -EINVAL,
				   "%s: '%s' is no label; give KEY=VALUE", word,
				   item->text);
	item->key = key;
	item->pattern = item->text + len + 1;
	return 0;
}

static int add_spec_item(struct pp_spec *spec, enum pp_spec_tag tag,
			 const char *text, struct op_diag *diag)
{
	struct pp_spec_list *list = &spec->lists[tag];
	struct pp_spec_item *items, *item;

	if (!*text)
		return op_diag_set(diag, -EINVAL,
				   "%s: an item is empty; give TAG:ITEM,ITEM",
				   list->word);
	items = op_arena_grow(&spec->arena, list->items, list->nr,
			      sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	item = &items[list->nr++];
	*item = (struct pp_spec_item){ .text = text, .pattern = text };
	if (tag == PP_SPEC_PATH)
		return path_item(&spec->arena, item);
	if (tags[tag].kind == VALUE_GLOB)
		item->base = !strchr(text, '/');
	if (tags[tag].kind == VALUE_NUMBER)
		return !op_parse_u64(text, &item->number)
			       ? 0
			       : op_diag_set(
					 diag, -EINVAL,
					 "%s: '%s' is not a number; give whole numbers, separated by commas",
					 list->word, text);
	if (tags[tag].kind == VALUE_TIME)
		return pp_time_range_parse(&item->range, text, time(NULL),
					   diag);
	if (tags[tag].kind == VALUE_LABEL)
		return label_item(&spec->arena, item, list->word, diag);
	if (tags[tag].kind == VALUE_FOLDER)
		return folder_item(&spec->arena, item, list->word, diag);
	return 0;
}

/* A tag that is given again replaces what it said before; the value "all" lifts
 * the restriction. */
static int tag_word(struct pp_spec *spec, enum pp_spec_tag tag,
		    const char *word, struct op_diag *diag)
{
	struct pp_spec_list *list = &spec->lists[tag];
	const char **parts;
	int nr, ret = 0;

	if (list->word && !strcmp(list->word, word))
		return op_diag_set(diag, -EINVAL,
				   "%s: given twice; leave one out", word);
	*list = (struct pp_spec_list){ .word = word };
	nr = pp_split_commas(&spec->arena, strchr(word, ':') + 1, &parts);
	for (int i = 0; i < nr; i++)
		if (!strcmp(parts[i], "all"))
			return 0;
	for (int i = 0; i < nr && !ret; i++)
		ret = add_spec_item(spec, tag, parts[i], diag);
	return nr < 0 ? nr : ret;
}

static int add_spec_word(struct pp_spec *spec, const char *word,
			 struct op_diag *diag)
{
	enum pp_spec_tag tag = word_tag(word);
	const char *copy = op_arena_strdup(&spec->arena, word);

	if (!copy)
		return -ENOMEM;
	if (tag != PP_SPEC_PATH)
		return tag_word(spec, tag, copy, diag);
	if (!*copy)
		return op_diag_set(
			diag, -EINVAL,
			"an empty word does not name an image; leave it out");
	spec->lists[PP_SPEC_PATH].word = copy;
	return add_spec_item(spec, PP_SPEC_PATH, copy, diag);
}

int pp_spec_init(struct pp_spec *spec, const char *const *words,
		 struct op_diag *diag)
{
	int ret = 0;

	*spec = (struct pp_spec){ 0 };
	op_arena_init(&spec->arena);
	for (; words && *words && !ret; words++)
		ret = add_spec_word(spec, *words, diag);
	if (ret == -ENOMEM)
		op_diag_set(diag, ret, "out of memory");
	return ret;
}

void pp_spec_release(struct pp_spec *spec)
{
	op_arena_release(&spec->arena);
}

/* ---- matching ------------------------------------------------------------ */

/* A real name may hold characters that mean something in a pattern. */
static bool matches_name(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

/* The file of a kernel module goes by what the kernel calls it, too: snd_pcm is
 * snd-pcm.ko.xz. */
static bool matches_module(const char *pattern, const char *base)
{
	size_t len = pp_unpacked_name_len(base);
	char name[NAME_MAX + 1];

	if (len <= 3 || len > NAME_MAX || memcmp(base + len - 3, ".ko", 3))
		return false;
	len -= 3;
	for (size_t i = 0; i < len; i++)
		name[i] = base[i] == '-' || base[i] == ',' ? '_' : base[i];
	name[len] = '\0';
	return matches_name(pattern, name);
}

static bool glob_matches(const struct pp_spec_item *item, const char *name)
{
	const char *slash = strrchr(name, '/');

	return matches_name(item->pattern, name) ||
	       (item->base && slash &&
		(matches_name(item->pattern, slash + 1) ||
		 matches_module(item->pattern, slash + 1)));
}

/* "all" in a file's name matches no number. */
static bool id_matches(const struct pp_spec_item *item, int64_t id)
{
	return id != OP_MANGLE_ALL && item->number == (uint64_t)id;
}

static bool cgroup_matches(const struct pp_spec_item *item, const char *path)
{
	char name[OP_CGROUP_NAME_MAX];

	if (!path)
		return false;
	if (!*path)
		return matches_name(item->pattern, "unknown");
	op_cgroup_name(path, name, sizeof(name));
	return glob_matches(item, path) || matches_name(item->pattern, name);
}

static bool begins_build(const char *text, const char *build)
{
	return build && *text && !strncmp(text, build, strlen(text));
}

bool pp_spec_item_matches(enum pp_spec_tag tag, const struct pp_spec_item *item,
			  const struct pp_spec_subject *subject)
{
	switch (tag) {
	case PP_SPEC_PATH:
	case PP_SPEC_IMAGE_EXCLUDE:
		return glob_matches(item, subject->app) ||
		       glob_matches(item, subject->image) ||
		       (item->link && !strcmp(item->link, subject->app));
	case PP_SPEC_IMAGE:
		return glob_matches(item, subject->app);
	case PP_SPEC_LIB_IMAGE:
		return glob_matches(item, subject->image);
	case PP_SPEC_EVENT:
		return !strcasecmp(item->text, subject->name->event);
	case PP_SPEC_BUILD_ID:
		return begins_build(item->text, subject->build) ||
		       begins_build(item->text, subject->callee_build);
	case PP_SPEC_COUNT:
		return item->number == subject->name->count;
	case PP_SPEC_UNIT_MASK:
		return item->number == subject->name->unit_mask;
	case PP_SPEC_TGID:
		return id_matches(item, subject->name->tgid);
	case PP_SPEC_TID:
		return id_matches(item, subject->name->tid);
	case PP_SPEC_CPU:
		return id_matches(item, subject->name->cpu);
	case PP_SPEC_CGROUP:
		return cgroup_matches(item, subject->name->cgroup);
	default:
		return true;
	}
}

static bool any_matches(const struct pp_spec *spec, enum pp_spec_tag tag,
			const struct pp_spec_subject *subject)
{
	const struct pp_spec_list *list = &spec->lists[tag];

	for (size_t i = 0; i < list->nr; i++)
		if (pp_spec_item_matches(tag, &list->items[i], subject))
			return true;
	return false;
}

/* A tag that was not given allows everything. */
static bool tag_allows(const struct pp_spec *spec, enum pp_spec_tag tag,
		       const struct pp_spec_subject *subject)
{
	return !spec->lists[tag].nr || any_matches(spec, tag, subject);
}

/* A path that matches settles it; image: and lib-image: are asked else. */
static bool images_match(const struct pp_spec *spec,
			 const struct pp_spec_subject *subject)
{
	bool tagged = spec->lists[PP_SPEC_IMAGE].nr ||
		      spec->lists[PP_SPEC_LIB_IMAGE].nr;

	if (any_matches(spec, PP_SPEC_IMAGE_EXCLUDE, subject))
		return false;
	if (spec->lists[PP_SPEC_PATH].nr &&
	    (any_matches(spec, PP_SPEC_PATH, subject) || !tagged))
		return any_matches(spec, PP_SPEC_PATH, subject);
	return tag_allows(spec, PP_SPEC_IMAGE, subject) &&
	       tag_allows(spec, PP_SPEC_LIB_IMAGE, subject);
}

bool pp_spec_matches(const struct pp_spec *spec,
		     const struct pp_spec_subject *subject)
{
	int tag;

	if (!images_match(spec, subject))
		return false;
	for (tag = PP_SPEC_EVENT; tag <= PP_SPEC_CGROUP; tag++)
		if (!tag_allows(spec, tag, subject))
			return false;
	return true;
}

/* ---- labels -------------------------------------------------------------- */

/* Whether one of the items of "label:" with the key of @item matches. */
static bool label_matches(const struct pp_spec_list *list,
			  const struct pp_spec_item *item, const char *value)
{
	for (size_t i = 0; value && i < list->nr; i++)
		if (!strcmp(list->items[i].key, item->key) &&
		    matches_name(list->items[i].pattern, value))
			return true;
	return false;
}

bool pp_spec_matches_labels(const struct pp_spec *spec,
			    const struct op_labels *labels)
{
	const struct pp_spec_list *hosts = &spec->lists[PP_SPEC_HOST];
	const struct pp_spec_list *list = &spec->lists[PP_SPEC_LABEL];
	const char *host = op_labels_find(labels, OP_LABEL_HOST);
	bool is_host = !hosts->nr;

	for (size_t i = 0; host && i < hosts->nr && !is_host; i++)
		is_host = matches_name(hosts->items[i].pattern, host);
	for (size_t i = 0; i < list->nr; i++)
		if (!label_matches(list, &list->items[i],
				   op_labels_find(labels, list->items[i].key)))
			return false;
	return is_host;
}
