/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DEMANGLE_H
#define LIBPP_SYMBOLS_DEMANGLE_H

/* Names as people wrote them: of C++ and Rust by libiberty, of Java, OCaml, D,
 * Haskell and Ada. */

#include "libop/base/op_arena.h"

enum pp_demangle {
	PP_DEMANGLE_NORMAL,
	PP_DEMANGLE_NONE,
	PP_DEMANGLE_SMART, /* normal, then without what the standard library
			      adds to its names */
	PP_DEMANGLE_BRIEF, /* without parameters and template arguments, where
			      a name is only to be recognized */
};

/* @name as @how asks for, up to an "@" such as that of "malloc@plt"; @name
 * itself when there is nothing to change, memory is short, or it stands for
 * more than 256 KiB. */
const char *pp_demangle(struct op_arena *arena, const char *name,
			enum pp_demangle how);

#endif /* LIBPP_SYMBOLS_DEMANGLE_H */
