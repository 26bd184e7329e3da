// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of answers is read whole and checked whole, so that a look-up checks
 * nothing: anybody may have written the file. What is added is put in order
 * when a file is written.
 */

#include "libpp/symbols/inline_answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "libop/base/op_array.h"
#include "libop/files/op_file.h"
#include "libop/base/op_search.h"

#define MAX_FILE (64u << 20) /* bytes */
#define MAGIC "opinline"
#define VERSION 2u /* reads as another number in the other byte order */

struct answers_head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* of all behind the head */
	uint32_t nr_addresses, nr_frames, texts_len;
	uint32_t id_len;
	uint8_t id[32];
};
_Static_assert(sizeof(struct answers_head) == 64, "head of a file");
_Static_assert(sizeof(struct pp_inline_address) == 16, "record of a file");
_Static_assert(sizeof(struct pp_inline_frame) == 24, "record of a file");

void pp_inline_answers_release(struct pp_inline_answers *answers)
{
	free(answers->addresses);
	free(answers->frames);
	free(answers->texts);
	op_hash_release(&answers->by_text);
	*answers = (struct pp_inline_answers){ 0 };
}

/* ---- reading ------------------------------------------------------------- */

static bool is_head_of(const struct answers_head *head, size_t file_len,
		       const uint8_t *id, size_t id_len)
{
	uint64_t len = sizeof(*head);

	len += (uint64_t)head->nr_addresses * sizeof(struct pp_inline_address);
	len += (uint64_t)head->nr_frames * sizeof(struct pp_inline_frame);
	len += head->texts_len;
	return !memcmp(head->magic, MAGIC, sizeof(head->magic)) &&
	       head->version == VERSION && head->id_len == id_len && id_len &&
	       id_len <= sizeof(head->id) && !memcmp(head->id, id, id_len) &&
	       head->texts_len && len == file_len;
}

static int copy_arrays(struct pp_inline_answers *a,
		       const struct answers_head *head, const char *at)
{
	if (op_array_reserve(&a->addresses, 0, head->nr_addresses + 1) ||
	    op_array_reserve(&a->frames, 0, head->nr_frames + 1) ||
	    op_array_reserve(&a->texts, 0, head->texts_len))
		return -ENOMEM;
	a->nr_addresses = a->nr_sorted = head->nr_addresses;
	a->nr_frames = head->nr_frames;
	a->texts_len = head->texts_len;
	memcpy(a->addresses, at, a->nr_addresses * sizeof(*a->addresses));
	at += a->nr_addresses * sizeof(*a->addresses);
	memcpy(a->frames, at, a->nr_frames * sizeof(*a->frames));
	at += a->nr_frames * sizeof(*a->frames);
	memcpy(a->texts, at, a->texts_len);
	return 0;
}

static bool are_answers_sound(const struct pp_inline_answers *a)
{
	if (a->texts[0] || a->texts[a->texts_len - 1])
		return false;
	for (size_t i = 0; i < a->nr_addresses; i++) {
		const struct pp_inline_address *at = &a->addresses[i];

		if ((i && at->key <= at[-1].key) || at->first > a->nr_frames ||
		    at->nr > a->nr_frames - at->first ||
		    at->nr > OP_BFD_MAX_INLINED)
			return false;
	}
	for (size_t i = 0; i < a->nr_frames; i++) {
		const struct pp_inline_frame *f = &a->frames[i];

		if (f->name >= a->texts_len || f->file >= a->texts_len ||
		    f->call_file >= a->texts_len)
			return false;
	}
	return true;
}

static int take_file(struct pp_inline_answers *a, const char *file, size_t len,
		     const uint8_t *id, size_t id_len)
{
	struct answers_head head;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, file, sizeof(head));
	file += sizeof(head);
	if (!memcmp(head.magic, MAGIC, sizeof(head.magic)) && head.version &&
	    head.version < VERSION)
		return -ESTALE;
	if (!is_head_of(&head, len, id, id_len) ||
	    crc32(0, (const Bytef *)file, (uInt)(len - sizeof(head))) !=
		    head.crc)
		return -EBADMSG;
	return copy_arrays(a, &head, file)
		       ?: are_answers_sound(a) ? 0
					       : -EBADMSG;
}

