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

#include "daemon/opd.h"
#include "daemon/store/opd_mangling.h"
#include "daemon/store/opd_sample_file.h"
#include "libdb/ctree.h"
#include "libdb/odb.h"

#define OTHER_MEANING                                                          \
	"the session has samples of another event with that name; reset or save it"
#define NODE_BYTES 32 /* in a call tree, at least */
#define MAX_NAMES 1000 /* tried for a damaged file */

_Static_assert(sizeof(struct op_sample_header) == ODB_USER_SIZE,
	       "the header is the database's user part");

static void fill_callee(struct op_sample_header *header,
			const struct opd_image *image)
{
	header->cg_mtime = image->mtime;
	header->cg_build_id_len = image->build_id.len;
	memcpy(header->cg_build_id, image->build_id.bytes, image->build_id.len);
}

static void fill_header(struct op_sample_header *header, const struct opd *opd,
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
	memcpy(header->build_id, image->build_id.bytes, image->build_id.len);
	header->cpu_khz = opd->cpu_khz;
	header->derived = event->derived;
	snprintf(header->cpu_type, sizeof(header->cpu_type), "%s",
		 timer ? "timer" : opd->cpu_type);
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

void opd_sample_file_damaged(struct opd *opd, const char *path)
{
	char bad[PATH_MAX + 16];

	for (int i = 1; i < MAX_NAMES; i++) {
		if (i == 1)
			snprintf(bad, sizeof(bad), "%s.bad", path);
		else
			snprintf(bad, sizeof(bad), "%s.bad-%d", path, i);
		if (access(bad, F_OK)) {
			opd->stats.recount = true;
			op_log(&opd->log,
			       "%s: damaged sample file, renamed to .bad: %s",
			       path,
			       rename(path, bad) ? strerror(errno) : "done");
			return;
		}
	}
	op_log(&opd->log, "%s: there are too many earlier files of this name",
	       path);
}

/* ---- what keeps them --------------------------------------------------------
 */

/* An open sample file: a table or a call tree. */
struct store {
	struct odb *odb;
	struct ctree *tree;
	bool is_tree;
};

static int store_open(struct store *store, const char *path)
{
	return store->is_tree ? ctree_open(&store->tree, path, ODB_RDWR)
			      : odb_open(&store->odb, path, ODB_RDWR);
}

static void store_close(struct store *store)
{
	ctree_close(store->tree);
	odb_close(store->odb);
	store->tree = NULL;
	store->odb = NULL;
}

static void *store_user(const struct store *store)
{
	return store->is_tree ? ctree_user(store->tree) : odb_user(store->odb);
}

/* The samples that are in the file and no other. */
static uint64_t store_total(const struct store *store, const char *name)
{
	/* What call graphs count are the samples of flat files once more. */
	if (!store->odb || strstr(name, OPD_ARCS))
		return 0;
	return opd_sample_file_samples(store->odb);
}

/* ---- opening ----------------------------------------------------------------
 */

static int open_and_make(struct store *store, const char *path)
{
	int err = store_open(store, path);

	if (err != -ENOENT)
		return err;
	err = opd_make_parents(path);
	return err ? err : store_open(store, path);
}

static bool is_new(const struct store *store, const char *name)
{
	static const struct op_sample_header zero;

	return !memcmp(store_user(store), &zero, sizeof(zero)) &&
	       store_total(store, name) == 0;
}

/*
 * Returns 0 when samples of @header may be added to @store; -EBADMSG when it is
 * damaged, -EEXIST when it is about something else.
 */
static int match_header(const struct store *store,
			const struct op_sample_header *header, const char *path)
{
	struct op_sample_header *there = store_user(store);

	if (op_sample_header_check(there, path, NULL))
		return -EBADMSG;
	return same_meaning(there, header) ? 0 : -EEXIST;
}

/*
 * The same for a file that has no samples yet, which gets its header if all
 * that is counted under its name elsewhere agrees.
 */
static int begin_file(struct opd *opd, const struct store *store,
		      const struct op_sample_header *header, const char *name)
{
	int err = opd_pack_check_header(opd, name, header, same_meaning);

	if (!err)
		memcpy(store_user(store), header, sizeof(*header));
	return err;
}

static int open_checked(struct opd *opd, const char *path, const char *name,
			const struct op_sample_header *header,
			struct store *store)
{
	int err = -EIO;

	/* The second time nothing is in the way any more. */
	for (int tries = 0; tries < 2; tries++) {
		err = open_and_make(store, path);
		if (!err && is_new(store, name)) {
			err = begin_file(opd, store, header, name);
			if (err)
				break;
			return 0;
		}
		if (!err)
			err = match_header(store, header, path);
		if (!err)
			return 0;
		store_close(store);
		if (err != -EBADMSG && err != -EPROTO)
			break;
		opd_sample_file_damaged(opd, path);
	}
	store_close(store);
	return err;
}

static int path_of(const struct opd *opd, const char *name, char *path,
		   size_t len)
{
	int done = snprintf(path, len, "%s/%s", opd->session.current, name);

	return done < 0 || (size_t)done >= len ? -ENAMETOOLONG : 0;
}

/* @err is how it was to find @name. */
static int open_named(struct opd *opd, int err, const char *name,
		      const struct opd_image *image,
		      const struct op_sample_header *header,
		      struct store *store)
{
	char path[PATH_MAX];

	if (!err)
		err = path_of(opd, name, path, sizeof(path));
	if (!err)
		err = open_checked(opd, path, name, header, store);
	if (err)
		op_log(&opd->log, "sample file of %s: %s",
		       image->name ? image->name : "anonymous memory",
		       err == -EEXIST ? OTHER_MEANING : strerror(-err));
	else
		op_verbose(&opd->log, OP_V_SFILE, "opened %s", name);
	return err;
}

int opd_sample_file_open(struct opd *opd, const struct opd_sfile *sfile,
			 const struct opd_event *event, struct odb **out)
{
	struct store store = { .is_tree = false };
	struct op_sample_header header;
	char name[OP_MANGLE_MAX];
	int err;

	fill_header(&header, opd, &sfile->key, event);
	if (sfile->callee)
		fill_callee(&header, sfile->callee->image);
	err = opd_mangle(sfile, event, name, sizeof(name));
	err = open_named(opd, err, name, sfile->key.dep, &header, &store);
	if (!err)
		*out = store.odb;
	return err;
}

int opd_sample_file_open_tree(struct opd *opd, const struct opd_sfile_key *key,
			      const struct opd_event *event, struct ctree **out,
			      uint64_t *nr_nodes)
{
	struct store store = { .is_tree = true };
	struct op_sample_header header;
	char name[OP_MANGLE_MAX], path[PATH_MAX];
	struct stat st;
	int err;

	/* All builds of an application share its tree, which tells builds of
	 * its own for each function. */
	fill_header(&header, opd, key, event);
	header.mtime = 0;
	header.build_id_len = 0;
	memset(header.build_id, 0, sizeof(header.build_id));
	err = opd_mangle_tree(key, event, name, sizeof(name));
	err = open_named(opd, err, name, key->dep, &header, &store);
	if (err)
		return err;
	*out = store.tree;
	*nr_nodes = 0;
	if (!path_of(opd, name, path, sizeof(path)) && !stat(path, &st))
		*nr_nodes = (uint64_t)st.st_size / NODE_BYTES;
	return 0;
}
