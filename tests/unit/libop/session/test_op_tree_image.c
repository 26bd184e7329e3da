// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of call trees: what is encoded comes back, in one way only, and no
 * bytes give an image that could not have been encoded.
 */

#include "tests/unit/op_fixture.h"

#include "libdb/ctree.h"
#include "libop/session/op_tree_image.h"

_Static_assert(OP_TREE_IMAGE_MAX <= CTREE_IMAGE_MAX, "each fits a tree");

static uint8_t bytes[OP_TREE_IMAGE_MAX];
static char name[OP_TREE_IMAGE_MAX];

static struct op_tree_image file(const char *path)
{
	return (struct op_tree_image){
		.name = { .space = OP_SPACE_ROOT, .name = path },
		.kind = OP_IMAGE_FILE,
		.mtime = 1234567890,
		.build_id = { 4, { 0xde, 0xad, 0, 0xef } },
	};
}

static struct op_tree_image with_fingerprint(void)
{
	struct op_tree_image image = file("/usr/bin/ls");

	memset(image.build_id.bytes + 24, 0x5a, 8);
	return image;
}

static struct op_tree_image anon(void)
{
	return (struct op_tree_image){
		.name = { .space = OP_SPACE_ANON,
			  .name = "anon",
			  .tgid = 4300,
			  .start = 0x7f0000001000,
			  .end = 0x7f0000003000 },
		.kind = OP_IMAGE_ANON,
		.anon_start = 0x7f0000001000,
	};
}

static struct op_tree_image kern(enum op_image_kind kind, const char *text)
{
	return (struct op_tree_image){
		.name = { .space = OP_SPACE_KERN, .name = text },
		.kind = kind,
	};
}

