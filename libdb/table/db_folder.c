// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a session folder whose sample files may be packed, loose, or on their
 * way into the pack.
 *
 * A db_folder holds a shared flock(2) on the folder from before it opens the
 * pack until it is closed. The packer takes the same lock alone for its
 * renames. So the open pack and the listed files belong together: no file is
 * missed, and none is counted in two places. daemon/store/opd_packer.c explains
 * the whole protocol.
 *
 * Which files count follows from two numbers: .packing-N counts while N is more
 * than the generation of the pack (is_pending()). A pack that cannot be used
 * has no generation; then all of .packing-* counts.
 */

#include "libdb/db_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "libdb/pack.h"
#include "libop/files/op_walk.h"

/* A packer renames a few folders; who takes longer was stopped. */
#define LOCK_TRIES 6000
#define LOCK_PAUSE_NS 10000000L

struct db_folder {
	int fd; /* holds the lock */
	char *path;
	char *pack_path;
	struct pack *pack; /* NULL: none that can be used */
	bool is_recovered;
	int pack_err;
};

/* ---- names --------------------------------------------------------------- */

uint64_t db_folder_packing(const char *name)
{
	const size_t prefix = sizeof(DB_FOLDER_PACKING) - 1;
	const char *digits = name + prefix;
	char *end;
	uint64_t nr;

	if (strncmp(name, DB_FOLDER_PACKING, prefix) || *digits < '1' ||
	    *digits > '9')
		return 0;
	errno = 0;
	nr = strtoull(digits, &end, 10);
	return *end || errno ? 0 : nr;
}

int db_folder_compare(const char *a, const char *b)
{
	int x, y;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* The end of a component is before all that may be in one. */
	x = *a == '/' ? 0 : (unsigned char)*a;
	y = *b == '/' ? 0 : (unsigned char)*b;
	return x != y ? x - y : (*a == '/') - (*b == '/');
}

#define CUT "%_"

/* A path that is being written; what does not fit is not. */
struct loose_path {
	char *buf;
	size_t len;
	size_t nr;
};

static void put_loose(struct loose_path *path, const char *text, size_t nr)
{
	if (path->nr + nr < path->len)
		memcpy(path->buf + path->nr, text, nr);
	path->nr += nr;
}

static int end_loose(const struct loose_path *path)
{
	if (path->nr >= path->len)
		return -ENAMETOOLONG;
	path->buf[path->nr] = '\0';
	return 0;
}

/* A member's name as it is in {loose} before it is cut. */
static int put_slashes(struct loose_path *path, const char *name)
{
	while (*name) {
		size_t nr = strcspn(name, "/");

		put_loose(path, name, nr);
		name += nr;
		if (!*name)
			break;
		put_loose(path, DB_FOLDER_SLASH, strlen(DB_FOLDER_SLASH));
		name++;
	}
	return end_loose(path);
}

/* How many bytes of @name, which has @len, are the next piece: not half of a
 * slash, and no dot comes next. */
static size_t piece_of(const char *name, size_t len)
{
	size_t nr = DB_FOLDER_PIECE - strlen(CUT);

	if (len <= DB_FOLDER_PIECE)
		return len;
	while (nr > 1 && (name[nr] == '.' || name[nr - 1] == '%'))
		nr--;
	return nr;
}

/* Whether file names in @dir may be long, by the nearest folder that exists. A
 * file system that cannot be asked is taken for one of the many that have long
 * names.
 */
static bool has_long_names(const char *dir)
{
	char path[PATH_MAX], *slash;
	long max;

	if (snprintf(path, sizeof(path), "%s", dir) >= PATH_MAX)
		return true;
	while ((max = pathconf(path, _PC_NAME_MAX)) < 0) {
		slash = strrchr(path, '/');
		if (errno != ENOENT || !slash || slash == path)
			return true;
		*slash = '\0';
	}
	return max >= NAME_MAX;
}

