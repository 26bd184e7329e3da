// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes: a head, the build-id, since version 2 the fingerprint, the name
 * without a zero byte. What does not apply to an image is zero, and what was
 * read is written again and compared, so that no two images of a tree are the
 * same thing. So an image whose fingerprint is not known is of version 1, as
 * before there were fingerprints.
 */

#include "libop/session/op_tree_image.h"

#include <errno.h>
#include <string.h>

#include "libop/image/op_build_id.h"

/* In the byte order of the machine, like the tree around it. */
struct head {
	uint8_t version; /* 1 or 2 */
	uint8_t space; /* enum op_image_space */
	uint8_t kind; /* enum op_image_kind */
	uint8_t build_id_len; /* bytes */
	uint32_t reserved; /* zero */
	uint64_t mtime;
	uint64_t anon_start;
	int64_t tgid; /* of anonymous memory, like the two below */
	uint64_t start;
	uint64_t end;
};

_Static_assert(sizeof(struct head) == 48, "on disk since version 1");

#define VERSION 1
#define VERSION_FINGERPRINT 2
#define FINGERPRINT_LEN (OP_BUILD_ID_MAX - OP_FINGERPRINT_AT)

static const char *const gaps[] = {
	[OP_STACKS_GUESSED] = "[guessed]",
	[OP_STACKS_TRUNCATED] = "[truncated]",
	[OP_STACKS_OTHER_STACK] = "[other stack]",
	[OP_STACKS_NO_UNWIND] = "[no unwind data]",
	[OP_STACKS_NO_MEMORY] = "[no memory]",
	[OP_STACKS_BROKEN] = "[broken stack]",
};

#define NR_GAPS (sizeof(gaps) / sizeof(gaps[0]))

const char *op_tree_gap_name(enum op_ledger_stacks class)
{
	return class < NR_GAPS ? gaps[class] : NULL;
}

enum op_ledger_stacks op_tree_gap_class(const char *name)
{
	for (size_t i = 0; i < NR_GAPS; i++)
		if (gaps[i] && !strcmp(name, gaps[i]))
			return (enum op_ledger_stacks)i;
	return OP_STACKS_WHOLE;
}

enum op_ledger_stacks op_tree_image_class(const struct op_tree_image *image)
{
	if (image->kind != OP_IMAGE_PSEUDO ||
	    image->name.space != OP_SPACE_KERN)
		return OP_STACKS_WHOLE;
	return op_tree_gap_class(image->name.name);
}

static bool is_known_space(enum op_image_space space)
{
	return space == OP_SPACE_ROOT || space == OP_SPACE_KERN ||
	       space == OP_SPACE_ANON;
}

static const char *why_unsound(const struct op_tree_image *image)
{
	const struct op_image_name *name = &image->name;

	if (!is_known_space(name->space))
		return "unknown name space of an image";
	if ((unsigned int)image->kind >= OP_NR_IMAGE_KINDS)
		return "unknown kind of image";
	if (image->build_id.len > sizeof(image->build_id.bytes))
		return "the build-id is too long";
	if (!name->name || !*name->name)
		return "an image without a name";
	if (name->space == OP_SPACE_ROOT && *name->name != '/')
		return "a path that is not absolute";
	if (name->space == OP_SPACE_ANON &&
	    (name->tgid < 0 || name->start > name->end))
		return "anonymous memory that cannot be";
	return NULL;
}

static struct head head_of(const struct op_tree_image *image)
{
	const struct op_image_name *name = &image->name;
	bool anon = name->space == OP_SPACE_ANON;
	uint64_t fingerprint = op_build_id_fingerprint(&image->build_id);

	return (struct head){
		.version = fingerprint ? VERSION_FINGERPRINT : VERSION,
		.space = (uint8_t)name->space,
		.kind = (uint8_t)image->kind,
		.build_id_len = (uint8_t)image->build_id.len,
		.mtime = image->mtime,
		.anon_start = image->anon_start,
		.tgid = anon ? name->tgid : 0,
		.start = anon ? name->start : 0,
		.end = anon ? name->end : 0,
	};
}

