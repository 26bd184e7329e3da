// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which functions a place is of. An inlined function is known by its name as
 * linkers have it, which tells overloads and namespaces apart; where it has a
 * plain name, static functions of several files may share that, so the line of
 * its declaration is compared, too. If the table has one symbol of the name,
 * that is the same function, compiled once more by itself, unless a plain name
 * is known to be declared elsewhere there.
 */

#include "libpp/images/owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void pp_owners_release(struct pp_owners *owners)
{
	free(owners->list);
	free(owners->chained);
	op_hash_release(&owners->by_symbol);
	op_hash_release(&owners->by_name);
	op_hash_release(&owners->names);
	op_hash_release(&owners->by_alias);
	free(owners->aliases);
}

static int add_owner(struct pp_owners *owners, const struct pp_owner *owner,
		     struct op_hash *index, uint64_t hash, uint32_t *out)
{
	if (owners->nr == UINT32_MAX / 2)
		return -EFBIG;
	if (op_array_reserve(&owners->list, owners->nr, 1))
		return -ENOMEM;
	*out = owners->nr;
	owners->list[owners->nr++] = *owner;
	op_hash_add(index, hash, owners->nr);
	return 0;
}

static int owner_of_symbol(struct pp_owners *owners,
			   const struct pp_symbol *symbol, uint32_t *out)
{
	const struct pp_owner owner = { .symbol = symbol };
	struct op_hash *index = &owners->by_symbol;
	int err = op_hash_reserve(index, (size_t)index->nr + 1);
	uint32_t number;
	uint64_t hash;

	if (err)
		return err;
	hash = op_hash_mix(index->seed, (uintptr_t)symbol);
	op_hash_each(index, hash, number) {
		*out = number - 1;
		if (owners->list[*out].symbol == symbol)
			return 0;
	}
	return add_owner(owners, &owner, index, hash, out);
}

/* ---- inlined functions --------------------------------------------------- */

static int index_names(struct pp_owners *owners)
{
	const struct pp_image_symbols *symbols = owners->symbols;
	int err = op_hash_reserve(&owners->names, symbols->nr + 1);

	for (size_t i = 0; i < symbols->nr && !err; i++)
		op_hash_add(&owners->names,
			    op_hash_text(owners->names.seed,
					 symbols->table[i].name),
			    (uint32_t)i + 1);
	owners->has_names = !err;
	return err;
}

/* The only symbol called @name; NULL if there is none or several. */
static const struct pp_symbol *symbol_called(const struct pp_owners *owners,
					     const char *name)
{
	const struct op_hash *names = &owners->names;
	const struct pp_symbol *found = NULL;
	uint64_t hash = op_hash_text(names->seed, name);
	uint32_t number;

	op_hash_each(names, hash, number) {
		const struct pp_symbol *symbol =
			&owners->symbols->table[number - 1];

		if (strcmp(symbol->name, name))
			continue;
		if (found)
			return NULL;
		found = symbol;
	}
	return found;
}

/* A mangled name is that of one function. */
static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

