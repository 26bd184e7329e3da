// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The account of a session's samples: taken = stored + lost by cause +
 * pending.
 *
 * Counts stay at UINT64_MAX rather than wrap, as a wrong file must not make a
 * loss look small. Causes are known by name alone, so that a reader shows
 * those of a later version. A file without one of the sums is refused; lines
 * about stacks may be missing, as sessions without call graphs have none.
 */

#include "libop/session/op_ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/files/op_config.h"
#include "libop/files/op_file.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_search.h"

#define LOST "lost."
#define STACKS "stacks."
#define COUNTED "counted."
#define PERIODS "periods."
#define COST "cost."
#define SEVERAL "several"

static const char *const stacks_names[] = {
#define X(name, what) [OP_STACKS_##name] = (what),
	OP_LEDGER_STACKS(X)
#undef X
};

static const char *const cost_names[] = {
#define X(name, what) [OP_COST_##name] = (what),
	OP_LEDGER_COSTS(X)
#undef X
};

const char *op_ledger_cost_name(enum op_ledger_cost which)
{
	return cost_names[which];
}

const char *op_ledger_stacks_name(enum op_ledger_stacks which)
{
	return stacks_names[which];
}

static void add_saturated(uint64_t *sum, uint64_t nr)
{
	if (__builtin_add_overflow(*sum, nr, sum))
		*sum = UINT64_MAX;
}

static bool is_cause_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !name[len] && len < OP_LEDGER_CAUSE_MAX;
}

int op_ledger_lose(struct op_ledger *ledger, const char *name, uint64_t nr)
{
	struct op_ledger_cause *cause = ledger->causes;
	unsigned int i = 0;

	if (!is_cause_name(name))
		return -EINVAL;
	while (i < ledger->nr_causes && strcmp(cause[i].name, name))
		i++;
	if (i == OP_LEDGER_MAX_CAUSES)
		return -ENOSPC;
	cause += i;
	if (i == ledger->nr_causes) {
		ledger->nr_causes++;
		memset(cause, 0, sizeof(*cause));
		strcpy(cause->name, name);
	}
	add_saturated(&cause->nr, nr);
	return 0;
}

uint64_t op_ledger_lost_by(const struct op_ledger *ledger, const char *name)
{
	for (unsigned int i = 0; i < ledger->nr_causes; i++)
		if (!strcmp(ledger->causes[i].name, name))
			return ledger->causes[i].nr;
	return 0;
}

/* Whether @name has only the characters that opd_events_set() allows: no other
 * character could be in a key. */
static bool is_event_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");

	return len && !name[len] && len < OP_LEDGER_EVENT_MAX;
}

int op_ledger_time_event(struct op_ledger *ledger,
			 const struct op_ledger_event *more)
{
	struct op_ledger_event *event = ledger->events;
	unsigned int i = 0;

	if (!is_event_name(more->name) || more->running > more->enabled)
		return -EINVAL;
	while (i < ledger->nr_events &&
	       (event[i].count != more->count ||
		event[i].unit_mask != more->unit_mask ||
		strcmp(event[i].name, more->name)))
		i++;
	if (i == OP_LEDGER_MAX_EVENTS)
		return -ENOSPC;
	if (i == ledger->nr_events) {
		event[ledger->nr_events++] = *more;
		return 0;
	}
	add_saturated(&event[i].enabled, more->enabled);
	add_saturated(&event[i].running, more->running);
	add_saturated(&event[i].samples, more->samples);
	add_saturated(&event[i].turns, more->turns);
	add_saturated(&event[i].periods, more->periods);
	add_saturated(&event[i].sum_of_periods, more->sum_of_periods);
	add_saturated(&event[i].squares_of_periods, more->squares_of_periods);
	return 0;
}

void op_ledger_add_costs(uint64_t *costs, const uint64_t *more)
{
	for (unsigned int i = 0; i < OP_NR_COSTS; i++)
		if (i < OP_COST_BUDGET)
			add_saturated(&costs[i], more[i]);
		else if (more[i] > costs[i])
			costs[i] = more[i];
}

