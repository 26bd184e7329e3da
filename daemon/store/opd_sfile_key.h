/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_SFILE_KEY_H
#define DAEMON_STORE_OPD_SFILE_KEY_H

/*
 * Which context a set of sample files is for (opd_sfile.h). Images and names
 * are there once, so that two of them are the same if their addresses are.
 */

#include <stdbool.h>
#include <stdint.h>

struct opd_image;

/*
 * Members that the settings do not separate by are OP_MANGLE_ALL; for samples
 * that are not in anonymous memory its members are zero.
 */
struct opd_sfile_key {
	struct opd_image *app; /* the first image of the application's name */
	struct opd_image *dep; /* what the samples are in */
	const char *anon; /* kept by opd_anon */
	uint64_t start;
	uint64_t end;
	int64_t anon_tgid;
	int64_t tgid;
	int64_t tid;
	int64_t cpu;
	int64_t user; /* who owned the process */
	const char *cgroup; /* kept by opd_tasks; NULL: not separated */
};

/* The function's side of an arc: the place that the caller in the key has
 * called. */
struct opd_callee {
	struct opd_image *image;
	const char *anon; /* these four as in the key */
	uint64_t start;
	uint64_t end;
	int64_t anon_tgid;
};

static inline uint64_t opd_key_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static inline uint64_t opd_sfile_key_hash(const struct opd_sfile_key *key)
{
	uint64_t hash = opd_key_mix(opd_key_mix(0, (uintptr_t)key->app),
				    (uintptr_t)key->dep);

	hash = opd_key_mix(hash,
			   (uint64_t)key->tgid ^ (uint64_t)key->tid << 32);
	hash = opd_key_mix(hash, (uint64_t)key->cpu ^ key->start);
	hash = opd_key_mix(hash,
			   (uintptr_t)key->cgroup ^ (uint64_t)key->user << 48);
	if (key->anon)
		hash = opd_key_mix(
			opd_key_mix(hash, key->end ^ (uint64_t)key->anon_tgid),
			(uintptr_t)key->anon);
	return hash;
}

/* In line, which memcmp(3) of this length is not. */
static inline bool opd_sfile_key_same(const struct opd_sfile_key *a,
				      const struct opd_sfile_key *b)
{
	uint64_t differ = ((uintptr_t)a->app ^ (uintptr_t)b->app) |
			  ((uintptr_t)a->dep ^ (uintptr_t)b->dep) |
			  ((uintptr_t)a->anon ^ (uintptr_t)b->anon) |
			  ((uintptr_t)a->cgroup ^ (uintptr_t)b->cgroup);

	differ |= (a->start ^ b->start) | (a->end ^ b->end);
	differ |= (uint64_t)((a->anon_tgid ^ b->anon_tgid) |
			     (a->tgid ^ b->tgid) | (a->tid ^ b->tid) |
			     (a->cpu ^ b->cpu) | (a->user ^ b->user));
	return differ == 0;
}

#endif /* DAEMON_STORE_OPD_SFILE_KEY_H */
