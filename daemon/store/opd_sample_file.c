// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file is opened, compared with the header that the new samples need, and
 * used if both agree. A file that does not agree makes way and the opening is
 * tried once more, which finds nothing in the way. A file with an empty header
 * and no samples is new. Before it gets its header, everything else that counts
 * under its name, in the pack or on its way there, must agree too, or makes way
 * (opd_pack_make_way()).
 *
 * Making way is one rename, so a kill leaves the file either here or in the
 * session "aside". The two ledgers are changed after it. If the daemon is
 * killed in between, the next one counts the files that it finds, so the ledger
 * of this session adds up again, with these samples as lost; that of "aside"
 * may lack them.
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

#define ASIDE "aside"
#define NODE_BYTES 32 /* in a call tree, at least */
#define MAX_NAMES 1000 /* tried for a file that has to make way */

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

/* Whether samples of @b may be added to a file that says @a. */
static bool may_mix(const struct op_sample_header *a,
		    const struct op_sample_header *b)
{
	struct op_build_id a_id = { .len = a->build_id_len };
	struct op_build_id b_id = { .len = b->build_id_len };

	memcpy(a_id.bytes, a->build_id, sizeof(a_id.bytes));
	memcpy(b_id.bytes, b->build_id, sizeof(b_id.bytes));
	if (op_builds_differ(&a_id, a->mtime, &b_id, b->mtime))
		return false;
	a_id.len = a->cg_build_id_len;
	b_id.len = b->cg_build_id_len;
	memcpy(a_id.bytes, a->cg_build_id, sizeof(a_id.bytes));
	memcpy(b_id.bytes, b->cg_build_id, sizeof(b_id.bytes));
	if (op_builds_differ(&a_id, a->cg_mtime, &b_id, b->cg_mtime))
		return false;
	if (a->timer_hz && b->timer_hz && a->timer_hz != b->timer_hz)
		return false;
	return a->kind == b->kind && a->event == b->event &&
	       a->derived == b->derived;
}

static int no_free_name(struct opd *opd, const char *path)
{
	op_log(&opd->log, "%s: there are too many earlier files of this name",
	       path);
	return -EEXIST;
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
	no_free_name(opd, path);
}

/* Give the ledger of session folder @dir @nr more samples, and @stacks. */
static void add_to_ledger(struct opd *opd, const char *dir, uint64_t nr,
			  const uint64_t *stacks)
{
	struct op_ledger ledger = { .taken = 0 }, more = { .taken = 0 };
	struct op_diag diag = { "" };
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%.4000s/ledger", dir);
	err = op_ledger_read(&ledger, path, &diag);
	if (err == -ENOENT)
		memset(&ledger, 0, sizeof(ledger));
	else if (err)
		goto fail;
	more.taken = more.stored = nr;
	memcpy(more.stacks, stacks, sizeof(more.stacks));
	snprintf(more.source, sizeof(more.source), "set aside");
	diag.text[0] = '\0';
	if (!op_ledger_merge(&ledger, &more) &&
	    !op_ledger_write(&ledger, path, &diag))
		return;
fail:
	op_log(&opd->log, "%s: %s", path, diag.text);
}

/* The folder number @i from 1 for what is set aside. Returns 0 or -errno. */
static int aside_path(char *dir, char *path, size_t len, const struct opd *opd,
		      int i, const char *name)
{
	const char *samples = opd->session.samples;
	int done;

	if (i == 1)
		done = snprintf(dir, len, "%s/" ASIDE, samples);
	else
		done = snprintf(dir, len, "%s/" ASIDE "-%d", samples, i);
	if (done < 0 || (size_t)done >= len)
		return -ENAMETOOLONG;
	done = snprintf(path, len, "%s/%s", dir, name);
	return done < 0 || (size_t)done >= len ? -ENAMETOOLONG : 0;
}

static int move_to(const char *from, const char *to)
{
	int err = opd_make_parents(to);

	if (!err && rename(from, to))
		err = -errno;
	return err;
}

/* What a call tree holds goes with it; a flat file holds no stacks. */
static void count_stacks(const char *path, const char *name, uint64_t *stacks)
{
	struct ctree *tree;

	if (!strstr(name, OPD_TREE) || ctree_open(&tree, path, ODB_RDONLY))
		return;
	(void)opd_tree_count(tree, stacks);
	ctree_close(tree);
}

/* Make way for another build: move @path, which holds @nr samples. */
static int set_aside(struct opd *opd, const char *path, const char *name,
		     uint64_t nr)
{
	uint64_t stacks[OP_NR_STACKS] = { 0 };
	char dir[PATH_MAX], to[PATH_MAX];

	for (int i = 1; i < MAX_NAMES; i++) {
		int err = aside_path(dir, to, sizeof(to), opd, i, name);

		if (!err && !access(to, F_OK))
			continue;
		if (!err)
			err = move_to(path, to);
		if (err)
			return err;
		op_log(&opd->log,
		       "%s: %" PRIu64
		       " samples of another build or timer rate were moved to %s",
		       name, nr, dir);
		count_stacks(to, name, stacks);
		opd_stats_set_aside(opd, nr, stacks);
		add_to_ledger(opd, dir, nr, stacks);
		return 0;
	}
	return no_free_name(opd, path);
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
	return may_mix(there, header) ? 0 : -EEXIST;
}

/* Close @store, which is in the way, and move its file. */
static int make_way(struct opd *opd, struct store *store, int why,
		    const char *path, const char *name)
{
	uint64_t nr = store_total(store, name);

	store_close(store);
	if (why == -EEXIST)
		return set_aside(opd, path, name, nr);
	opd_sample_file_damaged(opd, path);
	return 0;
}

/* A file that is not in its place: move_to() for opd_pack_make_way(). */
static int move_packed(struct opd *opd, const char *path, const char *name)
{
	struct store store = { .is_tree = strstr(name, OPD_TREE) };
	int err = store_open(&store, path);
	uint64_t nr;

	if (err)
		return err;
	nr = store_total(&store, name);
	store_close(&store);
	return set_aside(opd, path, name, nr);
}

/*
 * The same for a file that has no samples yet, when all that is counted under
 * its name elsewhere agrees, or has made way.
 */
static int begin_file(struct opd *opd, const struct store *store,
		      const struct op_sample_header *header, const char *name)
{
	int err = opd_pack_make_way(opd, name, header, may_mix, move_packed);

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
		if (err != -EBADMSG && err != -EPROTO && err != -EEXIST)
			break;
		if (make_way(opd, store, err, path, name))
			return err;
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
		       strerror(-err));
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

	fill_header(&header, opd, key, event);
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
