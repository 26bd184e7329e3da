// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time of each thread. Classes are in the order of threads where CPUs,
 * cgroups and sessions are added up, so the classes of a thread are neighbours.
 *
 * A server has pools of hundreds of threads that do the same. Where more than
 * POOL_MIN threads of a process have one name, numbers in it aside, they are
 * one row with their sums.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/report/population.h"
#include "libpp/report/report_times.h"

#define POOL_MIN 8

/* The events that stand for no time. */
static int find_events(struct pp_report *report)
{
	struct pp_thread_table *table = &report->summary.threads;
	const struct pp_classes *classes = &report->classes;

	table->events = op_arena_alloc(&report->arena, classes->nr,
				       sizeof(const struct pp_class *));
	if (!table->events)
		return -ENOMEM;
	for (size_t c = 0; c < classes->nr; c++) {
		const struct pp_class *class = &classes->classes[c];
		size_t i = 0;

		if (pp_class_sample_ns(report, class))
			continue;
		while (i < table->nr_events &&
		       !pp_same_event(table->events[i], class))
			i++;
		if (i == table->nr_events)
			table->events[table->nr_events++] = class;
	}
	return 0;
}

static int begin_thread(struct pp_report *report, struct pp_thread *thread,
			const struct pp_class *class)
{
	struct op_arena *arena = &report->arena;

	thread->class = class;
	thread->nr = 1;
	thread->name = pp_task_name(arena, class);
	thread->counts =
		op_arena_alloc(arena, report->summary.threads.nr_events + 1,
			       sizeof(*thread->counts));
	thread->waits = op_arena_alloc(arena, report->symbols.nr_waits,
				       sizeof(*thread->waits));
	return thread->name && thread->counts && thread->waits ? 0 : -ENOMEM;
}

/* Add the samples of class @c, which is one of @thread. */
static void add_class(const struct pp_report *report, struct pp_thread *thread,
		      size_t c)
{
	const struct pp_symbol_table *symbols = &report->symbols;
	const struct pp_thread_table *table = &report->summary.threads;
	const struct pp_class *class = &report->classes.classes[c];
	uint64_t ns = pp_class_sample_ns(report, class);

	if (pp_class_is_wait(class)) {
		thread->waited += ns * report->totals[c];
		for (size_t i = 0; i < symbols->nr_waits; i++)
			thread->waits[i] += ns * symbols->waits[i].counts[c];
		return;
	}
	if (!pp_class_is_latency(class))
		thread->ran += ns * report->totals[c];
	for (size_t i = 0; i < table->nr_events && !ns; i++)
		if (pp_same_event(table->events[i], class))
			thread->counts[i] = pp_add_counts(thread->counts[i],
							  report->totals[c]);
}

static int find_threads(struct pp_report *report)
{
	const struct pp_classes *classes = &report->classes;
	struct pp_thread *list =
		op_arena_alloc(&report->arena, classes->nr, sizeof(*list));
	size_t nr = 0;

	if (!list)
		return -ENOMEM;
	for (size_t c = 0; c < classes->nr; c++) {
		const struct pp_class *class = &classes->classes[c];

		if ((!nr || !pp_same_task(list[nr - 1].class, class)) &&
		    begin_thread(report, &list[nr++], class))
			return -ENOMEM;
		add_class(report, &list[nr - 1], c);
	}
	report->summary.threads.list = list;
	report->summary.threads.nr = nr;
	return 0;
}

/* ---- pools and the order ------------------------------------------------- */

static int compare_thread_times(const void *a, const void *b)
{
	const struct pp_thread *x = a, *y = b;

	return op_compare(y->ran + y->waited, x->ran + x->waited) ?:
	       op_compare(y->counts[0], x->counts[0]) ?:
	       op_compare((uint64_t)x->class->tgid, (uint64_t)y->class->tgid) ?:
	       op_compare((uint64_t)x->class->tid, (uint64_t)y->class->tid);
}

/* The part of a name before a number, and how long the number is. */
static size_t skip_to_number(const char *name, size_t *digits)
{
	size_t len = strcspn(name, "0123456789");

	*digits = strspn(name + len, "0123456789");
	return len;
}

/* The order of two names, numbers in them aside. */
static int compare_pool_names(const char *a, const char *b)
{
	for (;;) {
		size_t a_digits, b_digits;
		size_t a_len = skip_to_number(a, &a_digits);
		size_t b_len = skip_to_number(b, &b_digits);
		int order = strncmp(a, b, a_len < b_len ? a_len : b_len)
				    ?: op_compare(a_len, b_len) ?:
				       op_compare(a_digits != 0, b_digits != 0);

		if (order || !a_digits)
			return order;
		a += a_len + a_digits;
		b += b_len + b_digits;
	}
}

