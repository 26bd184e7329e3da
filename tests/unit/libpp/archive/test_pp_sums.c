// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of hashes as sha256sum(1) writes and reads them. */

#include "tests/unit/op_fixture.h"

#include "libpp/archive/sums.h"

static const char *const names[] = { "a",     "a\\b",	    "a\nb", "a\rb",
				     "b/c d", "b/\xc3\xa4", "z" };

static int by_name(const void *a, const void *b)
{
	const struct pp_sum *x = a, *y = b;

	return strcmp(x->name, y->name);
}

FOLDER_TEST(test_reads_what_it_writes)
{
	struct pp_sum list[sizeof(names) / sizeof(*names)] = { 0 };
	struct pp_sums sums = { list, sizeof(names) / sizeof(*names) }, back;
	struct op_arena arena;
	size_t nr;

	op_arena_init(&arena);
	for (size_t i = 0; i < sums.nr; i++) {
		list[i].name = names[i];
		memset(list[i].hash, (int)(i * 37), PP_SHA256_LEN);
	}
	qsort(list, sums.nr, sizeof(*list), by_name);
	assert_int_equal(pp_sums_write(&sums, "sums"), 0);
	assert_int_equal(pp_sums_write(&sums, "sums"), -EEXIST);
	assert_int_equal(pp_sums_read(&back, &arena, "sums", NULL), 0);
	assert_int_equal(back.nr, sums.nr);
	for (size_t i = 0; i < sums.nr; i++) {
		const struct pp_sum *found = pp_sums_find(&back, list[i].name);

		assert_ptr_equal(found, &back.list[i]);
		assert_string_equal(found->name, list[i].name);
		assert_memory_equal(found->hash, list[i].hash, PP_SHA256_LEN);
	}
	assert_null(pp_sums_find(&back, "a0"));
	assert_null(pp_sums_find(&back, ""));
	assert_ptr_equal(pp_sums_below(&back, "b/", &nr),
			 pp_sums_find(&back, "b/c d"));
	assert_int_equal(nr, 2);
	pp_sums_below(&back, "c", &nr);
	assert_int_equal(nr, 0);
	op_arena_release(&arena);
}

/* What a tool that everybody has says about the same files. */
FOLDER_TEST(test_sha256sum_agrees)
{
	struct op_arena arena;
	struct pp_sums sums;
	uint8_t hash[PP_SHA256_LEN];
	int fd;

	op_arena_init(&arena);
	write_text("a\\b", "one");
	write_text("x\ny", "two");
	assert_int_equal(system("sha256sum a* x* >sums"), 0);
	assert_int_equal(pp_sums_read(&sums, &arena, "sums", NULL), 0);
	assert_int_equal(sums.nr, 2);
	fd = open("x\ny", O_RDONLY);
	assert_int_equal(pp_sha256_fd(fd, hash), 0);
	close(fd);
	assert_memory_equal(pp_sums_find(&sums, "x\ny")->hash, hash,
			    sizeof(hash));
	assert_int_equal(pp_sums_write(&sums, "ours"), 0);
	assert_int_equal(system("sha256sum --status --strict -c ours"), 0);
	write_text("x\ny", "other");
	assert_int_not_equal(system("sha256sum --status -c ours"), 0);
	op_arena_release(&arena);
}

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

FOLDER_TEST(test_refuses_what_is_no_list)
{
	static const struct {
		const char *text, *reason;
	} bad[] = {
		{ H "  a", "sums:1: the file is truncated" },
		{ H "  a\n" H "  b", "sums:2: the file is truncated" },
		{ H " a\n", "sums:1: no \"HASH" },
		{ "\n", "sums:1: no \"HASH" },
		{ H "\n", "sums:1: no \"HASH" },
		{ "0" H "  a\n", "sums:1: no \"HASH" },
		{ "X23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"
		  "  a\n",
		  "sums:1: no \"HASH" },
		{ H "  \n", "leads out" },
		{ H "  /etc/passwd\n", "leads out" },
		{ H "  ../a\n", "leads out" },
		{ H "  a/../../b\n", "leads out" },
		{ H "  a//b\n", "leads out" },
		{ H "  a/\n", "leads out" },
		{ "\\" H "  a\\x\n", "an invalid escape" },
		{ "\\" H "  a\\\n", "an invalid escape" },
		{ H "  b\n" H "  a\n", "sums:2: the names do not ascend" },
		{ H "  a\n" H "  a\n", "sums:2: the names do not ascend" },
	};
	struct op_arena arena;
	struct pp_sums sums;

	op_arena_init(&arena);
	assert_int_equal(pp_sums_read(&sums, &arena, "none", NULL), -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct op_diag diag = { "" };

		write_text("sums", bad[i].text);
		assert_int_equal(pp_sums_read(&sums, &arena, "sums", &diag),
				 -EINVAL);
		assert_reason(&diag, bad[i].reason);
	}
	write_bytes("sums", H "  a\0b\n", sizeof(H "  a\0b\n") - 1);
	assert_int_equal(pp_sums_read(&sums, &arena, "sums", NULL), -EINVAL);
	write_text("sums", "");
	assert_int_equal(pp_sums_read(&sums, &arena, "sums", NULL), 0);
	assert_int_equal(sums.nr, 0);
	op_arena_release(&arena);
}
