/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_TREE_IMAGE_H
#define LIBOP_SESSION_OP_TREE_IMAGE_H

/*
 * The description of an image in a call tree: the facts that the name and
 * header of a flat sample file hold. libdb/ctree.h keeps it as bytes, and takes
 * images of equal bytes for the same, so there is one way to write each.
 *
 * Offsets of nodes are keys as in flat files of the same kind; of a caller it
 * is the return address minus 1, which is in the call.
 *
 * A stack that is not whole has a root of kind OP_IMAGE_PSEUDO, offset 0, that
 * says why; what is known of it is below that.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/image/op_build_id.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"

struct op_tree_image {
	struct op_image_name name;
	enum op_image_kind kind;
	uint64_t mtime; /* of the image file, seconds; 0 unknown */
	uint64_t anon_start; /* first address of OP_IMAGE_ANON */
	struct op_build_id build_id;
};

#define OP_TREE_IMAGE_MAX 8192 /* bytes; fits a libdb/ctree.h */

/*
 * Write @image to @buf of @len bytes. Returns the number of bytes, or
 * -ENAMETOOLONG when they do not fit (or are more than OP_TREE_IMAGE_MAX);
 * -EINVAL for a name that is absent or empty, or fields out of range.
 */
int op_tree_image_encode(const struct op_tree_image *image, void *buf,
			 size_t len);

/*
 * Read @image from @len @bytes. Its name is put into @name of @name_len bytes
 * (OP_TREE_IMAGE_MAX is always enough). Returns 0; -EBADMSG with the reason in
 * @diag when the bytes are not what encoding gives; -ENAMETOOLONG.
 */
int op_tree_image_decode(struct op_tree_image *image, const void *bytes,
			 size_t len, char *name, size_t name_len,
			 struct op_diag *diag);

/*
 * The name, in OP_SPACE_KERN, of the root that stacks of @class have: NULL for
 * whole ones, and for what is no class of stored stacks.
 */
const char *op_tree_gap_name(enum op_ledger_stacks class);

/* The class whose root has @name; OP_STACKS_WHOLE if none has. */
enum op_ledger_stacks op_tree_gap_class(const char *name);

/* Likewise of @image: what is below it is incomplete, or not certain. */
enum op_ledger_stacks op_tree_image_class(const struct op_tree_image *image);

#endif /* LIBOP_SESSION_OP_TREE_IMAGE_H */