int op_ledger_merge(struct op_ledger *ledger, const struct op_ledger *more)
{
	struct op_ledger sum = *ledger;

	for (unsigned int i = 0; i < more->nr_events; i++) {
		int err = op_ledger_time_event(&sum, &more->events[i]);

		if (err)
			return err;
	}

	for (unsigned int i = 0; i < more->nr_causes; i++) {
		int err = op_ledger_lose(&sum, more->causes[i].name,
					 more->causes[i].nr);

		if (err)
			return err;
	}
	add_saturated(&sum.taken, more->taken);
	add_saturated(&sum.stored, more->stored);
	for (unsigned int i = 0; i < OP_NR_STACKS; i++)
		add_saturated(&sum.stacks[i], more->stacks[i]);
	op_ledger_add_costs(sum.costs, more->costs);
	sum.pending = more->pending;
	if (!sum.source[0])
		sum.run = more->run;
	else if (more->source[0])
		op_run_keep_common(&sum.run, &more->run);
	if (!sum.source[0])
		memcpy(sum.source, more->source, sizeof(sum.source));
	else if (more->source[0] && strcmp(sum.source, more->source))
		strcpy(sum.source, SEVERAL);
	*ledger = sum;
	return 0;
}

int op_ledger_sum(struct op_ledger *ledger, const struct op_ledger *more)
{
	uint64_t pending = ledger->pending;
	int err = op_ledger_merge(ledger, more);

	if (!err)
		add_saturated(&ledger->pending, pending);
	return err;
}

static int compare_causes(const void *a, const void *b)
{
	const struct op_ledger_cause *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_timed_events(const void *a, const void *b)
{
	const struct op_ledger_event *x = a, *y = b;

	return strcmp(x->name, y->name) ?: op_compare(x->count, y->count) ?:
	       op_compare(x->unit_mask, y->unit_mask);
}

void op_ledger_sort(struct op_ledger *ledger)
{
	qsort(ledger->causes, ledger->nr_causes, sizeof(*ledger->causes),
	      compare_causes);
	qsort(ledger->events, ledger->nr_events, sizeof(*ledger->events),
	      compare_timed_events);
}

uint64_t op_ledger_lost(const struct op_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ledger->nr_causes; i++)
		add_saturated(&sum, ledger->causes[i].nr);
	return sum;
}

uint64_t op_ledger_stacks_stored(const struct op_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i <= OP_STACKS_BROKEN; i++)
		add_saturated(&sum, ledger->stacks[i]);
	return sum;
}

void op_ledger_print_periods(FILE *out, const char *event, uint64_t nr,
			     uint64_t sum)
{
	fprintf(out,
		"%" PRIu64
		" sample%s of %s, each counted for its period, %.1f events on average",
		nr, op_plural(nr), event, (double)sum / (double)nr);
}

/* ---- the file ------------------------------------------------------------ */

static const struct {
	const char *key;
	size_t at; /* offset in struct op_ledger */
} sums[] = {
	{ "taken", offsetof(struct op_ledger, taken) },
	{ "stored", offsetof(struct op_ledger, stored) },
	{ "pending", offsetof(struct op_ledger, pending) },
};

#define NR_SUMS (sizeof(sums) / sizeof(sums[0]))

static uint64_t *sum_of(struct op_ledger *ledger, size_t nr)
{
	return (uint64_t *)((char *)ledger + sums[nr].at);
}

static int read_cause(struct op_ledger *ledger, const char *name,
		      const char *value, const char *path, struct op_diag *diag)
{
	uint64_t nr;
	int err = op_parse_u64(value, &nr);

	if (err)
		return op_diag_set(diag, err,
				   "%s: " LOST "%s: \"%s\" is not a number of "
				   "samples",
				   path, name, value);
	err = op_ledger_lose(ledger, name, nr);
	if (err == -ENOSPC)
		return op_diag_set(diag, err, "%s: more than %d causes", path,
				   OP_LEDGER_MAX_CAUSES);
	if (err)
		return op_diag_set(diag, err, "%s: \"%s\" cannot be a cause",
				   path, name);
	return 0;
}

/* "NAME:COUNT:UNIT-MASK" */
static int parse_event_key(struct op_ledger_event *event, const char *key)
{
	char text[OP_LEDGER_EVENT_MAX + 64], *count, *um;

	if (strlen(key) >= sizeof(text))
		return -EINVAL;
	strcpy(text, key);
	um = strrchr(text, ':');
	if (!um)
		return -EINVAL;
	*um++ = '\0';
	count = strrchr(text, ':');
	if (!count)
		return -EINVAL;
	*count++ = '\0';
	if (!is_event_name(text))
		return -EINVAL;
	strcpy(event->name, text);
	return op_parse_u64(count, &event->count)
		       ?: op_parse_u64(um, &event->unit_mask);
}

/* The number that @text begins with, and then the words @behind; sets @text
 * behind these. */
