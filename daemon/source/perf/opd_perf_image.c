// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An image is found by what the kernel said of the mapping: name, and build-id
 * or device, inode and generation. Images are never removed, because a cookie
 * must keep its meaning as long as the stream. So their number is bounded: the
 * images beyond share one cookie, which has no name.
 *
 * A file that is not held open since it was seen (opd_perf_files.h) is opened
 * by its path, by the path in the root of the process, or by the mapping
 * itself, in this order, or made of what is in memory. Each descriptor is
 * compared with what the kernel said (the build-id, else the inode) before
 * anything is taken from it: the path may lead to another file by now.
 *
 * A file that takes the place of one with the same build-id is another image: a
 * look at the path of the file finds that out. Two such files at one path in
 * two mount namespaces are one image.
 */

#include "daemon/source/perf/opd_perf_image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_memory_image.h"
#include "libcfi/unwinder.h"
#include "libop/base/op_array.h"
#include "libop/files/op_deleted.h"
#include "libop/files/op_open.h"

#define ANON "anon"
#define VDSO "[vdso]"

/* A mapping of an image: what its identity is, and what was found out. */
struct opd_perf_image {
	char *name; /* as the kernel writes it */
	struct op_build_id told; /* the kernel's build-id */
	uint64_t dev, ino, generation; /* the kernel's */
	struct op_build_id build_id; /* the kernel's or the file's, which has a
					fingerprint */
	uint64_t file_dev, file_ino, mtime; /* of the file, if it was found */
	uint32_t file_user;
	uint32_t pid; /* where it was first mapped */
	uint64_t start, end;
	bool is_made; /* by the profiler */
	bool is_memory; /* with the name of a file */
	bool gives_no_rights; /* its own file was looked at for that */
	bool is_at_path; /* that file was, when it was looked at; and who asks
			  * for it there again does not wait for anybody */
	uint32_t looked_for; /* the last process that it was looked for at its
				path; 0: none */
};

void opd_perf_images_init(struct opd_perf_images *images, const char *proc)
{
	memset(images, 0, sizeof(*images));
	images->proc = proc;
	op_shares_init(&images->number_shares, OPD_PERF_IMAGES_MAX);
	op_shares_init(&images->name_shares, OPD_PERF_IMAGE_NAMES_MAX);
	opd_perf_files_init(&images->files);
	opd_perf_folders_init(&images->folders);
}

static void image_free(struct opd_perf_image *image)
{
	free(image->name);
	free(image);
}

void opd_perf_images_release(struct opd_perf_images *images)
{
	for (size_t i = 0; i < images->nr; i++)
		image_free(images->images[i]);
	for (size_t i = 0; i < images->nr_anon; i++)
		free(images->anon[i]);
	opd_perf_files_release(&images->files);
	opd_perf_folders_close(&images->folders);
	free(images->images);
	op_hash_release(&images->index);
	op_shares_release(&images->number_shares);
	op_shares_release(&images->name_shares);
	memset(images, 0, sizeof(*images));
}

/* ---- finding ----------------------------------------------------------------
 */

static uint64_t hash_of(const struct opd_perf_images *images,
			const struct opd_perf_image_id *id)
{
	uint64_t hash = op_hash_text(images->index.seed, id->name);

	hash = op_hash_bytes(hash, id->build_id.bytes, id->build_id.len);
	hash = op_hash_mix(op_hash_mix(hash, id->dev), id->ino);
	return op_hash_mix(hash, id->generation);
}

static bool is_it(const struct opd_perf_image *image,
		  const struct opd_perf_image_id *id)
{
	return image->dev == id->dev && image->ino == id->ino &&
	       image->generation == id->generation &&
	       op_build_id_same(&image->told, &id->build_id) &&
	       !strcmp(image->name, id->name);
}

/* ---- the file ---------------------------------------------------------------
 */

/* Whether the file @fd is the one that was mapped; then *@st, *@id are its. */
static bool is_the_one(const struct opd_perf_images *images,
		       const struct opd_perf_image *image, int fd,
		       struct stat *st, struct op_build_id *id)
{
	if (opd_untrusted_build_id(images->files.untrusted, fd, id))
		id->len = 0;
	if (fstat(fd, st))
		return false;
	return image->told.len ? op_build_id_agrees(&image->build_id, id)
			       : st->st_ino == image->ino;
}

