// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images are found as for a report, at their paths or among the session's own
 * copies, and only those whose build-id is that of the samples are stored: the
 * build-id is the key, and a wrong file under it would name functions wrongly
 * for ever. A binary that nobody but its owner may read has a digest with the
 * same rights; it belongs to whoever stores it, who can read the binary.
 *
 * The store is a cache. Whatever goes wrong with one file costs its names after
 * the binary is gone, and is said; the others are stored all the same.
 *
 * Most digests are the same in all sessions: they come from the cache of
 * sessions (op_cache.h) as links. There the build-id is not enough, as a digest
 * outlives the session, and anybody may make a binary with any build-id: a name
 * in the cache has the file's size, times and rights, too, and the file is one
 * that only root or this user may write.
 */

#include "libpp/symbol_store.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libop/op_array.h"
#include "libop/op_build_id.h"
#include "libop/op_cache.h"
#include "libop/op_file.h"
#include "libop/op_folder.h"
#include "libop/op_open.h"
#include "libop/op_search.h"
#include "libop/op_session_readers.h"
#include "libop/op_walk.h"
#include "libpp/population.h"
#include "libpp/symbols/elf_digest.h"
#include "libpp/tree_input.h"

#define DEBUG_SUFFIX ".debug"
#define NEW_SUFFIX ".new"

struct storing {
	const struct pp_store_request *request;
	struct pp_messages *messages;
	struct pp_population *population;
	struct pp_side *side;
	struct timespec start; /* what is needed now has a later time */
	int cache; /* of sessions; negative: there is none */
};

/* ---- paths --------------------------------------------------------------- */

