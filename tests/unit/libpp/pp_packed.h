/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_PACKED_H
#define TESTS_UNIT_PP_PACKED_H

/* Packs of sample files, and damage to them, in the working folder. */

#include "tests/unit/pp_session.h"

#include "libdb/db_folder.h"
#include "libdb/pack.h"

/* Aligned for a table's header. */
static _Alignas(uint64_t) uint8_t session_bytes[1 << 20];

/* Read the file @path into session_bytes; returns how many there are. */
static inline size_t read_session_file(const char *path)
{
	FILE *file = fopen(path, "re");
	size_t len;

	assert_non_null(file);
	len = fread(session_bytes, 1, sizeof(session_bytes), file);
	assert_true(len < sizeof(session_bytes));
	fclose(file);
	return len;
}

/* The next group of a pack that begins at or behind @at of @len bytes. */
static inline size_t find_pack_group(size_t len, size_t at)
{
	const uint8_t *found =
		memmem(session_bytes + at, len - at, "\211OPG", 4);

	assert_non_null(found);
	return (size_t)(found - session_bytes);
}

/*
 * The place @where in session_bytes, of which there are @len: so many bytes
 * behind their start, or before their end if it is negative. Behind a 'g' it
 * counts from the first group of a pack, behind "gg" from the second one.
 */
static inline size_t place_in_file(size_t len, const char *where)
{
	size_t from = 0;
	long by;

	for (; *where == 'g'; where++)
		from = find_pack_group(len, from + (from > 0));
	by = strtol(where, NULL, 10);
	if (!from && by < 0)
		from = len;
	assert_in_range((long)from + by, 0, (long)len - 1);
	return (size_t)((long)from + by);
}

static inline void flip_byte(const char *path, const char *where)
{
	size_t len = read_session_file(path);

	session_bytes[place_in_file(len, where)] ^= 0x55;
	write_bytes(path, session_bytes, len);
}

static inline void cut_file(const char *path, const char *where)
{
	size_t len = read_session_file(path);

	write_bytes(path, session_bytes, place_in_file(len, where));
}

static inline int name_a_member(const struct db_member *member, void *ctx)
{
	char ***next = ctx;

	*(*next)++ = strdup(member->name);
	return 0;
}

static inline int compare_packed_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void pack_a_file(struct pack_writer *writer, const char *dir,
			       const char *name)
{
	const struct ctree *tree = NULL;
	const struct odb *odb = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (strstr(name, "{tree}")) {
		assert_int_equal(ctree_open((struct ctree **)&tree, path,
					    ODB_RDONLY),
				 0);
		assert_int_equal(pack_writer_tree(writer, name, &tree, 1), 0);
		ctree_close((struct ctree *)tree);
	} else {
		assert_int_equal(
			odb_open((struct odb **)&odb, path, ODB_RDONLY), 0);
		assert_int_equal(pack_writer_table(writer, name, &odb, 1), 0);
		odb_close((struct odb *)odb);
	}
	assert_int_equal(unlink(path), 0);
}

/* Put all sample files of the folder @dir into its pack. */
static inline void pack_folder(const char *dir)
{
	char *names[200] = { NULL }, **next = names, path[256];
	struct db_visitor visitor = { .member = name_a_member, .ctx = &next };
	struct pack_writer *writer;
	struct db_folder *folder;

	assert_int_equal(db_folder_open(&folder, dir), 0);
	assert_int_equal(db_folder_each(folder, &visitor), 0);
	db_folder_close(folder);
	qsort(names, (size_t)(next - names), sizeof(names[0]),
	      compare_packed_names);
	snprintf(path, sizeof(path), "%s/packed", dir);
	assert_int_equal(pack_writer_new(&writer, path, 1), 0);
	for (char **name = names; name < next; name++) {
		pack_a_file(writer, dir, *name);
		free(*name);
	}
	assert_int_equal(pack_writer_finish_early(writer), 0);
}

/* @nr sample files of the running session, of one sample each. */
static inline void write_many_samples(unsigned int nr)
{
	char line[80];

	for (unsigned int i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "current x%02u x E 0=1", i);
		write_samples(line);
	}
}

/* "samples" and "tree" are as write_session() has them; "version" and "derived"
 * are about the headers of those that follow, "many" is a number of files,
 * "pack" a folder. False for another word. */
static inline bool make_samples_by_word(const char *word, const char *rest)
{
	if (!strcmp(word, "samples"))
		write_samples(rest);
	else if (!strcmp(word, "tree"))
		write_tree(rest);
	else if (!strcmp(word, "version"))
		made_header.version = (uint32_t)atoi(rest);
	else if (!strcmp(word, "derived"))
		derive_header((uint64_t)atoi(rest));
	else if (!strcmp(word, "many"))
		write_many_samples((unsigned int)atoi(rest));
	else if (!strcmp(word, "pack"))
		pack_folder(rest);
	else
		return false;
	return true;
}

#endif /* TESTS_UNIT_PP_PACKED_H */