/* @fd, if it is the one that was mapped; else it is closed. */
static int check(const struct opd_perf_images *images,
		 const struct opd_perf_image *image, int fd)
{
	struct op_build_id id;
	struct stat st;

	if (fd < 0 || is_the_one(images, image, fd, &st, &id))
		return fd;
	close(fd);
	return -1;
}

static bool is_deleted(const char *name)
{
	size_t len = strlen(name);

	return op_deleted_at(name, len) < len;
}

/* Memory that has the name of a file, but is on no disk. */
static bool on_no_disk(const char *name)
{
	static const char *const starts[] = { "/memfd:", "/SYSV", "/dev/zero",
					      "/anon_hugepage" };

	if (name[0] != '/')
		return true;
	if (!is_deleted(name))
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Open the file that the folder of the path had by this name before the file
 * was deleted. */
static int open_program(const struct opd_perf_images *images,
			const struct opd_perf_image *image)
{
	const struct opd_perf_folders *folders = &images->folders;
	char path[OP_PATH_MAX];
	size_t len = op_deleted_at(image->name, strlen(image->name));
	size_t at = 0;
	int fd;

	if (len >= sizeof(path))
		return -1;
	memcpy(path, image->name, len);
	path[len] = '\0';
	do {
		fd = opd_perf_folders_find(folders, path, &at);
		if (fd >= 0 && check(images, image, fd) >= 0)
			return fd;
	} while (fd >= 0);
	return -1;
}

/* The mapping itself, which only root may open; the program that the process
 * runs, which its owner may, too. */
static int open_in_process(const struct opd_perf_image *image,
			   const struct opd_perf_images *images)
{
	char path[64];
	int fd = check(images, image,
		       op_open_mapped(image->pid, image->start, image->end));

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", image->pid);
	if (fd < 0)
		fd = check(images, image, op_open_regular(path));
	return fd;
}

/*
 * Open the file of the path; that of the path below the root of the process,
 * which may be another; what is held and has the path, or had it; the mapping
 * itself, which only root may open; the program that the process runs, which
 * its owner may, too; what was in its folder before it ran. A descriptor or -1.
 */
static int open_own(const struct opd_perf_image *image,
		    const struct opd_perf_images *images)
{
	int fd = -1;

	if (!is_deleted(image->name)) {
		fd = check(images, image,
			   op_open_without_links("/", image->name));
		if (fd < 0)
			fd = check(images, image,
				   op_open_in_root(image->pid, image->name,
						   image->told.len));
	}
	if (fd < 0)
		fd = check(images, image,
			   opd_perf_files_open(&images->files, &image->told,
					       image->ino, image->name));
	if (fd < 0)
		fd = open_in_process(image, images);
	return fd < 0 ? open_program(images, image) : fd;
}

/* From the memory of the process. */
static int open_in_memory(const struct opd_perf_image *image,
			  const struct opd_perf_images *images)
{
	return image->told.len
		       ? check(images, image,
			       opd_memory_image_open(images->files.untrusted,
						     "/proc", image->pid,
						     image->start))
		       : -1;
}

static bool has_file(const struct opd_perf_image *image)
{
	return !image->is_made && !on_no_disk(image->name);
}

/* Open a file of the same build that is held. */
static int open_held(const struct opd_perf_image *image,
		     const struct opd_perf_images *images)
{
	return check(images, image,
		     opd_perf_files_open(&images->files, &image->build_id,
					 image->ino, NULL));
}

/* A file that cannot have the attribute has no capabilities. */
static bool gives_no_rights(int fd, const struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !(st->st_mode & (S_ISUID | S_ISGID)) &&
	       getxattr(path, "security.capability", NULL, 0) < 0 &&
	       (errno == ENODATA || errno == EOPNOTSUPP);
}

static bool file_is_at(const char *path, const struct stat *file)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && st.st_ino == file->st_ino &&
	       st.st_dev == file->st_dev;
}

/* Take over what the file says, and hold it. */
static void look_at_file(struct opd_perf_image *image,
			 struct opd_perf_images *images)
{
	struct op_build_id id = { .len = 0 };
	struct stat st;
	int own, fd;

