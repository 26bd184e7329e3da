// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sample files of an archive: loose ones, which are copied, and entries of
 * packs, which are written to a new pack. Both are sorted, so that archives of
 * one session are alike, byte for byte.
 */

#include "libpp/archive/archive_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/pack.h"
#include "libop/base/op_search.h"

/* The list of entries that are asked for of @session's pack, which is new at
 * first; NULL when memory is short. */
static struct pp_archive_pack *pack_of(struct pp_archive_samples *samples,
				       const struct pp_session *session)
{
	struct pp_archive_pack *more;

	for (size_t i = 0; i < samples->nr_packs; i++)
		if (samples->packs[i].session == session)
			return &samples->packs[i];
	more = op_arena_grow(samples->arena, samples->packs, samples->nr_packs,
			     sizeof(*more));
	if (!more)
		return NULL;
	samples->packs = more;
	more += samples->nr_packs++;
	*more = (struct pp_archive_pack){ .session = session };
	return more;
}

static int add_packed_samples(struct pp_archive_samples *samples,
			      const struct pp_session *session,
			      const struct pack_entry *entry)
{
	struct pp_archive_pack *pack = pack_of(samples, session);
	const struct pack_entry **more;

	if (!pack)
		return -ENOMEM;
	more = op_arena_grow(samples->arena, (void *)pack->entries, pack->nr,
			     sizeof(*more));
	if (!more)
		return -ENOMEM;
	pack->entries = more;
	more[pack->nr++] = entry;
	return 0;
}

int pp_archive_samples_add(struct pp_archive_samples *samples,
			   enum pp_archive_part kind,
			   const struct pp_session *session,
			   const struct pp_sample_part *part)
{
	struct pp_archive_loose *more;

	if (part->member.entry)
		return add_packed_samples(samples, session, part->member.entry);
	more = op_arena_grow(samples->arena, samples->loose, samples->nr_loose,
			     sizeof(*more));
	if (!more)
		return -ENOMEM;
	samples->loose = more;
	more[samples->nr_loose++] = (struct pp_archive_loose){
		.kind = kind, .session = session, .path = part->member.path
	};
	return 0;
}

static int compare_loose_files(const void *a, const void *b)
{
	const struct pp_archive_loose *x = a, *y = b;

	return op_compare(x->kind, y->kind) ?: strcmp(x->path, y->path);
}

static int compare_packed_names(const void *a, const void *b)
{
	const struct pack_entry *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void pp_archive_samples_sort(struct pp_archive_samples *samples)
{
	if (samples->nr_loose)
		qsort(samples->loose, samples->nr_loose,
		      sizeof(*samples->loose), compare_loose_files);
	for (size_t i = 0; i < samples->nr_packs; i++)
		qsort((void *)samples->packs[i].entries, samples->packs[i].nr,
		      sizeof(*samples->packs[i].entries), compare_packed_names);
}

int pp_archive_pack_write(const struct pp_archive_pack *pack, const char *to)
{
	const struct pack *from = db_folder_pack(pack->session->folder);
	struct pack_writer *writer;
	int err = pack_writer_new(&writer, to, pack_generation(from));

	if (err)
		return err;
	for (size_t i = 0; i < pack->nr && !err; i++)
		err = pack_writer_copy(writer, from, pack->entries[i]);
	if (!err)
		return pack_writer_finish_early(writer);
	pack_writer_cancel(writer);
	return err;
}
