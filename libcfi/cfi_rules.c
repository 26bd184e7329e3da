// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps each different rule and each different expression once, and numbers
 * them.
 *
 * Items lie one behind another in a pool; a number says where an item begins. A
 * hash tells whether an item is there already. Only the building of a table
 * needs it: cfi_rules_close() frees it when the table is complete.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_rules.h"
#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"

/* The most bytes of all rules together, and of all expressions. */
#define MAX_POOL ((size_t)64 << 20)
#define MAX_EXPR 1024 /* bytes; longer ones are not written by compilers */

/* The rules and expressions that are in the pools: their numbers plus 1. */
struct cfi_intern {
	struct op_hash rules;
	struct op_hash exprs;
};

static int pool_add(struct cfi_pool *pool, const void *bytes, size_t len)
{
	if (pool->len + len > MAX_POOL)
		return -E2BIG;
	if (op_array_reserve(&pool->bytes, pool->len, len))
		return -ENOMEM;
	memcpy(pool->bytes + pool->len, bytes, len);
	pool->len += len;
	return 0;
}

static size_t rule_len(const struct cfi_rule *rule)
{
	return sizeof(*rule) + rule->nr_places * sizeof(rule->place[0]);
}

const uint8_t *cfi_rules_expr(const struct cfi_rules *rules, int32_t nr,
			      size_t *len)
{
	const uint8_t *item = rules->exprs.bytes + nr;
	uint16_t item_len;

	memcpy(&item_len, item, sizeof(item_len));
	*len = item_len;
	return item + sizeof(item_len);
}

int cfi_rules_add(struct cfi_rules *rules, const struct cfi_rule *rule,
		  uint32_t *nr)
{
	struct op_hash *index = &rules->intern->rules;
	int err = op_hash_reserve(index, (size_t)index->nr + 1);
	size_t len = rule_len(rule);
	uint32_t number;
	uint64_t hash;

	if (err)
		return err;
	hash = op_hash_bytes(index->seed, rule, len);
	op_hash_each(index, hash, number) {
		const struct cfi_rule *old = cfi_rule(rules, number - 1);

		*nr = number - 1;
		if (rule_len(old) == len && !memcmp(old, rule, len))
			return 0;
	}
	*nr = (uint32_t)(rules->rules.len / 4);
	err = pool_add(&rules->rules, rule, len);
	if (err)
		return err;
	op_hash_add(index, hash, *nr + 1);
	rules->nr_rules++;
	return 0;
}

int cfi_rules_add_expr(struct cfi_rules *rules, const uint8_t *expr, size_t len,
		       int32_t *nr)
{
	struct op_hash *index = &rules->intern->exprs;
	int err = len > MAX_EXPR
			  ? -E2BIG
			  : op_hash_reserve(index, (size_t)index->nr + 1);
	uint16_t item_len = (uint16_t)len;
	uint32_t number;
	uint64_t hash;

	if (err)
		return err;
	hash = op_hash_bytes(index->seed, expr, len);
	op_hash_each(index, hash, number) {
		size_t old_len;
		const uint8_t *old;

		*nr = (int32_t)(number - 1);
		old = cfi_rules_expr(rules, *nr, &old_len);
		if (old_len == len && !memcmp(old, expr, len))
			return 0;
	}
	*nr = (int32_t)rules->exprs.len;
	err = pool_add(&rules->exprs, &item_len, sizeof(item_len));
	if (err)
		return err;
	err = pool_add(&rules->exprs, expr, len);
	/* Not half of it. */
	if (err)
		rules->exprs.len = (size_t)*nr;
	else
		op_hash_add(index, hash, (uint32_t)*nr + 1);
	return err;
}

void cfi_rules_close(struct cfi_rules *rules)
{
	if (!rules->intern)
		return;
	op_hash_release(&rules->intern->rules);
	op_hash_release(&rules->intern->exprs);
	free(rules->intern);
	rules->intern = NULL;
	op_array_trim(&rules->rules.bytes, rules->rules.len);
	op_array_trim(&rules->exprs.bytes, rules->exprs.len);
}

int cfi_rules_init(struct cfi_rules *rules)
{
	/* A word that is no rule, so that number 0 is none. */
	static const uint32_t none;
	int err;

	*rules = (struct cfi_rules){ .intern = NULL };
	rules->intern = calloc(1, sizeof(*rules->intern));
	if (!rules->intern)
		return -ENOMEM;
	err = pool_add(&rules->rules, &none, sizeof(none));
	if (err)
		cfi_rules_release(rules);
	return err;
}

void cfi_rules_release(struct cfi_rules *rules)
{
	cfi_rules_close(rules);
	free(rules->rules.bytes);
	free(rules->exprs.bytes);
	rules->rules.bytes = NULL;
	rules->exprs.bytes = NULL;
}
