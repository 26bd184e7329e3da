// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "daemon/opd_mangling.h"
#include "daemon/opd_sample_file.h"
#include "libdb/odb.h"

static int make_folder(const char *path, struct op_diag *diag)
{
	int err = opd_make_parents(path);

	if (!err && mkdir(path, 0755) && errno != EEXIST)
		err = -errno;
	if (err)
		return op_diag_set(
			diag, err,
			"%s: %s; give --session-dir a folder that can be written",
			path, strerror(-err));
	return 0;
}

int opd_session_make(struct opd *opd, struct op_diag *diag)
{
	const struct op_session *session = &opd->session;
	int err = make_folder(session->current, diag);

	if (!err)
		err = make_folder(session->symbols, diag);
	return err ? err : make_folder(session->run, diag);
}

static int lock_taken(int fd, const char *path, struct op_diag *diag)
{
	char pid[16];
	ssize_t len = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[len > 0 ? len : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
	return op_diag_set(
		diag, -EBUSY,
		"%s: a daemon is running already (pid %.15s); end it with opcontrol --shutdown",
		path, pid);
}

int opd_session_lock(struct opd *opd, struct op_diag *diag)
{
	const char *path = opd->session.lock;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	int err = 0;

	if (fd < 0)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? lock_taken(fd, path, diag)
					   : op_diag_set(diag, -errno, "%s: %s",
							 path, strerror(errno));
	if (!err &&
	    (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0))
		err = op_diag_set(diag, -EIO, "%s: cannot write", path);
	if (err)
		close(fd);
	else
		opd->lock_fd = fd;
	return err;
}

void opd_session_unlock(struct opd *opd)
{
	if (opd->lock_fd < 0)
		return;
	if (ftruncate(opd->lock_fd, 0))
		opd_log(&opd->log, "%s: %s", opd->session.lock,
			strerror(errno));
	close(opd->lock_fd);
	opd->lock_fd = -1;
}

/* ---- walking samples/current ------------------------------------------------
 */

static bool has_bad_name(const char *name)
{
	const char *dot = strstr(name, ".bad");

	return dot && (dot[4] == '\0' || dot[4] == '-');
}

/* Folders of call graphs, whose counts are of the same samples once more. */
static bool is_call_graph(const FTSENT *entry)
{
	return entry->fts_info == FTS_D && (!strcmp(entry->fts_name, "{cg}") ||
					    !strcmp(entry->fts_name, "{tree}"));
}

/* What lies in samples/current and is no sample file. */
static bool is_other_file(const FTSENT *entry)
{
	/* A dot: libdb is making it, or was when it was killed. */
	return entry->fts_info != FTS_F || entry->fts_name[0] == '.' ||
	       has_bad_name(entry->fts_name) ||
	       (entry->fts_level == 1 &&
		!strncmp(entry->fts_name, "ledger", 6));
}

static uint64_t count_file(struct opd *opd, const char *path)
{
	uint64_t nr;
	struct odb *odb;
	int err = odb_open(&odb, path, ODB_RDONLY);

	if (err == -EBADMSG || err == -EPROTO)
		opd_sample_file_damaged(opd, path);
	else if (err)
		opd_log(&opd->log, "%s: %s", path, strerror(-err));
	if (err)
		return 0;
	nr = opd_sample_file_samples(odb);
	odb_close(odb);
	return nr;
}

uint64_t opd_session_count_samples(struct opd *opd)
{
	char *const paths[] = { opd->session.current, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t sum = 0;
	FTSENT *entry;

	if (!tree)
		return 0;
	while ((entry = fts_read(tree)))
		if (is_call_graph(entry))
			fts_set(tree, entry, FTS_SKIP);
		else if (!is_other_file(entry))
			sum += count_file(opd, entry->fts_accpath);
	fts_close(tree);
	return sum;
}

static bool is_tree(const FTSENT *entry)
{
	return entry->fts_info == FTS_F && entry->fts_name[0] != '.' &&
	       !has_bad_name(entry->fts_name) && entry->fts_level > 0 &&
	       !strcmp(entry->fts_parent->fts_name, "{tree}");
}

void opd_session_count_stacks(struct opd *opd, uint64_t *stacks)
{
	char *const paths[] = { opd->session.current, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err;

	while (tree && (entry = fts_read(tree))) {
		if (!is_tree(entry))
			continue;
		err = opd_tree_count(entry->fts_accpath, stacks);
		if (err == -EBADMSG || err == -EPROTO)
			opd_sample_file_damaged(opd, entry->fts_accpath);
		else if (err)
			opd_log(&opd->log, "%s: %s", entry->fts_path,
				strerror(-err));
	}
	if (tree)
		fts_close(tree);
}

static int delete_entry(const FTSENT *entry, struct op_diag *diag)
{
	int failed = 0;

	if (entry->fts_level == 0 || entry->fts_info == FTS_D)
		return 0;
	failed = entry->fts_info == FTS_DP ? rmdir(entry->fts_accpath)
					   : unlink(entry->fts_accpath);
	if (!failed)
		return 0;
	return op_diag_set(diag, -errno, "%s: %s", entry->fts_path,
			   strerror(errno));
}

static int delete_tree(char *path, struct op_diag *diag)
{
	char *const paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = 0;

	if (!tree)
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	while (!err && (entry = fts_read(tree)))
		err = delete_entry(entry, diag);
	fts_close(tree);
	return err;
}

int opd_session_reset(struct opd *opd, struct op_diag *diag)
{
	int err;

	opd_sfiles_drop_all(opd);
	err = delete_tree(opd->session.current, diag);
	if (err)
		return err;
	opd_stats_restart(opd);
	err = opd_stats_write(opd);
	return err ? op_diag_set(diag, err, "the ledger cannot be written") : 0;
}

static int rename_current(struct opd *opd, const char *to, const char *name,
			  struct op_diag *diag)
{
	if (!access(to, F_OK))
		return op_diag_set(
			diag, -EEXIST,
			"session %s exists already; choose another name", name);
	if (rename(opd->session.current, to) ||
	    mkdir(opd->session.current, 0755))
		return op_diag_set(diag, -errno, "%s: %s", to, strerror(errno));
	return 0;
}

int opd_session_save(struct opd *opd, const char *name, struct op_diag *diag)
{
	char to[sizeof(opd->session.samples) + 256];
	int err = op_session_name_check(name, diag);

	if (err)
		return err;
	if (strlen(name) > 255)
		return op_diag_set(diag, -EINVAL,
				   "the name is longer than 255 bytes");
	snprintf(to, sizeof(to), "%s/%s", opd->session.samples, name);
	opd_sfiles_drop_all(opd);
	err = opd_stats_write_saved(opd);
	if (err)
		return op_diag_set(diag, err, "the ledger cannot be written");
	err = rename_current(opd, to, name, diag);
	if (err)
		return err;
	opd_stats_restart(opd);
	err = opd_stats_write(opd);
	return err ? op_diag_set(diag, err, "the ledger cannot be written") : 0;
}
