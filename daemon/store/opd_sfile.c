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

#include "daemon/opd.h"
#include "daemon/source/opd_proc.h"
#include "daemon/store/opd_sample_file.h"
#include "libdb/odb.h"

/* Where the kernel does not tell how many mappings a process may have. */
#define DEFAULT_MAPS 65530
#define CACHE_LINE 64

_Static_assert(OP_MAX_COUNTERS <= 32, "opd_sfile.failed has a bit for each");

/*
 * An open database is one mapping and no descriptor. Databases may have half of
 * the mappings that the kernel allows a process.
 */
void opd_sfiles_init(struct opd *opd)
{
	uint64_t maps = opd_proc_max_maps();

	opd->sfiles.max_open = (maps ? maps : DEFAULT_MAPS) / 2;
}

/* ---- dropping ---------------------------------------------------------------
 */

/* Call @fn for each sfile; it may drop the one that it is given. */
static void for_each(struct opd *opd,
		     void (*fn)(struct opd *opd, struct opd_sfile *sfile,
				const void *arg),
		     const void *arg)
{
	struct opd_sfile *sfile, *next;

	for (size_t i = 0; i < OPD_SFILE_BUCKETS; i++) {
		for (sfile = opd->sfiles.bucket[i]; sfile; sfile = next) {
			next = sfile->chain;
			fn(opd, sfile, arg);
		}
	}
}

static void drop(struct opd *opd, struct opd_sfile *sfile)
{
	struct opd_sfiles *sfiles = &opd->sfiles;
	struct opd_sfile **at =
		&sfiles->bucket[sfile->hash % OPD_SFILE_BUCKETS];

	while (*at != sfile)
		at = &(*at)->chain;
	*at = sfile->chain;
	opd_trans_forget_sfile(&opd->trans, sfile);
	for (unsigned int i = 0; i < sfile->nr_odbs; i++)
		opd_sfile_close_odb(opd, &sfile->odbs[i]);
	opd_extended_close(opd, sfile);
	sfiles->nr--;
	free(sfile);
}

static void drop_any(struct opd *opd, struct opd_sfile *sfile, const void *arg)
{
	(void)arg;
	drop(opd, sfile);
}

static void drop_until(struct opd *opd, struct opd_sfile *sfile,
		       const void *last)
{
	if (sfile->used <= *(const uint64_t *)last)
		drop(opd, sfile);
}

