// SPDX-License-Identifier: GPL-2.0-or-later

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libdb/tree/ctree_format.h"
#include "libdb/tree/ctree_table.h"
#include "libdb/table/db_file.h"
#include "libdb/table/db_table.h"
#include "libop/files/op_file.h"

/* Tables and call trees have the user's bytes at the same place. */
union head {
	struct odb_header table;
	struct ctree_header tree;
};

_Static_assert(offsetof(struct odb_header, user) ==
		       offsetof(struct ctree_header, user),
	       "on disk since version 1");

static int check_peeked_head(const union head *head, uint64_t len)
{
	if (!memcmp(head->tree.magic, CTREE_MAGIC, CTREE_MAGIC_LEN))
		return ctree_check_header(&head->tree, len);
	return odb_check_header(&head->table, len);
}

static int read_peeked_head(int fd, union head *head)
{
	struct stat st;
	int err = odb_file_stat(fd, &st)
			  ?: op_file_read_at(fd, head, sizeof(*head), 0);

	return err ?: check_peeked_head(head, (uint64_t)st.st_size);
}

int odb_peek(const char *path, void *user)
{
	union head head;
	int fd = odb_file_open(path, O_RDONLY);
	int err;

	if (fd < 0)
		return fd;
	err = read_peeked_head(fd, &head);
	close(fd);
	if (!err)
		memcpy(user, head.table.user, ODB_USER_SIZE);
	return err;
}
