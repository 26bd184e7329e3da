// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lock is the kernel's lock on an open file, so it cannot be left behind by
 * a daemon that was killed. The pid in the lock file is for messages, and for
 * telling a running daemon from a dying packer: if the pid is gone and the lock
 * is still held, the packer of the former daemon is about to end, and a short
 * wait is right.
 *
 * Saving a session renames its folder, in which the ledger has been written by
 * then (opd_command.c). Files are closed first; what comes after goes into the
 * new folder.
 */

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_history.h"
#include "daemon/store/opd_mangling.h"
#include "daemon/store/opd_sample_file.h"
#include "daemon/store/opd_session.h"
#include "daemon/store/opd_store.h"
#include "libdb/ctree.h"
#include "libdb/db_folder.h"
#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_lock.h"
#include "libop/base/op_log.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_readers.h"
#include "libop/session/op_span.h"

#define LOCK_TRIES 100
#define LOCK_WAIT_MS 100
#define PID_MAX_LEN 16

static int make_part_of_session(const char *path, struct op_diag *diag)
{
	int err = op_make_parents(path, 0755) ?: op_make_folder(path, 0755);

	if (err)
		return op_diag_set(
			diag, err,
			"%s: %s; give --session-dir a folder that can be written",
			path, strerror(-err));
	return 0;
}

int opd_session_make(const struct op_session *session, const gid_t *group,
		     struct op_diag *diag)
{
	int err = op_session_make_samples(session, group, diag);

	if (!err)
		err = make_part_of_session(session->current, diag);
	if (!err && op_session_make_folder(session->symbols))
		err = make_part_of_session(session->symbols, diag);
	return err ? err : make_part_of_session(session->run, diag);
}