static bool is_same_declaration(const struct op_bfd_inlined *a,
				const struct op_bfd_inlined *b)
{
	return a->line == b->line &&
	       !strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

static bool is_same_function(const struct op_bfd_inlined *a,
			     const struct op_bfd_inlined *b)
{
	return !strcmp(a->name, b->name) &&
	       (is_mangled(a->name) || is_same_declaration(a, b));
}

/* Whether @symbol, of the name of @inlined, is known to be a function of
 * another file or line. What is known of its address may be about a function
 * of another name, with which a linker folded it. */
static bool is_declared_elsewhere(struct pp_owners *owners,
				  const struct pp_symbol *symbol,
				  const struct op_bfd_inlined *inlined)
{
	struct op_bfd_inlined function;

	return !is_mangled(inlined->name) && inlined->file && inlined->line &&
	       pp_image_symbols_function(owners->symbols, symbol, &function) &&
	       function.file && !strcmp(function.name, inlined->name) &&
	       !is_same_declaration(&function, inlined);
}

static int owner_of_name(struct pp_owners *owners,
			 const struct op_bfd_inlined *inlined, uint32_t *out)
{
	const struct pp_owner owner = { .inlined = *inlined };
	struct op_hash *index = &owners->by_name;
	const struct pp_symbol *symbol;
	uint32_t number;
	uint64_t hash;
	int err = op_hash_reserve(index, (size_t)index->nr + 1);

	if (!err && !owners->has_names)
		err = index_names(owners);
	if (err)
		return err;
	symbol = symbol_called(owners, inlined->name);
	if (symbol && !is_declared_elsewhere(owners, symbol, inlined))
		return owner_of_symbol(owners, symbol, out);
	hash = op_hash_text(index->seed, inlined->name);
	op_hash_each(index, hash, number) {
		*out = number - 1;
		if (is_same_function(&owners->list[*out].inlined, inlined))
			return 0;
	}
	return add_owner(owners, &owner, index, hash, out);
}

/* Names are long in C++, and a hot function is asked for again and again. */
static int owner_of_inlined(struct pp_owners *owners,
			    const struct op_bfd_inlined *inlined, uint32_t *out)
{
	struct pp_owner_alias alias = { .name = inlined->name,
					.file = inlined->file,
					.line = inlined->line };
	struct op_hash *index = &owners->by_alias;
	int err = op_hash_reserve(index, (size_t)owners->nr_aliases + 1);
	uint32_t number;
	uint64_t hash;

	if (err)
		return err;
	hash = op_hash_mix(op_hash_mix(index->seed, (uintptr_t)alias.name),
			   alias.line);
	op_hash_each(index, hash, number) {
		const struct pp_owner_alias *seen =
			&owners->aliases[number - 1];

		*out = seen->owner;
		if (seen->name == alias.name && seen->line == alias.line &&
		    seen->file == alias.file)
			return 0;
	}
	err = owner_of_name(owners, inlined, out)
		      ?: op_array_reserve(&owners->aliases, owners->nr_aliases,
					  1);
	if (err)
		return err;
	alias.owner = *out;
	owners->aliases[owners->nr_aliases++] = alias;
	op_hash_add(index, hash, owners->nr_aliases);
	return 0;
}

/* ---- chains -------------------------------------------------------------- */

static int append_to_chain(struct pp_owners *owners, uint32_t owner)
{
	if (owners->nr_chained == UINT32_MAX)
		return -EFBIG;
	if (op_array_reserve(&owners->chained, owners->nr_chained, 1))
		return -ENOMEM;
	owners->chained[owners->nr_chained++] = owner;
	owners->last.nr++;
	return 0;
}

static int make_chain(struct pp_owners *owners, uint64_t key,
		      const struct pp_symbol *symbol, bool inlines)
{
	struct op_bfd_inlined found[OP_BFD_MAX_INLINED];
	size_t nr =
		inlines && owners->has_inlines && symbol
			? pp_image_symbols_inlined(owners->symbols, key, found)
			: 0;
	uint32_t owner;
	int err = 0;

	owners->last = (struct pp_owner_chain){ owners->nr_chained, 0 };
	for (size_t i = 0; i < nr && !err; i++) {
		err = owner_of_inlined(owners, &found[i], &owner);
		if (!err)
			err = append_to_chain(owners, owner);
	}
	if (!err)
		err = owner_of_symbol(owners, symbol, &owner);
	return err ? err : append_to_chain(owners, owner);
}

int pp_owners_find(struct pp_owners *owners, uint64_t key,
		   const struct pp_symbol *symbol, bool inlines,
		   struct pp_owner_chain *chain)
{
	bool same = owners->last.nr && owners->last_symbol == symbol &&
		    owners->last_inlines == inlines &&
		    (owners->last_key == key || !inlines);
	int err = same ? 0 : make_chain(owners, key, symbol, inlines);

	owners->last_key = key;
	owners->last_symbol = symbol;
	owners->last_inlines = inlines;
	*chain = owners->last;
	return err;
}

bool pp_owner_is_repeated(const struct pp_owners *owners,
			  const struct pp_owner_chain *chain, uint32_t nr)
{
	const uint32_t *chained = &owners->chained[chain->first];

	for (uint32_t i = 0; i < nr; i++)
		if (chained[i] == chained[nr])
			return true;
	return false;
}
