// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads as text: a row for each, with the seconds that it ran, waited, and
 * waited for what. Classes of waits with hardly any time have no column of
 * their own, but are in "other".
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libpp/format/text/text.h"

#define NS_MATTER 5000000 /* of waits for one thing: 0.01 s, rounded */
#define OTHER_WAITS "other"

struct thread_columns {
	const struct pp_text *t;
	bool *has_column; /* one per symbols.waits */
	bool has_other; /* for all that have none */
};

static int thread_columns_init(struct thread_columns *c, struct pp_text *t)
{
	const struct pp_symbol_table *symbols = &t->report->symbols;
	bool any = false;

	*c = (struct thread_columns){ .t = t };
	c->has_column = op_arena_alloc(t->arena, symbols->nr_waits, 1);
	if (!c->has_column)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->nr_waits; i++) {
		bool matters = symbols->waits[i].ns >= NS_MATTER;

		c->has_column[i] = matters && strcmp(symbols->waits[i].name,
						     OTHER_WAITS) != 0;
		any |= c->has_column[i];
		c->has_other |= matters && !c->has_column[i];
	}
	c->has_other &= any;
	return 0;
}

/* The width of the column of an event, which is that of its head. */
static int event_width(const struct pp_class *event)
{
	return snprintf(NULL, 0, "  %8s:%" PRIu64, event->event, event->count);
}

static void write_thread_heads(const struct thread_columns *c)
{
	const struct pp_thread_table *table = &c->t->report->summary.threads;
	const struct pp_symbol_table *symbols = &c->t->report->symbols;
	FILE *out = c->t->out;

	if (table->has_ran && table->has_waited)
		fputs("   total s", out);
	if (table->has_ran)
		fputs("     ran s", out);
	if (table->has_waited)
		fputs("  waited s", out);
	for (size_t i = 0; i < symbols->nr_waits; i++)
		if (c->has_column[i])
			fprintf(out, "  %8s", symbols->waits[i].name);
	if (c->has_other)
		fputs("     " OTHER_WAITS, out);
	for (size_t i = 0; i < table->nr_events; i++)
		fprintf(out, "  %8s:%" PRIu64, table->events[i]->event,
			table->events[i]->count);
	fputs("  thread\n", out);
}

static void write_thread_seconds(const struct thread_columns *c, uint64_t ns)
{
	fprintf(c->t->out, "%10.*f", ns ? 2 : 0, (double)ns / 1e9);
}

static int write_thread(const struct thread_columns *c,
			const struct pp_thread *thread)
{
	const struct pp_thread_table *table = &c->t->report->summary.threads;
	const struct pp_symbol_table *symbols = &c->t->report->symbols;
	const char *ids = pp_task_ids(c->t->arena, thread->class);
	FILE *out = c->t->out;
	uint64_t other = 0;

	if (!ids)
		return -ENOMEM;
	if (table->has_ran && table->has_waited)
		write_thread_seconds(c, thread->ran + thread->waited);
	if (table->has_ran)
		write_thread_seconds(c, thread->ran);
	if (table->has_waited)
		write_thread_seconds(c, thread->waited);
	for (size_t i = 0; i < symbols->nr_waits; i++)
		if (c->has_column[i])
			write_thread_seconds(c, thread->waits[i]);
		else
			other += thread->waits[i];
	if (c->has_other)
		write_thread_seconds(c, other);
	for (size_t i = 0; i < table->nr_events; i++)
		fprintf(out, "%*" PRIu64, event_width(table->events[i]),
			thread->counts[i]);
	fprintf(out, "  %s  ", pp_text_plain(c->t, thread->name));
	if (thread->nr > 1)
		fprintf(out, "%" PRId64 ", %zu threads\n", thread->class->tgid,
			thread->nr);
	else
		fprintf(out, "%s\n", ids);
	return 0;
}

int pp_text_threads(struct pp_text *t)
{
	const struct pp_thread_table *table = &t->report->summary.threads;
	struct thread_columns columns;
	int err = thread_columns_init(&columns, t);

	if (!err && !t->options->no_header)
		write_thread_heads(&columns);
	for (size_t i = 0; i < table->nr && !err; i++)
		err = write_thread(&columns, &table->list[i]);
	return err;
}
