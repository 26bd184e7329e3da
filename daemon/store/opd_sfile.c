// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cache is a hash table of sfiles by key, which holds pointers of images
 * and kept names, so that to compare two keys is to compare words. Each sfile
 * has one database for each counter, which is opened at its first sample.
 *
 * The kernel bounds the mappings of a process, and each open database is one.
 * When the bound is near, an eighth of the sfiles is dropped at once, those
 * that were not used for longest. A use only writes down a number; the order is
 * made when it is needed, which is rarely, by sorting these numbers.
 *
 * A file that cannot be opened is not tried again for each sample, but after
 * the next sync. A file that was deleted or replaced by somebody (-ESTALE) is
 * started anew, and the ledger is told to count again.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/opd_events.h"
#include "daemon/source/opd_proc.h"
#include "daemon/store/opd_sample_file.h"
#include "daemon/store/opd_store.h"
#include "libdb/odb.h"
#include "libop/base/op_log.h"
#include "module/uapi/oprofile.h"

/* Where the kernel does not tell how many mappings a process may have. */
#define DEFAULT_MAPS 65530
#define CACHE_LINE 64

_Static_assert(OP_MAX_COUNTERS <= 32, "opd_sfile.failed has a bit for each");

/*
 * An open database is one mapping and no descriptor. Databases may have half of
 * the mappings that the kernel allows a process.
 */
void opd_sfiles_init(struct opd_store *store)
{
	uint64_t maps = opd_proc_max_maps();

	store->sfiles.max_open = (maps ? maps : DEFAULT_MAPS) / 2;
}

/* ---- dropping ---------------------------------------------------------------
 */

/* Call @fn for each sfile; it may drop the one that it is given. */
static void for_each(struct opd_store *store,
		     void (*fn)(struct opd_store *store,
				struct opd_sfile *sfile, const void *arg),
		     const void *arg)
{
	struct opd_sfile *sfile, *next;

	for (size_t i = 0; i < OPD_SFILE_BUCKETS; i++) {
		for (sfile = store->sfiles.bucket[i]; sfile; sfile = next) {
			next = sfile->chain;
			fn(store, sfile, arg);
		}
	}
}

static void drop(struct opd_store *store, struct opd_sfile *sfile)
{
	struct opd_sfiles *sfiles = &store->sfiles;
	struct opd_sfile **at =
		&sfiles->bucket[sfile->hash % OPD_SFILE_BUCKETS];

	while (*at != sfile)
		at = &(*at)->chain;
	*at = sfile->chain;
	store->client->drop_sfile(store->client->ctx, sfile);
	for (unsigned int i = 0; i < sfile->nr_odbs; i++)
		opd_sfile_close_odb(store, &sfile->odbs[i]);
	sfiles->nr--;
	store->changes++;
	free(sfile);
}

static void drop_any(struct opd_store *store, struct opd_sfile *sfile,
		     const void *arg)
{
	(void)arg;
	drop(store, sfile);
}

static void drop_until(struct opd_store *store, struct opd_sfile *sfile,
		       const void *last)
{
	if (sfile->used <= *(const uint64_t *)last)
		drop(store, sfile);
}

void opd_sfiles_drop_all(struct opd_store *store)
{
	for_each(store, drop_any, NULL);
	opd_trees_drop_all(store);
}

static int compare_uses(const void *a, const void *b)
{
	uint64_t use_a = *(const uint64_t *)a;
	uint64_t use_b = *(const uint64_t *)b;

	return (use_a > use_b) - (use_a < use_b);
}

/* The use before which an eighth of all sfiles were used for the last time. */
static uint64_t find_old_use(const struct opd_sfiles *sfiles)
{
	uint64_t *uses = malloc(sfiles->nr * sizeof(*uses));
	uint64_t use = sfiles->uses - 1;
	size_t nr = 0;

	if (!uses)
		return use;
	for (size_t i = 0; i < OPD_SFILE_BUCKETS; i++)
		for (struct opd_sfile *sfile = sfiles->bucket[i]; sfile;
		     sfile = sfile->chain)
			uses[nr++] = sfile->used;
	qsort(uses, nr, sizeof(*uses), compare_uses);
	use = uses[nr / 8];
	free(uses);
	return use;
}

