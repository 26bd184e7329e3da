// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of events as text, and what all lists have in common: which events are
 * listed. A search looks at names and descriptions of events and of unit
 * masks. Lines are wrapped at the width of the terminal, else at 80 columns.
 */

#include "utils/ophelp/ophelp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libop/events/op_wait_event.h"

/* ---- what to list ---- */

static bool text_holds_word(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool event_holds_text(const struct op_event *event, const char *word)
{
	if (text_holds_word(event->name, word) ||
	    text_holds_word(event->desc, word))
		return true;
	for (size_t i = 0; i < event->um->nr; i++)
		if (text_holds_word(event->um->entries[i].name, word) ||
		    text_holds_word(event->um->entries[i].desc, word))
			return true;
	return false;
}

const struct op_event *ophelp_next(const struct ophelp_list *list, size_t *at)
{
	while (*at < list->events->nr) {
		const struct op_event *event = &list->events->event[(*at)++];

		if (!list->search || event_holds_text(event, list->search))
			return event;
	}
	return NULL;
}

bool ophelp_um_is_shown(const struct op_unit_mask *um)
{
	return um->type != OP_UM_MANDATORY ||
	       (um->nr && (um->entries[0].value || um->entries[0].extra));
}

const char *ophelp_um_type(const struct op_unit_mask *um)
{
	static const char *const names[] = { [OP_UM_MANDATORY] = "mandatory",
					     [OP_UM_EXCLUSIVE] = "exclusive",
					     [OP_UM_BITMASK] = "bitmask" };

	return names[um->type];
}

/* ---- as text ---- */

static size_t line_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = columns ? atoi(columns) : 0;

	if (width <= 0 && isatty(STDOUT_FILENO) &&
	    !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	return width < 40 ? 80 : (size_t)width;
}

/* Write the words of @text from column @at on; lines go on at @indent. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	size_t width = line_width(), len;
	bool fresh = true;

	for (; *text; text += len) {
		text += strspn(text, " \t");
		len = strcspn(text, " \t");
		if (!fresh && at + 1 + len > width) {
			printf("\n%*s", (int)indent, "");
			at = indent;
			fresh = true;
		}
		printf("%s%.*s", fresh ? "" : " ", (int)len, text);
		at += len + !fresh;
		fresh = false;
	}
	putchar('\n');
}

static void print_counter_list(const struct op_events *events,
			       const struct op_event *event)
{
	uint64_t all = ~0ull >> (64 - events->cpu->counters);
	const char *between = "";

	printf("%s: (counter: ", event->name);
	if (event->ext)
		printf("%s", event->ext);
	else if (event->counters == all)
		printf("all");
	for (unsigned int i = 0; event->counters != all && i < 64; i++)
		if (event->counters >> i & 1) {
			printf("%s%u", between, i);
			between = ", ";
		}
	puts(")");
}

static void print_desc(const struct ophelp_list *list,
		       const struct op_event *event)
{
	char *text;

	if (asprintf(&text, "%s (min count: %" PRIu64 ")", event->desc,
		     event->min_count * list->factor) < 0)
		return;
	putchar('\t');
	print_wrapped(text, 8, 8);
	free(text);
}

static void print_um_entry(const struct op_unit_mask_entry *entry)
{
	char *text;
	int len = entry->name ? asprintf(&text, "(name=%s) %s", entry->name,
					 entry->desc)
			      : asprintf(&text, "%s", entry->desc);

	if (len < 0)
		return;
	len = printf("\t0x%02" PRIx64 ": ", entry->value);
	print_wrapped(text, (size_t)len + 7, 14);
	free(text);
}

static void print_um_entries(const struct op_unit_mask *um)
{
	printf("\tUnit masks (default ");
	if (um->default_entry && um->default_entry->name)
		printf("%s)\n", um->default_entry->name);
	else
		printf("0x%" PRIx64 ")\n", um->default_value);
	puts("\t----------");
	for (size_t i = 0; i < um->nr; i++)
		print_um_entry(&um->entries[i]);
}

static void print_event(const struct ophelp_list *list,
			const struct op_event *event)
{
	print_counter_list(list->events, event);
	print_desc(list, event);
	if (ophelp_um_is_shown(event->um))
		print_um_entries(event->um);
}

void ophelp_print_text(const struct ophelp_list *list)
{
	const struct op_event *event;
	size_t at = 0;

	printf("oprofile: available events for CPU type \"%s\"\n\nSee ",
	       list->events->cpu->title);
	print_wrapped(list->events->cpu->manual, 4, 0);
	puts("\nUnit masks are given by number or, where they have one, by "
	     "name; see operf(1).\n");
	while ((event = ophelp_next(list, &at)))
		print_event(list, event);
}

/* ---- events of time ---- */

struct time_event {
	const struct op_event *(*event)(void);
	const char *how; /* to count it */
};

static const struct time_event times[] = {
	{ op_wait_event,
	  "Give operf --wall, or THREAD_WAIT:COUNT in a list of events to operf, or to opcontrol with the kernel module." },
	{ op_latency_event, "Give operf --latency." },
};

#define NR_TIMES (sizeof(times) / sizeof(times[0]))

static void print_time_event(const struct time_event *time)
{
	/* No counter of a CPU counts it. */
	struct op_cpu_type any = { .counters = 1 };
	const struct op_events events = { .cpu = &any };
	const struct ophelp_list list = { .events = &events, .factor = 1 };

	print_event(&list, time->event());
	putchar('\t');
	print_wrapped(time->how, 8, 8);
}

bool ophelp_print_times(const char *search, bool follows)
{
	bool any = false;

	for (size_t i = 0; i < NR_TIMES; i++) {
		if (search && !event_holds_text(times[i].event(), search))
			continue;
		if (!any)
			printf("%sEvents of time, on all machines:\n\n",
			       follows ? "\n" : "");
		any = true;
		print_time_event(&times[i]);
	}
	return any;
}

const struct op_event *ophelp_find_time(const char *name)
{
	for (size_t i = 0; i < NR_TIMES; i++)
		if (!strcasecmp(name, times[i].event()->name))
			return times[i].event();
	return NULL;
}

void ophelp_print_time(const struct op_event *event)
{
	for (size_t i = 0; i < NR_TIMES; i++)
		if (times[i].event() == event)
			print_time_event(&times[i]);
}
