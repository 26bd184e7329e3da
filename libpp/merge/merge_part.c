// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sample file of one machine is renamed when it becomes a part of the sum of
 * many.
 *
 * In its name the numbers of process, thread and CPU become "all". A file
 * without a build-id is told by its device and inode, which say nothing on
 * another machine: the hash that the archive has of it takes their place.
 *
 * Anonymous memory is that of one process. In the sum there is one for each
 * name, and code in it has no places.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libdb/db_sum.h"
#include "libop/image/op_build_id.h"
#include "libop/session/op_mangle.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_tree_image.h"
#include "libpp/merge/merge_work.h"

#define FILE_BUILD "file-"

/* ---- names --------------------------------------------------------------- */

static bool forget_process(struct op_image_name *image)
{
	if (image->space != OP_SPACE_ANON)
		return false;
	image->tgid = 0;
	image->start = 0;
	image->end = UINT32_MAX;
	return true;
}

/* The text that tells the build of @image, without a build-id, by the hash of
 * its file; in @text. */
static void tell_by_hash(const struct pp_archive *archive,
			 struct op_image_name *image, char *text)
{
	const struct pp_sum *sum;
	const char *mtime;
	uint64_t words[2];

	if (image->space != OP_SPACE_ROOT || !image->build ||
	    strncmp(image->build, FILE_BUILD, strlen(FILE_BUILD)) || !archive)
		return;
	sum = pp_sums_find(&archive->sums, image->name + 1);
	mtime = strrchr(image->build, '-');
	if (!sum || !mtime)
		return;
	memcpy(words, sum->hash, sizeof(words));
	snprintf(text, OP_BUILD_TEXT_MAX,
		 FILE_BUILD "%" PRIx64 "-%" PRIx64 "%s", words[0], words[1],
		 mtime);
	if (op_build_text_ok(text))
		image->build = text;
}

int merge_name(const struct merge_work *work, const struct pp_archive *archive,
	       const char *name, char *buf, bool *changes, struct op_diag *why)
{
	char strings[OP_MANGLE_MAX], builds[2][OP_BUILD_TEXT_MAX];
	struct op_mangle m;
	int len;

	*changes = false;
	if (op_mangle_parse(name, &m, strings, sizeof(strings), why))
		return -EINVAL;
	m.tgid = m.tid = m.cpu = OP_MANGLE_ALL;
	if (!work->keep_cgroups)
		m.cgroup = NULL;
	*changes |= forget_process(&m.app);
	*changes |= forget_process(&m.dep);
	*changes |= forget_process(&m.cg);
	tell_by_hash(archive, &m.dep, builds[0]);
	tell_by_hash(archive, &m.cg, builds[1]);
	/* What is in a tree its name does not tell. */
	*changes |= m.is_tree;
	len = op_mangle_build(&m, buf, OP_MANGLE_MAX);
	if (len < 0 || len > PACK_NAME_MAX)
		return op_diag_set(why, -EINVAL, "%s: the name is too long",
				   name);
	return 0;
}

/* ---- tables -------------------------------------------------------------- */

/* The key of code that has no place: all of it is one. */
static uint64_t key_without_place(uint64_t key, bool is_arc, bool is_caller,
				  bool is_callee)
{
	if (!is_arc)
		return is_caller ? 0 : key;
	if (is_caller)
		key &= UINT32_MAX;
	if (is_callee)
		key &= ~(uint64_t)UINT32_MAX;
	return key;
}

/* Keys of what is anonymous memory by the table's name become 0. */
static int add_table_without_places(struct db_sum *sum, struct odb *table,
				    const char *name, const char *scratch)
{
	bool is_arc = strstr(name, "/{cg}/");
	const char *dep = strstr(name, "{dep}/");
	bool is_caller = dep && !strncmp(dep + 6, "{anon:", 6);
	bool is_callee = strstr(name, "/{cg}/{anon:");
	uint64_t key, count;
	struct odb *copy;
	int err;

	unlink(scratch);
	err = odb_open(&copy, scratch, ODB_RDWR);
	if (err)
		return err;
	for (size_t at = 0; !err && odb_next(table, &at, &key, &count);)
		err = odb_add(copy,
			      key_without_place(key, is_arc, is_caller,
						is_callee),
			      count);
	memcpy(odb_user(copy), odb_user(table), ODB_USER_SIZE);
	odb_close(copy);
	err = err ?: odb_open(&copy, scratch, ODB_RDONLY);
	unlink(scratch);
	if (!err)
		db_sum_add_table(sum, copy);
	return err;
}

/* ---- trees --------------------------------------------------------------- */

/* The images of a tree in the sum. */
struct images {
	bool *is_anon; /* by their number there */
	bool any;
};

