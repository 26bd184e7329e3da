// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file is opened, compared with the header that the new samples need, and
 * used if both agree. A damaged one is renamed and the opening is tried once
 * more, which finds nothing in the way. A file with an empty header and no
 * samples is new. Before it gets its header, everything else that counts under
 * its name, in the pack or on its way there, must agree too.
 *
 * Names tell builds and rates apart, so all that can disagree is what an event
 * of that name and number means: the session was begun on another CPU, or with
 * another list of events. Then no sample is added, and the log says what to do.
 *
 * Flat files and call trees differ only in the library that opens them (struct
 * store), as both keep the same header.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/opd_events.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_mangling.h"
#include "daemon/store/opd_sample_file.h"
#include "daemon/store/opd_store.h"
#include "libdb/ctree.h"
#include "libdb/db_folder.h"
#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libop/base/op_log.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_session.h"

#define OTHER_MEANING                                                          \
	"the session has samples of another event with that name; reset or save it"
#define NODE_BYTES 32 /* in a call tree, at least */
/* Bytes that the path of a file gets longer by where its folder moves: into
 * .packing-N of .closing-BEGIN-END of a saved session, whose name is longer. */
#define MOVED_BYTES (96 + NAME_MAX)

_Static_assert(sizeof(struct op_sample_header) == ODB_USER_SIZE,
	       "the header is the database's user part");

static void fill_callee(struct op_sample_header *header,
			const struct opd_image *image)
{
	header->cg_mtime = image->mtime;
	header->cg_build_id_len = image->build_id.len;
	memcpy(header->cg_build_id, image->build_id.bytes,
	       sizeof(header->cg_build_id));
}

static void fill_header(struct op_sample_header *header,
			const struct opd_store *store,
			const struct opd_sfile_key *key,
			const struct opd_event *event)
{
	const struct opd_image *image = key->dep;
	bool timer = opd_event_is_timer(event);

	memset(header, 0, sizeof(*header));
	header->magic = OP_SAMPLE_MAGIC;
	header->version = OP_SAMPLE_VERSION;
	header->kind = image->kind;
	header->event = timer ? 0 : (uint32_t)event->value;
	header->timer_hz = timer ? (uint32_t)event->value : 0;
	header->count = event->count;
	header->unit_mask = (uint32_t)event->um;
	header->mtime = image->mtime;
	header->anon_start = key->start;
	header->build_id_len = image->build_id.len;
	memcpy(header->build_id, image->build_id.bytes,
	       sizeof(header->build_id));
	header->cpu_khz = store->cpu_khz;
	header->derived = event->derived;
	snprintf(header->cpu_type, sizeof(header->cpu_type), "%s",
		 timer ? "timer" : store->cpu_type);
}

static bool same_meaning(const struct op_sample_header *a,
			 const struct op_sample_header *b)
{
	return a->kind == b->kind && a->event == b->event &&
	       a->derived == b->derived;
}

uint64_t opd_sample_file_samples(struct odb *odb)
{
	struct odb_stat stat;

	odb_stat(odb, &stat);
	return op_sample_header_samples(odb_user(odb), stat.total);
}

/* ---- what keeps them --------------------------------------------------------
 */

/* An open sample file: a table or a call tree. */
struct sample_file {
	struct odb *odb;
	struct ctree *tree;
	bool is_tree;
	char path[PATH_MAX];
};

static int file_open(struct sample_file *file)
{
	return file->is_tree ? ctree_open(&file->tree, file->path, ODB_RDWR)
			     : odb_open(&file->odb, file->path, ODB_RDWR);
}

static void file_close(struct sample_file *file)
{
	ctree_close(file->tree);
	odb_close(file->odb);
	file->tree = NULL;
	file->odb = NULL;
}

static bool file_is_torn(const struct sample_file *file)
{
	return file->is_tree ? ctree_is_torn(file->tree)
			     : odb_is_torn(file->odb);
}

static void *file_user(const struct sample_file *file)
{
	return file->is_tree ? ctree_user(file->tree) : odb_user(file->odb);
}

/* The samples that are in the file and no other. */
static uint64_t file_total(const struct sample_file *file, const char *name)
{
	/* The samples of call graphs are those of flat files once more. */
	if (!file->odb || strstr(name, OPD_ARCS))
		return 0;
	return opd_sample_file_samples(file->odb);
}

/* ---- opening ----------------------------------------------------------------
 */

static int open_with_folders(struct sample_file *file)
{
	int err = file_open(file);

	if (err != -ENOENT)
		return err;
	err = op_make_parents(file->path, 0755);
	return err ? err : file_open(file);
}

