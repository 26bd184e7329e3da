// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees: what is added is there, once, in each life of the file; broken
 * files are refused; a killed writer and a reader beside one.
 */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/libdb/odb_fixture.h"

#include "libdb/ctree.h"
#include "libdb/tree/ctree_format.h"

static struct ctree *must_open_tree(const char *path, enum odb_mode mode)
{
	struct ctree *tree = NULL;

	assert_int_equal(ctree_open(&tree, path, mode), 0);
	assert_non_null(tree);
	return tree;
}

static void must_refuse_tree(const char *path, enum odb_mode mode, int err)
{
	struct ctree *tree = NULL;

	assert_int_equal(ctree_open(&tree, path, mode), err);
	assert_null(tree);
}

static uint32_t image(struct ctree *tree, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(ctree_image(tree, text, strlen(text), &id), 0);
	assert_true(id > 0);
	return id;
}

static uint32_t child(struct ctree *tree, uint32_t parent, uint32_t in,
		      uint64_t offset)
{
	uint32_t node = 0;

	assert_int_equal(ctree_child(tree, parent, in, offset, &node), 0);
	assert_true(node > 0);
	return node;
}

static void add(struct ctree *tree, uint32_t node, uint64_t count)
{
	assert_int_equal(ctree_add(tree, node, count), 0);
}

static struct ctree_node node_at(const struct ctree *tree, uint32_t at)
{
	struct ctree_node node;

	ctree_node(tree, at, &node);
	return node;
}

static void must_be_node(const struct ctree *tree, uint32_t at, uint32_t parent,
			 uint32_t in, uint64_t offset, uint64_t count)
{
	struct ctree_node node = node_at(tree, at);

	assert_int_equal(node.parent, parent);
	assert_int_equal(node.image, in);
	assert_int_equal(node.offset, offset);
	assert_int_equal(node.count, count);
}

static void must_be_image(const struct ctree *tree, uint32_t at,
			  const char *text)
{
	size_t len = 0;
	const void *bytes = ctree_image_bytes(tree, at, &len);

	assert_int_equal(len, strlen(text));
	assert_memory_equal(bytes, text, len);
}

/* main -> f -> g (3), main -> f (1), main -> main (2), in two images. */
static void add_example(struct ctree *tree)
{
	uint32_t exe = image(tree, "/bin/example"), lib, main, f, g;

	main = child(tree, CTREE_ROOT, exe, 0x100);
	lib = image(tree, "/usr/lib/a name that takes more than one slot.so");
	f = child(tree, main, lib, 0x20);
	g = child(tree, f, lib, UINT64_MAX);
	add(tree, g, 3);
	add(tree, f, 1);
	add(tree, child(tree, main, exe, 0x100), 2);
}

static void must_be_example(const struct ctree *tree)
{
	assert_int_equal(ctree_nr_images(tree), 2);
	must_be_image(tree, 1, "/bin/example");
	must_be_image(tree, 2,
		      "/usr/lib/a name that takes more than one slot.so");
	assert_int_equal(ctree_nr_nodes(tree), 4);
	must_be_node(tree, 1, CTREE_ROOT, 1, 0x100, 0);
	must_be_node(tree, 2, 1, 2, 0x20, 1);
	must_be_node(tree, 3, 2, 2, UINT64_MAX, 3);
	must_be_node(tree, 4, 1, 1, 0x100, 2);
}

/* ---- what is added ---------------------------------------------------------
 */

ODB_TEST(what_is_added_is_there)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);

	add_example(tree);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	must_be_example(tree);
	ctree_close(tree);
}

ODB_TEST(the_same_again_takes_no_space)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	struct ctree_header *header;
	uint8_t *bytes;
	size_t len;

	add_example(tree);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDWR); /* a further life */
	add_example(tree);
	add_example(tree);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_int_equal(ctree_nr_nodes(tree), 4);
	assert_int_equal(ctree_nr_images(tree), 2);
	must_be_node(tree, 3, 2, 2, UINT64_MAX, 9);
	ctree_close(tree);
	bytes = read_file(f->path, &len);
	header = (struct ctree_header *)bytes;
	/* 48 bytes of description: 16 in the head, 32 in two more slots. */
	assert_int_equal(header->nr_used, 1 + 3 + 4);
	assert_int_equal(len, CTREE_PAGE);
	free(bytes);
}