void opd_sfiles_drop_all(struct opd *opd)
{
	for_each(opd, drop_any, NULL);
	opd_trees_drop_all(opd);
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
static void drop_oldest(struct opd *opd)
{
	struct opd_sfiles *sfiles = &opd->sfiles;
	uint64_t last;

	if (sfiles->nr < 2)
		return;
	op_verbose(&opd->log, OP_V_SFILE, "closing some of %zu sample files",
		   sfiles->nr);
	last = find_old_use(sfiles);
	for_each(opd, drop_until, &last);
}

static void limit_open(struct opd *opd)
{
	const struct opd_sfiles *sfiles = &opd->sfiles;

	if (sfiles->nr_open >= sfiles->max_open ||
	    sfiles->nr >= sfiles->max_open)
		drop_oldest(opd);
}

/* ---- finding ----------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_key(const struct opd_sfile_key *key)
{
	uint64_t hash = mix(mix(0, (uintptr_t)key->app), (uintptr_t)key->dep);

	hash = mix(hash, (uint64_t)key->tgid ^ (uint64_t)key->tid << 32);
	hash = mix(hash, (uint64_t)key->cpu ^ key->start);
	if (key->anon)
		hash = mix(mix(hash, key->end ^ (uint64_t)key->anon_tgid),
			   (uintptr_t)key->anon);
	return hash;
}

/* In line, which memcmp(3) of this length is not. */
static bool same_key(const struct opd_sfile_key *a,
		     const struct opd_sfile_key *b)
{
	uint64_t differ = ((uintptr_t)a->app ^ (uintptr_t)b->app) |
			  ((uintptr_t)a->dep ^ (uintptr_t)b->dep) |
			  ((uintptr_t)a->anon ^ (uintptr_t)b->anon);

	differ |= (a->start ^ b->start) | (a->end ^ b->end);
	differ |=
		(uint64_t)((a->anon_tgid ^ b->anon_tgid) | (a->tgid ^ b->tgid) |
			   (a->tid ^ b->tid) | (a->cpu ^ b->cpu));
	return differ == 0;
}

uint64_t opd_sfile_hash(const struct opd_sfile_key *key)
{
	return hash_key(key);
}

bool opd_sfile_same(const struct opd_sfile_key *a,
		    const struct opd_sfile_key *b)
{
	return same_key(a, b);
}

static uint64_t hash_callee(uint64_t hash, const struct opd_callee *callee)
{
	hash = mix(hash, (uintptr_t)callee->image);
	if (callee->anon)
		hash = mix(mix(hash, callee->start ^ (uint64_t)callee->end),
			   (uintptr_t)callee->anon ^
				   (uint64_t)callee->anon_tgid);
	return hash;
}

static bool same_callee(const struct opd_callee *a, const struct opd_callee *b)
{
	return a->image == b->image && a->anon == b->anon &&
	       a->start == b->start && a->end == b->end &&
	       a->anon_tgid == b->anon_tgid;
}

static struct opd_sfile *new_sfile(struct opd *opd,
				   const struct opd_sfile_key *key,
				   const struct opd_callee *callee,
				   uint64_t hash)
{
	struct opd_sfiles *sfiles = &opd->sfiles;
	unsigned int nr = opd->events.nr;
	struct opd_sfile **bucket = &sfiles->bucket[hash % OPD_SFILE_BUCKETS];
	struct opd_sfile *sfile;
	void *memory;
	size_t len;

	len = sizeof(*sfile) + nr * sizeof(sfile->odbs[0]);
	if (callee)
		len += sizeof(*callee);
	if (posix_memalign(&memory, CACHE_LINE, len))
		return NULL;
	sfile = memset(memory, 0, len);
	sfile->key = *key;
	sfile->hash = hash;
	sfile->nr_odbs = nr;
	if (callee)
		sfile->callee =
			memcpy(&sfile->odbs[nr], callee, sizeof(*callee));
	sfile->chain = *bucket;
	*bucket = sfile;
	sfile->used = ++sfiles->uses;
	sfiles->nr++;
	opd_ksyms_want(opd, key->dep);
	limit_open(opd);
	return sfile;
}

struct opd_sfile *opd_sfile_get(struct opd *opd,
				const struct opd_sfile_key *key)
{
	uint64_t hash = hash_key(key);
	struct opd_sfile *sfile = opd->sfiles.bucket[hash % OPD_SFILE_BUCKETS];

	for (; sfile; sfile = sfile->chain) {
		if (sfile->hash == hash && !sfile->callee &&
		    same_key(&sfile->key, key)) {
			sfile->used = ++opd->sfiles.uses;
			return sfile;
		}
	}
	return new_sfile(opd, key, NULL, hash);
}

struct opd_sfile *opd_sfile_get_arcs(struct opd *opd,
				     const struct opd_sfile_key *key,
				     const struct opd_callee *callee)
{
	uint64_t hash = hash_callee(hash_key(key), callee);
	struct opd_sfile *sfile = opd->sfiles.bucket[hash % OPD_SFILE_BUCKETS];

	for (; sfile; sfile = sfile->chain) {
		if (sfile->hash == hash && sfile->callee &&
		    same_key(&sfile->key, key) &&
		    same_callee(sfile->callee, callee)) {
			sfile->used = ++opd->sfiles.uses;
			return sfile;
		}
	}
	return new_sfile(opd, key, callee, hash);
}

/* ---- counting ---------------------------------------------------------------
 */

int opd_sfile_open_odb(struct opd *opd, const struct opd_sfile *sfile,
		       const struct opd_event *event, struct odb **odb)
{
	int err;

	limit_open(opd);
	err = opd_sample_file_open(opd, sfile, event, odb);
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM) {
		drop_oldest(opd);
		err = opd_sample_file_open(opd, sfile, event, odb);
	}
	if (!err)
		opd->sfiles.nr_open++;
	return err;
}

void opd_sfile_close_odb(struct opd *opd, struct odb **odb)
{
	opd->sfiles.nr_open -= *odb != NULL;
	odb_close(*odb);
	*odb = NULL;
}

static int open_odb(struct opd *opd, struct opd_sfile *sfile,
		    unsigned int counter)
{
	int err;

	if (sfile->failed & UINT32_C(1) << counter)
		return -EIO;
	err = opd_sfile_open_odb(opd, sfile, &opd->events.counter[counter],
				 &sfile->odbs[counter]);
	if (err)
		sfile->failed |= UINT32_C(1) << counter;
	return err;
}

static int add(struct opd *opd, struct opd_sfile *sfile, unsigned int counter,
	       uint64_t offset)
{
	int err = 0;

	if (!sfile->odbs[counter])
		err = open_odb(opd, sfile, counter);
	return err ? err : odb_add(sfile->odbs[counter], offset, 1);
}

/* Somebody deleted the file or put another in its place. */
static void forget_odb(struct opd *opd, struct opd_sfile *sfile,
		       unsigned int counter)
{
	if (!sfile->odbs[counter])
		return;
	op_log(&opd->log, "a sample file was deleted: starting a new one");
	opd->stats.recount = true;
	opd_sfile_close_odb(opd, &sfile->odbs[counter]);
}

int opd_sfile_add(struct opd *opd, struct opd_sfile *sfile,
		  unsigned int counter, uint64_t offset)
{
	int err = add(opd, sfile, counter, offset);

	if (err == -ESTALE || err == -ENOENT) {
		forget_odb(opd, sfile, counter);
		err = add(opd, sfile, counter, offset);
	}
	if (err && sfile->odbs[counter])
		op_log(&opd->log, "a sample file cannot grow: %s",
		       strerror(-err));
	return err;
}

static void sync_one(struct opd *opd, struct opd_sfile *sfile, const void *arg)
{
	(void)arg;
	sfile->failed = 0;
	for (unsigned int i = 0; i < sfile->nr_odbs; i++)
		if (sfile->odbs[i] && odb_sync(sfile->odbs[i]))
			op_log(&opd->log, "a sample file cannot be written");
	opd_extended_sync(opd, sfile);
}

void opd_sfiles_sync(struct opd *opd)
{
	for_each(opd, sync_one, NULL);
	opd_trees_sync(opd);
}