/*
 * Drop an eighth of the sfiles, those that were not used for longest, but not
 * the one that was used last. Looking at all of them here is cheaper than to
 * keep them in order at each use.
 */
static void drop_oldest(struct opd_store *store)
{
	struct opd_sfiles *sfiles = &store->sfiles;
	uint64_t last;

	if (sfiles->nr < 2)
		return;
	op_verbose(store->log, OP_V_SFILE, "closing some of %zu sample files",
		   sfiles->nr);
	last = find_old_use(sfiles);
	for_each(store, drop_until, &last);
}

static void limit_open(struct opd_store *store)
{
	const struct opd_sfiles *sfiles = &store->sfiles;

	if (sfiles->nr_open >= sfiles->max_open ||
	    sfiles->nr >= sfiles->max_open)
		drop_oldest(store);
}

/* ---- finding ----------------------------------------------------------------
 */

static uint64_t hash_callee(uint64_t hash, const struct opd_callee *callee)
{
	hash = opd_key_mix(hash, (uintptr_t)callee->image);
	if (callee->anon)
		hash = opd_key_mix(
			opd_key_mix(hash,
				    callee->start ^ (uint64_t)callee->end),
			(uintptr_t)callee->anon ^ (uint64_t)callee->anon_tgid);
	return hash;
}

static bool same_callee(const struct opd_callee *a, const struct opd_callee *b)
{
	return a->image == b->image && a->anon == b->anon &&
	       a->start == b->start && a->end == b->end &&
	       a->anon_tgid == b->anon_tgid;
}

static struct opd_sfile *new_sfile(struct opd_store *store,
				   const struct opd_sfile_key *key,
				   const struct opd_callee *callee,
				   uint64_t hash)
{
	struct opd_sfiles *sfiles = &store->sfiles;
	unsigned int nr = store->events->nr;
	struct opd_sfile **bucket = &sfiles->bucket[hash % OPD_SFILE_BUCKETS];
	struct opd_sfile *sfile;
	void *memory;
	size_t len;

	len = sizeof(*sfile) + nr * (sizeof(sfile->odbs[0]) + sizeof(uint64_t));
	if (callee)
		len += sizeof(*callee);
	if (posix_memalign(&memory, CACHE_LINE, len))
		return NULL;
	sfile = memset(memory, 0, len);
	sfile->key = *key;
	sfile->hash = hash;
	sfile->nr_odbs = (uint16_t)nr;
	if (callee)
		sfile->callee = memcpy(opd_sfile_ids(sfile) + nr, callee,
				       sizeof(*callee));
	sfile->chain = *bucket;
	*bucket = sfile;
	opd_sfile_use(store, sfile);
	sfiles->nr++;
	store->client->see_image(store->client->ctx, key->dep);
	limit_open(store);
	return sfile;
}

struct opd_sfile *opd_sfile_get(struct opd_store *store,
				const struct opd_sfile_key *key)
{
	uint64_t hash = opd_sfile_key_hash(key);
	struct opd_sfile *sfile =
		store->sfiles.bucket[hash % OPD_SFILE_BUCKETS];

	for (; sfile; sfile = sfile->chain) {
		if (sfile->hash == hash && !sfile->callee &&
		    opd_sfile_key_same(&sfile->key, key)) {
			opd_sfile_use(store, sfile);
			return sfile;
		}
	}
	return new_sfile(store, key, NULL, hash);
}

struct opd_sfile *opd_sfile_get_arcs(struct opd_store *store,
				     const struct opd_sfile_key *key,
				     const struct opd_callee *callee)
{
	uint64_t hash = hash_callee(opd_sfile_key_hash(key), callee);
	struct opd_sfile *sfile =
		store->sfiles.bucket[hash % OPD_SFILE_BUCKETS];

	for (; sfile; sfile = sfile->chain) {
		if (sfile->hash == hash && sfile->callee &&
		    opd_sfile_key_same(&sfile->key, key) &&
		    same_callee(sfile->callee, callee)) {
			opd_sfile_use(store, sfile);
			return sfile;
		}
	}
	return new_sfile(store, key, callee, hash);
}

