// SPDX-License-Identifier: GPL-2.0-or-later
/* "key = value" files: what is read, what is refused, what is written. */

#include "tests/unit/op_fixture.h"

#include <signal.h>
#include <sys/resource.h>

#include "libop/files/op_config.h"

static struct op_config *read_text(const char *text)
{
	struct op_diag diag = { "" };
	struct op_config *config = NULL;

	write_text("c", text);
	if (op_config_read(&config, "c", &diag))
		fail_msg("%s", diag.text);
	return config;
}

FOLDER_TEST(test_forms_of_lines)
{
	struct op_config *c = read_text("# comment = no\n"
					"\n"
					"  \t # indented comment\n"
					"a=1\n"
					"  b  =  two words \t\r\n"
					"empty =\n"
					"image = /bin/a=b\n"
					"last = no newline");

	assert_string_equal(op_config_find(c, "a"), "1");
	assert_string_equal(op_config_find(c, "b"), "two words");
	assert_string_equal(op_config_find(c, "empty"), "");
	assert_string_equal(op_config_find(c, "image"), "/bin/a=b");
	assert_string_equal(op_config_find(c, "last"), "no newline");
	assert_null(op_config_find(c, "# comment"));
	assert_null(op_config_find(c, ""));
	op_config_free(c);
}

FOLDER_TEST(test_nothing_is_expanded)
{
	struct op_config *c = read_text("x = $(touch evil) `touch evil`\n"
					"y = $HOME # not a comment\n");

	assert_string_equal(op_config_find(c, "x"),
			    "$(touch evil) `touch evil`");
	assert_string_equal(op_config_find(c, "y"), "$HOME # not a comment");
	assert_int_equal(access("evil", F_OK), -1);
	op_config_free(c);
}

FOLDER_TEST(test_order_and_repeats)
{
	struct op_config *c = read_text("k = 1\nj = 2\nk = 3\n");
	const char *key, *value;

	assert_string_equal(op_config_find(c, "k"), "3");
	assert_int_equal(op_config_at(c, 0, &key, &value), 0);
	assert_string_equal(key, "k");
	assert_string_equal(value, "1");
	assert_int_equal(op_config_at(c, 1, &key, &value), 0);
	assert_string_equal(key, "j");
	assert_int_equal(op_config_at(c, 3, &key, &value), -1);
	assert_int_equal(op_config_at(c, UINT32_MAX, &key, &value), -1);
	op_config_free(c);
}

static void refuse(const void *bytes, size_t len, const char *reason)
{
	struct op_config *config = (struct op_config *)"untouched";
	struct op_diag diag = { "" };

	write_bytes("c", bytes, len);
	assert_int_equal(op_config_read(&config, "c", &diag), -EINVAL);
	assert_string_equal((char *)config, "untouched");
	assert_reason(&diag, reason);
}

FOLDER_TEST(test_broken_lines)
{
	refuse("a = 1\n\nno pair\n", 16, "c:3: no \"key = value\": no pair");
	refuse("= 1\n", 4, "c:1: no key");
	refuse("  = 1\n", 6, "c:1: no key");
	refuse("a = x\0y\n", 8, "c:1: a zero byte");
	refuse("\0a = x\n", 7, "c:1: a zero byte");
	refuse("\033]0;x\n", 6, "c:1: no \"key = value\": ?]0;x");
}

