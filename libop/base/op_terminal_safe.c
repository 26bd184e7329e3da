// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output comes in pieces that may end anywhere, also within what has to be seen
 * as a whole. So a byte that begins such a sequence is held back, with what
 * follows it, until it is known what it is: a sequence that may pass is
 * written, and of others the first byte is replaced and the rest looked at
 * again.
 */

#include "libop/base/op_terminal_safe.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_utf8.h"

#define MAX_HELD 8

/* Sequences that may pass although they begin with a control character. The
 * colours are those of opannotate. */
static const char *const passing[] = {
	"\n",	   "\t",      "\f",	  "\r\n",     "\033[m",
	"\033[1m", "\033[4m", "\033[32m", "\033[33m", "\033[1;31m",
};

struct plain {
	FILE *out;
	char held[MAX_HELD];
	size_t nr_held;
};

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

/* Characters beyond ASCII that are not to be seen, by their first bytes and the
 * range of the last. */
static const struct hidden {
	const char *first;
	unsigned char from, to; /* of the last byte */
} hidden[] = {
	{ "\xc2", 0x80, 0x9f }, /* C1 of ECMA-48 */
	{ "\xd8", 0x9c, 0x9c }, /* U+061C turns the direction of text around */
	{ "\xe2\x80", 0x8e, 0x8f }, /* so do U+200E and U+200F */
	{ "\xe2\x80", 0xa8, 0xae }, /* U+2028, U+2029 end lines; directions */
	{ "\xe2\x81", 0xa6, 0xa9 }, /* directions, U+2066 to U+2069 */
};

#define NR_HIDDEN (sizeof(hidden) / sizeof(hidden[0]))
#define HIDDEN_MAX 3 /* bytes */

/* How many of the @nr bytes at @text are such a character; 0: they begin with
 * none. */
static size_t hidden_len(const char *text, size_t nr)
{
	for (size_t i = 0; i < NR_HIDDEN; i++) {
		size_t len = strlen(hidden[i].first);

		if (nr > len && !memcmp(text, hidden[i].first, len) &&
		    (unsigned char)text[len] >= hidden[i].from &&
		    (unsigned char)text[len] <= hidden[i].to)
			return len + 1;
	}
	return 0;
}

/* A byte that a terminal of eight bits takes for a control character of
 * ECMA-48, and that is no part of a character of UTF-8. */
static bool is_lone_control(unsigned char c)
{
	return c >= 0x80 && c < 0xa0;
}

void op_terminal_safe(char *text)
{
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t len =
			c < 0x80 ? is_control(c)
				 : hidden_len(text, strnlen(text, HIDDEN_MAX));
		size_t nr = c < 0x80 ? 1 : op_utf8_len(text);

		if (!nr)
			len = is_lone_control(c);
		memset(text, '?', len);
		text += len ?: nr ?: 1;
	}
}

/* ---- the stream ---------------------------------------------------------- */

/* The decisions about the bytes that are held. */
enum meaning { PASSES, MAY_PASS, IS_NONE };

/* The first bytes of a character that is not ASCII. */
static enum meaning meaning_of_utf8(const struct plain *p)
{
	unsigned char first = (unsigned char)p->held[0];
	size_t wanted = first < 0xc0   ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
				       : 4;

	if ((p->held[p->nr_held - 1] & 0xc0) != (p->nr_held > 1 ? 0x80 : 0xc0))
		return IS_NONE;
	if (p->nr_held < wanted)
		return MAY_PASS;
	return op_utf8_len(p->held) && !hidden_len(p->held, p->nr_held)
		       ? PASSES
		       : IS_NONE;
}

static enum meaning meaning_of(const struct plain *p)
{
	if (p->held[0] & 0x80)
		return meaning_of_utf8(p);
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (!strncmp(passing[i], p->held, p->nr_held))
			return passing[i][p->nr_held] ? MAY_PASS : PASSES;
	return IS_NONE;
}

static bool begins_something(char c)
{
	return is_control((unsigned char)c) || c & 0x80;
}

static void take_byte(struct plain *p, char c);

/* Write what the held bytes come to when they are no sequence that may pass, or
 * are the last ones. */
static void end_held(struct plain *p)
{
	char held[MAX_HELD];
	size_t nr = p->nr_held, len = 1;

	memcpy(held, p->held, nr);
	p->nr_held = 0;
	if (held[0] & 0x80)
		len = hidden_len(held, nr)
			      ?: is_lone_control((unsigned char)held[0]);
	for (size_t i = 0; i < len; i++)
		fputc('?', p->out);
	if (!len)
		fputc(held[0], p->out); /* of another character */
	for (size_t i = len + !len; i < nr; i++)
		take_byte(p, held[i]);
}

static void take_byte(struct plain *p, char c)
{
	if (!p->nr_held && !begins_something(c)) {
		fputc(c, p->out);
		return;
	}
	p->held[p->nr_held++] = c;
	switch (meaning_of(p)) {
	case PASSES:
		fwrite(p->held, 1, p->nr_held, p->out);
		p->nr_held = 0;
		break;
	case MAY_PASS:
		break;
	default:
		end_held(p);
	}
}

/* Whether one of eight bytes begins something, by arithmetic on all at once;
 * rarely also where none does. */
static bool may_begin_something(const char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word, found;

	memcpy(&word, bytes, sizeof(word));
	found = (word - ones * 0x20) | word; /* below 0x20, or not ASCII */
	word ^= ones * 0x7f;
	found |= (word - ones) & ~word;
	return found & ones << 7;
}

/* How many bytes at the start of @buf pass as they are: nearly all. */
static size_t plain_len(const char *buf, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t end = at + 8 < len ? at + 8 : len;

		if (end == at + 8 && !may_begin_something(buf + at)) {
			at = end;
			continue;
		}
		for (; at < end; at++)
			if (begins_something(buf[at]) && buf[at] != '\n')
				return at;
	}
	return len;
}

static ssize_t plain_write(void *cookie, const char *buf, size_t len)
{
	struct plain *p = cookie;
	size_t at = 0;

	while (at < len) {
		size_t nr = p->nr_held ? 0 : plain_len(buf + at, len - at);

		fwrite(buf + at, 1, nr, p->out);
		at += nr;
		if (at < len)
			take_byte(p, buf[at++]);
	}
	return ferror(p->out) ? 0 : (ssize_t)len;
}

static int plain_close(void *cookie)
{
	struct plain *p = cookie;
	int err;

	while (p->nr_held)
		end_held(p);
	err = ferror(p->out) ? EOF : 0;
	free(p);
	return err;
}

FILE *op_terminal_safe_open(FILE *out)
{
	static const cookie_io_functions_t functions = { .write = plain_write,
							 .close = plain_close };
	struct plain *p = calloc(1, sizeof(*p));
	FILE *plain = p ? fopencookie(p, "w", functions) : NULL;

	if (!plain) {
		free(p);
		return NULL;
	}
	p->out = out;
	return plain;
}
