/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_RULES_H
#define LIBCFI_CFI_RULES_H

/*
 * Rules: how the registers of a caller are found. Functions have few ways of
 * saving them, so each rule is kept once, by its number; number 0 is that
 * nothing is known. Expressions (small programs, DWARF 5 section 2.5) are
 * kept once, too, and rules refer to them by number.
 *
 * A rule in the pool is a struct cfi_rule with its registers behind it. The
 * CFA, the canonical frame address, is the caller's stack pointer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcfi/cfi.h"

enum cfi_how {
	CFI_UNSAID, /* as the machine's ABI has it */
	CFI_UNDEFINED, /* gone; of the return address: there is no caller */
	CFI_SAME, /* as in this frame */
	CFI_AT_CFA, /* at CFA + value */
	CFI_IS_CFA, /* CFA + value */
	CFI_IN_REG, /* in register value */
	CFI_AT_EXPR, /* at what expression value gives, run with the CFA */
	CFI_IS_EXPR, /* what expression value gives */
};

struct cfi_place {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	uint16_t zero;
	int32_t value;
};

enum {
	CFI_RULE_SIGNAL = 1, /* the caller is what a signal interrupted */
	CFI_RULE_RA_SIGNED = 2, /* AArch64: has an authentication code */
	/* Right only if cfi_is_entered_from() says so: cfi_return.h. */
	CFI_RULE_UNCONFIRMED = 4,
};

struct cfi_rule {
	uint8_t cfa_is_expr; /* expression cfa_value */
	uint8_t cfa_reg; /* else this + cfa_value */
	uint8_t nr_places;
	uint8_t flags;
	int32_t cfa_value;
	uint8_t ra; /* column of the return address */
	uint8_t zero[3];
	struct cfi_place place[]; /* by register, those that are said */
};

/* A growing array without holes of @len bytes. */
struct cfi_pool {
	uint8_t *bytes;
	size_t len;
};

struct cfi_rules {
	struct cfi_pool rules; /* a number is an offset, in words of 4 bytes */
	struct cfi_pool exprs; /* of each 2 bytes of length, then the bytes */
	struct cfi_intern *intern; /* while it grows */
	size_t nr_rules;
};

/* Returns 0 or -ENOMEM, with nothing to release. */
int cfi_rules_init(struct cfi_rules *rules);
void cfi_rules_release(struct cfi_rules *rules);

/* Nothing will be added any more. */
void cfi_rules_close(struct cfi_rules *rules);

/*
 * The number of @rule, which has room for its places. Returns 0, -ENOMEM or
 * -E2BIG when there are too many.
 */
int cfi_rules_add(struct cfi_rules *rules, const struct cfi_rule *rule,
		  uint32_t *nr);

/* The number of an expression. -E2BIG if it is too long, too. */
int cfi_rules_add_expr(struct cfi_rules *rules, const uint8_t *expr, size_t len,
		       int32_t *nr);

static inline const struct cfi_rule *cfi_rule(const struct cfi_rules *rules,
					      uint32_t nr)
{
	return (const void *)(rules->rules.bytes + (size_t)nr * 4);
}

/* The bytes of an expression, *@len of them. */
const uint8_t *cfi_rules_expr(const struct cfi_rules *rules, int32_t nr,
			      size_t *len);

#endif /* LIBCFI_CFI_RULES_H */