ODB_TEST(counts_do_not_wrap)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	uint32_t node = child(tree, CTREE_ROOT, image(tree, "x"), 0);

	add(tree, node, UINT64_MAX - 1);
	add(tree, node, 1);
	add(tree, node, 1);
	add(tree, node, UINT64_MAX);
	add(tree, node, 5);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	must_be_node(tree, 1, CTREE_ROOT, 1, 0, UINT64_MAX);
	ctree_close(tree);
}

ODB_TEST(images_of_all_lengths)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	uint8_t bytes[CTREE_IMAGE_MAX + 1];
	uint32_t id;

	memset(bytes, 0xff, sizeof(bytes));
	for (size_t len = 1; len <= 100; len++)
		assert_int_equal(ctree_image(tree, bytes, len, &id), 0);
	assert_int_equal(ctree_image(tree, bytes, CTREE_IMAGE_MAX, &id), 0);
	assert_int_equal(ctree_image(tree, bytes, CTREE_IMAGE_MAX + 1, &id),
			 -EINVAL);
	assert_int_equal(ctree_image(tree, bytes, 0, &id), -EINVAL);
	/* Where bytes are zero, pages of the file may be lost. */
	assert_int_equal(ctree_image(tree, "x\0", 2, &id), -EINVAL);
	bytes[80] = 0;
	assert_int_equal(ctree_image(tree, bytes, 100, &id), -EINVAL);
	bytes[80] = 0xff;
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_int_equal(ctree_nr_images(tree), 101);
	for (uint32_t i = 1; i <= 101; i++) {
		size_t len;
		const void *there = ctree_image_bytes(tree, i, &len);

		assert_int_equal(len, i <= 100 ? i : CTREE_IMAGE_MAX);
		assert_memory_equal(there, bytes, len);
	}
	ctree_close(tree);
}

ODB_TEST(numbers_that_were_not_given_are_refused)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	uint32_t in = image(tree, "x"), node = child(tree, CTREE_ROOT, in, 7);
	uint32_t out;

	assert_int_equal(ctree_child(tree, in, in, 7, &out), -EINVAL);
	assert_int_equal(ctree_child(tree, node, node, 7, &out), -EINVAL);
	assert_int_equal(ctree_child(tree, node, 0, 7, &out), -EINVAL);
	assert_int_equal(ctree_child(tree, node + 1, in, 7, &out), -EINVAL);
	assert_int_equal(ctree_child(tree, UINT32_MAX, in, 7, &out), -EINVAL);
	assert_int_equal(ctree_child(tree, node, UINT32_MAX, 7, &out), -EINVAL);
	assert_int_equal(ctree_add(tree, CTREE_ROOT, 1), -EINVAL);
	assert_int_equal(ctree_add(tree, in, 1), -EINVAL);
	assert_int_equal(ctree_add(tree, node + 1, 1), -EINVAL);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_int_equal(ctree_nr_nodes(tree), 1);
	assert_int_equal(ctree_image(tree, "y", 1, &out), -EBADF);
	assert_int_equal(ctree_child(tree, 1, 1, 9, &out), -EBADF);
	assert_int_equal(ctree_add(tree, 1, 1), -EBADF);
	ctree_close(tree);
}

/* Node @i of a big tree, below node @i / 3. */
static void add_big(struct ctree *tree, uint32_t *nodes, uint32_t i)
{
	char text[32];

	snprintf(text, sizeof(text), "/lib/%u", i % 100);
	nodes[i] = child(tree, i ? nodes[i / 3] : CTREE_ROOT, image(tree, text),
			 scattered(i));
	add(tree, nodes[i], i);
}

ODB_TEST(big_trees_grow)
{
	enum { NR = 200000 };
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	uint32_t *nodes = calloc(NR, sizeof(*nodes));
	struct stat st;

	assert_non_null(nodes);
	strcpy(ctree_user(tree), "about it");
	for (uint32_t i = 0; i < NR; i++)
		add_big(tree, nodes, i);
	for (uint32_t i = 0; i < NR; i++)
		add_big(tree, nodes, i);
	assert_string_equal(ctree_user(tree), "about it");
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_string_equal(ctree_user(tree), "about it");
	assert_int_equal(ctree_nr_nodes(tree), NR);
	assert_int_equal(ctree_nr_images(tree), 100);
	for (uint32_t i = 0; i < NR; i++)
		must_be_node(tree, i + 1, i ? i / 3 + 1 : CTREE_ROOT,
			     i % 100 + 1, scattered(i), 2 * (uint64_t)i);
	ctree_close(tree);
	assert_int_equal(stat(f->path, &st), 0);
	assert_true(st.st_size < NR * 24 * 4 / 3 + 10 * CTREE_PAGE);
	free(nodes);
}

