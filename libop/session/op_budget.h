/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_BUDGET_H
#define LIBOP_SESSION_OP_BUDGET_H

/* The value of --cpu-budget: what sampling may take of each CPU. */

#include <stdint.h>

#include "libop/base/op_diag.h"

/* Budgets are in millionths of each CPU. */
#define OP_BUDGET_PERCENT UINT32_C(10000)
#define OP_BUDGET_DEFAULT OP_BUDGET_PERCENT /* 1 % */

/* The text of the option for the budget in a program's help. */
#define OP_BUDGET_HELP                                                         \
	"use at most PERCENT of each CPU (default 1) and lower the rate if that is not enough; 0 or none: never lower the rate"

/*
 * Set *@budget to what @text says: percent, with a fraction, from 0 to 100, or
 * "none", which is 0; NULL is the default. Returns 0 or -EINVAL with the
 * reason.
 */
int op_budget_parse(uint32_t *budget, const char *text, struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_BUDGET_H */