	if (!has_file(image))
		return;
	own = open_own(image, images);
	fd = own < 0 ? open_held(image, images) : own;
	if (fd < 0)
		return;
	if (is_the_one(images, image, fd, &st, &id)) {
		image->build_id = id;
		/* The code of another file of that build-id may be another. */
		if (own < 0)
			op_build_id_set_fingerprint(&image->build_id, 0);
		image->file_dev = st.st_dev;
		image->file_ino = st.st_ino;
		image->mtime = (uint64_t)st.st_mtime;
		image->file_user = st.st_uid;
		image->is_at_path = own >= 0 &&
				    op_who_has(fd) == OP_KERNEL_HAS &&
				    file_is_at(image->name, &st);
		/* A copy may give others. */
		image->gives_no_rights = own >= 0 && gives_no_rights(fd, &st);
	}
	opd_perf_files_add(&images->files, fd, &id);
}

/* The build-id of a file in memory that the kernel did not tell. */
static void look_at_memory(struct opd_perf_image *image,
			   const struct opd_perf_images *images)
{
	struct op_build_id id = { .len = 0 };
	struct stat st;
	int fd;

	if (!image->is_memory || image->told.len)
		return;
	fd = open_in_process(image, images);
	if (fd < 0)
		return;
	if (is_the_one(images, image, fd, &st, &id))
		image->build_id = id;
	close(fd);
}

/* ---- making -----------------------------------------------------------------
 */

static struct opd_perf_image *image_new(const struct opd_perf_image_id *id,
					struct opd_perf_images *images)
{
	struct opd_perf_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->name = strdup(id->name);
	if (!image->name) {
		free(image);
		return NULL;
	}
	image->told = image->build_id = id->build_id;
	image->dev = id->dev;
	image->ino = id->ino;
	image->generation = id->generation;
	image->pid = id->pid;
	image->start = id->start;
	image->end = id->end;
	image->is_made = id->is_made;
	image->looked_for = id->pid;
	image->is_memory = *id->name == '/' && on_no_disk(id->name);
	look_at_file(image, images);
	look_at_memory(image, images);
	if (!on_no_disk(image->name))
		opd_perf_folders_add(&images->folders, image->name);
	return image;
}

static bool has_room_for(const struct opd_perf_images *images, const char *name)
{
	return images->nr < OPD_PERF_IMAGES_MAX &&
	       strlen(name) < OPD_PERF_IMAGE_NAMES_MAX - images->names_len;
}

static bool claim_image_share(struct opd_perf_images *images, uint32_t user,
			      const char *name)
{
	if (!op_shares_take(&images->number_shares, user, 1))
		return false;
	if (op_shares_take(&images->name_shares, user, strlen(name) + 1))
		return true;
	op_shares_give_back(&images->number_shares, user, 1);
	return false;
}

/* Where @image counts for its user, who is known once its file was looked at:
 * if the process has ended, but the file is at its path here. */
static bool claim_share_by_file(struct opd_perf_images *images,
				const struct opd_perf_image *image)
{
	return claim_image_share(
		images, image->is_at_path ? image->file_user : OP_USER_UNKNOWN,
		image->name);
}

static uint64_t add(struct opd_perf_images *images,
		    const struct opd_perf_image_id *id, uint64_t hash)
{
	uint32_t user = images->proc ? op_user_of_process(images->proc, id->pid)
				     : geteuid();
	struct opd_perf_image *image;

	if (!has_room_for(images, id->name) ||
	    (user != OP_USER_UNKNOWN &&
	     !claim_image_share(images, user, id->name)))
		return OPD_PERF_NAMELESS;
	image = op_array_reserve(&images->images, images->nr, 1)
			? NULL
			: image_new(id, images);
	if (!image)
		return OP_NO_COOKIE;
	if (user == OP_USER_UNKNOWN && !claim_share_by_file(images, image)) {
		image_free(image);
		return OPD_PERF_NAMELESS;
	}
	images->images[images->nr++] = image;
	images->names_len += strlen(image->name) + 1;
	op_hash_add(&images->index, hash, (uint32_t)images->nr);
	return images->nr;
}

/*
 * Whether another file has taken the place of @image's. Where the kernel tells
 * the build-id it tells nothing else, and the new file may have the same one.
 * Each process that maps the file is a reason to look, once: its records come
 * twice.
 */
static bool image_is_replaced(struct opd_perf_image *image, uint32_t pid)
{
	struct stat st;

	if (!image->told.len || !image->is_at_path || image->looked_for == pid)
		return false;
	image->looked_for = pid;
	return !stat(image->name, &st) &&
	       (st.st_ino != image->file_ino || st.st_dev != image->file_dev ||
		(uint64_t)st.st_mtime != image->mtime);
}

