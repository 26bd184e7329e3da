// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All events, whether from --events or from the records of a stream, pass the
 * checks of opd_events_set(), because each event becomes part of a file name:
 * the characters of its name are restricted, and two counters may not have the
 * same name, count and unit mask, or they would share a sample file. --events
 * brings the numbers of each event with it, so that the daemon reads no event
 * files.
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/source/opd_events.h"
#include "libop/files/op_config.h"

#define NR_FIELDS 8
#define NR_NEEDED 7 /* the last may be absent */
#define SPEC_MAX 512 /* bytes of one event in --events */

static const char *const field_names[NR_FIELDS] = {
	"name",	     "value",  "counter", "count",
	"unit mask", "kernel", "user",	  "config",
};

void opd_events_timer(struct opd_events *events)
{
	memset(events, 0, sizeof(*events));
	events->counter[0] = (struct opd_event){
		.set = true,
		.name = "TIMER",
		.kernel = true,
		.user = true,
	};
	events->nr = 1;
}

bool opd_event_is_timer(const struct opd_event *event)
{
	return event->count == 0;
}

bool opd_events_sample_kernel(const struct opd_events *events)
{
	for (unsigned int i = 0; i < events->nr; i++)
		if (events->counter[i].set && events->counter[i].kernel)
			return true;
	return false;
}

/* A name becomes the first part of a sample file's last component. */
static bool name_ok(const char *name)
{
	if (!*name || strlen(name) >= OPD_EVENT_NAME_MAX)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
			return false;
	return true;
}

/* Two counters with the same event would share a sample file. */
static bool is_twin(const struct opd_event *a, const struct opd_event *b)
{
	return a->set && !strcmp(a->name, b->name) && a->count == b->count &&
	       a->um == b->um;
}

int opd_events_set(struct opd_events *events, uint64_t counter,
		   const struct opd_event *event, struct op_diag *diag)
{
	if (!name_ok(event->name))
		return op_diag_set(
			diag, -EINVAL,
			"event name '%s': only letters, digits, '_', '-' and '.' can be part of one",
			event->name);
	if (counter >= OP_MAX_COUNTERS)
		return op_diag_set(diag, -EINVAL,
				   "counter %" PRIu64
				   " of event %s: counters are 0 to %d",
				   counter, event->name, OP_MAX_COUNTERS - 1);
	if (event->value > UINT32_MAX || event->um > UINT32_MAX)
		return op_diag_set(
			diag, -EINVAL,
			"event %s: value and unit mask have 32 bits at most",
			event->name);
	for (unsigned int i = 0; i < events->nr; i++)
		if (i != counter && is_twin(&events->counter[i], event))
			return op_diag_set(diag, -EINVAL,
					   "event %s is given twice",
					   event->name);
	events->counter[counter] = *event;
	events->counter[counter].set = true;
	if (events->nr <= counter)
		events->nr = (unsigned int)counter + 1;
	return 0;
}

/* Cut @spec into its fields. Returns how many there are, up to one more. */
static unsigned int split(char *spec, char *fields[NR_FIELDS])
{
	unsigned int nr = 0;
	char *field;

	while ((field = strsep(&spec, ":"))) {
		if (nr == NR_FIELDS)
			return nr + 1;
		fields[nr++] = field;
	}
	return nr;
}

static int parse_flag(uint64_t value, const char *field, const char *name,
		      bool *flag, struct op_diag *diag)
{
	if (value > 1)
		return op_diag_set(diag, -EINVAL,
				   "event %s: %s is 0 or 1, not %" PRIu64, name,
				   field, value);
	*flag = value;
	return 0;
}

static int parse_numbers(char *fields[NR_FIELDS], uint64_t n[NR_FIELDS],
			 struct op_diag *diag)
{
	for (unsigned int i = 1; i < NR_FIELDS && fields[i]; i++)
		if (op_parse_u64(fields[i], &n[i]))
			return op_diag_set(diag, -EINVAL,
					   "event %s: %s '%s' is not a number",
					   fields[0], field_names[i],
					   fields[i]);
	return 0;
}

static int parse_fields(struct opd_events *events, char *fields[NR_FIELDS],
			struct op_diag *diag)
{
	struct opd_event event = { .set = true };
	uint64_t n[NR_FIELDS] = { 0 };
	int err = parse_numbers(fields, n, diag);

	if (err)
		return err;
	if (strlen(fields[0]) < sizeof(event.name))
		memcpy(event.name, fields[0], strlen(fields[0]) + 1);
	event.value = n[1];
	event.count = n[3];
	event.um = n[4];
	event.config = n[7] ? n[7] : n[1] | n[4] << 8;
	err = parse_flag(n[5], field_names[5], fields[0], &event.kernel, diag);
	if (!err)
		err = parse_flag(n[6], field_names[6], fields[0], &event.user,
				 diag);
	if (!err && n[2] < OP_MAX_COUNTERS && events->counter[n[2]].set)
		err = op_diag_set(
			diag, -EINVAL,
			"events %s and %s have the same counter %" PRIu64,
			events->counter[n[2]].name, fields[0], n[2]);
	return err ? err : opd_events_set(events, n[2], &event, diag);
}

static int parse_one(struct opd_events *events, const char *text, size_t len,
		     struct op_diag *diag)
{
	char spec[SPEC_MAX];
	char *fields[NR_FIELDS] = { NULL };
	unsigned int nr;

	if (len >= sizeof(spec))
		return op_diag_set(diag, -EINVAL, "event '%.32s...': too long",
				   text);
	memcpy(spec, text, len);
	spec[len] = '\0';
	nr = split(spec, fields);
	if (nr < NR_NEEDED || nr > NR_FIELDS)
		return op_diag_set(
			diag, -EINVAL,
			"event '%.*s': the form is name:value:counter:count:um:kernel:user[:config]",
			(int)len, text);
	return parse_fields(events, fields, diag);
}

int opd_events_parse(struct opd_events *events, const char *text,
		     struct op_diag *diag)
{
	int err = 0;

	if (!text || !*text) {
		opd_events_timer(events);
		return 0;
	}
	memset(events, 0, sizeof(*events));
	while (*text && !err) {
		size_t len = strcspn(text, ",");

		err = parse_one(events, text, len, diag);
		text += len + (text[len] == ',');
	}
	return err;
}
