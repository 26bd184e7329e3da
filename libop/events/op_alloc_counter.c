// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which counter counts which event.
 *
 * Events are placed one after the other. One whose counters are all taken
 * asks the holder of each to move to another counter, which may ask further;
 * no counter is asked twice for one event. This is backtracking that forgets
 * no failure, so that it finds an allocation whenever there is one (a maximum
 * matching by augmenting paths) and takes at most events x counters steps.
 *
 * When it fails, the counters that were asked and the events that hold them
 * are the explanation: these events and the new one can be counted by these
 * counters only, and they are one too many.
 */

#include "libop/events/op_alloc_counter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const struct op_event *const *events;
	int *counters; /* of each event */
	size_t holder[OP_CPU_MAX_COUNTERS];
	uint64_t taken; /* counters with a holder */
	uint64_t asked; /* for the present event */
};

static int lowest_counter(uint64_t set)
{
	return __builtin_ctzll(set);
}

static void give_counter(struct search *s, int counter, size_t event)
{
	s->holder[counter] = event;
	s->counters[event] = counter;
	s->taken |= 1ull << counter;
}

/* A free counter that @event can have, also by moving others. */
static bool place_event(struct search *s, size_t event)
{
	uint64_t mask = s->events[event]->counters;
	uint64_t left;

	if (mask & ~s->taken) {
		give_counter(s, lowest_counter(mask & ~s->taken), event);
		return true;
	}
	while ((left = mask & ~s->asked)) {
		int counter = lowest_counter(left);

		s->asked |= 1ull << counter;
		if (place_event(s, s->holder[counter])) {
			give_counter(s, counter, event);
			return true;
		}
	}
	return false;
}

/* ---- the explanation ---- */

static void append_text(char *buf, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void append_text(char *buf, size_t len, const char *fmt, ...)
{
	size_t at = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + at, len - at, fmt, args);
	va_end(args);
}

static void append_counters(char *buf, size_t len, uint64_t set)
{
	const char *between = "";

	for (; set; set &= set - 1) {
		append_text(buf, len, "%s%d", between, lowest_counter(set));
		between = ", ";
	}
}

static int explain_conflict(const struct search *s,
			    const struct op_cpu_type *cpu, size_t event,
			    struct op_diag *diag)
{
	int nr = __builtin_popcountll(s->asked);
	char names[512] = "", counters[256] = "";
	bool all = nr == (int)cpu->counters;

	for (uint64_t set = s->asked; set; set &= set - 1)
		append_text(names, sizeof(names), "%s%s", *names ? ", " : "",
			    s->events[s->holder[lowest_counter(set)]]->name);
	append_counters(counters, sizeof(counters), s->asked);
	if (all)
		return op_diag_set(diag, -EBUSY,
				   "%s: no counter is free: with %s it needs "
				   "%d counters, the CPU has %d; leave one of "
				   "them out",
				   s->events[event]->name, names, nr + 1, nr);
	return op_diag_set(diag, -EBUSY,
			   "%s: no counter is free: with %s it competes for "
			   "counter%s %s; leave one of them out",
			   s->events[event]->name, names, nr > 1 ? "s" : "",
			   counters);
}

int op_alloc_counters(int *counters, const struct op_cpu_type *cpu,
		      const struct op_event *const *events, size_t nr,
		      struct op_diag *diag)
{
	struct search search = { .events = events, .counters = counters };

	for (size_t i = 0; i < nr; i++) {
		search.asked = 0;
		counters[i] = OP_NO_COUNTER;
		if (!events[i]->ext && !place_event(&search, i))
			return explain_conflict(&search, cpu, i, diag);
	}
	return 0;
}
