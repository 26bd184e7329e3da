// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table in one piece: a head, then its arrays in the order of the head.
 * Whoever made the piece may have been taken over, so it is taken apart as a
 * file from anybody: a table that passes leads unwinding nowhere outside of its
 * arrays.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_table.h"

struct flat_head {
	uint64_t arch;
	uint64_t has_go; /* 0 or 1 */
	uint64_t base;
	uint64_t nr;
	uint64_t nr_pages;
	uint64_t nr_rules;
	uint64_t rules_len;
	uint64_t exprs_len;
};

size_t cfi_table_flat_len(const struct cfi_table *table)
{
	return sizeof(struct flat_head) +
	       table->nr * (sizeof(*table->start) + sizeof(*table->rule)) +
	       table->nr_pages * sizeof(*table->page) + table->rules.rules.len +
	       table->rules.exprs.len;
}

static uint8_t *put_flat(uint8_t *to, const void *bytes, size_t len)
{
	if (len)
		memcpy(to, bytes, len);
	return to + len;
}

void cfi_table_flatten(const struct cfi_table *table, void *to)
{
	const struct flat_head head = {
		.arch = table->arch,
		.has_go = table->has_go,
		.base = table->base,
		.nr = table->nr,
		.nr_pages = table->nr_pages,
		.nr_rules = table->rules.nr_rules,
		.rules_len = table->rules.rules.len,
		.exprs_len = table->rules.exprs.len,
	};
	uint8_t *at = put_flat(to, &head, sizeof(head));

	at = put_flat(at, table->start, table->nr * sizeof(*table->start));
	at = put_flat(at, table->rule, table->nr * sizeof(*table->rule));
	at = put_flat(at, table->page, table->nr_pages * sizeof(*table->page));
	at = put_flat(at, table->rules.rules.bytes, table->rules.rules.len);
	put_flat(at, table->rules.exprs.bytes, table->rules.exprs.len);
}

/* ---- the other way ----------------------------------------------------------
 */

/* The part of the piece that is still to be read. */
struct flat_rest {
	const uint8_t *at;
	size_t len;
};

/* A copy of the next @nr elements, which is the caller's; NULL: there are not
 * so many (*@err is -EBADMSG then), or no memory for them. */
static void *copy_flat(struct flat_rest *rest, uint64_t nr, size_t size,
		       int *err)
{
	void *copy;

	if (*err)
		return NULL;
	if (nr > rest->len / size) {
		*err = -EBADMSG;
		return NULL;
	}
	copy = malloc(nr * size + !nr);
	if (!copy) {
		*err = -ENOMEM;
		return NULL;
	}
	if (nr)
		memcpy(copy, rest->at, nr * size);
	rest->at += nr * size;
	rest->len -= nr * size;
	return copy;
}

/* Where items begin in a pool, a bit for each byte. */
struct starts {
	uint8_t *bits;
	size_t len;
};

static bool begins(const struct starts *starts, uint64_t at)
{
	return at < starts->len && starts->bits[at / 8] & 1u << at % 8;
}

static int make_starts(struct starts *starts, size_t len)
{
	starts->len = len;
	starts->bits = calloc(len / 8 + 1, 1);
	return starts->bits ? 0 : -ENOMEM;
}

static int find_exprs(struct starts *starts, const struct cfi_pool *exprs)
{
	uint16_t len;

	for (size_t at = 0; at < exprs->len; at += sizeof(len) + len) {
		if (exprs->len - at < sizeof(len))
			return -EBADMSG;
		memcpy(&len, exprs->bytes + at, sizeof(len));
		if (len > exprs->len - at - sizeof(len))
			return -EBADMSG;
		starts->bits[at / 8] |= (uint8_t)(1u << at % 8);
	}
	return 0;
}

static bool is_expr(const struct starts *exprs, int32_t nr)
{
	return nr >= 0 && begins(exprs, (uint64_t)nr);
}