int pp_inline_answers_read(struct pp_inline_answers *answers, const char *path,
			   const uint8_t *id, size_t id_len)
{
	struct op_diag unsaid = { 0 };
	char *file = NULL;
	size_t len;
	int err = op_file_read(path, MAX_FILE, &file, &len, &unsaid);

	*answers = (struct pp_inline_answers){ 0 };
	err = err ?: take_file(answers, file, len, id, id_len);
	free(file);
	if (err)
		pp_inline_answers_release(answers);
	return err;
}

/* ---- looking up ---------------------------------------------------------- */

static const char *answer_text(const struct pp_inline_answers *answers,
			       uint32_t offset)
{
	return offset ? answers->texts + offset : NULL;
}

bool pp_inline_answers_find(const struct pp_inline_answers *answers,
			    uint64_t key,
			    struct op_bfd_inlined out[OP_BFD_MAX_INLINED],
			    size_t *nr)
{
	const struct pp_inline_address *all = answers->addresses;
	size_t at = OP_BISECT(i, answers->nr_sorted, all[i].key < key);

	if (at == answers->nr_sorted || all[at].key != key)
		return false;
	*nr = all[at].nr;
	for (size_t i = 0; i < *nr; i++) {
		const struct pp_inline_frame *f =
			&answers->frames[all[at].first + i];

		out[i] = (struct op_bfd_inlined){
			.name = answers->texts + f->name,
			.file = answer_text(answers, f->file),
			.line = f->line,
			.call_file = answer_text(answers, f->call_file),
			.call_line = f->call_line,
			.call_discriminator = f->call_discriminator,
		};
	}
	return true;
}

/* ---- adding -------------------------------------------------------------- */

static int append_text(struct pp_inline_answers *a, const char *text,
		       uint32_t *offset)
{
	size_t len = strlen(text) + 1;

	if (len > MAX_FILE - a->texts_len)
		return -EFBIG;
	if (op_array_reserve(&a->texts, a->texts_len, len))
		return -ENOMEM;
	memcpy(a->texts + a->texts_len, text, len);
	*offset = (uint32_t)a->texts_len;
	a->texts_len += len;
	return 0;
}

static int index_text(struct pp_inline_answers *a, uint32_t offset)
{
	int err = op_hash_reserve(&a->by_text, (size_t)a->by_text.nr + 1);

	if (!err)
		op_hash_add(&a->by_text,
			    op_hash_text(a->by_text.seed, a->texts + offset),
			    offset + 1);
	return err;
}

/* Once, before anything is added: the empty text, and those that were read. */
static int index_texts(struct pp_inline_answers *a)
{
	uint32_t offset = 0;
	int err = a->texts_len ? 0 : append_text(a, "", &offset);

	for (offset = 0; !err && offset < a->texts_len;
	     offset += (uint32_t)strlen(a->texts + offset) + 1)
		err = index_text(a, offset);
	return err;
}

static int offset_of_text(struct pp_inline_answers *a, const char *text,
			  uint32_t *offset)
{
	uint32_t number;
	uint64_t hash;
	int err;

	if (!text)
		text = "";
	hash = op_hash_text(a->by_text.seed, text);
	op_hash_each(&a->by_text, hash, number) {
		*offset = number - 1;
		if (!strcmp(a->texts + *offset, text))
			return 0;
	}
	err = append_text(a, text, offset);
	return err ? err : index_text(a, *offset);
}

static int add_answer_frame(struct pp_inline_answers *a,
			    const struct op_bfd_inlined *inlined)
{
	struct pp_inline_frame frame = {
		.line = inlined->line,
		.call_line = inlined->call_line,
		.call_discriminator = inlined->call_discriminator,
	};
	int err = op_array_reserve(&a->frames, a->nr_frames, 1) ?:
		  offset_of_text(a, inlined->name, &frame.name) ?:
		  offset_of_text(a, inlined->file, &frame.file) ?:
		  offset_of_text(a, inlined->call_file, &frame.call_file);

	if (!err)
		a->frames[a->nr_frames++] = frame;
	return err;
}

/* Neighbours mostly have the same frames. */
static bool has_frames_of(const struct pp_inline_answers *a,
			  const struct pp_inline_address *at, uint32_t first)
{
	return at->nr == a->nr_frames - first &&
	       (!at->nr || !memcmp(&a->frames[at->first], &a->frames[first],
				   at->nr * sizeof(*a->frames)));
}