static int open_and_make(struct opd_store *store, struct sample_file *file)
{
	uint64_t taken;
	int err = opd_disk_take(store, file->path, &taken);

	if (err)
		return err;
	err = open_with_folders(file);
	if (err)
		opd_disk_give_back(store, taken);
	else if (file->is_tree)
		ctree_share_room(file->tree, opd_disk_room(store));
	else
		odb_share_room(file->odb, opd_disk_room(store));
	return err;
}

static bool is_new(const struct sample_file *file, const char *name)
{
	static const struct op_sample_header zero;

	return !memcmp(file_user(file), &zero, sizeof(zero)) &&
	       file_total(file, name) == 0;
}

/*
 * Returns 0 when samples of @header may be added to @store; -EBADMSG when it is
 * damaged, -EEXIST when it is about something else.
 */
static int match_header(const struct sample_file *file,
			const struct op_sample_header *header)
{
	struct op_sample_header *there = file_user(file);

	if (op_sample_header_check(there, file->path, NULL))
		return -EBADMSG;
	return same_meaning(there, header) ? 0 : -EEXIST;
}

/*
 * The same for a file that has no samples yet, which gets its header if all
 * that is counted under its name elsewhere agrees.
 */
static int begin_file(struct opd_store *store, const struct sample_file *file,
		      const struct op_sample_header *header, const char *name)
{
	int err = opd_pack_check_header(store, name, header, same_meaning);

	if (!err)
		memcpy(file_user(file), header, sizeof(*header));
	return err;
}

/* The account counts what is left. */
static void report_torn(struct opd_store *store, const struct sample_file *file)
{
	if (!file_is_torn(file))
		return;
	store->recount = true;
	op_log(store->log,
	       "%s: pages are missing, probably after a power failure; counting continues from what was on disk",
	       file->path);
}

static int open_checked(struct opd_store *store, const char *name,
			const struct op_sample_header *header,
			struct sample_file *file)
{
	int err = -EIO;

	/* The second time nothing is in the way any more. */
	for (int tries = 0; tries < 2; tries++) {
		err = open_and_make(store, file);
		if (!err && is_new(file, name)) {
			err = begin_file(store, file, header, name);
			if (err)
				break;
			return 0;
		}
		if (!err)
			err = match_header(file, header);
		if (!err) {
			report_torn(store, file);
			return 0;
		}
		file_close(file);
		if (err != -EBADMSG && err != -EPROTO)
			break;
		opd_store_rename_damaged(store, file->path);
	}
	file_close(file);
	return err;
}

/* @err is how it was to find @name. */
static int open_named(struct opd_store *store, int err, const char *name,
		      const struct opd_image *image,
		      const struct op_sample_header *header,
		      struct sample_file *file)
{
	if (!err)
		err = db_folder_loose(store->session->current, name, file->path,
				      sizeof(file->path) - MOVED_BYTES);
	if (!err)
		err = open_checked(store, name, header, file);
	if (err == -EDQUOT)
		opd_disk_refused(store, err);
	else if (err)
		op_log(store->log, "sample file of %s: %s",
		       image->name ? image->name : "anonymous memory",
		       err == -EEXIST ? OTHER_MEANING : strerror(-err));
	else
		op_verbose(store->log, OP_V_SFILE, "opened %s", name);
	return err;
}

int opd_sample_file_open(struct opd_store *store, const struct opd_sfile *sfile,
			 const struct opd_event *event, struct odb **out,
			 uint64_t *id)
{
	struct sample_file file = { .is_tree = false };
	struct op_sample_header header;
	char name[OP_MANGLE_MAX];
	int err;

	fill_header(&header, store, &sfile->key, event);
	if (sfile->callee)
		fill_callee(&header, sfile->callee->image);
	err = opd_mangle(&sfile->key, sfile->callee, event, name, sizeof(name));
	err = open_named(store, err, name, sfile->key.dep, &header, &file);
	if (err)
		return err;
	*out = file.odb;
	*id = timeline_file(store->timeline.seed, name);
	return 0;
}

int opd_sample_file_open_tree(struct opd_store *store,
			      const struct opd_sfile_key *key,
			      const struct opd_event *event, struct ctree **out,
			      uint64_t *nr_nodes, uint64_t *id)
{
	struct sample_file file = { .is_tree = true };
	struct op_sample_header header;
	char name[OP_MANGLE_MAX];
	struct stat st;
	int err;

	/* All builds of an application share its tree, which tells builds of
	 * its own for each function. */
	fill_header(&header, store, key, event);
	header.mtime = 0;
	header.build_id_len = 0;
	memset(header.build_id, 0, sizeof(header.build_id));
	err = opd_mangle_tree(key, event, name, sizeof(name));
	err = open_named(store, err, name, key->dep, &header, &file);
	if (err)
		return err;
	*out = file.tree;
	*id = timeline_file(store->timeline.seed, name);
	*nr_nodes = 0;
	if (!stat(file.path, &st))
		*nr_nodes = (uint64_t)st.st_size / NODE_BYTES;
	return 0;
}
