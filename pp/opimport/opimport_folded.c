// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The frame at the root is the application where there is another, as perf's
 * scripts and our own format have it; a stack of one frame is a function called
 * like its application.
 *
 * Counts of seconds have fractions. Samples have none, so all counts are taken
 * times the power of ten that makes the finest of them whole.
 */

#include "pp/opimport/opimport_folded.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_plural.h"

#define BLANKS " \t\r"
#define DIGITS_MAX 9 /* of a fraction; those behind are rounded */

struct folded {
	struct opimport_profile *profile;
	const char *path;
	struct op_diag *diag;
	unsigned long line;
	unsigned long nr_stacks;
	unsigned long nr_pairs; /* of them, those that end with two numbers */
	unsigned long nr_odd, first_odd; /* lines that are no stack */
	double scale; /* samples for a count of 1 */
	struct opimport_frame *frames; /* outermost first */
	size_t nr;
};

__attribute__((format(printf, 2, 3))) static int
fail_line(const struct folded *f, const char *fmt, ...)
{
	char why[OP_DIAG_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return op_diag_set(f->diag, -EBADMSG, "%s:%lu: %s", f->path, f->line,
			   why);
}

/* Where the last word of @line begins, which has *@len bytes; these are without
 * the blanks at its end from now on. */
static size_t find_last_word(const char *line, size_t *len)
{
	size_t at;

	while (*len && strchr(BLANKS, line[*len - 1]))
		(*len)--;
	for (at = *len; at && !strchr(BLANKS, line[at - 1]); at--)
		;
	return at;
}

/* The last word of @line, which ends before it from now on; NULL if there is
 * nothing else. */
static char *cut_last_word(char *line)
{
	size_t len = strlen(line);
	size_t at = find_last_word(line, &len);

	line[len] = '\0';
	if (!at)
		return NULL;
	line[at - 1] = '\0';
	return line + at;
}

/* A number without a sign, times @scale. */
static bool read_count(const char *word, double scale, uint64_t *count)
{
	char *end;
	double value;

	if (*word == '-' || strspn(word, "0123456789.eE+-") != strlen(word) ||
	    strspn(word, "0123456789") == 0)
		return false;
	errno = 0;
	*count = strtoull(word, &end, 10);
	if (!*end && scale == 1)
		return !errno;
	value = strtod(word, &end) * scale;
	if (*end || !(value < 0x1p63))
		return false;
	*count = (uint64_t)(value + 0.5);
	return true;
}

/* Comments are lines such as "# mode: wall" of Austin. */
static bool is_comment(const char *line, size_t len)
{
	return len && *line == '#' && (len == 1 || strchr(BLANKS, line[1]));
}

/* Returns how many digits the number @word has after the point, its exponent
 * counted. */
static int digits_of_fraction(const char *word)
{
	size_t whole = strspn(word, "0123456789");
	size_t digits =
		word[whole] == '.' ? strspn(word + whole + 1, "0123456789") : 0;
	const char *end = word + whole + (digits ? digits + 1 : 0);
	long exponent =
		*end == 'e' || *end == 'E' ? strtol(end + 1, NULL, 10) : 0;

	while (digits && word[whole + digits] == '0')
		digits--;
	if (exponent > 0)
		return (long)digits > exponent
			       ? (int)(digits - (size_t)exponent)
			       : 0;
	if (digits > DIGITS_MAX || exponent < -DIGITS_MAX)
		return DIGITS_MAX;
	return (int)digits - (int)exponent;
}

/* The same of the last word of @line, of @len bytes; 0 where it is no count. */
static int digits_of_count(const char *line, size_t len)
{
	size_t at = find_last_word(line, &len);
	char word[64];
	uint64_t count;

	len -= at;
	if (len >= sizeof(word))
		return 0;
	memcpy(word, line + at, len);
	word[len] = '\0';
	return strpbrk(word, ".eE") && read_count(word, 1, &count)
		       ? digits_of_fraction(word)
		       : 0;
}

/* The power of ten that the counts in @text of @len bytes need. */
static double scale_of(const char *text, size_t len)
{
	const char *end = text + len, *line_end;
	int most = 0;
	double scale = 1;

	for (const char *line = text; line < end; line = line_end + 1) {
		size_t line_len;
		int digits;

		line_end = memchr(line, '\n', (size_t)(end - line)) ?: end;
		line_len = (size_t)(line_end - line);
		if (is_comment(line, line_len))
			continue;
		digits = digits_of_count(line, line_len);
		if (digits > most)
			most = digits;
	}
	for (int i = 0; i < most && i < DIGITS_MAX; i++)
		scale *= 10;
	return scale;
}

static bool ends_with_count(const char *stack)
{
	const char *blank = strrchr(stack, ' ');
	uint64_t count;

	return blank && read_count(blank + 1, 1, &count);
}

static int add_folded_function(struct folded *f, uint32_t app, const char *name)
{
	const struct op_code_function function = { .name = name, .size = 1 };

	if (op_array_reserve(&f->frames, f->nr, 1))
		return -ENOMEM;
	f->frames[f->nr++] =
		opimport_profile_function(f->profile, app, &function);
	return 0;
}

static int add_folded_stack(struct folded *f, char *text, uint64_t count)
{
	struct opimport_stack stack = { .times = count };
	char *rest = text, *name = strsep(&rest, ";");
	int err = 0;

	stack.app = opimport_profile_image(f->profile, name);
	f->nr = 0;
	while (!err && (name = strsep(&rest, ";")))
		if (*name)
			err = add_folded_function(f, stack.app, name);
	if (!err && !f->nr)
		err = add_folded_function(f, stack.app, text);
	if (err)
		return err;
	/* The text has the outermost frame first, a stack has it last. */
	for (size_t i = 0; i < f->nr / 2; i++) {
		struct opimport_frame other = f->frames[i];

		f->frames[i] = f->frames[f->nr - 1 - i];
		f->frames[f->nr - 1 - i] = other;
	}
	stack.frames = f->frames;
	stack.nr = f->nr;
	opimport_profile_stack(f->profile, &stack);
	return opimport_profile_error(f->profile);
}

static int add_line(struct folded *f, char *line)
{
	char *word;
	uint64_t count;

	if (is_comment(line, strlen(line)))
		return 0;
	word = cut_last_word(line);
	if (!line[strspn(line, BLANKS)])
		return 0;
	if (!word || !read_count(word, f->scale, &count)) {
		if (!f->nr_odd++)
			f->first_odd = f->line;
		return 0;
	}
	f->nr_stacks++;
	f->nr_pairs += ends_with_count(line);
	return add_folded_stack(f, line + strspn(line, BLANKS), count);
}

int opimport_folded(struct opimport_profile *profile, const char *path,
		    char *text, size_t len, struct op_diag *diag)
{
	struct folded f = { .profile = profile, .path = path, .diag = diag };
	char *rest = text;
	int err = 0;

	opimport_profile_event(profile, "samples", 1);
	f.scale = scale_of(text, len);
	while (!err && rest) {
		f.line++;
		err = add_line(&f, strsep(&rest, "\n"));
	}
	free(f.frames);
	if (err)
		return err;
	/* A text is of another format if most of its lines are no stacks. */
	if (f.nr_odd && f.nr_odd >= f.nr_stacks) {
		f.line = f.first_odd;
		return fail_line(
			&f,
			"no count after the stack; a line of folded stacks is FUNCTION;...;FUNCTION COUNT");
	}
	if (!f.nr_stacks)
		return op_diag_set(diag, -EBADMSG,
				   "%s: has no stacks; " OPIMPORT_CURE, path);
	if (f.nr_pairs == f.nr_stacks)
		return op_diag_set(
			diag, -EBADMSG,
			"%s: each stack has two counts: it is a comparison; import the two profiles that it compares",
			path);
	/* The samples of a line without a count are unknown: one is lost. */
	if (f.nr_odd) {
		fprintf(stderr,
			"opimport: warning: %s:%lu: no count after the stack; %lu such line%s left out, each a lost sample in the account\n",
			path, f.first_odd, f.nr_odd, op_plural(f.nr_odd));
		opimport_profile_lose(profile, f.nr_odd, "lost_no_count");
	}
	if (f.scale > 1)
		fprintf(stderr,
			"opimport: %s: its counts have fractions: a count of 1 is %.0f samples\n",
			path, f.scale);
	return 0;
}
