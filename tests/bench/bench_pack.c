// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_pack [SESSION]: what a key of a flat file or of a file of arcs, and a
 * node of a call tree, costs in a pack and loose: bytes, and nanoseconds to
 * pack it, to read it again, and to add the pack to itself. SESSION is a folder
 * of sample files, such as .../samples/current, that is only read; without one
 * it is a random session in /dev/shm.
 */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/pack/pack_index.h"
#include "tests/bench/clock.h"

enum { FLAT, ARCS, TREES, KINDS };

static const char *const kind_names[KINDS] = { "flat", "arcs", "trees" };

struct figures {
	unsigned int files;
	uint64_t nr, loose, packed; /* keys or nodes; bytes */
	double pack, merge, read; /* seconds */
};

static char pack_path[4096];

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "bench_pack: %s: %s; give a folder of sample files\n",
		what, strerror(-err));
	unlink(pack_path);
	exit(1);
}

static int kind_of(const char *path)
{
	if (strstr(path, "{tree}/"))
		return TREES;
	return strstr(path, "{cg}/") ? ARCS : FLAT;
}

/* ---- a random session -----------------------------------------------------
 */

#define STACKS 200000
#define DEPTH 24
#define FUNCTIONS 2000

/* xorshift64*: the same numbers in each run. */
static uint64_t random_u64(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

/* Low numbers are more frequent. */
static uint64_t skewed(uint64_t nr)
{
	return random_u64() % (random_u64() % nr + 1);
}

static void add_stack(struct ctree *tree, uint32_t image)
{
	uint64_t function = 0;
	uint32_t node = CTREE_ROOT;

	for (uint64_t depth = random_u64() % DEPTH; depth--;) {
		check(ctree_child(tree, node, image, function * 64, &node),
		      "cannot add a node");
		function = (function * 31 + skewed(4)) % FUNCTIONS;
	}
	if (node)
		check(ctree_add(tree, node, 1), "cannot count");
}

static void make_session(const char *folder)
{
	char path[4200];
	struct ctree *tree = NULL;
	struct odb *odb = NULL;
	uint32_t image = 0;

	snprintf(path, sizeof(path), "%s/{tree}", folder);
	check(mkdir(path, 0700), path);
	strcat(path, "/stacks");
	check(ctree_open(&tree, path, ODB_RDWR), path);
	check(ctree_image(tree, "image", 5, &image), path);
	for (int i = 0; i < STACKS; i++)
		add_stack(tree, image);
	ctree_close(tree);
	snprintf(path, sizeof(path), "%s/flat", folder);
	check(odb_open(&odb, path, ODB_RDWR), path);
	for (int i = 0; i < STACKS; i++)
		check(odb_add(odb, skewed(1000000), 1), path);
	odb_close(odb);
}

/* ---- a session ------------------------------------------------------------
 */

struct session {
	char **paths; /* ascending */
	size_t nr;
	size_t prefix; /* bytes of the folder and a slash */
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(struct session *session, const char *folder)
{
	char *const folders[] = { (char *)folder, NULL };
	FTS *fts = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	check(fts ? 0 : -1, folder);
	while ((entry = fts_read(fts))) {
		if (entry->fts_info != FTS_F || entry->fts_name[0] == '.' ||
		    !strcmp(entry->fts_name, "ledger"))
			continue;
		session->paths = reallocarray(session->paths, session->nr + 1,
					      sizeof(char *));
		check(session->paths ? 0 : -1, folder);
		session->paths[session->nr++] = strdup(entry->fts_path);
	}
	fts_close(fts);
	session->prefix = strlen(folder) + 1;
	qsort(session->paths, session->nr, sizeof(char *), compare);
}

static void free_list(struct session *session)
{
	while (session->nr)
		free(session->paths[--session->nr]);
	free(session->paths);
}

/* ---- measuring ------------------------------------------------------------
 */

static double add_table(struct pack_writer *writer, const char *name,
			const struct odb *a, const struct odb *b)
{
	const struct odb *parts[] = { a, b };
	double start = seconds();

	check(pack_writer_table(writer, name, parts, b ? 2 : 1), name);
	return seconds() - start;
}

static double add_tree(struct pack_writer *writer, const char *name,
		       const struct ctree *a, const struct ctree *b)
{
	const struct ctree *parts[] = { a, b };
	double start = seconds();

	check(pack_writer_tree(writer, name, parts, b ? 2 : 1), name);
	return seconds() - start;
}

/* Pack the file at @path. */
static double pack_file(struct pack_writer *writer, const char *path,
			const char *name)
{
	struct ctree *tree = NULL;
	struct odb *odb = NULL;
	double time;

	if (kind_of(path) == TREES) {
		check(ctree_open(&tree, path, ODB_RDONLY), path);
		time = add_tree(writer, name, tree, NULL);
	} else {
		check(odb_open(&odb, path, ODB_RDONLY), path);
		time = add_table(writer, name, odb, NULL);
	}
	ctree_close(tree);
	odb_close(odb);
	return time;
}

/* Read an entry, and write the sum of it and itself. */
static void read_entry(struct pack_writer *writer, const struct pack *pack,
		       const struct pack_entry *entry, struct figures *figures)
{
	struct ctree *tree = NULL;
	struct odb *odb = NULL;
	double start = seconds();

	if (entry->kind == PACK_TREE)
		check(pack_tree(pack, entry, &tree), entry->name);
	else
		check(pack_table(pack, entry, &odb), entry->name);
	figures->read += seconds() - start;
	if (tree)
		figures->merge += add_tree(writer, entry->name, tree, tree);
	else
		figures->merge += add_table(writer, entry->name, odb, odb);
	ctree_close(tree);
	odb_close(odb);
}

static void pack_all(const struct session *session, struct figures *figures)
{
	struct pack_writer *writer = NULL;

	check(pack_writer_new(&writer, pack_path, 1), pack_path);
	for (size_t i = 0; i < session->nr; i++) {
		const char *path = session->paths[i];
		struct figures *kind = &figures[kind_of(path)];
		struct stat st;

		check(stat(path, &st) ? -1 : 0, path);
		kind->loose += (uint64_t)st.st_blocks * 512;
		kind->pack += pack_file(writer, path, path + session->prefix);
	}
	check(pack_writer_finish(writer), pack_path);
}

static void read_all(struct figures *figures)
{
	struct pack_writer *writer = NULL;
	struct pack *pack = NULL;

	check(pack_open(&pack, pack_path), pack_path);
	check(pack_writer_new(&writer, pack_path, 2), pack_path);
	for (size_t i = 0; i < pack_nr(pack); i++) {
		const struct pack_entry *entry = pack_entry(pack, i);
		struct figures *kind = &figures[kind_of(entry->name)];

		kind->files++;
		kind->nr += entry->nr;
		kind->packed += pack_item_of(entry)->len;
		read_entry(writer, pack, entry, kind);
	}
	pack_writer_cancel(writer);
	pack_close(pack);
}

static void print(const char *name, const struct figures *f)
{
	double nr = f->nr ? (double)f->nr : 1;

	printf("%-6s %6u %9lu %10lu %9lu %7.2f %6.2f %6.0f %6.0f %6.0f\n", name,
	       f->files, f->nr, f->loose, f->packed, (double)f->loose / nr,
	       (double)f->packed / nr, f->pack / nr * 1e9, f->read / nr * 1e9,
	       f->merge / nr * 1e9);
}

static void bench(const char *folder)
{
	struct figures figures[KINDS] = { 0 };
	struct session session = { 0 };
	struct stat st;

	list(&session, folder);
	pack_all(&session, figures);
	read_all(figures);
	free_list(&session);
	printf("a pack and loose files; bytes on disk, also for each key or node; ns of CPU time for each\n"
	       "        files keys+nodes     loose    packed  loose packed   pack   read  merge\n");
	for (int i = 0; i < KINDS; i++)
		if (figures[i].files)
			print(kind_names[i], &figures[i]);
	check(stat(pack_path, &st) ? -1 : 0, pack_path);
	printf("the whole pack: %lu bytes\n", (unsigned long)st.st_size);
	unlink(pack_path);
}

int main(int argc, char **argv)
{
	char folder[] = "/dev/shm/bench_pack.XXXXXX", command[64];

	check(mkdtemp(folder) ? 0 : -1, folder);
	snprintf(pack_path, sizeof(pack_path), "%s/.pack", folder);
	if (argc <= 1)
		make_session(folder);
	bench(argc > 1 ? argv[1] : folder);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) != 0;
}