uint64_t opd_perf_image_cookie(struct opd_perf_images *images,
			       const struct opd_perf_image_id *id)
{
	uint32_t cookie, newest = 0;
	uint64_t hash;

	if (op_hash_reserve(&images->index, images->nr + 1))
		return OP_NO_COOKIE;
	hash = hash_of(images, id);
	op_hash_each(&images->index, hash, cookie)
		if (cookie > newest && is_it(images->images[cookie - 1], id))
			newest = cookie;
	if (newest &&
	    (!image_is_replaced(images->images[newest - 1], id->pid) ||
	     !has_room_for(images, id->name)))
		return newest;
	return add(images, id, hash);
}

const char *opd_perf_image_path(const struct opd_perf_images *images,
				uint64_t cookie)
{
	return cookie != OP_NO_COOKIE && cookie <= images->nr
		       ? images->images[cookie - 1]->name
		       : NULL;
}

bool opd_perf_image_is_memory(const struct opd_perf_images *images,
			      uint64_t cookie)
{
	return cookie != OP_NO_COOKIE && cookie <= images->nr &&
	       images->images[cookie - 1]->is_memory;
}

bool opd_perf_image_gives_no_rights(const struct opd_perf_images *images,
				    uint64_t cookie)
{
	return cookie != OP_NO_COOKIE && cookie <= images->nr &&
	       images->images[cookie - 1]->gives_no_rights;
}

const char *opd_perf_image_anon(struct opd_perf_images *images,
				const char *name)
{
	const size_t max = sizeof(images->anon) / sizeof(images->anon[0]);
	char *copy;

	if (!*name || name[0] == '/')
		return ANON;
	for (size_t i = 0; i < images->nr_anon; i++)
		if (!strncmp(images->anon[i], name, OPD_PERF_ANON_MAX - 1))
			return images->anon[i];
	copy = images->nr_anon < max ? strndup(name, OPD_PERF_ANON_MAX - 1)
				     : NULL;
	if (!copy)
		return ANON;
	images->anon[images->nr_anon++] = copy;
	return copy;
}

int opd_perf_image_open(const struct opd_perf_images *images, uint64_t cookie)
{
	const struct opd_perf_image *image;
	int fd;

	if (cookie == OP_NO_COOKIE || cookie > images->nr)
		return -ENOENT;
	image = images->images[cookie - 1];
	if (!strcmp(image->name, VDSO))
		return UNWINDER_VDSO;
	if (image->is_made || image->name[0] != '/')
		return -ENOENT;
	fd = has_file(image) ? open_own(image, images)
			     : open_in_process(image, images);
	if (fd < 0)
		fd = open_held(image, images);
	if (fd < 0)
		fd = open_in_memory(image, images);
	return fd < 0 ? -ENOENT : fd;
}

int opd_perf_image_take(struct opd_perf_images *images, uint64_t cookie)
{
	const struct opd_perf_image *image;
	int fd;

	if (cookie == OP_NO_COOKIE || cookie > images->nr)
		return -ENOENT;
	image = images->images[cookie - 1];
	if (on_no_disk(image->name))
		return -ENOENT;
	fd = check(images, image,
		   opd_perf_files_take(&images->files, &image->build_id,
				       image->ino));
	return fd < 0 ? -ENOENT : fd;
}

/* ---- asking -----------------------------------------------------------------
 */

int opd_perf_image_query(const struct opd_perf_images *images,
			 struct op_cookie_query *query)
{
	uint64_t cookie = query->cookie;
	const struct opd_perf_image *image;
	size_t len;

	if (cookie == OP_NO_COOKIE || cookie > images->nr)
		return -ENOENT;
	image = images->images[cookie - 1];
	memset(query, 0, sizeof(*query));
	query->cookie = cookie;
	query->dev = image->dev ? image->dev : image->file_dev;
	query->ino = image->ino ? image->ino : image->file_ino;
	query->mtime = image->mtime;
	query->build_id_len = image->build_id.len;
	memcpy(query->build_id, image->build_id.bytes, sizeof(query->build_id));
	len = op_deleted_at(image->name, strlen(image->name));
	if (image->is_made || on_no_disk(image->name))
		query->flags |= OP_IMAGE_NO_FILE;
	if (is_deleted(image->name))
		query->flags |= OP_IMAGE_DELETED;
	if (len >= sizeof(query->path))
		return -ENOENT;
	memcpy(query->path, image->name, len);
	return 0;
}
