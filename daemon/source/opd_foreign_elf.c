// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading binaries, and code in them or in memory: see opd_foreign_read.h. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/opd_foreign.h"
#include "daemon/source/opd_foreign_read.h"
#include "libcfi/cfi.h"
#include "libcfi/cfi_return.h"
#include "libop/op_build_id.h"

void opd_foreign_read_build_id(int fd, struct opd_foreign_call *call,
			       void *room)
{
	struct op_build_id id = { .len = 0 };

	call->err = op_build_id_of_elf(&id, fd);
	if (call->err)
		return;
	call->nr = id.len;
	memcpy(room, id.bytes, sizeof(id.bytes));
}

void opd_foreign_put_table(struct opd_foreign_call *call,
			   struct cfi_table *table, void *room)
{
	size_t len = cfi_table_flat_len(table);

	if (len > OPD_FOREIGN_ROOM) {
		call->err = -EFBIG;
	} else {
		cfi_table_flatten(table, room);
		call->nr = len;
	}
	cfi_table_free(table);
}

void opd_foreign_read_table(int fd, struct opd_foreign_call *call, void *room)
{
	struct cfi_table *table;

	call->err =
		cfi_table_read(&table, fd, (enum cfi_extent)call->extent, NULL);
	if (!call->err)
		opd_foreign_put_table(call, table, room);
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
			     struct opd_foreign_leaving *l)
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
	}
	return false;
}

void opd_foreign_read_return(int fd, struct opd_foreign_call *call)
{
	struct opd_foreign_leaving *l = &call->leaving;
	struct code_file file = { fd, l->low, l->high };
	const struct cfi_code_reader reader = { .read = read_code_file,
						.ctx = &file,
						.has_own_abi = l->is_made };

	if (!ask_foreign_code(&reader, l))
		call->err = -ENODATA;
}