/* ---- files that are in the way ----------------------------------------------
 */

ODB_TEST(other_kinds_of_files)
{
	struct fixture *f = *state;
	const char *fifo = beside(f, "fifo"), *odb = beside(f, "odb");
	const char *gone = beside(f, "no/folder");

	must_refuse_tree(f->path, ODB_RDONLY, -ENOENT);
	must_refuse_tree(gone, ODB_RDWR, -ENOENT);
	must_refuse_tree(f->dir, ODB_RDONLY, -EISDIR);
	must_refuse_tree(f->dir, ODB_RDWR, -EISDIR);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	must_refuse_tree(fifo, ODB_RDONLY, -EBADMSG);
	must_refuse_tree(fifo, ODB_RDWR, -EBADMSG);
	odb_close(must_open(odb, ODB_RDWR));
	must_refuse_tree(odb, ODB_RDONLY, -EBADMSG);
	must_refuse_tree(odb, ODB_RDWR, -EBADMSG);
	ctree_close(must_open_tree(f->path, ODB_RDWR));
	must_refuse(f->path, ODB_RDONLY, -EBADMSG);
	must_refuse(f->path, ODB_RDWR, -EBADMSG);
}

ODB_TEST(an_empty_file_becomes_a_tree)
{
	struct fixture *f = *state;
	struct ctree *tree;
	struct stat st;

	write_file(f->path, "", 0);
	assert_int_equal(chmod(f->path, 0640), 0);
	must_refuse_tree(f->path, ODB_RDONLY, -EBADMSG);
	tree = must_open_tree(f->path, ODB_RDWR);
	add_example(tree);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	must_be_example(tree);
	ctree_close(tree);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

ODB_TEST(a_replaced_file_is_noticed)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	uint32_t in = image(tree, "x"), node = 0;
	int err = 0;

	assert_int_equal(rename(f->path, beside(f, "other")), 0);
	ctree_close(must_open_tree(f->path, ODB_RDWR));
	for (uint64_t i = 0; !err && i < 1000; i++)
		err = ctree_child(tree, CTREE_ROOT, in, i, &node);
	assert_int_equal(err, -ESTALE);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(ctree_child(tree, CTREE_ROOT, in, 5000, &node),
			 -ENOENT);
	/* What there is counts on. */
	node = child(tree, CTREE_ROOT, in, 0);
	add(tree, node, 1);
	ctree_close(tree);
	tree = must_open_tree(beside(f, "other"), ODB_RDONLY);
	must_be_node(tree, 1, CTREE_ROOT, 1, 0, 1);
	ctree_close(tree);
}

ODB_TEST(a_merge_takes_user_bytes_where_there_are_none)
{
	struct fixture *f = *state;
	struct ctree *to = must_open_tree(f->path, ODB_RDWR);
	uint8_t user[ODB_USER_SIZE];

	for (int i = 1; i <= 2; i++) {
		struct ctree *from =
			must_open_tree(beside(f, "from"), ODB_RDWR);

		memset(ctree_user(from), i, ODB_USER_SIZE);
		ctree_close(from);
		from = must_open_tree(beside(f, "from"), ODB_RDONLY);
		assert_int_equal(ctree_merge(to, from), 0);
		ctree_close(from);
	}
	memset(user, 1, sizeof(user));
	assert_memory_equal(ctree_user(to), user, sizeof(user));
	ctree_close(to);
}