static int find_anon_images(const struct ctree *tree, struct images *images)
{
	char name[OP_TREE_IMAGE_MAX];
	int err = 0;

	images->is_anon = calloc((size_t)ctree_nr_images(tree) + 1, 1);
	if (!images->is_anon)
		return -ENOMEM;
	for (uint32_t i = 1; i <= ctree_nr_images(tree) && !err; i++) {
		struct op_tree_image image;
		size_t len;
		const void *bytes = ctree_image_bytes(tree, i, &len);

		err = op_tree_image_decode(&image, bytes, len, name,
					   sizeof(name), NULL);
		images->is_anon[i] = !err && image.name.space == OP_SPACE_ANON;
		images->any |= images->is_anon[i];
	}
	return err ? -EBADMSG : 0;
}

static int copy_image(struct ctree *to, const struct ctree *from, uint32_t i,
		      bool is_anon, uint32_t *number)
{
	uint8_t bytes[OP_TREE_IMAGE_MAX];
	char name[OP_TREE_IMAGE_MAX];
	struct op_tree_image image;
	size_t len;
	const void *old = ctree_image_bytes(from, i, &len);
	int n;

	if (!is_anon)
		return ctree_image(to, old, len, number);
	n = op_tree_image_decode(&image, old, len, name, sizeof(name), NULL);
	if (n)
		return n;
	forget_process(&image.name);
	image.anon_start = 0;
	n = op_tree_image_encode(&image, bytes, sizeof(bytes));
	return n < 0 ? n : ctree_image(to, bytes, (size_t)n, number);
}

static int copy_nodes(struct ctree *to, const struct ctree *from,
		      const struct images *images, const uint32_t *numbers,
		      uint32_t *nodes)
{
	int err = 0;

	for (uint32_t i = 1; i <= ctree_nr_nodes(from) && !err; i++) {
		struct ctree_node node;

		ctree_node(from, i, &node);
		if (images->is_anon[node.image])
			node.offset = 0;
		err = ctree_child(to, nodes[node.parent], numbers[node.image],
				  node.offset, &nodes[i])
			      ?: ctree_add(to, nodes[i], node.count);
	}
	return err;
}

static int copy_tree_without_places(struct ctree *to, struct ctree *from,
				    const struct images *images)
{
	uint32_t *numbers =
		calloc((size_t)ctree_nr_images(from) + 1, sizeof(*numbers));
	uint32_t *nodes =
		calloc((size_t)ctree_nr_nodes(from) + 1, sizeof(*nodes));
	int err = numbers && nodes ? 0 : -ENOMEM;

	for (uint32_t i = 1; i <= ctree_nr_images(from) && !err; i++)
		err = copy_image(to, from, i, images->is_anon[i], &numbers[i]);
	err = err ?: copy_nodes(to, from, images, numbers, nodes);
	memcpy(ctree_user(to), ctree_user(from), ODB_USER_SIZE);
	free(numbers);
	free(nodes);
	return err;
}

static int add_tree_without_places(struct db_sum *sum, struct ctree *tree,
				   const struct images *images,
				   const char *scratch)
{
	struct ctree *copy;
	int err;

	unlink(scratch);
	err = ctree_open(&copy, scratch, ODB_RDWR);
	if (err)
		return err;
	err = copy_tree_without_places(copy, tree, images);
	ctree_close(copy);
	err = err ?: ctree_open(&copy, scratch, ODB_RDONLY);
	unlink(scratch);
	if (!err)
		db_sum_add_tree(sum, copy);
	return err;
}

/* ---- parts --------------------------------------------------------------- */

/* In the place of the only part of @one, add it to @sum as it is there. */
static int add_changed(struct db_sum *sum, struct db_sum *one, const char *name,
		       const char *scratch)
{
	struct images images = { 0 };
	int err;

	if (one->tables)
		return add_table_without_places(sum, one->tables[0], name,
						scratch);
	err = find_anon_images(one->trees[0], &images);
	if (!err && images.any) {
		err = add_tree_without_places(sum, one->trees[0], &images,
					      scratch);
	} else if (!err) {
		db_sum_add_tree(sum, one->trees[0]);
		one->nr = 0;
	}
	free(images.is_anon);
	return err;
}

int merge_part_add(struct db_sum *sum, const struct db_folder *folder,
		   const struct db_member *member, bool changes,
		   const char *scratch)
{
	struct op_sample_header *header;
	size_t nr = sum->nr;
	struct db_sum one;
	int err;

	if (!changes) {
		err = db_sum_add(sum, folder, member);
	} else {
		err = db_sum_init(&one, !sum->tables, 1)
			      ?: db_sum_add(&one, folder, member);
		if (!err && one.nr)
			err = add_changed(sum, &one, member->name, scratch);
		db_sum_release(&one);
	}
	if (err || sum->nr == nr)
		return err;
	header = db_sum_user(sum, nr);
	err = op_sample_header_check(header, "", NULL);
	if (err)
		return -EBADMSG;
	if (header->kind == OP_IMAGE_ANON)
		header->anon_start = 0;
	return 0;
}
