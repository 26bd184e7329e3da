// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table FIELDS has the fields behind the name, in the order of the text.
 * Printing and parsing both go through the table, so neither can know a field
 * that the other does not.
 */

#include "libop/events/op_counter_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libop/files/op_config.h"

#define SPEC_MAX 512 /* bytes of one event */
#define NR_FIELDS 7
#define NR_NEEDED 6 /* the last may be absent */

/* X(member of struct op_counter_event, name for people, format, the most) */
#define FIELDS(X)                                                              \
	X(value, "value", "%" PRIu64, UINT64_MAX)                              \
	X(counter, "counter", "%" PRIu64, UINT64_MAX)                          \
	X(count, "count", "%" PRIu64, UINT64_MAX)                              \
	X(um, "unit mask", "%" PRIu64, UINT64_MAX)                             \
	X(kernel, "kernel", "%" PRIu64, 1)                                     \
	X(user, "user", "%" PRIu64, 1)                                         \
	X(config, "config", "0x%" PRIx64, UINT64_MAX)

void op_counter_event_print(FILE *out, const struct op_counter_event *event)
{
	fputs(event->name, out);
#define X(member, name, format, most) fprintf(out, ":" format, event->member);
	FIELDS(X)
#undef X
}

/* Parse one field; @text is NULL if it is absent. */
static int parse_counter_field(uint64_t *number, const char *text,
			       const char *event, const char *field,
			       uint64_t most, struct op_diag *diag)
{
	if (!text)
		return 0;
	if (op_parse_u64(text, number))
		return op_diag_set(diag, -EINVAL,
				   "event %s: %s '%s' is not a number", event,
				   field, text);
	if (*number > most)
		return op_diag_set(diag, -EINVAL,
				   "event %s: %s is 0 or 1, not %" PRIu64,
				   event, field, *number);
	return 0;
}

int op_counter_event_parse(struct op_counter_event *event, const char **text,
			   struct op_diag *diag)
{
	const char *start = *text;
	size_t len = strcspn(start, ","), colons = 0;
	char spec[SPEC_MAX], *rest = spec;
	int err = 0;

	*text += len + (start[len] == ',');
	if (len >= sizeof(spec))
		return op_diag_set(diag, -EINVAL, "event '%.32s...': too long",
				   start);
	memcpy(spec, start, len);
	spec[len] = '\0';
	for (size_t i = 0; i < len; i++)
		colons += spec[i] == ':';
	if (colons < NR_NEEDED || colons > NR_FIELDS)
		return op_diag_set(
			diag, -EINVAL,
			"event '%s': the form is name:value:counter:count:um:kernel:user[:config]",
			spec);
	strsep(&rest, ":");
	*event = (struct op_counter_event){ .name = "" };
	if (strlen(spec) < sizeof(event->name))
		memcpy(event->name, spec, strlen(spec) + 1);
#define X(member, name, format, most)                                          \
	err = err                                                              \
		      ?: parse_counter_field(&event->member,                   \
					     strsep(&rest, ":"), spec, name,   \
					     most, diag);
	FIELDS(X)
#undef X
	return err;
}
