// SPDX-License-Identifier: GPL-2.0-or-later
/* Adding all of one file to another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/tree/ctree_table.h"
#include "libdb/table/db_file.h"
#include "libdb/table/db_table.h"

static void take_user(void *to, const void *from)
{
	if (odb_is_zero(to, ODB_USER_SIZE))
		memcpy(to, from, ODB_USER_SIZE);
}

int odb_merge(struct odb *to, const struct odb *from)
{
	uint64_t key, count;
	int err = to->writable ? 0 : -EBADF;

	for (size_t at = 0; !err && odb_next(from, &at, &key, &count);)
		err = odb_add(to, key, count);
	if (!err)
		take_user(to->header->user, from->header->user);
	return err;
}

/* @numbers[i] becomes the number in @to of image i of @from. */
static int merge_images(struct ctree *to, const struct ctree *from,
			uint32_t *numbers)
{
	int err = 0;

	for (uint32_t i = 1; !err && i <= ctree_nr_images(from); i++) {
		size_t len;
		const void *bytes = ctree_image_bytes(from, i, &len);

		err = ctree_image(to, bytes, len, &numbers[i]);
	}
	return err;
}

/* Likewise of nodes. */
static int merge_nodes(struct ctree *to, const struct ctree *from,
		       const uint32_t *images, uint32_t *numbers)
{
	int err = 0;

	for (uint32_t i = 1; !err && i <= ctree_nr_nodes(from); i++) {
		struct ctree_node node;

		ctree_node(from, i, &node);
		err = ctree_child(to, numbers[node.parent], images[node.image],
				  node.offset, &numbers[i]);
		if (!err)
			err = ctree_add(to, numbers[i], node.count);
	}
	return err;
}

int ctree_merge(struct ctree *to, const struct ctree *from)
{
	uint32_t *images, *nodes;
	int err = -ENOMEM;

	if (!to->writable)
		return -EBADF;
	if (from->writable)
		return -EINVAL;
	images = calloc((size_t)ctree_nr_images(from) + 1, sizeof(*images));
	nodes = calloc((size_t)ctree_nr_nodes(from) + 1, sizeof(*nodes));
	if (images && nodes)
		err = merge_images(to, from, images);
	if (images && nodes && !err)
		err = merge_nodes(to, from, images, nodes);
	if (!err)
		take_user(to->header->user, from->header->user);
	free(images);
	free(nodes);
	return err;
}
