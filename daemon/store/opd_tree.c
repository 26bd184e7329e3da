// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree is open with a table from images to their numbers in it, so that an
 * image is described once and each frame costs one look-up for its image and
 * one for its node. The table is open-addressed and doubles when half of it is
 * in use. A frame is the child of its caller; a stack is one count at its
 * innermost frame, so the nodes that many stacks share are stored once.
 *
 * Nodes are numbered in the order of their making. So the highest number seen
 * tells how many there are, which bounds the memory of all open trees. It is
 * also why one pass suffices to count the stacks of a tree by class: a parent
 * is always before its children, and the class is that of the outermost frame.
 */

#include "daemon/store/opd_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/opd_events.h"
#include "daemon/store/opd_image.h"
#include "daemon/store/opd_sample_file.h"
#include "daemon/store/opd_store.h"
#include "libdb/ctree.h"
#include "libop/session/op_ledger.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"
#include "libop/session/op_tree_image.h"

#define FIRST_SLOTS 64

/* ---- dropping ---------------------------------------------------------------
 */

static void close_tree(struct opd_store *store, struct opd_tree *tree)
{
	struct opd_trees *trees = &store->trees;

	store->changes++;
	ctree_close(tree->ctree);
	tree->ctree = NULL;
	trees->nr_nodes -= tree->nr_nodes;
	tree->nr_nodes = 0;
	free(tree->images);
	tree->images = NULL;
	tree->nr_images = tree->nr_slots = 0;
	free(tree->ids);
	tree->ids = NULL;
	tree->nr_ids = 0;
}

/* Drop the first tree of @*at. */
static void drop(struct opd_store *store, struct opd_tree **at)
{
	struct opd_tree *gone = *at;

	*at = gone->chain;
	close_tree(store, gone);
	store->trees.nr--;
	free(gone);
}

void opd_trees_drop_all(struct opd_store *store)
{
	struct opd_trees *trees = &store->trees;

	for (size_t i = 0; i < OPD_TREE_BUCKETS; i++)
		while (trees->bucket[i])
			drop(store, &trees->bucket[i]);
}

static void drop_oldest(struct opd_store *store)
{
	struct opd_trees *trees = &store->trees;
	struct opd_tree **oldest = NULL;

	for (size_t i = 0; i < OPD_TREE_BUCKETS; i++) {
		struct opd_tree **at = &trees->bucket[i];

		for (; *at; at = &(*at)->chain)
			if (!oldest || (*at)->used < (*oldest)->used)
				oldest = at;
	}
	if (oldest)
		drop(store, oldest);
}

void opd_trees_sync(struct opd_store *store)
{
	struct opd_trees *trees = &store->trees;

	/* A tree without a file only remembers that opening it failed. */
	for (size_t i = 0; i < OPD_TREE_BUCKETS; i++) {
		struct opd_tree **at = &trees->bucket[i];

		while (*at) {
			if (!(*at)->ctree)
				drop(store, at);
			else
				at = &(*at)->chain;
		}
	}
}

/* ---- finding ----------------------------------------------------------------
 */

static void open_tree(struct opd_store *store, struct opd_tree *tree)
{
	const struct opd_event *event = &store->events->counter[tree->counter];
	uint64_t id;

	if (opd_sample_file_open_tree(store, &tree->key, event, &tree->ctree,
				      &tree->nr_nodes, &id)) {
		tree->ctree = NULL;
		return;
	}
	store->trees.nr_nodes += tree->nr_nodes;
	if (opd_timeline_is_kept(&store->timeline) &&
	    !op_array_reserve(&tree->ids, 0, 1))
		tree->ids[tree->nr_ids++] = id;
}

static struct opd_tree *new_tree(struct opd_store *store,
				 const struct opd_sfile_key *key,
				 unsigned int counter, uint64_t hash)
{
	struct opd_trees *trees = &store->trees;
	struct opd_tree *tree;

	while (trees->nr >= OPD_MAX_TREES ||
	       (trees->nr && trees->nr_nodes >= OPD_MAX_TREE_NODES))
		drop_oldest(store);
	tree = calloc(1, sizeof(*tree));
	if (!tree)
		return NULL;
	tree->key = *key;
	tree->counter = counter;
	tree->hash = hash;
	tree->chain = trees->bucket[hash % OPD_TREE_BUCKETS];
	trees->bucket[hash % OPD_TREE_BUCKETS] = tree;
	trees->nr++;
	open_tree(store, tree);
	return tree;
}

struct opd_tree *opd_tree_get(struct opd_store *store,
			      const struct opd_sfile_key *key,
			      unsigned int counter)
{
	uint64_t hash = opd_sfile_key_hash(key) + counter;
	struct opd_tree *tree = store->trees.bucket[hash % OPD_TREE_BUCKETS];

	while (tree && (tree->hash != hash || tree->counter != counter ||
			!opd_sfile_key_same(&tree->key, key)))
		tree = tree->chain;
	return tree ? tree : new_tree(store, key, counter, hash);
}