static int parse_ledger_number(const char **text, const char *behind,
			       uint64_t *nr)
{
	size_t digits = strspn(*text, "0123456789");
	char number[24];

	if (!digits || digits >= sizeof(number) ||
	    strncmp(*text + digits, behind, strlen(behind)))
		return -EINVAL;
	memcpy(number, *text, digits);
	number[digits] = '\0';
	*text += digits + strlen(behind);
	return op_parse_u64(number, nr);
}

static int parse_times(struct op_ledger_event *event, const char *value)
{
	int err =
		parse_ledger_number(&value, " of ", &event->running)
			?: parse_ledger_number(&value, " ns", &event->enabled);

	if (err || !*value)
		return err;
	if (strncmp(value, ", ", 2))
		return -EINVAL;
	value += 2;
	err = parse_ledger_number(&value, " samples in ", &event->samples)
		      ?: parse_ledger_number(&value, " turns", &event->turns);
	return err ?: *value ? -EINVAL : 0;
}

static int parse_periods(struct op_ledger_event *event, const char *value)
{
	int err = parse_ledger_number(&value, " samples of ", &event->periods)
			  ?: parse_ledger_number(&value, " events, ",
					 &event->sum_of_periods)
			  ?: parse_ledger_number(&value, " squares",
					 &event->squares_of_periods);

	return err ?: *value ? -EINVAL : 0;
}

/* A line "counted." or "periods."; @prefix says which, @key is what follows. */
static int read_event(struct op_ledger *ledger, const char *prefix,
		      const char *key, const char *value, const char *path,
		      struct op_diag *diag)
{
	struct op_ledger_event event = { .count = 0 };
	bool has_times = !strcmp(prefix, COUNTED);
	int err = parse_event_key(&event, key)
			  ?: (has_times ? parse_times(&event, value)
					: parse_periods(&event, value))
			  ?: op_ledger_time_event(ledger, &event);

	if (err == -ENOSPC)
		return op_diag_set(diag, err, "%s: more than %d events", path,
				   OP_LEDGER_MAX_EVENTS);
	if (err)
		return op_diag_set(
			diag, -EINVAL,
			"%s: %s%s: \"%s\" are not the %s of an event", path,
			prefix, key, value, has_times ? "times" : "periods");
	return 0;
}

/* Numbers "PREFIX.NAME", which a ledger may have. */
static int read_numbers(uint64_t *numbers, const struct op_config *config,
			const char *prefix, const char *const *names,
			unsigned int nr, struct op_diag *diag)
{
	char key[sizeof(STACKS) + OP_LEDGER_CAUSE_MAX];
	int err = 0;

	for (unsigned int i = 0; !err && i < nr; i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, names[i]);
		err = op_config_get_u64(config, key, &numbers[i], diag);
		if (err == -ENOENT)
			err = 0;
	}
	return err;
}

/* All of them, or none where all are 0. */
static int set_numbers(const uint64_t *numbers, struct op_config *config,
		       const char *prefix, const char *const *names,
		       unsigned int nr)
{
	char key[sizeof(STACKS) + OP_LEDGER_CAUSE_MAX];
	uint64_t any = 0;
	int err = 0;

	for (unsigned int i = 0; i < nr; i++)
		any |= numbers[i];
	for (unsigned int i = 0; any && !err && i < nr; i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, names[i]);
		err = op_config_set_u64(config, key, numbers[i]);
	}
	return err;
}

/* The sums, which every ledger has, stacks and costs. */
static int read_sums(struct op_ledger *ledger, const struct op_config *config,
		     const char *path, struct op_diag *diag)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_SUMS; i++) {
		err = op_config_get_u64(config, sums[i].key, sum_of(ledger, i),
					diag);
		if (err == -ENOENT)
			err = op_diag_set(diag, -EINVAL,
					  "%s: no line \"%s = NUMBER\"", path,
					  sums[i].key);
	}
	return err ?: read_numbers(ledger->stacks, config, STACKS, stacks_names,
				   OP_NR_STACKS, diag)
			      ?: read_numbers(ledger->costs, config, COST,
					      cost_names, OP_NR_COSTS, diag);
}

int op_ledger_read(struct op_ledger *ledger, const char *path,
		   struct op_diag *diag)
{
	const char *source, *key, *value;
	struct op_config *config;
	int err = op_config_read(&config, path, diag);

