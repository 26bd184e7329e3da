/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_CLASSIC_OP_CLASSIC_ABI_H
#define LIBOP_CLASSIC_OP_CLASSIC_ABI_H

/*
 * How the machine that wrote classic sample files (op_classic.h) lays out
 * their structures. The file "abi" of a classic session tells it, in lines
 * "NAME VALUE"; what is read here is sound: every field lies within its
 * structure and has a size that can be read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/* Sizes and offsets in bytes. */
struct op_classic_abi {
	bool little_endian;
	uint32_t key_size, value_size, node_nr_size, index_size, u64_size;
	uint32_t header_size, descr_size, node_size;
	uint32_t node_key, node_value, node_next;
	uint32_t descr_nr, descr_used;
	uint32_t magic, version, cpu_type, event, unit_mask, count;
	uint32_t is_kernel, cpu_speed, mtime;
	uint32_t cg_to_is_kernel, anon_start, cg_to_anon_start;
};

#define OP_CLASSIC_ABSENT UINT32_MAX /* offset of a field that there is not */

/*
 * Read the abi file @path. Returns 0 or -errno with the reason in @diag:
 * -ENOENT, -EINVAL for what is no such file or makes no sense.
 */
int op_classic_abi_read(struct op_classic_abi *abi, const char *path,
			struct op_diag *diag);

/* The same for the @len bytes of @text, which a zero byte follows. @path is
 * for the reason. @text is changed. */
int op_classic_abi_parse(struct op_classic_abi *abi, char *text, size_t len,
			 const char *path, struct op_diag *diag);

/*
 * Layout number @i from 0 of those that machines had for sample files of
 * @version. Returns whether there is one.
 */
bool op_classic_abi_known(struct op_classic_abi *abi, unsigned int i,
			  uint32_t version, bool little_endian);

#endif /* LIBOP_CLASSIC_OP_CLASSIC_ABI_H */
