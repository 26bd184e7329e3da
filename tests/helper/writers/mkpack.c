// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkpack FOLDER GENERATION packs what is in the folders .packing-* of a session
 * folder, with what is in its pack, as the daemon does: the new pack is of that
 * generation, and the folders stay. `flock FOLDER mv ...` brings files there.
 *
 * mkpack --list FILE prints kind, keys or nodes, total and name of each entry.
 */

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libdb/pack.h"

#define MAX_PARTS 100

struct member {
	struct db_member of; /* its strings are owned */
	size_t nr; /* as it came */
};

static struct db_folder *folder;
static struct member *members;
static size_t nr_members;

static void check(int ret, const char *what)
{
	if (ret)
		errx(1, "%s: %s", what, strerror(-ret));
}

static int add_member(const struct db_member *member, void *ctx)
{
	struct member copy = { .of = *member, .nr = nr_members };
	struct member *more;

	(void)ctx;
	if (!member->entry && !strstr(member->path, "/" DB_FOLDER_PACKING))
		return 0;
	copy.of.name = strdup(member->name);
	copy.of.path = strdup(member->path);
	more = reallocarray(members, nr_members + 1, sizeof(*members));
	if (!more || !copy.of.name || !copy.of.path)
		err(1, "memory");
	members = more;
	members[nr_members++] = copy;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->of.name, y->of.name);

	return order ? order : (x->nr > y->nr) - (x->nr < y->nr);
}

static void write_tables(struct pack_writer *writer, const struct member *m,
			 size_t nr)
{
	struct odb *tables[MAX_PARTS] = { NULL };

	for (size_t i = 0; i < nr; i++)
		check(db_folder_table(folder, &m[i].of, &tables[i]),
		      m[i].of.name);
	check(pack_writer_table(writer, m->of.name,
				(const struct odb *const *)tables, nr),
	      m->of.name);
	for (size_t i = 0; i < nr; i++)
		odb_close(tables[i]);
}

static void write_trees(struct pack_writer *writer, const struct member *m,
			size_t nr)
{
	struct ctree *trees[MAX_PARTS] = { NULL };

	for (size_t i = 0; i < nr; i++)
		check(db_folder_tree(folder, &m[i].of, &trees[i]),
		      m[i].of.name);
	check(pack_writer_tree(writer, m->of.name,
			       (const struct ctree *const *)trees, nr),
	      m->of.name);
	for (size_t i = 0; i < nr; i++)
		ctree_close(trees[i]);
}

static void write_all(struct pack_writer *writer)
{
	size_t next;

	for (size_t i = 0; i < nr_members; i = next) {
		next = i + 1;
		while (next < nr_members && next - i < MAX_PARTS &&
		       !strcmp(members[next].of.name, members[i].of.name))
			next++;
		if (strstr(members[i].of.name, "/{tree}/"))
			write_trees(writer, &members[i], next - i);
		else
			write_tables(writer, &members[i], next - i);
	}
}

static void make(const char *path, uint64_t generation)
{
	const struct db_visitor visitor = { .member = add_member };
	struct pack_writer *writer = NULL;
	char *to;
	int fd;

	check(db_folder_open(&folder, path), path);
	check(db_folder_pack_error(folder), db_folder_pack_path(folder));
	check(db_folder_each(folder, &visitor), path);
	if (nr_members)
		qsort(members, nr_members, sizeof(*members), compare);
	to = strdup(db_folder_pack_path(folder));
	check(to ? pack_writer_new(&writer, to, generation) : -1, path);
	write_all(writer);
	db_folder_close(folder);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || flock(fd, LOCK_EX))
		err(1, "%s", path);
	check(pack_writer_finish(writer), to);
	close(fd);
	free(to);
}

static void list(const char *path)
{
	struct pack *pack;

	check(pack_open(&pack, path), path);
	printf("generation %" PRIu64 "\n", pack_generation(pack));
	for (size_t i = 0; i < pack_nr(pack); i++) {
		const struct pack_entry *entry = pack_entry(pack, i);

		printf("%s %" PRIu64 " %" PRIu64 " %s\n",
		       entry->kind == PACK_TREE ? "tree" : "table", entry->nr,
		       entry->total, entry->name);
	}
	pack_close(pack);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: mkpack FOLDER GENERATION | --list FILE");
	if (!strcmp(argv[1], "--list"))
		list(argv[2]);
	else
		make(argv[1], strtoull(argv[2], NULL, 10));
	for (size_t i = 0; i < nr_members; i++) {
		free((void *)members[i].of.name);
		free((void *)members[i].of.path);
	}
	free(members);
	return 0;
}
