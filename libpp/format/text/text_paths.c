// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths are sorted from their ends. Those that end with the same components
 * are then beside each other, so a path has to show one component more than it
 * shares with either neighbour.
 */

#include "libpp/format/text/text_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"

/* Compare @a and @b from their last bytes on. Sets *@shared to the bytes of the
 * whole components, with the slashes before them, that both end with. */
static int compare_ends(const char *a, const char *b, size_t *shared)
{
	size_t a_len = strlen(a), b_len = strlen(b), i = 0;

	*shared = 0;
	while (i < a_len && i < b_len && a[a_len - 1 - i] == b[b_len - 1 - i])
		if (a[a_len - 1 - i++] == '/')
			*shared = i;
	if (i == a_len || i == b_len)
		return op_compare(a_len, b_len);
	return (unsigned char)a[a_len - 1 - i] -
	       (unsigned char)b[b_len - 1 - i];
}

static int compare_paths_by_ends(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	size_t shared;

	return compare_ends(*x, *y, &shared);
}

/* The end of @path that has one component more than @shared bytes have. */
static const char *end_beyond(const char *path, size_t shared)
{
	const char *at = path + strlen(path) - shared;

	if (at == path)
		return path;
	while (at > path && at[-1] != '/')
		at--;
	return at;
}

int pp_short_paths_init(struct pp_short_paths *shorts, struct op_arena *arena,
			const char **paths, size_t nr)
{
	struct pp_short_path *list =
		op_arena_alloc(arena, nr + 1, sizeof(*list));
	size_t before = 0, after;

	*shorts = (struct pp_short_paths){ .list = list };
	if (!list)
		return -ENOMEM;
	if (nr)
		qsort(paths, nr, sizeof(*paths), compare_paths_by_ends);
	for (size_t i = 0; i < nr; i++, before = after) {
		size_t shared;

		after = 0;
		if (i + 1 < nr)
			compare_ends(paths[i], paths[i + 1], &after);
		shared = before > after ? before : after;
		if (shared && *paths[i] == '/')
			list[shorts->nr++] = (struct pp_short_path){
				paths[i], end_beyond(paths[i], shared)
			};
	}
	return 0;
}

const char *pp_short_path(const struct pp_short_paths *shorts, const char *path)
{
	const struct pp_short_path *list = shorts->list;
	size_t unused;
	size_t at = OP_BISECT(i, shorts->nr,
			      compare_ends(list[i].path, path, &unused) < 0);

	return at < shorts->nr && !strcmp(list[at].path, path)
		       ? list[at].shown
		       : pp_base_name(path);
}
