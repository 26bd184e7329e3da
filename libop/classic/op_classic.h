/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_CLASSIC_OP_CLASSIC_H
#define LIBOP_CLASSIC_OP_CLASSIC_H

/*
 * Sample files of OProfile up to 1.4: a header, a description of the table,
 * nodes of key, count and chain, and the table's index. All in the layout of
 * the machine that wrote it (op_classic_abi.h); any machine can read it here.
 * Everything is verified before it is given out, but there is no checksum in
 * such a file: a damaged count is a count.
 *
 *	header | description | node 0 | ... | node N - 1 | index 0 | ... N - 1
 *
 * Node 0 is not used. What lies behind the nodes in use may be anything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/classic/op_classic_abi.h"
#include "libop/base/op_diag.h"
#include "libop/session/op_mangle.h"

#define OP_CLASSIC_VERSION_0 0x12 /* OProfile 0.9.x */
#define OP_CLASSIC_VERSION_1 0x13 /* OProfile 1.x */

struct op_classic_header {
	uint32_t version; /* one of the two above */
	uint32_t cpu_type; /* see op_classic_cpu_name() */
	uint32_t event; /* event code; 0 for the timer */
	uint32_t unit_mask;
	uint32_t count; /* reset value; 0 for the timer */
	uint32_t cpu_khz; /* 0 unknown */
	bool is_kernel; /* the image is the kernel or a part of it */
	uint64_t mtime; /* of the image file, seconds; 0 unknown */
	uint64_t anon_start; /* first address of anonymous memory, else 0 */
	bool cg_to_is_kernel; /* the two of the callee in call-graph files */
	uint64_t cg_to_anon_start;
};

struct op_classic {
	struct op_classic_header header;
	uint64_t nr_nodes; /* that op_classic_next() looks at */

	/* For the functions below. */
	struct op_classic_abi abi;
	const uint8_t *nodes;
	void *bytes; /* NULL if the caller's */
};

/*
 * Read the sample file @path, laid out as @abi says; NULL: as one of the
 * layouts that are known, whichever fits. Returns 0 or -errno with the reason
 * in @diag: -EBADMSG damaged or no such file, -EPROTO of a version or a
 * layout that cannot be read. To be closed after 0 only.
 */
int op_classic_open(struct op_classic *classic, const char *path,
		    const struct op_classic_abi *abi, struct op_diag *diag);
void op_classic_close(struct op_classic *classic);

/* The same for @len @bytes that stay the caller's. @path is for the reason. */
int op_classic_parse(struct op_classic *classic, const uint8_t *bytes,
		     size_t len, const struct op_classic_abi *abi,
		     const char *path, struct op_diag *diag);

/*
 * Walk all pairs with a count above zero; a damaged file may have a key twice:
 *	for (uint64_t at = 0; op_classic_next(c, &at, &key, &count);)
 * In a call-graph file the key is the caller's offset << 32 | the callee's.
 */
bool op_classic_next(const struct op_classic *classic, uint64_t *at,
		     uint64_t *key, uint64_t *count);

/* The name of the CPU type with @number in files of @version; NULL unknown. */
const char *op_classic_cpu_name(uint32_t version, uint32_t number);

/* Whether one of the two versions has a CPU type @name. */
bool op_classic_knows_cpu(const char *name);

/*
 * Take apart the name of a sample file, relative to its session's folder. It
 * is that of op_mangle.h but for escapes, of which there are none, so any name
 * must be given to op_mangle_build() for the one of ours. The strings in *@m
 * point into @buf of @len bytes (OP_MANGLE_MAX is enough for a @path shorter
 * than that). Returns 0; -EINVAL, -ENAMETOOLONG with the reason in @diag.
 */
int op_classic_name_parse(const char *path, struct op_mangle *m, char *buf,
			  size_t len, struct op_diag *diag);

#endif /* LIBOP_CLASSIC_OP_CLASSIC_H */
