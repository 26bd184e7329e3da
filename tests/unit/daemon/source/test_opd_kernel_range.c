// SPDX-License-Identifier: GPL-2.0-or-later
/* The addresses of the kernel, which the first session of a boot finds. */

#include "daemon/source/opd_kernel_range.h"
#include "daemon/source/opd_live_kernel.h"
#include "daemon/source/opd_source.h"
#include "libop/base/op_log.h"
#include "libop/files/op_folder.h"
#include "libop/image/op_build_id.h"
#include "libop/session/op_stream_words.h"
#include "tests/unit/op_fixture.h"

#define BOOT "proc/sys/kernel/random/boot_id"
#define FIRST_BOOT "be2f8780-f0a5-4588-8ad3-b63abd585a3c"
#define NEXT_BOOT "be2f8780-f0a5-4588-8ad3-b63abd585a3d"
#define STEXT "ffffffff81000000 T _stext\n"
#define ETEXT "ffffffff82000000 T _etext\n"

static const struct op_build_id kernel_id = { 2, { 0xab, 0xcd } };
static const struct op_build_id other_id = { 2, { 0xab, 0xce } };

static void boot(const char *id)
{
	char cache[64];

	assert_non_null(getcwd(cache, sizeof(cache) - 8));
	strcat(cache, "/cache");
	setenv("OPROFILE_CACHE_DIR", cache, 1);
	assert_int_equal(op_make_parents("proc/sys/kernel/random/", 0755), 0);
	write_bytes(BOOT, id, strlen(id));
}

static bool has_range(const struct op_build_id *id)
{
	uint64_t start, end;

	if (!opd_kernel_range_get("proc", id, &start, &end))
		return false;
	assert_int_equal(start, 0xffffffff81000000);
	assert_int_equal(end, 0xffffffff82000000);
	return true;
}

static void keep_range(const struct op_build_id *id)
{
	opd_kernel_range_keep("proc", id, 0xffffffff81000000,
			      0xffffffff82000000);
}

FOLDER_TEST(ranges_of_boots)
{
	static const struct op_build_id none;

	boot(FIRST_BOOT "\n");
	assert_false(has_range(&kernel_id));
	keep_range(&none);
	assert_false(has_range(&none));
	keep_range(&kernel_id);
	assert_true(has_range(&kernel_id));
	assert_false(has_range(&other_id));
	boot(NEXT_BOOT "\n");
	assert_false(has_range(&kernel_id));
	boot(FIRST_BOOT "\n");
	assert_true(has_range(&kernel_id));
	/* Numbers that could lead anywhere are none. */
	boot("../../../../../../../../../../tmp/be2f8\n");
	keep_range(&kernel_id);
	assert_false(has_range(&kernel_id));
	boot("");
	keep_range(&kernel_id);
	assert_false(has_range(&kernel_id));
}

/* A part of the line is nothing. */
FOLDER_TEST(ranges_that_are_damaged)
{
	static const char path[] = "cache/kernel-" FIRST_BOOT;
	struct stat st;

	boot(FIRST_BOOT);
	keep_range(&kernel_id);
	assert_false(stat(path, &st));
	for (off_t len = st.st_size; len--;) {
		assert_int_equal(truncate(path, len), 0);
		assert_false(has_range(&kernel_id));
	}
	keep_range(&kernel_id);
	assert_true(has_range(&kernel_id));
	opd_kernel_range_keep("proc", &kernel_id, 2, 1);
	assert_true(has_range(&kernel_id));
}

/* How many words a session writes about the kernel: it is told of code. */
static size_t words_of_session(void)
{
	struct opd_live_kernel kernel = { .is_told = true };
	struct op_stream_words words = { .nr = 0 };
	struct op_log log;
	struct opd_source_client client = { .log = &log };
	struct opd_source source = { .client = &client, .proc = "proc" };
	size_t nr;

	op_log_init(&log);
	opd_live_kernel_record(&kernel, &source, &words);
	nr = words.nr;
	opd_live_kernel_release(&kernel);
	op_stream_words_release(&words);
	op_log_close(&log);
	return nr;
}

/* The second session needs no list of symbols to know where the kernel is, and
 * one of another boot does. */
FOLDER_TEST(sessions_of_a_boot)
{
	size_t nr;

	boot(FIRST_BOOT);
	write_bytes("proc/modules", "", 0);
	write_bytes("proc/kallsyms", STEXT ETEXT, strlen(STEXT ETEXT));
	nr = words_of_session();
	assert_true(nr > 0);
	assert_int_equal(unlink("proc/kallsyms"), 0);
	assert_int_equal(words_of_session(), nr);
	boot(NEXT_BOOT);
	assert_int_equal(words_of_session(), 0);
}
