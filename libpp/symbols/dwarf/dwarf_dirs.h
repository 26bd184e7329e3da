/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_DWARF_DIRS_H
#define LIBPP_SYMBOLS_DWARF_DWARF_DIRS_H

/*
 * The folder that each unit was compiled in. Line tables before DWARF 5 do not
 * have it, so it is taken from .debug_info: from the first entry of each unit
 * alone.
 */

#include "libpp/symbols/dwarf/dwarf.h"

struct pp_dwarf_dir {
	uint64_t table; /* offset of the unit's line table */
	const char *dir; /* in a section */
};

struct pp_dwarf_dirs {
	struct pp_dwarf_dir *list; /* by table */
	size_t nr;
};

/* Returns 0 or -ENOMEM; damaged units are left out. To be released. */
int pp_dwarf_dirs_init(struct pp_dwarf_dirs *dirs,
		       const struct pp_dwarf *dwarf);
void pp_dwarf_dirs_release(struct pp_dwarf_dirs *dirs);

/* NULL when it is not known. */
const char *pp_dwarf_dirs_find(const struct pp_dwarf_dirs *dirs,
			       uint64_t table);

#endif /* LIBPP_SYMBOLS_DWARF_DWARF_DIRS_H */
