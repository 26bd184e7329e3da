/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DEMANGLE_MODULES_H
#define LIBPP_SYMBOLS_DEMANGLE_MODULES_H

/*
 * Names of OCaml, Haskell, D and Ada, whose compilers write module, function
 * and special characters into one word that assemblers accept. All return the
 * name as people wrote it, in memory that the caller frees; NULL for what is no
 * such name, or without memory.
 */

/* "camlStdlib__List__iteri_266" is "Stdlib.List.iteri". */
char *pp_demangle_ocaml(const char *name);

/* "base_GHCziBase_zdfShow_info" is "GHC.Base.$fShow". A C function may be
 * called "Parser_get_info", so a module without a dot needs to be Main, or to
 * have a package that only Haskell can have. */
char *pp_demangle_haskell(const char *name);

/* "_D4work4betaFmZm" is "work.beta(ulong)". NULL for one that could stand for
 * much more than its length. */
char *pp_demangle_d(const char *name);

/* "work__alpha.175" is "work.alpha". C has names such as "work__alpha", too, so
 * only main programs, functions in others, and units of the library are known
 * to be Ada. */
char *pp_demangle_ada(const char *name);

#endif /* LIBPP_SYMBOLS_DEMANGLE_MODULES_H */
