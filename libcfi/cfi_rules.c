// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps each different rule and each different expression once, and numbers
 * them.
 *
 * Items lie one behind another in a pool; a number says where an item begins. A
 * hash tells whether an item is there already. Only the building of a table
 * needs it: cfi_rules_close() frees it when the table is complete.
 *
 * A file may be made to have thousands of rules with the same hash. So a search
 * ends after MAX_PROBES slots, and a rule that was not found by then is kept
 * once more. That costs memory, up to MAX_POOL, but no time.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_rules.h"
#include "libop/op_array.h"

/* Of the bytes of all rules, and of all expressions. */
#define MAX_POOL ((size_t)64 << 20)
#define MAX_EXPR 1024 /* bytes; longer ones are not written by compilers */

/*
 * Slots that are looked at for one item. Whoever makes items that all belong
 * into one slot gets them kept more than once, not an endless search.
 */
#define MAX_PROBES 256

/* Which items a pool has, by hash. 0: free, else the item's number plus 1. */
struct index {
	uint32_t *slot;
	size_t nr_slots; /* a power of two */
	size_t nr;
};

struct cfi_intern {
	struct index rules;
	struct index exprs;
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

/* Items are words of 4 bytes, but for the last ones of an expression. */
static uint32_t hash_rule_bytes(const uint8_t *bytes, size_t len)
{
	uint64_t h = len;
	uint32_t word;

	for (; len >= sizeof(word); len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
		bytes += sizeof(word);
	}
	for (; len; len--)
		h = (h ^ *bytes++) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

static size_t rule_len(const struct cfi_rule *rule)
{
	return sizeof(*rule) + rule->nr_places * sizeof(rule->place[0]);
}

static const uint8_t *rule_item(const struct cfi_rules *rules, uint32_t nr,
				size_t *len)
{
	const struct cfi_rule *rule = cfi_rule(rules, nr);

	*len = rule_len(rule);
	return (const uint8_t *)rule;
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

static const uint8_t *expr_item(const struct cfi_rules *rules, uint32_t nr,
				size_t *len)
{
	return cfi_rules_expr(rules, (int32_t)nr, len);
}

typedef const uint8_t *get_item(const struct cfi_rules *, uint32_t, size_t *);

/*
 * The slot of the item that is these bytes, or the free one for it; NULL if it
 * was not found in time.
 */
static uint32_t *find_rule_slot(const struct index *index,
				const struct cfi_rules *rules, get_item *get,
				const uint8_t *bytes, size_t len)
{
	size_t mask = index->nr_slots - 1, i = hash_rule_bytes(bytes, len);

	for (unsigned int probe = 0; probe < MAX_PROBES; probe++, i++) {
		const uint8_t *item;
		size_t item_len;

		i &= mask;
		if (!index->slot[i])
			return &index->slot[i];
		item = get(rules, index->slot[i] - 1, &item_len);
		if (item_len == len && !memcmp(item, bytes, len))
			return &index->slot[i];
	}
	return NULL;
}

/* Twice the slots, when half of them are taken. */
static int index_make_room(struct index *index, const struct cfi_rules *rules,
			   get_item *get)
{
	struct index more = { .nr_slots = index->nr_slots * 2 };
	uint32_t *slot;

	if (index->nr * 2 < index->nr_slots)
		return 0;
	more.slot = calloc(more.nr_slots, sizeof(*more.slot));
	if (!more.slot)
		return -ENOMEM;
	for (size_t i = 0; i < index->nr_slots; i++) {
		const uint8_t *item;
		size_t len;

		if (!index->slot[i])
			continue;
		item = get(rules, index->slot[i] - 1, &len);
		slot = find_rule_slot(&more, rules, get, item, len);
		if (slot)
			*slot = index->slot[i];
	}
	free(index->slot);
	more.nr = index->nr;
	*index = more;
	return 0;
}

int cfi_rules_add(struct cfi_rules *rules, const struct cfi_rule *rule,
		  uint32_t *nr)
{
	struct index *index = &rules->intern->rules;
	size_t len = rule_len(rule);
	uint32_t *slot;
	int err = index_make_room(index, rules, rule_item);

	if (err)
		return err;
	slot = find_rule_slot(index, rules, rule_item, (const uint8_t *)rule,
			      len);
	if (slot && *slot) {
		*nr = *slot - 1;
		return 0;
	}
	*nr = (uint32_t)(rules->rules.len / 4);
	err = pool_add(&rules->rules, rule, len);
	if (err)
		return err;
	if (slot)
		*slot = *nr + 1;
	index->nr += slot != NULL;
	rules->nr_rules++;
	return 0;
}

int cfi_rules_add_expr(struct cfi_rules *rules, const uint8_t *expr, size_t len,
		       int32_t *nr)
{
	struct index *index = &rules->intern->exprs;
	uint16_t item_len = (uint16_t)len;
	uint32_t *slot;
	int err = len > MAX_EXPR ? -E2BIG
				 : index_make_room(index, rules, expr_item);

	if (err)
		return err;
	slot = find_rule_slot(index, rules, expr_item, expr, len);
	if (slot && *slot) {
		*nr = (int32_t)(*slot - 1);
		return 0;
	}
	*nr = (int32_t)rules->exprs.len;
	err = pool_add(&rules->exprs, &item_len, sizeof(item_len));
	if (!err)
		err = pool_add(&rules->exprs, expr, len);
	if (err)
		return err;
	if (slot)
		*slot = (uint32_t)*nr + 1;
	index->nr += slot != NULL;
	return 0;
}

static bool index_init(struct index *index)
{
	index->nr_slots = 256;
	index->slot = calloc(index->nr_slots, sizeof(*index->slot));
	return index->slot;
}

void cfi_rules_close(struct cfi_rules *rules)
{
	if (!rules->intern)
		return;
	free(rules->intern->rules.slot);
	free(rules->intern->exprs.slot);
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
	err = -ENOMEM;
	if (index_init(&rules->intern->rules) &&
	    index_init(&rules->intern->exprs))
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
