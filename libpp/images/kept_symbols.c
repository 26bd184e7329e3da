// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries are found by the name and the build of their image and by what is
 * wanted of it. Handles of libbfd refer to paths and folders of the locator
 * that they were opened with, which dies with its report; so all images are
 * opened with a locator that lives here. Whether an entry stays is decided once
 * its image is open: one that does not stay is released when it is put back,
 * with its paths and messages, which are in an arena of its own until then. One
 * of which something could not be read later is released likewise, and opened
 * again in the same entry when it is asked for.
 */

#include "libpp/images/kept_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"

struct kept_entry {
	struct op_arena arena; /* what came of opening it */
	struct pp_image_symbols symbols; /* none: closed after a fault */
	const char *path, *build; /* of the image */
	enum op_image_kind kind;
	unsigned int wants;
	struct pp_messages messages; /* that came when it was opened */
};

struct pp_kept_symbols {
	struct op_arena arena;
	struct pp_locator locator; /* that of the first report */
	bool has_locator;
	struct kept_entry **entries; /* an op_array */
	size_t nr;
	struct op_hash index; /* of entries, by image */
	struct pp_image_symbols passing; /* what is not kept, while it is out */
	struct op_arena passing_arena; /* what came of opening that */
};

struct pp_kept_symbols *pp_kept_symbols_new(void)
{
	struct pp_kept_symbols *kept = calloc(1, sizeof(*kept));

	if (kept)
		op_arena_init(&kept->arena);
	return kept;
}

void pp_kept_symbols_free(struct pp_kept_symbols *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->nr; i++) {
		pp_image_symbols_release(&kept->entries[i]->symbols);
		op_arena_release(&kept->entries[i]->arena);
	}
	free(kept->entries);
	op_hash_release(&kept->index);
	op_arena_release(&kept->arena);
	free(kept);
}

struct op_arena *pp_kept_symbols_arena(struct pp_kept_symbols *kept,
				       const struct pp_image_symbols *symbols)
{
	return symbols == &kept->passing ? NULL : &kept->arena;
}

/* ---- where to look --------------------------------------------------------
 */

static int copy_locator(struct pp_kept_symbols *kept,
			const struct pp_locator *locator)
{
	struct pp_locator *own = &kept->locator;

	if (kept->has_locator)
		return 0;
	*own = *locator;
	own->arena = own->list_arena = &kept->arena;
	own->found = NULL;
	own->nr_found = 0;
	own->listed = false;
	for (size_t i = 0; own->debug.dirs[i]; i++) {
		own->debug.dirs[i] =
			op_arena_strdup(&kept->arena, own->debug.dirs[i]);
		if (!own->debug.dirs[i])
			return -ENOMEM;
	}
	kept->has_locator = true;
	return 0;
}

/* ---- entries --------------------------------------------------------------
 */

static uint64_t hash_of_image(const struct pp_kept_symbols *kept,
			      const struct pp_image *image, unsigned int wants)
{
	uint64_t hash = op_hash_text(kept->index.seed, image->path);

	return op_hash_mix(op_hash_text(hash, image->build), wants);
}

static struct kept_entry *find_kept_entry(const struct pp_kept_symbols *kept,
					  const struct pp_image *image,
					  unsigned int wants)
{
	uint32_t number;

	op_hash_each(&kept->index, hash_of_image(kept, image, wants), number) {
		struct kept_entry *entry = kept->entries[number - 1];

		if (entry->wants == wants && entry->kind == image->kind &&
		    !strcmp(entry->path, image->path) &&
		    !strcmp(entry->build, image->build))
			return entry;
	}
	return NULL;
}

/* Whether a second look at @image would find the same. */
static bool stays_the_same(const struct pp_image_symbols *symbols,
			   const struct pp_image *image,
			   const struct pp_messages *messages)
{
	return symbols->nr && image->recorded.space != OP_SPACE_ANON &&
	       *image->build && !messages->nr_faults &&
	       !op_bfd_fault(symbols->bfd, NULL);
}

