// SPDX-License-Identifier: GPL-2.0-or-later
/* The sum of sample files that have one name. */
#include "libdb/db_sum.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int db_sum_init(struct db_sum *sum, bool is_tree, size_t nr)
{
	memset(sum, 0, sizeof(*sum));
	if (is_tree)
		sum->trees = calloc(nr, sizeof(struct ctree *));
	else
		sum->tables = calloc(nr, sizeof(struct odb *));
	return sum->trees || sum->tables ? 0 : -ENOMEM;
}

void db_sum_release(struct db_sum *sum)
{
	for (size_t i = 0; i < sum->nr; i++) {
		if (sum->tables)
			odb_close(sum->tables[i]);
		else
			ctree_close(sum->trees[i]);
	}
	free(sum->tables);
	free(sum->trees);
	memset(sum, 0, sizeof(*sum));
}

void *db_sum_user(const struct db_sum *sum, size_t i)
{
	return sum->tables ? odb_user(sum->tables[i])
			   : ctree_user(sum->trees[i]);
}

void db_sum_add_table(struct db_sum *sum, struct odb *table)
{
	sum->tables[sum->nr++] = table;
}

void db_sum_add_tree(struct db_sum *sum, struct ctree *tree)
{
	sum->trees[sum->nr++] = tree;
}

static bool is_blank_part(const struct db_sum *sum, size_t i)
{
	static const uint8_t zero[ODB_USER_SIZE];

	return !memcmp(db_sum_user(sum, i), zero, sizeof(zero));
}

static void drop_last_part(struct db_sum *sum)
{
	sum->nr--;
	if (sum->tables)
		odb_close(sum->tables[sum->nr]);
	else
		ctree_close(sum->trees[sum->nr]);
}

int db_sum_add(struct db_sum *sum, const struct db_folder *folder,
	       const struct db_member *member)
{
	int err;

	if (sum->tables)
		err = db_folder_table(folder, member, &sum->tables[sum->nr]);
	else
		err = db_folder_tree(folder, member, &sum->trees[sum->nr]);
	if (err)
		return err;
	sum->nr++;
	if (is_blank_part(sum, sum->nr - 1))
		drop_last_part(sum);
	return 0;
}

int db_sum_write(const struct db_sum *sum, struct pack_writer *writer,
		 const char *name)
{
	if (sum->tables)
		return pack_writer_table(writer, name,
					 (const struct odb *const *)sum->tables,
					 sum->nr);
	return pack_writer_tree(
		writer, name, (const struct ctree *const *)sum->trees, sum->nr);
}
