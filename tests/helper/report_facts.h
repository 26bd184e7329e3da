/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_HELPER_REPORT_FACTS_H
#define TESTS_HELPER_REPORT_FACTS_H

/*
 * A report without the words that all reports have in common, so that these
 * stand in one test (test_pp_account.c) and every other has the facts alone:
 *
 *	N taken = N stored + N lost (N no_mm) + N pending
 *	N = N + N (N no_mm) + N
 *
 *	Counted CYCLES events with a unit mask of 0x00 count 100
 *	Counted CYCLES 0x00 100
 *
 * Any other words in these places are left out as well. An account of stacks
 * stays as it is: a word of it is a cause.
 */

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_words {
	const char *pattern;
	const char *facts; /* the digits are groups of the pattern */
};

#define WORD " [a-z]+"

static const struct report_words report_words[] = {
	{ "([0-9]+)" WORD " = ([0-9]+)" WORD " \\+ ([0-9]+)" WORD
	  "( \\([^)]*\\))?(( \\+ [0-9]+)" WORD ")?",
	  "1 = 2 + 346" },
	{ "(Counted [^ ]+)(" WORD ")+ (0x[0-9a-f]+)" WORD " ([0-9]+)",
	  "1 3 4" },
};

/* Is the text before @at, in the same line and sentence, about stacks? */
static inline bool is_of_stacks(const char *text, const char *at)
{
	const char *start = at;

	while (start > text && !strchr("\n.;\"", start[-1]))
		start--;
	return memmem(start, (size_t)(at - start), "tacks", 5) != NULL;
}

static inline void write_facts_of(FILE *out, const struct report_words *words,
				  const char *text)
{
	const char *at = text;
	regmatch_t group[8];
	regex_t regex;

	if (regcomp(&regex, words->pattern, REG_EXTENDED))
		abort();
	while (!regexec(&regex, at, 8, group, 0)) {
		const char *found = at + group[0].rm_so;
		const char *end = at + group[0].rm_eo;

		fwrite(at, 1, (size_t)(found - at), out);
		if (is_of_stacks(text, found)) {
			fwrite(found, 1, (size_t)(end - found), out);
			at = end;
			continue;
		}
		for (const char *c = words->facts; *c; c++) {
			const regmatch_t *g = &group[(*c - '0') & 7];

			if (*c < '0' || *c > '9')
				fputc(*c, out);
			else if (g->rm_so >= 0)
				fwrite(at + g->rm_so, 1,
				       (size_t)(g->rm_eo - g->rm_so), out);
		}
		at = end;
	}
	fputs(at, out);
	regfree(&regex);
}

/* The facts of the report @text, to be freed. */
static inline char *report_facts(const char *text)
{
	char *facts = strdup(text);

	for (size_t i = 0; i < sizeof(report_words) / sizeof(*report_words);
	     i++) {
		char *before = facts;
		size_t len;
		FILE *out = open_memstream(&facts, &len);

		if (!out || !before)
			abort();
		write_facts_of(out, &report_words[i], before);
		if (fclose(out))
			abort();
		free(before);
	}
	return facts;
}

#endif /* TESTS_HELPER_REPORT_FACTS_H */
