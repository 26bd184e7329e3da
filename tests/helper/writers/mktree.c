// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mktree FILE [NAME=VALUE...] makes a call tree, with the folders above it, or
 * adds to one; NAME and VALUE are those of mkodb. Standard input says what is
 * in it:
 *
 *	image ID SPACE:NAME [KIND] [build-id=HEX] [mtime=SECONDS or FILE]
 *		SPACE is root, kern, or anon=TGID.START.END; KIND as for mkodb
 *	stack COUNT [ID+OFFSET...]
 *		from the outermost frame in
 *
 * mktree --dump FILE prints such lines: the images, numbered, and one line for
 * each node with a count, in the order in which they came.
 *
 * mktree --break FILE WHAT damages one: truncate=BYTES, flip=OFFSET:XOR.
 */

#include "libdb/ctree.h"
#include "libop/session/op_tree_image.h"
#include "tests/helper/writers/sample_file.h"

#define MAX_IMAGES 100
#define MAX_DEPTH 20000

struct maker {
	struct ctree *tree;
	struct {
		char name[32];
		uint32_t number;
	} images[MAX_IMAGES];
	size_t nr_images;
};

static void check(int ret, const char *what)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

/* ---- making -------------------------------------------------------------- */

static const char *const spaces[] = {
	[OP_SPACE_ROOT] = "root",
	[OP_SPACE_KERN] = "kern",
	[OP_SPACE_ANON] = "anon",
};

static void set_space(struct op_tree_image *image, char *text)
{
	struct op_image_name *name = &image->name;
	char *colon = strchr(text, ':');
	long long tgid;

	if (!colon)
		errx(2, "%s: not SPACE:NAME", text);
	*colon = '\0';
	name->name = colon + 1;
	name->space = OP_SPACE_KERN;
	image->kind = OP_IMAGE_MODULE;
	if (!strcmp(text, "root")) {
		name->space = OP_SPACE_ROOT;
		image->kind = OP_IMAGE_FILE;
	} else if (sscanf(text, "anon=%lld.%" SCNx64 ".%" SCNx64, &tgid,
			  &name->start, &name->end) == 3) {
		name->space = OP_SPACE_ANON;
		name->tgid = tgid;
		image->kind = OP_IMAGE_ANON;
		image->anon_start = name->start;
	} else if (strcmp(text, "kern") != 0) {
		errx(2, "%s: no such space", text);
	}
}

static void set_word(struct op_tree_image *image, const char *word)
{
	struct op_sample_header header = { 0 };

	if (!strchr(word, '=')) {
		image->kind = kind_of(word);
		return;
	}
	set_header(&header, word);
	if (header.build_id_len)
		image->build_id = op_build_id_of_room(header.build_id,
						      header.build_id_len);
	if (header.mtime)
		image->mtime = header.mtime;
}

static void take_image(struct maker *m, char *rest)
{
	struct op_tree_image image = { 0 };
	uint8_t bytes[OP_TREE_IMAGE_MAX];
	char *name = strtok_r(NULL, " ", &rest), *word;
	char *space = strtok_r(NULL, " ", &rest);
	int len;

	if (!name || !space || m->nr_images == MAX_IMAGES)
		errx(2, "image: no ID and SPACE:NAME, or too many");
	set_space(&image, space);
	while ((word = strtok_r(NULL, " ", &rest)))
		set_word(&image, word);
	len = op_tree_image_encode(&image, bytes, sizeof(bytes));
	check(len, name);
	check(ctree_image(m->tree, bytes, (size_t)len,
			  &m->images[m->nr_images].number),
	      name);
	snprintf(m->images[m->nr_images++].name, sizeof(m->images[0].name),
		 "%s", name);
}

static uint32_t image_number(const struct maker *m, const char *name)
{
	for (size_t i = 0; i < m->nr_images; i++)
		if (!strcmp(m->images[i].name, name))
			return m->images[i].number;
	errx(2, "%s: no such image", name);
}

