// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Archives hold more than sessions: binaries, debug files, symbols of kernels,
 * sources, descriptions of events. The sum has one copy of each.
 *
 * Two builds of a program have one path, so in the sum a binary is where a
 * session keeps copies of those that are gone, named by its build-id and
 * fingerprint, and a debug file is in the folder of build-ids. Both are places
 * where reports look.
 *
 * The list of an archive tells the hash of each file. Where a file of that name
 * and hash was taken before, the new one is not even opened: so thousands of
 * archives of the same software cost as many look-ups. Where two files that
 * differ have one place, as a binary and its digest, the larger one stays, of
 * two equally large ones the one with the lesser hash: which came first does
 * not matter.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/image/op_build_id.h"
#include "libop/files/op_file.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_open.h"
#include "libpp/merge/merge_work.h"
#include "libpp/symbols/unpack.h"

#define EVENTS PP_ARCHIVE_EVENTS "/"
#define DEBUG_DIR "usr/lib/debug/"

/* A file of the sum. */
struct merge_file {
	const char *name; /* in the sum */
	uint64_t size;
	uint8_t hash[PP_SHA256_LEN];
};

struct merge_files {
	struct merge_file *list; /* op_array.h */
	size_t nr;
	struct op_hash index; /* of list, by name */
	/* what was taken: hashes of name and content */
	struct merge_taken {
		uint8_t name[16], content[16];
	} * taken;
	size_t nr_taken;
	struct op_hash taken_index;
};

/* A file of an archive that is being taken. */
struct taking {
	struct merge_work *work;
	const struct pp_archive *archive;
	const struct pp_sum *sum;
	const char *path;
	char copy[PATH_MAX]; /* in the scratch folder */
	int fd; /* the copy; -1: none */
	uint64_t size; /* of the copy, bytes */
	struct stat st; /* of the archive's file */
	struct op_diag *why;
};

int merge_files_new(struct merge_work *work)
{
	work->files = calloc(1, sizeof(*work->files));
	return work->files ? 0 : -ENOMEM;
}

void merge_files_free(struct merge_files *files)
{
	if (!files)
		return;
	free(files->list);
	free(files->taken);
	op_hash_release(&files->index);
	op_hash_release(&files->taken_index);
	free(files);
}

/* ---- what was taken ------------------------------------------------------ */

static struct merge_taken taken_of(const struct pp_sum *sum)
{
	struct merge_taken taken;
	uint8_t hash[PP_SHA256_LEN];
	struct sha256_ctx sha;

	sha256_init(&sha);
	sha256_update(&sha, strlen(sum->name), (const uint8_t *)sum->name);
	sha256_digest(&sha, sizeof(hash), hash);
	memcpy(taken.name, hash, sizeof(taken.name));
	memcpy(taken.content, sum->hash, sizeof(taken.content));
	return taken;
}

static uint64_t hash_taken(const struct merge_files *files,
			   const struct merge_taken *taken)
{
	return op_hash_bytes(files->taken_index.seed, taken, sizeof(*taken));
}

static bool was_taken(const struct merge_files *files,
		      const struct merge_taken *taken)
{
	uint32_t number;

	op_hash_each(&files->taken_index, hash_taken(files, taken), number)
		if (!memcmp(&files->taken[number - 1], taken, sizeof(*taken)))
			return true;
	return false;
}

static int note_taken(struct merge_files *files,
		      const struct merge_taken *taken)
{
	if (op_array_reserve(&files->taken, files->nr_taken, 1) ||
	    op_hash_reserve(&files->taken_index, files->nr_taken + 1))
		return -ENOMEM;
	files->taken[files->nr_taken++] = *taken;
	op_hash_add(&files->taken_index, hash_taken(files, taken),
		    (uint32_t)files->nr_taken);
	return 0;
}

/* ---- one file ------------------------------------------------------------ */

