// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All names of a folder are read before the first of them is visited. So one
 * folder is open at a time, however deep the tree is, and what @visit adds to
 * or takes from the folder does not disturb the list. One buffer has the path
 * of the entry under way; it grows with the depth, and only offsets into it are
 * kept.
 */

#include "libop/files/op_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

/* A walk under way. */
struct walk {
	int (*visit)(const struct op_walk_entry *entry, void *ctx);
	void *ctx;
	char *path; /* of the entry under way, with a zero byte */
	size_t len; /* of all that, an op_array */
	size_t root; /* bytes of the path of the walk */
	unsigned int depth;
};

/* The names of a folder, each with a zero byte, and where they begin. */
struct listing {
	char *bytes;
	size_t nr_bytes;
	size_t *begins;
	size_t nr;
};

static int add_to_path(struct walk *w, const char *name)
{
	size_t len = strlen(name);

	if (op_array_reserve(&w->path, w->len, len + 1))
		return -ENOMEM;
	w->path[w->len - 1] = '/';
	memcpy(w->path + w->len, name, len + 1);
	w->len += len + 1;
	return 0;
}

/* Back to the @len bytes that it was. */
static void cut_path(struct walk *w, size_t len)
{
	w->len = len;
	w->path[len - 1] = '\0';
}

static int visit_path(const struct walk *w, enum op_walk_kind kind,
		      const struct stat *st, int err)
{
	const char *slash = strrchr(w->path, '/');
	const struct op_walk_entry entry = {
		.kind = kind,
		.path = w->path,
		.name = slash && slash[1] ? slash + 1 : w->path,
		.below = w->path + w->root + (w->path[w->root] == '/'),
		.depth = w->depth,
		.st = st,
		.err = err,
	};

	return w->visit(&entry, w->ctx);
}

/* ---- folders ---------------------------------------------------------------
 */

static int add_name(struct listing *list, const char *name)
{
	size_t len = strlen(name) + 1;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (op_array_reserve(&list->bytes, list->nr_bytes, len) ||
	    op_array_reserve(&list->begins, list->nr, 1))
		return -ENOMEM;
	memcpy(list->bytes + list->nr_bytes, name, len);
	list->begins[list->nr++] = list->nr_bytes;
	list->nr_bytes += len;
	return 0;
}

static void listing_release(struct listing *list)
{
	free(list->bytes);
	free(list->begins);
}

static int compare_listed_names(const void *a, const void *b, void *bytes)
{
	const size_t *x = a, *y = b;

	return strcmp((char *)bytes + *x, (char *)bytes + *y);
}

/* Returns 0; -ENOMEM; or what keeps it from being read to the end, with the
 * names until there. */
static int list_names(struct listing *list, const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!folder)
		return -errno;
	while (!err) {
		errno = 0;
		entry = readdir(folder);
		if (!entry) {
			err = -errno;
			break;
		}
		err = add_name(list, entry->d_name);
	}
	closedir(folder);
	if (list->nr)
		qsort_r(list->begins, list->nr, sizeof(*list->begins),
			compare_listed_names, list->bytes);
	return err;
}

/* ---- the walk --------------------------------------------------------------
 */

static int walk_entry(struct walk *w);

static int walk_names(struct walk *w, const struct listing *list)
{
	size_t len = w->len;
	int err = 0;

	w->depth++;
	for (size_t i = 0; i < list->nr && !err; i++) {
		err = add_to_path(w, list->bytes + list->begins[i]);
		if (!err)
			err = walk_entry(w);
		cut_path(w, len);
	}
	w->depth--;
	return err;
}

static int walk_folder(struct walk *w, const struct stat *st)
{
	struct listing list = { 0 };
	int err = visit_path(w, OP_WALK_FOLDER, st, 0);

	if (err)
		return err == OP_WALK_SKIP ? 0 : err;
	err = list_names(&list, w->path);
	if (err == -ENOENT && w->depth)
		err = 0;
	else if (err && err != -ENOMEM)
		err = visit_path(w, OP_WALK_UNREAD, NULL, err);
	if (!err || err == OP_WALK_SKIP)
		err = walk_names(w, &list);
	listing_release(&list);
	return err ? err : visit_path(w, OP_WALK_LEFT, st, 0);
}

static int walk_entry(struct walk *w)
{
	struct stat st;
	int err;

	if (fstatat(AT_FDCWD, w->path, &st,
		    w->depth ? AT_SYMLINK_NOFOLLOW : 0)) {
		if (errno == ENOENT && w->depth)
			return 0;
		err = visit_path(w, OP_WALK_UNREAD, NULL, -errno);
	} else if (S_ISDIR(st.st_mode)) {
		return walk_folder(w, &st);
	} else {
		err = visit_path(
			w, S_ISREG(st.st_mode) ? OP_WALK_FILE : OP_WALK_OTHER,
			&st, 0);
	}
	return err == OP_WALK_SKIP ? 0 : err;
}

int op_walk(const char *path,
	    int (*visit)(const struct op_walk_entry *entry, void *ctx),
	    void *ctx)
{
	struct walk w = { .visit = visit, .ctx = ctx };
	size_t len = strlen(path);
	int err;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (op_array_reserve(&w.path, 0, len + 1))
		return -ENOMEM;
	memcpy(w.path, path, len);
	w.path[len] = '\0';
	w.len = len + 1;
	w.root = len;
	err = walk_entry(&w);
	free(w.path);
	return err;
}
