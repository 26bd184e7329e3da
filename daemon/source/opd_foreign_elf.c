// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading binaries: see opd_foreign_read.h. */

#include <errno.h>
#include <string.h>

#include "daemon/source/opd_foreign.h"
#include "daemon/source/opd_foreign_read.h"
#include "libcfi/cfi.h"
#include "libop/op_build_id.h"

void opd_foreign_read_build_id(int fd, struct opd_foreign_call *call,
			       void *room)
{
	struct op_build_id id = { .len = 0 };

	call->err = op_build_id_of_elf(&id, fd);
	if (call->err)
		return;
	call->nr = id.len;
	memcpy(room, id.bytes, id.len);
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
