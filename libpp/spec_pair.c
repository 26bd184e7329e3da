// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The braces of a profile specification: sorts words into those of the old
 * profile, those of the later one, and those of both.
 */

#include <errno.h>
#include <string.h>

#include "libpp/profile_spec.h"

/* Where in a specification a word stands. */
enum state {
	BEFORE, /* in front of any brace */
	IN_OLD,
	BETWEEN,
	IN_NEW,
	AFTER,
};

struct sorter {
	struct op_arena *arena;
	enum state state;
	const char **words, **old;
	size_t nr_words, nr_old;
	size_t nr_own[2]; /* words in the first and in the second braces */
};

static int append_spec_word(struct op_arena *arena, const char ***list,
			    size_t *nr, const char *word)
{
	const char **grown = op_arena_grow(arena, *list, *nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[(*nr)++] = word;
	return 0;
}

static int refuse_brace(const char *why, struct op_diag *diag)
{
	return op_diag_set(diag, -EINVAL,
			   "%s; compare with \"{ OLD... } { NEW... }\"", why);
}

static int open_brace(struct sorter *s, struct op_diag *diag)
{
	if (s->state != BEFORE && s->state != BETWEEN)
		return refuse_brace("a '{' is out of place", diag);
	s->state++;
	return 0;
}

static int close_brace(struct sorter *s, struct op_diag *diag)
{
	if (s->state != IN_OLD && s->state != IN_NEW)
		return refuse_brace("a '}' is out of place", diag);
	s->state++;
	return 0;
}

static int sort_word(struct sorter *s, const char *word, struct op_diag *diag)
{
	int err = 0;

	if (!strcmp(word, "{"))
		return open_brace(s, diag);
	if (!strcmp(word, "}"))
		return close_brace(s, diag);
	if (!strcmp(word, "{}")) {
		err = open_brace(s, diag);
		return err ? err : close_brace(s, diag);
	}
	if (s->state == BETWEEN)
		return refuse_brace(
			"words between '}' and '{' belong to neither side",
			diag);
	s->nr_own[0] += s->state == IN_OLD;
	s->nr_own[1] += s->state == IN_NEW;
	if (s->state != IN_NEW)
		err = append_spec_word(s->arena, &s->old, &s->nr_old, word);
	if (!err && s->state != IN_OLD)
		err = append_spec_word(s->arena, &s->words, &s->nr_words, word);
	return err;
}

static int sort_words(struct sorter *s, const char *const *words,
		      struct op_diag *diag)
{
	int err = 0;

	for (; words && *words && !err; words++)
		err = sort_word(s, *words, diag);
	if (!err && s->state != BEFORE && s->state != AFTER)
		err = refuse_brace("a brace is missing", diag);
	if (!err && s->state == AFTER && !s->nr_own[0])
		err = refuse_brace("the first braces hold no word", diag);
	if (!err)
		err = append_spec_word(s->arena, &s->words, &s->nr_words, NULL);
	return err ? err
		   : append_spec_word(s->arena, &s->old, &s->nr_old, NULL);
}

int pp_spec_pair_init(struct pp_spec_pair *pair, const char *const *words,
		      struct op_diag *diag)
{
	struct op_arena arena;
	struct sorter s = { .arena = &arena };
	int err;

	*pair = (struct pp_spec_pair){ 0 };
	op_arena_init(&arena);
	err = sort_words(&s, words, diag);
	if (!err)
		err = pp_spec_init(&pair->spec, s.words, diag);
	pair->is_diff = s.state == AFTER;
	if (!err && pair->is_diff)
		err = pp_spec_init(&pair->old, s.old, diag);
	op_arena_release(&arena);
	return err == -ENOMEM ? op_diag_set(diag, err, "out of memory") : err;
}

void pp_spec_pair_release(struct pp_spec_pair *pair)
{
	pp_spec_release(&pair->spec);
	pp_spec_release(&pair->old);
}
