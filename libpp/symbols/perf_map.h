/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_PERF_MAP_H
#define LIBPP_SYMBOLS_PERF_MAP_H

/*
 * Names of code that a program made at run time, by address: what the daemon
 * keeps of a perf map (libop/image/op_perf_map.h) that came after the samples.
 */

#include "libop/base/op_arena.h"
#include "libpp/symbols/symtab.h"

/*
 * The functions of the perf map @path that begin from @start to before @end.
 * *@out is an array of *@nr that the caller frees; the names are in @arena.
 * Keys count from @start. Returns 0; -ENOENT; -errno; what is no line of a perf
 * map is passed over. Of functions that overlap the later line is true.
 */
int pp_perf_map_read(const char *path, uint64_t start, uint64_t end,
		     struct op_arena *arena, struct pp_raw_symbol **out,
		     size_t *nr);

#endif /* LIBPP_SYMBOLS_PERF_MAP_H */
