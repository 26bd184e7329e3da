/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_DB_SUM_H
#define LIBDB_DB_SUM_H

/*
 * The sum of sample files that have one name: they are read, and written to a
 * pack as one entry. They are tables or call trees, not both.
 *
 * No function prints or exits; errors are negative errno values.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libdb/db_folder.h"
#include "libdb/pack.h"

/* The tables or trees that were read and are added up. */
struct db_sum {
	struct odb **tables; /* NULL of trees */
	struct ctree **trees; /* NULL of tables */
	size_t nr;
};

/* Begin a sum of at most @nr parts. Returns 0 or -ENOMEM; db_sum_release() in
 * any case. */
int db_sum_init(struct db_sum *sum, bool is_tree, size_t nr);
void db_sum_release(struct db_sum *sum);

/*
 * Read @member of @folder; what was made and never written to says nothing, and
 * is left out. Returns 0 or -errno as db_folder_table(); then the sum is as it
 * was.
 */
int db_sum_add(struct db_sum *sum, const struct db_folder *folder,
	       const struct db_member *member);

/* Add a table or a tree, open ODB_RDONLY, which is the sum's now. */
void db_sum_add_table(struct db_sum *sum, struct odb *table);
void db_sum_add_tree(struct db_sum *sum, struct ctree *tree);

/* The user bytes of part @i, ODB_USER_SIZE of them, which may be changed. */
void *db_sum_user(const struct db_sum *sum, size_t i);

/* Write the sum, which has parts. Its user bytes are those of the first one.
 * Returns as pack_writer_table(). */
int db_sum_write(const struct db_sum *sum, struct pack_writer *writer,
		 const char *name);

#endif /* LIBDB_DB_SUM_H */
