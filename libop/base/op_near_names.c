// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Similarity is the number of single-character edits between two names (the
 * Levenshtein distance); a name that contains the wanted one is nearest. People
 * say the last part of a name of C++, so that is compared, too.
 */

#include "libop/base/op_near_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"

struct near {
	const char *name;
	unsigned int distance;
};

static const char *base_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash && slash[1] ? slash + 1 : name;
}

/* Copy without wildcards. A longer name is compared by its beginning. */
static void plain_copy(char *to, const char *from)
{
	size_t len = 0;

	for (; *from && len < OP_EDIT_MAX; from++)
		if (!strchr("*?[]", *from))
			to[len++] = *from;
	to[len] = '\0';
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

unsigned int op_edit_distance(const char *a, const char *b, bool any_case)
{
	size_t b_len = strnlen(b, OP_EDIT_MAX), j;
	/* A row of the matrix: the changes that make b[0..j) of a's start. */
	unsigned int row[OP_EDIT_MAX + 1];

	for (j = 0; j <= b_len; j++)
		row[j] = (unsigned int)j;
	for (; *a; a++) {
		unsigned int diagonal = row[0]++;

		for (j = 0; j < b_len; j++) {
			unsigned char x = (unsigned char)*a;
			unsigned char y = (unsigned char)b[j];
			bool differ =
				any_case ? toupper(x) != toupper(y) : x != y;
			unsigned int above = row[j + 1];

			row[j + 1] =
				min3(above + 1, row[j] + 1, diagonal + differ);
			diagonal = above;
		}
	}
	return row[b_len];
}

/* Copy "find" of "a::b<c>::find(d)". Returns false for a name of one part. */
static bool copy_last_part(char *to, const char *name)
{
	size_t len = strcspn(name, "("), at = len;

	while (at > 1 && (name[at - 1] != ':' || name[at - 2] != ':'))
		at--;
	if (at < 2)
		return false;
	len = len - at < OP_EDIT_MAX ? len - at : OP_EDIT_MAX;
	memcpy(to, name + at, len);
	to[len] = '\0';
	return true;
}

static unsigned int distance(const char *wanted, const char *name)
{
	char a[OP_EDIT_MAX + 1], b[OP_EDIT_MAX + 1];
	unsigned int whole, part;

	plain_copy(a, base_of(wanted));
	if (*a && strstr(base_of(name), a))
		return 0;
	plain_copy(b, base_of(name));
	whole = op_edit_distance(a, b, false);
	if (!copy_last_part(b, name))
		return 1 + whole;
	part = op_edit_distance(a, b, false);
	return 1 + (part < whole ? part : whole);
}

static int by_distance(const void *pa, const void *pb)
{
	const struct near *a = pa, *b = pb;

	return op_compare(a->distance, b->distance) ?:
	       (a->distance ? 0 : op_compare(strlen(a->name), strlen(b->name))) ?:
	       strcmp(a->name, b->name);
}

static int compare_near_names(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

static size_t drop_repeated(const char **names, size_t nr)
{
	size_t i, kept = 0;

	if (nr)
		qsort(names, nr, sizeof(*names), compare_near_names);
	for (i = 0; i < nr; i++)
		if (!kept || strcmp(names[kept - 1], names[i]))
			names[kept++] = names[i];
	return kept;
}

static const char *join_near_names(struct op_arena *arena,
				   const struct near *list, size_t nr,
				   size_t max)
{
	const char *text = list[0].name;
	size_t i;

	for (i = 1; i < nr && i < max && text; i++)
		text = op_arena_printf(arena, "%s, %s", text, list[i].name);
	if (text && nr > max)
		text = op_arena_printf(arena, "%s and %zu more", text,
				       nr - max);
	return text;
}

const char *op_near_names(struct op_arena *arena, const char *wanted,
			  const char **names, size_t nr, size_t max)
{
	struct near *list;
	size_t i;

	nr = drop_repeated(names, nr);
	if (!nr)
		return "none";
	list = op_arena_alloc(arena, nr, sizeof(*list));
	if (!list)
		return NULL;
	for (i = 0; i < nr; i++)
		list[i] = (struct near){ names[i], distance(wanted, names[i]) };
	qsort(list, nr, sizeof(*list), by_distance);
	return join_near_names(arena, list, nr, max);
}
