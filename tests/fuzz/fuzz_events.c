// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for event files and event specifications. The input is a
 * file "unit_masks", "events", "cpu" and "original", then specifications, one a
 * line, with lines "---" between. What is taken must be programmable: every
 * event by its defaults and by each entry of its unit mask.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/events/op_events.h"
#include "libop/events/op_parse_event.h"

#define CPU "x86-64/fuzz"
#define MAX_SPECS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char folder[64];

static void check(bool claim)
{
	if (!claim)
		abort();
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		_exit(1);
}

static void make_folder(void)
{
	char path[128];

	if (*folder)
		return;
	/* In memory where that can be: it is written for each input. */
	strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/fuzz_events.XXXXXX"
						: "/dev/shm/fuzz.XXXXXX");
	check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x86-64", folder);
	check(!mkdir(path, 0777));
	snprintf(path, sizeof(path), "%s/" CPU, folder);
	check(!mkdir(path, 0777));
	atexit(remove_folder);
}

static void write_file(const char *name, const char *text, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/" CPU "/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	check(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

/* Write the text before the next "---" line; *@at moves behind that. */
static void write_part(const char *name, char **at, const char *end)
{
	char *part = *at;
	char *stop = memmem(part, (size_t)(end - part), "---\n", 4);

	write_file(name, part, (size_t)((stop ? stop : end) - part));
	*at += stop ? stop + 4 - part : end - part;
}

static void check_entry(const struct op_events *events,
			const struct op_event *event,
			const struct op_unit_mask_entry *entry)
{
	struct op_parsed_event parsed;
	char *spec;

	if (event->min_count > INT64_MAX ||
	    (entry && entry->name && strlen(entry->name) >= OP_UM_NAME_MAX))
		return;
	check(asprintf(&spec, "%s:%" PRIu64 ":%s", event->name,
		       event->min_count,
		       entry && entry->name ? entry->name : "") > 0);
	if (!op_parse_event(&parsed, events, spec, NULL, NULL) && entry &&
	    entry->name)
		check(parsed.um == entry->value &&
		      parsed.extra == entry->extra);
	free(spec);
}

static void check_events(const struct op_events *events)
{
	check(events->nr);
	for (size_t i = 0; i < events->nr; i++) {
		const struct op_event *event = &events->event[i];

		check(event->um && event->um->nr && event->desc[0]);
		check(op_events_find(events, event->name) == event);
		check(!(event->counters >> (events->cpu->counters - 1) >> 1));
		check_entry(events, event, NULL);
		for (size_t j = 0; j < event->um->nr; j++)
			check_entry(events, event, &event->um->entries[j]);
	}
}

static void check_originals(const struct op_events *events)
{
	for (size_t i = 0; i < events->nr_original; i++) {
		const struct op_event *event = &events->original[i];

		check(event->um->nr && event->desc[0] && event->min_count);
		check(op_events_find(events, event->name));
	}
}

static void try_specs(const struct op_events *events, char *at)
{
	struct op_parsed_event parsed[MAX_SPECS];
	struct op_diag diag = { "" };
	int counters[MAX_SPECS];
	size_t nr = 0;
	char *spec;

	while (nr < MAX_SPECS && (spec = strsep(&at, "\n"))) {
		diag.text[0] = '\0';
		if (!op_parse_event(&parsed[nr], events, spec, NULL, &diag))
			nr++;
		else
			check(diag.text[0]);
	}
	diag.text[0] = '\0';
	if (op_check_events(counters, events, parsed, nr, &diag))
		check(diag.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "unit_masks", "events", "cpu",
					     "original" };
	struct op_diag diag = { "" };
	struct op_events *events;
	char *text = malloc(len + 1), *at = text;

	check(text);
	memcpy(text, data, len);
	text[len] = '\0';
	make_folder();
	for (int i = 0; i < 4; i++)
		write_part(names[i], &at, text + len);
	if (op_events_load(&events, folder, CPU, &diag)) {
		check(diag.text[0]);
	} else {
		check_events(events);
		check_originals(events);
		try_specs(events, at);
		op_events_free(events);
	}
	free(text);
	return 0;
}