/* Images or nodes are too many for the file, which cannot be made longer. */
ODB_TEST(a_merge_that_fails_says_so)
{
	static const struct {
		unsigned int nr_images, nr_nodes;
	} rows[] = { { 1000, 1 }, { 1, 1000 } };
	static const uint8_t no_user[ODB_USER_SIZE];
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ctree *from =
			must_open_tree(beside(f, "from"), ODB_RDWR);
		struct ctree *to = must_open_tree(f->path, ODB_RDWR);
		char name[32];

		memset(ctree_user(from), 1, ODB_USER_SIZE);
		for (unsigned int k = 0; k < rows[i].nr_images; k++) {
			snprintf(name, sizeof(name), "image %u", k);
			image(from, name);
		}
		for (unsigned int k = 0; k < rows[i].nr_nodes; k++)
			child(from, CTREE_ROOT, 1, k);
		ctree_close(from);
		from = must_open_tree(beside(f, "from"), ODB_RDONLY);
		assert_int_equal(unlink(f->path), 0);
		assert_int_equal(ctree_merge(to, from), -ENOENT);
		assert_memory_equal(ctree_user(to), no_user, ODB_USER_SIZE);
		ctree_close(from);
		ctree_close(to);
		assert_int_equal(unlink(beside(f, "from")), 0);
	}
}

/* No room: the limit on file sizes stands for a full disk. */
ODB_TEST(no_room_leaves_the_file_as_it_was)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	struct rlimit old, limit;
	uint32_t in, node, nr = 0;
	struct stat st;
	int err = 0;

	in = image(tree, "x");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = CTREE_PAGE;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	while (!err && nr < 1000)
		err = ctree_child(tree, CTREE_ROOT, in, nr++, &node);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, CTREE_PAGE);
	assert_int_equal(ctree_child(tree, CTREE_ROOT, in, nr - 1, &node), 0);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_int_equal(ctree_nr_nodes(tree), nr);
	ctree_close(tree);
}

/* ---- broken files
 * ------------------------------------------------------------ */

/* A sound file in memory: images in slots 1 and 3-5, nodes in 2 and 6-8. */
struct file {
	union {
		uint8_t bytes[CTREE_PAGE];
		struct {
			struct ctree_header header;
			union ctree_slot slots[100];
		};
	};
};

static struct file sound_file(struct fixture *f)
{
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
	struct file file;
	uint8_t *bytes;
	size_t len;

	add_example(tree);
	ctree_close(tree);
	bytes = read_file(f->path, &len);
	assert_int_equal(len, sizeof(file.bytes));
	memcpy(file.bytes, bytes, len);
	free(bytes);
	return file;
}

/* Refused by readers and by writers, who leave it alone. */
static void must_be_refused(struct fixture *f, const struct file *file,
			    size_t len, int err)
{
	write_file(f->path, file->bytes, len);
	must_refuse_tree(f->path, ODB_RDONLY, err);
	must_refuse_tree(f->path, ODB_RDWR, err);
	must_hold(f->path, file->bytes, len);
}

/* What is before the first slot that is not sound is used, and a writer goes on
 * behind it. */
static void must_be_torn(struct fixture *f, const struct file *file, size_t len)
{
	struct ctree *tree;
	uint32_t nr;

	write_file(f->path, file->bytes, len);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_true(ctree_is_torn(tree));
	nr = ctree_nr_nodes(tree);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDWR);
	assert_true(ctree_is_torn(tree));
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_false(ctree_is_torn(tree));
	assert_int_equal(ctree_nr_nodes(tree), nr);
	ctree_close(tree);
}

ODB_TEST(broken_headers_are_refused)
{
	struct fixture *f = *state;
	struct file sound = sound_file(f), broken;

#define REFUSED(change, err)                                                   \
	do {                                                                   \
		broken = sound;                                                \
		broken.change;                                                 \
		must_be_refused(f, &broken, sizeof(broken.bytes), err);        \
	} while (0)
#define TORN(change)                                                           \
	do {                                                                   \
		broken = sound;                                                \
		broken.change;                                                 \
		must_be_torn(f, &broken, sizeof(broken.bytes));                \
	} while (0)
	REFUSED(header.magic[0] ^= 1, -EBADMSG);
	REFUSED(header.magic[7] ^= 1, -EBADMSG);
	REFUSED(header.byte_order = CTREE_BYTE_ORDER_SWAPPED, -EPROTO);
	REFUSED(header.byte_order = 0, -EBADMSG);
	REFUSED(header.version = 2, -EPROTO);
	REFUSED(header.header_len = 64, -EBADMSG);
	REFUSED(header.slot_len = 32, -EBADMSG);
	REFUSED(header.reserved[31] = 1, -EBADMSG);
	TORN(header.nr_used = 161); /* 160 fit the page */
	REFUSED(header.nr_used = UINT64_MAX, -EBADMSG);
	REFUSED(header.nr_used = UINT64_C(1) << 32, -EBADMSG);
	/* Free slots are no nodes, and half a description is none. */
	TORN(header.nr_used = 9);
	TORN(header.nr_used = 3);
	TORN(header.nr_used = 4);
}

