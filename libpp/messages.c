// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Texts are cut at MESSAGE_MAX: they hold names out of files, and a name may
 * be as long as its writer liked.
 */

#include "libpp/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libop/base/op_terminal_safe.h"

#define MESSAGE_MAX 8192

static void append(struct pp_messages *messages, struct pp_message message)
{
	struct pp_message *list = op_arena_grow(messages->arena, messages->list,
						messages->nr, sizeof(*list));

	message.text = op_arena_strdup(messages->arena, message.text);
	if (!message.text || !list)
		return;
	messages->list = list;
	list[messages->nr++] = message;
}

__attribute__((format(printf, 4, 0))) static void
add_message(struct pp_messages *messages, enum pp_message_kind kind,
	    bool is_of_fault, const char *fmt, va_list ap)
{
	char text[MESSAGE_MAX];

	vsnprintf(text, sizeof(text), fmt, ap);
	op_terminal_safe(text);
	append(messages, (struct pp_message){ kind, text, is_of_fault });
	messages->nr_faults += is_of_fault;
}

void pp_message(struct pp_messages *messages, enum pp_message_kind kind,
		const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_message(messages, kind, false, fmt, ap);
	va_end(ap);
}

bool pp_is_fault(int err)
{
	switch (err) {
	case -EIO:
	case -EINTR:
	case -EMFILE:
	case -ENFILE:
	case -ENODEV:
	case -ENOMEM:
	case -ENXIO:
	case -EREMOTEIO:
	case -ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

void pp_message_of_error(struct pp_messages *messages, int err, const char *fmt,
			 ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_message(messages, PP_WARNING, pp_is_fault(err), fmt, ap);
	va_end(ap);
}

static bool has_text(const struct pp_messages *messages, const char *text)
{
	for (size_t i = 0; i < messages->nr; i++)
		if (!strcmp(messages->list[i].text, text))
			return true;
	return false;
}

void pp_take_faults(struct pp_messages *to, const struct pp_messages *from)
{
	for (size_t i = 0; i < from->nr; i++)
		if (from->list[i].is_of_fault &&
		    !has_text(to, from->list[i].text))
			append(to, from->list[i]);
	to->nr_faults += from->nr_faults;
}

void pp_repeat_messages(struct pp_messages *to, const struct pp_messages *from)
{
	for (size_t i = 0; i < from->nr; i++)
		append(to, from->list[i]);
	to->nr_faults += from->nr_faults;
}

int pp_check_complete(const struct pp_messages *messages, struct op_diag *diag)
{
	if (!messages->nr_faults)
		return 0;
	return op_diag_set(
		diag, -EIO,
		"the report is not complete: files that could not be read are left out (see the warnings); try again");
}
