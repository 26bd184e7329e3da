// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The braces of a profile specification, "{ OLD... } { NEW... }": sorts words
 * into those of the old profile, those of the later one, and those of both,
 * which stand outside. Where a word stands is one of five states in a row; a
 * brace leads to the next.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libpp/select/profile_spec.h"

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

/* A brace is right in two states and leads to the next one. */
static int take_brace(struct sorter *s, const char *brace, enum state first,
		      enum state second, struct op_diag *diag)
{
	char why[32];

	if (s->state == first || s->state == second) {
		s->state++;
		return 0;
	}
	snprintf(why, sizeof(why), "a '%s' is out of place", brace);
	return refuse_brace(why, diag);
}

static int sort_word(struct sorter *s, const char *word, struct op_diag *diag)
{
	int err = 0;
	bool opens = !strcmp(word, "{") || !strcmp(word, "{}");
	bool closes = !strcmp(word, "}") || !strcmp(word, "{}");

	if (opens)
		err = take_brace(s, "{", BEFORE, BETWEEN, diag);
	if (!err && closes)
		err = take_brace(s, "}", IN_OLD, IN_NEW, diag);
	if (opens || closes)
		return err;
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
		err = refuse_brace("the first braces are empty", diag);
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
