// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Texts are cut at MESSAGE_MAX: they hold names out of files, and a name may
 * be as long as its writer liked.
 */

#include "libpp/messages.h"

#include <stdarg.h>
#include <stdio.h>

#define MESSAGE_MAX 8192

static void mask_control_characters(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void pp_message(struct pp_messages *messages, enum pp_message_kind kind,
		const char *fmt, ...)
{
	struct pp_message *list;
	char text[MESSAGE_MAX];
	const char *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	mask_control_characters(text);
	copy = op_arena_strdup(messages->arena, text);
	list = op_arena_grow(messages->arena, messages->list, messages->nr,
			     sizeof(*list));
	if (!copy || !list)
		return;
	messages->list = list;
	list[messages->nr++] = (struct pp_message){ kind, copy };
}
