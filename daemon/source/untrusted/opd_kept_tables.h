/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_KEPT_TABLES_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_KEPT_TABLES_H

/*
 * Unwind tables that are kept in the cache of sessions (op_cache.h), so that
 * the next session need not make them. Only those of files that belong to the
 * system are: on the file system of / or /usr, of root or of the daemon's user,
 * whom alone they let write, and not changed for some seconds. A process of
 * their own makes these tables, which never reads another file, so that no file
 * of others can reach a later session by taking it over.
 *
 * The name of a table has the inode and the times of its file, and those of
 * the daemon's program: another program may make other tables. A table from
 * the cache is checked like one from that process.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/untrusted/opd_untrusted.h"

#define OPD_KEPT_TABLE_MIN 4096 /* bytes; shorter ones are made as soon */

struct opd_kept_tables {
	struct opd_untrusted reader; /* of the files of the system */
	int cache; /* descriptor of the folder; -1: nothing is kept */
	dev_t system[2]; /* the file systems of / and /usr */
	uint64_t program; /* a number for the daemon's own program */
	uint64_t (*now)(void); /* CLOCK_REALTIME in ns but for tests */
};

void opd_kept_tables_init(struct opd_kept_tables *kept);
void opd_kept_tables_release(struct opd_kept_tables *kept);

/* Does what opd_untrusted_table() does, from what is kept if there is such a
 * table. @untrusted reads the files of others. */
int opd_kept_tables_read(struct opd_kept_tables *kept,
			 struct opd_untrusted *untrusted, int fd,
			 enum cfi_extent extent, struct cfi_table **out);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_KEPT_TABLES_H */