/* The pid that a daemon has written into the lock file. */
static void read_pid(int fd, char pid[PID_MAX_LEN])
{
	ssize_t len = pread(fd, pid, PID_MAX_LEN - 1, 0);

	pid[len > 0 ? len : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
}

static bool is_gone(int fd)
{
	char text[PID_MAX_LEN];

	read_pid(fd, text);
	return op_process_is_gone(text);
}

/*
 * The child that packs has the lock, too. When its daemon was killed it is
 * killed as well, but a file that it brings to the disk just then may take a
 * while.
 */
static int lock_session(int fd, const struct op_clock *clock)
{
	int err = op_lock(fd, 0, clock);

	for (int i = 0; i < LOCK_TRIES && err == -EBUSY && is_gone(fd); i++)
		err = op_lock(fd, LOCK_WAIT_MS, clock);
	return err;
}

static int lock_taken(int fd, const char *path, struct op_diag *diag)
{
	char pid[PID_MAX_LEN];

	read_pid(fd, pid);
	return op_diag_set(
		diag, -EBUSY,
		"%s: a daemon is already running (pid %.15s); end it with opcontrol --shutdown",
		path, pid);
}

int opd_session_lock(struct opd_store *store, struct op_diag *diag)
{
	const char *path = store->session->lock;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	int err;

	if (fd < 0)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	err = lock_session(fd, store->clock);
	if (err == -EBUSY)
		lock_taken(fd, path, diag);
	else if (err)
		op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	if (!err &&
	    (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0))
		err = op_diag_set(diag, -EIO, "%s: cannot write", path);
	if (err)
		close(fd);
	else
		store->lock_fd = fd;
	return err;
}

void opd_session_unlock(struct opd_store *store)
{
	if (store->lock_fd < 0)
		return;
	if (ftruncate(store->lock_fd, 0))
		op_log(store->log, "%s: %s", store->session->lock,
		       strerror(errno));
	close(store->lock_fd);
	store->lock_fd = -1;
}

/* ---- counting what is in samples/current ------------------------------------
 */

/* A count under way. */
struct count {
	struct opd_store *store;
	struct db_folder *folder;
	uint64_t nr; /* samples */
	uint64_t *stacks; /* or NULL */
	int err; /* something is there and could not be read: no sum is right */
};

static bool is_tree(const struct db_member *member)
{
	return strstr(member->name, OPD_TREE);
}

/* Call graphs count the same samples once more. */
static bool is_flat(const struct db_member *member)
{
	return !strstr(member->name, OPD_ARCS) && !is_tree(member);
}

static bool is_damage(int err)
{
	return err == -EBADMSG || err == -EPROTO;
}

static void cannot_count(struct count *count, const struct db_member *member,
			 int err)
{
	const struct opd_store *store = count->store;

	if (member->entry)
		op_log(store->log, "%s: %s in it cannot be read: %s",
		       member->path, member->name, strerror(-err));
	else if (is_damage(err))
		opd_store_rename_damaged(count->store, member->path);
	else
		op_log(store->log, "%s: %s", member->path, strerror(-err));
	if (!is_damage(err) && !count->err)
		count->err = err;
}

static int count_flat(struct count *count, const struct db_member *member)
{
	struct odb *odb;
	int err = db_folder_table(count->folder, member, &odb);

	if (err)
		return err;
	count->nr += opd_sample_file_samples(odb);
	odb_close(odb);
	return 0;
}

static int count_tree(struct count *count, const struct db_member *member)
{
	struct ctree *tree;
	int err = db_folder_tree(count->folder, member, &tree);

	if (err)
		return err;
	err = opd_tree_count(tree, count->stacks);
	ctree_close(tree);
	return err;
}

static int count_member(const struct db_member *member, void *ctx)
{
	struct count *count = ctx;
	int err = 0;

	if (op_sample_file_is_set_aside(member->name))
		return 0;
	if (is_flat(member))
		err = count_flat(count, member);
	else if (count->stacks && is_tree(member))
		err = count_tree(count, member);
	if (err)
		cannot_count(count, member, err);
	return 0;
}

static int report_unlisted(const char *path, int err, void *ctx)
{
	struct count *count = ctx;

	op_log(count->store->log, "%s: %s", path, strerror(-err));
	return err;
}

/* Rename a damaged pack, like any damaged file. */
static int check_pack(struct opd_store *store, const struct db_folder *folder)
{
	const char *path = db_folder_pack_path(folder);
	int err = db_folder_pack_error(folder);

	if (is_damage(err)) {
		opd_store_rename_damaged(store, path);
		return 0;
	}
	if (err)
		op_log(store->log, "%s: %s", path, strerror(-err));
	return err;
}

static int count_folder(struct count *count, const char *path)
{
	const struct db_visitor visitor = { .member = count_member,
					    .unlisted = report_unlisted,
					    .ctx = count };
	int err = db_folder_open(&count->folder, path);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = check_pack(count->store, count->folder)
		      ?: db_folder_each(count->folder, &visitor);
	db_folder_close(count->folder);
	return err;
}

/* Spans that were closed in part: the ledger beside them is about these, too.
 */
static int count_spans_without_ledger(struct count *count, const char *dir)
{
	struct op_span *spans;
	size_t nr;
	int err = op_spans_list(dir, &spans, &nr);

	for (size_t i = 0; i < nr && !err; i++) {
		char name[OP_SPAN_NAME_MAX], path[PATH_MAX], ledger[PATH_MAX];

		op_span_name(&spans[i], name);
		snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
		snprintf(ledger, sizeof(ledger), "%.4080s/ledger", path);
		if (op_span_counts(&spans[i]) && access(ledger, F_OK) &&
		    errno == ENOENT)
			err = count_folder(count, path);
	}
	free(spans);
	return err == -ENOENT ? 0 : err;
}

int opd_session_count(struct opd_store *store, uint64_t *nr, uint64_t *stacks)
{
	struct count count = { .store = store, .stacks = stacks };
	const char *path = store->session->current;
	int err = count_folder(&count, path)
			  ?: count_spans_without_ledger(&count, path);

	if (!err)
		err = count.err;
	if (err)
		op_log(store->log, "%s: cannot be read: %s", path,
		       strerror(-err));
	*nr = count.nr;
	return err;
}

/* ---- all of samples/current -------------------------------------------------
 */

static int delete_entry(const FTSENT *entry, struct op_diag *diag)
{
	int failed = 0;

	if (entry->fts_info == FTS_D)
		return 0;
	failed = entry->fts_info == FTS_DP ? rmdir(entry->fts_accpath)
					   : unlink(entry->fts_accpath);
	if (!failed)
		return 0;
	return op_diag_set(diag, -errno, "%s: %s", entry->fts_path,
			   strerror(errno));
}

static int delete_tree(const char *path, struct op_diag *diag)
{
	/* fts(3) copies them. */
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = 0;

	if (!tree)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	while (!err && (errno = 0, entry = fts_read(tree)))
		err = delete_entry(entry, diag);
	if (!err && errno)
		err = op_diag_set(diag, -errno, "%s: %s", path,
				  strerror(errno));
	fts_close(tree);
	return err;
}

int opd_session_reset(struct opd_store *store, struct op_diag *diag)
{
	int err;

	opd_pack_stop(store);
	opd_sfiles_drop_all(store);
	opd_timeline_end(&store->timeline);
	/* A new folder: whoever reads now and then sees that all is new. */
	err = delete_tree(store->session->current, diag)
		      ?: make_part_of_session(store->session->current, diag);
	opd_disk_freed(store);
	/* A part of the session may be left, and goes on. */
	store->recount = err != 0;
	if (err)
		opd_history_tended(store, 0);
	else
		opd_history_begin_anew(store);
	return err;
}

static int rename_current(struct opd_store *store, const char *to,
			  const char *name, struct op_diag *diag)
{
	const char *current = store->session->current;
	int err;

	if (!access(to, F_OK))
		return op_diag_set(
			diag, -EEXIST,
			"session %s already exists; choose another name", name);
	if (rename(current, to))
		return op_diag_set(diag, -errno, "%s: %s", to, strerror(errno));
	if (!mkdir(current, 0755))
		return 0;
	err = op_diag_set(diag, -errno, "%s: %s", current, strerror(errno));
	/* Counting goes on in the folder as it was. */
	if (rename(to, current))
		op_log(store->log, "%s: %s; the session is in %s", current,
		       strerror(errno), to);
	return err;
}

int opd_session_rename(struct opd_store *store, const char *name,
		       struct op_diag *diag)
{
	char to[sizeof(store->session->samples) + 256];
	int err;

	snprintf(to, sizeof(to), "%s/%s", store->session->samples, name);
	opd_sfiles_drop_all(store);
	opd_timeline_end(&store->timeline);
	err = rename_current(store, to, name, diag);
	if (err)
		return err;
	opd_pack_saved(store, to);
	opd_history_begin_anew(store);
	opd_disk_freed(store);
	store->recount = false;
	return 0;
}
