// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that reads foreign files looks at the headers in memory and says
 * which ranges belong where, and what sections the image gets, as those of the
 * file are not loaded. The ranges are copied here.
 */

#include "daemon/source/untrusted/opd_memory_image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/perf/opd_perf_image.h"
#include "daemon/source/opd_proc_maps.h"

#define IMAGE_MAX ((uint64_t)64 << 20) /* bytes */
#define COPIED_AT_ONCE ((size_t)1 << 18)

/* The start of the file that is mapped at @addr: the last mapping of its offset
 * 0 before that. 0 if there is none. */
static uint64_t find_head(const char *proc, uint32_t tgid, uint64_t addr)
{
	struct opd_proc_line line, head = { .map.end = 0 };
	struct opd_proc_maps maps;
	uint64_t found = 0;

	opd_proc_maps_open(&maps, proc, tgid);
	while (!found && opd_proc_maps_next(&maps, &line)) {
		if (opd_proc_is_anon(line.id.name))
			continue;
		if (!line.map.offset)
			head = line;
		if (addr >= line.map.start && addr < line.map.end &&
		    head.id.ino == line.id.ino && head.id.dev == line.id.dev)
			found = head.map.start;
	}
	opd_proc_maps_close(&maps);
	return found;
}

static int copy_from_memory(int from, uint64_t addr, int to, uint64_t offset,
			    uint64_t len, uint8_t *buf)
{
	while (len) {
		size_t part = len < COPIED_AT_ONCE ? len : COPIED_AT_ONCE;
		ssize_t got = pread(from, buf, part, (off_t)addr);

		if (got <= 0)
			return -EIO;
		if (pwrite(to, buf, (size_t)got, (off_t)offset) != got)
			return -ENOSPC;
		addr += (uint64_t)got;
		offset += (uint64_t)got;
		len -= (uint64_t)got;
	}
	return 0;
}

static int copy_parts(int mem, int fd, const struct opd_untrusted_image *image)
{
	uint8_t *buf = malloc(COPIED_AT_ONCE);
	int err = buf ? 0 : -ENOMEM;

	for (uint64_t i = 0; !err && i < OPD_UNTRUSTED_PARTS; i++) {
		const struct opd_untrusted_part *part = &image->parts[i];

		if (part->offset > IMAGE_MAX ||
		    part->len > IMAGE_MAX - part->offset ||
		    part->addr > INT64_MAX)
			err = -EFBIG;
		else
			err = copy_from_memory(mem, part->addr, fd,
					       part->offset, part->len, buf);
	}
	free(buf);
	return err;
}

/* @tail is what comes behind the parts, with its size: it may change. */
static int make_image(int mem, int fd, const struct opd_untrusted_image *image,
		      const void *tail, uint64_t tail_len)
{
	int err;

	if (tail_len > OPD_UNTRUSTED_ROOM || image->tail_at > IMAGE_MAX)
		return -EFBIG;
	err = copy_parts(mem, fd, image);
	if (!err && (pwrite(fd, tail, tail_len, (off_t)image->tail_at) !=
			     (ssize_t)tail_len ||
		     pwrite(fd, image->header, sizeof(image->header), 0) !=
			     (ssize_t)sizeof(image->header)))
		err = -ENOSPC;
	return err;
}

int opd_memory_image_open(struct opd_untrusted *untrusted, const char *proc,
			  uint32_t tgid, uint64_t addr)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_IMAGE };
	int mem, fd = -1, err;
	const void *room = NULL;

	if (!geteuid())
		return -EPERM;
	call.image.head = find_head(proc, tgid, addr);
	mem = call.image.head ? opd_proc_open_memory(proc, tgid) : -ENOENT;
	if (mem < 0)
		return mem;
	err = opd_untrusted_do(untrusted, mem, &call, &room);
	if (!err) {
		fd = memfd_create("image", MFD_CLOEXEC);
		err = fd < 0 ? -errno
			     : make_image(mem, fd, &call.image, room, call.nr);
	}
	opd_untrusted_done(untrusted, room);
	close(mem);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}
