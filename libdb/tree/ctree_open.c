// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening and closing. A writer maps the file; a reader copies what is
 * complete of it, which never changes but for counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libdb/tree/ctree_table.h"
#include "libdb/table/db_file.h"
#include "libdb/table/db_table.h"
#include "libop/files/op_file.h"

static void attach(struct ctree *tree, struct ctree_header *header)
{
	tree->header = header;
	tree->slots = (union ctree_slot *)(header + 1);
}

/* Without the slots that a file of @len bytes has no room for. */
static void cut_slots(struct ctree *tree, size_t len)
{
	size_t nr = (len - sizeof(*tree->header)) / sizeof(*tree->slots);

	if (tree->nr_used <= nr)
		return;
	tree->nr_used = (uint32_t)nr;
	tree->torn = true;
}

/* Check the slots that the header counts, and fill the index. */
static int take_slots(struct ctree *tree)
{
	int err;

	tree->nr_used = (uint32_t)tree->header->nr_used;
	/* A power cut may cost the end of a file. */
	if (tree->writable)
		cut_slots(tree, tree->map_len);
	err = ctree_check_slots(tree);
	if (!err && tree->torn && tree->writable)
		tree->header->nr_used = tree->nr_used;
	return err;
}

bool ctree_is_torn(const struct ctree *tree)
{
	return tree->torn;
}

/* ---- readers ------------------------------------------------------------ */

/* The header comes first: what it counts is complete by then. */
static int read_tree_header(int fd, struct ctree_header *header, size_t *len)
{
	struct stat st = { 0 };
	int err = odb_file_stat(fd, &st) ?:
		  op_file_read_at(fd, header, sizeof(*header), 0) ?:
		  /* Its length now: a writer may have made it longer since. */
		  odb_file_stat(fd, &st);

	*len = (size_t)st.st_size;
	return err ?: ctree_check_header(header, (uint64_t)st.st_size);
}

static int copy_tree_file(struct ctree *tree, int fd)
{
	struct ctree_header header, *copy;
	size_t len;
	int err = read_tree_header(fd, &header, &len);

	if (err)
		return err;
	tree->nr_used = (uint32_t)header.nr_used;
	cut_slots(tree, len);
	header.nr_used = tree->nr_used;
	len = ctree_used_len(tree->nr_used);
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	attach(tree, copy);
	err = op_file_read_at(fd, copy, len, 0);
	*copy = header;
	return err;
}

static int open_tree_reader(struct ctree *tree, const char *path)
{
	int fd = odb_file_open(path, O_RDONLY);
	int err;

	if (fd < 0)
		return fd;
	err = copy_tree_file(tree, fd);
	close(fd);
	if (!err)
		err = take_slots(tree);
	return err ? err : ctree_number(tree);
}

/* ---- writers ------------------------------------------------------------ */

static int map_tree_file(struct ctree *tree, int fd, const struct stat *st)
{
	size_t len = (size_t)st->st_size;
	void *map = odb_file_map(fd, len, 0);

	if (map == MAP_FAILED)
		return -errno;
	attach(tree, map);
	tree->map_len = len;
	tree->dev = st->st_dev;
	tree->ino = st->st_ino;
	return 0;
}

static int write_header(int fd)
{
	struct ctree_header header = {
		.byte_order = CTREE_BYTE_ORDER,
		.version = CTREE_VERSION,
		.header_len = sizeof(struct ctree_header),
		.slot_len = sizeof(union ctree_slot),
	};

	memcpy(header.magic, CTREE_MAGIC, CTREE_MAGIC_LEN);
	return op_file_write_at(fd, &header, sizeof(header), 0);
}

/* Finish the new file @fd, called @tmp, and give it its name. */
static int finish_new(struct ctree *tree, int fd, const char *tmp)
{
	struct stat st;
	int err = write_header(fd);

	if (!err)
		err = odb_file_stat(fd, &st);
	if (!err)
		err = map_tree_file(tree, fd, &st);
	if (!err && rename(tmp, tree->path))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}

/* Make a file without nodes; @like is an empty one that it replaces. */
static int create_tree_file(struct ctree *tree, const struct stat *like)
{
	char *tmp = odb_file_tmp_path(tree->path);
	int fd, err;

	if (!tmp)
		return -ENOMEM;
	fd = odb_file_create(tmp, CTREE_PAGE, like);
	err = fd < 0 ? fd : finish_new(tree, fd, tmp);
	if (fd >= 0)
		close(fd);
	free(tmp);
	return err;
}

static int open_existing(struct ctree *tree, int fd)
{
	struct ctree_header header;
	struct stat st;
	size_t len;
	int err = odb_file_stat(fd, &st);

	if (!err && st.st_size == 0)
		return create_tree_file(tree, &st);
	if (!err)
		err = read_tree_header(fd, &header, &len);
	if (!err)
		err = odb_file_fill(fd, &st);
	return err ? err : map_tree_file(tree, fd, &st);
}

static int open_tree_writer(struct ctree *tree, const char *path)
{
	int err = odb_file_path(&tree->path, path);
	int fd;

	if (err)
		return err;
	tree->writable = true;
	fd = odb_file_open(tree->path, O_RDWR);
	if (fd == -ENOENT) {
		err = create_tree_file(tree, NULL);
	} else if (fd < 0) {
		err = fd;
	} else {
		err = open_existing(tree, fd);
		close(fd);
	}
	return err ? err : take_slots(tree);
}

/* ---- what the world sees ------------------------------------------------- */

int ctree_open(struct ctree **out, const char *path, enum odb_mode mode)
{
	struct ctree *tree = calloc(1, sizeof(*tree));
	int err;

	if (!tree)
		return -ENOMEM;
	if (mode == ODB_RDWR)
		err = open_tree_writer(tree, path);
	else
		err = open_tree_reader(tree, path);
	if (err)
		ctree_close(tree);
	else
		*out = tree;
	return err;
}

void ctree_close(struct ctree *tree)
{
	if (!tree)
		return;
	if (tree->writable && tree->header)
		munmap(tree->header, tree->map_len);
	else
		free(tree->header);
	op_hash_release(&tree->index);
	free(tree->nodes);
	free(tree->images);
	free(tree->path);
	free(tree);
}

void ctree_share_room(struct ctree *tree, uint64_t *room)
{
	tree->room = room;
}

void *ctree_user(struct ctree *tree)
{
	return tree->header->user;
}
