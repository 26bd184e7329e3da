/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_SYMBOL_MATCH_H
#define LIBPP_IMAGES_SYMBOL_MATCH_H

#include <stdbool.h>

struct pp_names_request; /* libpp/report/request.h */

/*
 * Whether @pattern, a name or a shell pattern, means the symbol that the binary
 * calls @raw and a report @name. It may be either of these, or a part of @name
 * as people say it: without result and parameters, without namespaces in front,
 * without the template arguments at the end. "work<int>" and "work" mean
 * "void a::work<int>(long)", "a" does not.
 */
bool pp_symbol_matches(const char *pattern, const char *raw, const char *name);

/* Whether a symbol is not left out by its name, by @raw, which is that of the
 * binary, or by the whole name if @name is a short one. */
bool pp_is_wanted(const struct pp_names_request *names, const char *raw,
		  const char *name);

#endif /* LIBPP_IMAGES_SYMBOL_MATCH_H */