int db_folder_loose(const char *dir, const char *name, char *buf, size_t len)
{
	char whole[DB_FOLDER_LOOSE_MAX];
	struct loose_path slashed = { .buf = whole, .len = sizeof(whole) };
	struct loose_path path = { .buf = buf, .len = len };
	size_t at = 0, piece;

	put_loose(&path, dir, strlen(dir));
	put_loose(&path, "/", 1);
	if (put_slashes(&slashed, name) || !has_long_names(dir)) {
		put_loose(&path, name, strlen(name));
		return end_loose(&path);
	}
	put_loose(&path, DB_FOLDER_LOOSE, strlen(DB_FOLDER_LOOSE));
	put_loose(&path, "/", 1);
	while (at < slashed.nr) {
		piece = piece_of(whole + at, slashed.nr - at);
		put_loose(&path, whole + at, piece);
		at += piece;
		if (at < slashed.nr)
			put_loose(&path, CUT "/", strlen(CUT "/"));
	}
	return end_loose(&path);
}

/*
 * The member of what is at @path in {loose}. The name goes to @name, which has
 * room for @path. False for what has no such path.
 */
static bool name_of_loose(const char *path, char *name)
{
	while (*path) {
		if (!strncmp(path, DB_FOLDER_SLASH, strlen(DB_FOLDER_SLASH))) {
			*name++ = '/';
			path += strlen(DB_FOLDER_SLASH);
		} else if (!strncmp(path, CUT "/", strlen(CUT "/"))) {
			path += strlen(CUT "/");
		} else if (*path == '/') {
			return false;
		} else {
			*name++ = *path++;
		}
	}
	*name = '\0';
	return true;
}

/* ---- opening ------------------------------------------------------------- */

static int lock_shared(int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_SH | LOCK_NB))
			return 0;
		/* Some file systems know no locks, and so no packer. */
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

static int open_folder_pack(struct db_folder *folder)
{
	int err = pack_open(&folder->pack, folder->pack_path);

	if (err == -EBADMSG || err == -EPROTO) {
		int failed = pack_recover(&folder->pack, folder->pack_path);

		folder->is_recovered = !failed;
		/* A pack of another version or byte order has no groups of
		 * ours. */
		if (failed != -EBADMSG)
			err = failed;
	}
	if (err == -ENOMEM)
		return err;
	folder->pack_err = err == -ENOENT ? 0 : err;
	return 0;
}

static int open_folder_parts(struct db_folder *folder, const char *path)
{
	int err;

	folder->path = strdup(path);
	if (!folder->path ||
	    asprintf(&folder->pack_path, "%s/" DB_FOLDER_PACK, path) < 0) {
		folder->pack_path = NULL;
		return -ENOMEM;
	}
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return -errno;
	err = lock_shared(folder->fd);
	return err ? err : open_folder_pack(folder);
}

int db_folder_open(struct db_folder **out, const char *path)
{
	struct db_folder *folder = calloc(1, sizeof(*folder));
	int err;

	if (!folder)
		return -ENOMEM;
	folder->fd = -1;
	err = open_folder_parts(folder, path);
	if (err)
		db_folder_close(folder);
	else
		*out = folder;
	return err;
}

void db_folder_close(struct db_folder *folder)
{
	if (!folder)
		return;
	pack_close(folder->pack);
	if (folder->fd >= 0)
		close(folder->fd);
	free(folder->pack_path);
	free(folder->path);
	free(folder);
}

const struct pack *db_folder_pack(const struct db_folder *folder)
{
	return folder->pack;
}

const char *db_folder_pack_path(const struct db_folder *folder)
{
	return folder->pack_path;
}

bool db_folder_pack_is_recovered(const struct db_folder *folder)
{
	return folder->is_recovered;
}

int db_folder_pack_error(const struct db_folder *folder)
{
	return folder->pack_err;
}

/* ---- visiting ------------------------------------------------------------ */