FOLDER_TEST(test_files_that_are_none)
{
	struct op_config *config = NULL;
	struct op_diag diag = { "" };

	assert_int_equal(op_config_read(&config, "absent", &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	assert_int_equal(op_config_read(&config, ".", &diag), -EINVAL);
	assert_reason(&diag, "not a regular file");
	diag.text[0] = '\0';
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(op_config_read(&config, "fifo", &diag), -EINVAL);
	diag.text[0] = '\0';
	write_text("big", "");
	assert_int_equal(truncate("big", (16 << 20) + 1), 0);
	assert_int_equal(op_config_read(&config, "big", &diag), -EFBIG);
	assert_reason(&diag, "big: larger than 16777216 bytes");
	assert_int_equal(truncate("big", 1LL << 40), 0);
	assert_int_equal(op_config_read(&config, "big", NULL), -EFBIG);
}

/* Files of /proc say that they have no bytes. */
FOLDER_TEST(test_file_without_a_size)
{
	struct op_config *config = NULL;
	struct op_diag diag = { "" };

	assert_int_equal(op_config_read(&config, "/proc/self/status", &diag),
			 -EINVAL);
	assert_reason(&diag, "/proc/self/status:1: ");
}

FOLDER_TEST(test_many_lines)
{
	FILE *file = fopen("c", "w");
	struct op_config *c;
	const char *key, *value;

	for (int i = 0; i < 20000; i++)
		fprintf(file, "key%d = %d\n", i, i);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(op_config_read(&c, "c", NULL), 0);
	assert_int_equal(op_config_at(c, 19999, &key, &value), 0);
	assert_string_equal(value, "19999");
	op_config_free(c);
}

FOLDER_TEST(test_set_add_unset)
{
	struct op_config *c = read_text("a = 1\nk = 1\nb = 2\nk = 3\n");

	assert_int_equal(op_config_set(c, "k", "new"), 0);
	assert_int_equal(op_config_add(c, "k", "more"), 0);
	op_config_unset(c, "a");
	op_config_unset(c, "absent");
	assert_int_equal(op_config_set_u64(c, "n", UINT64_MAX), 0);
	assert_int_equal(op_config_write(c, "d", 0600, NULL), 0);
	assert_string_equal(text_of("d"), "k = new\nb = 2\nk = more\n"
					  "n = 18446744073709551615\n");
	op_config_free(c);
}

/* Strings that the configuration itself has given out. */
FOLDER_TEST(test_own_strings)
{
	struct op_config *c = read_text("k = 1\nj = 2\nk = 3\n");
	const char *key, *value;

	assert_int_equal(op_config_at(c, 0, &key, &value), 0);
	assert_int_equal(op_config_set(c, key, value), 0);
	assert_string_equal(op_config_find(c, "k"), "1");
	assert_int_equal(op_config_at(c, 0, &key, &value), 0);
	op_config_unset(c, key);
	assert_null(op_config_find(c, "k"));
	assert_int_equal(op_config_at(c, 0, &key, &value), 0);
	assert_string_equal(key, "j");
	assert_int_equal(op_config_at(c, 1, &key, &value), -1);
	op_config_free(c);
}

FOLDER_TEST(test_unreadable_pairs_are_refused)
{
	static const char *const keys[] = { "",	  "#a", "a=b", "a\nb",
					    " a", "a ", "\ta", "a\r" };
	static const char *const values[] = { "a\nb", "\n",  " a",
					      "a ",   "a\t", " " };
	struct op_config *c = op_config_new();
	const char *key, *value;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_int_equal(op_config_set(c, keys[i], "v"), -EINVAL);
		assert_int_equal(op_config_add(c, keys[i], "v"), -EINVAL);
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		assert_int_equal(op_config_set(c, "k", values[i]), -EINVAL);
	assert_int_equal(op_config_at(c, 0, &key, &value), -1);
	op_config_free(c);
}

/* Whatever set() takes comes back from a file. */
FOLDER_TEST(test_random_pairs_round_trip)
{
	static const char bytes[] = "ab=# \t\r\n\v\x01\xff%";
	unsigned int seed = 1, taken = 0;

	for (int i = 0; i < 2000; i++) {
		struct op_config *c = op_config_new(), *back = NULL;
		char text[2][8];

		for (int j = 0; j < 2; j++) {
			int len = rand_r(&seed) % 7;

			for (int n = 0; n < len; n++)
				text[j][n] = bytes[rand_r(&seed) % 12];
			text[j][len] = '\0';
		}
		if (!op_config_set(c, text[0], text[1])) {
			taken++;
			assert_int_equal(op_config_write(c, "c", 0600, NULL),
					 0);
			assert_int_equal(op_config_read(&back, "c", NULL), 0);
			assert_string_equal(op_config_find(back, text[0]),
					    text[1]);
		}
		op_config_free(back);
		op_config_free(c);
	}
	assert_true(taken > 100);
}

FOLDER_TEST(test_write_mode_and_leftovers)
{
	struct op_config *c = read_text("a = 1\n");
	mode_t old = umask(0077);
	struct stat st;

	assert_int_equal(op_config_write(c, "w", 0644, NULL), 0);
	umask(old);
	assert_int_equal(stat("w", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(op_config_write(c, "w", 0600, NULL), 0);
	assert_int_equal(stat("w", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(nr_files(), 2);
	op_config_free(c);
}

FOLDER_TEST(test_write_replaces_a_link)
{
	struct op_config *c = read_text("a = 1\n");
	struct stat st;

	write_text("victim", "precious");
	assert_int_equal(symlink("victim", "w"), 0);
	assert_int_equal(op_config_write(c, "w", 0600, NULL), 0);
	assert_int_equal(lstat("w", &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_string_equal(text_of("victim"), "precious");
	op_config_free(c);
}

FOLDER_TEST(test_write_failures)
{
	struct op_config *c = read_text("a = 1\n");
	struct op_diag diag = { "" };
	char *path = calloc(1, 5000);

	assert_int_equal(op_config_write(c, "no/where", 0600, &diag), -ENOENT);
	assert_reason(&diag, "no/where: cannot write: No such file");
	diag.text[0] = '\0';
	assert_int_equal(mkdir("full", 0700), 0);
	assert_int_equal(op_config_write(c, "full", 0600, &diag), -EISDIR);
	assert_reason(&diag, "full: cannot replace: Is a directory");
	memset(path, 'x', 4999);
	assert_int_equal(op_config_write(c, path, 0600, NULL), -ENAMETOOLONG);
	path[300] = '\0';
	assert_int_equal(op_config_write(c, path, 0600, NULL), -ENAMETOOLONG);
	assert_int_equal(nr_files(), 2); /* c and full: nothing is left over */
	free(path);
	op_config_free(c);
}

FOLDER_TEST(test_full_disk)
{
	struct op_config *c = read_text("a = 1\n");
	struct op_diag diag = { "" };

	for (int i = 0; i < 20000; i++)
		op_config_add(c, "key", "value");
	write_text("w", "old = 1\n");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE,
				   &(struct rlimit){ 4096, RLIM_INFINITY }),
			 0);
	assert_int_equal(op_config_write(c, "w", 0600, &diag), -EFBIG);
	assert_int_equal(
		setrlimit(RLIMIT_FSIZE,
			  &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }),
		0);
	assert_reason(&diag, "w: cannot write: ");
	assert_string_equal(text_of("w"), "old = 1\n");
	assert_int_equal(nr_files(), 2);
	op_config_free(c);
}

FOLDER_TEST(test_parse_u64)
{
	static const struct {
		const char *text;
		int err;
		uint64_t value;
	} cases[] = {
		{ "0", 0, 0 },
		{ "7", 0, 7 },
		{ "017", 0, 15 },
		{ "0x1F", 0, 31 },
		{ "0Xff", 0, 255 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "0xffffffffffffffff", 0, UINT64_MAX },
		{ "01777777777777777777777", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "0x10000000000000000", -ERANGE, 0 },
		{ "02000000000000000000000", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "99999999999999999999999999x", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "08", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "0x-1", -EINVAL, 0 },
		{ "0x0x1", -EINVAL, 0 },
		{ "\xd9\xa1", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t value = 0;
		int err = op_parse_u64(cases[i].text, &value);

		if (err != cases[i].err || value != cases[i].value)
			fail_msg("\"%s\": %d", cases[i].text, err);
	}
}

FOLDER_TEST(test_get_u64)
{
	struct op_config *c = read_text("a = 0x10\nb = many\nc = -1\n"
					"d = 99999999999999999999\n");
	struct op_diag diag = { "" };
	uint64_t value = 5;

	assert_int_equal(op_config_get_u64(c, "x", &value, &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	assert_int_equal(op_config_get_u64(c, "b", &value, &diag), -EINVAL);
	assert_string_equal(diag.text,
			    "c:2: b: \"many\" is not a whole number");
	diag.text[0] = '\0';
	assert_int_equal(op_config_get_u64(c, "d", &value, &diag), -ERANGE);
	assert_reason(&diag, "c:4: d: ");
	assert_int_equal(op_config_get_u64(c, "c", &value, NULL), -EINVAL);
	assert_int_equal(value, 5);
	assert_int_equal(op_config_get_u64(c, "a", &value, NULL), 0);
	assert_int_equal(value, 16);
	assert_int_equal(op_config_set(c, "b", "none"), 0);
	diag.text[0] = '\0';
	assert_int_equal(op_config_get_u64(c, "b", &value, &diag), -EINVAL);
	assert_string_equal(diag.text, "b: \"none\" is not a whole number");
	op_config_free(c);
}
