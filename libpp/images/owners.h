/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_OWNERS_H
#define LIBPP_IMAGES_OWNERS_H

/*
 * Which functions the code at a key of an image is of, for libpp alone: the
 * symbol of the table that covers it, and in that the functions that the
 * compiler inlined there. Each function is one owner, wherever it was inlined;
 * one that has a symbol, too, is the owner that this symbol is.
 */

#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libpp/images/image_symbols.h"

struct pp_owner {
	const struct pp_symbol *symbol; /* in the table; NULL for none */
	/* Of an inlined function that is not in the table; else all zeros. The
	 * strings are the image's. */
	struct op_bfd_inlined inlined;
};

/* Owners of one place, the innermost first; the last is that of the symbol.
 * They are numbers in pp_owners.chained. */
struct pp_owner_chain {
	uint32_t first, nr;
};

/* An inlined function that was looked up: mostly its strings are the same ones
 * wherever it was inlined. */
struct pp_owner_alias {
	const char *name, *file;
	unsigned int line;
	uint32_t owner;
};

struct pp_owners {
	struct pp_image_symbols *symbols;
	bool has_inlines; /* look for them */
	struct pp_owner *list;
	uint32_t nr;
	uint32_t *chained;
	uint32_t nr_chained;

	struct op_hash by_symbol, by_name; /* of owners */
	struct op_hash names; /* of symbols in the table */
	bool has_names;
	struct pp_owner_alias *aliases;
	uint32_t nr_aliases;
	struct op_hash by_alias; /* of aliases */

	/* The chain that was asked for last. */
	struct pp_owner_chain last;
	uint64_t last_key;
	const struct pp_symbol *last_symbol;
	bool last_inlines;
};

/* All zeros but for the first two members is an empty set; to be released. */
void pp_owners_release(struct pp_owners *owners);

/*
 * Fill @chain with the owners of @key, which is in @symbol (NULL: in none);
 * only that of the symbol unless @inlines. Ascending keys are found fastest.
 * Returns 0 or -ENOMEM; -EFBIG for too many.
 */
int pp_owners_find(struct pp_owners *owners, uint64_t key,
		   const struct pp_symbol *symbol, bool inlines,
		   struct pp_owner_chain *chain);

/* Whether @chain has its owner @nr before, nearer to the innermost. */
bool pp_owner_is_repeated(const struct pp_owners *owners,
			  const struct pp_owner_chain *chain, uint32_t nr);

#endif /* LIBPP_IMAGES_OWNERS_H */
