// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/untrusted/opd_known_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "libop/base/op_array.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_open.h"
#include "libop/image/op_build_id.h"

#define SECOND UINT64_C(1000000000)
#define SETTLED_NS (SECOND / 50) /* more than a tick */

struct opd_known_file {
	struct opd_file_key key;
	struct op_build_id id;
};

static uint64_t now_of_files(void)
{
	return op_clock_ns(CLOCK_REALTIME);
}

void opd_known_files_init(struct opd_known_files *known)
{
	memset(known, 0, sizeof(*known));
	known->now = now_of_files;
}

void opd_known_files_release(struct opd_known_files *known)
{
	op_hash_release(&known->index);
	free(known->files);
	known->files = NULL;
	known->nr = 0;
}

static uint64_t ns_of_change(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

bool opd_known_files_key(const struct opd_known_files *known, int fd,
			 struct opd_file_key *key)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*key = (struct opd_file_key){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = (uint64_t)st.st_size,
		.mtime = ns_of_change(&st.st_mtim),
		.ctime = ns_of_change(&st.st_ctim),
	};
	return key->ctime + SETTLED_NS < known->now() &&
	       op_who_has(fd) == OP_KERNEL_HAS;
}

static uint64_t hash_of_key(const struct opd_known_files *known,
			    const struct opd_file_key *key)
{
	return op_hash_bytes(known->index.seed, key, sizeof(*key));
}

bool opd_known_files_find(const struct opd_known_files *known,
			  const struct opd_file_key *key,
			  struct op_build_id *id)
{
	uint32_t number;

	op_hash_each(&known->index, hash_of_key(known, key), number) {
		const struct opd_known_file *file = &known->files[number - 1];

		if (!memcmp(&file->key, key, sizeof(*key))) {
			*id = file->id;
			return true;
		}
	}
	return false;
}

void opd_known_files_add(struct opd_known_files *known,
			 const struct opd_file_key *key,
			 const struct op_build_id *id)
{
	if (known->nr == OPD_KNOWN_FILES_MAX)
		opd_known_files_release(known);
	if (op_hash_reserve(&known->index, known->nr + 1) ||
	    op_array_reserve(&known->files, known->nr, 1))
		return;
	known->files[known->nr++] = (struct opd_known_file){ *key, *id };
	op_hash_add(&known->index, hash_of_key(known, key),
		    (uint32_t)known->nr);
}