int pp_store_path(const struct op_session *session, const uint8_t *build_id,
		  size_t build_id_len, char *buf, size_t len)
{
	char hex[OP_BUILD_TEXT_MAX];
	int n;

	if (build_id_len < 2 || build_id_len > OP_BUILD_ID_MAX)
		return -ENOENT;
	op_build_id_text(build_id, build_id_len, hex);
	n = snprintf(buf, len, "%s/.build-id/%.2s/%s", session->store, hex,
		     hex + 2);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/* ---- one file ------------------------------------------------------------ */

static int write_digest_file(int from, const struct stat *st, const char *path)
{
	int to = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err;

	if (to < 0)
		return -errno;
	err = pp_elf_digest(from, to);
	if (!err && fchmod(to, st->st_mode & 0444))
		err = -errno;
	close(to);
	return err;
}

/* The name in the cache of the digest of a file with the status @st, which is
 * stored as @path. Returns 0 or -EPERM for a file that others may change. */
static int name_in_cache(char name[NAME_MAX + 1], const char *path,
			 const struct stat *st)
{
	const char *id = strstr(path, "/.build-id/");
	int len;

	if ((st->st_uid && st->st_uid != geteuid()) || st->st_mode & 022)
		return -EPERM;
	id += strlen("/.build-id/");
	len = snprintf(name, NAME_MAX + 1, "digest%d-%.2s%s-%jx-%jx.%lx-%o",
		       PP_ELF_DIGEST_VERSION, id, id + 3,
		       (uintmax_t)st->st_size, (uintmax_t)st->st_mtim.tv_sec,
		       st->st_mtim.tv_nsec, st->st_mode & 07777);
	return len > NAME_MAX ? -EPERM : 0;
}

/* The digest of @from, of which it makes no difference who made it. */
static int make_digest_file(const struct storing *s, int from,
			    const struct stat *st, const char *path,
			    const char *tmp)
{
	char name[NAME_MAX + 1];
	int no_name = name_in_cache(name, path, st), err;

	if (s->cache >= 0 && !no_name && !op_cache_get(s->cache, name, tmp))
		return utimensat(AT_FDCWD, tmp, NULL, 0) ? -errno : 0;
	err = write_digest_file(from, st, tmp);
	if (!err && s->cache >= 0 && !no_name)
		op_cache_put(s->cache, name, tmp, &op_cache_bounds);
	return err;
}

/* Returns -EFBIG for a digest that would push all others out. */
static int store_digest_file(const struct storing *s, int from,
			     const struct stat *st, const char *path)
{
	char tmp[PATH_MAX + sizeof(NEW_SUFFIX)];
	struct stat made;
	int err;

	snprintf(tmp, sizeof(tmp), "%s" NEW_SUFFIX, path);
	unlink(tmp);
	err = make_digest_file(s, from, st, path, tmp);
	if (!err && stat(tmp, &made))
		err = -errno;
	if (!err && (uint64_t)made.st_blocks * 512 > s->request->max / 2)
		err = -EFBIG;
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}

/* Store the digest of file @from as @path, or note there that it is needed. */
static int store_file(const struct storing *s, const char *from,
		      const char *path)
{
	struct stat st;
	int fd, err;

	if (!utimensat(AT_FDCWD, path, NULL, 0) || op_is_same_file(from, path))
		return 0;
	fd = op_open_regular(from);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else
		err = op_make_parents(path, 0755)
			      ?: store_digest_file(s, fd, &st, path);
	close(fd);
	if (!err)
		pp_message(s->messages, PP_REMARK_BFD, "%s: stored as %s", from,
			   path);
	return err;
}

/* ---- one image ----------------------------------------------------------- */

/*
 * The binary at @from and its debug file. A program is read and copied by its
 * path: a report compares the build-id of what is stored again.
 */
static int store_binary(const struct storing *s, const struct pp_image *image,
			const char *from, const char *path)
{
	char to[PATH_MAX + sizeof(DEBUG_SUFFIX)];
	const uint8_t *id;
	const char *debug;
	struct op_bfd *bfd;
	size_t len;
	int err = op_bfd_open(&bfd, from, &s->side->locator.debug);

	if (err)
		return err;
	id = op_bfd_build_id(bfd, &len);
	if (!id || len != image->build_id_len ||
	    memcmp(id, image->build_id, len))
		err = -ESTALE;
	err = err ?: op_session_make_folder(s->request->session->store);
	err = err ?: store_file(s, from, path);
	debug = err ? NULL : op_bfd_debug_path(bfd);
	snprintf(to, sizeof(to), "%s" DEBUG_SUFFIX, path);
	if (debug)
		err = store_file(s, debug, to);
	op_bfd_close(bfd);
	return err;
}

static bool is_unwanted(const struct storing *s, const struct pp_image *image)
{
	const char *const *pattern = s->request->without;

	for (; pattern && *pattern; pattern++)
		if (!fnmatch(*pattern, image->path, 0))
			return true;
	return image->recorded.space != OP_SPACE_ROOT || !image->build_id_len;
}

/* The file itself, or the session's copy of one that is gone; what is stored
 * already is needed even if both are gone. */
static int store_image(const struct storing *s, const struct pp_image *image)
{
	const struct op_session *session = s->request->session;
	char path[PATH_MAX + sizeof(DEBUG_SUFFIX)], copy[PATH_MAX];
	const char *from;
	int err = pp_store_path(session, image->build_id, image->build_id_len,
				path, PATH_MAX);

	if (err || is_unwanted(s, image))
		return 0;
	err = pp_locate(&s->side->locator, image->path, &from)
		      ?: store_binary(s, image, from, path);
	if (err == -ENOENT || err == -ESTALE)
		err = op_session_image(session, image->path, image->build_id,
				       image->build_id_len, image->mtime, copy,
				       sizeof(copy))
			      ?: store_binary(s, image, copy, path);
	if ((err == -ENOENT || err == -ESTALE) &&
	    !utimensat(AT_FDCWD, path, NULL, 0)) {
		strcat(path, DEBUG_SUFFIX);
		utimensat(AT_FDCWD, path, NULL, 0);
		err = 0;
	}
	if (err && err != -ENOMEM)
		pp_message(s->messages, PP_REMARK_BFD,
			   "%s: its symbols are not stored: %s", image->path,
			   strerror(-err));
	return err == -ENOMEM || err == -ENOSPC ? err : 0;
}

struct image_list {
	const struct pp_image **array;
	size_t nr;
};

static int add_image(struct image_list *images, const struct pp_image *image)
{
	if (images->nr && images->array[images->nr - 1] == image)
		return 0;
	if (op_array_reserve(&images->array, images->nr, 1))
		return -ENOMEM;
	images->array[images->nr++] = image;
	return 0;
}

/* Callers in stacks may have no samples of their own. */
static int add_images_of_trees(const struct storing *s,
			       struct image_list *images)
{
	struct pp_tree_inputs in;
	int err = pp_tree_inputs_read(&in, s->population, s->side);

	for (size_t i = 0; i < in.nr; i++) {
		uint32_t nr = ctree_nr_images(in.list[i].tree);

		for (uint32_t k = 0; k < nr && !err; k++)
			err = add_image(images, in.list[i].images[k].image);
	}
	pp_tree_inputs_release(&in);
	return err;
}

static int list_images(const struct storing *s, struct image_list *images)
{
	const struct pp_sample_list *list = &s->side->list;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++) {
		err = add_image(images, list->files[i].image);
		if (!err && list->files[i].callee)
			err = add_image(images, list->files[i].callee);
	}
	return err ? err : add_images_of_trees(s, images);
}

