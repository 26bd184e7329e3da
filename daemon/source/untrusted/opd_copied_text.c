// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process chooses what it maps where, and so which file this leads to: as
 * with a mapping that it makes itself, the names are those of a file that it
 * may read. What the memory holds may change later. Neither concerns others.
 */

#include "daemon/source/untrusted/opd_copied_text.h"

#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/perf/opd_perf_image.h"
#include "daemon/source/opd_proc_maps.h"
#include "libcfi/unwinder.h"

/* Segments may share a page of the file, so that the memory has several places
 * by its headers. */
#define MAX_PLACES 4

/* The part of the memory that the file @fd has as text, if one of its segments
 * is where
 * @side is mapped. Returns as opd_untrusted_do(). */
static int ask_text(struct opd_untrusted *untrusted, int fd,
		    const struct unwinder_map *side,
		    struct opd_untrusted_text *text)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_TEXT,
					   .text = *text };
	const void *room = NULL;
	int err;

	call.text.side_addr = side->start;
	call.text.side_offset = side->offset;
	err = opd_untrusted_do(untrusted, fd, &call, &room);
	opd_untrusted_done(untrusted, room);
	*text = call.text;
	return err;
}

/* The digest of some pages of @len bytes at @at of the file @fd. */
static int ask_digest(struct opd_untrusted *untrusted, int fd, uint64_t at,
		      uint64_t len, uint64_t *digest)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_DIGEST,
					   .text = { .start = at,
						     .end = at + len } };
	const void *room = NULL;
	int err = opd_untrusted_do(untrusted, fd, &call, &room);

	opd_untrusted_done(untrusted, room);
	*digest = call.text.digest;
	return err;
}

/* Whether process @tgid has in its memory what the file @fd has. */
static bool is_copy(struct opd_untrusted *untrusted, int fd, const char *proc,
		    uint32_t tgid, const struct opd_untrusted_text *text)
{
	uint64_t len = text->end - text->start, in_file, in_memory;
	int mem = opd_proc_open_memory(proc, tgid);
	bool is_equal;

	if (mem < 0)
		return false;
	is_equal = !ask_digest(untrusted, mem, text->start, len, &in_memory) &&
		   !ask_digest(untrusted, fd, text->offset, len, &in_file) &&
		   in_memory == in_file;
	close(mem);
	return is_equal;
}

/* Whether @text, which another process found, is a part of the memory @at, and
 * the memory begins in the file. */
static bool is_within(const struct opd_untrusted_text *text,
		      const struct unwinder_map *at)
{
	return text->start >= at->start && text->start < text->end &&
	       text->end <= at->end && text->offset <= INT64_MAX &&
	       text->offset >= text->start - at->start;
}

/* Whether the memory @at is a copy of text of the file that @side maps. */
static bool is_text_of(struct opd_untrusted *untrusted,
		       struct opd_perf_images *images, const char *proc,
		       const struct opd_proc_side *side,
		       struct unwinder_map *at)
{
	bool is_text = false;
	int fd;

	at->cookie = opd_perf_image_cookie(images, &side->id);
	fd = opd_perf_image_open(images, at->cookie);
	if (fd < 0)
		return false;
	for (unsigned int i = 0; i < MAX_PLACES && !is_text; i++) {
		struct opd_untrusted_text text = { .start = at->start,
						   .end = at->end,
						   .skipped = i };

		if (ask_text(untrusted, fd, &side->map, &text))
			break;
		is_text = is_within(&text, at) &&
			  is_copy(untrusted, fd, proc, side->id.pid, &text);
		at->offset = text.offset - (text.start - at->start);
	}
	close(fd);
	return is_text;
}

bool opd_copied_text_find(struct opd_untrusted *untrusted,
			  struct opd_perf_images *images, const char *proc,
			  uint32_t tgid, uint64_t addr,
			  struct unwinder_map *map)
{
	struct opd_proc_side sides[2];
	bool found = false;

	if (!opd_proc_find_sides(proc, tgid, addr, map, sides))
		return false;
	for (int i = 0; i < 2 && !found; i++)
		found = sides[i].map.end &&
			is_text_of(untrusted, images, proc, &sides[i], map);
	map->anon = NULL;
	return found;
}
