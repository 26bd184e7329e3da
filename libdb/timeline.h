/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TIMELINE_H
#define LIBDB_TIMELINE_H

/*
 * A time line: which counts of a session's sample files came when. Time is cut
 * into slices of equal length. When there are more than the file may keep,
 * neighbours are added up and slices are twice as long, so the file has a
 * bounded number of them however long the session is.
 *
 * A count is known by its id, a hash of the sample file's name and of the key
 * in it, or of the path to a node in it. So the time line knows neither names
 * nor stacks, and stays true when sample files are packed or added up.
 *
 * The sums are in the sample files alone. The time line has those counts that a
 * writer has put down; what the sample files have besides came later, or
 * nobody knows when. So a killed writer loses no count, and makes none up:
 *
 *	sample files	|=============================================|
 *	slices		| 0 | 1 | 2 |   | 4 | 5 |  not written yet    |
 *
 * One process writes a file (the caller's lock), any number may read it
 * meanwhile: records are added at the end, each with a checksum.
 *
 * No function prints or exits; errors are negative errno values.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"

#define TIMELINE_FILE "timeline" /* in the folder of a session */
#define TIMELINE_LEN_MIN UINT64_C(62500000) /* of a slice, ns: 1/16 s */

/* ---- ids ------------------------------------------------------------------
 */

/* No id is 0. */
static inline uint64_t timeline_id(uint64_t hash)
{
	return hash ?: 1;
}

/* The sample file @name, without the folder of the session. */
static inline uint64_t timeline_file(uint64_t seed, const char *name)
{
	return op_hash_text(seed, name);
}

/* The key @key in the table @file. */
static inline uint64_t timeline_key(uint64_t file, uint64_t key)
{
	return timeline_id(op_hash_mix(file, key));
}

/* An image of a call tree, by the bytes that describe it. */
static inline uint64_t timeline_image(uint64_t seed, const void *bytes,
				      size_t len)
{
	return op_hash_bytes(seed, bytes, len);
}

/* A node of a call tree; @parent is the node that called it, or the file. */
static inline uint64_t timeline_node(uint64_t parent, uint64_t image,
				     uint64_t offset)
{
	return timeline_id(op_hash_mix(op_hash_mix(parent, image), offset));
}

struct ctree;

/* *@out are the ids of the nodes of @tree, which is open to be read, in the
 * sample file @file: by number, from 1 on. To be freed. Returns 0 or -ENOMEM.
 */
int timeline_tree_ids(const struct ctree *tree, uint64_t seed, uint64_t file,
		      uint64_t **out);

/* ---- what is in a file ----------------------------------------------------
 */

struct timeline_head {
	uint64_t begin; /* of slice 0, ns since the epoch */
	uint64_t len; /* of a slice, ns */
	uint64_t seed; /* of ids */
	uint32_t most; /* slices */
	bool is_open; /* a writer is at work, or was killed */
	/* Some counts came at an unknown time: a writer was killed before, or
	 * there were samples before the time line. */
	bool is_dirty;
};

struct timeline_count {
	uint64_t id;
	uint64_t count; /* never 0 */
};

/* Counts of one slice, of which there may be several entries. */
struct timeline_slice {
	uint64_t nr; /* it begins @nr lengths behind the begin */
	struct timeline_count *counts; /* each id once */
	size_t nr_counts;
};

struct timeline {
	struct timeline_head head;
	struct timeline_slice *slices; /* ascending */
	size_t nr_slices;
	uint64_t *ids; /* in the order in which they came first */
	size_t nr_ids;
	uint64_t end; /* bytes of the file that are sound */
	bool is_cut; /* there are more, which are not */
};

/* ---- reading ------------------------------------------------------------- */

/*
 * Read the file @path. A record that is not sound ends it. Returns 0; -ENOENT;
 * -EBADMSG when not even the header is sound, -EPROTO when that is of another
 * version or byte order; -ENOMEM or another -errno.
 */
int timeline_read(struct timeline *timeline, const char *path);
void timeline_release(struct timeline *timeline);

/* ---- writing ------------------------------------------------------------- */

struct timeline_writer;

/*
 * Go on with the file @path, whose own head counts then, or make one with
 * @head. Counts that a killed writer did not put down make it dirty. What is
 * damaged is replaced. *@out is set on success only. @room, unless NULL, is
 * what the file takes bytes of when it grows; without enough nothing more is
 * written (-EDQUOT). Returns 0 or -errno.
 */
int timeline_open(struct timeline_writer **out, const char *path,
		  const struct timeline_head *head, uint64_t *room);

const struct timeline_head *timeline_head_of(const struct timeline_writer *w);

/*
 * Put down @nr @counts of the slice @slice, each id once. They are in memory
 * until they are flushed, or when there are many. Returns 0, or -errno: then
 * the time line ends here, as if the writer was killed.
 */
int timeline_put(struct timeline_writer *w, uint64_t slice,
		 const struct timeline_count *counts, size_t nr);

/*
 * Write what is in memory. Returns 0 or -errno, likewise. *@halved, unless
 * NULL, is how often slices have become twice as long: numbers of slices are
 * to be shifted by it.
 */
int timeline_flush(struct timeline_writer *w, unsigned int *halved);

/* Flush, and say that nothing is missing if @is_whole. Frees @w in any case.
 * NULL is allowed. */
int timeline_close(struct timeline_writer *w, bool is_whole);

/* Say that some counts are of an unknown time. */
void timeline_soil(struct timeline_writer *w);

#endif /* LIBDB_TIMELINE_H */