/* ---- images -----------------------------------------------------------------
 */

static bool is_in(const struct opd_tree_image *slot,
		  const struct opd_spot *spot)
{
	if (slot->image != spot->image || slot->anon != spot->anon)
		return false;
	return !spot->anon ||
	       (slot->start == spot->start && slot->end == spot->end &&
		slot->anon_tgid == spot->anon_tgid);
}

static struct opd_tree_image *find_slot(struct opd_tree_image *slots, size_t nr,
					const struct opd_spot *spot)
{
	uint64_t hash = (uintptr_t)spot->image ^ spot->start;
	size_t i = hash * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (nr - 1);

	while (slots[i].image && !is_in(&slots[i], spot))
		i = (i + 1) & (nr - 1);
	return &slots[i];
}

static int make_slots(struct opd_tree *tree)
{
	size_t nr = tree->nr_slots ? tree->nr_slots * 2 : FIRST_SLOTS;
	struct opd_tree_image *more = calloc(nr, sizeof(*more));

	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < tree->nr_slots; i++) {
		const struct opd_tree_image *old = &tree->images[i];
		const struct opd_spot spot = {
			.image = (struct opd_image *)old->image,
			.anon = old->anon,
			.start = old->start,
			.end = old->end,
			.anon_tgid = old->anon_tgid,
		};

		if (old->image)
			*find_slot(more, nr, &spot) = *old;
	}
	free(tree->images);
	tree->images = more;
	tree->nr_slots = nr;
	return 0;
}

/* Have the tree know what @spot is in. */
static int describe(struct opd_tree *tree, const struct opd_spot *spot,
		    uint32_t *number)
{
	const struct opd_image *image = spot->image;
	struct op_tree_image is = {
		.name = { .space = image->space, .name = image->name },
		.kind = image->kind,
		.mtime = image->mtime,
		.anon_start = spot->start,
		.build_id = image->build_id,
	};
	char bytes[OP_TREE_IMAGE_MAX];
	int len;

	if (spot->anon)
		is.name = (struct op_image_name){
			.space = OP_SPACE_ANON,
			.name = spot->anon,
			.tgid = spot->anon_tgid,
			.start = spot->start,
			.end = spot->end,
		};
	len = op_tree_image_encode(&is, bytes, sizeof(bytes));
	if (len < 0)
		return len;
	return ctree_image(tree->ctree, bytes, (size_t)len, number);
}

static int find_image(struct opd_store *store, struct opd_tree *tree,
		      const struct opd_spot *spot, uint32_t *number)
{
	struct opd_tree_image *slot;
	int err = 0;

	if (tree->nr_images >= tree->nr_slots / 2)
		err = make_slots(tree);
	if (err)
		return err;
	slot = find_slot(tree->images, tree->nr_slots, spot);
	if (!slot->image) {
		err = describe(tree, spot, number);
		if (err)
			return err;
		*slot = (struct opd_tree_image){ spot->image,	  spot->anon,
						 spot->start,	  spot->end,
						 spot->anon_tgid, *number };
		tree->nr_images++;
		store->client->see_image(store->client->ctx, spot->image);
	}
	*number = slot->number;
	return 0;
}

/* ---- the time line ------------------------------------------------------- */

/* Know the ids of all up to @node. A parent comes before its children, an image
 * before nodes in it. */
static int learn_tree_ids(struct opd_store *store, struct opd_tree *tree,
			  uint32_t node)
{
	uint64_t seed = store->timeline.seed;

	if (!tree->nr_ids || op_array_reserve(&tree->ids, tree->nr_ids,
					      (size_t)node + 1 - tree->nr_ids))
		return -ENOMEM;
	while (tree->nr_ids <= node) {
		uint32_t at = tree->nr_ids;
		struct ctree_node is;
		const void *bytes;
		size_t len;

		tree->nr_ids = ctree_walk(tree->ctree, at, &is, &bytes, &len);
		if (bytes)
			tree->ids[at] = timeline_image(seed, bytes, len);
		else
			tree->ids[at] =
				timeline_node(tree->ids[is.parent],
					      tree->ids[is.image], is.offset);
	}
	return 0;
}

static void time_stack(struct opd_store *store, struct opd_tree *tree,
		       uint32_t node, uint64_t times)
{
	if (!opd_timeline_is_kept(&store->timeline))
		return;
	if (node >= tree->nr_ids && learn_tree_ids(store, tree, node))
		opd_timeline_miss(&store->timeline);
	else
		opd_timeline_count(&store->timeline, tree->ids[node], times);
}

/* ---- counting ---------------------------------------------------------------
 */