static int compare_images(const void *a, const void *b)
{
	const struct pp_image *x = *(const struct pp_image *const *)a;
	const struct pp_image *y = *(const struct pp_image *const *)b;

	return strcmp(x->path, y->path) ?:
	       op_compare(x->build_id_len, y->build_id_len) ?:
	       memcmp(x->build_id, y->build_id, x->build_id_len);
}

/* Each image once, however many calls lead to it: call trees have images of
 * their own. */
static int store_images(const struct storing *s)
{
	struct image_list images = { 0 };
	int err = list_images(s, &images);

	if (images.nr)
		qsort((void *)images.array, images.nr, sizeof(*images.array),
		      compare_images);
	for (size_t i = 0; i < images.nr && !err; i++)
		if (!i ||
		    compare_images(&images.array[i - 1], &images.array[i]))
			err = store_image(s, images.array[i]);
	free((void *)images.array);
	return err;
}

/* ---- inlined functions --------------------------------------------------- */

/* Make the report that people make first, and keep what it finds out about
 * inlined functions. */
static int store_inlines(const struct storing *s)
{
	const struct pp_request request = {
		.session = s->request->session,
		.spec = s->request->spec,
		.merge = PP_MERGE_ALL,
		.any_axes = true,
		.symbols = true,
		.totals = true,
		.inlines = true,
		.keep_inlines = true,
		.demangle = PP_DEMANGLE_NONE,
	};
	struct op_diag unsaid = { 0 };
	struct pp_report *report;
	int err = pp_report_new(&report, &request, &unsaid);

	pp_report_free(report);
	return err == -ENOMEM ? err : 0;
}

/* ---- the bound ----------------------------------------------------------- */

struct stored {
	char *path;
	uint64_t size; /* bytes on the disk */
	struct timespec time;
};

struct stored_list {
	struct stored *array;
	size_t nr;
	uint64_t total;
};

static int compare_times(struct timespec a, struct timespec b)
{
	return op_compare(a.tv_sec, b.tv_sec)
		       ?: op_compare(a.tv_nsec, b.tv_nsec);
}

static int compare_stored(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	return compare_times(x->time, y->time) ?: strcmp(x->path, y->path);
}

static int list_stored(const struct op_walk_entry *entry, void *data)
{
	struct stored_list *list = data;
	struct stored stored;

	if (entry->kind != OP_WALK_FILE)
		return 0;
	stored = (struct stored){
		.path = strdup(entry->path),
		.size = (uint64_t)entry->st->st_blocks * 512,
		.time = entry->st->st_mtim,
	};
	if (!stored.path || op_array_reserve(&list->array, list->nr, 1)) {
		free(stored.path);
		return -ENOMEM;
	}
	list->array[list->nr++] = stored;
	list->total += stored.size;
	return 0;
}

static int bound_store(const struct storing *s)
{
	struct stored_list list = { 0 };
	int err = op_walk(s->request->session->store, list_stored, &list);

	if (list.nr)
		qsort(list.array, list.nr, sizeof(*list.array), compare_stored);
	for (size_t i = 0; i < list.nr; i++) {
		struct stored *stored = &list.array[i];

		if (!err && list.total > s->request->max &&
		    compare_times(stored->time, s->start) < 0 &&
		    !unlink(stored->path)) {
			list.total -= stored->size;
			pp_message(s->messages, PP_REMARK_BFD,
				   "%s: removed, as the store is full",
				   stored->path);
		}
		free(stored->path);
	}
	free(list.array);
	return err;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_store_symbols(const struct pp_store_request *request,
		     struct pp_messages *messages, struct op_diag *diag)
{
	const struct pp_request report_request = {
		.session = request->session,
		.spec = request->spec,
		.merge = PP_MERGE_SESSION | PP_MERGE_CPU | PP_MERGE_TGID |
			 PP_MERGE_TID,
		.any_axes = true,
		.call_graph = true,
	};
	struct pp_report report = { 0 };
	struct pp_population population = { .report = &report,
					    .request = &report_request };
	struct storing s = { .request = request,
			     .messages = messages,
			     .population = &population,
			     .side = &population.side,
			     .cache = op_cache_open() };
	int err;

	op_arena_init(&report.arena);
	report.messages.arena = &report.arena;
	population.side.spec = request->spec;
	/* The clock that the times of files have. */
	clock_gettime(CLOCK_REALTIME_COARSE, &s.start);
	err = pp_side_find(&population, s.side, diag) ?: store_images(&s) ?:
	      store_inlines(&s) ?: bound_store(&s);
	pp_sessions_close(&s.side->list.sessions);
	op_arena_release(&report.arena);
	if (s.cache >= 0)
		close(s.cache);
	return err ? op_diag_set(diag, err, "%s: cannot be written: %s",
				 request->session->store, strerror(-err))
		   : 0;
}
