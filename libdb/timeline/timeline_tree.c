// SPDX-License-Identifier: GPL-2.0-or-later
#include "libdb/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "libdb/ctree.h"

int timeline_tree_ids(const struct ctree *tree, uint64_t seed, uint64_t file,
		      uint64_t **out)
{
	uint32_t nr_images = ctree_nr_images(tree);
	uint32_t nr_nodes = ctree_nr_nodes(tree);
	uint64_t *images = calloc((size_t)nr_images + 1, sizeof(*images));
	uint64_t *ids = calloc((size_t)nr_nodes + 1, sizeof(*ids));

	if (!images || !ids) {
		free(images);
		free(ids);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i <= nr_images; i++) {
		size_t len;
		const void *bytes = ctree_image_bytes(tree, i, &len);

		images[i] = timeline_image(seed, bytes, len);
	}
	/* A parent comes before its children. */
	ids[CTREE_ROOT] = file;
	for (uint32_t i = 1; i <= nr_nodes; i++) {
		struct ctree_node node;

		ctree_node(tree, i, &node);
		ids[i] = timeline_node(ids[node.parent], images[node.image],
				       node.offset);
	}
	free(images);
	*out = ids;
	return 0;
}
