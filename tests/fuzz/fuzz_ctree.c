// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a call tree: opening says what is wrong with them, or each way
 * to the root ends, images can be decoded or are refused, and the tree can be
 * added to and opened again with all it had.
 *
 * An input whose first byte is odd is a list of changes to a sound file: two
 * bytes of offset, one to exclusive-or. Of others the rest is the file itself.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/ctree.h"
#include "libop/session/op_tree_image.h"

#define ROOM 8192 /* bytes; more than the sound file has */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64]; /* set by make_sound() */

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* ---- reading --------------------------------------------------------------
 */

static void decode(const struct ctree *tree, uint32_t number)
{
	static char name[OP_TREE_IMAGE_MAX];
	static uint8_t again[OP_TREE_IMAGE_MAX];
	struct op_diag diag = { "" };
	struct op_tree_image image;
	size_t len;
	const void *bytes = ctree_image_bytes(tree, number, &len);

	if (op_tree_image_decode(&image, bytes, len, name, sizeof(name),
				 &diag)) {
		check(diag.text[0]);
		return;
	}
	check(op_tree_image_encode(&image, again, sizeof(again)) == (int)len);
	check(!memcmp(bytes, again, len));
	op_tree_image_class(&image);
}

/* Returns the sum of the counts, which may wrap. */
static uint64_t walk(const struct ctree *tree)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= ctree_nr_images(tree); i++)
		decode(tree, i);
	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
		struct ctree_node node;

		ctree_node(tree, i, &node);
		check(node.parent < i);
		check(node.image && node.image <= ctree_nr_images(tree));
		sum += node.count;
	}
	return sum;
}

/* Returns whether it could be read. */
static bool read_it(uint64_t *sum, uint32_t *nr_nodes)
{
	struct ctree *tree;

	if (ctree_open(&tree, path, ODB_RDONLY))
		return false;
	*sum = walk(tree);
	*nr_nodes = ctree_nr_nodes(tree);
	ctree_close(tree);
	return true;
}

/* ---- writing --------------------------------------------------------------
 */

/* Stacks with and without a common beginning, more than there is room for. */
static uint64_t add_stacks(struct ctree *tree)
{
	uint32_t node, image;
	uint64_t sum = 0;

	check(!ctree_image(tree, "fuzzed", 6, &image));
	for (uint64_t i = 0; i < 40; i++) {
		node = CTREE_ROOT;
		for (uint64_t j = 0; j < 10; j++)
			check(!ctree_child(tree, node, image, j < 5 ? j : i + j,
					   &node));
		check(!ctree_add(tree, node, 1));
		sum++;
	}
	return sum;
}

static void add_to_it(uint64_t sum, uint32_t nr_nodes)
{
	struct ctree *tree;
	uint64_t more;
	uint32_t nr;

	check(!ctree_open(&tree, path, ODB_RDWR));
	more = add_stacks(tree);
	ctree_close(tree);
	check(read_it(&more, &nr) && nr >= nr_nodes);
	/* Counts stay at their end. */
	check(more == sum + 40 || sum > UINT64_MAX - 40 || more >= sum);
}

/* ---- inputs ---------------------------------------------------------------
 */

static void put_file(const uint8_t *data, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void add_image(struct ctree *tree, const struct op_tree_image *image)
{
	uint8_t bytes[OP_TREE_IMAGE_MAX];
	int len = op_tree_image_encode(image, bytes, sizeof(bytes));
	uint32_t number = 0, node;

	check(len > 0 && !ctree_image(tree, bytes, (size_t)len, &number));
	check(!ctree_child(tree, CTREE_ROOT, number, 0x10, &node));
	check(!ctree_child(tree, node, number, 0x20, &node));
	check(!ctree_add(tree, node, 7));
}

/* A sound file with images of several kinds; its length in bytes. */
static size_t make_sound(uint8_t *sound)
{
	static const struct op_tree_image images[] = {
		{ .name = { .space = OP_SPACE_ROOT, .name = "/usr/bin/app" },
		  .build_id.len = 20,
		  .mtime = 1 },
		{ .name = { .space = OP_SPACE_ANON,
			    .name = "anon",
			    .tgid = 4,
			    .start = 0x1000,
			    .end = 0x2000 },
		  .kind = OP_IMAGE_ANON,
		  .anon_start = 0x1000 },
		{ .name = { .space = OP_SPACE_KERN, .name = "[broken stack]" },
		  .kind = OP_IMAGE_PSEUDO },
	};
	struct ctree *tree;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/fuzz_ctree.%d", (int)getpid());
	unlink(path);
	check(!ctree_open(&tree, path, ODB_RDWR));
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		add_image(tree, &images[i]);
	ctree_close(tree);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, sound, ROOM);
	check(len > 0);
	close(fd);
	return (size_t)len;
}

static void put_changed(const uint8_t *sound, size_t len, const uint8_t *data,
			size_t size)
{
	uint8_t changed[ROOM];

	memcpy(changed, sound, len);
	for (; size >= 3; data += 3, size -= 3)
		changed[(data[0] << 8 | data[1]) % len] ^= data[2];
	put_file(changed, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t sound[ROOM];
	static size_t len;
	uint32_t nr_nodes;
	uint64_t sum;

	if (!len)
		len = make_sound(sound);
	if (size && data[0] & 1)
		put_changed(sound, len, data + 1, size - 1);
	else
		put_file(data + (size > 0), size - (size > 0));
	if (read_it(&sum, &nr_nodes))
		add_to_it(sum, nr_nodes);
	unlink(path);
	return 0;
}