static bool is_rule_sound(const struct cfi_rule *rule,
			  const struct starts *exprs)
{
	if (rule->ra >= CFI_MAX_REGS ||
	    (rule->cfa_is_expr && !is_expr(exprs, rule->cfa_value)))
		return false;
	for (unsigned int i = 0; i < rule->nr_places; i++) {
		const struct cfi_place *place = &rule->place[i];

		if (place->how > CFI_IS_EXPR || place->reg >= CFI_MAX_REGS ||
		    ((place->how == CFI_AT_EXPR || place->how == CFI_IS_EXPR) &&
		     !is_expr(exprs, place->value)))
			return false;
	}
	return true;
}

/* Rule 0 is a word that is none. */
static int find_rules(struct starts *starts, const struct cfi_pool *rules,
		      const struct starts *exprs)
{
	size_t at = 4, len;

	if (rules->len < at || rules->len % 4)
		return -EBADMSG;
	for (; at < rules->len; at += len) {
		const struct cfi_rule *rule = (const void *)(rules->bytes + at);

		if (rules->len - at < sizeof(*rule))
			return -EBADMSG;
		len = sizeof(*rule) + rule->nr_places * sizeof(rule->place[0]);
		if (len > rules->len - at || !is_rule_sound(rule, exprs))
			return -EBADMSG;
		starts->bits[at / 8] |= (uint8_t)(1u << at % 8);
	}
	return 0;
}

static int check_rows(const struct cfi_table *table, const struct starts *rules)
{
	for (size_t i = 0; i < table->nr; i++) {
		uint64_t rule = table->rule[i] & CFI_ROW_RULE;

		if ((i && table->start[i] < table->start[i - 1]) ||
		    (rule && !begins(rules, rule * 4)))
			return -EBADMSG;
	}
	for (size_t i = 0; i < table->nr_pages; i++)
		if (table->page[i] >= table->nr ||
		    (i && table->page[i] < table->page[i - 1]))
			return -EBADMSG;
	return 0;
}

static int check_flat(const struct cfi_table *table)
{
	struct starts rules = { 0 }, exprs = { 0 };
	int err = make_starts(&rules, table->rules.rules.len)
			  ?: make_starts(&exprs, table->rules.exprs.len);

	if (!err)
		err = find_exprs(&exprs, &table->rules.exprs)
			      ?: find_rules(&rules, &table->rules.rules,
					    &exprs);
	if (!err)
		err = check_rows(table, &rules);
	free(rules.bits);
	free(exprs.bits);
	return err;
}

int cfi_table_unflatten(struct cfi_table **out, const void *from, size_t len)
{
	struct cfi_table *table = calloc(1, sizeof(*table));
	struct flat_rest rest = { from, len };
	struct flat_head head;
	int err = table ? 0 : -ENOMEM;

	if (!err && len < sizeof(head))
		err = -EBADMSG;
	if (err)
		goto out;
	memcpy(&head, from, sizeof(head));
	rest.at += sizeof(head);
	rest.len -= sizeof(head);
	if ((head.arch != CFI_X86_64 && head.arch != CFI_AARCH64) ||
	    head.has_go > 1)
		err = -EBADMSG;
	table->arch = (enum cfi_arch)head.arch;
	table->has_go = head.has_go;
	table->base = head.base;
	table->start = copy_flat(&rest, head.nr, sizeof(*table->start), &err);
	table->rule = copy_flat(&rest, head.nr, sizeof(*table->rule), &err);
	table->page =
		copy_flat(&rest, head.nr_pages, sizeof(*table->page), &err);
	table->rules.rules.bytes = copy_flat(&rest, head.rules_len, 1, &err);
	table->rules.exprs.bytes = copy_flat(&rest, head.exprs_len, 1, &err);
	if (!err) {
		table->nr = head.nr;
		table->nr_pages = head.nr_pages;
		table->rules.nr_rules = head.nr_rules;
		table->rules.rules.len = head.rules_len;
		table->rules.exprs.len = head.exprs_len;
		err = check_flat(table);
	}
out:
	if (err)
		cfi_table_free(table);
	else
		*out = table;
	return err;
}
