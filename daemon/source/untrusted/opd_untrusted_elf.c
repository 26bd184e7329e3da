// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading binaries, and code in them or in memory: see opd_untrusted_read.h. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_untrusted_read.h"
#include "libcfi/cfi.h"
#include "libcfi/cfi_return.h"
#include "libop/image/op_build_id.h"
#include "libop/image/op_elf.h"
#include "libop/base/op_hash.h"

void opd_untrusted_read_build_id(int fd, struct opd_untrusted_call *call,
				 void *room)
{
	struct op_build_id id = { .len = 0 };

	call->err = op_build_id_of_elf(&id, fd);
	if (call->err)
		return;
	call->nr = id.len;
	memcpy(room, id.bytes, sizeof(id.bytes));
}

void opd_untrusted_put_table(struct opd_untrusted_call *call,
			     struct cfi_table *table, void *room)
{
	size_t len = cfi_table_flat_len(table);

	if (len > OPD_UNTRUSTED_ROOM) {
		call->err = -EFBIG;
	} else {
		cfi_table_flatten(table, room);
		call->nr = len;
	}
	cfi_table_free(table);
}

void opd_untrusted_read_table(int fd, struct opd_untrusted_call *call,
			      void *room)
{
	struct cfi_table *table;

	call->err =
		cfi_table_read(&table, fd, (enum cfi_extent)call->extent, NULL);
	if (!call->err)
		opd_untrusted_put_table(call, table, room);
}

struct code_file {
	int fd;
	uint64_t low, high;
};

static size_t read_code_file(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct code_file *file = ctx;
	ssize_t got;

	if (addr < file->low || addr >= file->high || addr > INT64_MAX)
		return 0;
	if (len > file->high - addr)
		len = file->high - addr;
	got = pread(file->fd, buf, len, (off_t)addr);
	return got > 0 ? (size_t)got : 0;
}

static bool ask_foreign_code(const struct cfi_code_reader *reader,
			     struct opd_untrusted_leaving *l)
{
	enum cfi_arch arch = (enum cfi_arch)l->arch;

	switch ((enum unwinder_ask)l->ask) {
	case UNWINDER_RETURN:
		return cfi_find_return(arch, reader, l->at,
				       l->is_return_address, &l->found);
	case UNWINDER_AFTER_CALL:
		return cfi_is_after_call(arch, reader, l->at);
	case UNWINDER_NEVER_RETURNS:
		return cfi_never_returns(arch, reader, l->at);
	case UNWINDER_ROOT:
		return cfi_is_root(arch, reader, l->at);
	case UNWINDER_SWITCHES:
		return cfi_switches_stack(arch, reader, l->at,
					  l->is_return_address);
	case UNWINDER_KEEPS_SP:
		return cfi_keeps_sp_in_go(arch, reader, l->at);
	case UNWINDER_ENTERED:
		return cfi_is_entered_from(arch, reader, l->from, l->at,
					   l->is_return_address);
	}
	return false;
}

void opd_untrusted_read_return(int fd, struct opd_untrusted_call *call)
{
	struct opd_untrusted_leaving *l = &call->leaving;
	struct code_file file = { fd, l->low, l->high };
	const struct cfi_code_reader reader = { .read = read_code_file,
						.ctx = &file,
						.has_own_abi = l->is_made };

	if (!ask_foreign_code(&reader, l))
		call->err = -ENODATA;
}

/* ---- text that was copied ---------------------------------------------------
 */

/* A segment as the kernel maps it: whole pages. */
struct mapped_segment {
	uint64_t offset; /* in the file */
	uint64_t addr; /* by the headers */
	uint64_t len;
};

static struct mapped_segment map_segment(const struct op_elf_segment *segment)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t before = segment->address % page;

	return (struct mapped_segment){
		.offset = segment->offset - before,
		.addr = segment->address - before,
		.len = (before + segment->size + page - 1) / page * page,
	};
}

/* The part of the memory that is the code of @segment, which @bias is added to
 * the addresses of. Returns false if the memory is not within it. */
static bool fit_text(const struct op_elf_segment *segment, uint64_t bias,
		     struct opd_untrusted_text *text)
{
	const struct mapped_segment mapped = map_segment(segment);
	const uint64_t len = text->end - text->start;
	uint64_t at = text->start - (mapped.addr + bias);
	uint64_t code = segment->address + bias, skipped = 0;

	if (text->end <= text->start || at >= mapped.len ||
	    len > mapped.len - at)
		return false;
	/* The first page begins before the segment, the last ends after it. */
	if (code > text->start)
		skipped = code - text->start;
	if (skipped >= len || text->start + skipped - code >= segment->size)
		return false;
	text->start += skipped;
	text->offset = segment->offset + (text->start - code);
	if (text->end - code > segment->size)
		text->end = code + segment->size;
	return true;
}

#define MAX_LOADED 32 /* segments */

static unsigned int read_loaded(const struct op_elf *elf,
				struct op_elf_segment segments[MAX_LOADED])
{
	unsigned int nr, loaded = 0;

	if (op_elf_count_segments(elf, &nr))
		return 0;
	for (unsigned int i = 0; i < nr && loaded < MAX_LOADED; i++)
		if (!op_elf_segment(elf, i, &segments[loaded]) &&
		    segments[loaded].type == PT_LOAD && segments[loaded].size &&
		    op_elf_has(elf, segments[loaded].offset,
			       segments[loaded].size))
			loaded++;
	return loaded;
}

/* Try each segment that may be the one at the side, and for each of these all
 * that have code. */
static bool find_copied_text(const struct op_elf *elf,
			     struct opd_untrusted_text *text)
{
	struct op_elf_segment segments[MAX_LOADED];
	unsigned int nr = read_loaded(elf, segments);
	uint64_t skipped = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct mapped_segment side = map_segment(&segments[i]);
		uint64_t at = text->side_offset - side.offset;
		uint64_t bias = text->side_addr - (side.addr + at);

		if (at >= side.len)
			continue;
		for (unsigned int k = 0; k < nr; k++) {
			struct opd_untrusted_text fit = *text;

			if (!(segments[k].flags & PF_X) ||
			    !fit_text(&segments[k], bias, &fit))
				continue;
			if (skipped++ < text->skipped)
				continue;
			*text = fit;
			return true;
		}
	}
	return false;
}

void opd_untrusted_read_text(int fd, struct opd_untrusted_call *call)
{
	struct op_elf elf;

	call->err = op_elf_init(&elf, fd);
	if (!call->err && !find_copied_text(&elf, &call->text))
		call->err = -ENODATA;
}

#define DIGEST_PAGES 16
#define DIGEST_PAGE 4096

/* The first and the last page, and some at equal distances between them. */
void opd_untrusted_read_digest(int fd, struct opd_untrusted_call *call)
{
	struct opd_untrusted_text *text = &call->text;
	uint64_t len = text->end - text->start, hash = 0;
	uint8_t page[DIGEST_PAGE];
	size_t size = len < sizeof(page) ? len : sizeof(page);

	if (text->end <= text->start || text->end > INT64_MAX) {
		call->err = -EINVAL;
		return;
	}
	for (uint64_t i = 0; i < DIGEST_PAGES; i++) {
		uint64_t at =
			text->start + (len - size) / (DIGEST_PAGES - 1) * i;

		if (i == DIGEST_PAGES - 1)
			at = text->end - size;
		if (pread(fd, page, size, (off_t)at) != (ssize_t)size) {
			call->err = -ENODATA;
			return;
		}
		hash = op_hash_bytes(hash, page, size);
	}
	text->digest = hash;
}