static int add_entry(struct pp_kept_symbols *kept, const struct pp_image *image,
		     unsigned int wants, struct kept_entry **out)
{
	struct kept_entry *entry =
		op_arena_alloc(&kept->arena, 1, sizeof(*entry));
	int err = op_array_reserve(&kept->entries, kept->nr, 1)
			  ?: op_hash_reserve(&kept->index, kept->nr + 1);

	if (err || !entry)
		return -ENOMEM;
	*entry = (struct kept_entry){
		.kind = image->kind,
		.path = op_arena_strdup(&kept->arena, image->path),
		.build = op_arena_strdup(&kept->arena, image->build),
		.wants = wants,
	};
	if (!entry->path || !entry->build)
		return -ENOMEM;
	kept->entries[kept->nr++] = entry;
	op_hash_add(&kept->index, hash_of_image(kept, image, wants),
		    (uint32_t)kept->nr);
	*out = entry;
	return 0;
}

/* *@out is its entry of before, which is closed, or NULL. */
static int keep_entry(struct pp_kept_symbols *kept,
		      const struct kept_entry *opened,
		      const struct pp_image *image, struct kept_entry **out)
{
	struct kept_entry *entry = *out;
	int err = entry ? 0 : add_entry(kept, image, opened->wants, &entry);

	if (err)
		return err;
	entry->arena = opened->arena;
	entry->symbols = opened->symbols;
	entry->messages = opened->messages;
	entry->messages.arena = &entry->arena;
	entry->symbols.messages = &entry->messages;
	*out = entry;
	return 0;
}

int pp_kept_symbols_get(struct pp_kept_symbols *kept,
			struct pp_image_symbols **out,
			const struct pp_image *image,
			const struct op_session *session,
			struct pp_locator *locator, unsigned int wants,
			struct pp_messages *messages)
{
	struct kept_entry *entry = find_kept_entry(kept, image, wants);
	struct kept_entry opened = { .wants = wants };
	int err;

	if (entry && entry->symbols.nr) {
		pp_repeat_messages(messages, &entry->messages);
		*out = &entry->symbols;
		return 0;
	}
	if (locator->archive) {
		*out = &kept->passing;
		return pp_image_symbols_open(*out, image, session, locator,
					     wants, messages);
	}
	err = copy_locator(kept, locator);
	if (err)
		return err;
	op_arena_init(&opened.arena);
	opened.messages.arena = kept->locator.arena = &opened.arena;
	err = pp_image_symbols_open(&opened.symbols, image, session,
				    &kept->locator, wants, &opened.messages);
	pp_repeat_messages(messages, &opened.messages);
	if (!err && stays_the_same(&opened.symbols, image, &opened.messages)) {
		err = keep_entry(kept, &opened, image, &entry);
		if (!err)
			*out = &entry->symbols;
	} else if (!err) {
		kept->passing = opened.symbols;
		kept->passing_arena = opened.arena;
		*out = &kept->passing;
	}
	if (err) {
		pp_image_symbols_release(&opened.symbols);
		op_arena_release(&opened.arena);
	}
	return err;
}

void pp_kept_symbols_put(struct pp_kept_symbols *kept,
			 struct pp_image_symbols *symbols,
			 struct pp_messages *messages)
{
	struct kept_entry *entry;
	struct op_arena *arena = &kept->passing_arena;

	if (symbols != &kept->passing) {
		if (!op_bfd_fault(symbols->bfd, NULL))
			return;
		entry = (void *)((char *)symbols -
				 offsetof(struct kept_entry, symbols));
		arena = &entry->arena;
	}
	symbols->messages = messages;
	pp_image_symbols_release(symbols);
	memset(symbols, 0, sizeof(*symbols));
	op_arena_release(arena);
}
