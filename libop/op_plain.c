// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output comes in pieces that may end anywhere, also within what has to be seen
 * as a whole. So a byte that begins such a sequence is held back, with what
 * follows it, until it is known what it is: a sequence that may pass is
 * written, and of others the first byte is replaced and the rest looked at
 * again.
 */

#include "libop/op_plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HELD 8

/* What may pass although it begins with a control character. The colours are
 * those of opannotate. */
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

/* Whether the two bytes at @text are one of ECMA-48's. */
static bool is_c1(const char *text)
{
	return text[0] == '\xc2' && (unsigned char)text[1] >= 0x80 &&
	       (unsigned char)text[1] < 0xa0;
}

void op_plain_text(char *text)
{
	for (; *text; text++) {
		if (is_c1(text))
			*text++ = '?', *text = '?';
		else if (is_control((unsigned char)*text))
			*text = '?';
	}
}

/* ---- the stream ---------------------------------------------------------- */

/* What is known of the bytes that are held. */
enum meaning { PASSES, MAY_PASS, IS_NONE };

static enum meaning meaning_of(const struct plain *p)
{
	if (p->held[0] == '\xc2')
		return p->nr_held < 2 ? MAY_PASS : IS_NONE;
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (!strncmp(passing[i], p->held, p->nr_held))
			return passing[i][p->nr_held] ? MAY_PASS : PASSES;
	return IS_NONE;
}

static bool begins_something(char c)
{
	return is_control((unsigned char)c) || c == '\xc2';
}

static void take_byte(struct plain *p, char c);

/* Write what the held bytes come to when they are no sequence that may pass, or
 * are the last ones. */
static void end_held(struct plain *p)
{
	char held[MAX_HELD];
	size_t nr = p->nr_held, from = 1;

	memcpy(held, p->held, nr);
	p->nr_held = 0;
	if (held[0] != '\xc2') {
		fputc('?', p->out);
	} else if (nr > 1 && is_c1(held)) {
		fputs("??", p->out);
		from = 2;
	} else {
		fputc(held[0], p->out); /* of another character */
	}
	for (size_t i = from; i < nr; i++)
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

/* Whether one of eight bytes is a control character or 0xc2, by arithmetic on
 * all at once; rarely also where none is. */
static bool may_begin_something(const char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word, found;

	memcpy(&word, bytes, sizeof(word));
	found = (word - ones * 0x20) & ~word; /* below 0x20 */
	word ^= ones * 0x7f;
	found |= (word - ones) & ~word;
	word ^= ones * (0x7f ^ 0xc2);
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

FILE *op_plain_open(FILE *out)
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
