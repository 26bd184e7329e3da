// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of the cache is a table in one piece (cfi_table_flatten()) and the
 * hash of that, as a crash may leave a file with zeros in it.
 */

#include "daemon/source/untrusted/opd_kept_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_clock.h"
#include "libop/base/op_hash.h"
#include "libop/files/op_cache.h"

#define SECOND UINT64_C(1000000000)
#define SETTLED_NS (2 * SECOND)
#define NAME_LEN 160

static uint64_t now_of_tables(void)
{
	return op_clock_ns(CLOCK_REALTIME);
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

/* A number for the program that runs, 0 if it cannot be told from others. */
static uint64_t number_of_program(void)
{
	struct stat st;

	if (stat("/proc/self/exe", &st))
		return 0;
	return op_hash_mix(op_hash_mix(op_hash_mix(st.st_dev, st.st_ino),
				       (uint64_t)st.st_size),
			   ns_of(&st.st_ctim)) |
	       1;
}

static dev_t file_system_of(const char *path, dev_t otherwise)
{
	struct stat st;

	return stat(path, &st) ? otherwise : st.st_dev;
}

void opd_kept_tables_init(struct opd_kept_tables *kept)
{
	memset(kept, 0, sizeof(*kept));
	opd_untrusted_init(&kept->reader);
	kept->system[0] = file_system_of("/", 0);
	kept->system[1] = file_system_of("/usr", kept->system[0]);
	kept->program = number_of_program();
	kept->now = now_of_tables;
	kept->cache = kept->program ? op_cache_open() : -1;
}

void opd_kept_tables_release(struct opd_kept_tables *kept)
{
	opd_untrusted_release(&kept->reader);
	if (kept->cache >= 0)
		close(kept->cache);
	kept->cache = -1;
}

/* Whether the file @st belongs to the system, so that what it says may be
 * believed in later sessions. */
static bool is_of_system(const struct opd_kept_tables *kept,
			 const struct stat *st)
{
	return S_ISREG(st->st_mode) && !(st->st_mode & 022) &&
	       (!st->st_uid || st->st_uid == geteuid()) &&
	       (st->st_dev == kept->system[0] ||
		st->st_dev == kept->system[1]) &&
	       ns_of(&st->st_ctim) + SETTLED_NS < kept->now();
}

static void name_of_table(char name[NAME_LEN],
			  const struct opd_kept_tables *kept,
			  const struct stat *st, enum cfi_extent extent)
{
	snprintf(name, NAME_LEN,
		 "unwind-%" PRIx64 "-%d-%" PRIx64 "-%" PRIx64 "-%" PRIx64
		 "-%" PRIx64 "-%" PRIx64,
		 kept->program, (int)extent, (uint64_t)st->st_dev,
		 (uint64_t)st->st_ino, (uint64_t)st->st_size,
		 ns_of(&st->st_mtim), ns_of(&st->st_ctim));
}

/* ---- the cache -----------------------------------------------------------
 */

static int unflatten_kept(const uint8_t *bytes, size_t len,
			  struct cfi_table **out)
{
	uint64_t hash;

	if (len < sizeof(hash))
		return -EBADMSG;
	len -= sizeof(hash);
	memcpy(&hash, bytes + len, sizeof(hash));
	return hash == op_hash_bytes(0, bytes, len)
		       ? cfi_table_unflatten(out, bytes, len)
		       : -EBADMSG;
}

static int get_table(const struct opd_kept_tables *kept, const char *name,
		     struct cfi_table **out)
{
	uint8_t *bytes;
	size_t len;
	int err = op_cache_read(kept->cache, name, OPD_UNTRUSTED_ROOM, &bytes,
				&len);

	err = err ?: unflatten_kept(bytes, len, out);
	free(bytes);
	return err;
}

/* Tables are worth no message: the next session makes one that is missing. */
static void put_table(const struct opd_kept_tables *kept, const char *name,
		      const struct cfi_table *table)
{
	size_t len = cfi_table_flat_len(table);
	uint8_t *bytes;
	uint64_t hash;

	if (len < OPD_KEPT_TABLE_MIN || len > OPD_UNTRUSTED_ROOM - sizeof(hash))
		return;
	bytes = malloc(len + sizeof(hash));
	if (!bytes)
		return;
	cfi_table_flatten(table, bytes);
	hash = op_hash_bytes(0, bytes, len);
	memcpy(bytes + len, &hash, sizeof(hash));
	(void)op_cache_write(kept->cache, name, bytes, len + sizeof(hash),
			     &op_cache_bounds);
	free(bytes);
}

/* -------------------------------------------------------------------------
 */

int opd_kept_tables_read(struct opd_kept_tables *kept,
			 struct opd_untrusted *untrusted, int fd,
			 enum cfi_extent extent, struct cfi_table **out)
{
	char name[NAME_LEN];
	struct stat st;
	int err;

	if (kept->cache < 0 || fstat(fd, &st) || !is_of_system(kept, &st))
		return opd_untrusted_table(untrusted, fd, extent, out);
	name_of_table(name, kept, &st, extent);
	if (!get_table(kept, name, out))
		return 0;
	err = opd_untrusted_table(&kept->reader, fd, extent, out);
	if (!err)
		put_table(kept, name, *out);
	return err;
}
