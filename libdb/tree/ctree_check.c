// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether bytes are a sound call tree. Everything that ctree_format.h promises
 * is checked here once, so that the rest may rely on it: after these checks no
 * number of the file leads out of the map, and every way from a node to the
 * root ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/tree/ctree_table.h"
#include "libdb/table/db_file.h"

int ctree_check_header(const struct ctree_header *header, uint64_t file_len)
{
	if (file_len < sizeof(*header))
		return -EBADMSG;
	if (memcmp(header->magic, CTREE_MAGIC, CTREE_MAGIC_LEN))
		return -EBADMSG;
	if (header->byte_order == CTREE_BYTE_ORDER_SWAPPED)
		return -EPROTO;
	if (header->byte_order != CTREE_BYTE_ORDER)
		return -EBADMSG;
	if (header->version != CTREE_VERSION)
		return -EPROTO;
	if (header->header_len != sizeof(*header) ||
	    header->slot_len != sizeof(union ctree_slot) ||
	    header->nr_used > CTREE_SLOTS_MAX ||
	    !odb_is_zero(header->reserved, sizeof(header->reserved)))
		return -EBADMSG;
	return 0;
}

/*
 * Pages that a power cut has cost read as zeroes. A description that lies in
 * some of them has lost its end, or sectors in its middle.
 */
bool ctree_may_describe(const uint8_t *bytes, size_t len)
{
	if (!len || len > CTREE_IMAGE_MAX || !bytes[len - 1])
		return false;
	return len <= CTREE_IMAGE_ZEROES ||
	       !memchr(bytes + CTREE_IMAGE_ZEROES, 0, len - CTREE_IMAGE_ZEROES);
}

/* Whether the description that slot @at begins is all there. */
static bool is_sound_image(const struct ctree *tree, uint32_t at)
{
	const union ctree_slot *slot = ctree_slot(tree, at);
	size_t room, len = slot->image.len;
	uint32_t nr;

	if (!len || len > CTREE_IMAGE_MAX)
		return false;
	nr = ctree_image_slots(len);
	if (nr > tree->nr_used - at + 1)
		return false;
	room = (size_t)nr * sizeof(*slot) -
	       offsetof(union ctree_slot, image.bytes);
	return ctree_may_describe(ctree_bytes_of(slot), len) &&
	       odb_is_zero(ctree_bytes_of(slot) + len, room - len);
}

/*
 * Slots by what they are: in the inside of a description any bytes may stand,
 * which must not pass for a node or a head.
 */
#define INSIDE 0
#define NODE 1
#define IMAGE 2

static bool is_sound_node(const struct ctree *tree, const uint8_t *kinds,
			  uint32_t at)
{
	const union ctree_slot *slot = ctree_slot(tree, at);
	uint32_t parent = slot->node.parent, image = slot->node.image;

	return (parent == CTREE_ROOT ||
		(parent < at && kinds[parent] == NODE)) &&
	       image && image < at && kinds[image] == IMAGE;
}

/* The slots that a sound thing at @at takes; 0 when it is not sound. */
static uint32_t sound_slots(const struct ctree *tree, uint8_t *kinds,
			    uint32_t at)
{
	if (!ctree_is_image(tree, at)) {
		kinds[at] = NODE;
		return is_sound_node(tree, kinds, at);
	}
	if (!is_sound_image(tree, at))
		return 0;
	kinds[at] = IMAGE;
	return ctree_image_slots(ctree_slot(tree, at)->image.len);
}

/*
 * Slots are added behind others. So after a power cut that has cost some pages
 * all is sound that had been brought to the disk, and what is not sound is
 * behind it.
 */
int ctree_check_slots(struct ctree *tree)
{
	uint8_t *kinds = calloc((size_t)tree->nr_used + 1, 1);
	uint32_t at, nr;
	int err = kinds ? 0 : -ENOMEM;

	for (at = 1; !err && at <= tree->nr_used; at += nr) {
		nr = sound_slots(tree, kinds, at);
		if (nr)
			err = ctree_index_reserve(tree);
		if (!nr || (!err && !ctree_index_add(tree, at))) {
			tree->torn = true;
			tree->nr_used = at - 1;
		}
	}
	free(kinds);
	return !err && tree->torn && !tree->nr_used ? -EBADMSG : err;
}
