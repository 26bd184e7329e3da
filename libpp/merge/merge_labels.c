// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets of labels, each once. The session of a set is named by its labels, so
 * that the same set has the same name in every sum.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libop/base/op_escape.h"
#include "libpp/merge/merge_work.h"

#define NAME_LEN_MAX 200 /* bytes; a longer one ends with a hash */

static bool is_listed(const char *const *keys, const char *key)
{
	for (; keys && *keys; keys++)
		if (!strcmp(*keys, key))
			return true;
	return false;
}

/*
 * The CPU type defines the events, so this label is always kept. If machines
 * are not separated by host, their machine numbers do not separate them either.
 */
bool merge_keeps(const struct pp_merge_request *request, const char *key)
{
	if (!strcmp(key, OP_LABEL_CPU))
		return true;
	if (!strcmp(key, OP_LABEL_MACHINE) &&
	    !merge_keeps(request, OP_LABEL_HOST))
		return false;
	if (!strcmp(key, OP_LABEL_MACHINE) &&
	    is_listed(request->keep, OP_LABEL_HOST))
		return !is_listed(request->drop, key);
	return (!request->keep || is_listed(request->keep, key)) &&
	       !is_listed(request->drop, key);
}

/* ---- names --------------------------------------------------------------- */

static size_t put_label_text(char *buf, size_t at, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool escape = op_escape_needed(c) || strchr("+/ ,:\\", c);

		at += op_escape_byte(buf + at, c, escape);
	}
	return at;
}

static const char *name_of_set(struct op_arena *arena,
			       const struct op_labels *labels)
{
	char text[2 * (OP_LABEL_KEY_MAX + OP_LABEL_VALUE_MAX) * OP_ESCAPE_LEN +
		  NAME_LEN_MAX];
	uint64_t hash = 0;
	size_t at = 0;

	for (size_t i = 0; i < labels->nr; i++) {
		const struct op_label *label = &labels->list[i];

		hash = op_hash_text(op_hash_text(hash, label->key),
				    label->value);
		if (at > NAME_LEN_MAX)
			continue;
		if (at)
			text[at++] = '+';
		at = put_label_text(text, at, label->key);
		text[at++] = '=';
		at = put_label_text(text, at, label->value);
	}
	text[at] = '\0';
	if (at <= NAME_LEN_MAX)
		return op_arena_strdup(arena, at ? text : "current");
	return op_arena_printf(arena, "%.*s+%016" PRIx64, NAME_LEN_MAX - 17,
			       text, hash);
}

/* ---- sets ---------------------------------------------------------------- */

static uint64_t hash_labels(uint64_t hash, const struct op_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++)
		hash = op_hash_text(op_hash_text(hash, labels->list[i].key),
				    labels->list[i].value);
	return hash;
}

static bool are_labels_equal(const struct op_labels *a,
			     const struct op_labels *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->list[i].key, b->list[i].key) ||
		    strcmp(a->list[i].value, b->list[i].value))
			return false;
	return true;
}

static int keep_labels(const struct pp_merge_request *request,
		       const struct op_labels *labels, struct op_labels *kept)
{
	int err = 0;

	for (size_t i = 0; i < labels->nr && !err; i++)
		if (merge_keeps(request, labels->list[i].key))
			err = op_labels_set(kept, labels->list[i].key,
					    labels->list[i].value);
	return err;
}

static int add_set(struct merge_work *work, struct op_labels *labels,
		   uint64_t hash)
{
	struct merge_set *more = op_arena_grow(&work->merge->arena, work->sets,
					       work->nr_sets, sizeof(*more));

	if (!more)
		return -ENOMEM;
	work->sets = more;
	more += work->nr_sets;
	*more = (struct merge_set){
		.name = name_of_set(&work->merge->arena, labels),
		.labels = *labels,
	};
	if (!more->name)
		return -ENOMEM;
	*labels = (struct op_labels){ 0 };
	op_hash_add(&work->set_index, hash, (uint32_t)++work->nr_sets);
	return 0;
}

int merge_set_of(struct merge_work *work, const struct op_labels *labels,
		 uint32_t *set)
{
	struct op_labels kept = { 0 };
	uint32_t number = 0;
	int err =
		keep_labels(work->request, labels, &kept)
			?: op_hash_reserve(&work->set_index, work->nr_sets + 1);
	uint64_t hash = hash_labels(work->set_index.seed, &kept);

	if (!err)
		op_hash_each(&work->set_index, hash, number)
			if (are_labels_equal(&work->sets[number - 1].labels,
					     &kept))
				break;
	if (!err && !number) {
		err = add_set(work, &kept, hash);
		number = (uint32_t)work->nr_sets;
	}
	op_labels_release(&kept);
	*set = number - 1;
	return err;
}

void merge_sets_release(struct merge_work *work)
{
	for (size_t i = 0; i < work->nr_sets; i++)
		op_labels_release(&work->sets[i].labels);
	op_hash_release(&work->set_index);
}
