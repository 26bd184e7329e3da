/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_BLOCK_H
#define DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_BLOCK_H

/*
 * Memory that bytes of a file of perf are read into. Records stay where they
 * were read as long as somebody holds their block, and blocks that nobody holds
 * any more are used again: stacks have kilobytes, which nobody wants to copy,
 * nor to have fresh pages for.
 */

#include <stddef.h>
#include <stdint.h>

/* Bytes, to a multiple of which blocks are aligned. */
#define OPD_PERFDATA_BLOCK (256u << 10)

/* All zeros at first. */
struct opd_perfdata_pool {
	struct opd_perfdata_block *spare;
	size_t nr; /* blocks that there are */
};

struct opd_perfdata_block {
	struct opd_perfdata_pool *pool;
	struct opd_perfdata_block *next; /* of the spare ones */
	size_t nr_holders;
	uint64_t bytes[]; /* OPD_PERFDATA_ROOM of them */
};

#define OPD_PERFDATA_ROOM                                                      \
	(OPD_PERFDATA_BLOCK - sizeof(struct opd_perfdata_block))

/* A block that the caller holds; NULL without memory. */
struct opd_perfdata_block *
opd_perfdata_block_new(struct opd_perfdata_pool *pool);

void opd_perfdata_block_drop(struct opd_perfdata_block *block);

/* The block that @bytes are in, which must be one. */
static inline struct opd_perfdata_block *
opd_perfdata_block_of(const void *bytes)
{
	size_t at = (uintptr_t)bytes % OPD_PERFDATA_BLOCK;

	return (struct opd_perfdata_block *)((char *)bytes - at);
}

static inline void opd_perfdata_block_hold(struct opd_perfdata_block *block)
{
	block->nr_holders++;
}

/* Nobody holds a block of the pool any more. */
void opd_perfdata_pool_release(struct opd_perfdata_pool *pool);

#endif /* DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_BLOCK_H */