/* The archive is without that file, by @err; its samples count. */
static int lose_file(struct taking *t, int err)
{
	t->work->merge->nr_lost++;
	pp_message(
		&t->work->merge->messages, PP_WARNING,
		"%s: %s; the sum is without it unless another archive has it",
		t->path, pp_archive_refusal(err) ?: strerror(-err));
	return 0;
}

static int cannot_copy(struct taking *t, int err)
{
	return op_diag_set(t->why, err,
			   "%s: cannot be written: %s; nothing is kept",
			   t->work->request->folder, strerror(-err));
}

/* Copy and hash. What is wrong with the source is in *@why. */
static int copy_and_hash_file(struct taking *t, int from,
			      uint8_t hash[PP_SHA256_LEN], int *why)
{
	struct sha256_ctx sha;
	uint8_t buf[65536];
	uint64_t at = 0;
	ssize_t got;
	int err = 0;

	*why = 0;
	sha256_init(&sha);
	while (!err && (got = op_file_read_next(from, buf, sizeof(buf)))) {
		if (got < 0) {
			*why = (int)got;
			break;
		}
		sha256_update(&sha, (size_t)got, buf);
		err = op_file_write_at(t->fd, buf, (size_t)got, at);
		at += (uint64_t)got;
	}
	sha256_digest(&sha, PP_SHA256_LEN, hash);
	t->size = at;
	return err;
}

/* Like the file, but its owner may want to remove it one day. */
static int finish_copy(struct taking *t)
{
	const struct timespec times[2] = { t->st.st_atim, t->st.st_mtim };

	if (fchmod(t->fd, (t->st.st_mode & 0777) | S_IWUSR) ||
	    futimens(t->fd, times))
		return -errno;
	return 0;
}

/* Let it be in the scratch folder, open. *@is_lost: it is not to be had. */
static int copy_taken_file(struct taking *t, bool *is_lost)
{
	uint8_t hash[PP_SHA256_LEN];
	int from = pp_archive_open_file(t->archive, t->sum->name);
	int err, why = 0;

	*is_lost = true;
	if (from < 0)
		return lose_file(t, from);
	if (fstat(from, &t->st)) {
		err = -errno;
		close(from);
		return lose_file(t, err);
	}
	t->fd = open(t->copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = t->fd < 0 ? -errno
			: copy_and_hash_file(t, from, hash, &why)
				  ?: finish_copy(t);
	close(from);
	if (err)
		return cannot_copy(t, err);
	if (why || memcmp(hash, t->sum->hash, sizeof(hash)) != 0)
		return lose_file(t, why ?: -EILSEQ);
	*is_lost = false;
	return 0;
}

/* Which of two files for one place stays. */
static bool is_better(const struct taking *t, const struct merge_file *file)
{
	if (t->size != file->size)
		return t->size > file->size;
	return memcmp(t->sum->hash, file->hash, sizeof(file->hash)) < 0;
}

static struct merge_file *find_placed_file(const struct merge_files *files,
					   const char *name)
{
	uint64_t hash = op_hash_text(files->index.seed, name);
	uint32_t number;

	op_hash_each(&files->index, hash, number)
		if (!strcmp(files->list[number - 1].name, name))
			return &files->list[number - 1];
	return NULL;
}

static int add_file(struct taking *t, const char *name,
		    struct merge_file **file)
{
	struct merge_files *files = t->work->files;

	if (op_array_reserve(&files->list, files->nr, 1) ||
	    op_hash_reserve(&files->index, files->nr + 1))
		return -ENOMEM;
	*file = &files->list[files->nr];
	**file = (struct merge_file){ .name = op_arena_strdup(
					      &t->work->merge->arena, name) };
	if (!(*file)->name)
		return -ENOMEM;
	op_hash_add(&files->index, op_hash_text(files->index.seed, name),
		    (uint32_t)++files->nr);
	return 0;
}

static int link_copy(const struct taking *t, const char *path)
{
	int err = link(t->copy, path) ? -errno : 0;

	if (err != -ENOENT)
		return err;
	return op_make_parents(path, 0755)
		       ?: (link(t->copy, path) ? -errno : 0);
}

/* Let the sum have it as @name. */
static int place_file(struct taking *t, const char *name)
{
	struct merge_file *file = find_placed_file(t->work->files, name);
	char path[PATH_MAX];
	int err;

	if (file && !is_better(t, file))
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", t->work->folder.path, name) >=
	    (int)sizeof(path))
		return lose_file(t, -ENAMETOOLONG);
	if (file)
		unlink(path);
	err = link_copy(t, path);
	/* One archive has a file where another one has a folder. */
	if (err == -EEXIST || err == -ENOTDIR)
		return lose_file(t, err);
	if (!err && !file)
		err = add_file(t, name, &file);
	if (err)
		return cannot_copy(t, err);
	file->size = t->size;
	memcpy(file->hash, t->sum->hash, sizeof(file->hash));
	return 0;
}

