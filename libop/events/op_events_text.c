// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lines of a file below events/. The file is checked to be UTF-8 without
 * control characters when it is opened, since its texts are printed as they
 * are. Then it is cut in place: lines and words are ended by zero bytes and
 * point into the one text.
 */

#include "libop/events/op_events_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libop/files/op_file.h"

#define MAX_BYTES (4u << 20)

int op_events_text_error(const struct op_events_text *text, const char *fmt,
			 ...)
{
	char what[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return op_diag_set(text->diag, -EINVAL, "%s:%u: %s", text->path,
			   text->number, what);
}

/* Bytes of the UTF-8 character at @s; 0 if there is none that may stand. */
static size_t text_character_len(const unsigned char *s)
{
	size_t len = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	if (len == 1)
		return *s >= ' ' ? *s != 0x7f : *s == '\t' || *s == '\n';
	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Twice encoded, a surrogate, beyond Unicode, or C1 controls. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f) ||
	    (*s == 0xc2 && s[1] < 0xa0))
		return 0;
	return len;
}

static int check_characters(struct op_events_text *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text->text;
	const unsigned char *end = s + len;

	text->number = 1;
	while (s < end) {
		size_t step = text_character_len(s);

		if (!step)
			return op_events_text_error(text,
						    "byte 0x%02x: not UTF-8 "
						    "or a control character",
						    *s);
		text->number += *s == '\n';
		s += step;
	}
	return 0;
}

bool op_cpu_name_is_valid(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && slash > name && slash[1] && slash[1] != '.' &&
	       name[0] != '.' && !strchr(slash + 1, '/') && strlen(name) < 64;
}

int op_events_text_open(struct op_events_text *text, const char *dir,
			const char *cpu, const char *file, struct op_diag *diag)
{
	size_t len;
	int err;

	memset(text, 0, offsetof(struct op_events_text, path));
	text->diag = diag;
	err = snprintf(text->path, sizeof(text->path), "%s/%s/%s", dir, cpu,
		       file);
	if (err >= (int)sizeof(text->path))
		return op_diag_set(diag, -ENAMETOOLONG, "%s: too long", dir);
	err = op_file_read(text->path, MAX_BYTES, &text->text, &len, diag);
	if (err)
		return op_diag_set(diag, err, "%s: %s", text->path,
				   strerror(-err));
	err = check_characters(text, len);
	text->next = text->text;
	text->number = 0;
	return err;
}

static void trim_end(char *line)
{
	size_t len;

	line[strcspn(line, "#")] = '\0';
	len = strlen(line);
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		line[--len] = '\0';
}

bool op_events_text_next(struct op_events_text *text)
{
	while (*text->next) {
		text->line = text->next;
		text->next += strcspn(text->next, "\n");
		if (*text->next)
			*text->next++ = '\0';
		text->number++;
		trim_end(text->line);
		if (*text->line)
			return true;
	}
	return false;
}

char *op_events_word(char **at)
{
	char *word = *at + strspn(*at, " \t");

	if (!*word)
		return NULL;
	*at = word + strcspn(word, " \t");
	if (**at)
		*(*at)++ = '\0';
	*at += strspn(*at, " \t");
	return word;
}
