// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A name is what stands behind the last two spaces of a line: columns are two
 * apart, and names have single ones. It is looked at as brackets in brackets.
 * "operator<", "operator<<", "operator->" and the like are no brackets; where
 * brackets do not match, as in names of other languages, none is folded.
 *
 * All folding makes a line shorter, so it is done in place. Columns are counted
 * as characters of UTF-8; a byte that is none counts as one.
 */

#include "libpp/format/text/text_fit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

#define DOTS "..."
#define NR_DOTS 3
#define FOLDED "(...)" /* parameters of a name that is folded */
#define OPERATOR "operator"

/* ---- columns ---------------------------------------------------------------
 */

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t count_columns(const char *text, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += begins_character(text[i]);
	return nr;
}

size_t pp_fit_text(const char *text, size_t columns)
{
	size_t len = 0;

	for (; text[len]; len++)
		if (begins_character(text[len]) && !columns--)
			break;
	return len;
}

/* ---- brackets --------------------------------------------------------------
 */

/* How many bytes at @i are the sign of an operator, if "operator" is before. */
static size_t operator_len(const char *name, size_t len, size_t i)
{
	const size_t word = sizeof(OPERATOR) - 1;
	size_t end = i;

	if (i < word || memcmp(name + i - word, OPERATOR, word) != 0)
		return 0;
	while (end < len && strchr("<>=-()[]", name[end]) && end - i < 3)
		end++;
	/* "operator<<int>" is operator< of int. */
	if (end - i == 2 && name[i] == '<' && name[i + 1] == '<' && end < len &&
	    !strchr("(< ", name[end]))
		end--;
	/* "operator<(" and "operator()(" leave the parameters. */
	while (end - i > 1 && name[end - 1] == '(')
		end--;
	return end - i;
}

/* The change of depth at @i, of brackets that begin with @open. */
static int change_of_depth(const char *name, size_t i, char open)
{
	char close = open == '<' ? '>' : ')';

	if (name[i] == open)
		return 1;
	if (name[i] != close || (close == '>' && i && name[i - 1] == '-'))
		return 0;
	return -1;
}

/* How deep brackets stand in each other; 0 if there are none or they do not
 * match. */
static size_t depth_of(const char *name, size_t len, char open)
{
	size_t depth = 0, deepest = 0;

	for (size_t i = 0; i < len; i++) {
		int change = change_of_depth(name, i, open);
		size_t skipped = operator_len(name, len, i);

		if (skipped) {
			i += skipped - 1;
			continue;
		}
		if (change < 0 && !depth)
			return 0;
		depth = change < 0 ? depth - 1 : depth + (size_t)change;
		if (depth > deepest)
			deepest = depth;
	}
	return depth ? 0 : deepest;
}

/* Put dots for what is in brackets at @wanted, the depth of the innermost. */
static size_t fold_brackets(char *name, size_t len, char open, size_t wanted)
{
	size_t to = 0, depth = 0, start = 0;

	for (size_t i = 0; i < len; i++) {
		size_t skipped = operator_len(name, len, i);
		int change = skipped ? 0 : change_of_depth(name, i, open);

		if (change > 0 && ++depth == wanted)
			start = to + 1;
		if (change < 0 && depth-- == wanted && to - start > NR_DOTS) {
			memcpy(name + start, DOTS, NR_DOTS);
			to = start + NR_DOTS;
		}
		if (skipped) {
			memmove(name + to, name + i, skipped);
			to += skipped;
			i += skipped - 1;
		} else {
			name[to++] = name[i];
		}
	}
	return to;
}

/* Fold from the innermost out, until it has @width columns. */
static size_t fold_to_width(char *name, size_t len, char open, size_t width)
{
	size_t depth = depth_of(name, len, open);

	for (; depth && count_columns(name, len) > width; depth--)
		len = fold_brackets(name, len, open, depth);
	return len;
}

/* ---- lines -----------------------------------------------------------------
 */

/* The "::" before the last part of a name, which is the method with its
 * parameters; 0 for a name of one part. */
static size_t find_method(const char *name, size_t len)
{
	size_t depth = 0, found = 0;

	for (size_t i = 0; i < len; i++) {
		size_t skipped = operator_len(name, len, i);

		if (skipped) {
			i += skipped - 1;
			continue;
		}
		depth += name[i] == '<' || name[i] == '(';
		depth -= (name[i] == '>' || name[i] == ')') && depth &&
			 !(i && name[i - 1] == '-');
		if (!depth && i + 2 < len && name[i] == ':' &&
		    name[i + 1] == ':')
			found = i++;
	}
	return found;
}

