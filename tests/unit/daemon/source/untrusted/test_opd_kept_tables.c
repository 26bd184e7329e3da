// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind tables that are kept for the next session: whose, and when not. */

#include <dirent.h>
#include <sys/sendfile.h>

#include "daemon/source/untrusted/opd_kept_tables.h"
#include "tests/unit/op_fixture.h"

#define HOUR (3600 * UINT64_C(1000000000))

static uint64_t time_of_files;

static uint64_t now_of_test(void)
{
	return time_of_files;
}

/* The process that a session has made a table with. */
enum made_by { BY_NONE, BY_READER_OF_SYSTEM, BY_READER_OF_OTHERS };

/* A session of its own reads the table of "binary", which is as it has to be.
 */
static enum made_by read_in_session(const struct cfi_table *want)
{
	int fd = open("binary", O_RDONLY | O_CLOEXEC);
	struct opd_untrusted others;
	struct opd_kept_tables kept;
	struct cfi_table *table;
	enum made_by made_by;
	struct stat st;

	assert_true(fd >= 0 && !fstat(fd, &st));
	opd_untrusted_init(&others);
	opd_kept_tables_init(&kept);
	assert_true(kept.cache >= 0);
	kept.system[0] = kept.system[1] = st.st_dev;
	kept.now = now_of_test;
	others.patience = kept.reader.patience = 60000;
	assert_int_equal(
		opd_kept_tables_read(&kept, &others, fd, CFI_ALL, &table), 0);
	assert_true(cfi_table_equal(table, want));
	assert_false(others.pid && kept.reader.pid);
	made_by = others.pid	    ? BY_READER_OF_OTHERS
		  : kept.reader.pid ? BY_READER_OF_SYSTEM
				    : BY_NONE;
	cfi_table_free(table);
	opd_kept_tables_release(&kept);
	opd_untrusted_release(&others);
	close(fd);
	return made_by;
}

/* A copy of this program, and its table. */
static struct cfi_table *begin(void)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = open("binary", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	char cache[64];
	struct cfi_table *table;
	struct stat st;

	assert_non_null(getcwd(cache, sizeof(cache) - 8));
	strcat(cache, "/cache");
	setenv("OPROFILE_CACHE_DIR", cache, 1);
	assert_true(self >= 0 && fd >= 0 && !fstat(self, &st));
	while (sendfile(fd, self, NULL, (size_t)st.st_size) > 0)
		;
	assert_int_equal(cfi_table_read(&table, self, CFI_ALL, NULL), 0);
	assert_true(cfi_table_flat_len(table) >= OPD_KEPT_TABLE_MIN);
	assert_false(fstat(fd, &st));
	time_of_files = (uint64_t)st.st_ctim.tv_sec * 1000000000 + HOUR;
	close(self);
	close(fd);
	return table;
}

/* The path of the only table in the cache; NULL: there are other files. */
static char *path_of_kept(void)
{
	static char path[512];
	DIR *folder = opendir("cache");
	struct dirent *entry;
	int nr = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
			snprintf(path, sizeof(path), "cache/%s", entry->d_name);
			nr++;
		}
	closedir(folder);
	return nr == 1 ? path : NULL;
}

static void flip_bit(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

FOLDER_TEST(tables_are_kept)
{
	struct cfi_table *table = begin();
	struct stat st;
	char *path;

	assert_int_equal(read_in_session(table), BY_READER_OF_SYSTEM);
	path = path_of_kept();
	assert_non_null(path);
	assert_int_equal(read_in_session(table), BY_NONE);
	assert_false(stat(path, &st));
	assert_int_equal(st.st_mode & 077, 0);
	/* A damaged one is made again, and kept. */
	for (off_t at = st.st_size - 1; at; at /= 8) {
		flip_bit(path, at);
		assert_int_equal(read_in_session(table), BY_READER_OF_SYSTEM);
		assert_int_equal(read_in_session(table), BY_NONE);
		path = path_of_kept();
		assert_non_null(path);
	}
	assert_int_equal(truncate(path, 7), 0);
	assert_int_equal(read_in_session(table), BY_READER_OF_SYSTEM);
	cfi_table_free(table);
}

/* Tables of files that others may write to could say anything. */
FOLDER_TEST(tables_are_not_kept)
{
	struct cfi_table *table = begin();

	assert_int_equal(chmod("binary", 0664), 0);
	assert_int_equal(read_in_session(table), BY_READER_OF_OTHERS);
	assert_int_equal(chmod("binary", 0646), 0);
	assert_int_equal(read_in_session(table), BY_READER_OF_OTHERS);
	assert_int_equal(chmod("binary", 0644), 0);
	/* It may change again, and its times stay. */
	time_of_files -= HOUR;
	assert_int_equal(read_in_session(table), BY_READER_OF_OTHERS);
	time_of_files += HOUR;
	if (!geteuid()) {
		assert_int_equal(chown("binary", 1, 1), 0);
		assert_int_equal(read_in_session(table), BY_READER_OF_OTHERS);
		assert_int_equal(chown("binary", 0, 0), 0);
	}
	assert_null(path_of_kept());
	assert_int_equal(read_in_session(table), BY_READER_OF_SYSTEM);
	cfi_table_free(table);
}

/* A file that has changed is another one; so is the same on a file system that
 * is not the system's. */
FOLDER_TEST(tables_of_other_files)
{
	struct cfi_table *table = begin();
	struct opd_kept_tables kept;

	assert_int_equal(read_in_session(table), BY_READER_OF_SYSTEM);
	assert_int_equal(truncate("binary", 1 << 30), 0);
	assert_int_equal(read_in_session(table), BY_READER_OF_SYSTEM);
	assert_null(path_of_kept());
	opd_kept_tables_init(&kept);
	kept.now = now_of_test;
	kept.system[0] = kept.system[1] = 0;
	assert_int_equal(kept.program & 1, 1);
	for (int i = 0; i < 2; i++) {
		int fd = open("binary", O_RDONLY | O_CLOEXEC);
		struct opd_untrusted others;
		struct cfi_table *other;

		opd_untrusted_init(&others);
		others.patience = 60000;
		assert_int_equal(opd_kept_tables_read(&kept, &others, fd,
						      CFI_ALL, &other),
				 0);
		assert_true(others.pid && !kept.reader.pid);
		opd_untrusted_release(&others);
		cfi_table_free(other);
		close(fd);
	}
	opd_kept_tables_release(&kept);
	cfi_table_free(table);
}