ODB_TEST(broken_slots_end_the_tree)
{
	struct fixture *f = *state;
	struct file sound = sound_file(f), broken;

	assert_int_equal(sound.slots[0].image.mark, CTREE_IMAGE_HEAD);
	assert_int_equal(sound.slots[2].image.mark, CTREE_IMAGE_HEAD);
	assert_int_equal(sound.slots[7].node.parent, 2);
	/* parents: itself, a later one, images, the inside of one, nothing */
	TORN(slots[6].node.parent = 7);
	TORN(slots[6].node.parent = 8);
	TORN(slots[6].node.parent = 1);
	TORN(slots[6].node.parent = 3);
	TORN(slots[6].node.parent = 4);
	TORN(slots[6].node.parent = 100);
	TORN(slots[6].node.parent = UINT32_MAX - 1);
	/* images: none, nodes, itself, the inside of one, nothing */
	TORN(slots[6].node.image = 0);
	TORN(slots[6].node.image = 2);
	TORN(slots[6].node.image = 7);
	TORN(slots[6].node.image = 4);
	TORN(slots[6].node.image = 100);
	TORN(slots[6].node.image = UINT32_MAX);
	TORN(slots[1].node.image = 3); /* not before it */
	/* the same node twice, the same image twice */
	TORN(slots[7].node = broken.slots[6].node);
	TORN(slots[5] = broken.slots[0]);
	/* lengths; bytes behind the end of a description */
	REFUSED(slots[0].image.len = 0, -EBADMSG);
	REFUSED(slots[0].image.len = 17, -EBADMSG);
	REFUSED(slots[0].image.len = CTREE_IMAGE_MAX + 1, -EBADMSG);
	REFUSED(slots[0].image.len = UINT32_MAX, -EBADMSG);
	REFUSED(slots[0].image.bytes[15] = 1, -EBADMSG);
	TORN(slots[6].image.mark = CTREE_IMAGE_HEAD);
}

ODB_TEST(cut_files_are_refused)
{
	struct fixture *f = *state;
	struct file sound = sound_file(f);
	size_t used = ctree_used_len(8);

	/* Up to the first image and its node all is lost. */
	for (size_t len = 1; len < ctree_used_len(1); len++)
		must_be_refused(f, &sound, len, -EBADMSG);
	for (size_t len = ctree_used_len(1); len < used; len++)
		must_be_torn(f, &sound, len);
	/* Free room is no part of the tree. */
	write_file(f->path, sound.bytes, used);
	ctree_close(must_open_tree(f->path, ODB_RDONLY));
}

/* After a power cut some pages, or sectors of them, read as zeroes. */
ODB_TEST(images_that_lost_a_part_end_the_tree)
{
	static const struct {
		size_t len; /* of a description, which begins at 4080 */
		size_t from, to; /* what is lost */
	} rows[] = {
		{ 20, 4096, 8192 }, /* the end */
		{ 58, 4096, 8192 },   { 100, 4096, 8192 }, { 1500, 4096, 8192 },
		{ 1500, 5120, 8192 }, /* the last of four sectors */
		{ 1500, 4608, 5120 }, /* one in the middle */
		{ 100, 0, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ctree *tree = must_open_tree(f->path, ODB_RDWR);
		uint8_t text[1500], *bytes;
		uint32_t in = image(tree, "x"), node = CTREE_ROOT;
		size_t len;

		for (uint64_t k = 0; k < 158; k++)
			node = child(tree, node, in, k);
		memset(text, 'x', sizeof(text));
		memset(text + 4, 0, 9);
		assert_int_equal(ctree_image(tree, text, rows[i].len, &in), 0);
		child(tree, node, in, 1);
		ctree_close(tree);
		bytes = read_file(f->path, &len);
		assert_true(len >= 8192);
		assert_memory_equal(bytes + 4080, text, 4);
		memset(bytes + rows[i].from, 0, rows[i].to - rows[i].from);
		write_file(f->path, bytes, len);
		free(bytes);
		tree = must_open_tree(f->path, ODB_RDONLY);
		assert_int_equal(ctree_is_torn(tree), rows[i].to > 0);
		assert_int_equal(ctree_nr_images(tree), rows[i].to ? 1 : 2);
		assert_int_equal(ctree_nr_nodes(tree), rows[i].to ? 158 : 159);
		ctree_close(tree);
		assert_int_equal(unlink(f->path), 0);
	}
}

/* Every byte that matters changed in every bit: refused or another tree. */
ODB_TEST(damage_leads_nowhere)
{
	struct fixture *f = *state;
	struct file sound = sound_file(f), broken;
	unsigned int nr_refused = 0;

	for (size_t bit = 0; bit < ctree_used_len(8) * 8; bit++) {
		struct ctree *tree = NULL;

		broken = sound;
		broken.bytes[bit / 8] ^= 1 << bit % 8;
		write_file(f->path, broken.bytes, sizeof(broken.bytes));
		if (ctree_open(&tree, f->path, ODB_RDONLY)) {
			must_be_refused(f, &broken, sizeof(broken.bytes),
					bit / 32 == 3 ? -EPROTO : -EBADMSG);
			nr_refused++;
			continue;
		}
		for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
			struct ctree_node node = node_at(tree, i);

			assert_true(node.parent < i);
			assert_in_range(node.image, 1, ctree_nr_images(tree));
		}
		ctree_close(tree);
	}
	assert_true(nr_refused > 64 * 8);
}