static void round_trip(const struct op_tree_image *image)
{
	struct op_diag diag = { "" };
	struct op_tree_image back;
	int len = op_tree_image_encode(image, bytes, sizeof(bytes));

	assert_true(len > 0);
	if (op_tree_image_decode(&back, bytes, (size_t)len, name, sizeof(name),
				 &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(back.name.space, image->name.space);
	assert_string_equal(back.name.name, image->name.name);
	assert_int_equal(back.name.tgid, image->name.tgid);
	assert_int_equal(back.name.start, image->name.start);
	assert_int_equal(back.name.end, image->name.end);
	assert_int_equal(back.kind, image->kind);
	assert_int_equal(back.mtime, image->mtime);
	assert_int_equal(back.anon_start, image->anon_start);
	assert_int_equal(back.build_id.len, image->build_id.len);
	assert_memory_equal(back.build_id.bytes, image->build_id.bytes,
			    sizeof(image->build_id.bytes));
}

TEST(test_all_kinds)
{
	struct op_tree_image image = file("/usr/bin/ls");

	round_trip(&image);
	image = with_fingerprint();
	round_trip(&image);
	image.build_id.len = 32;
	memset(image.build_id.bytes, 0xff, sizeof(image.build_id.bytes));
	round_trip(&image);
	/* A build-id that leaves room for the fingerprint. */
	image.build_id.len = 24;
	round_trip(&image);
	image = anon();
	round_trip(&image);
	image = kern(OP_IMAGE_KERNEL, "vmlinux");
	round_trip(&image);
	image = kern(OP_IMAGE_MODULE, "ext4");
	image.mtime = UINT64_MAX;
	round_trip(&image);
	image = kern(OP_IMAGE_PSEUDO, "[vdso]");
	round_trip(&image);
}

/* Names are kept as they are, whatever bytes they have. */
TEST(test_odd_names)
{
	struct op_tree_image image = file("/a b\n\xff%2f{dep}/..");

	round_trip(&image);
	image = kern(OP_IMAGE_PSEUDO, "x");
	round_trip(&image);
}

TEST(test_gaps)
{
	static const char *const names[] = {
		[OP_STACKS_GUESSED] = "[guessed]",
		[OP_STACKS_TRUNCATED] = "[truncated]",
		[OP_STACKS_OTHER_STACK] = "[other stack]",
		[OP_STACKS_NO_UNWIND] = "[no unwind data]",
		[OP_STACKS_NO_MEMORY] = "[no memory]",
		[OP_STACKS_BROKEN] = "[broken stack]",
		[OP_STACKS_NOT_STORED] = NULL,
	};
	struct op_tree_image image = kern(OP_IMAGE_PSEUDO, "[vdso]");

	assert_int_equal(op_tree_image_class(&image), OP_STACKS_WHOLE);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *gap = op_tree_gap_name((enum op_ledger_stacks)i);

		if (!names[i]) {
			assert_null(gap);
			continue;
		}
		assert_string_equal(gap, names[i]);
		assert_int_equal(op_tree_gap_class(gap), i);
		image = kern(OP_IMAGE_PSEUDO, gap);
		assert_int_equal(op_tree_image_class(&image), i);
		image = kern(OP_IMAGE_MODULE, gap);
		assert_int_equal(op_tree_image_class(&image), OP_STACKS_WHOLE);
	}
	image = file("/[truncated]");
	assert_int_equal(op_tree_image_class(&image), OP_STACKS_WHOLE);
}

/* What does not apply is not told apart: a tree would have an image twice. */
TEST(test_one_way)
{
	struct op_tree_image image = file("/usr/bin/ls");
	uint8_t other[OP_TREE_IMAGE_MAX];
	int len = op_tree_image_encode(&image, bytes, sizeof(bytes));

	image.name.tgid = -1;
	image.name.start = 17;
	image.name.end = 4;
	image.build_id.bytes[5] = 1; /* between it and the fingerprint */
	assert_int_equal(op_tree_image_encode(&image, other, sizeof(other)),
			 len);
	assert_memory_equal(bytes, other, len);
}

/* Without a fingerprint the bytes are those of earlier releases. */
TEST(test_versions)
{
	struct op_tree_image image = file("/x"), back;
	int len = op_tree_image_encode(&image, bytes, sizeof(bytes));

	assert_int_equal(len, 48 + 4 + 2);
	assert_int_equal(bytes[0], 1);
	image = with_fingerprint();
	image.name.name = "/x";
	assert_int_equal(op_tree_image_encode(&image, bytes, sizeof(bytes)),
			 len + 8);
	assert_int_equal(bytes[0], 2);
	assert_memory_equal(bytes + 48,
			    "\xde\xad\0\xef\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a/x",
			    14);
	/* Neither has what the other version has. */
	memset(bytes + 52, 0, 8);
	assert_int_equal(op_tree_image_decode(&back, bytes, len + 8, name,
					      sizeof(name), NULL),
			 -EBADMSG);
	memset(bytes + 52, 0x5a, 8);
	bytes[0] = 3;
	assert_int_equal(op_tree_image_decode(&back, bytes, len + 8, name,
					      sizeof(name), NULL),
			 -EBADMSG);
	bytes[0] = 2;
	memset(bytes + 48, '/', 40);
	for (bytes[3] = 23; bytes[3] < 26; bytes[3]++)
		assert_int_equal(op_tree_image_decode(&back, bytes, 48 + 40,
						      name, sizeof(name), NULL),
				 bytes[3] < 25 ? 0 : -EBADMSG);
}

static void refuse_encode(const struct op_tree_image *image)
{
	assert_int_equal(op_tree_image_encode(image, bytes, sizeof(bytes)),
			 -EINVAL);
}

TEST(test_refused)
{
	struct op_tree_image image = file(NULL);

	refuse_encode(&image);
	image = file("");
	refuse_encode(&image);
	image = file("relative");
	refuse_encode(&image);
	image = file("/x");
	image.build_id.len = 33;
	refuse_encode(&image);
	image = file("/x");
	image.kind = OP_NR_IMAGE_KINDS;
	refuse_encode(&image);
	image = file("/x");
	image.name.space = OP_SPACE_NONE;
	refuse_encode(&image);
	image = anon();
	image.name.tgid = -1;
	refuse_encode(&image);
	image = anon();
	image.name.end = 0;
	refuse_encode(&image);
}

TEST(test_room)
{
	struct op_tree_image image = file("/bin/x"), back;
	int len = op_tree_image_encode(&image, bytes, sizeof(bytes));
	char path[2 * OP_TREE_IMAGE_MAX];

	for (int room = 0; room < len; room++)
		assert_int_equal(op_tree_image_encode(&image, bytes, room),
				 -ENAMETOOLONG);
	for (size_t room = 0; room < 7; room++)
		assert_int_equal(op_tree_image_decode(&back, bytes, len, name,
						      room, NULL),
				 -ENAMETOOLONG);
	assert_int_equal(op_tree_image_decode(&back, bytes, len, name, 7, NULL),
			 0);
	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	image.name.name = path;
	assert_int_equal(op_tree_image_encode(&image, bytes, sizeof(bytes)),
			 -ENAMETOOLONG);
	path[4095] = '\0'; /* the longest path there is */
	round_trip(&image);
}

/* Each byte of the head changed in each way, each length. */
TEST(test_damage)
{
	struct op_tree_image images[] = { file("/usr/bin/ls"),
					  with_fingerprint(), anon() };
	struct op_tree_image back;
	uint8_t again[OP_TREE_IMAGE_MAX];
	unsigned int nr_refused = 0;

	for (size_t i = 0; i < 3; i++) {
		int len =
			op_tree_image_encode(&images[i], bytes, sizeof(bytes));

		for (int at = 0; at < len * 256; at++) {
			uint8_t was = bytes[at / 256];

			bytes[at / 256] = (uint8_t)at;
			if (op_tree_image_decode(&back, bytes, len, name,
						 sizeof(name), NULL)) {
				nr_refused++;
			} else {
				assert_int_equal(
					op_tree_image_encode(&back, again,
							     sizeof(again)),
					len);
				assert_memory_equal(bytes, again, len);
			}
			bytes[at / 256] = was;
		}
	}
	assert_true(nr_refused > 4 * 255);
	for (size_t len = 0; len < 48 + 1; len++) {
		struct op_diag diag = { "" };

		assert_int_equal(op_tree_image_decode(&back, bytes, len, name,
						      sizeof(name), &diag),
				 len == 49 ? 0 : -EBADMSG);
		assert_reason(&diag, "damaged");
	}
}
