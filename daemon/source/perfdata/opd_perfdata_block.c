// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/perfdata/opd_perfdata_block.h"

#include <stdlib.h>

struct opd_perfdata_block *
opd_perfdata_block_new(struct opd_perfdata_pool *pool)
{
	struct opd_perfdata_block *block = pool->spare;

	if (block) {
		pool->spare = block->next;
	} else {
		block = aligned_alloc(OPD_PERFDATA_BLOCK, OPD_PERFDATA_BLOCK);
		if (!block)
			return NULL;
		pool->nr++;
	}
	block->pool = pool;
	block->nr_holders = 1;
	return block;
}

void opd_perfdata_block_drop(struct opd_perfdata_block *block)
{
	if (--block->nr_holders)
		return;
	block->next = block->pool->spare;
	block->pool->spare = block;
}

void opd_perfdata_pool_release(struct opd_perfdata_pool *pool)
{
	struct opd_perfdata_block *block, *next;

	for (block = pool->spare; block; block = next) {
		next = block->next;
		free(block);
		pool->nr--;
	}
	pool->spare = NULL;
}
