/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_LIBIBERTY_DEMANGLE_H
#define LIBPP_SYMBOLS_LIBIBERTY_DEMANGLE_H

/* The demanglers of libiberty, wherever its header is; it may be nowhere. */

#include <stddef.h>

#include "config.h"

#if defined(HAVE_LIBIBERTY_DEMANGLE_H)
#include <libiberty/demangle.h>
#elif defined(HAVE_DEMANGLE_H)
#include <demangle.h>
#else
/* libiberty/demangle.h of GNU binutils, as far as it is needed here. */
#define DMGL_PARAMS (1 << 0)
#define DMGL_ANSI (1 << 1)
#define DMGL_AUTO (1 << 8)
#define DMGL_GNAT (1 << 15)
#define DMGL_DLANG (1 << 16)
typedef void (*demangle_callbackref)(const char *, size_t, void *);
char *cplus_demangle(const char *mangled, int options);
int cplus_demangle_v3_callback(const char *mangled, int options,
			       demangle_callbackref callback, void *opaque);
int rust_demangle_callback(const char *mangled, int options,
			   demangle_callbackref callback, void *opaque);
#endif

#endif /* LIBPP_SYMBOLS_LIBIBERTY_DEMANGLE_H */