/* ---- places -------------------------------------------------------------- */

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static const char *last_part_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static bool is_module_file(const char *name)
{
	const char *base = last_part_of(name);
	size_t len = pp_unpacked_name_len(base);

	return len > 3 && !memcmp(base + len - 3, ".ko", 3);
}

static bool is_kernel_file(const char *name)
{
	const char *base = last_part_of(name);

	return !strcmp(base, "vmlinux") || begins(base, "vmlinux-");
}

/* A module is looked for by its name in image paths, and there may be many of
 * one name. */
static int place_module(struct taking *t)
{
	char name[PATH_MAX], hex[OP_BUILD_TEXT_MAX];

	op_build_id_text(t->sum->hash, 8, hex);
	snprintf(name, sizeof(name), MERGE_MODULES "/%s/%s", hex,
		 last_part_of(t->sum->name));
	return place_file(t, name);
}

static int place_debug_file(struct taking *t, const struct op_build_id *id)
{
	char name[PATH_MAX], hex[OP_BUILD_TEXT_MAX];

	op_build_id_text(id->bytes, id->len, hex);
	snprintf(name, sizeof(name), MERGE_DEBUG "/%.2s/%s.debug", hex,
		 hex + 2);
	return place_file(t, name);
}

/* Where a session keeps copies; by the time of modification without @id. */
static int place_binary(struct taking *t, const struct op_build_id *id)
{
	static const struct op_session session = { .images = MERGE_SESSION
						   "/images" };
	char name[PATH_MAX];
	int err =
		op_session_image(&session, t->sum->name, id,
				 (uint64_t)t->st.st_mtime, name, sizeof(name));

	return err ? lose_file(t, err) : place_file(t, name);
}

static int place_by_content(struct taking *t)
{
	const char *name = t->sum->name;
	struct op_build_id id = { 0 };
	int err = op_build_id_of_elf(&id, t->fd);

	if (err == -EBADMSG)
		return place_file(t, name); /* a source, a script */
	if (err && err != -ENOENT)
		return cannot_copy(t, err);
	if (is_module_file(name))
		return place_module(t);
	if (id.len < 2)
		return place_binary(t, &id) ?: place_file(t, name);
	if (begins(name, DEBUG_DIR) || strstr(name, "/.debug/") ||
	    is_kernel_file(name))
		return place_debug_file(t, &id);
	return place_binary(t, &id);
}

/* Place the file @rest of the session folder, not of its samples/. Logs and
 * maps of processes belong to one machine and are left out. */
static int place_file_of_session(struct taking *t, const char *rest)
{
	char name[PATH_MAX];

	if (!begins(rest, "symbols/") && !begins(rest, "store/") &&
	    !begins(rest, "images/"))
		return 0;
	if (snprintf(name, sizeof(name), MERGE_SESSION "/%s", rest) >=
	    (int)sizeof(name))
		return lose_file(t, -ENAMETOOLONG);
	return place_file(t, name);
}

/* The path of the current file below the session folder of its archive; NULL if
 * it is elsewhere. */
static const char *rest_of_session(const struct taking *t)
{
	const char *home = pp_archive_name(t->archive, t->archive->session.dir);
	size_t len = home ? strlen(home) : 0;

	if (!len || strncmp(t->sum->name, home, len) ||
	    t->sum->name[len] != '/')
		return NULL;
	return t->sum->name + len + 1;
}

