/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_ARCHIVE_SAMPLES_H
#define LIBPP_ARCHIVE_ARCHIVE_SAMPLES_H

/*
 * The sample files of an archive, for the files archive_*.c alone. Loose ones
 * are copied as they are. Of a pack the archive gets another one, with the
 * entries that are asked for and the generation of the first: so it means the
 * same beside the loose files, and stays small.
 *
 * All belongs to an arena, entries to packs of sessions that are open.
 */

#include <stddef.h>

#include "libpp/archive/archive_list.h"
#include "libpp/select/sample_list.h"

struct pack_entry; /* libdb/pack.h */

/* A loose file. */
struct pp_archive_loose {
	enum pp_archive_part kind; /* samples or trees */
	const struct pp_session *session;
	const char *path;
};

/* The entries of a session's pack that are asked for. */
struct pp_archive_pack {
	const struct pp_session *session;
	const struct pack_entry **entries;
	size_t nr;
};

struct pp_archive_samples {
	struct op_arena *arena;
	struct pp_archive_loose *loose;
	size_t nr_loose;
	struct pp_archive_pack *packs; /* one for a session, if it has any */
	size_t nr_packs;
};

/* Add one part of a file of @kind in @session. Returns 0 or -ENOMEM. */
int pp_archive_samples_add(struct pp_archive_samples *samples,
			   enum pp_archive_part kind,
			   const struct pp_session *session,
			   const struct pp_sample_part *part);

/* Sort all by kind and path, what is packed by name. */
void pp_archive_samples_sort(struct pp_archive_samples *samples);

/*
 * Write @pack as the file @to. Returns 0 or -errno; -EBADMSG when the pack that
 * is read is damaged.
 */
int pp_archive_pack_write(const struct pp_archive_pack *pack, const char *to);

#endif /* LIBPP_ARCHIVE_ARCHIVE_SAMPLES_H */