static bool ends_with_folded(const char *name, size_t len)
{
	const size_t folded = sizeof(FOLDED) - 1;

	return len > folded && !memcmp(name + len - folded, FOLDED, folded);
}

/* Leave out the middle of @name, so that it has @width columns. The method
 * stays whole if it fits: without it, all functions of a class look alike. */
static size_t cut_middle(char *name, size_t len, size_t width)
{
	size_t method = find_method(name, len), keep = width - NR_DOTS;
	size_t columns = count_columns(name + method, len - method);
	size_t end = keep / 2, head = 0, tail;

	if (columns > keep && ends_with_folded(name, len)) {
		len -= sizeof(FOLDED) - 1;
		columns -= sizeof(FOLDED) - 1;
	}
	if (method && columns <= keep && columns > end) {
		end = columns;
	} else if (method && columns > keep) {
		len -= method + 2;
		memmove(name, name + method + 2, len);
	}
	if (count_columns(name, len) <= width)
		return len;
	tail = len;
	for (size_t left = keep - end; left; head++)
		left -= begins_character(name[head + 1]);
	for (size_t left = end; left && tail > head;)
		left -= begins_character(name[--tail]);
	if (tail <= head + NR_DOTS)
		return len;
	memcpy(name + head, DOTS, NR_DOTS);
	memmove(name + head + NR_DOTS, name + tail, len - tail);
	return head + NR_DOTS + len - tail;
}

size_t pp_fit_line(char *line, size_t len, size_t width)
{
	size_t begin = len, columns, room;
	char *name;

	while (begin >= 2 &&
	       !(line[begin - 1] == ' ' && line[begin - 2] == ' '))
		begin--;
	if (begin < 2)
		begin = 0;
	columns = count_columns(line, begin);
	room = width > columns + PP_FIT_NAME_MIN ? width - columns
						 : PP_FIT_NAME_MIN;
	name = line + begin;
	len -= begin;
	if (count_columns(name, len) > room)
		len = fold_to_width(name, len, '<', room);
	if (count_columns(name, len) > room)
		len = fold_to_width(name, len, '(', room);
	if (count_columns(name, len) > room)
		len = cut_middle(name, len, room);
	return begin + len;
}

/* ---- streams ---------------------------------------------------------------
 */

struct fit {
	FILE *out;
	size_t width;
	char *line; /* so far, an op_array */
	size_t len;
};

static int write_line(struct fit *fit, bool ends)
{
	size_t len = pp_fit_line(fit->line, fit->len, fit->width);

	fit->len = 0;
	if (fwrite(fit->line, 1, len, fit->out) != len ||
	    (ends && putc('\n', fit->out) == EOF))
		return -EIO;
	return 0;
}

static ssize_t fit_write(void *cookie, const char *buf, size_t size)
{
	struct fit *fit = cookie;

	for (size_t at = 0; at < size;) {
		const char *end = memchr(buf + at, '\n', size - at);
		size_t len = end ? (size_t)(end - buf) - at : size - at;

		if (op_array_reserve(&fit->line, fit->len, len + 1)) {
			errno = ENOMEM;
			return 0;
		}
		memcpy(fit->line + fit->len, buf + at, len);
		fit->len += len;
		at += len + (end != NULL);
		if (end && write_line(fit, true)) {
			errno = EIO;
			return 0;
		}
	}
	return (ssize_t)size;
}

static int fit_close(void *cookie)
{
	struct fit *fit = cookie;
	int err = fit->len ? write_line(fit, false) : 0;

	free(fit->line);
	free(fit);
	if (err)
		errno = -err;
	return err ? EOF : 0;
}

FILE *pp_fit_open(FILE *out, size_t width)
{
	const cookie_io_functions_t functions = { .write = fit_write,
						  .close = fit_close };
	struct fit *fit = calloc(1, sizeof(*fit));
	FILE *file;

	if (!fit)
		return NULL;
	fit->out = out;
	fit->width = width;
	file = fopencookie(fit, "w", functions);
	if (!file)
		free(fit);
	return file;
}
