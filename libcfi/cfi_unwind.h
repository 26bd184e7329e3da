/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_UNWIND_H
#define LIBCFI_CFI_UNWIND_H

#include "libcfi/cfi.h"
#include "libcfi/cfi_rules.h"

/*
 * Go one frame up by @rule, like cfi_unwind(). @exprs holds the expressions
 * that the rule names; NULL if it names none.
 */
enum cfi_step cfi_apply(enum cfi_arch arch, const struct cfi_rules *exprs,
			const struct cfi_rule *rule, bool is_return_address,
			struct cfi_regs *regs, const struct cfi_stack *stack);

#endif /* LIBCFI_CFI_UNWIND_H */
