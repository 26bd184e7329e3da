/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_SYMBOL_NAMES_H
#define LIBPP_IMAGES_SYMBOL_NAMES_H

/*
 * Names of the symbols of one report. What shortens names can make two of them
 * equal: then the first keeps the short one, another one has its normal name,
 * and if that is taken, too, the name that the binary has behind it.
 */

#include <stddef.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_hash.h"
#include "libpp/symbols/demangle.h"

struct pp_symbol_name {
	const char *raw, *shown;
};

/* All zeros is empty. */
struct pp_symbol_names {
	struct pp_symbol_name *list;
	size_t nr;
	struct op_hash by_raw, by_shown; /* of places in the list, from 1 */
};

void pp_symbol_names_release(struct pp_symbol_names *names);

/*
 * The name to show for @raw, which must live as long as @names: always the same
 * for the same @raw, and with PP_DEMANGLE_SMART never the same for two. A name
 * that is made lives in @arena. NULL when memory is short.
 */
const char *pp_symbol_name(struct pp_symbol_names *names,
			   struct op_arena *arena, const char *raw,
			   enum pp_demangle how);

/* The name of @raw with nothing left out, which lives in @arena; @raw itself
 * where that is no mangled name. */
const char *pp_whole_symbol_name(struct op_arena *arena, const char *raw);

#endif /* LIBPP_IMAGES_SYMBOL_NAMES_H */
