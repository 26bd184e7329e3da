// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing a pack: all members of the folder, or of several folders, in the
 * order of their names, those of one name added up. What only one pack has is
 * copied as it is.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/store/opd_mangling.h"
#include "daemon/store/opd_packer.h"
#include "daemon/store/opd_sample_file.h"
#include "daemon/store/opd_store.h"
#include "libdb/db_folder.h"
#include "libdb/db_sum.h"
#include "libdb/pack.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"
#include "libop/session/op_sample_file.h"

struct member {
	char *name;
	char *path;
	const struct db_folder *folder; /* that it is in */
	const struct pack_entry *entry; /* NULL: loose */
	bool bad; /* it turned out to be damaged */
};

struct work {
	struct opd_store *store;
	struct opd_packer *packer;
	struct db_folder **folders; /* that members come from */
	size_t nr_folders;
	const struct db_folder *listed; /* the one that is being listed */
	bool distrust; /* an entry of the pack is damaged: look at each */
	struct member *members;
	size_t nr;
};

/* ---- what there is ----------------------------------------------------------
 */

static bool is_member_wanted(const struct work *work,
			     const struct db_member *member)
{
	const char *path = member->path + strlen(work->packer->dir);

	if (op_sample_file_is_set_aside(member->name))
		return false;
	if (work->packer->nr_from)
		return true;
	/* Files that the daemon writes meanwhile are for another time. */
	return member->entry || !strncmp(path, "/" DB_FOLDER_PACKING,
					 strlen("/" DB_FOLDER_PACKING));
}

static int list_member(const struct db_member *member, void *ctx)
{
	struct work *work = ctx;
	struct member copy = { .entry = member->entry, .folder = work->listed };
	int err = 0;

	if (!is_member_wanted(work, member))
		return 0;
	err = op_array_reserve(&work->members, work->nr, 1);
	copy.name = strdup(member->name);
	copy.path = strdup(member->path);
	if (!err && copy.name && copy.path) {
		work->members[work->nr++] = copy;
		return 0;
	}
	free(copy.name);
	free(copy.path);
	return -ENOMEM;
}

/* A folder that cannot be listed must not pass for an empty one. */
static int refuse_unlisted(const char *path, int err, void *ctx)
{
	(void)path;
	(void)ctx;
	return err ? err : -EIO;
}

/* By name, and of one name what is packed first. */
static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (y->entry != NULL) - (x->entry != NULL);
}

static int list_members(struct work *work)
{
	const struct db_visitor visitor = { .member = list_member,
					    .unlisted = refuse_unlisted,
					    .ctx = work };
	int err = 0;

	for (size_t i = 0; i < work->nr_folders && !err; i++) {
		work->listed = work->folders[i];
		err = db_folder_pack_error(work->listed)
			      ?: db_folder_each(work->listed, &visitor);
	}
	if (!err && work->nr)
		qsort(work->members, work->nr, sizeof(*work->members),
		      compare_members);
	return err;
}

static void work_release(struct work *work)
{
	for (size_t i = 0; i < work->nr; i++) {
		free(work->members[i].name);
		free(work->members[i].path);
	}
	free(work->members);
	for (size_t i = 0; i < work->nr_folders; i++)
		db_folder_close(work->folders[i]);
	free(work->folders);
}

static int open_folders(struct work *work)
{
	const struct opd_packer *packer = work->packer;
	const char *const *from = packer->from ?: &packer->dir;
	size_t nr = packer->nr_from ?: 1;
	int err = 0;

	work->folders = calloc(nr, sizeof(struct db_folder *));
	if (!work->folders)
		return -ENOMEM;
	while (work->nr_folders < nr && !err) {
		err = db_folder_open(&work->folders[work->nr_folders],
				     from[work->nr_folders]);
		work->nr_folders += !err;
	}
	return err;
}

/* ---- reading one name -------------------------------------------------------
 */

static void leave_out(struct work *work, struct member *member, int why)
{
	member->bad = true;
	if (!member->entry) {
		opd_store_rename_damaged(work->store, member->path);
		return;
	}
	op_log(work->store->log, "%s: %s in it is damaged and left out: %s",
	       member->path, member->name, strerror(-why));
	work->packer->pack_damaged = true;
}