static void take_stack(struct maker *m, char *rest)
{
	char *count = strtok_r(NULL, " ", &rest), *word;
	uint32_t node = CTREE_ROOT;

	if (!count)
		errx(2, "stack: no COUNT");
	while ((word = strtok_r(NULL, " ", &rest))) {
		char *plus = strchr(word, '+');

		if (!plus)
			errx(2, "%s: not ID+OFFSET", word);
		*plus = '\0';
		check(ctree_child(m->tree, node, image_number(m, word),
				  number(plus + 1), &node),
		      word);
	}
	check(ctree_add(m->tree, node, number(count)), count);
}

static void take_line(struct maker *m, char *line)
{
	char *rest = line, *word;

	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line, " ", &rest);
	if (!word || *word == '#')
		return;
	if (!strcmp(word, "image"))
		take_image(m, rest);
	else if (!strcmp(word, "stack"))
		take_stack(m, rest);
	else
		errx(2, "%s: no image and no stack", word);
}

static int make(const char *path, char **options)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.cpu_type = "timer",
	};
	struct maker m = { .tree = NULL };
	char *line = NULL;
	size_t room = 0;

	for (; *options; options++)
		set_header(&header, *options);
	make_folders(path);
	check(ctree_open(&m.tree, path, ODB_RDWR), path);
	memcpy(ctree_user(m.tree), &header, sizeof(header));
	while (getline(&line, &room, stdin) > 0)
		take_line(&m, line);
	ctree_close(m.tree);
	free(line);
	return 0;
}

/* ---- dumping ------------------------------------------------------------- */

static void dump_image(const struct ctree *tree, uint32_t number)
{
	char name[OP_TREE_IMAGE_MAX];
	struct op_tree_image image;
	struct op_diag diag = { 0 };
	size_t len;
	const void *bytes = ctree_image_bytes(tree, number, &len);

	if (op_tree_image_decode(&image, bytes, len, name, sizeof(name), &diag))
		errx(1, "%s", diag.text);
	printf("image %" PRIu32 " %s", number, spaces[image.name.space]);
	if (image.name.space == OP_SPACE_ANON)
		printf("=%" PRId64 ".%" PRIx64 ".%" PRIx64, image.name.tgid,
		       image.name.start, image.name.end);
	printf(":%s %s", name, image_kinds[image.kind]);
	if (image.mtime)
		printf(" mtime=%" PRIu64, image.mtime);
	if (image.build_id.len)
		printf(" build-id=");
	for (uint32_t i = 0; i < image.build_id.len; i++)
		printf("%02x", image.build_id.bytes[i]);
	putchar('\n');
}

static void dump_stack(const struct ctree *tree, uint32_t number)
{
	static uint32_t stack[MAX_DEPTH];
	struct ctree_node node;
	uint32_t depth = 0;

	ctree_node(tree, number, &node);
	if (!node.count)
		return;
	printf("stack %" PRIu64, node.count);
	for (; number && depth < MAX_DEPTH; number = node.parent) {
		stack[depth++] = number;
		ctree_node(tree, number, &node);
	}
	while (depth--) {
		ctree_node(tree, stack[depth], &node);
		printf(" %" PRIu32 "+0x%" PRIx64, node.image, node.offset);
	}
	putchar('\n');
}

static int dump(const char *path)
{
	struct ctree *tree = NULL;
	struct op_diag diag = { 0 };

	check(ctree_open(&tree, path, ODB_RDONLY), path);
	if (op_sample_header_check(ctree_user(tree), path, &diag))
		errx(1, "%s", diag.text);
	for (uint32_t i = 1; i <= ctree_nr_images(tree); i++)
		dump_image(tree, i);
	for (uint32_t i = 1; i <= ctree_nr_nodes(tree); i++)
		dump_stack(tree, i);
	ctree_close(tree);
	return 0;
}

/* ---- breaking ------------------------------------------------------------ */

static int damage(const char *path, const char *what)
{
	if (!strncmp(what, "flip=", 5))
		flip(path, what + 5);
	else if (strncmp(what, "truncate=", 9) != 0)
		errx(2, "%s: unknown damage", what);
	else if (truncate(path, (off_t)number(what + 9)))
		err(2, "%s", path);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--dump"))
		return dump(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "--break"))
		return damage(argv[2], argv[3]);
	if (argc < 2 || argv[1][0] == '-')
		errx(2,
		     "usage: mktree FILE [NAME=VALUE...] | --dump FILE | --break FILE WHAT");
	return make(argv[1], argv + 2);
}
