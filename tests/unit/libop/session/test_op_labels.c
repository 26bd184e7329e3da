// SPDX-License-Identifier: GPL-2.0-or-later
/* Labels of sessions: what is one, their order, the file. */

#include "tests/unit/op_fixture.h"

#include "libop/session/op_labels.h"

TEST(test_keys_and_values)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ "host=web-17", 0 },  { "a.b_c-9=x=y", 0 },
		{ "v=two words", 0 },  { "v=\xc3\xa4", 0 },
		{ "host", -EINVAL },   { "host=", -EINVAL },
		{ "=x", -EINVAL },     { "Host=x", -EINVAL },
		{ "9=x", -EINVAL },    { "a b=x", -EINVAL },
		{ "v= x", -EINVAL },   { "v=x ", -EINVAL },
		{ "v=x\ny", -EINVAL }, { "v=\x7f", -EINVAL },
	};
	char text[OP_LABEL_KEY_MAX + OP_LABEL_VALUE_MAX + 8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_labels labels = { 0 };
		struct op_diag why = { 0 };

		assert_int_equal(op_labels_parse(&labels, cases[i].text, &why),
				 cases[i].err);
		assert_int_equal(labels.nr, !cases[i].err);
		assert_int_equal(*why.text != 0, cases[i].err != 0);
		op_labels_release(&labels);
	}
	for (int more = 0; more < 2; more++) {
		struct op_labels labels = { 0 };

		memset(text, 'k', OP_LABEL_KEY_MAX + more);
		strcpy(text + OP_LABEL_KEY_MAX + more, "=v");
		assert_int_equal(op_labels_parse(&labels, text, NULL),
				 more ? -EINVAL : 0);
		strcpy(text, "k=");
		memset(text + 2, 'v', OP_LABEL_VALUE_MAX + more);
		text[2 + OP_LABEL_VALUE_MAX + more] = '\0';
		assert_int_equal(op_labels_parse(&labels, text, NULL),
				 more ? -EINVAL : 0);
		op_labels_release(&labels);
	}
}

TEST(test_they_are_sorted_and_replaced)
{
	struct op_labels labels = { 0 };

	assert_int_equal(op_labels_set(&labels, "m", "1"), 0);
	assert_int_equal(op_labels_set(&labels, "z", "2"), 0);
	assert_int_equal(op_labels_set(&labels, "a", "3"), 0);
	assert_int_equal(op_labels_set(&labels, "m", "4"), 0);
	assert_int_equal(labels.nr, 3);
	assert_string_equal(labels.list[0].key, "a");
	assert_string_equal(labels.list[2].key, "z");
	assert_string_equal(op_labels_find(&labels, "m"), "4");
	assert_null(op_labels_find(&labels, "b"));
	op_labels_drop(&labels, "b");
	op_labels_drop(&labels, "a");
	assert_int_equal(labels.nr, 2);
	assert_null(op_labels_find(&labels, "a"));
	assert_string_equal(op_labels_find(&labels, "z"), "2");
	op_labels_release(&labels);
	assert_int_equal(labels.nr, 0);
}

TEST(test_there_is_an_end)
{
	struct op_labels labels = { 0 };
	char key[16];

	for (int i = 0; i < OP_LABELS_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(op_labels_set(&labels, key, "v"), 0);
	}
	assert_int_equal(op_labels_set(&labels, "one-more", "v"), -ENOSPC);
	assert_int_equal(op_labels_set(&labels, "k1", "w"), 0);
	op_labels_release(&labels);
}

FOLDER_TEST(test_the_file)
{
	struct op_labels labels = { 0 }, again = { 0 };
	const char *path = "labels";
	struct op_diag why = { 0 };

	assert_int_equal(op_labels_read(&again, path, &why), -ENOENT);
	assert_string_equal(why.text, "");
	assert_int_equal(op_labels_set(&labels, "host", "a = b # c"), 0);
	assert_int_equal(op_labels_set(&labels, "version", "1.2"), 0);
	assert_int_equal(op_labels_write(&labels, path, &why), 0);
	assert_int_equal(op_labels_read(&again, path, &why), 0);
	assert_int_equal(again.nr, 2);
	assert_string_equal(op_labels_find(&again, "host"), "a = b # c");
	assert_string_equal(op_labels_find(&again, "version"), "1.2");
	/* It is there already. */
	assert_int_equal(op_labels_write(&labels, path, &why), -EEXIST);
	write_text(path, "host = x\nHOST = y\n");
	memset(&why, 0, sizeof(why));
	assert_int_equal(op_labels_read(&again, path, &why), -EINVAL);
	assert_non_null(strstr(why.text, "labels: HOST: not a label"));
	write_text(path, "host\n");
	assert_int_equal(op_labels_read(&again, path, NULL), -EINVAL);
	op_labels_release(&labels);
	op_labels_release(&again);
}