static bool is_perf_map(const char *rest)
{
	return begins(rest, "images/perf-") && strstr(rest, ".map");
}

/* Whether the sum has such files. */
static bool is_file_wanted(const struct taking *t)
{
	const char *rest = rest_of_session(t);

	if (rest)
		return !begins(rest, "samples/") && !is_perf_map(rest);
	return !begins(t->sum->name, PP_ARCHIVE_FOLDER "/") ||
	       begins(t->sum->name, EVENTS) ||
	       begins(t->sum->name, MERGE_MODULES "/");
}

static int place_taken_file(struct taking *t)
{
	const char *rest = rest_of_session(t);

	if (rest)
		return place_file_of_session(t, rest);
	if (begins(t->sum->name, EVENTS) ||
	    begins(t->sum->name, MERGE_MODULES "/") ||
	    begins(t->sum->name, MERGE_DEBUG "/"))
		return place_file(t, t->sum->name);
	if (is_module_file(t->sum->name))
		return place_module(t);
	return place_by_content(t);
}

static int take_new_file(struct taking *t)
{
	bool is_lost;
	int err = copy_taken_file(t, &is_lost);

	if (!err && !is_lost)
		err = place_taken_file(t);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	/* What has a place now must not be written to. */
	if (unlink(t->copy) && errno != ENOENT && !err)
		err = cannot_copy(t, -errno);
	return err;
}

/* With the lock: copying is rare. */
static int take_unless_known(struct taking *t)
{
	struct merge_files *files = t->work->files;
	struct merge_taken taken = taken_of(t->sum);
	size_t nr_lost = t->work->merge->nr_lost;
	int err = 0;

	if (was_taken(files, &taken))
		return 0;
	t->path = op_arena_printf(&t->work->merge->arena, "%s/%s",
				  t->archive->root, t->sum->name);
	err = t->path ? take_new_file(t) : -ENOMEM;
	/* Another archive may have it whole. */
	if (!err && nr_lost == t->work->merge->nr_lost)
		err = note_taken(files, &taken);
	return err;
}

static int take_files(struct taking *t)
{
	const struct pp_archive *archive = t->archive;
	int err = 0;

	for (size_t i = 0; i < archive->sums.nr && !err; i++) {
		t->sum = &archive->sums.list[i];
		if (is_file_wanted(t))
			err = take_unless_known(t);
	}
	return err;
}

int merge_take(struct merge_work *work, size_t i, unsigned int thread)
{
	struct merge_archive *of = &work->archives[i];
	struct pp_archive *archive;
	struct op_diag why = { 0 };
	struct taking t = { .work = work, .fd = -1, .why = &why };
	struct op_arena arena;
	int err, failed = 0;

	(void)thread;
	if (of->is_left_out)
		return 0;
	snprintf(t.copy, sizeof(t.copy), "%s/file", work->scratch);
	op_arena_init(&arena);
	err = merge_open(work, of->path, &arena, &archive, &why);
	if (!err) {
		pthread_mutex_lock(&work->lock);
		t.archive = archive;
		work->merge->nr_merged++;
		work->merged += archive->merged ?: 1;
		failed = take_files(&t);
		pthread_mutex_unlock(&work->lock);
	}
	op_arena_release(&arena);
	if (failed || err == -ENOMEM)
		return merge_fail(work, failed ?: err, &why);
	/* It was sound when its samples were added up. */
	if (err)
		merge_leave_out(work, of, err, &why);
	return 0;
}

int merge_files_finish(struct merge_work *work, bool *has_modules)
{
	struct merge_files *files = work->files;
	int err = 0;

	*has_modules = false;
	for (size_t i = 0; i < files->nr && !err; i++) {
		err = pp_archive_folder_add(&work->folder, files->list[i].name,
					    files->list[i].hash);
		*has_modules |= begins(files->list[i].name, MERGE_MODULES "/");
	}
	return err;
}
