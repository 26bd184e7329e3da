// SPDX-License-Identifier: GPL-2.0-or-later
/* What names of anonymous memory and image cookies stand for. */

#include "daemon/context/opd_anon.h"
#include "daemon/context/opd_cookie.h"
#include "tests/unit/opd_fixture.h"

/* ---- anonymous memory -------------------------------------------------------
 */

/* One pointer for one name, however it is asked for. */
TEST(test_one_name)
{
	struct opd_anon anon = { .nr = 0 };
	char text[] = "jit";
	const char *name = opd_anon_name(&anon, text);

	assert_string_equal(name, "jit");
	assert_ptr_not_equal(name, text);
	text[0] = 'J';
	assert_string_equal(name, "jit");
	assert_ptr_equal(opd_anon_name(&anon, "jit"), name);
	assert_string_equal(opd_anon_name(&anon, "Jit"), "Jit");
	assert_string_equal(opd_anon_name(&anon, ""), "");
	assert_int_equal(anon.nr, 3);
	/* What memory without a name is called takes no place. */
	assert_string_equal(opd_anon_name(&anon, OPD_ANON_DEFAULT),
			    OPD_ANON_DEFAULT);
	assert_int_equal(anon.nr, 3);
	opd_anon_release(&anon);
	assert_int_equal(anon.nr, 0);
}

/* Half of the places are for names; further ones have none. */
TEST(test_most_names)
{
	static const char *names[OPD_ANON_NAMES / 2];
	struct opd_anon anon = { .nr = 0 };
	char text[16];

	for (unsigned int i = 0; i < OPD_ANON_NAMES / 2; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		names[i] = opd_anon_name(&anon, text);
		assert_string_equal(names[i], text);
	}
	assert_int_equal(anon.nr, OPD_ANON_NAMES / 2);
	for (unsigned int i = 0; i < OPD_ANON_NAMES / 2; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		assert_ptr_equal(opd_anon_name(&anon, text), names[i]);
	}
	assert_string_equal(opd_anon_name(&anon, "one more"), OPD_ANON_DEFAULT);
	assert_int_equal(anon.nr, OPD_ANON_NAMES / 2);
	opd_anon_release(&anon);
	for (unsigned int i = 0; i < OPD_ANON_NAMES; i++)
		assert_null(anon.names[i]);
}

/* ---- cookies ----------------------------------------------------------------
 */

static int learn(struct fixture *f, uint64_t cookie, const char *path)
{
	struct op_cookie_query query = { .cookie = cookie };

	snprintf(query.path, sizeof(query.path), "%s", path);
	return opd_cookie_learn(&f->opd.cookies, &query);
}

static void expect_image(struct fixture *f, uint64_t cookie, int err,
			 const char *name)
{
	struct opd_image *image = NULL;

	assert_int_equal(opd_cookie_find(&f->opd.cookies, cookie, &image), err);
	if (name)
		assert_string_equal(image->name, name);
	else
		assert_null(image);
}

TEST(test_cookies)
{
	struct fixture *f = new_replay();
	struct opd_image *image;

	expect_image(f, OP_NO_COOKIE, -ENOENT, NULL);
	expect_image(f, 5, -EAGAIN, NULL);
	assert_int_equal(learn(f, 5, "/bin/a"), 0);
	assert_int_equal(learn(f, 6, "[vdso]"), 0);
	assert_int_equal(learn(f, 7, ""), 0);
	expect_image(f, 5, 0, "/bin/a");
	expect_image(f, 6, 0, "[vdso]");
	/* It has no name, and none will come. */
	expect_image(f, 7, -ENOENT, NULL);
	assert_int_equal(f->opd.cookies.nr, 3);
	assert_int_equal(opd_cookie_find(&f->opd.cookies, 5, &image), 0);
	assert_int_equal(image->space, OP_SPACE_ROOT);
	assert_int_equal(image->kind, OP_IMAGE_FILE);
	assert_int_equal(opd_cookie_find(&f->opd.cookies, 6, &image), 0);
	assert_int_equal(image->space, OP_SPACE_KERN);
	/* A later name counts; the image has its samples all the same. */
	assert_int_equal(learn(f, 5, "/bin/b"), 0);
	expect_image(f, 5, 0, "/bin/b");
	assert_int_equal(f->opd.cookies.nr, 3);
	/* A kernel image of that name: its samples have no image. */
	assert_int_equal(opd_kernel_add(&f->opd.kernel, "ext4", 1, 2,
					&(struct op_build_id){ 0 }),
			 0);
	assert_int_equal(learn(f, 8, "ext4"), 0);
	expect_image(f, 8, -ENOENT, NULL);
	opd_cookies_release(&f->opd.cookies);
	expect_image(f, 5, -EAGAIN, NULL);
	assert_int_equal(f->opd.cookies.nr, 0);
	free_fixture(f);
}

/* A stream may make up names without end. */
TEST(test_most_images)
{
	struct fixture *f = new_replay();
	struct opd_images *images = &f->opd.images;
	size_t names_len;

	assert_int_equal(learn(f, 1, "/bin/known"), 0);
	names_len = images->names_len;
	images->names_len = OPD_IMAGE_NAMES_MAX - strlen("/bin/12345");
	assert_int_equal(learn(f, 2, "/bin/12345"), 0);
	expect_image(f, 2, -ENOENT, NULL);
	assert_true(f->opd.cookies.full);
	assert_int_equal(learn(f, 3, "/bin/1234"), 0);
	expect_image(f, 3, 0, "/bin/1234");
	assert_int_equal(images->names_len, OPD_IMAGE_NAMES_MAX);
	/* What is known has its name. */
	assert_int_equal(learn(f, 4, "/bin/known"), 0);
	expect_image(f, 4, 0, "/bin/known");
	images->names_len = names_len;
	assert_int_equal(learn(f, 5, "/bin/12345"), 0);
	expect_image(f, 5, 0, "/bin/12345");
	free_fixture(f);
}

TEST(test_bad_cookies)
{
	struct fixture *f = new_replay();
	struct op_cookie_query query = { .cookie = 5 };

	assert_int_equal(learn(f, OP_NO_COOKIE, "/a"), -EINVAL);
	memset(query.path, '/', sizeof(query.path));
	assert_int_equal(opd_cookie_learn(&f->opd.cookies, &query), -EINVAL);
	query.path[sizeof(query.path) - 1] = '\0';
	query.build_id_len = OP_BUILD_ID_MAX + 1;
	assert_int_equal(opd_cookie_learn(&f->opd.cookies, &query), -EINVAL);
	query.build_id_len = OP_BUILD_ID_MAX;
	assert_int_equal(opd_cookie_learn(&f->opd.cookies, &query), 0);
	assert_int_equal(f->opd.cookies.nr, 1);
	free_fixture(f);
}

/* Code that a process made has a path, but no file ever. */
TEST(test_made_code)
{
	static const struct {
		const char *path;
		uint32_t flags;
		bool made;
	} rows[] = {
		{ "/5.jo", OP_IMAGE_NO_FILE, true },
		{ "/5.jo", OP_IMAGE_NO_FILE | OP_IMAGE_MAY_HANG, true },
		{ "/5.jo", 0, false },
		{ "/5.jo", OP_IMAGE_DELETED, false },
		{ "/memfd:x", OP_IMAGE_NO_FILE | OP_IMAGE_DELETED, false },
		{ "[vdso]", OP_IMAGE_NO_FILE, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_cookie_query query = { .cookie = 1,
						 .flags = rows[i].flags };

		strcpy(query.path, rows[i].path);
		assert_int_equal(opd_cookie_is_made(&query), rows[i].made);
	}
}