static int add_member_content(struct work *work, struct member *member,
			      struct db_sum *sum)
{
	const struct db_member is = { member->name, member->path,
				      member->entry };
	int err = db_sum_add(sum, member->folder, &is);

	if (err != -EBADMSG && err != -EPROTO)
		return err;
	leave_out(work, member, err);
	return 0;
}

/* ---- writing one name -------------------------------------------------------
 */

static int write_parts(struct work *work, const char *name,
		       const struct db_sum *sum)
{
	if (!sum->nr)
		return 0;
	for (size_t i = 1; i < sum->nr; i++)
		op_sample_header_add(db_sum_user(sum, 0), db_sum_user(sum, i));
	work->packer->nr_names++;
	return db_sum_write(sum, work->packer->writer, name);
}

static int write_sum_of_name(struct work *work, struct member *members,
			     size_t nr)
{
	struct db_sum sum;
	int err = db_sum_init(&sum, strstr(members->name, OPD_TREE), nr);

	for (size_t i = 0; i < nr && !err; i++) {
		work->packer->nr_files += !members[i].entry;
		if (!members[i].bad)
			err = add_member_content(work, &members[i], &sum);
	}
	if (!err)
		err = write_parts(work, members->name, &sum);
	if (!err)
		op_verbose(work->store->log, OP_V_SFILE, "packed %s",
			   members->name);
	db_sum_release(&sum);
	return err;
}

/* The members of one name. */
static int write_entry(struct work *work, struct member *members, size_t nr)
{
	if (nr > 1 || !members->entry || work->distrust)
		return write_sum_of_name(work, members, nr);
	work->packer->nr_names++;
	return pack_writer_copy(work->packer->writer,
				db_folder_pack(members->folder),
				members->entry);
}

static int write_entries(struct work *work)
{
	size_t i = 0, next;
	int err = 0;

	while (i < work->nr && !err) {
		for (next = i + 1; next < work->nr; next++)
			if (strcmp(work->members[i].name,
				   work->members[next].name))
				break;
		err = write_entry(work, &work->members[i], next - i);
		i = next;
	}
	return err;
}

static int try_write(struct work *work)
{
	struct opd_packer *packer = work->packer;
	char path[PATH_MAX];
	int err, len = snprintf(path, sizeof(path), "%s/" DB_FOLDER_PACK,
				packer->dir);

	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	packer->nr_files = packer->nr_names = 0;
	err = pack_writer_new(&packer->writer, path, packer->generation);
	if (err)
		return err;
	err = write_entries(work);
	if (err) {
		pack_writer_cancel(packer->writer);
		packer->writer = NULL;
	}
	return err;
}

/* The damaged pack stays where somebody may look at it. */
static void keep_damaged(const struct work *work)
{
	const char *path = db_folder_pack_path(work->folders[0]);
	char bad[PATH_MAX];

	snprintf(bad, sizeof(bad), "%.4000s.bad", path);
	if (link(path, bad) && errno != EEXIST)
		op_log(work->store->log, "%s: %s", bad, strerror(errno));
}

/* Several packs that are sound in part stay as they are: nothing of them may be
 * lost by being put together. */
static int check_damage(const struct work *work)
{
	bool damaged = work->packer->pack_damaged;

	for (size_t i = 0; i < work->nr_folders; i++)
		damaged |= db_folder_pack_is_recovered(work->folders[i]);
	if (!damaged)
		return 0;
	if (work->packer->nr_from)
		return -EBADMSG;
	if (work->packer->pack_damaged)
		keep_damaged(work);
	return 0;
}

int opd_packer_write(struct opd_store *store, struct opd_packer *packer,
		     struct op_diag *diag)
{
	struct work work = { .store = store, .packer = packer };
	int err = open_folders(&work);

	if (!err)
		err = list_members(&work);
	if (!err)
		err = try_write(&work);
	/* Only what is copied is not looked at. */
	if (err == -EBADMSG && !work.distrust) {
		work.distrust = true;
		err = try_write(&work);
	}
	if (!err)
		err = check_damage(&work);
	if (err)
		opd_packer_cancel(packer);
	work_release(&work);
	return err ? op_diag_set(diag, err, "%s: cannot be packed: %s",
				 packer->dir, strerror(-err))
		   : 0;
}