/* The frame that a stack was followed to in a tree. */
struct place {
	const struct opd_spot *spot; /* NULL: the root of the tree */
	uint32_t image; /* that of the spot, in the tree */
	uint32_t node;
};

/* Whether both are in the same image and, if that is memory, in the same. */
static bool is_same_image(const struct opd_spot *a, const struct opd_spot *b)
{
	return a->image == b->image && a->anon == b->anon &&
	       a->start == b->start && a->end == b->end &&
	       a->anon_tgid == b->anon_tgid;
}

/* Go on to the frame in @spot. Most are in the image of their callers. */
static int add_frame(struct opd_store *store, struct opd_tree *tree,
		     struct place *place, const struct opd_spot *spot)
{
	int err = 0;

	if (!place->spot || !is_same_image(place->spot, spot))
		err = find_image(store, tree, spot, &place->image);
	if (!err)
		err = ctree_child(tree->ctree, place->node, place->image,
				  spot->key, &place->node);
	place->spot = spot;
	return err;
}

bool opd_tree_find(const struct opd_tree *tree, const struct opd_spot *caller,
		   struct opd_spot *spot)
{
	uint32_t number = caller->number;

	if (!tree->ctree || !spot->image)
		return false;
	if (!is_same_image(caller, spot)) {
		if (!tree->nr_slots)
			return false;
		number = find_slot(tree->images, tree->nr_slots, spot)->number;
	}
	if (!number)
		return false;
	spot->number = number;
	spot->node =
		ctree_find_child(tree->ctree, caller->node, number, spot->key);
	return spot->node != CTREE_ROOT;
}

static int add_stack(struct opd_store *store, struct opd_tree *tree,
		     struct opd_spot *spots, unsigned int nr,
		     unsigned int nr_known, const struct opd_spot *root,
		     uint64_t times)
{
	struct place place = { .node = CTREE_ROOT };
	int err = 0;

	if (nr_known) {
		nr -= nr_known;
		place = (struct place){ &spots[nr], spots[nr].number,
					spots[nr].node };
	} else if (root) {
		err = add_frame(store, tree, &place, root);
	}
	while (!err && nr--) {
		err = add_frame(store, tree, &place, &spots[nr]);
		spots[nr].node = place.node;
		spots[nr].number = place.image;
	}
	if (err)
		return err;
	if (place.node > tree->nr_nodes) {
		store->trees.nr_nodes += place.node - tree->nr_nodes;
		tree->nr_nodes = place.node;
	}
	err = ctree_add(tree->ctree, place.node, times);
	if (!err)
		time_stack(store, tree, place.node, times);
	return err;
}

int opd_tree_add(struct opd_store *store, struct opd_tree *tree,
		 struct opd_spot *spots, unsigned int nr, unsigned int nr_known,
		 const struct opd_spot *root, uint64_t times)
{
	int err;

	tree->used = ++store->trees.uses;
	if (!tree->ctree)
		return -EIO;
	err = add_stack(store, tree, spots, nr, nr_known, root, times);
	if (!err)
		return 0;
	opd_disk_refused(store, err);
	if (err != -ESTALE && err != -ENOENT)
		return err;
	/* Somebody deleted the file or put another in its place. */
	op_log(store->log, "a call tree was deleted: starting a new one");
	close_tree(store, tree);
	open_tree(store, tree);
	return -EAGAIN;
}

/* ---- reading ----------------------------------------------------------------
 */

/* The class of all stacks that begin at image @number, which has no caller. */
static enum op_ledger_stacks class_of(const struct ctree *tree, uint32_t number)
{
	char name[OP_TREE_IMAGE_MAX];
	struct op_tree_image image;
	const void *bytes;
	size_t len;

	bytes = ctree_image_bytes(tree, number, &len);
	if (op_tree_image_decode(&image, bytes, len, name, sizeof(name), NULL))
		return OP_STACKS_WHOLE;
	return op_tree_image_class(&image);
}

/* A parent comes before its children. */
static void count_nodes(const struct ctree *tree, uint8_t *classes,
			uint64_t *stacks)
{
	struct ctree_node node;

	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++) {
		ctree_node(tree, i, &node);
		classes[i] = node.parent == CTREE_ROOT
				     ? class_of(tree, node.image)
				     : classes[node.parent];
		if (__builtin_add_overflow(stacks[classes[i]], node.count,
					   &stacks[classes[i]]))
			stacks[classes[i]] = UINT64_MAX;
	}
}

int opd_tree_count(const struct ctree *tree, uint64_t *stacks)
{
	uint8_t *classes = malloc((size_t)ctree_nr_nodes(tree) + 1);

	if (!classes)
		return -ENOMEM;
	count_nodes(tree, classes, stacks);
	free(classes);
	return 0;
}