	if (err)
		return err;
	memset(ledger, 0, sizeof(*ledger));
	source = op_config_find(config, "source");
	if (!source || !*source)
		err = op_diag_set(diag, -EINVAL,
				  "%s: no line \"source = NAME\"", path);
	else if (strlen(source) >= sizeof(ledger->source))
		err = op_diag_set(diag, -EINVAL,
				  "%s: the name of the source is too long",
				  path);
	else
		strcpy(ledger->source, source);
	if (!err)
		err = read_sums(ledger, config, path, diag)
			      ?: op_run_read(&ledger->run, config, path, diag);
	for (unsigned int i = 0; !err && !op_config_at(config, i, &key, &value);
	     i++)
		if (!strncmp(key, LOST, strlen(LOST)))
			err = read_cause(ledger, key + strlen(LOST), value,
					 path, diag);
		else if (!strncmp(key, COUNTED, strlen(COUNTED)))
			err = read_event(ledger, COUNTED, key + strlen(COUNTED),
					 value, path, diag);
		else if (!strncmp(key, PERIODS, strlen(PERIODS)))
			err = read_event(ledger, PERIODS, key + strlen(PERIODS),
					 value, path, diag);
	op_config_free(config);
	return err;
}

static int set_event(struct op_config *config,
		     const struct op_ledger_event *event)
{
	char key[sizeof(COUNTED) + OP_LEDGER_EVENT_MAX + 48], value[128];
	int len, err;

	if (event->periods) {
		snprintf(key, sizeof(key), PERIODS "%s:%" PRIu64 ":%" PRIu64,
			 event->name, event->count, event->unit_mask);
		snprintf(value, sizeof(value),
			 "%" PRIu64 " samples of %" PRIu64 " events, %" PRIu64
			 " squares",
			 event->periods, event->sum_of_periods,
			 event->squares_of_periods);
		err = op_config_set(config, key, value);
		if (err || !event->enabled)
			return err;
	}
	snprintf(key, sizeof(key), COUNTED "%s:%" PRIu64 ":%" PRIu64,
		 event->name, event->count, event->unit_mask);
	len = snprintf(value, sizeof(value), "%" PRIu64 " of %" PRIu64 " ns",
		       event->running, event->enabled);
	if (event->turns)
		snprintf(value + len, sizeof(value) - (size_t)len,
			 ", %" PRIu64 " samples in %" PRIu64 " turns",
			 event->samples, event->turns);
	return op_config_set(config, key, value);
}

static int fill_config(const struct op_ledger *ledger, struct op_config *config)
{
	char key[sizeof(LOST) + OP_LEDGER_CAUSE_MAX];
	struct op_ledger copy = *ledger;
	int err = op_config_set(config, "source", ledger->source)
			  ?: op_run_fill_config(&ledger->run, config);

	for (size_t i = 0; i < NR_SUMS && !err; i++)
		err = op_config_set_u64(config, sums[i].key, *sum_of(&copy, i));
	for (unsigned int i = 0; i < ledger->nr_causes && !err; i++) {
		snprintf(key, sizeof(key), LOST "%s", ledger->causes[i].name);
		err = op_config_set_u64(config, key, ledger->causes[i].nr);
	}
	for (unsigned int i = 0; i < ledger->nr_events && !err; i++)
		err = set_event(config, &ledger->events[i]);
	return err ?: set_numbers(ledger->stacks, config, STACKS, stacks_names,
				  OP_NR_STACKS)
			      ?: set_numbers(ledger->costs, config, COST,
					     cost_names, OP_NR_COSTS);
}

int op_ledger_print(const struct op_ledger *ledger, FILE *file)
{
	struct op_config *config = op_config_new();
	int err = config ? fill_config(ledger, config) : -ENOMEM;

	if (!err && !*ledger->source)
		err = -EINVAL;
	if (!err)
		op_config_print(config, file);
	op_config_free(config);
	return err;
}

int op_ledger_write(const struct op_ledger *ledger, const char *path,
		    const char *spare, struct op_diag *diag)
{
	struct op_replace replace;
	struct op_config *config;
	int err;

	if (!ledger->source[0])
		return op_diag_set(diag, -EINVAL,
				   "%s: the samples have no source", path);
	config = op_config_new();
	err = config ? fill_config(ledger, config) : -ENOMEM;
	if (err)
		op_diag_set(diag, err, "%s: cannot write: %s", path,
			    strerror(-err));
	else if (spare)
		err = op_replace_open_spare(&replace, path, spare, 0644, diag);
	else
		err = op_replace_open(&replace, path, 0644, diag);
	if (!err) {
		op_config_print(config, replace.file);
		err = op_replace_commit(&replace, diag);
	}
	op_config_free(config);
	return err;
}