/* ---- counting ---------------------------------------------------------------
 */

static int open_with_id(struct opd_store *store, const struct opd_sfile *sfile,
			const struct opd_event *event, struct odb **odb,
			uint64_t *id)
{
	int err;

	limit_open(store);
	err = opd_sample_file_open(store, sfile, event, odb, id);
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM) {
		drop_oldest(store);
		err = opd_sample_file_open(store, sfile, event, odb, id);
	}
	if (!err)
		store->sfiles.nr_open++;
	return err;
}

int opd_sfile_open_odb(struct opd_store *store, const struct opd_sfile *sfile,
		       const struct opd_event *event, struct odb **odb)
{
	uint64_t unused;

	return open_with_id(store, sfile, event, odb, &unused);
}

void opd_sfile_close_odb(struct opd_store *store, struct odb **odb)
{
	store->sfiles.nr_open -= *odb != NULL;
	odb_close(*odb);
	*odb = NULL;
}

static int open_odb(struct opd_store *store, struct opd_sfile *sfile,
		    unsigned int counter)
{
	int err;

	if (sfile->failed & UINT32_C(1) << counter)
		return sfile->why;
	err = open_with_id(store, sfile, &store->events->counter[counter],
			   &sfile->odbs[counter],
			   &opd_sfile_ids(sfile)[counter]);
	if (err) {
		sfile->failed |= UINT32_C(1) << counter;
		sfile->why = err == -EDQUOT ? -EDQUOT : -EIO;
	}
	return err;
}

static int add(struct opd_store *store, struct opd_sfile *sfile,
	       unsigned int counter, uint64_t offset, uint64_t nr)
{
	int err = 0;

	if (!sfile->odbs[counter])
		err = open_odb(store, sfile, counter);
	return err ? err : odb_add(sfile->odbs[counter], offset, nr);
}

void opd_sfile_lose_odb(struct opd_store *store, struct odb **odb)
{
	op_log(store->log, "a sample file was deleted: starting a new one");
	store->recount = true;
	opd_sfile_close_odb(store, odb);
}

/* Open the database first, or one in place of one that was deleted, or tell why
 * there is none. */
static __attribute__((noinline)) int add_slowly(struct opd_store *store,
						struct opd_sfile *sfile,
						unsigned int counter,
						uint64_t offset, uint64_t nr)
{
	int err = add(store, sfile, counter, offset, nr);

	if (err == -ESTALE || err == -ENOENT) {
		if (sfile->odbs[counter])
			opd_sfile_lose_odb(store, &sfile->odbs[counter]);
		err = add(store, sfile, counter, offset, nr);
	}
	if (err == -EDQUOT)
		opd_disk_refused(store, err);
	else if (err && sfile->odbs[counter])
		op_log(store->log, "a sample file cannot grow: %s",
		       strerror(-err));
	return err;
}

int opd_sfile_add(struct opd_store *store, struct opd_sfile *sfile,
		  unsigned int counter, uint64_t offset, uint64_t nr)
{
	struct odb *odb = sfile->odbs[counter];
	int err = 0;

	if (!odb || odb_add(odb, offset, nr))
		err = add_slowly(store, sfile, counter, offset, nr);
	/* Arcs are of samples that have a time already. */
	if (!err && !sfile->callee)
		opd_sfile_time(store, sfile, counter, offset, nr);
	return err;
}

static void sync_one(struct opd_store *store, struct opd_sfile *sfile,
		     const void *arg)
{
	(void)arg;
	sfile->failed = 0;
	for (unsigned int i = 0; i < sfile->nr_odbs; i++)
		if (sfile->odbs[i] && odb_sync(sfile->odbs[i]))
			op_log(store->log, "a sample file cannot be written");
	store->client->sync_sfile(store->client->ctx, sfile);
}

void opd_sfiles_sync(struct opd_store *store)
{
	for_each(store, sync_one, NULL);
	opd_timeline_flush(&store->timeline);
	opd_trees_sync(store);
}
