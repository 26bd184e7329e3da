/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_COPIED_TEXT_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_COPIED_TEXT_H

/*
 * Text that a process has copied from a file that it maps into anonymous
 * memory, in place of that mapping: programs do so to have their text in huge
 * pages. The file's other segments are still around it. By their addresses the
 * headers of the file say where in the file the memory belongs, and the bytes
 * of some pages have to be equal.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libcfi/unwinder.h"

struct opd_untrusted;
struct opd_perf_images;

/*
 * Look for the file whose text the anonymous memory at @addr of process @tgid
 * is a copy of. True if there is one: then *@map is that memory, as if the file
 * was mapped there, with a cookie of @images. Reads all mappings of the process
 * in the folder @proc.
 */
bool opd_copied_text_find(struct opd_untrusted *untrusted,
			  struct opd_perf_images *images, const char *proc,
			  uint32_t tgid, uint64_t addr,
			  struct unwinder_map *map);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_COPIED_TEXT_H */
