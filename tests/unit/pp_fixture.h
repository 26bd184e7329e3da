/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_FIXTURE_H
#define TESTS_UNIT_PP_FIXTURE_H

/*
 * What the tests of libpp share. Each is a table whose rows hold an input and
 * the text that comes of it; a failure shows both texts and the row.
 */

#include "op_fixture.h"

#include "libop/base/op_arena.h"
#include "libpp/messages.h"
#include "tests/helper/report_facts.h"
#include "tests/unit/expect.h"

#define NR(table) (sizeof(table) / sizeof((table)[0]))

/* Rounds of a test that goes on as long as it is let: @most with TIER=all. */
static inline unsigned int rounds_of(unsigned int usual, unsigned int most)
{
	const char *tier = getenv("TIER");

	return tier && !strcmp(tier, "all") ? most : usual;
}

/* Text that is put together piece by piece. */
struct text {
	char *all;
	size_t len;
	FILE *out;
};

static inline FILE *text_begin(struct text *t)
{
	t->out = open_memstream(&t->all, &t->len);
	assert_non_null(t->out);
	return t->out;
}

/* The text must be @wanted, which has the facts of a report without the words
 * of its head (report_facts.h); @row says which row of the table it is of. */
static inline void text_must_be(struct text *t, const char *row,
				const char *wanted)
{
	char *facts;

	assert_int_equal(fclose(t->out), 0);
	facts = report_facts(t->all);
	expect_text(facts, wanted, row);
	free(facts);
	free(t->all);
}

/* Write @text, with '$' for the folder @folder; @text is freed. */
static inline void write_without(FILE *out, char *text, const char *folder)
{
	const char *at = text, *next;

	for (; (next = strstr(at, folder)); at = next + strlen(folder))
		fprintf(out, "%.*s$", (int)(next - at), at);
	fputs(at, out);
	free(text);
}

/* As text_must_be(), with '$' for the folder @folder in the text. */
static inline void text_below_must_be(struct text *t, const char *folder,
				      const char *row, const char *wanted)
{
	struct text below;

	assert_int_equal(fclose(t->out), 0);
	write_without(text_begin(&below), t->all, folder);
	text_must_be(&below, row, wanted);
}

/* Call @run with each line of @script, which ends at a ';', without blanks in
 * front. */
static inline void run_script(const char *script,
			      void (*run)(const char *line, void *ctx),
			      void *ctx)
{
	char *copy = strdup(script), *save;

	for (char *line = strtok_r(copy, ";", &save); line;
	     line = strtok_r(NULL, ";", &save))
		run(line + strspn(line, " "), ctx);
	free(copy);
}

/* Split @line at blanks into @words, ended by NULL; @copy holds them. */
static inline const char *const *split_words(const char *line, char *copy,
					     const char **words, size_t room)
{
	size_t nr = 0;

	strcpy(copy, line);
	for (char *save, *word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		assert_true(nr + 1 < room);
		words[nr++] = word;
	}
	words[nr] = NULL;
	return words;
}

static inline void write_messages(FILE *out, const struct pp_messages *messages)
{
	static const char *const kinds[] = {
		[PP_WARNING] = "warning",
		[PP_REMARK_SFILE] = "sfile",
		[PP_REMARK_BFD] = "bfd",
		[PP_REMARK_STATS] = "stats",
	};

	for (size_t i = 0; i < messages->nr; i++)
		fprintf(out, "%s: %s\n", kinds[messages->list[i].kind],
			messages->list[i].text);
}

#endif /* TESTS_UNIT_PP_FIXTURE_H */
