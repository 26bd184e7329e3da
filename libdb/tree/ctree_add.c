// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adding. New slots are written behind the used ones, and counted among them
 * last of all:
 *
 *	| ... slot nr_used | new slots | free |	1. the bytes
 *	                               ^		2. nr_used comes here
 *
 * Who is killed between the two has left bytes in free room, which the next
 * one writes over.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libdb/tree/ctree_table.h"
#include "libdb/table/db_file.h"

/* A file a third longer, so that it is made longer rarely. */
static size_t next_len(size_t len)
{
	return (len + len / 3 + CTREE_PAGE) / CTREE_PAGE * CTREE_PAGE;
}

/* The file at tree->path, if it still is the one that is mapped. */
static int open_again(const struct ctree *tree)
{
	int fd = odb_file_open(tree->path, O_RDWR | O_NOFOLLOW);
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	err = odb_file_stat(fd, &st);
	if (!err && (st.st_dev != tree->dev || st.st_ino != tree->ino ||
		     (size_t)st.st_size < tree->map_len))
		err = -ESTALE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int lengthen(const struct ctree *tree, size_t len)
{
	int fd = open_again(tree);
	int err;

	if (fd < 0)
		return fd;
	err = odb_file_reserve(fd, len);
	/* Blocks beyond the old length are of no use: give them back. */
	if (err && ftruncate(fd, (off_t)tree->map_len))
		err = -errno;
	close(fd);
	return err;
}

static int lengthen_tree_file(struct ctree *tree, size_t len)
{
	uint64_t more = len - tree->map_len;
	void *map;
	int err;

	if (tree->room && more > *tree->room)
		return -EDQUOT;
	err = lengthen(tree, len);
	if (err)
		return err;
	if (tree->room)
		*tree->room -= more;
	map = mremap(tree->header, tree->map_len, len, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return -errno;
	tree->header = map;
	tree->slots = (union ctree_slot *)(tree->header + 1);
	tree->map_len = len;
	return 0;
}

/* Make room for @nr more slots and one more thing in the index. */
static int reserve(struct ctree *tree, uint32_t nr)
{
	size_t len = tree->map_len;
	int err = ctree_index_reserve(tree);

	if (err)
		return err;
	if (nr > CTREE_SLOTS_MAX - tree->nr_used)
		return -EFBIG;
	while (len < ctree_used_len(tree->nr_used + nr))
		len = next_len(len);
	return len > tree->map_len ? lengthen_tree_file(tree, len) : 0;
}

/* Let the @nr slots behind the used ones count. Returns the first. */
static uint32_t publish_slots(struct ctree *tree, uint32_t nr)
{
	uint32_t at = tree->nr_used + 1;

	tree->nr_used += nr;
	ctree_index_add(tree, at);
	__atomic_store_n(&tree->header->nr_used, tree->nr_used,
			 __ATOMIC_RELEASE);
	return at;
}

static int append_image(struct ctree *tree, const void *bytes, size_t len,
			uint32_t *image)
{
	uint32_t nr = ctree_image_slots(len);
	int err = reserve(tree, nr);
	union ctree_slot *slot;

	if (err)
		return err;
	slot = ctree_slot(tree, tree->nr_used + 1);
	memset(slot, 0, nr * sizeof(*slot));
	slot->image.mark = CTREE_IMAGE_HEAD;
	slot->image.len = (uint32_t)len;
	memcpy((uint8_t *)slot + offsetof(union ctree_slot, image.bytes), bytes,
	       len);
	*image = publish_slots(tree, nr);
	return 0;
}

int ctree_image(struct ctree *tree, const void *bytes, size_t len,
		uint32_t *image)
{
	if (!tree->writable)
		return -EBADF;
	if (!ctree_may_describe(bytes, len))
		return -EINVAL;
	*image = ctree_index_image(tree, bytes, len);
	return *image ? 0 : append_image(tree, bytes, len, image);
}

static bool may_be_slot(const struct ctree *tree, uint32_t at, bool image)
{
	return at && at <= tree->nr_used && ctree_is_image(tree, at) == image;
}

static int append_node(struct ctree *tree, uint32_t parent, uint32_t image,
		       uint64_t offset, uint32_t *node)
{
	union ctree_slot *slot;
	int err;

	if ((parent != CTREE_ROOT && !may_be_slot(tree, parent, false)) ||
	    !may_be_slot(tree, image, true))
		return -EINVAL;
	err = reserve(tree, 1);
	if (err)
		return err;
	slot = ctree_slot(tree, tree->nr_used + 1);
	slot->node.parent = parent;
	slot->node.image = image;
	slot->node.offset = offset;
	slot->node.count = 0;
	*node = publish_slots(tree, 1);
	return 0;
}

int ctree_child(struct ctree *tree, uint32_t parent, uint32_t image,
		uint64_t offset, uint32_t *node)
{
	if (!tree->writable)
		return -EBADF;
	/* A @parent or @image that cannot be a number is not found. */
	*node = ctree_index_node(tree, parent, image, offset);
	return *node ? 0 : append_node(tree, parent, image, offset, node);
}

uint32_t ctree_find_child(const struct ctree *tree, uint32_t parent,
			  uint32_t image, uint64_t offset)
{
	return ctree_index_node(tree, parent, image, offset);
}

uint32_t ctree_walk(const struct ctree *tree, uint32_t at,
		    struct ctree_node *node, const void **bytes, size_t *len)
{
	const union ctree_slot *slot = ctree_slot(tree, at);

	*bytes = NULL;
	if (ctree_is_image(tree, at)) {
		*bytes = ctree_bytes_of(slot);
		*len = slot->image.len;
		return at + ctree_image_slots(*len);
	}
	*node = (struct ctree_node){ slot->node.parent, slot->node.image,
				     slot->node.offset, slot->node.count };
	return at + 1;
}

int ctree_add(struct ctree *tree, uint32_t node, uint64_t count)
{
	union ctree_slot *slot;
	uint64_t sum;

	if (!tree->writable)
		return -EBADF;
	if (!may_be_slot(tree, node, false))
		return -EINVAL;
	slot = ctree_slot(tree, node);
	if (__builtin_add_overflow(slot->node.count, count, &sum))
		sum = UINT64_MAX;
	__atomic_store_n(&slot->node.count, sum, __ATOMIC_RELAXED);
	return 0;
}