/* ---- processes beside each other
 * --------------------------------------------- */

struct shared {
	_Atomic uint32_t nr_added;
};

static struct shared *map_shared(void)
{
	void *map = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	return map;
}

#define NR_NODES 30000

static uint32_t nodes_of_writer[NR_NODES];

/* In a child: add all of the big tree, to which some may have been added. */
static _Noreturn void write_tree(const char *path, struct shared *shared)
{
	struct ctree *tree;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ctree_open(&tree, path, ODB_RDWR))
		_exit(1);
	for (uint32_t i = 0; i < NR_NODES; i++) {
		add_big(tree, nodes_of_writer, i);
		shared->nr_added = i + 1;
	}
	ctree_close(tree);
	_exit(0);
}

static pid_t start_writer(const char *path, struct shared *shared)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		write_tree(path, shared);
	return pid;
}

/* Nodes 0 to before @nr must be there, further ones may, as they should be. */
static uint32_t must_have_nodes(const char *path, uint32_t nr)
{
	struct ctree *tree = must_open_tree(path, ODB_RDONLY);
	uint32_t there = ctree_nr_nodes(tree);

	assert_true(there >= nr);
	for (uint32_t i = 0; i < there; i++) {
		struct ctree_node node = node_at(tree, i + 1);

		assert_int_equal(node.parent, i ? i / 3 + 1 : CTREE_ROOT);
		assert_int_equal(node.image, i % 100 + 1);
		assert_int_equal(node.offset, scattered(i));
		assert_true(i >= nr || node.count >= i);
		assert_true(!i || node.count % i == 0);
	}
	ctree_close(tree);
	return there;
}

ODB_TEST(a_killed_writer_loses_nothing)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();

	for (uint32_t i = 1; i <= 60; i++) {
		uint32_t when = (uint32_t)(scattered(i) % NR_NODES);
		pid_t pid;

		if (i % 3 == 1)
			unlink(f->path);
		shared->nr_added = 0;
		pid = start_writer(f->path, shared);
		while (shared->nr_added < when)
			sched_yield();
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		must_have_nodes(f->path, shared->nr_added);
	}
	munmap(shared, sizeof(*shared));
}

ODB_TEST(readers_beside_a_writer_see_whole_trees)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();
	uint32_t before = 0;
	int status;
	pid_t pid;

	ctree_close(must_open_tree(f->path, ODB_RDWR));
	pid = start_writer(f->path, shared);
	while (before < NR_NODES) {
		uint32_t nr = must_have_nodes(f->path, shared->nr_added);

		assert_true(nr >= before);
		before = nr;
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	munmap(shared, sizeof(*shared));
}

ODB_TEST(a_reader_outlives_the_file)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(f->path, ODB_RDWR);

	add_example(tree);
	ctree_close(tree);
	tree = must_open_tree(f->path, ODB_RDONLY);
	assert_int_equal(truncate(f->path, 0), 0);
	must_be_example(tree);
	ctree_close(tree);
}