/* Whether folders of .packing-N hold what the pack does not. */
static bool is_pending(const struct db_folder *folder, const char *name)
{
	uint64_t nr = db_folder_packing(name);

	return nr && (!folder->pack || nr > pack_generation(folder->pack));
}

/* A walk over the files of a folder. */
struct loose_walk {
	const struct db_folder *folder;
	const struct db_visitor *visitor;
	bool is_pending; /* in a folder .packing-N: that is no part of names */
	char name[PATH_MAX]; /* of a member in {loose} */
};

static const char *name_of_entry(struct loose_walk *walk, const char *below)
{
	const size_t len = strlen(DB_FOLDER_LOOSE "/");

	if (walk->is_pending)
		below = strchr(below, '/') + 1;
	if (strncmp(below, DB_FOLDER_LOOSE "/", len) != 0 ||
	    strlen(below + len) >= sizeof(walk->name) ||
	    !name_of_loose(below + len, walk->name))
		return below;
	return walk->name;
}

/*
 * Whether @entry is, or may lead to, sample files: those are below folders
 * whose names begin with a brace.
 */
static bool is_of_interest(struct loose_walk *walk,
			   const struct op_walk_entry *entry)
{
	bool is_file = entry->kind == OP_WALK_FILE;

	if (entry->depth == 1)
		walk->is_pending = is_pending(walk->folder, entry->name);
	if (entry->depth == 1)
		return !is_file && (*entry->name == '{' || walk->is_pending);
	if (entry->depth == 2 && walk->is_pending)
		return !is_file && *entry->name == '{';
	/* A hidden one is being made, or was when its writer was killed. */
	return !is_file || *entry->name != '.';
}

static int visit_loose_entry(const struct op_walk_entry *entry, void *ctx)
{
	struct loose_walk *walk = ctx;
	const struct db_visitor *visitor = walk->visitor;
	struct db_member member = { .path = entry->path };

	if (entry->kind == OP_WALK_LEFT)
		return 0;
	if (entry->depth && !is_of_interest(walk, entry))
		return OP_WALK_SKIP;
	if (entry->kind == OP_WALK_UNREAD)
		return visitor->unlisted
			       ? visitor->unlisted(entry->path, entry->err,
						   visitor->ctx)
			       : 0;
	if (entry->kind != OP_WALK_FILE)
		return 0;
	member.name = name_of_entry(walk, entry->below);
	return visitor->member(&member, visitor->ctx);
}

static int visit_loose(const struct db_folder *folder,
		       const struct db_visitor *visitor)
{
	struct loose_walk walk = { .folder = folder, .visitor = visitor };

	return op_walk(folder->path, visit_loose_entry, &walk);
}

static int visit_packed(const struct db_folder *folder,
			const struct db_visitor *visitor)
{
	struct db_member member = { .path = folder->pack_path };
	size_t nr = folder->pack ? pack_nr(folder->pack) : 0;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		member.entry = pack_entry(folder->pack, i);
		member.name = member.entry->name;
		ret = visitor->member(&member, visitor->ctx);
	}
	return ret;
}

int db_folder_each(const struct db_folder *folder,
		   const struct db_visitor *visitor)
{
	int ret = visit_packed(folder, visitor);

	return ret ? ret : visit_loose(folder, visitor);
}

/* ---- reading ------------------------------------------------------------- */

/* A name says which kind it is; that the content is of another is damage. */
static int as_damage(int err)
{
	return err == -EINVAL ? -EBADMSG : err;
}

int db_folder_table(const struct db_folder *folder,
		    const struct db_member *member, struct odb **out)
{
	if (member->entry)
		return as_damage(pack_table(folder->pack, member->entry, out));
	return odb_open(out, member->path, ODB_RDONLY);
}

int db_folder_tree(const struct db_folder *folder,
		   const struct db_member *member, struct ctree **out)
{
	if (member->entry)
		return as_damage(pack_tree(folder->pack, member->entry, out));
	return ctree_open(out, member->path, ODB_RDONLY);
}
