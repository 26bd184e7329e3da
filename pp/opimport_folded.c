// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The frame at the root is the application where there is another, as perf's
 * scripts and our own format have it; a stack of one frame is a function called
 * like its application.
 */

#include "pp/opimport_folded.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_array.h"

#define BLANKS " \t\r"

struct folded {
	struct opimport_profile *profile;
	const char *path;
	struct op_diag *diag;
	unsigned long line;
	unsigned long nr_stacks;
	unsigned long nr_pairs; /* of them, those that end with two numbers */
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

/* The last word of @line, which ends before it from now on; NULL if there is
 * nothing else. */
static char *cut_last_word(char *line)
{
	size_t len = strlen(line);
	char *at;

	while (len && strchr(BLANKS, line[len - 1]))
		line[--len] = '\0';
	at = line + len;
	while (at > line && !strchr(BLANKS, at[-1]))
		at--;
	if (at == line)
		return NULL;
	at[-1] = '\0';
	return at;
}

/* A number without a sign, rounded to a whole one. */
static bool read_count(const char *word, uint64_t *count)
{
	char *end;
	double value;

	if (strspn(word, "0123456789.eE+") != strlen(word) ||
	    strspn(word, "0123456789") == 0)
		return false;
	errno = 0;
	*count = strtoull(word, &end, 10);
	if (!*end)
		return !errno;
	value = strtod(word, &end);
	if (*end || !(value < 0x1p63))
		return false;
	*count = (uint64_t)(value + 0.5);
	return true;
}

static bool ends_with_count(const char *stack)
{
	const char *blank = strrchr(stack, ' ');
	uint64_t count;

	return blank && read_count(blank + 1, &count);
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

/* Frames were added outermost first. */
static void turn_round(struct folded *f)
{
	for (size_t i = 0; i < f->nr / 2; i++) {
		struct opimport_frame other = f->frames[i];

		f->frames[i] = f->frames[f->nr - 1 - i];
		f->frames[f->nr - 1 - i] = other;
	}
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
	turn_round(f);
	stack.frames = f->frames;
	stack.nr = f->nr;
	opimport_profile_stack(f->profile, &stack);
	return opimport_profile_error(f->profile);
}

static int add_line(struct folded *f, char *line)
{
	char *word = cut_last_word(line);
	uint64_t count;

	if (!line[strspn(line, BLANKS)])
		return 0;
	if (!word || !read_count(word, &count))
		return fail_line(
			f,
			"no count behind the stack; a line of folded stacks is FUNCTION;...;FUNCTION COUNT");
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
	if (memchr(text, '\0', len))
		err = op_diag_set(
			diag, -EBADMSG,
			"%s: has a zero byte, which no text has; " OPIMPORT_CURE,
			path);
	while (!err && rest) {
		f.line++;
		err = add_line(&f, strsep(&rest, "\n"));
	}
	free(f.frames);
	if (!err && !f.nr_stacks)
		return op_diag_set(diag, -EBADMSG,
				   "%s: has no stacks; " OPIMPORT_CURE, path);
	if (!err && f.nr_pairs == f.nr_stacks)
		return op_diag_set(
			diag, -EBADMSG,
			"%s: each stack has two counts: it is a comparison; import the two profiles that it compares",
			path);
	return err;
}
