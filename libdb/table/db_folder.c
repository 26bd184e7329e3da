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
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "libdb/pack.h"

/* A packer renames a few folders; who takes longer was stopped. */
#define LOCK_TRIES 6000
#define LOCK_PAUSE_NS 10000000L

struct db_folder {
	int fd; /* holds the lock */
	char *path;
	char *pack_path;
	struct pack *pack; /* NULL: none that can be used */
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

/*
 * Whether @entry is, or may lead to, sample files: those are below folders
 * whose names begin with a brace.
 */
static bool is_of_interest(const struct db_folder *folder, const FTSENT *entry)
{
	bool is_folder = entry->fts_info != FTS_F;

	if (entry->fts_level == 1)
		return is_folder && (*entry->fts_name == '{' ||
				     is_pending(folder, entry->fts_name));
	if (entry->fts_level == 2 && *entry->fts_parent->fts_name == '.')
		return is_folder && *entry->fts_name == '{';
	/* A hidden one is being made, or was when its writer was killed. */
	return is_folder || *entry->fts_name != '.';
}

/* The part of a file's path that is its name. */
static const char *member_name(const struct db_folder *folder,
			       const FTSENT *entry)
{
	const char *name = entry->fts_path + strlen(folder->path);

	name += strspn(name, "/");
	if (*name == '.')
		name += strcspn(name, "/") + 1;
	return name;
}

static int visit_entry(const struct db_folder *folder, FTS *fts, FTSENT *entry,
		       const struct db_visitor *visitor)
{
	struct db_member member = { .path = entry->fts_path };

	if (entry->fts_level < 0 ||
	    (entry->fts_level > 0 && !is_of_interest(folder, entry))) {
		fts_set(fts, entry, FTS_SKIP);
		return 0;
	}
	switch (entry->fts_info) {
	case FTS_F:
		member.name = member_name(folder, entry);
		return visitor->member(&member, visitor->ctx);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return visitor->unlisted ? visitor->unlisted(entry->fts_path,
							     -entry->fts_errno,
							     visitor->ctx)
					 : 0;
	default:
		return 0;
	}
}

static int compare_fts_entries(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int visit_loose(const struct db_folder *folder,
		       const struct db_visitor *visitor)
{
	char *const roots[] = { folder->path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR,
			    compare_fts_entries);
	FTSENT *entry;
	int ret = 0;

	if (!fts)
		return -errno;
	while (!ret && (errno = 0, entry = fts_read(fts)) != NULL)
		ret = visit_entry(folder, fts, entry, visitor);
	if (!ret && errno)
		ret = -errno;
	fts_close(fts);
	return ret;
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