static size_t fingerprint_len(const struct head *head)
{
	return head->version == VERSION_FINGERPRINT ? FINGERPRINT_LEN : 0;
}

int op_tree_image_encode(const struct op_tree_image *image, void *buf,
			 size_t len)
{
	const struct op_build_id *id = &image->build_id;
	struct head head;
	size_t name_len, all;
	char *at = buf;

	if (why_unsound(image))
		return -EINVAL;
	head = head_of(image);
	name_len = strlen(image->name.name);
	if (name_len > OP_TREE_IMAGE_MAX)
		return -ENAMETOOLONG;
	all = sizeof(head) + id->len + fingerprint_len(&head) + name_len;
	if (all > len || all > OP_TREE_IMAGE_MAX)
		return -ENAMETOOLONG;
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	memcpy(at, id->bytes, id->len);
	at += id->len;
	memcpy(at, id->bytes + OP_FINGERPRINT_AT, fingerprint_len(&head));
	memcpy(at + fingerprint_len(&head), image->name.name, name_len);
	return (int)all;
}

static int refuse_damaged_image(struct op_diag *diag, const char *why)
{
	return op_diag_set(diag, -EBADMSG, "a call tree is damaged: %s", why);
}

static void fill_tree_image(struct op_tree_image *image,
			    const struct head *head, const uint8_t *build_id,
			    const char *name)
{
	*image = (struct op_tree_image){
		.name = { .space = head->space,
			  .name = name,
			  .tgid = head->tgid,
			  .start = head->start,
			  .end = head->end },
		.kind = head->kind,
		.mtime = head->mtime,
		.anon_start = head->anon_start,
		.build_id.len = head->build_id_len,
	};
	memcpy(image->build_id.bytes, build_id, head->build_id_len);
	if (fingerprint_len(head))
		memcpy(image->build_id.bytes + OP_FINGERPRINT_AT,
		       build_id + head->build_id_len, FINGERPRINT_LEN);
}

/* The name is what @len bytes leave behind head, build-id and fingerprint. */
static int parse_image_name(const struct head *head, const uint8_t *bytes,
			    size_t len, char *name, size_t name_len,
			    struct op_diag *diag)
{
	size_t before =
		sizeof(*head) + head->build_id_len + fingerprint_len(head);

	if (len < before || memchr(bytes + before, '\0', len - before))
		return refuse_damaged_image(
			diag, "the description of an image is cut off");
	if (len - before >= name_len)
		return -ENAMETOOLONG;
	memcpy(name, bytes + before, len - before);
	name[len - before] = '\0';
	return 0;
}

int op_tree_image_decode(struct op_tree_image *image, const void *bytes,
			 size_t len, char *name, size_t name_len,
			 struct op_diag *diag)
{
	struct head head, again;
	const char *why;
	int err;

	if (len < sizeof(head) || len > OP_TREE_IMAGE_MAX)
		return refuse_damaged_image(
			diag, "the description of an image is invalid");
	memcpy(&head, bytes, sizeof(head));
	if (head.version != VERSION && head.version != VERSION_FINGERPRINT)
		return refuse_damaged_image(diag,
					    "an image of another version");
	if (head.build_id_len >
	    sizeof(image->build_id.bytes) - fingerprint_len(&head))
		return refuse_damaged_image(diag, "the build-id is too long");
	err = parse_image_name(&head, bytes, len, name, name_len, diag);
	if (err)
		return err;
	fill_tree_image(image, &head, (const uint8_t *)bytes + sizeof(head),
			name);
	why = why_unsound(image);
	if (why)
		return refuse_damaged_image(diag, why);
	again = head_of(image);
	if (memcmp(&head, &again, sizeof(head)))
		return refuse_damaged_image(diag,
					    "bytes of an image are not zero");
	return 0;
}