static int compare_pools(const void *a, const void *b)
{
	const struct pp_thread *x = a, *y = b;

	return op_compare((uint64_t)x->class->tgid, (uint64_t)y->class->tgid) ?:
	       compare_pool_names(x->name, y->name) ?:
	       compare_thread_times(a, b);
}

/* @name with '*' in place of each number. */
static char *name_of_pool(struct op_arena *arena, const char *name)
{
	char *pool = op_arena_strdup(arena, name), *to = pool;

	for (; pool && *name; name++)
		if (!isdigit((unsigned char)*name))
			*to++ = *name;
		else if (to == pool || to[-1] != '*')
			*to++ = '*';
	if (pool)
		*to = '\0';
	return pool;
}

/* Make one thread of @nr threads of the list. Returns 0 or -ENOMEM. */
static int fold_pool(struct pp_report *report, struct pp_thread *pool,
		     const struct pp_thread *threads, size_t nr)
{
	*pool = threads[0];
	for (size_t i = 1; i < nr; i++) {
		const struct pp_thread *thread = &threads[i];

		pool->ran += thread->ran;
		pool->waited += thread->waited;
		for (size_t k = 0; k < report->symbols.nr_waits; k++)
			pool->waits[k] += thread->waits[k];
		pp_add_all_counts(pool->counts, thread->counts,
				  report->summary.threads.nr_events);
		if (strcmp(thread->name, pool->name) != 0)
			pool->nr = nr;
	}
	if (pool->nr == nr)
		pool->name = name_of_pool(&report->arena, pool->name);
	pool->nr = nr;
	return pool->name ? 0 : -ENOMEM;
}

static int fold_pools(struct pp_report *report, struct pp_thread *list)
{
	size_t nr = 0;

	qsort(list, report->summary.threads.nr, sizeof(*list), compare_pools);
	for (size_t i = 0, end; i < report->summary.threads.nr; i = end) {
		for (end = i + 1;
		     end < report->summary.threads.nr &&
		     list[end].class->tgid == list[i].class->tgid &&
		     !compare_pool_names(list[end].name, list[i].name);)
			end++;
		if (end - i <= POOL_MIN) {
			memmove(&list[nr], &list[i], (end - i) * sizeof(*list));
			nr += end - i;
		} else if (fold_pool(report, &list[nr++], &list[i], end - i)) {
			return -ENOMEM;
		}
	}
	report->summary.threads.nr = nr;
	return 0;
}

/* Leave out threads with less than the threshold of all time, or of all samples
 * of the first event. */
static void hide_threads(struct pp_report *report, struct pp_thread *list,
			 double threshold)
{
	bool by_time = report->summary.threads.has_ran ||
		       report->summary.threads.has_waited;
	double all = 0;
	size_t nr = 0;

#define MEASURE(t) ((double)(by_time ? (t)->ran + (t)->waited : (t)->counts[0]))
	for (size_t i = 0; i < report->summary.threads.nr; i++)
		all += MEASURE(&list[i]);
	for (size_t i = 0; i < report->summary.threads.nr; i++)
		if (100 * MEASURE(&list[i]) >= threshold * all)
			list[nr++] = list[i];
#undef MEASURE
	report->summary.threads.nr = nr;
}

int pp_populate_threads(struct pp_population *p, struct op_diag *diag)
{
	struct pp_report *report = p->report;
	const struct pp_classes *classes = &report->classes;
	struct pp_thread *list;
	struct pp_times times;
	int err;

	pp_report_times(report, &times);
	if (times.are_mixed)
		return op_diag_set(
			diag, -EINVAL,
			"--threads: several events are of the same time; choose with event:%s or the like",
			classes->classes[0].event);
	for (size_t c = 0; c < classes->nr; c++)
		if (classes->classes[c].tgid == OP_MANGLE_ALL)
			return op_diag_set(
				diag, -EINVAL,
				"--threads: the samples are not separated by thread; profile with --separate=thread");
	report->summary.threads.made = true;
	report->summary.threads.has_ran = times.has_ran;
	report->summary.threads.has_waited = times.parts;
	err = find_events(report) ?: find_threads(report);
	if (err)
		return err;
	list = (struct pp_thread *)report->summary.threads.list;
	if (p->request->select.pools && fold_pools(report, list))
		return -ENOMEM;
	qsort(list, report->summary.threads.nr, sizeof(*list),
	      compare_thread_times);
	hide_threads(report, list, p->request->threshold);
	return 0;
}
