/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_MADE_ARCHIVE_H
#define TESTS_UNIT_PP_MADE_ARCHIVE_H

/* Archives in words, in the working folder: labels, facts and hashes. */

#include "tests/unit/pp_session.h"

#include "libop/session/op_labels.h"
#include "libop/files/op_walk.h"
#include "libpp/archive/sums.h"

#define SUMS_OF_ARCHIVE ".oparchive/SHA256SUMS"

/* The file of labels @path, "KEY=VALUE,KEY=VALUE". */
static inline void write_labels(const char *path, const char *text)
{
	struct op_labels labels = { 0 };
	char *copy = strdup(text), *save;

	assert_int_equal(op_make_parents(path, 0755), 0);
	for (char *word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		assert_int_equal(op_labels_parse(&labels, word, NULL), 0);
	assert_int_equal(op_labels_write(&labels, path, NULL), 0);
	op_labels_release(&labels);
	free(copy);
}

/* What hash_folder() finds. */
struct hashed_folder {
	struct pp_sum files[200];
	struct pp_sums sums; /* of files */
};

static inline int hash_entry(const struct op_walk_entry *entry, void *ctx)
{
	struct hashed_folder *folder = ctx;
	struct pp_sum *sum = &folder->files[folder->sums.nr];
	int fd;

	if (entry->kind != OP_WALK_FILE ||
	    !strcmp(entry->below, SUMS_OF_ARCHIVE))
		return 0;
	assert_true(folder->sums.nr < NR(folder->files));
	sum->name = strdup(entry->below);
	fd = open(entry->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pp_sha256_fd(fd, sum->hash), 0);
	close(fd);
	folder->sums.nr++;
	return 0;
}

static inline int compare_hashed_files(const void *a, const void *b)
{
	const struct pp_sum *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The files of the archive @path, in the order of their names, with their
 * hashes; to be let go of with forget_hashes(). */
static inline void hash_folder(struct hashed_folder *folder, const char *path)
{
	folder->sums = (struct pp_sums){ .list = folder->files };
	assert_int_equal(op_walk(path, hash_entry, folder), 0);
	qsort(folder->files, folder->sums.nr, sizeof(folder->files[0]),
	      compare_hashed_files);
}

static inline void forget_hashes(struct hashed_folder *folder)
{
	for (size_t i = 0; i < folder->sums.nr; i++)
		free((char *)folder->files[i].name);
}

/* Make the folder @name, which may have files, an archive of all sessions; they
 * are at /s. It is the sum of @merged archives, NULL: of one machine. */
static inline void make_archive(const char *name, const char *merged)
{
	static struct hashed_folder folder;
	char path[256];
	FILE *facts;

	snprintf(path, sizeof(path), "%s/.oparchive/facts", name);
	assert_int_equal(op_make_parents(path, 0755), 0);
	facts = fopen(path, "we");
	assert_non_null(facts);
	fputs("format = 1\nsession = /s\n", facts);
	if (merged)
		fprintf(facts, "merged = %s\n", merged);
	assert_int_equal(fclose(facts), 0);
	snprintf(path, sizeof(path), "%s/s/samples", name);
	assert_int_equal(op_make_parents(path, 0755), 0);
	if (access("samples", F_OK))
		mkdir(path, 0755);
	else
		assert_int_equal(rename("samples", path), 0);
	hash_folder(&folder, name);
	snprintf(path, sizeof(path), "%s/" SUMS_OF_ARCHIVE, name);
	assert_int_equal(pp_sums_write(&folder.sums, path), 0);
	forget_hashes(&folder);
}

#endif /* TESTS_UNIT_PP_MADE_ARCHIVE_H */