int pp_inline_answers_add(struct pp_inline_answers *answers, uint64_t key,
			  const struct op_bfd_inlined *frames, size_t nr)
{
	struct pp_inline_answers *a = answers;
	struct pp_inline_address at = { .key = key, .nr = (uint32_t)nr };
	int err = a->by_text.nr ? 0 : index_texts(a);

	if (a->nr_frames + nr > MAX_FILE / sizeof(*a->frames) / 4 ||
	    a->nr_addresses >= MAX_FILE / sizeof(*a->addresses) / 4)
		return -EFBIG;
	err = err ?: op_array_reserve(&a->addresses, a->nr_addresses, 1);
	at.first = (uint32_t)a->nr_frames;
	for (size_t i = 0; i < nr && !err; i++)
		err = add_answer_frame(a, &frames[i]);
	if (err) {
		a->nr_frames = at.first;
		return err;
	}
	if (a->nr_addresses &&
	    has_frames_of(a, &a->addresses[a->nr_addresses - 1], at.first)) {
		a->nr_frames = at.first;
		at.first = a->addresses[a->nr_addresses - 1].first;
	}
	a->addresses[a->nr_addresses++] = at;
	return 0;
}

int pp_inline_answers_add_all(struct pp_inline_answers *answers,
			      const struct pp_inline_answers *from)
{
	struct op_bfd_inlined frames[OP_BFD_MAX_INLINED];
	int err = 0;

	for (size_t i = 0; i < from->nr_sorted && !err; i++) {
		uint64_t key = from->addresses[i].key;
		size_t nr;

		if (pp_inline_answers_find(from, key, frames, &nr))
			err = pp_inline_answers_add(answers, key, frames, nr);
	}
	return err;
}

/* ---- writing ------------------------------------------------------------- */

static int compare_answer_keys(const void *a, const void *b)
{
	const struct pp_inline_address *x = a, *y = b;

	return op_compare(x->key, y->key);
}

/* An address that was asked for twice has two answers, which are the same. */
static void sort_answers(struct pp_inline_answers *a)
{
	size_t kept = 0;

	if (a->nr_addresses)
		qsort(a->addresses, a->nr_addresses, sizeof(*a->addresses),
		      compare_answer_keys);
	for (size_t i = 0; i < a->nr_addresses; i++)
		if (!kept || a->addresses[i].key != a->addresses[kept - 1].key)
			a->addresses[kept++] = a->addresses[i];
	a->nr_addresses = a->nr_sorted = kept;
}

/* The parts of a file behind its head. */
struct answers_part {
	const void *bytes;
	size_t len;
};

static void write_parts(FILE *to, struct answers_head *head,
			const struct answers_part parts[3])
{
	uLong crc = crc32(0, NULL, 0);

	/* What is empty is at NULL, where crc32() makes a new start and
	 * fwrite() may do anything. */
	for (int i = 0; i < 3; i++)
		if (parts[i].len)
			crc = crc32(crc, parts[i].bytes, (uInt)parts[i].len);
	head->crc = (uint32_t)crc;
	fwrite(head, sizeof(*head), 1, to);
	for (int i = 0; i < 3; i++)
		if (parts[i].len)
			fwrite(parts[i].bytes, 1, parts[i].len, to);
}

int pp_inline_answers_write(struct pp_inline_answers *answers, FILE *to,
			    const uint8_t *id, size_t id_len)
{
	struct pp_inline_answers *a = answers;
	struct answers_head head = { .version = VERSION,
				     .id_len = (uint32_t)id_len };

	if (!id_len || id_len > sizeof(head.id))
		return -EINVAL;
	sort_answers(a);
	memcpy(head.magic, MAGIC, sizeof(head.magic));
	memcpy(head.id, id, id_len);
	head.nr_addresses = (uint32_t)a->nr_addresses;
	head.nr_frames = (uint32_t)a->nr_frames;
	head.texts_len = (uint32_t)a->texts_len;
	write_parts(to, &head,
		    (struct answers_part[3]){
			    { a->addresses,
			      a->nr_addresses * sizeof(*a->addresses) },
			    { a->frames, a->nr_frames * sizeof(*a->frames) },
			    { a->texts, a->texts_len } });
	errno = 0;
	return fflush(to) || ferror(to) ? -(errno ?: EIO) : 0;
}
